//! AES-GCM-SIV (RFC 8452): authenticated encryption that resists nonce misuse.
//!
//! The tag is computed from the plaintext and serves as the initial counter block, so that two messages under one nonce
//! reveal only whether they are equal. Sealing therefore makes two passes over the text. Each nonce has its own keys
//! for hash and cipher, derived from the key (section 4). The hash is POLYVAL: GHASH with the bytes of each block
//! reversed and the key multiplied by x (appendix A). By the bounds of section 9, random nonces are safe for 2^32
//! messages and more.

use alloc::boxed::Box;
use core::fmt;

use zeroize::ZeroizeOnDrop;

use self::kernels::{Ctr, Derivation, Derived, Keys, Message, TagOf};
use crate::{
    aead::{Aead, limits, release, text_len},
    block::{
        BlockCipher,
        aes::{Aes128, Aes256},
    },
    error::{KeyLengthError, OpenError, SealError},
    sealed::Sealed,
    simd::{Block, Isa},
    tag::{Tag, Whole},
    wipe::CleanStack,
};

mod kernels;

/// The longest text and the longest associated data, in bytes (RFC 8452, section 6).
pub const MAX_BYTES: u64 = 1 << 36;
/// Bytes of a nonce.
pub const NONCE: usize = 12;

/// GCM-SIV over the cipher `C`.
///
/// ```
/// use sealwright::{Aead, Isa, mode::gcm_siv};
///
/// let aead = gcm_siv::by_key(Isa::best(), &[7; 32])?;
/// let mut message = b"attack at dawn".to_vec();
/// aead.seal_vec(&[1; 12], b"header", &mut message)?;
/// aead.open_vec(&[1; 12], b"header", &mut message)?;
/// assert_eq!(message, b"attack at dawn");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GcmSiv<C> {
    isa: Isa,
    /// Derives the message keys.
    generator: C,
    _stack: CleanStack,
}

/// AEAD_AES_128_GCM_SIV.
pub type Aes128GcmSiv = GcmSiv<Aes128>;
/// AEAD_AES_256_GCM_SIV.
pub type Aes256GcmSiv = GcmSiv<Aes256>;

impl Aes128GcmSiv {
    /// The key has 16 bytes.
    pub fn new(isa: Isa, key: &[u8; 16]) -> Self {
        GcmSiv { isa, generator: Aes128::new(isa, key), _stack: CleanStack }
    }
}

impl Aes256GcmSiv {
    /// The key has 32 bytes.
    pub fn new(isa: Isa, key: &[u8; 32]) -> Self {
        GcmSiv { isa, generator: Aes256::new(isa, key), _stack: CleanStack }
    }
}

/// AES-GCM-SIV, selected by key length: 16 or 32 bytes.
///
/// ```
/// use sealwright::{Isa, mode::gcm_siv};
///
/// let aead = gcm_siv::by_key(Isa::best(), &[7; 32])?; // AES-256-GCM-SIV
/// let (mut one, mut two) = (*b"attack at dawn", *b"attack at dusk");
/// aead.seal_in_place(&[1; 12], b"", &mut one)?;
/// aead.seal_in_place(&[1; 12], b"", &mut two)?; // a nonce that comes twice shows equal messages alone
/// assert_ne!(one[..10], two[..10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
pub fn by_key(isa: Isa, key: &[u8]) -> Result<Box<dyn Aead>, KeyLengthError> {
    if let Ok(key) = key.try_into() {
        return Ok(Box::new(Aes128GcmSiv::new(isa, key)));
    }
    match key.try_into() {
        Ok(key) => Ok(Box::new(Aes256GcmSiv::new(isa, key))),
        Err(_) => Err(KeyLengthError::new(&[16, 32], key.len())),
    }
}

#[allow(private_bounds, reason = "only the two types above exist")]
impl<C: Derived> GcmSiv<C> {
    /// Encrypts `text` in place; returns the tag.
    #[inline]
    fn seal(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Whole, SealError> {
        let nonce = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        limits(MAX_BYTES, ad.len() as u64, text.len() as u64)?;
        Ok(self.run::<true>(nonce, ad, text, &[0; 16]))
    }

    /// Seals or opens in place; returns the tag computed for the message.
    #[inline]
    fn run<const SEAL: bool>(&self, nonce: &[u8; NONCE], ad: &[u8], text: &mut [u8], tag: &Block) -> Whole {
        let (isa, generator) = (self.isa, &self.generator);
        let message = match kernels::short::<C, SEAL>(isa, generator, Message { nonce, ad, text }, tag) {
            Ok(genuine) => return genuine,
            Err(message) => message,
        };
        let mut keys = Keys::empty();
        isa.run(Derivation { generator, nonce, blocks: message.longest_part(), keys: &mut keys });
        if !SEAL {
            isa.run(Ctr { cipher: &keys.cipher, tag, text: message.text });
        }
        let genuine = isa.run(TagOf { keys: &keys, nonce, ad, text: message.text });
        if SEAL {
            isa.run(Ctr { cipher: &keys.cipher, tag: &genuine.block(), text: message.text });
        }
        genuine
    }
}

// The cipher wipes itself.
impl<C: ZeroizeOnDrop> ZeroizeOnDrop for GcmSiv<C> {}

impl<C> fmt::Debug for GcmSiv<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcmSiv").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<C: BlockCipher> Sealed for GcmSiv<C> {}
impl<C: Derived> Aead for GcmSiv<C> {
    fn tag_len(&self) -> usize {
        16
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        Ok(self.seal(nonce, ad, text)?.tag(16))
    }

    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let (text, tag) = message.split_at_mut(text_len(message.len(), 16));
        self.seal(nonce, ad, text)?.write(tag);
        Ok(())
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let (Ok(nonce), Ok(tag)) = (nonce.try_into(), <&Block>::try_from(tag)) else { return release(text, false) };
        if limits(MAX_BYTES, ad.len() as u64, text.len() as u64).is_err() {
            return release(text, false);
        }
        let genuine = self.run::<false>(nonce, ad, text, tag).matches(16, tag);
        release(text, genuine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text is that long: the check alone is asked.
    #[test]
    fn the_limits_of_rfc_8452() {
        let most = 1 << 36;
        assert_eq!(limits(MAX_BYTES, most, most), Ok(()));
        assert_eq!(limits(MAX_BYTES, 0, most + 1), Err(SealError::TextTooLong));
        assert_eq!(limits(MAX_BYTES, most + 1, 0), Err(SealError::AdTooLong));
    }
}
