//! The cryptographic crates on aarch64 under emulation, and the library for WebAssembly: with Debian's compiler, its
//! libraries for both, and QEMU, in a root folder of their own below `target`.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    loops,
    steps::{Checked, Steps},
};

/// What the root contains beside the base of a system.
const PACKAGES: &str = "rustc,cargo,libstd-rust-dev:arm64,libstd-rust-dev-wasm32,gcc-aarch64-linux-gnu,libc6-dev:arm64,\
                        qemu-user,ca-certificates";
/// Disk space that it takes, with what is built in it.
const SPACE: &str = "5 GB";
const TARGET: &str = "aarch64-unknown-linux-gnu";
/// The crates that contain or select kernels, and the one that runs vectors.
const CRATES: &[&str] = &["sealwright", "sealwright-session", "sealwright-stream", "sealwright-vectors"];
/// Inside the root, the worktree (which nobody can change there) and cargo's downloads.
const INSIDE: &str = "\
set -e
mount --bind \"$REPOSITORY\" \"$ROOT/repository\"
mount -o remount,bind,ro \"$ROOT/repository\"
mount --bind \"$CARGO_HOME\" \"$ROOT/cargo\"
mount --bind /proc \"$ROOT/proc\"
cp /etc/resolv.conf \"$ROOT/etc/resolv.conf\"
exec chroot \"$ROOT\" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CARGO_HOME=/cargo CARGO_TARGET_DIR=/build \
CARGO_BUILD_JOBS=\"$CARGO_BUILD_JOBS\" CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu' SEALWRIGHT_ISA=\"$SEALWRIGHT_ISA\" \
sh -c 'cd /repository && exec \"$@\"' sh \"$@\"
";

fn root(steps: &Steps) -> PathBuf {
    steps.target().join("aarch64-root")
}

/// `cargo xtask aarch64 WORDS`.
pub(crate) fn run(steps: &mut Steps, words: &[String]) {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            steps.check("tests and vectors on aarch64 under emulation", tests);
            steps.check("the library for WebAssembly", wasm);
        }
        ["--make-root"] => steps.check("a root for aarch64", make_root),
        ["--loops"] => steps.check("loops on aarch64", count_loops),
        _ => steps.fail("aarch64", "known are: no word, --make-root, --loops"),
    }
}

/// Makes the root; asked for by name only, since it downloads much.
fn make_root(steps: &Steps) -> Checked {
    let root = root(steps);
    if root.exists() {
        return Checked::Right(format!("{} is there already", root.display()));
    }
    let partial = root.with_extension("partial");
    let mirror = std::env::var("DEBIAN_MIRROR").unwrap_or_else(|_| "http://deb.debian.org/debian".into());
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let mut command = Command::new("mmdebstrap");
    // The release file of a mirror's copy may be past its date.
    command.args(["--mode=root", "--variant=apt", "--aptopt=Acquire::Check-Valid-Until \"false\""]);
    command.args(["--architectures=amd64,arm64", &format!("--include={PACKAGES}"), "sid"]).arg(&partial);
    command.arg(format!("deb [signed-by={keys}] {mirror} sid main"));
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Checked::Wrong(vec![format!("mmdebstrap: {status}; it must run as root")]),
        Err(error) => return Checked::Cannot(format!("mmdebstrap: {error} (Debian: apt install mmdebstrap)")),
    }
    let made = ["repository", "cargo", "build"].iter().try_for_each(|folder| fs::create_dir_all(partial.join(folder)));
    match made.and_then(|()| fs::rename(&partial, &root)) {
        Ok(()) => Checked::Right(root.display().to_string()),
        Err(error) => Checked::Wrong(vec![format!("{}: {error}", partial.display())]),
    }
}

/// Why a command in the root gave no output.
enum Failed {
    NoRoot(String),
    Ended(String),
}

impl From<Failed> for Checked {
    fn from(failed: Failed) -> Checked {
        match failed {
            Failed::NoRoot(why) => Checked::Cannot(why),
            Failed::Ended(why) => Checked::Wrong(vec![why]),
        }
    }
}

/// Runs a command in the root, in the workspace; what it writes to standard output.
fn inside(steps: &Steps, words: &[&str]) -> Result<String, Failed> {
    let root = root(steps);
    if !root.exists() {
        let how = format!("`cargo xtask aarch64 --make-root` makes it, as root, with mmdebstrap, in {SPACE}");
        return Err(Failed::NoRoot(format!("{} is not there; hint: {how}", root.display())));
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let jobs = std::thread::available_parallelism().map_or(1, usize::from).to_string();
    let variable = |name: &str, otherwise: &str| std::env::var_os(name).unwrap_or_else(|| otherwise.into());
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", INSIDE, "sh"]).args(words).stdout(Stdio::piped());
    let set = |command: &mut Command, name: &str, value: &OsStr| {
        command.env(name, value);
    };
    set(&mut command, "ROOT", absolute(&root).as_os_str());
    set(&mut command, "REPOSITORY", absolute(steps.root()).as_os_str());
    set(&mut command, "CARGO_HOME", absolute(&home).as_os_str());
    set(&mut command, "CARGO_BUILD_JOBS", &variable("CARGO_BUILD_JOBS", &jobs));
    set(&mut command, "SEALWRIGHT_ISA", &variable("SEALWRIGHT_ISA", ""));
    match command.output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if output.status.success() {
                return Ok(text);
            }
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            let end = |text: &str| {
                text.lines().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n   ")
            };
            Err(Failed::Ended(format!(
                "{}: {}\n   {}\n   {}",
                words.join(" "),
                output.status,
                end(&text),
                end(&errors)
            )))
        }
        Err(error) => Err(Failed::Ended(format!("unshare: {error} (Debian: apt install util-linux)"))),
    }
}

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Unit tests of [`CRATES`], every vector at both levels, and comparisons with other libraries.
fn tests(steps: &Steps) -> Checked {
    // Kernels compile for minutes, and an emulator is slow either way.
    let mut words = vec!["env", "CARGO_PROFILE_TEST_OPT_LEVEL=1", "cargo", "test", "--locked", "--target", TARGET];
    words.extend(["--all-features", "--lib", "--test", "ours", "--test", "referee"]);
    words.extend(CRATES.iter().flat_map(|name| ["-p", *name]));
    words.extend(["--", "--show-output"]);
    let printed = match inside(steps, &words) {
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

/// Programs, tests that passed, tests that were ignored: `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
fn count(printed: &str) -> (usize, usize, usize) {
    let number = |line: &str, what: &str| {
        let before = line.split(&format!(" {what}")).next()?;
        before.rsplit(' ').next()?.parse::<usize>().ok()
    };
    let results = printed.lines().filter(|line| line.starts_with("test result: "));
    results.fold((0, 0, 0), |(programs, passed, ignored), line| {
        let (more, not) = (number(line, "passed").unwrap_or(0), number(line, "ignored").unwrap_or(0));
        (programs + 1, passed + more, ignored + not)
    })
}

/// The library compiles for WebAssembly, where it has the portable level. Random bytes come from the embedder there.
fn wasm(steps: &Steps) -> Checked {
    let mut words = vec!["cargo", "build", "--locked", "--target", "wasm32-unknown-unknown", "-p", "sealwright"];
    words.extend([
        "--no-default-features",
        "--features",
        "gcm,aes192,ocb,siv,commit,serpent,chacha,cbc,raw,drbg,sessions,rustcrypto",
    ]);
    match inside(steps, &words) {
        Ok(_) => Checked::Right("built with every mode, without `std` and `random`".into()),
        Err(failed) => failed.into(),
    }
}

/// Builds the library as it is released and counts the instructions of its loops.
fn count_loops(steps: &Steps) -> Checked {
    let mut build = vec![
        "env",
        "CARGO_PROFILE_RELEASE_LTO=off",
        "cargo",
        "build",
        "--locked",
        "--release",
        "--target",
        TARGET,
        "-p",
        "sealwright",
    ];
    build.extend(["--features", "ocb,serpent"]);
    let library = format!("/build/{TARGET}/release/libsealwright.rlib");
    let disassemble =
        ["aarch64-linux-gnu-objdump", "--disassemble", "--no-show-raw-insn", "--demangle", library.as_str()];
    let code = match inside(steps, &build).and_then(|_| inside(steps, &disassemble)) {
        Ok(code) => code,
        Err(failed) => return failed.into(),
    };
    let loops = loops::of_aes(&code);
    println!("{}", loops.iter().map(|one| format!("   {one}\n")).collect::<String>().trim_end());
    let wrong = if loops.is_empty() { vec!["no loop has instructions of AES".to_owned()] } else { Vec::new() };
    Checked::of(wrong, format!("{} loops", loops.len()))
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_tests_of_every_program() {
        let printed = "\nrunning 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n\
                       running 2 tests\n..\ntest result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out\n";
        assert_eq!(count(printed), (2, 15, 1));
        assert_eq!(count("test a ... ok\n"), (0, 0, 0));
    }
}
