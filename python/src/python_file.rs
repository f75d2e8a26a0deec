//! File objects of Python's as `Read`, `Write` and `Seek`.

use std::io::{self, Read, Seek, SeekFrom, Write};

use pyo3::{intern, prelude::*, types::PyBytes};

use crate::buffer::Input;

/// A binary file object. Exceptions that it raises travel inside `io::Error`, and are raised again where Python called us.
pub(crate) struct PythonFile(pub(crate) Py<PyAny>);

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let got = self.0.bind(py).call_method1(intern!(py, "read"), (buffer.len(),))?;
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
            let wrote = self.0.bind(py).call_method1(intern!(py, "write"), (PyBytes::new(py, bytes),))?;
            // A raw file tells how much it took; others take all, and some tell nothing.
            let wrote: Option<usize> = wrote.extract()?;
            Ok(wrote.unwrap_or(bytes.len()).min(bytes.len()))
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
