//! Signed texts: `text || key id (16) || signature (3373)`.
//!
//! The signature is inside the sealed text, so that only those who can open the file learn who signed it; and it
//! follows the text, so that a stream can be signed. It covers the whole text, because recipients know the file key and
//! could otherwise put another text behind a header that somebody else signed.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha512};

use super::{KEY_ID, KeyId, Signed, SigningKey, VerifyingKey, verify};
use crate::{
    error::{Error, Flaw},
    layout::{HeldBack, TRAILER},
};

/// Reads the text of `from`, then its signature.
pub(crate) struct TextSigner<'a, R> {
    from: R,
    key: &'a SigningKey,
    what: Signed<'a>,
    hash: Sha512,
    text: u64,
    trailer: Option<Vec<u8>>,
}

impl<'a, R: Read> TextSigner<'a, R> {
    pub(crate) fn new(from: R, key: &'a SigningKey, what: Signed<'a>) -> Self {
        TextSigner { from, key, what, hash: Sha512::new(), text: 0, trailer: None }
    }

    /// Length of the text so far.
    pub(crate) fn text(&self) -> u64 {
        self.text
    }
}

impl<R: Read> Read for TextSigner<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.trailer.is_none() {
            let got = self.from.read(buffer)?;
            if got > 0 {
                self.hash.update(&buffer[..got]);
                self.text += got as u64;
                return Ok(got);
            }
            let signature = self.key.sign(self.what, &self.hash.finalize_reset().into());
            self.trailer = Some([&self.key.verifying_key().id()[..], &signature].concat());
        }
        let Some(trailer) = &mut self.trailer else { return Ok(0) };
        let some = trailer.len().min(buffer.len());
        buffer[..some].copy_from_slice(&trailer[..some]);
        trailer.drain(..some);
        Ok(some)
    }
}

/// Writes a signed text to `to` without its signature.
pub(crate) struct TextVerifier<W> {
    to: W,
    hash: Sha512,
    /// The last bytes so far, which are the signature if nothing follows.
    tail: HeldBack,
    text: u64,
}

impl<W: Write> TextVerifier<W> {
    pub(crate) fn new(to: W) -> Self {
        TextVerifier { to, hash: Sha512::new(), tail: HeldBack::new(TRAILER), text: 0 }
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.to.write_all(bytes)?;
        self.text += bytes.len() as u64;
        Ok(())
    }

    /// Verifies the signature with `keys`, unless there are none. Returns the writer, the length of the text, and the
    /// id of the key that the signature names.
    ///
    /// # Errors
    /// [`Error::OtherSigner`]; [`Flaw::Signature`].
    pub(crate) fn finish(mut self, keys: &[VerifyingKey], what: Signed<'_>) -> Result<(W, u64, KeyId), Error> {
        let malformed = || Error::NotAuthentic(Flaw::Signature);
        let (id, signature) = self.tail.bytes().split_first_chunk::<KEY_ID>().ok_or_else(malformed)?;
        let signature = signature.try_into().map_err(|_| malformed())?;
        if !keys.is_empty() {
            verify(keys, id, what, &self.hash.finalize_reset().into(), signature)?;
        }
        Ok((self.to, self.text, *id))
    }
}

impl<W: Write> Write for TextVerifier<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (first, settled) = self.tail.push(bytes);
        self.pass(&first)?;
        self.pass(settled)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
