//! Unauthenticated AES and Serpent, selected by key length: ECB, CBC and CTR as in other tools. For compatibility and
//! for studies; to protect data, use a suite.
//!
//! ```
//! use sealwright::{Isa, raw::{self, pkcs7_pad, pkcs7_unpad}};
//!
//! // The bytes of `openssl enc -aes-256-cbc`, but for its header.
//! let (key, iv) = ([7; 32], [1; 16]);
//! let cipher = raw::aes(Isa::best(), &key)?;
//! let mut text = b"attack at dawn".to_vec();
//! pkcs7_pad(&mut text);
//! cipher.cbc_encrypt(&iv, &mut text);
//! cipher.cbc_decrypt(&iv, &mut text);
//! text.truncate(pkcs7_unpad(&text)?);
//! assert_eq!(text, b"attack at dawn");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::boxed::Box;
use core::fmt;

pub use crate::mode::{
    cbc::{PaddingError, pkcs7_pad, pkcs7_unpad},
    cbc_many::Chain,
    ctr::advance,
};
use crate::{
    block::{
        BlockCipher, CleanStack, Inverse,
        aes::{BothWays, Key},
    },
    error::KeyLengthError,
    mode::{cbc, cbc_many, ctr, ecb},
    sealed::Sealed,
    simd::{Block, Isa},
};

/// A block cipher under one key, in modes that do not authenticate. `Debug` shows no secrets.
///
/// ```
/// use sealwright::{Isa, raw::{self, Raw}};
///
/// fn in_parts(cipher: &dyn Raw, counter: [u8; 16], text: &mut [u8]) {
///     let (first, second) = text.split_at_mut(32); // whole blocks
///     let mut counter = counter;
///     cipher.ctr(&counter, first);
///     raw::advance(&mut counter, 2);
///     cipher.ctr(&counter, second);
/// }
/// let cipher = raw::aes(Isa::best(), &[7; 16])?;
/// let (mut parts, mut whole) = ([0; 50], [0; 50]);
/// in_parts(&*cipher, [0xff; 16], &mut parts);
/// cipher.ctr(&[0xff; 16], &mut whole);
/// assert_eq!(parts, whole);
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
pub trait Raw: Sealed + fmt::Debug + Send + Sync {
    /// Encrypts each block separately.
    ///
    /// # Panics
    /// If `text` is not whole blocks.
    fn ecb_encrypt(&self, text: &mut [u8]);
    /// Decrypts each block separately.
    ///
    /// # Panics
    /// If `text` is not whole blocks.
    fn ecb_decrypt(&self, text: &mut [u8]);
    /// Encrypts a chain of blocks. To continue the chain, pass the last ciphertext block as `iv`.
    ///
    /// # Panics
    /// If `text` is not whole blocks.
    fn cbc_encrypt(&self, iv: &Block, text: &mut [u8]);
    /// Encrypts many chains of blocks side by side, several times as fast as one after the other.
    ///
    /// # Panics
    /// If one of the texts is not whole blocks.
    fn cbc_encrypt_many(&self, chains: &mut [Chain<'_>]);
    /// Decrypts a chain of blocks. To continue the chain, pass the last ciphertext block as `iv`.
    ///
    /// # Panics
    /// If `text` is not whole blocks.
    fn cbc_decrypt(&self, iv: &Block, text: &mut [u8]);
    /// Encrypts or decrypts `text`, counting from `counter` in 128 bits. To continue after whole blocks, [`advance`]
    /// the counter.
    fn ctr(&self, counter: &Block, text: &mut [u8]);
}

struct Cipher<C> {
    isa: Isa,
    cipher: C,
    _stack: CleanStack,
}

impl<C> fmt::Debug for Cipher<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<C: BlockCipher + Inverse> Sealed for Cipher<C> {}
impl<C: BlockCipher + Inverse> Raw for Cipher<C> {
    fn ecb_encrypt(&self, text: &mut [u8]) {
        ecb::encrypt(self.isa, &self.cipher, text);
    }
    fn ecb_decrypt(&self, text: &mut [u8]) {
        ecb::decrypt(self.isa, &self.cipher, text);
    }
    fn cbc_encrypt(&self, iv: &Block, text: &mut [u8]) {
        cbc::encrypt(self.isa, &self.cipher, iv, text);
    }
    fn cbc_encrypt_many(&self, chains: &mut [Chain<'_>]) {
        cbc_many::encrypt(self.isa, &self.cipher, chains);
    }
    fn cbc_decrypt(&self, iv: &Block, text: &mut [u8]) {
        cbc::decrypt(self.isa, &self.cipher, iv, text);
    }
    fn ctr(&self, counter: &Block, text: &mut [u8]) {
        ctr::apply(self.isa, &self.cipher, counter, text);
    }
}

/// AES under a key of 16 or 32 bytes, or 24 with the feature `aes192`.
///
/// ```
/// use sealwright::{Isa, raw};
///
/// // FIPS 197, appendix C.1
/// let key: Vec<u8> = (0..16).collect();
/// let mut block: Vec<u8> = (0..16).map(|i| 0x11 * i).collect();
/// raw::aes(Isa::best(), &key)?.ecb_encrypt(&mut block);
/// assert_eq!(block[..4], [0x69, 0xc4, 0xe0, 0xd8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
pub fn aes(isa: Isa, key: &[u8]) -> Result<Box<dyn Raw>, KeyLengthError> {
    Ok(match Key::new(key)? {
        Key::Aes128(key) => Box::new(Cipher { isa, cipher: BothWays::<11>::new(isa, key), _stack: CleanStack }),
        #[cfg(feature = "aes192")]
        Key::Aes192(key) => Box::new(Cipher { isa, cipher: BothWays::<13>::new(isa, key), _stack: CleanStack }),
        Key::Aes256(key) => Box::new(Cipher { isa, cipher: BothWays::<15>::new(isa, key), _stack: CleanStack }),
    })
}

/// Serpent under a key of 16, 24 or 32 bytes.
///
/// ```
/// use sealwright::{Isa, raw};
///
/// let mut block = [1; 16];
/// let cipher = raw::serpent(Isa::best(), &[7; 24])?;
/// cipher.ecb_encrypt(&mut block);
/// cipher.ecb_decrypt(&mut block);
/// assert_eq!(block, [1; 16]);
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
#[cfg(feature = "serpent")]
pub fn serpent(isa: Isa, key: &[u8]) -> Result<Box<dyn Raw>, KeyLengthError> {
    Ok(Box::new(Cipher { isa, cipher: crate::block::serpent::Serpent::new(key)?, _stack: CleanStack }))
}
