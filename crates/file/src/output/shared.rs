//! A writer whose bytes can be taken back: for tests and for texts in memory.

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes in memory, behind as many handles as wanted.
///
/// ```
/// use std::io::Write;
///
/// use sealwright_file::Shared;
///
/// let mut memory = Shared::default();
/// memory.clone().write_all(b"a text")?;
/// assert_eq!(memory.take(), b"a text");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    /// All that was written, leaving nothing.
    pub fn take(&mut self) -> Vec<u8> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
