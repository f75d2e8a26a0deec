//! Recording of multithreaded programs in QEMU user mode. A QEMU plugin sees every load and store; a library that is
//! preloaded into the program reports threads, locks, barriers, semaphores and condition variables.
//!
//! Both are written in C (`crates/smp/recorder`), compiled when first needed and cached in a folder of the user. Not
//! reported: locks other than those of pthreads and C11 (OpenMP, and the futexes of Rust and C++20), and read locks of
//! `pthread_rwlock`.

mod error;
mod frames;
mod tools;

use std::{
    ffi::OsString,
    io::{self, BufReader},
    os::unix::{
        fs::MetadataExt,
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    time::Duration,
};

pub use error::{MissingToolError, RecordError};
use frames::Frames;
#[doc(hidden)]
pub use frames::kept_stream;
pub use tools::{cache, on_path, qemu};

use crate::output;

/// What to record and where to.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The output files are `PREFIX.0.smpt.zst` and so on.
    pub prefix: PathBuf,
    /// The folder in which the compiled recorder is cached; without one, it is compiled for each recording.
    pub cache: Option<PathBuf>,
    /// Whether existing files may be replaced.
    pub replace: bool,
}

/// The result of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The files, that of thread 0 first.
    pub files: Vec<PathBuf>,
    /// Number of records of each thread.
    pub records: Vec<u64>,
    /// The program's exit code; `None` if a signal ended it.
    pub code: Option<i32>,
}

/// Polling interval while waiting for the plugin to connect.
const TICK: Duration = Duration::from_millis(5);

impl Recording {
    /// Runs the program to its end and keeps its trace; `tell` hears of the records so far. The program has this
    /// process's standard streams.
    ///
    /// # Errors
    /// When a tool is missing, the program fails to run under it, makes no thread, or files cannot be written.
    pub fn run(&self, tell: &mut dyn FnMut(u64)) -> Result<Recorded, RecordError> {
        self.look_for_files()?;
        let (qemu, version) = qemu()?;
        let moment = || RecordError::io("a directory for a moment");
        let meeting = output::folder(None).map_err(moment())?;
        let user = meeting.path().metadata().map_err(moment())?.uid();
        let tools = tools::compiled(self.cache.as_deref().unwrap_or(meeting.path()), user, version)?;
        let socket = meeting.path().join("s");
        let listener = UnixListener::bind(&socket).map_err(RecordError::io("a socket"))?;
        let mut child = self.start(&qemu, &tools, &socket)?;
        let ran = self.receive(&listener, &mut child, tell);
        if ran.is_err() {
            // Nobody reads the records any more
            let _ = child.kill();
        }
        let status = child.wait().map_err(RecordError::io(self.program.display().to_string()))?;
        let frames =
            ran?.ok_or_else(|| RecordError::Program(format!("{}: QEMU ended with {status}", qemu.display())))?;
        self.keep(frames, status)
    }

    fn file(&self, thread: usize) -> PathBuf {
        let mut name = self.prefix.as_os_str().to_owned();
        name.push(format!(".{thread}.smpt.zst"));
        name.into()
    }

    /// Files of an existing trace of this name, thread 0 first.
    fn there(&self) -> Vec<PathBuf> {
        (0..frames::MOST_THREADS).map(|thread| self.file(thread)).filter(|file| file.exists()).collect()
    }

    /// The folder of the files.
    fn folder(&self) -> &Path {
        self.prefix.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
    }

    /// Checks for existing files before the program runs, since it may have side effects.
    fn look_for_files(&self) -> Result<(), RecordError> {
        let folder = self.folder();
        output::within(folder).map_err(RecordError::io(folder.display().to_string()))?;
        match self.there().into_iter().next() {
            Some(file) if !self.replace => Err(RecordError::Exists(file)),
            _ => Ok(()),
        }
    }

    fn start(&self, qemu: &Path, tools: &tools::Compiled, socket: &Path) -> Result<Child, RecordError> {
        // QEMU's option syntax escapes a comma by doubling it
        let word = |path: &Path| path.display().to_string().replace(',', ",,");
        let mut preload = OsString::from("LD_PRELOAD=");
        preload.push(one_word(&tools.preload, socket)?);
        Command::new(qemu)
            .arg("-plugin")
            .arg(format!("{},to={}", word(&tools.plugin), word(socket)))
            .arg("-E")
            .arg(preload)
            .arg(&self.program)
            .args(&self.arguments)
            .spawn()
            .map_err(RecordError::io(qemu.display().to_string()))
    }

    /// Receives everything that the plugin sends; nothing if QEMU exits before the plugin connects.
    fn receive(
        &self,
        listener: &UnixListener,
        child: &mut Child,
        tell: &mut dyn FnMut(u64),
    ) -> Result<Option<Frames>, RecordError> {
        let failed = RecordError::io("the recorder's socket");
        let stream = called(listener, &mut || Ok(child.try_wait()?.is_some())).map_err(failed)?;
        let Some(stream) = stream else { return Ok(None) };
        let mut frames = Frames::new(self.folder());
        frames.read(&mut BufReader::with_capacity(1 << 16, stream), tell)?;
        Ok(Some(frames))
    }

    fn keep(&self, frames: Frames, status: ExitStatus) -> Result<Recorded, RecordError> {
        let name = self.program.display();
        match frames.began() {
            None => {
                return Err(RecordError::Program(format!(
                    "{name}: ended by {status}; a trace that is cut is not kept"
                )));
            }
            Some(false) => return Err(RecordError::Closed(self.program.clone())),
            Some(true) => {}
        }
        let records = frames.records();
        if records.len() < 2 {
            return Err(RecordError::Program(format!(
                "{name}: made no thread; the machine has at least two processors"
            )));
        }
        let files: Vec<_> = (0..records.len()).map(|thread| self.file(thread)).collect();
        let old = if self.replace { self.there() } else { Vec::new() };
        frames.keep(&files, &old)?;
        Ok(Recorded { files, records, code: status.code() })
    }
}

/// Waits for the plugin to connect; `None` if QEMU `ended` without that.
fn called(listener: &UnixListener, ended: &mut dyn FnMut() -> io::Result<bool>) -> io::Result<Option<UnixStream>> {
    listener.set_nonblocking(true)?;
    loop {
        // Check this first: the plugin may connect and QEMU exit in between
        let ended = ended()?;
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(Some(stream));
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Err(_) if ended => return Ok(None),
            Err(_) => std::thread::sleep(TICK),
        }
    }
}

/// A path of a library without colons, spaces or commas, at which ld.so and QEMU would split it. The folder of `socket`
/// is temporary.
fn one_word(library: &Path, socket: &Path) -> Result<PathBuf, RecordError> {
    let ends = |path: &Path| path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :,".contains(byte));
    if !ends(library) {
        return Ok(library.to_owned());
    }
    let link = socket.with_file_name("preload.so");
    std::os::unix::fs::symlink(library, &link).map_err(RecordError::io(link.display().to_string()))?;
    match ends(&link) {
        true => Err(RecordError::Program(format!("{}: a space, colon or comma in TMPDIR", link.display()))),
        false => Ok(link),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_program_does_not_run_where_its_trace_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let ran = folder.path().join("ran");
        let recording = Recording {
            program: "/usr/bin/touch".into(),
            arguments: vec![ran.clone().into()],
            prefix: folder.path().join("none/trace"),
            cache: None,
            replace: false,
        };
        let why = recording.run(&mut |_| {}).unwrap_err();
        assert!(matches!(&why, RecordError::Io(what, _) if what.ends_with("none")), "{why}");
        assert!(!ran.exists());
    }

    #[test]
    fn a_recorder_that_called_and_ended_is_heard() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let mut call = None;
        let mut calls = || {
            call = Some(UnixStream::connect(&socket)?);
            Ok(true)
        };
        assert!(called(&listener, &mut calls).unwrap().is_some());
        drop(call);
        let mut looks = 0;
        let mut silent = || {
            looks += 1;
            Ok(looks == 3)
        };
        assert!(called(&listener, &mut silent).unwrap().is_none());
        assert_eq!(looks, 3);
    }
}
