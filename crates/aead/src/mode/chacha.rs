//! ChaCha20-Poly1305 (RFC 8439) and XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), for processors without AES instructions.
//!
//! Both are RustCrypto's crate `chacha20poly1305`, with its own detection of instructions: an [`Isa`](crate::Isa) does not
//! lower its level. It was audited (NCC Group, 2020), and runs in constant time.
//!
//! One key serves 2^32 messages with random nonces of 96 bits at most, 2^80 with the 192 bits of XChaCha20. Neither commits to its key, and a nonce
//! that serves twice reveals the xor of the texts and lets others forge.
//!
//! ```
//! use sealwright::{Aead, mode::chacha::{ChaCha20Poly1305, XChaCha20Poly1305}};
//!
//! let aead = XChaCha20Poly1305::new(&[7; 32]);
//! let nonce = [1; 24]; // random, fresh for every message
//! let mut text = *b"attack at dawn";
//! let tag = aead.seal_in_place(&nonce, b"header", &mut text)?;
//! aead.open_in_place(&nonce, b"header", &mut text, tag.as_ref())?;
//! assert_eq!(ChaCha20Poly1305::new(&[7; 32]).nonce_len(), 12); // to be counted
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::fmt;

use ::aead::{AeadInOut, KeyInit};
use zeroize::ZeroizeOnDrop;

use crate::{
    aead::{Aead, release},
    error::{OpenError, SealError},
    sealed::Sealed,
    simd::verdict,
    tag::Tag,
    wipe::CleanStack,
};

/// The longest text, in bytes: 2^32 - 1 blocks of 64 (RFC 8439, section 2.8).
pub const MAX_TEXT: u64 = ((1 << 32) - 1) * 64;
/// Bytes of a nonce of ChaCha20-Poly1305.
pub const NONCE: usize = 12;
/// Bytes of a nonce of XChaCha20-Poly1305.
pub const LONG_NONCE: usize = 24;

macro_rules! aead {
    ($(#[$doc:meta])* $name:ident, $nonce:expr) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            cipher: chacha20poly1305::$name,
            _stack: CleanStack,
        }

        // The key wipes itself.
        impl ZeroizeOnDrop for $name {}

        impl $name {
            /// Under a key of 32 bytes.
            pub fn new(key: &[u8; 32]) -> Self {
                $name { cipher: chacha20poly1305::$name::new(key.into()), _stack: CleanStack }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl Sealed for $name {}
        impl Aead for $name {
            fn tag_len(&self) -> usize {
                16
            }

            fn nonce_len(&self) -> usize {
                $nonce
            }

            fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
                let nonce: &[u8; $nonce] = nonce.try_into().map_err(|_| SealError::NonceLength)?;
                if text.len() as u64 > MAX_TEXT {
                    return Err(SealError::TextTooLong);
                }
                let tag = self.cipher.encrypt_inout_detached(nonce.into(), ad, text.into());
                tag.map(|tag| Tag::new(&tag)).map_err(|_| SealError::TextTooLong)
            }

            fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
                let (Ok(nonce), Ok(tag)) = (<&[u8; $nonce]>::try_from(nonce), <&[u8; 16]>::try_from(tag)) else {
                    return release(text, false);
                };
                let opened = self.cipher.decrypt_inout_detached(nonce.into(), ad, (&mut *text).into(), tag.into());
                // Compilers may make one number of that crate's branch on the tag and its answer.
                release(text, verdict(opened.is_ok()))
            }
        }
    };
}

aead! {
    /// AEAD_CHACHA20_POLY1305, with nonces of 96 bits.
    ///
    /// ```
    /// use sealwright::{Aead, mode::chacha::ChaCha20Poly1305};
    ///
    /// let aead = ChaCha20Poly1305::new(&[7; 32]);
    /// let mut message = b"attack at dawn".to_vec();
    /// aead.seal_vec(&[1; 12], b"header", &mut message)?;
    /// aead.open_vec(&[1; 12], b"header", &mut message)?;
    /// assert_eq!(message, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ChaCha20Poly1305, NONCE
}
aead! {
    /// XChaCha20-Poly1305, whose nonces of 192 bits may be random: `RandomNonceKey::xchacha20_poly1305` draws them.
    ///
    /// ```
    /// use sealwright::{Aead, mode::chacha::XChaCha20Poly1305};
    ///
    /// let aead = XChaCha20Poly1305::new(&[7; 32]);
    /// let mut message = b"attack at dawn".to_vec();
    /// aead.seal_vec(&[1; 24], b"header", &mut message)?;
    /// aead.open_vec(&[1; 24], b"header", &mut message)?;
    /// assert_eq!(message, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    XChaCha20Poly1305, LONG_NONCE
}
