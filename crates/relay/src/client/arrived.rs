//! Reassembly of one direction of a stream: pieces that arrived, in whatever order.

use std::{collections::BTreeMap, ops::Range};

/// The most pieces that are kept behind a gap.
const MAX_PIECES: usize = 4096;

/// The pieces that arrived in one direction.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    /// Everything before this offset was delivered to the caller.
    expected: u64,
    /// Pieces behind a gap, by offset. They may overlap.
    waiting: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
    /// Where the stream ends, if that is known.
    pub(crate) end: Option<u64>,
}

impl Arrived {
    /// Takes a piece; one that ends beyond `limit` is ignored. Returns the bytes that can now be delivered in order.
    pub(crate) fn take(&mut self, offset: u64, piece: &[u8], limit: u64) -> Vec<u8> {
        let end = offset.saturating_add(piece.len() as u64);
        if end <= self.expected || end > limit {
            return Vec::new();
        }
        if offset > self.expected {
            let kept = self.waiting.get(&offset).map_or(0, Vec::len);
            let fits = self.bytes + piece.len() <= (limit - self.expected) as usize && self.waiting.len() < MAX_PIECES;
            if piece.len() > kept && fits {
                self.bytes += piece.len() - kept;
                self.waiting.insert(offset, piece.to_vec());
            }
            return Vec::new();
        }
        let mut next = piece[(self.expected - offset) as usize..].to_vec();
        self.expected = end;
        while let Some(entry) = self.waiting.first_entry().filter(|entry| *entry.key() <= self.expected) {
            let (offset, piece) = entry.remove_entry();
            self.bytes -= piece.len();
            let known = (self.expected - offset) as usize;
            next.extend_from_slice(piece.get(known..).unwrap_or_default());
            self.expected = self.expected.max(offset + piece.len() as u64);
        }
        next
    }

    /// The ranges that have arrived beyond `from`, in ascending order.
    pub(crate) fn ranges(&self, from: u64) -> impl Iterator<Item = Range<u64>> {
        let first = (self.expected > from).then_some(from..self.expected);
        let mut pieces = self.waiting.iter().map(|(&offset, piece)| offset..offset + piece.len() as u64).peekable();
        let joined = std::iter::from_fn(move || {
            let mut range = pieces.next()?;
            while let Some(next) = pieces.next_if(|next| next.start <= range.end) {
                range.end = range.end.max(next.end);
            }
            Some(range)
        });
        first.into_iter().chain(joined)
    }
}
