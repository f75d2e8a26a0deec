//! The last bytes of a stream, held back while more may follow.

use zeroize::Zeroizing;

/// Holds back the last bytes of its input.
pub(crate) struct HeldBack {
    most: usize,
    bytes: Zeroizing<Vec<u8>>,
}

impl HeldBack {
    /// Holds back the last `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        // Full capacity from the start: growing would leave an unwiped copy behind.
        HeldBack { most, bytes: Zeroizing::new(Vec::with_capacity(2 * most)) }
    }

    /// The bytes that are held back.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes `bytes`. Returns the bytes that are now known to precede the last ones: first those held back before, then
    /// the start of `bytes`.
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
