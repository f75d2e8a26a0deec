//! A desk to try the program on: an empty directory with a key, and hands that type.
#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod terminal;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

pub(crate) struct Desk {
    directory: TempDir,
}

/// What a command left: its code and what it printed.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Desk {
    /// An empty directory with the key files `k` and `other`.
    pub(crate) fn new() -> Desk {
        let desk = Desk { directory: tempfile::tempdir().unwrap() };
        for key in ["k", "other"] {
            desk.ok(&format!("key new -o {key}"));
        }
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealwright"));
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// Runs `sealwright` with the words of `line`.
    pub(crate) fn run(&self, line: &str) -> Said {
        said(self.command().args(line.split_whitespace()).output().unwrap())
    }

    /// Runs a line that must succeed, in silence.
    pub(crate) fn ok(&self, line: &str) {
        let said = self.run(line);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "sealwright {line}");
    }

    /// Runs a line that must fail with `code` and say `word`.
    pub(crate) fn fails(&self, line: &str, code: i32, word: &str) {
        let said = self.run(line);
        assert_eq!(said.code, code, "sealwright {line}\n{}", said.err);
        assert!(said.err.starts_with("sealwright: ") && said.err.contains(word), "sealwright {line}\n{}", said.err);
    }

    /// Runs a shell script in which `sealwright` is ours.
    pub(crate) fn sh(&self, script: &str) -> Said {
        let binary = Path::new(env!("CARGO_BIN_EXE_sealwright")).parent().unwrap();
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("PATH", path).current_dir(self.directory.path()).stdin(Stdio::null());
        said(command.output().unwrap())
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        if let Some(parent) = Path::new(name).parent() {
            fs::create_dir_all(self.path("").join(parent)).unwrap();
        }
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Every file below, sorted, but for the two keys; directories end in `/`.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(self.directory.path(), "", &mut names);
        names.retain(|name| name != "k" && name != "other");
        names.sort();
        names
    }
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

pub(crate) fn said(output: Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        out: output.stdout,
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Bytes that no two places share.
pub(crate) fn text(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Whether a program is there; says so when it is not, as the test then shows nothing.
pub(crate) fn have(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}
