//! Opening what is read.

use std::{
    fmt,
    io::{self, Read},
};

use sealwright::{Isa, Suite};
use zeroize::Zeroizing;

use crate::{
    StreamError,
    chunk::{self, HEADER, MAX_CHUNKS, SEALED, TAG},
    cipher::ChunkCipher,
};

/// A reader that opens: it reads a sealed stream from `R` and returns the authentic text.
///
/// Every byte that it returns is authentic and at its original position. The text is complete only when [`Read::read`]
/// returns `Ok(0)`; a truncated stream ends with an error instead: [`io::ErrorKind::UnexpectedEof`], or
/// [`io::ErrorKind::InvalidData`] if what is left could also be a stream whose last chunk was changed.
/// Bytes in `R` after the stream count as part of it, so `R` must end where the stream ends.
///
/// ```
/// use std::io::{BufRead, BufReader, Write};
///
/// use sealwright_stream::{Opener, Sealer, Suite};
///
/// let mut sealer = Sealer::new(Vec::new(), Suite::Aes256Gcm, &[7; 32], b"log")?;
/// sealer.write_all(b"one\ntwo\n")?;
/// let sealed = sealer.finish()?;
///
/// let opener = Opener::new(&sealed[..], Suite::Aes256Gcm, &[7; 32], b"log")?;
/// let lines: Result<Vec<_>, _> = BufReader::new(opener).lines().collect();
/// assert_eq!(lines?, ["one", "two"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias("decrypt", "ciphertext"))]
pub struct Opener<R> {
    from: R,
    cipher: ChunkCipher,
    /// One chunk, as sealed or opened.
    buffer: Zeroizing<Vec<u8>>,
    /// Sealed bytes read so far of the chunk that is being read.
    filled: usize,
    /// Opened text in the buffer: from `given` on not yet given out.
    text: usize,
    given: usize,
    /// Number of the next chunk.
    index: u64,
    ended: bool,
    failed: Option<StreamError>,
}

impl<R: Read> Opener<R> {
    /// Reads the header from `from` and checks key and context, with the best instructions of this machine.
    ///
    /// After an error of `R` this call cannot be repeated, because part of the header may have been read. If `R` is
    /// nonblocking ([`io::ErrorKind::WouldBlock`]), read the header yourself and use [`Opener::with_cipher`].
    ///
    /// # Errors
    /// [`StreamError::WrongKey`], [`StreamError::Truncated`] and the others inside an [`io::Error`]; those of `R`.
    pub fn new(mut from: R, suite: Suite, key: &[u8], context: &[u8]) -> io::Result<Opener<R>> {
        let mut header = [0; HEADER];
        let mut filled = 0;
        fill(&mut from, &mut header, &mut filled)?;
        if filled < HEADER {
            return Err(StreamError::Truncated { offset: filled as u64 }.into());
        }
        let cipher = ChunkCipher::open(suite, Isa::best(), key, &header, &[context])?;
        Ok(Opener::with_cipher(from, cipher))
    }

    /// Reads only the chunks from `from`; the header was read before and given to [`ChunkCipher::open`].
    pub fn with_cipher(from: R, cipher: ChunkCipher) -> Opener<R> {
        let buffer = Zeroizing::new(vec![0; SEALED]);
        Opener { from, cipher, buffer, filled: 0, text: 0, given: 0, index: 0, ended: false, failed: None }
    }

    /// The underlying reader.
    pub fn into_inner(self) -> R {
        self.from
    }

    /// Reads and opens the next chunk.
    fn next_chunk(&mut self) -> io::Result<()> {
        fill(&mut self.from, &mut self.buffer, &mut self.filled)?;
        let offset = chunk::offset(self.index) + self.filled as u64;
        let opened = if self.index == MAX_CHUNKS {
            Err(StreamError::Chunk { index: self.index, offset: chunk::offset(self.index), last: false })
        } else if self.filled < TAG {
            Err(StreamError::Truncated { offset })
        } else {
            self.cipher.open_chunk(self.index, &mut self.buffer[..self.filled])
        };
        if let Err(error) = opened {
            self.failed = Some(error.clone());
            return Err(error.into());
        }
        self.ended = self.filled < SEALED;
        (self.text, self.given) = (self.filled - TAG, 0);
        (self.filled, self.index) = (0, self.index + 1);
        Ok(())
    }
}

impl<R: Read> Read for Opener<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = &self.failed {
            return Err(error.clone().into());
        }
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.given == self.text {
            if self.ended {
                return Ok(0);
            }
            self.next_chunk()?;
        }
        let n = buffer.len().min(self.text - self.given);
        buffer[..n].copy_from_slice(&self.buffer[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

/// Reads until `buffer` is full or `from` ends. `filled` counts the bytes read, so that a call that failed can be
/// repeated.
fn fill(from: &mut impl Read, buffer: &mut [u8], filled: &mut usize) -> io::Result<()> {
    while *filled < buffer.len() {
        match from.read(&mut buffer[*filled..]) {
            Ok(0) => break,
            Ok(n) => *filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl<R> fmt::Debug for Opener<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").field("index", &self.index).field("ended", &self.ended).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Sealer;

    #[test]
    fn a_stream_of_more_chunks_than_there_may_be_is_refused() {
        let sealed = Sealer::new(Vec::new(), Suite::Aes256Gcm, &[7; 32], b"").unwrap().finish().unwrap();
        let mut opener = Opener::new(&sealed[..], Suite::Aes256Gcm, &[7; 32], b"").unwrap();
        opener.index = MAX_CHUNKS;
        let error = opener.read(&mut [0]).unwrap_err().downcast::<StreamError>().unwrap();
        assert_eq!(error, StreamError::Chunk { index: MAX_CHUNKS, offset: chunk::offset(MAX_CHUNKS), last: false });
    }
}
