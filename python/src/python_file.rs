//! Python's file objects as `Read`, `Write` and `Seek`.

use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, SyncSender, sync_channel},
    },
};

use pyo3::{
    exceptions::{PyBlockingIOError, PyOSError},
    intern,
    prelude::*,
    types::PyBytes,
};

use crate::buffer::{Input, Text, copied};

/// A binary file object. Exceptions that it raises are carried inside `io::Error` and raised again in the calling
/// thread.
pub(crate) struct PythonFile {
    file: Py<PyAny>,
    /// The thread that is in a call of its `write` or `flush`.
    within: Within,
}

/// Which thread, if any, is in a call of a file object.
#[derive(Clone, Default)]
pub(crate) struct Within(Arc<AtomicUsize>);

impl Within {
    /// A number that is unique to each thread; never 0.
    fn this() -> usize {
        thread_local! {
            static PLACE: u8 = const { 0 };
        }
        PLACE.with(|place| ptr::from_ref(place).addr())
    }

    /// Whether the current thread is.
    pub(crate) fn is_here(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::this()
    }

    /// Runs `work`, which calls the file object.
    fn call<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
        self.0.store(Self::this(), Ordering::Relaxed);
        let done = call(work);
        self.0.store(0, Ordering::Relaxed);
        done
    }
}

/// Whether `None` from its `write` means that nothing was written, as in `io.RawIOBase`.
fn is_raw(file: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = file.py();
    file.is_instance(&py.import(intern!(py, "io"))?.getattr(intern!(py, "RawIOBase"))?)
}

/// The exception that Python's own buffers raise for a non-blocking file. Retrying at once would keep a core busy.
fn blocked(py: Python<'_>, text: &'static str) -> PyErr {
    let number = py.import(intern!(py, "errno")).and_then(|errno| errno.getattr(intern!(py, "EAGAIN")));
    number.map_or_else(|error| error, |number| PyBlockingIOError::new_err((number.unbind(), text)))
}

/// Calls Python. An exception gets no error kind here: `Interrupted` would be retried, for ever if the file always
/// raises `InterruptedError`.
fn call<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    Python::attach(work).map_err(io::Error::other)
}

impl PythonFile {
    pub(crate) fn new(file: &Bound<'_, PyAny>) -> PythonFile {
        PythonFile { file: file.clone().unbind(), within: Within::default() }
    }

    pub(crate) fn within(&self) -> Within {
        self.within.clone()
    }

    /// Passes at most `most` bytes, read from the file, to `take`.
    fn read_to<T>(&self, py: Python<'_>, most: usize, take: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
        let got = self.file.bind(py).call_method1(intern!(py, "read"), (most,))?;
        if got.is_none() {
            return Err(blocked(py, "read() has nothing yet (hint: os.set_blocking makes a file wait)"));
        }
        let got: Input<'_> = got.extract()?;
        let got = got.bytes();
        if got.len() > most {
            return Err(PyOSError::new_err("read() of the file object returned more than it was asked for"));
        }
        Ok(take(got))
    }

    /// Does what another thread requested.
    pub(crate) fn answer(&self, request: &Request) {
        let got = call(|py| self.read_to(py, request.most, copied).and_then(|got| Ok(Text(got?))));
        // The requesting thread may have ended.
        let _ = request.answer.send(got);
    }
}

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        call(|py| {
            self.read_to(py, buffer.len(), |got| {
                buffer[..got.len()].copy_from_slice(got);
                got.len()
            })
        })
    }
}

impl Write for PythonFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.within.call(|py| {
            let file = self.file.bind(py);
            let wrote: Option<i64> = file.call_method1(intern!(py, "write"), (PyBytes::new(py, bytes),))?.extract()?;
            match wrote {
                Some(wrote) => match usize::try_from(wrote) {
                    Ok(wrote) if wrote <= bytes.len() => Ok(wrote),
                    // How much it wrote is unknown.
                    _ => Err(PyOSError::new_err(format!(
                        "write() of the file object returned {wrote}, and not how much it took, between 0 and {}",
                        bytes.len()
                    ))),
                },
                // For a raw file, `None` means that it wrote nothing. Other files write everything, and some return
                // nothing.
                None if is_raw(file)? => {
                    Err(blocked(py, "write() took nothing (hint: os.set_blocking makes a file wait)"))
                }
                None => Ok(bytes.len()),
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.within.call(|py| {
            let file = self.file.bind(py);
            if file.hasattr(intern!(py, "flush"))? {
                file.call_method0(intern!(py, "flush"))?;
            }
            Ok(())
        })
    }
}

impl Seek for PythonFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (by, whence) = match to {
            SeekFrom::Start(at) => (i128::from(at), 0),
            SeekFrom::Current(by) => (i128::from(by), 1),
            SeekFrom::End(by) => (i128::from(by), 2),
        };
        let by = i64::try_from(by).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        call(|py| {
            let file = self.file.bind(py);
            let at: Option<u64> = file.call_method1(intern!(py, "seek"), (by, whence))?.extract()?;
            // `seek` of an mmap returns nothing before Python 3.13.
            at.map_or_else(|| file.call_method0(intern!(py, "tell"))?.extract(), Ok)
        })
    }
}

/// A `read` that a job requests.
pub(crate) struct Request {
    most: usize,
    answer: SyncSender<io::Result<Text>>,
}

impl Request {
    /// Answers with an error: the job must stop.
    pub(crate) fn refuse(&self) {
        let _ = self.answer.send(Err(io::Error::other("interrupted")));
    }
}

/// A file object as a job reads it: through the calling thread, because Ctrl-C interrupts a waiting `read` only there.
pub(crate) struct Asked(pub(crate) Sender<Request>);

impl Read for Asked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (answer, answered) = sync_channel(1);
        let ended = || io::Error::other("the call that reads the file object has ended");
        self.0.send(Request { most: buffer.len(), answer }).map_err(|_| ended())?;
        let got = answered.recv().map_err(|_| ended())??;
        buffer[..got.0.len()].copy_from_slice(&got.0);
        Ok(got.0.len())
    }
}
