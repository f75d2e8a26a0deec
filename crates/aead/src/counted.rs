//! A key bound to a counter of nonces: seal and open messages in order without ever choosing a nonce.

use core::fmt;

use crate::{
    Suite,
    aead::Aead,
    error::{KeyLengthError, OpenError, SealError},
    tag::Tag,
};

/// Nonces 0, 1, 2, … of 96 bits, big endian; none twice.
#[derive(Debug)]
struct Count(u64);

impl Count {
    fn next(&mut self) -> Option<[u8; 12]> {
        let now = self.0;
        self.0 = now.checked_add(1)?;
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&now.to_be_bytes());
        Some(nonce)
    }
}

/// Seals messages under one key, each with the next nonce. Not `Clone`: a copy would use nonces twice. For the same
/// reason a key must serve one `Sealer` only, once.
pub struct Sealer {
    aead: Box<dyn Aead>,
    count: Count,
}

/// Opens, in the order they were sealed, the messages of a [`Sealer`].
pub struct Opener {
    aead: Box<dyn Aead>,
    count: Count,
}

impl Sealer {
    /// Starts at nonce 0.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key is the suite's.
    pub fn new(suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
        Ok(Sealer { aead: suite.aead(key)?, count: Count(0) })
    }

    /// Encrypts `text` in place and returns the tag over it and `ad`.
    ///
    /// # Errors
    /// [`SealError::TextTooLong`] and [`SealError::AdTooLong`] as the mode has them; [`SealError::NonceLength`] after
    /// 2^64 - 1 messages.
    pub fn seal_in_place(&mut self, ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        let nonce = self.count.next().ok_or(SealError::NonceLength)?;
        self.aead.seal_in_place(&nonce, ad, text)
    }
}

impl Opener {
    /// Starts at nonce 0.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key is the suite's.
    pub fn new(suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
        Ok(Opener { aead: suite.aead(key)?, count: Count(0) })
    }

    /// Decrypts `text` in place if it is the next message. A message that is not authentic uses up no nonce.
    ///
    /// # Errors
    /// [`OpenError`], with `text` wiped.
    pub fn open_in_place(&mut self, ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let before = self.count.0;
        let opened = match self.count.next() {
            Some(nonce) => self.aead.open_in_place(&nonce, ad, text, tag),
            None => crate::aead::release(text, false),
        };
        if opened.is_err() {
            self.count.0 = before;
        }
        opened
    }
}

macro_rules! hidden {
    ($($type:ident),*) => {
        $(impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).field("count", &self.count.0).finish_non_exhaustive()
            }
        })*
    };
}
hidden!(Sealer, Opener);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn no_nonce_comes_twice_at_the_end() {
        let aead = || Suite::Aes256Gcm.aead(&[1; 32]).unwrap();
        let mut sealer = Sealer { aead: aead(), count: Count(u64::MAX - 1) };
        let mut opener = Opener { aead: aead(), count: Count(u64::MAX - 1) };
        let mut text = *b"the last";
        let tag = sealer.seal_in_place(b"", &mut text).unwrap();
        opener.open_in_place(b"", &mut text, tag.as_ref()).unwrap();
        assert_eq!(&text, b"the last");
        assert_eq!(sealer.seal_in_place(b"", &mut text), Err(SealError::NonceLength));
        assert_eq!(&text, b"the last");
        assert!(opener.open_in_place(b"", &mut text, tag.as_ref()).is_err());
        assert_eq!(text, [0; 8]);
    }
}
