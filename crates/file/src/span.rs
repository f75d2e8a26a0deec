//! The work unit: 64 chunks, about 1 MiB, read, sealed or opened in place, and written by one worker.

use std::io::{IoSlice, IoSliceMut};

use sealwright_stream::chunk::{self, TAG};
use zeroize::Zeroizing;

use crate::{body::Body, error::Error};

/// Chunks in every span but the last.
pub(crate) const CHUNKS: usize = 64;
/// Text in every span but the last, in bytes.
pub(crate) const PLAIN: usize = CHUNKS * chunk::PLAIN;
/// Length of every sealed span but the last, in bytes.
pub(crate) const SEALED: usize = CHUNKS * chunk::SEALED;

/// A span in its buffer, which is laid out as in the sealed file: each chunk's text, with room for its tag after it.
pub(crate) struct Span {
    buffer: Zeroizing<Vec<u8>>,
    /// The span's number in the file, from 0.
    pub(crate) index: u64,
    /// Bytes of text in it.
    pub(crate) text: usize,
    /// Whether this is the last span: it then ends with a short chunk, possibly empty, after the full ones.
    pub(crate) last: bool,
}

impl Span {
    /// An empty span that can hold `text` bytes, or a whole span if that is less.
    pub(crate) fn with_room(text: u64) -> Span {
        let len = match usize::try_from(text) {
            Ok(text) if text < PLAIN => sealed_len(text, true),
            _ => SEALED,
        };
        Span { buffer: Zeroizing::new(vec![0; len]), index: 0, text: 0, last: false }
    }

    /// Its length when sealed.
    pub(crate) fn sealed_len(&self) -> usize {
        sealed_len(self.text, self.last)
    }

    /// Number of its first chunk in the file.
    fn first(&self) -> u64 {
        self.index * CHUNKS as u64
    }

    /// The sealed bytes.
    pub(crate) fn sealed(&self) -> &[u8] {
        &self.buffer[..self.sealed_len()]
    }

    /// Room for `len` sealed bytes.
    pub(crate) fn sealed_mut(&mut self, len: usize) -> &mut [u8] {
        &mut self.buffer[..len]
    }

    /// The text, chunk by chunk.
    pub(crate) fn text(&self) -> Vec<IoSlice<'_>> {
        let chunks = self.buffer.chunks(chunk::SEALED).enumerate();
        chunks.map(|(i, chunk)| IoSlice::new(&chunk[..piece(self.text, i)])).take_while(|c| !c.is_empty()).collect()
    }

    /// Room for `len` bytes of text, chunk by chunk.
    pub(crate) fn text_mut(&mut self, len: usize) -> Vec<IoSliceMut<'_>> {
        let chunks = self.buffer.chunks_mut(chunk::SEALED).enumerate();
        chunks.map(|(i, chunk)| IoSliceMut::new(&mut chunk[..piece(len, i)])).take_while(|c| !c.is_empty()).collect()
    }

    /// Seals the text in place.
    pub(crate) fn seal(&mut self, body: &Body) {
        let (first, text, len) = (self.first(), self.text, self.sealed_len());
        for (i, chunk) in self.buffer[..len].chunks_mut(chunk::SEALED).enumerate() {
            body.seal(first + i as u64, chunk, piece(text, i));
        }
    }

    /// Opens the first `len` bytes in place, which then contain the text.
    pub(crate) fn open(&mut self, body: &Body, len: usize) -> Result<(), Error> {
        let first = self.first();
        self.last = len < SEALED;
        self.text = 0;
        if self.last && len % chunk::SEALED < TAG {
            let chunks = first + (len / chunk::SEALED) as u64;
            return Err(Error::cut(body.offset(chunks) + (len % chunk::SEALED) as u64));
        }
        for (i, chunk) in self.buffer[..len].chunks_mut(chunk::SEALED).enumerate() {
            let index = first + i as u64;
            body.unseal(index, chunk)?;
            self.text += chunk.len() - TAG;
        }
        Ok(())
    }
}

/// How much of `text` bytes lies in chunk `i` of a span.
fn piece(text: usize, i: usize) -> usize {
    text.saturating_sub(i * chunk::PLAIN).min(chunk::PLAIN)
}

/// Length of a span of `text` bytes when sealed.
pub(crate) fn sealed_len(text: usize, last: bool) -> usize {
    let chunks = text / chunk::PLAIN + usize::from(last);
    text + chunks * TAG
}
