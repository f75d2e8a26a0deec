//! OCB3, the offset codebook mode of RFC 7253: authenticated encryption with one cipher call per block.
//!
//! A text may have any length, a nonce 1 to 15 bytes. A nonce that is used twice under a key reveals which blocks of
//! the two texts are equal and lets an attacker splice them into forgeries. Encrypting about 2^64 blocks under one key,
//! whatever the nonces, has the same effect (RFC 7253, 5): count nonces, and change keys long before. Nonces shorter
//! than 6 bits, which the RFC allows and which break the mode (Liénardy and Lafitte, 2023), cannot be expressed in
//! bytes.
//!
//! ```
//! use sealwright::{Aead, Isa, mode::ocb::{TagLen, by_key}};
//!
//! let aead = by_key(Isa::best(), &[7; 16], TagLen::T16)?;
//! let mut text = *b"attack at dawn";
//! let tag = aead.seal_in_place(&[1; 15], b"header", &mut text)?;
//! aead.open_in_place(&[1; 15], b"header", &mut text, tag.as_ref())?;
//! assert_eq!(&text, b"attack at dawn");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Module `offsets` computes the offsets by the Gray code; `kernel` is one kernel for both directions. A key stores
//! L_*, L_$, L_0 to L_15 and the 64 offsets of an aligned run of blocks.

mod kernel;
mod offsets;
#[cfg(all(feature = "pieces", target_has_atomic = "ptr"))]
mod pieces;

use alloc::boxed::Box;
use core::fmt;

use kernel::Fused;
use offsets::Offsets;
#[cfg(all(feature = "pieces", target_has_atomic = "ptr"))]
pub use pieces::pieces_by_key;
use zeroize::ZeroizeOnDrop;

use crate::{
    aead::{Aead, limits, release, same_length, text_len},
    block::{
        BlockCipher, Inverse,
        aes::{BothWays, Key},
    },
    error::{KeyLengthError, OpenError, SealError},
    sealed::Sealed,
    simd::{Block, Isa},
    tag::{Tag, Whole},
    wipe::CleanStackOf,
};

/// The most blocks that one key should encrypt in all (RFC 7253, 5).
pub(crate) const MAX_BLOCKS: u64 = 1 << 48;
/// The longest text or associated data, in bytes: the 2^48 blocks that one key should encrypt in all (RFC 7253, 5).
pub const MAX_BYTES: u64 = 16 * MAX_BLOCKS;
/// The longest nonce, in bytes.
pub const MAX_NONCE: usize = 15;

/// OCB3 over the cipher `C`.
///
/// ```
/// use sealwright::{Aead, Isa, block::aes::BothWays, mode::ocb::{Ocb, TagLen}};
///
/// let isa = Isa::best();
/// let aead = Ocb::new(isa, BothWays::<15>::new(isa, &[7; 32]), TagLen::T16); // AES-256-OCB
/// let mut text = *b"attack at dawn";
/// let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
/// aead.open_in_place(&[1; 12], b"header", &mut text, tag.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Ocb<C> {
    isa: Isa,
    cipher: C,
    offsets: Offsets,
    tag_len: TagLen,
    _rest: Rest,
    _stack: CleanStackOf,
}

/// Zeros in place of the padding behind AES keys, as in [`Offsets`].
type Rest = [u8; 31 - size_of::<Isa>() - size_of::<CleanStackOf>()];
const _: () = assert!(size_of::<Ocb<BothWays<11>>>() == size_of::<BothWays<11>>() + size_of::<Offsets>() + 32);
const _: () = assert!(size_of::<Ocb<BothWays<15>>>() == size_of::<BothWays<15>>() + size_of::<Offsets>() + 32);

/// A tag length of RFC 7253, in bytes. It is encoded in the nonce's block, so that tags of different lengths under one
/// key are unrelated.
///
/// ```
/// use sealwright::{Isa, mode::ocb::{TagLen, by_key}};
///
/// assert_eq!(by_key(Isa::best(), &[7; 16], TagLen::T12)?.tag_len(), 12);
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum TagLen {
    /// 128 bits.
    #[default]
    T16 = 16,
    /// 96 bits.
    T12 = 12,
    /// 64 bits: each attempt at a forgery succeeds with probability 2^-64.
    T8 = 8,
}

impl<C: BlockCipher + Inverse> Ocb<C> {
    /// OCB with tags of `tag_len`.
    pub fn new(isa: Isa, cipher: C, tag_len: TagLen) -> Self {
        let mut offsets = Offsets::EMPTY;
        offsets.fill(isa, &cipher);
        Ocb { isa, cipher, offsets, tag_len, _rest: Rest::default(), _stack: CleanStackOf::moved() }
    }

    /// The nonce's block (RFC 7253, 4.2): the tag's length in seven bits, zeros, a one bit, the nonce.
    #[inline]
    fn nonce_block(&self, nonce: &[u8]) -> Option<Block> {
        let number = match *nonce {
            // The usual length, without a loop.
            [a, b, c, d, e, f, g, h, i, j, k, l] => {
                u128::from_be_bytes([0, 0, 0, 0, a, b, c, d, e, f, g, h, i, j, k, l])
            }
            [] => return None,
            [..] if nonce.len() > MAX_NONCE => return None,
            [..] => nonce.iter().fold(0, |number, byte| (number << 8) | u128::from(*byte)),
        };
        let tag_bits = 8 * self.tag_len as u128 % 128;
        Some(((tag_bits << 121) | (1 << (8 * nonce.len())) | number).to_be_bytes())
    }

    fn fused<const SEAL: bool>(
        &self,
        nonce: &[u8],
        ad: &[u8],
        text: &mut [u8],
        source: Option<&[u8]>,
    ) -> Result<Whole, SealError> {
        let nonce = self.nonce_block(nonce).ok_or(SealError::NonceLength)?;
        limits(MAX_BYTES, ad.len() as u64, text.len() as u64)?;
        let Ocb { cipher, offsets, .. } = self;
        Ok(self.isa.run(Fused::<C, SEAL> { cipher, offsets, nonce, ad, text, source }))
    }
}

macro_rules! key_sizes {
    ($($bytes:literal $keys:literal),*) => {
        $(impl Ocb<BothWays<$keys>> {
            /// Without a key, which [`Ocb::rekey`] expands in place.
            pub(crate) fn unfilled(isa: Isa, tag_len: TagLen) -> Self {
                Ocb {
                    isa,
                    cipher: BothWays::empty(),
                    offsets: Offsets::EMPTY,
                    tag_len,
                    _rest: Rest::default(),
                    _stack: CleanStackOf::in_place(isa),
                }
            }

            /// With a key that is expanded in place. A separate function, so that what it leaves on the stack lies no
            /// deeper than what is wiped with the key.
            #[inline(never)]
            fn boxed(isa: Isa, key: &[u8; $bytes], tag_len: TagLen) -> Box<Self> {
                let mut aead = Box::new(Self::unfilled(isa, tag_len));
                aead.rekey(key);
                aead
            }

            /// Replaces the key in place, without allocating, wiping and freeing memory.
            ///
            /// What kernels left of the previous key on the stack is wiped when this object is dropped, like everything
            /// else there.
            ///
            /// ```
            /// use sealwright::{Aead, Isa, Suite, block::aes::BothWays, mode::ocb::{Ocb, TagLen}};
            ///
            /// let isa = Isa::best();
            /// let mut aead = Ocb::new(isa, BothWays::<15>::new(isa, &[7; 32]), TagLen::T16);
            /// aead.rekey(&[8; 32]);
            /// let (mut text, mut same) = (*b"attack at dawn", *b"attack at dawn");
            /// let tag = aead.seal_in_place(&[1; 12], b"", &mut text)?;
            /// assert_eq!(tag, Suite::Aes256Ocb.aead(&[8; 32])?.seal_in_place(&[1; 12], b"", &mut same)?);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn rekey(&mut self, key: &[u8; $bytes]) {
                self.cipher.rekey(self.isa, key);
                self.offsets.fill(self.isa, &self.cipher);
            }
        })*
    };
}
key_sizes!(16 11, 24 13, 32 15);

// Cipher and offsets wipe themselves.
impl<C: ZeroizeOnDrop> ZeroizeOnDrop for Ocb<C> {}

impl<C> fmt::Debug for Ocb<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ocb").field("isa", &self.isa).field("tag_len", &self.tag_len).finish_non_exhaustive()
    }
}

impl<C: BlockCipher + Inverse> Sealed for Ocb<C> {}
impl<C: BlockCipher + Inverse> Aead for Ocb<C> {
    fn tag_len(&self) -> usize {
        self.tag_len as usize
    }

    #[inline(always)]
    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        Ok(self.fused::<true>(nonce, ad, text, None)?.tag(self.tag_len()))
    }

    #[inline(always)]
    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let (text, tag) = message.split_at_mut(text_len(message.len(), self.tag_len()));
        self.fused::<true>(nonce, ad, text, None)?.write(tag);
        Ok(())
    }

    #[inline(always)]
    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let genuine = self.fused::<false>(nonce, ad, text, None).is_ok_and(|ours| ours.matches(self.tag_len(), tag));
        release(text, genuine)
    }

    #[inline]
    fn seal_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut [u8]) -> Result<Tag, SealError> {
        same_length(text, out);
        let sealed = self.fused::<true>(nonce, ad, out, Some(text)).inspect_err(|_| out.fill(0));
        Ok(sealed?.tag(self.tag_len()))
    }

    #[inline]
    fn open_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], tag: &[u8], out: &mut [u8]) -> Result<(), OpenError> {
        same_length(text, out);
        let genuine =
            self.fused::<false>(nonce, ad, out, Some(text)).is_ok_and(|ours| ours.matches(self.tag_len(), tag));
        release(out, genuine)
    }
}

/// AES-OCB, selected by key length: 16 or 32 bytes, or 24 with the feature `aes192`.
///
/// ```
/// use sealwright::{Isa, SealError, mode::ocb::{TagLen, by_key}};
///
/// let aead = by_key(Isa::best(), &[7; 16], TagLen::T16)?;
/// assert_eq!(aead.seal_in_place(&[1; 16], b"", &mut []).err(), Some(SealError::NonceLength)); // 1 to 15 bytes
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
pub fn by_key(isa: Isa, key: &[u8], tag_len: TagLen) -> Result<Box<dyn Aead>, KeyLengthError> {
    Ok(match Key::new(key)? {
        Key::Aes128(key) => Ocb::<BothWays<11>>::boxed(isa, key, tag_len),
        #[cfg(feature = "aes192")]
        Key::Aes192(key) => Ocb::<BothWays<13>>::boxed(isa, key, tag_len),
        Key::Aes256(key) => Ocb::<BothWays<15>>::boxed(isa, key, tag_len),
    })
}

/// Serpent-OCB under a key of 16, 24 or 32 bytes.
///
/// ```
/// use sealwright::{Isa, mode::ocb::{TagLen, serpent_by_key}};
///
/// let aead = serpent_by_key(Isa::best(), &[7; 32], TagLen::T16)?;
/// let mut message = b"attack at dawn".to_vec();
/// aead.seal_vec(&[1; 12], b"header", &mut message)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
#[cfg(feature = "serpent")]
pub fn serpent_by_key(isa: Isa, key: &[u8], tag_len: TagLen) -> Result<Box<dyn Aead>, KeyLengthError> {
    Ok(Box::new(Ocb::new(isa, crate::block::serpent::Serpent::new(key)?, tag_len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text is that long: the check alone is asked.
    #[test]
    fn the_limits_of_rfc_7253() {
        let most = 1 << 52;
        assert_eq!(limits(MAX_BYTES, most, most), Ok(()));
        assert_eq!(limits(MAX_BYTES, 0, most + 1), Err(SealError::TextTooLong));
        assert_eq!(limits(MAX_BYTES, most + 1, 0), Err(SealError::AdTooLong));
    }
}
