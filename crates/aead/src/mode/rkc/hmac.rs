//! RKC with a real authentication tag: 10* padding, then HMAC-SHA-256 over everything, under a separate key.

use alloc::vec::Vec;
use core::fmt;

use ::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::ZeroizeOnDrop;

use super::{Reading, Rkc, SEED_BYTES, Seed, Source, as_seed, whole_blocks};
use crate::{
    aead::{Aead, release},
    error::{OpenError, SealError},
    sealed::Sealed,
    simd::Isa,
    tag::Tag,
    wipe::room,
};

/// **Research only.** RKC-R's encryption, then HMAC-SHA-256 over S || len(A) || A || len(C) || C, with lengths in bytes
/// as 64-bit big-endian numbers; RKC's own T is not computed. The tag authenticates, and associated data is supported.
/// However, a seed that is used twice still reveals equal blocks at the same position, and one block's key still
/// reveals all others.
///
/// As an [`Aead`] it accepts whole blocks; [`RkcHmac::seal`] and [`RkcHmac::open`] accept any text and pad it.
///
/// ```
/// use sealwright::{Isa, mode::rkc::RkcHmac};
///
/// let aead = RkcHmac::research_only(Isa::best(), &[7; 32], &[8; 32]);
/// let (seed, mut text) = ([1; 55], b"attack at dawn".to_vec());
/// let tag = aead.seal(&seed, b"header", &mut text)?;
/// aead.open(&seed, b"header", &mut text, tag.as_ref())?;
/// assert_eq!(text, b"attack at dawn");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RkcHmac {
    rkc: Rkc,
    mac: Hmac<Sha256>,
}

impl RkcHmac {
    /// RKC with HMAC under two independent keys.
    pub fn research_only(isa: Isa, key: &[u8; 32], mac_key: &[u8; 32]) -> Self {
        let mac = Hmac::new_from_slice(mac_key).expect("HMAC takes keys of every length");
        RkcHmac { rkc: Rkc::research_only_reading(isa, key, Reading::default()), mac }
    }

    /// Pads `text` to whole blocks with a one bit and zeros, 1 to 16 bytes, and encrypts it.
    ///
    /// # Errors
    /// Same as [`Rkc::seal`].
    pub fn seal(&self, seed: &Seed, ad: &[u8], text: &mut Vec<u8>) -> Result<Tag, SealError> {
        let length = text.len();
        room(text, 16);
        text.push(0x80);
        text.resize(text.len().next_multiple_of(16), 0);
        let sealed = self.seal_in_place(seed, ad, text);
        if sealed.is_err() {
            text.truncate(length);
        }
        sealed
    }

    /// Decrypts `text` if `tag` is valid, and removes the padding.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; `text` is then all zero.
    pub fn open(&self, seed: &Seed, ad: &[u8], text: &mut Vec<u8>, tag: &[u8]) -> Result<(), OpenError> {
        self.open_in_place(seed, ad, text, tag)?;
        // An authentic text was padded by a holder of the key: the time of this reveals nothing.
        match text.iter().rposition(|&byte| byte != 0) {
            Some(end) if text[end] == 0x80 && text.len() - end <= 16 => {
                text.truncate(end);
                Ok(())
            }
            _ => release(text, false),
        }
    }

    fn tag(&self, seed: &Seed, ad: &[u8], ciphertext: &[u8]) -> Tag {
        let mut mac = self.mac.clone();
        mac.update(seed);
        for part in [ad, ciphertext] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Tag::new(&mac.finalize().into_bytes())
    }
}

// RKC's key and HMAC's states wipe themselves.
impl ZeroizeOnDrop for RkcHmac {}

impl Sealed for RkcHmac {}
impl Aead for RkcHmac {
    fn tag_len(&self) -> usize {
        32
    }

    fn nonce_len(&self) -> usize {
        SEED_BYTES
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        let seed = as_seed(nonce).ok_or(SealError::NonceLength)?;
        whole_blocks(text.len() as u64)?;
        let _ = self.rkc.apply::<true>(Source::Chain { reading: self.rkc.reading, seed }, text, false);
        Ok(self.tag(seed, ad, text))
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        match as_seed(nonce) {
            Some(seed) if whole_blocks(text.len() as u64).is_ok() && self.tag(seed, ad, text).matches(tag) => {
                let _ = self.rkc.apply::<false>(Source::Chain { reading: self.rkc.reading, seed }, text, false);
                Ok(())
            }
            _ => release(text, false),
        }
    }
}

impl fmt::Debug for RkcHmac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RkcHmac").field("rkc", &self.rkc).finish_non_exhaustive()
    }
}
