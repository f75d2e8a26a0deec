//! Sealed files with random access.

use std::{
    cell::RefCell,
    io::{self, Cursor, Read, Seek, SeekFrom},
    ptr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};
use sealwright_file::{self as file, Interrupt, KeySource, input::Positioned};

use crate::{
    buffer::{self, Output},
    error::OrRaise,
    job::{self, Open},
    process::Maker,
    python_file::PythonFile,
};

/// The longest header, with what follows it before the text.
const HEAD: u64 = 80 << 10;

/// What a sealed file is read from.
trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// Serialises the reads of several threads. A mutex alone could block a forked child for ever: if a thread of its
/// parent held it, nobody in the child would release it.
#[derive(Default)]
struct Turns(AtomicU64);

/// A turn, which ends when it is dropped.
struct Turn<'a>(&'a Turns);

thread_local! {
    /// The turns that this thread holds.
    static TAKEN: RefCell<Vec<*const Turns>> = const { RefCell::new(Vec::new()) };
}

impl Turns {
    /// Waits for the turn, or returns the reason why that would never end.
    fn take(&self) -> Result<Turn<'_>, &'static str> {
        if TAKEN.with_borrow(|taken| taken.contains(&ptr::from_ref(self))) {
            return Err(
                "the file is being read by this thread already: its file object, or a handler of signals, reads it again",
            );
        }
        let this = Maker::this().number();
        loop {
            match self.0.compare_exchange(0, this, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(other) if other == this => thread::sleep(Duration::from_micros(50)),
                Err(_) => return Err("another thread read the file when this process was forked; open it anew here"),
            }
        }
        TAKEN.with_borrow_mut(|taken| taken.push(self));
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        TAKEN.with_borrow_mut(|taken| taken.retain(|other| *other != ptr::from_ref(self.0)));
        self.0.0.store(0, Ordering::Release);
    }
}

/// Random access to the text of a sealed file, as `SealedFile` uses it. The length is authenticated when the file is
/// opened, and each chunk of 16 KiB before any byte of it is returned.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct SealedReader {
    /// Locked by the holder of the turn.
    reader: Mutex<file::SealedReader<Box<dyn Source>>>,
    turns: Turns,
    /// The process that may read. A file object is restricted to one, because a child shares its file position.
    maker: Option<Maker>,
    len: u64,
    suite: &'static str,
    padded: bool,
    key_source: &'static str,
    slots: usize,
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
        let (py, ad) = (source.py(), buffer::or_empty(&associated_data));
        let open = Open::new(key, ad, max_memory_kib)?;
        let (mut from, maker): (Box<dyn Source>, _) = if source.hasattr("read")? {
            (Box::new(PythonFile::new(source)), Some(Maker::this()))
        } else {
            (Box::new(job::opened(source, |path| Positioned::open(path))?), None)
        };
        let stretches = open.stretches();
        if maker.is_some() && stretches {
            // A file object is read only by the thread that called. The stretched key is kept.
            let head = py.detach(|| head(&mut from)).map_err(of_file).raised()?;
            let again = Open::new(key, ad, max_memory_kib)?;
            job::left_by_signals(py, move || {
                // Whether the key opens the file is decided when the whole file is opened.
                drop(file::SealedReader::new(Cursor::new(head), &again.opening(&Interrupt::default())));
                Ok(())
            })?;
        }
        let read = move || file::SealedReader::new(from, &open.opening(&Interrupt::default()));
        // Stretching a passphrase takes seconds.
        let reader =
            if maker.is_none() && stretches { job::left_by_signals(py, read)? } else { py.detach(read).raised()? };
        let (len, preamble) = (reader.len(), reader.preamble());
        let (suite, padded, key_source) = (preamble.suite.name(), preamble.layout.padded, preamble.source.name());
        let slots = if let KeySource::Recipients(slots) = &preamble.source { slots.iter().count() } else { 0 };
        let (reader, turns) = (Mutex::new(reader), Turns::default());
        Ok(SealedReader { reader, turns, maker, len, suite, padded, key_source, slots })
    }

    /// Fills `buf` with the text from byte `at` on; returns the number of bytes.
    fn read_at(&self, py: Python<'_>, at: u64, mut buf: Output) -> PyResult<usize> {
        if at.checked_add(buf.len() as u64).is_none() {
            return Err(PyValueError::new_err("a place that no file has"));
        }
        if let Some(maker) = &self.maker {
            maker.refuse_forked("the file object has one place for the parent and this process; open it anew here")?;
        }
        let buffer = buf.bytes();
        // The turn ends before the interpreter lock is taken back, so that no thread waits for the lock while it has
        // the turn.
        let read = || {
            let _turn = match self.turns.take() {
                Ok(turn) => turn,
                Err(why) => return Ok(Err(why)),
            };
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
            Ok(Ok(filled))
        };
        py.detach(read).map_err(of_file).raised()?.map_err(PyRuntimeError::new_err)
    }

    /// The authenticated length of the text.
    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.len)?)
    }

    /// The authenticated length of the text.
    #[getter]
    fn size(&self) -> u64 {
        self.len
    }

    /// The name of the suite.
    #[getter]
    fn suite(&self) -> &'static str {
        self.suite
    }

    /// Where its key comes from, as `inspect` names it: "raw", "passphrase" or "recipients".
    #[getter]
    fn key_source(&self) -> &'static str {
        self.key_source
    }

    /// The number of slots, each of which one recipient's key opens; 0 without recipients.
    #[getter]
    fn slots(&self) -> usize {
        self.slots
    }

    /// Whether the file is padded, so that its length hides that of the text.
    #[getter]
    fn padded(&self) -> bool {
        self.padded
    }
}

/// The part of a file that says which passphrases open it (docs/FORMAT.md), and no more.
fn head(from: &mut dyn Source) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    from.seek(SeekFrom::Start(0))?;
    from.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// The error of the file that a reader's `io::Error` carries.
fn of_file(error: io::Error) -> file::Error {
    error.downcast().unwrap_or_else(|error| file::Error::Io { doing: "read", place: "the input".into(), error })
}
