//! Texts, keys and helpers that the tests share.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use sealwright::Suite;
use sealwright_file::{Error, Input, Key, Opening, Output, OutputOptions, Progress, Sealing, Shared, Summary, Work};

/// Offset of the first chunk in a file sealed under a raw key.
pub(crate) const BODY: usize = 16 + 56;
/// Length of a full sealed chunk.
pub(crate) const CHUNK: usize = 16_400;

/// A text without repetitions.
pub(crate) fn text(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut text = Vec::with_capacity(len + 8);
    while text.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.extend((state ^ (state >> 29)).to_le_bytes());
    }
    text.truncate(len);
    text
}

pub(crate) fn key(suite: Suite) -> Key {
    Key::raw((0..suite.key_len() as u8).collect::<Vec<u8>>())
}

/// A key of 32 bytes for the default suite.
pub(crate) fn key256() -> Key {
    key(Suite::Aes256Gcm)
}

pub(crate) fn work(threads: usize) -> Work {
    Work::default().threads(threads)
}

/// Seals from memory to memory.
pub(crate) fn sealed_by(sealing: &Sealing<'_>, text: &[u8]) -> Vec<u8> {
    let mut out = Shared::default();
    sealing.seal(Input::bytes(text.to_vec(), "text"), Output::writer(out.clone(), "memory")).unwrap();
    out.take()
}

pub(crate) fn sealed(text: &[u8]) -> Vec<u8> {
    sealed_by(&Sealing::new(&key256()), text)
}

/// Opens from memory to memory; returns the text so far and the result.
pub(crate) fn opened_by(opening: &Opening<'_>, sealed: &[u8]) -> (Vec<u8>, Result<Summary, Error>) {
    let mut out = Shared::default();
    let done = opening.open(Input::bytes(sealed.to_vec(), "sealed"), Output::writer(out.clone(), "memory"));
    (out.take(), done)
}

/// A temporary directory, with helpers.
pub(crate) struct Dir(pub(crate) tempfile::TempDir);

impl Dir {
    pub(crate) fn new() -> Dir {
        Dir(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// All names in it, hidden ones too, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

pub(crate) fn place() -> OutputOptions {
    OutputOptions::default().sync(false)
}

pub(crate) fn seal_file(sealing: &Sealing<'_>, from: &Path, to: &Path) -> Result<Summary, Error> {
    sealing.seal(Input::open(from)?, Output::file(to, place())?)
}

pub(crate) fn open_file(opening: &Opening<'_>, from: &Path, to: &Path) -> Result<Summary, Error> {
    opening.open(Input::open(from)?, Output::file(to, place())?)
}

/// Seals and syncs.
pub(crate) fn seal_synced(from: &Path, to: &Path) -> Summary {
    Sealing::new(&key256())
        .seal(Input::open(from).unwrap(), Output::file(to, OutputOptions::default()).unwrap())
        .unwrap()
}

/// Whether the file system supports unnamed files.
pub(crate) fn makes_unnamed_files(dir: &Dir) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    openat(CWD, dir.0.path(), OFlags::RDWR | OFlags::TMPFILE, Mode::RUSR).is_ok()
}

/// Runs a function once, when a number of bytes is done.
pub(crate) struct At<F> {
    pub(crate) bytes: u64,
    pub(crate) seen: AtomicU64,
    pub(crate) act: F,
}

impl<F: Fn() + Send + Sync + 'static> At<F> {
    pub(crate) fn work(bytes: u64, threads: usize, act: F) -> Work {
        Work::default().threads(threads).progress(Arc::new(At { bytes, seen: AtomicU64::new(0), act }))
    }
}

impl<F: Fn() + Send + Sync> Progress for At<F> {
    fn advance(&self, bytes: u64) {
        let before = self.seen.fetch_add(bytes, Ordering::SeqCst);
        if before < self.bytes && before + bytes >= self.bytes {
            (self.act)();
        }
    }
}

/// Runs only the ignored test `name` of this executable, from a shell after the command prefix `before` (which may set
/// limits or run a wrapper), with `dir` in its environment.
pub(crate) fn child(name: &str, before: &str, dir: &Path) -> String {
    let this = std::env::current_exe().unwrap();
    let run = format!("{before} '{}' --ignored --exact {name} --nocapture --test-threads 1", this.display());
    let done = Command::new("sh").args(["-c", &run]).env("SEALWRIGHT_TEST_DIR", dir).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
    said
}

/// In the child process: the directory that its parent passed.
pub(crate) fn given_dir() -> Option<PathBuf> {
    std::env::var_os("SEALWRIGHT_TEST_DIR").map(PathBuf::from)
}
