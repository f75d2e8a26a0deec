//! This program as a wrapper of the stable compiler, which builds crates with sanitizers. Only our crates get the
//! options, including the kernels; other crates are compiled as usual.

use std::{
    env,
    process::{Command, ExitCode},
};

/// The purpose for which this program runs as the wrapper.
const VARIABLE: &str = "SEALWRIGHT_INSTRUMENT";

/// The address sanitizer, whose runtime comes with the compiler. Those for threads and for undefined memory want the
/// standard library compiled with them, which needs its sources: [`crate::sanitize_std`].
const ADDRESSES: &[&str] = &["-Zsanitizer=address"];

/// Counters of edges, which guide the fuzzing engine, and the name by which code knows that it runs there.
const EDGES: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// For the kernels, whose functions are so large that usual checks make the compiler take a time of its own kind: each
/// check is a call.
const KERNELS: &[&str] = &["-Cllvm-args=-asan-instrumentation-with-call-threshold=0", "-Clto=off"];

/// Frames of kernels are large where each value has a place of its own: the setting of stacks for what runs then.
pub(crate) const STACK: (&str, &str) = ("RUST_MIN_STACK", "67108864");

/// The purpose for which crates are instrumented.
#[derive(Clone, Copy)]
pub(crate) enum Instrument {
    /// With the address sanitizer.
    Tests,
    /// With the address sanitizer, and with counters of edges.
    Fuzzing,
}

impl Instrument {
    fn name(self) -> &'static str {
        match self {
            Instrument::Tests => "tests",
            Instrument::Fuzzing => "fuzzing",
        }
    }

    /// Has cargo call this program for each crate.
    pub(crate) fn wrap(self, cargo: &mut Command) -> Result<(), String> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        cargo.env("RUSTC_WRAPPER", program).env(VARIABLE, self.name());
        Ok(())
    }
}

/// As the wrapper of the compiler: compiles one crate, with the options if it is ours.
pub(crate) fn wrapper() -> Option<ExitCode> {
    let what = env::var(VARIABLE).ok()?;
    let mut words = env::args_os().skip(1);
    let mut compiler = Command::new(words.next()?);
    compiler.args(words);
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let kernels = package == "sealwright";
    if kernels || package.starts_with("sealwright-") {
        compiler.args(ADDRESSES).env("RUSTC_BOOTSTRAP", "1");
        if kernels {
            compiler.args(KERNELS);
        }
        if what == Instrument::Fuzzing.name() {
            compiler.args(EDGES);
        }
    }
    let done = compiler.status().ok().and_then(|status| status.code());
    Some(ExitCode::from(done.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
