//! A key for messages that each carry a random nonce: the safe choice for a stored key.

use alloc::{boxed::Box, vec::Vec};
#[cfg(not(target_has_atomic = "64"))]
use core::sync::atomic::AtomicU32 as Counter;
#[cfg(target_has_atomic = "64")]
use core::sync::atomic::AtomicU64 as Counter;
use core::{fmt, sync::atomic::Ordering};

#[cfg(feature = "commit")]
use crate::committing::Committing;
#[cfg(feature = "chacha")]
use crate::mode::chacha::XChaCha20Poly1305;
#[cfg(feature = "siv")]
use crate::mode::gcm_siv::Aes256GcmSiv;
use crate::{
    aead::{Aead, release},
    counter::blocks,
    error::{KeyLengthError, OpenError, SealError},
    key::{Key, random},
    mode::xaes::Xaes256Gcm,
    simd::Isa,
    suite::Suite,
    wipe::wipe,
};

/// The integer type of [`Counter`].
#[cfg(not(target_has_atomic = "64"))]
type Count = u32;
#[cfg(target_has_atomic = "64")]
type Count = u64;

/// 2^`bits` messages, or the most that a counter can count.
const fn messages(bits: u32) -> Count {
    if bits < Count::BITS { 1 << bits } else { Count::MAX }
}

/// Blocks per step of the block counter: 1, or as many as a counter of 32 bits needs to reach the limit of every suite.
const UNIT: u64 = if Count::BITS < 64 { 1 << 17 } else { 1 };

/// Seals each message under a fresh random nonce, which is stored in the message: nonce, ciphertext, tag. Any number of
/// processes and threads may use one key at the same time.
///
/// | | messages under one key in **all** processes together | key |
/// |---|---|---|
/// | [`RandomNonceKey::xaes_256_gcm`] | 2^77 of up to 16 KiB, 2^65 of up to 1 MiB, 2^33 of up to 64 GiB | 32 bytes |
/// | `RandomNonceKey::xchacha20_poly1305` (feature `chacha`) | 2^80 | 32 bytes |
/// | `RandomNonceKey::committing` (feature `commit`) | as XAES-256-GCM, a twelfth of that in OCB; no message opens under two keys | the suite's |
/// | `RandomNonceKey::aes_256_gcm_siv` (feature `siv`) | 2^48 of up to 32 MiB, and nonces may repeat | 32 bytes |
/// | [`RandomNonceKey::new`] | 2^32 (SP 800-38D, section 8.3); in GCM of up to 1.4 MiB, in OCB 2^48 blocks in total | the suite's |
///
/// Within these limits, a nonce repeats with a probability of at most 2^-32 (more often in AES-GCM-SIV, where it may),
/// and an attacker distinguishes ciphertexts from random bytes with no more than that; in OCB, at its limit, with
/// 2^-29. The bounds are N l^2 / 2^129 for N messages of l blocks of 16 bytes, each under its own AES key, and (N l)^2
/// / 2^129 under one GCM key. One object refuses to seal more than its 2^32 or 2^48 messages, and more than 2^48 blocks
/// of OCB. It does not know what other objects sealed, and does not check the lengths of GCM messages: keep to both
/// limits yourself.
///
/// On targets without 64-bit atomics, counters end at 2^32 - 1: a key that has a limit seals at most so many messages
/// there, and an OCB key at most half as many.
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
///
/// A message that is refused counts, too. Dropping the key overwrites up to 16 KiB of the stack.
pub struct RandomNonceKey {
    aead: Box<dyn Aead>,
    /// The most messages, if there is a limit that can be reached.
    limit: Option<Count>,
    /// Messages so far.
    sealed: Counter,
    /// Blocks that the key may still process, in steps of [`UNIT`], if the suite has such a limit.
    blocks: Option<Counter>,
}

impl RandomNonceKey {
    /// XAES-256-GCM, whose nonces of 192 bits can be random without colliding. **The recommended choice.**
    pub fn xaes_256_gcm(key: &Key<32>) -> Self {
        Self::with(Box::new(Xaes256Gcm::new(Isa::best(), key.expose())), None)
    }

    /// XChaCha20-Poly1305: as [`RandomNonceKey::xaes_256_gcm`], for processors without AES instructions.
    #[cfg(feature = "chacha")]
    pub fn xchacha20_poly1305(key: &Key<32>) -> Self {
        Self::with(Box::new(XChaCha20Poly1305::new(key.expose())), None)
    }

    /// AES-256-GCM-SIV (RFC 8452), with nonces of 96 bits: for formats that use it, and where random bytes may repeat,
    /// as after restoring a snapshot. A repeated nonce reveals whether two messages are equal, and nothing else.
    ///
    /// An attacker's advantage is at most 2^-32 for 2^48 messages of up to 32 MiB or 2^32 of up to 8 GiB, in all
    /// processes together, with short associated data (RFC 8452, section 9). This object refuses to seal more than 2^48
    /// messages; it does not check their lengths.
    ///
    /// ```
    /// use sealwright::{Key, RandomNonceKey};
    ///
    /// let sealing = RandomNonceKey::aes_256_gcm_siv(&Key::generate()?);
    /// let message = sealing.seal(b"header", b"attack at dawn")?;
    /// assert_eq!((message.len(), sealing.open(b"header", &message)?), (12 + 14 + 16, b"attack at dawn".to_vec()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "siv")]
    pub fn aes_256_gcm_siv(key: &Key<32>) -> Self {
        Self::with(Box::new(Aes256GcmSiv::new(Isa::best(), key.expose())), Some(messages(48)))
    }

    /// A suite that commits to its keys ([`Committing`](crate::committing::Committing)), with nonces of 192 bits: no
    /// message opens under two keys, and nonces do not repeat in practice. Messages are 72 bytes longer than their
    /// texts.
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
    /// [`KeyLengthError`] unless the key has the suite's length.
    #[cfg(feature = "commit")]
    pub fn committing(suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
        Ok(Self::with(Box::new(Committing::new(suite, key)?), None))
    }

    /// A suite with nonces of 96 bits. After 2^32 messages, two nonces are equal with a probability of 2^-32, and one
    /// such pair reveals the GHASH key. This object therefore refuses to seal more, and in OCB also more than 2^48
    /// blocks of 16 bytes. It does not know what other objects and processes sealed under the key: the limits hold for
    /// all of them together.
    ///
    /// With 2^32 messages in GCM, none should be longer than 1.4 MiB, which is not checked: 2^48.5 blocks under one
    /// key, no two of which are equal, are distinguished from random ones with a probability of 2^-32.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key has the suite's length.
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
        let blocks = suite.most_blocks().map(|most| Counter::new((most / UNIT) as Count));
        Ok(RandomNonceKey { blocks, ..Self::with(suite.aead(key)?, Some(messages(32))) })
    }

    fn with(aead: Box<dyn Aead>, limit: Option<Count>) -> Self {
        RandomNonceKey { aead, limit, sealed: Counter::new(0), blocks: None }
    }

    /// Counts a message with this many bytes of associated data and text, unless the key is exhausted.
    fn count(&self, ad: usize, text: usize) -> Result<(), SealError> {
        if let Some(left) = &self.blocks {
            let more = blocks(ad, text).div_ceil(UNIT) as Count;
            let counted = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(more));
            counted.map_err(|_| SealError::KeyExhausted)?;
        }
        // Without a limit, the counter saturates.
        let counted = |sealed: Count| self.limit.is_none_or(|most| sealed < most).then(|| sealed.saturating_add(1));
        let counted = self.sealed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted);
        counted.map(drop).map_err(|_| SealError::KeyExhausted)
    }

    /// By how many bytes a message is longer than its text: nonce and tag.
    pub fn overhead(&self) -> usize {
        self.aead.nonce_len() + self.aead.tag_len()
    }

    /// Returns the message: nonce, ciphertext of `text`, and the tag over both and `ad`.
    ///
    /// # Errors
    /// [`SealError::TextTooLong`] and [`SealError::AdTooLong`] beyond the mode's limits; [`SealError::KeyExhausted`] at
    /// the key's limit; [`SealError::NoRandomness`] if the operating system's random source fails.
    #[doc(alias("encrypt", "aad", "plaintext"))]
    pub fn seal(&self, ad: &[u8], text: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut message = Vec::new();
        self.seal_into(ad, text, &mut message)?;
        Ok(message)
    }

    /// Appends the message to `out`.
    ///
    /// ```
    /// use sealwright::{Key, RandomNonceKey};
    ///
    /// let sealing = RandomNonceKey::xaes_256_gcm(&Key::generate()?);
    /// let mut packet = b"header".to_vec();
    /// sealing.seal_into(b"header", b"attack at dawn", &mut packet)?;
    /// let mut text = Vec::new();
    /// sealing.open_into(b"header", &packet[6..], &mut text)?;
    /// assert_eq!(text, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`RandomNonceKey::seal`]; `out` is then unchanged.
    #[doc(alias("encrypt", "append", "plaintext"))]
    pub fn seal_into(&self, ad: &[u8], text: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
        self.count(ad.len(), text.len())?;
        let start = out.len();
        out.reserve(text.len() + self.overhead());
        let sealed = self.append(ad, text, out);
        if sealed.is_err() {
            wipe(&mut out[start..]);
            out.truncate(start);
        }
        sealed
    }

    /// Writes the message to `message`, which must be [`overhead`](Self::overhead) bytes longer than the text.
    ///
    /// ```
    /// use sealwright::{Key, RandomNonceKey};
    ///
    /// let key = RandomNonceKey::xaes_256_gcm(&Key::generate()?);
    /// let mut message = vec![0; 14 + key.overhead()];
    /// key.seal_to(b"header", b"attack at dawn", &mut message)?;
    /// assert_eq!(key.open(b"header", &message)?, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`RandomNonceKey::seal`]; `message` then contains nothing of the text.
    ///
    /// # Panics
    /// If `message` has another length.
    #[doc(alias("encrypt", "aad", "plaintext"))]
    pub fn seal_to(&self, ad: &[u8], text: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        assert_eq!(message.len(), text.len() + self.overhead(), "the message has no room for this text");
        self.count(ad.len(), text.len())?;
        let (nonce, sealed) = message.split_at_mut(self.aead.nonce_len());
        random(nonce).map_err(|_| SealError::NoRandomness)?;
        let (ciphertext, room) = sealed.split_at_mut(text.len());
        room.copy_from_slice(self.aead.seal_to(nonce, ad, text, ciphertext)?.as_ref());
        Ok(())
    }

    /// Appends the message. If it is refused, a part of it may have been appended.
    fn append(&self, ad: &[u8], text: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
        let start = out.len();
        out.resize(start + self.aead.nonce_len(), 0);
        random(&mut out[start..]).map_err(|_| SealError::NoRandomness)?;
        out.extend_from_slice(text);
        out.resize(start + text.len() + self.overhead(), 0);
        let (nonce, message) = out[start..].split_at_mut(self.aead.nonce_len());
        self.aead.seal_message(nonce, ad, message)
    }

    /// Returns the text of a message, if it is authentic together with `ad`.
    ///
    /// # Errors
    /// [`OpenError`] otherwise.
    #[doc(alias("decrypt", "aad", "ciphertext"))]
    pub fn open(&self, ad: &[u8], message: &[u8]) -> Result<Vec<u8>, OpenError> {
        let mut text = Vec::new();
        self.open_into(ad, message, &mut text)?;
        Ok(text)
    }

    /// Appends the text of a message to `out`.
    ///
    /// # Errors
    /// [`OpenError`]; `out` is then unchanged.
    #[doc(alias("decrypt", "append", "ciphertext"))]
    pub fn open_into(&self, ad: &[u8], message: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
        let (nonce, message) = message.split_at_checked(self.aead.nonce_len()).ok_or(OpenError)?;
        self.aead.open_into(nonce, ad, message, out)
    }

    /// Writes the text of a message to `text`, which must be [`overhead`](Self::overhead) bytes shorter.
    ///
    /// ```
    /// use sealwright::{Key, RandomNonceKey};
    ///
    /// let key = RandomNonceKey::xaes_256_gcm(&Key::generate()?);
    /// let mut text = [0; 14];
    /// key.open_to(b"header", &key.seal(b"header", b"attack at dawn")?, &mut text)?;
    /// assert_eq!(&text, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OpenError`] if the message is not authentic, or `text` has another length, as it may have been the sender who
    /// chose that of the message; `text` is then all zero.
    #[doc(alias("decrypt", "ciphertext"))]
    pub fn open_to(&self, ad: &[u8], message: &[u8], text: &mut [u8]) -> Result<(), OpenError> {
        if message.len().checked_sub(self.overhead()) != Some(text.len()) {
            return release(text, false);
        }
        let (nonce, message) = message.split_at(self.aead.nonce_len());
        let (ciphertext, tag) = message.split_at(text.len());
        self.aead.open_to(nonce, ad, ciphertext, tag, text)
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

    const REFUSED: &[u8] = b"a text that is too long";

    /// Encrypts nothing, and refuses one text.
    #[derive(Debug)]
    struct Plain;
    impl Sealed for Plain {}
    impl Aead for Plain {
        fn tag_len(&self) -> usize {
            4
        }
        fn seal_in_place(&self, _: &[u8], _: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
            if text == REFUSED { Err(SealError::TextTooLong) } else { Ok(Tag::new(&[0; 4])) }
        }
        fn open_in_place(&self, _: &[u8], _: &[u8], _: &mut [u8], _: &[u8]) -> Result<(), OpenError> {
            Ok(())
        }
    }

    #[test]
    fn the_limit_holds() {
        let key = RandomNonceKey {
            sealed: Counter::new(messages(32) - 1),
            ..RandomNonceKey::with(Box::new(Plain), Some(messages(32)))
        };
        let message = key.seal(b"", b"the last").unwrap();
        assert_eq!(key.seal(b"", b"one more"), Err(SealError::KeyExhausted));
        assert_eq!(key.open(b"", &message).unwrap(), b"the last", "opening has no limit");
    }

    #[test]
    fn a_key_without_a_limit_does_not_end_where_its_counter_does() {
        let key =
            RandomNonceKey { sealed: Counter::new(Count::MAX - 1), ..RandomNonceKey::with(Box::new(Plain), None) };
        assert!((0..3).all(|_| key.seal(b"", b"one more").is_ok()));
        assert_eq!(key.sealed.into_inner(), Count::MAX);
    }

    #[cfg(feature = "ocb")]
    #[test]
    fn a_key_of_ocb_ends_at_2_to_the_48_blocks() {
        let key = RandomNonceKey::new(Suite::Aes256Ocb, &[7; 32]).unwrap();
        let left = key.blocks.as_ref().unwrap();
        assert_eq!(left.load(Ordering::Relaxed), ((1 << 48) / UNIT) as Count);
        // Where one number stands for many blocks, short messages take one each.
        left.store(if Count::BITS < 64 { 1 } else { 5 }, Ordering::Relaxed);
        if Count::BITS == 64 {
            assert_eq!(key.seal(&[0; 17], &[0; 33]), Err(SealError::KeyExhausted));
        }
        assert!(key.seal(&[0; 16], &[0; 33]).is_ok());
        assert_eq!(key.seal(b"", b""), Err(SealError::KeyExhausted));
        assert!(RandomNonceKey::new(Suite::Aes256Gcm, &[7; 32]).unwrap().blocks.is_none());
    }

    #[cfg(feature = "siv")]
    #[test]
    fn a_key_of_gcm_siv_ends_at_2_to_the_48() {
        let key = RandomNonceKey::aes_256_gcm_siv(&Key::from([7; 32]));
        key.sealed.store(messages(48) - 1, Ordering::Relaxed);
        assert!(key.seal(b"", b"the last").is_ok());
        assert_eq!(key.seal(b"", b"one more"), Err(SealError::KeyExhausted));
    }

    #[test]
    fn a_refused_text_leaves_the_output_as_it_was() {
        let key = RandomNonceKey::with(Box::new(Plain), None);
        let mut out = Vec::with_capacity(100);
        out.extend_from_slice(b"before");
        assert_eq!(key.seal_into(b"", REFUSED, &mut out), Err(SealError::TextTooLong));
        assert_eq!(out, b"before");
        key.seal_into(b"", b"sent", &mut out).unwrap();
        let mut texts = b"before".to_vec();
        key.open_into(b"", &out[6..], &mut texts).unwrap();
        assert_eq!(texts, b"beforesent");
        assert_eq!(key.open_into(b"", &out[..15], &mut texts), Err(OpenError), "no room for a tag");
        assert_eq!(texts, b"beforesent");
    }
}
