//! File objects of Python's as `Read`, `Write` and `Seek`.

use std::io::{self, Read, Seek, SeekFrom, Write};

use pyo3::{exceptions::PyBlockingIOError, intern, prelude::*, types::PyBytes};

use crate::buffer::Input;

/// A binary file object. Exceptions that it raises travel inside `io::Error`, and are raised again where Python called us.
pub(crate) struct PythonFile(pub(crate) Py<PyAny>);

/// Whether `None` from its `write` means that nothing was written, as `io.RawIOBase` has it.
fn is_raw(file: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = file.py();
    file.is_instance(&py.import(intern!(py, "io"))?.getattr(intern!(py, "RawIOBase"))?)
}

/// What Python's own buffers raise over a file that does not block. Trying again at once would keep a core busy.
fn blocked(py: Python<'_>, text: &'static str) -> PyErr {
    let number = py.import(intern!(py, "errno")).and_then(|errno| errno.getattr(intern!(py, "EAGAIN")));
    number.map_or_else(|error| error, |number| PyBlockingIOError::new_err((number.unbind(), text)))
}

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let got = self.0.bind(py).call_method1(intern!(py, "read"), (buffer.len(),))?;
            if got.is_none() {
                return Err(blocked(py, "read() has nothing yet (hint: os.set_blocking makes a file wait)").into());
            }
            let got: Input<'_> = got.extract()?;
            let got = got.bytes();
            if got.len() > buffer.len() {
                return Err(io::Error::other("read() returned more than it was asked for"));
            }
            buffer[..got.len()].copy_from_slice(got);
            Ok(got.len())
        })
    }
}

impl Write for PythonFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let file = self.0.bind(py);
            let wrote: Option<usize> =
                file.call_method1(intern!(py, "write"), (PyBytes::new(py, bytes),))?.extract()?;
            match wrote {
                Some(wrote) => Ok(wrote.min(bytes.len())),
                // A raw file says so that it took nothing. Others take all, and some tell nothing.
                None if is_raw(file)? => {
                    Err(blocked(py, "write() took nothing (hint: os.set_blocking makes a file wait)").into())
                }
                None => Ok(bytes.len()),
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Python::attach(|py| {
            let file = self.0.bind(py);
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
        Python::attach(|py| Ok(self.0.bind(py).call_method1(intern!(py, "seek"), (by, whence))?.extract()?))
    }
}
