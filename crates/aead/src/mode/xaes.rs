//! XAES-256-GCM (C2SP): AES-256-GCM under a key derived for each nonce of 192 bits, so that nonces may be random.
//!
//! The first half of the nonce and the key give a message's key, by CMAC-AES-256 as the pseudorandom function of SP
//! 800-108r1; the second half is the nonce of AES-256-GCM. Specification: <https://c2sp.org/XAES-256-GCM>. 2^80 messages
//! with random nonces have a collision with a probability of 2^-32; before that comes the limit of AES under the messages' keys, N l^2 <= 2^97
//! for N messages of l blocks: 2^77 of 16 KiB, 2^33 of 64 GiB. Not resistant to a nonce that is used twice, and not
//! key-committing.

use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::gcm::Aes256Gcm;
use crate::{
    aead::{Aead, release},
    block::{Expanded, aes::Aes256, encrypt_block, encrypt_few},
    error::{OpenError, SealError},
    sealed::Sealed,
    simd::{Block, Isa},
    tag::Tag,
    wipe::CleanStack,
};

/// Bytes of a nonce.
pub const NONCE: usize = 24;

/// XAES-256-GCM under one key.
///
/// ```
/// use sealwright::{Aead, Isa, mode::xaes::Xaes256Gcm};
///
/// let aead = Xaes256Gcm::new(Isa::best(), &[7; 32]);
/// let nonce = [1; 24]; // random, fresh for every message: `RandomNonceKey` sees to it
/// let mut text = *b"attack at dawn";
/// let tag = aead.seal_in_place(&nonce, b"header", &mut text)?;
/// aead.open_in_place(&nonce, b"header", &mut text, tag.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Xaes256Gcm {
    isa: Isa,
    cipher: Aes256,
    /// The subkey K1 of CMAC (SP 800-38B, 6.1).
    subkey: Subkey,
    _stack: CleanStack,
}

#[derive(Clone)]
struct Subkey(u128);
wipe_on_drop!(Subkey { 0: 0 });

// Cipher and subkey wipe themselves.
impl ZeroizeOnDrop for Xaes256Gcm {}

impl Xaes256Gcm {
    /// Prepares `key`.
    pub fn new(isa: Isa, key: &[u8; 32]) -> Self {
        let cipher = Aes256::new(isa, key);
        let l = u128::from_be_bytes(encrypt_block(isa, &cipher, &[0; 16]));
        let carry = 0u128.wrapping_sub(l >> 127);
        Xaes256Gcm { isa, cipher, subkey: Subkey((l << 1) ^ (carry & 0x87)), _stack: CleanStack }
    }

    /// Makes `gcm` AES-256-GCM under the key of a message; returns the nonce for it.
    fn derive<'a>(&self, nonce: &'a [u8; NONCE], gcm: &mut Aes256Gcm) -> &'a [u8] {
        let (context, nonce) = nonce.split_at(12);
        let mut key = [[0; 16]; 2];
        for (half, counter) in key.iter_mut().zip(1..) {
            let mut message: Block = [0, counter, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            message[4..].copy_from_slice(context);
            *half = (u128::from_be_bytes(message) ^ self.subkey.0).to_be_bytes();
        }
        encrypt_few(self.isa, &self.cipher, &mut key);
        let mut whole = [0; 32];
        whole.copy_from_slice(key.as_flattened());
        gcm.rekey(&whole);
        key.zeroize();
        whole.zeroize();
        nonce
    }

    /// Without a key: its memory stays where it is, and is wiped at the end of the message.
    #[inline(always)]
    fn empty(&self) -> Aes256Gcm {
        Aes256Gcm::of_message(self.isa, Aes256::with(Expanded::empty()))
    }
}

impl Sealed for Xaes256Gcm {}
impl Aead for Xaes256Gcm {
    fn tag_len(&self) -> usize {
        16
    }

    fn nonce_len(&self) -> usize {
        NONCE
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        let nonce = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        let mut gcm = self.empty();
        let nonce = self.derive(nonce, &mut gcm);
        gcm.seal_in_place(nonce, ad, text)
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let Ok(nonce) = nonce.try_into() else { return release(text, false) };
        let mut gcm = self.empty();
        let nonce = self.derive(nonce, &mut gcm);
        gcm.open_in_place(nonce, ad, text, tag)
    }
}

impl fmt::Debug for Xaes256Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xaes256Gcm").field("isa", &self.isa).finish_non_exhaustive()
    }
}
