//! The end of a text that is held back because more may follow.

use std::ops::{Deref, DerefMut};

use zeroize::Zeroizing;

/// Less than a block of text.
#[derive(Clone, Default)]
pub(super) struct Held {
    bytes: Zeroizing<[u8; 16]>,
    len: usize,
}

impl Deref for Held {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

impl Held {
    /// The concatenation of `front` and `back`, together less than a block.
    pub(super) fn of(front: &[u8], back: &[u8]) -> Held {
        let mut held = Held::default();
        held.bytes[..front.len()].copy_from_slice(front);
        held.bytes[front.len()..][..back.len()].copy_from_slice(back);
        held.len = front.len() + back.len();
        held
    }

    pub(super) fn zeros(len: usize) -> Held {
        Held { len, ..Held::default() }
    }
}
