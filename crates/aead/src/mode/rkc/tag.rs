//! T = SHA-256(X_1 || X_2 || …), interleaved with the other hashing.

use super::reading::BATCH;
use crate::simd::sha::{Digest, Message, Sha256};

/// Hash blocks in a batch.
const WAITING: usize = BATCH / 4;

/// The tag of one message, in progress.
pub(super) struct TagHash<H: Sha256> {
    state: H::State,
    /// Hash blocks of the last batch; those from `next` to before `end` are not hashed yet.
    waiting: [Message; WAITING],
    next: usize,
    end: usize,
    /// The rest of the last batch, and its length.
    tail: [u8; 64],
    tail_len: usize,
    /// Bytes added so far.
    bytes: u64,
}

impl<H: Sha256> TagHash<H> {
    /// The hash of an empty message.
    #[inline(always)]
    pub(super) fn new(sha: H) -> Self {
        let waiting = [[0; 8]; WAITING];
        TagHash { state: sha.start(), waiting, next: 0, end: 0, tail: [0; 64], tail_len: 0, bytes: 0 }
    }

    /// Compresses `message` into another chain, interleaved with a waiting hash block of this one.
    #[inline(always)]
    pub(super) fn interleave(&mut self, sha: H, other: H::State, message: &Message) -> H::State {
        if self.next == self.end {
            let mut states = [other];
            sha.compress(&mut states, &[*message]);
            return states[0];
        }
        let mut states = [other, self.state];
        sha.compress(&mut states, &[*message, self.waiting[self.next]]);
        self.next += 1;
        self.state = states[1];
        states[0]
    }

    /// Adds the X values of a batch of blocks; only the last batch may be shorter than [`BATCH`].
    #[inline(always)]
    pub(super) fn take(&mut self, sha: H, x: &[u8]) {
        self.settle(sha);
        let (blocks, tail) = x.as_chunks::<64>();
        for (message, block) in self.waiting.iter_mut().zip(blocks) {
            *message = words(block);
        }
        (self.next, self.end) = (0, blocks.len());
        self.tail[..tail.len()].copy_from_slice(tail);
        self.tail_len = tail.len();
        self.bytes += x.len() as u64;
    }

    /// Hashes the blocks that still wait.
    #[inline(always)]
    fn settle(&mut self, sha: H) {
        let mut states = [self.state];
        for message in &self.waiting[self.next..self.end] {
            sha.compress(&mut states, &[*message]);
        }
        self.next = self.end;
        self.state = states[0];
    }

    /// Returns the tag. X is a multiple of 16 bytes, so that padding and length fit after the tail.
    #[inline(always)]
    pub(super) fn finish(mut self, sha: H) -> Digest {
        self.settle(sha);
        self.tail[self.tail_len..].fill(0);
        self.tail[self.tail_len] = 0x80;
        self.tail[56..].copy_from_slice(&(8 * self.bytes).to_be_bytes());
        let mut states = [self.state];
        sha.compress(&mut states, &[words(&self.tail)]);
        sha.digest(states[0])
    }
}

/// Bytes as words of the hash.
#[inline(always)]
fn words(block: &[u8; 64]) -> Message {
    let mut message = [0; 8];
    for (word, bytes) in message.iter_mut().zip(block.as_chunks::<8>().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    message
}
