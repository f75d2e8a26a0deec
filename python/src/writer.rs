//! A sealed file that is written bit by bit.

use std::{
    io::{self, PipeReader, PipeWriter, Read, Write},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use pyo3::{exceptions::PyValueError, prelude::*};
use sealwright_file::{self as file, Input, Interrupt, pooled};

use crate::{
    buffer,
    error::OrRaise,
    job::{self, Seal},
};

/// The text that was written, on its way to the thread that seals it. A pipe that is closed ends the text; one that is abandoned
/// fails, so that no file appears.
struct Text {
    pipe: PipeReader,
    abandoned: Arc<AtomicBool>,
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.pipe.read(buffer)?;
        if got == 0 && !buffer.is_empty() && self.abandoned.load(Ordering::Acquire) {
            return Err(io::Error::other("the file was abandoned"));
        }
        Ok(got)
    }
}

/// Seals what is written to it: what `SealedFile` writes with. `finish` makes the file; without it none appears.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct SealedWriter {
    state: Mutex<State>,
    abandoned: Arc<AtomicBool>,
}

struct State {
    pipe: Option<PipeWriter>,
    sealing: Option<JoinHandle<Result<file::Summary, file::Error>>>,
}

impl SealedWriter {
    /// Ends the text and waits for the file.
    fn end(&self) -> Option<Result<file::Summary, file::Error>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pipe = None;
        let sealing = state.sealing.take()?;
        Some(sealing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
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
        let output = job::output(target, force)?;
        let (reader, writer) = io::pipe()?;
        let abandoned = Arc::new(AtomicBool::new(false));
        let input = Input::reader(Text { pipe: reader, abandoned: Arc::clone(&abandoned) }, "the text");
        // One thread: many files may be open at once, and each waits for its text.
        let run = move || pooled(1, || seal.run(input, output, &Interrupt::default()));
        let sealing = std::thread::Builder::new().name("sealwright".into()).spawn(run)?;
        Ok(SealedWriter { state: Mutex::new(State { pipe: Some(writer), sealing: Some(sealing) }), abandoned })
    }

    /// Seals more text.
    fn write(&self, py: Python<'_>, data: buffer::Input<'_>) -> PyResult<usize> {
        let bytes = data.bytes();
        // The thread that seals may need the interpreter, to write to a file object.
        let written = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.pipe.as_mut().map(|pipe| pipe.write_all(bytes))
        });
        match written {
            None => Err(PyValueError::new_err("write to a file that is finished")),
            Some(Ok(())) => Ok(bytes.len()),
            // The thread ended early: its error says why.
            Some(Err(error)) => match py.detach(|| self.end()) {
                Some(Err(why)) => Err(why).raised(),
                _ => Err(error.into()),
            },
        }
    }

    /// Ends the text; the sealed file is whole and in its place when this returns. Returns the lengths of text and sealed file.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let Some(done) = py.detach(|| self.end()) else { return Ok(None) };
        let summary = done.raised()?;
        Ok(Some((summary.text, summary.sealed)))
    }

    /// Leaves no file behind.
    fn abandon(&self, py: Python<'_>) {
        self.abandoned.store(true, Ordering::Release);
        py.detach(|| self.end());
    }
}

/// An object that is forgotten makes no file that looks whole. Nobody waits for the thread: it may need the interpreter lock, which
/// is held here.
impl Drop for SealedWriter {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Release);
    }
}
