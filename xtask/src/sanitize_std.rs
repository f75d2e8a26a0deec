//! Tests under the sanitizers for threads and for uninitialized memory. Both need all code to be instrumented: the
//! standard library is compiled with them, too, from the sources in Debian's `rust-src`, in a root folder of its own.

use std::fs;

use crate::{
    debian::{Failed, Root, count},
    steps::{Checked, Steps},
};

pub(crate) const ROOT: Root = Root {
    name: "sanitizer-root",
    architectures: "amd64",
    packages: "rustc,cargo,rust-src,clang-22,libclang-rt-22-dev,llvm-22,libc6-dev,ca-certificates",
    space: "8 GB",
    command: "cargo xtask sanitize --make-root",
};
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A sanitizer.
pub(crate) struct Sanitizer {
    /// Its name in the command.
    pub(crate) word: &'static str,
    /// Its name for the compilers.
    name: &'static str,
    /// Settings in the environment.
    options: &'static [&'static str],
    /// Options of the compiler for everything.
    flags: &'static str,
    /// The program whose fault it must report, and its message.
    fault: &'static str,
    says: &'static str,
    /// Options of the compiler for the kernels alone.
    kernels: &'static [&'static str],
    /// Crates whose tests run under it.
    pub(crate) crates: &'static [&'static str],
}

pub(crate) const ALL: [Sanitizer; 2] = [
    Sanitizer {
        word: "threads",
        name: "thread",
        options: &["TSAN_OPTIONS=halt_on_error=1"],
        flags: "",
        fault: "data_race",
        says: "data race",
        // They start no threads and get their memory as slices. With a call at each access of registers that hold four
        // blocks they would compile for longer than everything else together.
        kernels: &["-Cllvm-args=-tsan-instrument-memory-accesses=0", "-Cllvm-args=-tsan-instrument-func-entry-exit=0"],
        crates: &["sealwright-session", "sealwright-stream", "sealwright-file", "sealwright-relay"],
    },
    Sanitizer {
        word: "memory",
        name: "memory",
        // Frames of the kernels, which are not optimised, exceed the 2 MiB of a thread.
        options: &["MSAN_OPTIONS=poison_in_dtor=1", "RUST_MIN_STACK=268435456"],
        // What the kernel writes is known of calls through libc alone.
        flags: " --cfg=rustix_use_libc",
        fault: "undefined",
        says: "use-of-uninitialized-value",
        kernels: &[],
        crates: &["sealwright-session", "sealwright-stream", "sealwright-file"],
    },
];

/// Runs the tests of these crates.
pub(crate) fn check(steps: &Steps, sanitizer: &Sanitizer, crates: &[&str]) -> Checked {
    match run(steps, sanitizer, crates) {
        Ok(checked) => checked,
        Err(failed) => failed.into(),
    }
}

fn run(steps: &Steps, sanitizer: &Sanitizer, crates: &[&str]) -> Result<Checked, Failed> {
    planted(steps, sanitizer)?;
    let mut words = vec!["test", "--locked", "--all-features", "--no-fail-fast", "--lib", "--tests"];
    words.extend(crates.iter().flat_map(|name| ["--package", *name]));
    let kernels = format!("profile.dev.package.sealwright.rustflags={:?}", sanitizer.kernels);
    // Unoptimised, they compile in a fraction of the time, and run fast enough for tests.
    let level = "profile.dev.package.sealwright.opt-level=0";
    words.extend(["-Zprofile-rustflags", "--config", &kernels, "--config", level]);
    let printed = cargo(steps, sanitizer, &words)?;
    let (programs, passed, ignored) = count(&printed);
    let wrong = if passed == 0 { vec!["no test ran".to_owned()] } else { vec![] };
    Ok(Checked::of(
        wrong,
        format!("{passed} tests in {programs} programs, {ignored} ignored; the planted fault was seen"),
    ))
}

/// Cargo in the root, with everything compiled for the sanitizer.
fn cargo(steps: &Steps, sanitizer: &Sanitizer, words: &[&str]) -> Result<String, Failed> {
    let name = sanitizer.name;
    let more = sanitizer.flags;
    let flags =
        format!("RUSTFLAGS=-Zsanitizer={name} -Zexternal-clangrt -Clinker=clang -Clink-arg=-fsanitize={name}{more}");
    let folder = format!("CARGO_TARGET_DIR=/build/{name}");
    let mut all = vec!["env", "RUSTC_BOOTSTRAP=1", "CARGO_INCREMENTAL=0", &flags, &folder];
    all.extend(sanitizer.options);
    all.push("cargo");
    all.extend(words);
    all.extend(["-Zbuild-std", "--target", TARGET]);
    ROOT.inside(steps, &all)
}

/// A planted fault that the sanitizer must report, in a package of its own without dependencies.
fn planted(steps: &Steps, sanitizer: &Sanitizer) -> Result<(), Failed> {
    let fault = sanitizer.fault;
    let package = ROOT.folder(steps).join("build/planted").join(fault);
    let manifest = format!(
        "[package]\nname = \"{fault}\"\nedition = \"2024\"\n[workspace]\n[[bin]]\nname = \"{fault}\"\n\
         path = \"/repository/crates/probes/src/bin/{fault}.rs\"\n"
    );
    if ROOT.folder(steps).exists() {
        let made = fs::create_dir_all(&package).and_then(|()| fs::write(package.join("Cargo.toml"), manifest));
        made.map_err(|error| Failed::Ended(format!("{}: {error}", package.display())))?;
    }
    let manifest = format!("/build/planted/{fault}/Cargo.toml");
    cargo(steps, sanitizer, &["build", "--manifest-path", &manifest])?;
    match ROOT.inside(steps, &[&format!("/build/{}/{TARGET}/debug/{fault}", sanitizer.name)]) {
        Err(Failed::Ended(said)) if said.contains(sanitizer.says) => {
            println!("   {}: the planted fault was seen", sanitizer.word);
            Ok(())
        }
        Err(Failed::Ended(said)) => Err(Failed::Ended(format!("the sanitizer did not see the planted fault: {said}"))),
        Err(other) => Err(other),
        Ok(_) => Err(Failed::Ended("the sanitizer did not see the planted fault".into())),
    }
}
