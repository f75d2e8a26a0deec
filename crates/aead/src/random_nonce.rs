//! A key for messages that carry a random nonce each: the safe choice for a key that is stored.

use alloc::{boxed::Box, vec::Vec};
use core::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

#[cfg(feature = "commit")]
use crate::committing::Committing;
#[cfg(feature = "chacha")]
use crate::mode::chacha::XChaCha20Poly1305;
use crate::{
    aead::Aead,
    error::{KeyLengthError, OpenError, SealError},
    key::{Key, random},
    mode::xaes::Xaes256Gcm,
    simd::Isa,
    suite::Suite,
};

/// Seals each message under a fresh random nonce, which travels with it: nonce, ciphertext, tag. Any number of processes and
/// threads may use one key at once.
///
/// | | messages under one key | key |
/// |---|---|---|
/// | [`RandomNonceKey::xaes_256_gcm`] | 2^80: without limit in practice | 32 bytes |
/// | `RandomNonceKey::xchacha20_poly1305` (feature `chacha`) | 2^80 | 32 bytes |
/// | `RandomNonceKey::committing` (feature `commit`) | 2^80, and no message opens under two keys | the suite's |
/// | [`RandomNonceKey::new`] | 2^32 in **all** processes together (SP 800-38D, section 8.3) | the suite's |
///
/// ```
/// use sealwright::{Key, RandomNonceKey};
///
/// let key = Key::generate()?;
/// let sealing = RandomNonceKey::xaes_256_gcm(&key);
/// let message = sealing.seal(b"header", b"attack at dawn")?;
/// assert_eq!(sealing.open(b"header", &message)?, b"attack at dawn");
/// assert!(sealing.open(b"another header", &message).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RandomNonceKey {
    aead: Box<dyn Aead>,
    limit: u64,
    sealed: AtomicU64,
}

impl RandomNonceKey {
    /// XAES-256-GCM: nonces of 192 bits, so that random ones do not collide. **The recommended choice.**
    pub fn xaes_256_gcm(key: &Key<32>) -> Self {
        let aead = Box::new(Xaes256Gcm::new(Isa::best(), key.expose()));
        RandomNonceKey { aead, limit: u64::MAX, sealed: AtomicU64::new(0) }
    }

    /// XChaCha20-Poly1305: as [`RandomNonceKey::xaes_256_gcm`], for processors without AES instructions.
    #[cfg(feature = "chacha")]
    pub fn xchacha20_poly1305(key: &Key<32>) -> Self {
        let aead = Box::new(XChaCha20Poly1305::new(key.expose()));
        RandomNonceKey { aead, limit: u64::MAX, sealed: AtomicU64::new(0) }
    }

    /// A suite that commits to its keys ([`Committing`](crate::committing::Committing)), with nonces of 192 bits: no
    /// message opens under two keys, and no nonce comes twice in practice. Messages are 72 bytes longer than their texts.
    ///
    /// ```
    /// use sealwright::{Key, RandomNonceKey, Suite};
    ///
    /// let key = Key::<32>::generate()?;
    /// let sealing = RandomNonceKey::committing(Suite::Aes256Gcm, key.expose())?;
    /// let message = sealing.seal(b"header", b"attack at dawn")?;
    /// assert_eq!(sealing.open(b"header", &message)?, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key is the suite's.
    #[cfg(feature = "commit")]
    pub fn committing(suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
        let aead = Box::new(Committing::new(suite, key)?);
        Ok(RandomNonceKey { aead, limit: u64::MAX, sealed: AtomicU64::new(0) })
    }

    /// A suite with nonces of 96 bits. After 2^32 messages two nonces are equal with a probability of 2^-32, and one such
    /// pair gives the hash key away: so this object refuses to seal more. It cannot know what other objects and processes
    /// sealed under the key; count them together.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key is the suite's.
    ///
    /// ```
    /// use sealwright::{RandomNonceKey, Suite};
    ///
    /// let sealing = RandomNonceKey::new(Suite::Aes128Gcm, &[7; 16])?;
    /// let message = sealing.seal(b"", b"attack at dawn")?;
    /// assert_eq!(message.len(), 14 + sealing.overhead());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
        Ok(RandomNonceKey { aead: suite.aead(key)?, limit: 1 << 32, sealed: AtomicU64::new(0) })
    }

    /// Bytes that a message is longer than its text: nonce and tag.
    pub fn overhead(&self) -> usize {
        self.aead.nonce_len() + self.aead.tag_len()
    }

    /// The message: nonce, ciphertext of `text`, tag over both and `ad`.
    ///
    /// # Errors
    /// [`SealError::TextTooLong`] and [`SealError::AdTooLong`] as the mode has them; [`SealError::KeyExhausted`] at the
    /// key's limit; [`SealError::NoRandomness`] if the operating system gives no random bytes.
    #[doc(alias("encrypt", "aad", "plaintext"))]
    pub fn seal(&self, ad: &[u8], text: &[u8]) -> Result<Vec<u8>, SealError> {
        let nonce_len = self.aead.nonce_len();
        let counted = |sealed: u64| (sealed < self.limit).then(|| sealed + 1);
        self.sealed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted).map_err(|_| SealError::KeyExhausted)?;
        let mut message = Vec::with_capacity(text.len() + self.overhead());
        message.resize(nonce_len, 0);
        random(&mut message).map_err(|_| SealError::NoRandomness)?;
        message.extend_from_slice(text);
        let (nonce, text) = message.split_at_mut(nonce_len);
        let tag = self.aead.seal_in_place(nonce, ad, text)?;
        message.extend_from_slice(tag.as_ref());
        Ok(message)
    }

    /// The text of a message, if it is authentic together with `ad`.
    ///
    /// # Errors
    /// [`OpenError`] otherwise.
    #[doc(alias("decrypt", "aad", "ciphertext"))]
    pub fn open(&self, ad: &[u8], message: &[u8]) -> Result<Vec<u8>, OpenError> {
        let (nonce, rest) = message.split_at_checked(self.aead.nonce_len()).ok_or(OpenError)?;
        let text_len = rest.len().checked_sub(self.aead.tag_len()).ok_or(OpenError)?;
        let (ciphertext, tag) = rest.split_at(text_len);
        let mut text = ciphertext.to_vec();
        self.aead.open_in_place(nonce, ad, &mut text, tag)?;
        Ok(text)
    }
}

impl fmt::Debug for RandomNonceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RandomNonceKey").field("sealed", &self.sealed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{sealed::Sealed, tag::Tag};

    /// Encrypts nothing: the limit alone is tested.
    struct Plain;
    impl Sealed for Plain {}
    impl Aead for Plain {
        fn tag_len(&self) -> usize {
            4
        }
        fn seal_in_place(&self, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<Tag, SealError> {
            Ok(Tag::new(&[0; 4]))
        }
        fn open_in_place(&self, _: &[u8], _: &[u8], _: &mut [u8], _: &[u8]) -> Result<(), OpenError> {
            Ok(())
        }
    }

    #[test]
    fn the_limit_holds() {
        let sealed = AtomicU64::new((1 << 32) - 1);
        let key = RandomNonceKey { aead: Box::new(Plain), limit: 1 << 32, sealed };
        let message = key.seal(b"", b"the last").unwrap();
        assert_eq!(key.seal(b"", b"one more"), Err(SealError::KeyExhausted));
        assert_eq!(key.open(b"", &message).unwrap(), b"the last", "opening has no limit");
    }
}
