//! A sealed file that is written piece by piece.

use std::{
    io::{self, Read},
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};
use sealwright_file::{self as file, Input, Interrupt, pooled};

use crate::{
    buffer::{self, Text},
    error::{Error, OrRaise, Raised},
    job::{self, Seal},
    process::Maker,
    python_file::Within,
};

/// Bytes that are passed on at once: small writes are collected.
const PIECE: usize = 64 * 1024;
/// The most pieces in the queue.
const WAITING: usize = 4;

/// With its full capacity, so that it never grows.
fn piece() -> Text {
    Text(Vec::with_capacity(PIECE))
}

/// The written text, on its way to the thread that seals it. It is passed within the process, because the end of a pipe
/// would arrive only after every child forked meanwhile has ended. The text ends when the sender is dropped; an
/// abandoned one fails, so that no file appears.
struct Written {
    pieces: Receiver<Text>,
    piece: Text,
    at: usize,
    abandoned: Arc<AtomicBool>,
}

impl Read for Written {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.0.len() {
            let next = self.pieces.recv();
            if self.abandoned.load(Ordering::Acquire) {
                return Err(io::Error::other("the file was abandoned"));
            }
            let Ok(next) = next else { return Ok(0) };
            (self.piece, self.at) = (next, 0);
        }
        let got = (&self.piece.0[self.at..]).read(buffer)?;
        self.at += got;
        Ok(got)
    }
}

/// Seals what is written to it, as `SealedFile` uses it. `finish` makes the file; without it none appears.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct SealedWriter {
    state: Mutex<State>,
    abandoned: Arc<AtomicBool>,
    /// The thread that is in a call of the target. The sealing thread waits for that call, and so does whoever ends the
    /// file.
    within: Within,
    /// Whether the target tried to end the file, which it cannot.
    refused: AtomicBool,
    /// The process that made it: a forked child has no sealing thread, and a lock may be held there for ever.
    maker: Maker,
}

struct State {
    text: Option<SyncSender<Text>>,
    /// Text that was written but not passed on yet.
    piece: Text,
    sealing: Option<JoinHandle<Result<file::Summary, file::Error>>>,
    /// Why there is no file, once that is known.
    failed: Option<String>,
}

/// The thread that seals has ended.
struct Gone;

/// Why there is no file: for a reason reported now, or reported before. No later call may look as if there were one.
enum NoFile {
    Now(file::Error),
    Still(String),
}

impl From<NoFile> for Raised {
    fn from(error: NoFile) -> Raised {
        match error {
            NoFile::Now(why) => why.into(),
            NoFile::Still(why) => PyErr::into(Error::new_err(format!("no file was made: {why}"))),
        }
    }
}

impl State {
    fn write(&mut self, mut bytes: &[u8]) -> Option<Result<(), Gone>> {
        let text = self.text.as_ref()?;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.piece.0.len()));
            self.piece.0.extend_from_slice(now);
            bytes = later;
            if self.piece.0.len() == PIECE {
                let piece = mem::replace(&mut self.piece, piece());
                if text.send(piece).is_err() {
                    return Some(Err(Gone));
                }
            }
        }
        Some(Ok(()))
    }
}

impl SealedWriter {
    /// Ends the text and waits for the file; `None` if it ended before.
    fn end(&self) -> Result<Option<file::Summary>, NoFile> {
        let mut state = self.state();
        let piece = mem::take(&mut state.piece);
        if let Some(text) = state.text.take()
            && !piece.0.is_empty()
        {
            // If the thread ended early, its error says more.
            let _ = text.send(piece);
        }
        let Some(sealing) = state.sealing.take() else {
            return state.failed.clone().map_or(Ok(None), |why| Err(NoFile::Still(why)));
        };
        let done = sealing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let refused = self.refused.load(Ordering::Acquire);
        match done {
            Ok(summary) if !refused => Ok(Some(summary)),
            Err(why) if !self.abandoned.load(Ordering::Acquire) => {
                state.failed = Some(format!("an earlier write failed: {why}"));
                Err(NoFile::Now(why))
            }
            _ => {
                let why = String::from(if refused { "its own target ended it" } else { "it was abandoned" });
                state.failed = Some(why.clone());
                Err(NoFile::Still(why))
            }
        }
    }

    /// Refuses a call by the target: the sealing thread waits for the target, and this call would wait for the sealing
    /// thread.
    fn refuse_own_target(&self) -> PyResult<()> {
        if !self.within.is_here() {
            return Ok(());
        }
        let what = "a SealedFile is used by its own target while that is written to";
        Err(PyRuntimeError::new_err(format!("{what} (hint: raise an exception there; no file is made then)")))
    }

    fn refuse_forked(&self) -> PyResult<()> {
        self.maker.refuse_forked("the file is written by the process that this one was forked from")
    }

    /// Called only without the interpreter lock: the holder of the mutex may wait for the sealing thread, which may
    /// need the interpreter.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl SealedWriter {
    #[new]
    #[pyo3(signature = (target, *, key=None, recipients=None, suite="aes-256-gcm", associated_data=None, armor=false,
        costs=None, force=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn new(
        target: &Bound<'_, PyAny>,
        key: Option<&Bound<'_, PyAny>>,
        recipients: Option<&Bound<'_, PyAny>>,
        suite: &str,
        associated_data: Option<buffer::Input<'_>>,
        armor: bool,
        costs: Option<(u32, u32, u32)>,
        force: bool,
    ) -> PyResult<Self> {
        let seal = Seal::new(key, recipients, suite, buffer::or_empty(&associated_data), armor, costs)?;
        let (output, within) = job::watched(target, force)?;
        let (sender, pieces) = sync_channel(WAITING);
        let abandoned = Arc::new(AtomicBool::new(false));
        let text = Written { pieces, piece: Text::default(), at: 0, abandoned: Arc::clone(&abandoned) };
        let input = Input::reader(text, "the text");
        // One thread each: many files may be open at once, and each waits for its text.
        let run = move || pooled(1, || seal.run(input, output, &Interrupt::default()));
        let sealing = std::thread::Builder::new().name("sealwright".into()).spawn(run)?;
        let state = State { text: Some(sender), piece: piece(), sealing: Some(sealing), failed: None };
        let refused = AtomicBool::new(false);
        Ok(SealedWriter { state: Mutex::new(state), abandoned, within, refused, maker: Maker::this() })
    }

    /// Seals more text. Returns its length.
    fn write(&self, py: Python<'_>, data: buffer::Input<'_>) -> PyResult<usize> {
        self.refuse_forked()?;
        self.refuse_own_target()?;
        let bytes = data.bytes();
        // The sealing thread may need the interpreter, to write to a file object.
        let written = py.detach(|| {
            let mut state = self.state();
            let ended = state.failed.is_some() || self.refused.load(Ordering::Acquire);
            if ended { Some(Err(Gone)) } else { state.write(bytes) }
        });
        match written {
            None => Err(PyValueError::new_err("write to a file that is finished")),
            Some(Ok(())) => Ok(bytes.len()),
            // The thread ended early: its error says why.
            Some(Err(Gone)) => match py.detach(|| self.end()) {
                Err(why) => Err(why).raised(),
                Ok(_) => Err(PyRuntimeError::new_err("the file was ended while it was written")),
            },
        }
    }

    /// Ends the text. When this returns, the sealed file is complete and in its place. Returns the lengths of the text
    /// and of the sealed file.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        self.refuse_forked()?;
        self.refuse_end_by_target()?;
        let done = py.detach(|| self.end()).raised()?;
        Ok(done.map(|summary| (summary.text, summary.sealed)))
    }

    /// Raises `RuntimeError` if the target itself, in one of its methods, tries to end the file. No file is made then.
    fn refuse_end_by_target(&self) -> PyResult<()> {
        let refused = self.refuse_own_target();
        self.refused.fetch_or(refused.is_err(), Ordering::Release);
        refused
    }

    /// Ends without making a file. In a forked child it does nothing: the file belongs to the parent.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        if self.maker.is_forked() {
            return Ok(());
        }
        self.refuse_end_by_target()?;
        self.abandoned.store(true, Ordering::Release);
        // An error means that there is no file, as requested.
        let _ = py.detach(|| self.end());
        Ok(())
    }
}

/// A dropped object leaves no file that looks complete. It does not wait for the sealing thread, which may need the
/// interpreter lock that is held here.
impl Drop for SealedWriter {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Release);
        if self.maker.is_forked() {
            // Ending either would wait for locks that the parent's thread held when the process was forked.
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget((state.text.take(), state.sealing.take()));
        }
    }
}
