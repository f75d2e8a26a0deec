//! The cryptographic crates on aarch64 under emulation, and the library for WebAssembly: with Debian's compiler, its
//! libraries for both, and QEMU, in a root folder of their own below `target`.

use crate::{
    debian::{Root, count},
    loops,
    steps::{Checked, Steps},
};

const ROOT: Root = Root {
    name: "aarch64-root",
    architectures: "amd64,arm64",
    packages: "rustc,cargo,libstd-rust-dev:arm64,libstd-rust-dev-wasm32,gcc-aarch64-linux-gnu,libc6-dev:arm64,\
               qemu-user,ca-certificates",
    space: "5 GB",
    command: "cargo xtask aarch64 --make-root",
};
const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Settings with which programs for aarch64 are linked and run.
const LINKER: [&str; 3] = [
    "env",
    "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc",
    "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64 -L /usr/aarch64-linux-gnu",
];
/// The crates that contain or select kernels, and the crate that runs vectors.
const CRATES: &[&str] = &["sealwright", "sealwright-session", "sealwright-stream", "sealwright-vectors"];

/// `cargo xtask aarch64 WORDS`.
pub(crate) fn run(steps: &mut Steps, words: &[String]) {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            steps.check("tests and vectors on aarch64 under emulation", tests);
            steps.check("the library for WebAssembly", wasm);
        }
        ["--make-root"] => steps.check("a root for aarch64", |steps| ROOT.make(steps)),
        ["--loops"] => steps.check("loops on aarch64", count_loops),
        _ => steps.fail(
            "aarch64",
            &format!("{}: known are --make-root and --loops\n   hint: cargo xtask aarch64", words.join(" ")),
        ),
    }
}

/// Unit tests of [`CRATES`], every vector at both levels, and comparisons with other libraries.
fn tests(steps: &Steps) -> Checked {
    // Kernels compile for minutes, and an emulator is slow either way.
    let mut words = LINKER.to_vec();
    words.extend(["CARGO_PROFILE_TEST_OPT_LEVEL=1", "cargo", "test", "--locked", "--target", TARGET]);
    words.extend(["--all-features", "--lib", "--test", "ours", "--test", "referee"]);
    words.extend(CRATES.iter().flat_map(|name| ["-p", *name]));
    words.extend(["--", "--show-output"]);
    let printed = match ROOT.inside(steps, &words) {
        Ok(printed) => printed,
        Err(failed) => return failed.into(),
    };
    let (programs, passed, ignored) = count(&printed);
    let vectors: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("vectors: ")).collect();
    let mut wrong = Vec::new();
    if passed == 0 || vectors.is_empty() {
        wrong.push("no test ran, or no vector".to_owned());
    }
    if !vectors.iter().all(|line| line.contains("neon")) {
        wrong.push("vectors did not run at the level neon".to_owned());
    }
    let vectors = vectors.join("; ");
    Checked::of(wrong, format!("{passed} tests in {programs} programs, {ignored} ignored; vectors: {vectors}"))
}

/// The library compiles for WebAssembly, where it has the portable level. Random bytes come from the embedder there.
fn wasm(steps: &Steps) -> Checked {
    let mut words = vec!["cargo", "build", "--locked", "--target", "wasm32-unknown-unknown", "-p", "sealwright"];
    words.extend([
        "--no-default-features",
        "--features",
        "gcm,aes192,ocb,siv,commit,serpent,chacha,cbc,raw,drbg,sessions,rustcrypto",
    ]);
    match ROOT.inside(steps, &words) {
        Ok(_) => Checked::Right("built with every mode, without `std` and `random`".into()),
        Err(failed) => failed.into(),
    }
}

/// Builds the library as it is released and counts the instructions of its loops.
fn count_loops(steps: &Steps) -> Checked {
    let mut build = LINKER.to_vec();
    build.extend(["CARGO_PROFILE_RELEASE_LTO=off", "cargo", "build", "--locked", "--release", "--target", TARGET]);
    build.extend(["-p", "sealwright", "--features", "ocb,serpent"]);
    let library = format!("/build/{TARGET}/release/libsealwright.rlib");
    let disassemble =
        ["aarch64-linux-gnu-objdump", "--disassemble", "--no-show-raw-insn", "--demangle", library.as_str()];
    let code = match ROOT.inside(steps, &build).and_then(|_| ROOT.inside(steps, &disassemble)) {
        Ok(code) => code,
        Err(failed) => return failed.into(),
    };
    let loops = loops::of_aes(&code);
    println!("{}", loops.iter().map(|one| format!("   {one}\n")).collect::<String>().trim_end());
    let wrong = if loops.is_empty() { vec!["no loop has instructions of AES".to_owned()] } else { Vec::new() };
    Checked::of(wrong, format!("{} loops", loops.len()))
}
