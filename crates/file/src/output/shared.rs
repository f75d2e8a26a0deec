//! A writer that keeps its bytes in memory, for tests and for texts that need no file.

use std::{
    fmt,
    io::{self, Write},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::secret::Secret;

/// Bytes in memory, behind as many handles as wanted. Debug shows how many there are; memory is wiped on drop.
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
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Secret>>);

impl Shared {
    /// All that was written, leaving nothing. Wiping it is up to the caller.
    pub fn take(&mut self) -> Vec<u8> {
        mem::take(&mut **self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Secret> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({} bytes)", self.lock().len())
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.lock();
        let len = held.len() + bytes.len();
        if len > held.capacity() {
            // A Vec that grows would leave an unwiped copy behind.
            let mut larger = Secret::new(Vec::with_capacity(len.max(2 * held.capacity())));
            larger.extend_from_slice(&held);
            *held = larger;
        }
        held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn debug_tells_the_length_alone() {
        let (mut text, mut whole) = (Shared::default(), Vec::new());
        for part in [&b"secret"[..], b"", b" of", &[7; 1000], b"."] {
            text.clone().write_all(part).unwrap();
            whole.extend_from_slice(part);
        }
        assert_eq!(format!("{text:?} {text:#?}"), "Shared(1010 bytes) Shared(1010 bytes)");
        assert!(text.take() == whole);
        assert_eq!(format!("{text:?}"), "Shared(0 bytes)");
    }
}
