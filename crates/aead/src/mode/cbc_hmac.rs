//! CBC with HMAC-SHA-256, encrypt-then-MAC, composed as in RFC 7518, section 5.2: CBC that protects as much as GCM.
//!
//! The key is MAC key || encryption key. The text, padded by PKCS#7, is encrypted under an unpredictable IV. The tag is
//! the first bytes of HMAC-SHA-256 over A || IV || C || AL, where AL is the length of A in bits as a 64-bit big-endian
//! number. The tag is verified before anything is decrypted, so that the padding reveals nothing. See
//! `docs/CBC_HMAC.md`.
//!
//! | key | cipher | tag | |
//! |---|---|---|---|
//! | 32 bytes, 16 of them for the MAC | AES-128 | 16 bytes | A128CBC-HS256 of RFC 7518, 5.2.3 |
//! | 64 bytes, 32 of them for the MAC | AES-256 | 32 bytes | the same composition with the whole hash; compared with AES-256-GCM in studies |
//!
//! ```
//! use sealwright::{Isa, mode::cbc_hmac::A128CbcHs256};
//!
//! let aead = A128CbcHs256::new(Isa::best(), &[7; 32]);
//! let iv = [1; 16]; // random, fresh for every message
//! let mut text = b"attack at dawn".to_vec();
//! let tag = aead.seal(&iv, b"header", &mut text)?;
//! assert_eq!(text.len(), 16); // padded
//! aead.open(&iv, b"header", &mut text, tag.as_ref())?;
//! assert_eq!(text, b"attack at dawn");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::ZeroizeOnDrop;

use super::cbc::{self, pkcs7_pad, pkcs7_unpad};
use crate::{
    aead::{Aead, release},
    block::aes::BothWays,
    error::{KeyLengthError, OpenError, SealError},
    sealed::Sealed,
    simd::{Block, Isa},
    tag::Tag,
    wipe::CleanStack,
};

/// AES-CBC with `KEYS` round keys, and HMAC-SHA-256.
///
/// As an [`Aead`] it accepts whole blocks, padded by the caller; [`CbcHmac::seal`] and [`CbcHmac::open`] accept any
/// text and pad it as the standard requires. The nonce is the IV: 16 random bytes.
///
/// ```
/// use sealwright::{Isa, mode::cbc_hmac::Aes256CbcHmac};
///
/// let aead = Aes256CbcHmac::new(Isa::best(), &[7; 64]);
/// let (iv, mut text) = ([1; 16], b"attack at dawn".to_vec()); // the IV: random, fresh for every message
/// let tag = aead.seal(&iv, b"header", &mut text)?;
/// assert_eq!((text.len(), tag.as_ref().len()), (16, 32));
/// aead.open(&iv, b"header", &mut text, tag.as_ref())?;
/// assert_eq!(text, b"attack at dawn");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CbcHmac<const KEYS: usize> {
    isa: Isa,
    cipher: BothWays<KEYS>,
    mac: Hmac<Sha256>,
    tag_len: usize,
    _stack: CleanStack,
}

/// A128CBC-HS256 of RFC 7518.
pub type A128CbcHs256 = CbcHmac<11>;
/// AES-256-CBC with HMAC-SHA-256, not truncated.
pub type Aes256CbcHmac = CbcHmac<15>;

impl A128CbcHs256 {
    /// The key is 16 bytes of MAC key, then 16 of encryption key.
    pub fn new(isa: Isa, key: &[u8; 32]) -> Self {
        let (mac, cipher) = key.split_first_chunk::<16>().expect("32 bytes begin with 16");
        let cipher = cipher.try_into().expect("32 bytes less 16 are 16");
        Self::with(isa, mac, BothWays::<11>::new(isa, cipher), 16)
    }
}

impl Aes256CbcHmac {
    /// The key is 32 bytes of MAC key, then 32 of encryption key.
    pub fn new(isa: Isa, key: &[u8; 64]) -> Self {
        let (mac, cipher) = key.split_first_chunk::<32>().expect("64 bytes begin with 32");
        let cipher = cipher.try_into().expect("64 bytes less 32 are 32");
        Self::with(isa, mac, BothWays::<15>::new(isa, cipher), 32)
    }
}

/// CBC with HMAC-SHA-256, selected by key length: 32 or 64 bytes.
///
/// ```
/// use sealwright::{Isa, mode::cbc_hmac};
///
/// let aead = cbc_hmac::by_key(Isa::best(), &[7; 32])?; // A128CBC-HS256
/// assert_eq!((aead.nonce_len(), aead.tag_len()), (16, 16));
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
pub fn by_key(isa: Isa, key: &[u8]) -> Result<Box<dyn Aead>, KeyLengthError> {
    if let Ok(key) = key.try_into() {
        return Ok(Box::new(A128CbcHs256::new(isa, key)));
    }
    match key.try_into() {
        Ok(key) => Ok(Box::new(Aes256CbcHmac::new(isa, key))),
        Err(_) => Err(KeyLengthError::new(&[32, 64], key.len())),
    }
}

impl<const KEYS: usize> CbcHmac<KEYS> {
    fn with(isa: Isa, mac_key: &[u8], cipher: BothWays<KEYS>, tag_len: usize) -> Self {
        let mac = Hmac::new_from_slice(mac_key).expect("HMAC takes keys of every length");
        CbcHmac { isa, cipher, mac, tag_len, _stack: CleanStack }
    }

    /// Pads `text` by 1 to 16 bytes and encrypts it.
    ///
    /// # Errors
    /// [`SealError::NonceLength`] unless the IV has 16 bytes; `text` is then unchanged.
    pub fn seal(&self, iv: &[u8], ad: &[u8], text: &mut Vec<u8>) -> Result<Tag, SealError> {
        let length = text.len();
        pkcs7_pad(text);
        let sealed = self.seal_in_place(iv, ad, text);
        if sealed.is_err() {
            text.truncate(length);
        }
        sealed
    }

    /// Decrypts `text` if `tag` is valid, and removes the padding.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; `text` is then all zero.
    pub fn open(&self, iv: &[u8], ad: &[u8], text: &mut Vec<u8>, tag: &[u8]) -> Result<(), OpenError> {
        self.open_in_place(iv, ad, text, tag)?;
        // Authenticated but wrong padding was made by a holder of the key, not by an attacker.
        match pkcs7_unpad(text) {
            Ok(length) => {
                text.truncate(length);
                Ok(())
            }
            Err(_) => release(text, false),
        }
    }

    fn tag(&self, iv: &Block, ad: &[u8], ciphertext: &[u8]) -> Tag {
        let mut mac = self.mac.clone();
        // Not with `chain_update`, which would move the state each time.
        for part in [ad, iv, ciphertext, &(8 * ad.len() as u64).to_be_bytes()] {
            mac.update(part);
        }
        Tag::new(&mac.finalize().into_bytes()[..self.tag_len])
    }
}

// The round keys and HMAC's states wipe themselves.
impl<const KEYS: usize> ZeroizeOnDrop for CbcHmac<KEYS> {}

impl<const KEYS: usize> Sealed for CbcHmac<KEYS> {}
impl<const KEYS: usize> Aead for CbcHmac<KEYS> {
    fn tag_len(&self) -> usize {
        self.tag_len
    }

    fn nonce_len(&self) -> usize {
        16
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        let iv = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        if !text.len().is_multiple_of(16) {
            return Err(SealError::PartialBlock);
        }
        cbc::encrypt(self.isa, &self.cipher, iv, text);
        Ok(self.tag(iv, ad, text))
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        match nonce.try_into() {
            Ok(iv) if text.len().is_multiple_of(16) && self.tag(iv, ad, text).matches(tag) => {
                cbc::decrypt(self.isa, &self.cipher, iv, text);
                Ok(())
            }
            _ => release(text, false),
        }
    }
}

impl<const KEYS: usize> fmt::Debug for CbcHmac<KEYS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CbcHmac").field("isa", &self.isa).field("tag_len", &self.tag_len).finish_non_exhaustive()
    }
}
