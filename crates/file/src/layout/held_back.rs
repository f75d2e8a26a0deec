//! The last bytes of a stream whose end is not known yet.

use zeroize::Zeroizing;

/// Keeps the last bytes of what it was given.
pub(crate) struct HeldBack {
    most: usize,
    bytes: Zeroizing<Vec<u8>>,
}

impl HeldBack {
    /// Keeps the last `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        // Room for all of it: growing would leave a copy behind.
        HeldBack { most, bytes: Zeroizing::new(Vec::with_capacity(2 * most)) }
    }

    /// The bytes that are kept.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes `bytes`. Returns what is now known not to be the end: of the bytes before, and of `bytes`.
    pub(crate) fn push<'a>(&mut self, bytes: &'a [u8]) -> (Zeroizing<Vec<u8>>, &'a [u8]) {
        let settled = (self.bytes.len() + bytes.len()).saturating_sub(self.most);
        let old = settled.min(self.bytes.len());
        let first = Zeroizing::new(self.bytes[..old].to_vec());
        self.bytes.drain(..old);
        let (settled, kept) = bytes.split_at(settled - old);
        self.bytes.extend_from_slice(kept);
        (first, settled)
    }
}
