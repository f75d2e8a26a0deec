//! A sealed file that is read from anywhere.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    sync::{Mutex, PoisonError},
};

use pyo3::{exceptions::PyValueError, prelude::*};
use sealwright_file::{self as file, Interrupt};

use crate::{
    buffer::{self, Output},
    error::OrRaise,
    job::{self, Open},
    python_file::PythonFile,
};

/// What a sealed file is read from.
trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// The text of a sealed file, from anywhere: what `SealedFile` reads with. Each chunk of 16 KiB is authenticated before a byte of
/// it is given out, and the length is proven first.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct SealedReader {
    reader: Mutex<file::SealedReader<Box<dyn Source>>>,
    len: u64,
    suite: &'static str,
}

#[pymethods]
impl SealedReader {
    #[new]
    #[pyo3(signature = (source, *, key, associated_data=None, max_memory_kib=None))]
    fn new(
        source: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
        associated_data: Option<buffer::Input<'_>>,
        max_memory_kib: Option<u32>,
    ) -> PyResult<Self> {
        let open = Open::new(key, buffer::or_empty(&associated_data), max_memory_kib)?;
        let from: Box<dyn Source> = if source.hasattr("read")? {
            Box::new(PythonFile(source.clone().unbind()))
        } else {
            Box::new(File::open(job::path(source)?)?)
        };
        let read = move || file::SealedReader::new(from, &open.opening(&Interrupt::default()));
        let reader = source.py().detach(read).raised()?;
        let (len, suite) = (reader.len(), reader.preamble().suite.name());
        Ok(SealedReader { reader: Mutex::new(reader), len, suite })
    }

    /// Fills `buf` from byte `at` of the text on; returns how many bytes there were.
    fn read_at(&self, py: Python<'_>, at: u64, mut buf: Output) -> PyResult<usize> {
        if at.checked_add(buf.len() as u64).is_none() {
            return Err(PyValueError::new_err("a place that no file has"));
        }
        let buffer = buf.bytes();
        // The mutex is let go before the interpreter lock is taken back: who waits for one never holds the other.
        let read = || {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            reader.seek(SeekFrom::Start(at))?;
            let mut filled = 0;
            while filled < buffer.len() {
                match reader.read(&mut buffer[filled..]) {
                    Ok(0) => break,
                    Ok(n) => filled += n,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(filled)
        };
        py.detach(read).map_err(of_file).raised()
    }

    /// The length of the text, proven.
    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.len)?)
    }

    /// The length of the text, proven.
    #[getter]
    fn size(&self) -> u64 {
        self.len
    }

    /// The name of the suite.
    #[getter]
    fn suite(&self) -> &'static str {
        self.suite
    }
}

/// The error of the file that a reader's `io::Error` carries.
fn of_file(error: io::Error) -> file::Error {
    error.downcast().unwrap_or_else(|source| file::Error::Io { doing: "read", place: "the input".into(), source })
}
