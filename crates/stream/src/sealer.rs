//! Sealing what is written.

use std::{
    fmt,
    io::{self, Write},
};

use sealwright::{Isa, Suite};
use zeroize::Zeroizing;

use crate::{
    StreamError,
    chunk::{HEADER, MAX_CHUNKS, PLAIN, SEALED},
    cipher::ChunkCipher,
};

/// A writer that seals: what is written to it comes out of `W` as a sealed stream.
///
/// The stream is complete only after [`Sealer::finish`]; if the sealer is dropped before, the stream is truncated, and
/// no [`Opener`] accepts it as complete. The sealer buffers one chunk, about 16 KiB; [`Write::flush`] writes full
/// chunks only, because a short chunk ends the stream.
///
/// An error of `W` leaves the sealer as it was, so a [`Write::write`], [`Write::flush`] or [`Sealer::try_finish`] that
/// failed may be repeated. `write_all`, `write!` and [`io::copy`] may not, because they do not report how much of the
/// text they had written.
///
/// A forked process must not continue a stream of its parent, nor may a process or virtual machine restored from a
/// snapshot continue one that was begun before: two processes would then seal under the same nonces.
///
/// [`Opener`]: crate::Opener
///
/// ```
/// use std::io::{self, Write};
///
/// use sealwright_stream::{Sealer, Suite};
///
/// // A backup on its way: nothing of it is held but one chunk.
/// let mut sealer = Sealer::new(Vec::new(), Suite::Aes256Gcm, &[7; 32], b"example.com backup")?;
/// io::copy(&mut &b"a long text"[..], &mut sealer)?;
/// writeln!(sealer, ", and a line")?;
/// let sealed = sealer.finish()?;
/// assert_eq!(sealed.len(), 56 + 24 + 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias("encrypt", "plaintext"))]
pub struct Sealer<W: Write> {
    to: W,
    cipher: ChunkCipher,
    /// One chunk: text that waits for more, or sealed bytes that wait for `to`.
    buffer: Zeroizing<Vec<u8>>,
    /// Bytes of text in the buffer.
    text: usize,
    /// Sealed bytes in the buffer, from `sent` on not yet written. While there are any, there is no text.
    sealed: usize,
    sent: usize,
    /// Number of the next chunk.
    index: u64,
    finished: bool,
}

impl<W: Write> Sealer<W> {
    /// A new stream into `to` under `key`, with a random salt and the best instructions of this machine.
    ///
    /// Nothing is written before the first call of [`Write::write`] or [`Sealer::finish`].
    ///
    /// # Errors
    /// [`StreamError::KeyLength`], [`StreamError::Random`].
    pub fn new(to: W, suite: Suite, key: &[u8], context: &[u8]) -> Result<Sealer<W>, StreamError> {
        let (cipher, header) = ChunkCipher::create(suite, Isa::best(), key, &[context])?;
        Ok(Sealer::with_cipher(to, cipher, &header))
    }

    /// A new stream into `to`, with the cipher and the header that [`ChunkCipher::create`] returned.
    ///
    /// # Panics
    /// If the header did not come with the cipher, since nobody could open the stream, or if the cipher came from
    /// [`ChunkCipher::open`], since its nonces are used.
    pub fn with_cipher(to: W, cipher: ChunkCipher, header: &[u8; HEADER]) -> Sealer<W> {
        cipher.must_seal();
        assert!(*header == cipher.header, "the header is not the one that came with the cipher");
        let mut buffer = Zeroizing::new(vec![0; SEALED]);
        buffer[..HEADER].copy_from_slice(header);
        Sealer { to, cipher, buffer, text: 0, sealed: HEADER, sent: 0, index: 0, finished: false }
    }

    /// Writes the last chunk, flushes `W`, and gives it back.
    ///
    /// # Errors
    /// Those of `W`; [`StreamError::TooLong`] inside an [`io::Error`] if the text fills the most chunks that a stream
    /// may have. The stream is then not complete.
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.to)
    }

    /// As [`Sealer::finish`], without giving up the sealer, so that it can be repeated after an error of `W`. Once the
    /// last chunk is sealed, nothing more can be written ([`StreamError::Ended`]), even if `W` has not taken it yet.
    ///
    /// # Errors
    /// Those of [`Sealer::finish`].
    pub fn try_finish(&mut self) -> io::Result<()> {
        self.send()?;
        if !self.finished {
            self.seal()?;
            self.finished = true;
        }
        self.send()?;
        self.to.flush()
    }

    /// The underlying writer.
    pub fn get_ref(&self) -> &W {
        &self.to
    }

    /// Seals the text in the buffer as the next chunk.
    fn seal(&mut self) -> io::Result<()> {
        if self.index == MAX_CHUNKS {
            return Err(StreamError::TooLong.into());
        }
        self.cipher.seal_chunk(self.index, &mut self.buffer, self.text);
        (self.sealed, self.sent) = (self.text + SEALED - PLAIN, 0);
        (self.text, self.index) = (0, self.index + 1);
        Ok(())
    }

    /// Writes the sealed bytes in the buffer.
    fn send(&mut self) -> io::Result<()> {
        while self.sent < self.sealed {
            match self.to.write(&self.buffer[self.sent..self.sealed]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => self.sent += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        (self.sealed, self.sent) = (0, 0);
        Ok(())
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.finished {
            return Err(StreamError::Ended.into());
        }
        self.send()?;
        let n = bytes.len().min(PLAIN - self.text);
        self.buffer[self.text..self.text + n].copy_from_slice(&bytes[..n]);
        self.text += n;
        if self.text == PLAIN
            && let Err(error) = self.seal()
        {
            self.text -= n;
            return Err(error);
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()?;
        self.to.flush()
    }
}

impl<W: Write> fmt::Debug for Sealer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("index", &self.index).field("finished", &self.finished).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_too_long_is_refused_and_nothing_of_it_is_kept() {
        let mut sealer = Sealer::new(Vec::new(), Suite::Aes256Gcm, &[7; 32], b"").unwrap();
        sealer.write_all(b"12345").unwrap();
        sealer.index = MAX_CHUNKS;
        for _ in 0..2 {
            let error = sealer.write(&[0; PLAIN]).unwrap_err();
            assert_eq!(error.downcast::<StreamError>().unwrap(), StreamError::TooLong);
            assert_eq!((sealer.text, &sealer.buffer[..5], sealer.index), (5, &b"12345"[..], MAX_CHUNKS));
        }
        let error = sealer.try_finish().unwrap_err();
        assert_eq!(error.downcast::<StreamError>().unwrap(), StreamError::TooLong);
        assert_eq!(sealer.get_ref().len(), HEADER, "no chunk");
    }
}
