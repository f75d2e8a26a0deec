//! For tests: a temporary folder to run programs in ([`Sandbox`]), a replay of terminal transcripts ([`check`],
//! [`terminal`]), and a search of memory ([`in_memory`]).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod check;
mod examples;
mod memory;
mod relay;
pub mod terminal;

use std::{
    fmt::Display,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

pub use check::check;
pub use examples::Examples;
pub use memory::{WANTED, in_memory};
pub use relay::{TrialRelay, change};
use tempfile::TempDir;

/// Where cargo lets tests find libraries: none of the program's, and the loader would look for its own there.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// A temporary directory to run `sealwright` in. It contains the key files `k` and `other`.
#[derive(Debug)]
pub struct Sandbox {
    directory: TempDir,
}

/// The exit code and the output of a command.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
}

impl Default for Sandbox {
    fn default() -> Self {
        Sandbox::new()
    }
}

impl Sandbox {
    /// An empty directory with the key files `k` and `other`.
    pub fn new() -> Sandbox {
        let sandbox = Sandbox { directory: tempfile::tempdir().unwrap() };
        for key in ["k", "other"] {
            sandbox.ok(&format!("key new -o {key}"));
        }
        sandbox
    }

    /// The path of a file in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A command that runs `sealwright` in the directory, without standard input.
    pub fn command(&self) -> Command {
        let mut command = Command::new(binaries().join("sealwright"));
        command.current_dir(self.directory.path()).stdin(Stdio::null()).env_remove(LIBRARIES);
        command
    }

    /// The same for a test that sends signals: the program heeds them even if this test was started with signals
    /// ignored, as by `nohup` or in the background of a script.
    pub fn heeding_signals(&self, program: &str) -> Command {
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP,INT,QUIT,TERM").arg(binaries().join(program));
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// Runs `sealwright` with the arguments in `line`.
    pub fn run(&self, line: &str) -> Finished {
        finished(self.command().args(line.split_whitespace()).output().unwrap())
    }

    /// Runs a line that must succeed and print nothing on standard error.
    pub fn ok(&self, line: &str) {
        let finished = self.run(line);
        assert_eq!((finished.code, finished.err.as_str()), (0, ""), "sealwright {line}");
    }

    /// Runs a line that must fail with `code` and print `word` on standard error.
    pub fn fails(&self, line: &str, code: i32, word: &str) {
        let finished = self.run(line);
        assert_eq!(finished.code, code, "sealwright {line}\n{}", finished.err);
        assert!(
            finished.err.starts_with("sealwright: ") && finished.err.contains(word),
            "sealwright {line}\n{}",
            finished.err
        );
    }

    /// Runs a shell script. `sealwright` in it is the program under test.
    ///
    /// # Panics
    /// If the script or what it started runs for five minutes; it is ended then.
    pub fn sh(&self, script: &str) -> Finished {
        let path = format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "300", "sh", "-c", script]).env("PATH", path);
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        let start = Instant::now();
        let finished = finished(command.env_remove(LIBRARIES).output().unwrap());
        assert!(start.elapsed() < Duration::from_secs(300), "did not end in five minutes: {script}\n{}", finished.err);
        finished
    }

    /// Writes a file, and creates the folders above it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        if let Some(parent) = Path::new(name).parent() {
            fs::create_dir_all(self.path("").join(parent)).unwrap();
        }
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The permission bits of a file.
    pub fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// Sets the permission bits of a file.
    pub fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The names of all files and directories except the two keys, sorted. The names of directories end in `/`.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(self.directory.path(), "", &mut names);
        names.retain(|name| name != "k" && name != "other");
        names.sort();
        names
    }
}

/// The folder of the programs under test. It is the folder of the test program, because cargo builds them together.
///
/// # Panics
/// If the folder does not contain `sealwright`.
pub fn binaries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap().to_owned();
    assert!(folder.join("sealwright").exists(), "build the programs first: cargo build --workspace");
    folder
}

fn list(directory: &Path, prefix: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), &format!("{name}/"), names);
            names.push(format!("{name}/"));
        } else {
            names.push(name);
        }
    }
}

/// The exit code and the output of a process that has ended.
pub fn finished(output: Output) -> Finished {
    Finished {
        code: output.status.code().unwrap_or(-1),
        out: output.stdout,
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Bytes without a short period, so that a chunk in the wrong place is noticed.
pub fn text(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Waits until something is so.
///
/// # Panics
/// If that takes a minute.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "never came: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Says that a test, or a part of it, cannot run here: `cargo xtask` counts it, as it names a file for it in
/// `SEALWRIGHT_SKIPPED`. What a test prints that passes is not shown.
///
/// # Panics
/// If the file cannot be written.
pub fn skipped(why: impl Display) {
    eprintln!("skipped: {why}");
    if let Some(path) = std::env::var_os("SEALWRIGHT_SKIPPED") {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let line = format!("{test}: {why}").replace('\n', " ") + "\n";
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// Runs a program whose file this test has written. Processes that other tests started meanwhile hold that file open
/// until they run their own program, and so long it cannot be run.
///
/// # Panics
/// If it cannot be run for another reason.
pub fn status_of_new(program: &mut Command) -> std::process::ExitStatus {
    loop {
        match program.status() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            status => return status.unwrap(),
        }
    }
}

/// Whether a program is installed. If it is not, says that the test is skipped.
pub fn have(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success();
    if !found {
        skipped(format_args!("{program} is not installed"));
    }
    found
}
