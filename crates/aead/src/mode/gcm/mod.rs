//! Galois/Counter Mode (SP 800-38D), with all lengths of nonces and tags that the standard allows.
//!
//! | limit | |
//! |---|---|
//! | text under one nonce | 2^36 - 32 bytes ([`MAX_TEXT`]); longer ones are refused |
//! | associated data, nonce | 2^61 - 1 bytes ([`MAX_AD`]) |
//! | messages under one key | 2^32 (SP 800-38D, 8.3), unless **every** nonce has 96 bits and is counted; see below |
//! | a nonce used twice | reveals the xor of two texts and the GHASH key: others can forge |
//!
//! If nonces under a key are random, or any of them has a length other than 96 bits, the key may be used for 2^32
//! messages in all: the caller counts them, or `RandomNonceKey` does. `Sealer` forms nonces of 96 bits by counting
//! (8.2.1), and has no such limit.
//!
//! ```
//! use sealwright::{Aead, Isa, mode::gcm::{TagLen, by_key}};
//!
//! let aead = by_key(Isa::best(), &[7; 16], TagLen::T12)?; // tags of 96 bits
//! let nonce = [1; 16]; // of any length but none
//! let mut text = *b"attack at dawn";
//! let tag = aead.seal_in_place(&nonce, b"header", &mut text)?;
//! assert_eq!(tag.as_ref().len(), 12);
//! aead.open_in_place(&nonce, b"header", &mut text, tag.as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod across;
mod counters;
pub(in crate::mode) mod hash;
mod kernel;
#[cfg(all(feature = "pieces", target_has_atomic = "ptr"))]
mod pieces;
pub(super) mod short;
mod staggered;

use alloc::boxed::Box;
use core::fmt;

pub use across::across_by_key;
use kernel::Fused;
#[cfg(all(feature = "pieces", target_has_atomic = "ptr"))]
pub use pieces::pieces_by_key;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    aead::{Aead, release, text_len},
    block::{
        BlockCipher, Expanded, OnTheFly, RoundKeys,
        aes::{Aes, Aes128, Aes192, Aes256, Key},
        encrypt_block,
    },
    error::{KeyLengthError, OpenError, SealError},
    ghash::{Clmul, Ghash},
    sealed::Sealed,
    simd::{Isa, Kernel, Simd},
    tag::{Tag, Whole},
    wipe::CleanStackOf,
};

/// The longest text, in bytes: 2^39 - 256 bits (SP 800-38D, 5.2.1.1).
pub const MAX_TEXT: u64 = (1 << 36) - 32;
/// The longest associated data or nonce, in bytes: 2^64 - 1 bits, rounded down to whole bytes.
pub const MAX_AD: u64 = (1 << 61) - 1;

/// GCM over the cipher `C`, with GHASH computed by the strategy `G`.
///
/// ```
/// use sealwright::{Aead, Isa, block::aes::Aes128, mode::gcm::{Aes128Gcm, TagLen}};
///
/// let isa = Isa::best();
/// let aead = Aes128Gcm::new(isa, Aes128::new(isa, &[7; 16]), TagLen::T16);
/// let mut text = *b"attack at dawn";
/// let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
/// aead.open_in_place(&[1; 12], b"header", &mut text, tag.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Gcm<C, G> {
    isa: Isa,
    cipher: C,
    ghash: G,
    tag_len: usize,
    _rest: Rest,
    _stack: CleanStackOf,
}

/// Zeros in place of padding: with the strategy, keys of AES-128 and AES-256 fill whole cache lines except for 16
/// bytes. Padding would copy stack contents, round keys among them, to the heap, where no wiping would reach them.
type Rest = [u8; 16 - size_of::<usize>() - size_of::<Isa>() - size_of::<CleanStackOf>()];
const _: () = assert!(size_of::<Aes128Gcm>() == size_of::<Aes128>() + size_of::<Clmul>() + 16);
const _: () = assert!(size_of::<Aes256Gcm>() == size_of::<Aes256>() + size_of::<Clmul>() + 16);

/// AES-128-GCM, with GHASH by carry-less multiplication.
pub type Aes128Gcm = Gcm<Aes128, Clmul>;
/// AES-192-GCM, likewise.
pub type Aes192Gcm = Gcm<Aes192, Clmul>;
/// AES-256-GCM, likewise.
pub type Aes256Gcm = Gcm<Aes256, Clmul>;

/// A tag length of SP 800-38D, 5.2.1.2, in bytes.
///
/// ```
/// use sealwright::{Isa, mode::gcm::{TagLen, by_key}};
///
/// assert_eq!(by_key(Isa::best(), &[7; 16], TagLen::T13)?.tag_len(), 13);
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum TagLen {
    /// 128 bits.
    #[default]
    T16 = 16,
    /// 120 bits.
    T15 = 15,
    /// 112 bits.
    T14 = 14,
    /// 104 bits.
    T13 = 13,
    /// 96 bits.
    T12 = 12,
}

/// A short tag length, only for uses within the limits of SP 800-38D, appendix C: every successful forgery makes the
/// next one easier, and about 2^(tag bits) attempts suffice.
///
/// ```
/// use sealwright::{Isa, mode::gcm::{ShortTagLen, short_tag_by_key}};
///
/// let aead = short_tag_by_key(Isa::best(), &[7; 16], ShortTagLen::T8)?; // tags of 64 bits, as of voice over IP
/// assert_eq!(aead.tag_len(), 8);
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ShortTagLen {
    /// 64 bits.
    T8 = 8,
    /// 32 bits.
    T4 = 4,
}

impl<C: BlockCipher, G: Ghash> Gcm<C, G> {
    /// Bytes of a key: the cipher's and the strategy's.
    pub const STATE_BYTES: usize = C::STATE_BYTES + G::STATE_BYTES;

    /// GCM with tags of `tag_len`.
    pub fn new(isa: Isa, cipher: C, tag_len: TagLen) -> Self {
        Self::with_tag_bytes(isa, cipher, tag_len as usize)
    }

    pub(crate) fn with_tag_bytes(isa: Isa, cipher: C, tag_len: usize) -> Self {
        let ghash = hash_key(isa, &cipher);
        Gcm { isa, cipher, ghash, tag_len, _rest: Rest::default(), _stack: CleanStackOf::moved() }
    }

    #[inline(always)]
    pub(super) fn whole<const SEAL: bool>(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Whole, SealError> {
        fused::<C, G, SEAL>(self.isa, &self.cipher, &self.ghash, nonce, ad, text)
    }
}

impl<C: BlockCipher, const SLOTS: usize> Gcm<C, Clmul<SLOTS>> {
    /// Without the powers of h, which [`Gcm::set_up`] computes when the key is in its final place: moving the table
    /// takes as long as computing half of it.
    #[inline]
    pub(crate) fn unfilled(isa: Isa, cipher: C, tag_len: TagLen) -> Self {
        Self::cleaned(isa, cipher, tag_len, CleanStackOf::in_place(isa))
    }

    /// The same for the key of one message: its owner wipes the stack when dropped.
    #[inline(always)]
    pub(crate) fn of_message(isa: Isa, cipher: C) -> Self {
        Self::cleaned(isa, cipher, TagLen::T16, CleanStackOf::by_owner())
    }

    #[inline(always)]
    fn cleaned(isa: Isa, cipher: C, tag_len: TagLen, stack: CleanStackOf) -> Self {
        let (ghash, tag_len) = (Clmul::empty(), tag_len as usize);
        Gcm { isa, cipher, ghash, tag_len, _rest: Rest::default(), _stack: stack }
    }

    /// Runs `expand` to make the cipher's keys, and computes the powers of h that a hash of `blocks` blocks needs, all
    /// in place.
    #[inline]
    pub(crate) fn set_up(&mut self, blocks: usize, expand: impl FnOnce(&mut C)) {
        struct Powers<'a, C, const SLOTS: usize>(&'a C, &'a mut Clmul<SLOTS>, usize);
        impl<C: BlockCipher, const SLOTS: usize> Kernel for Powers<'_, C, SLOTS> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd, const W: usize>(self, simd: S) {
                let mut h = [simd.zero()];
                self.0.encrypt(simd, &mut h);
                self.1.fill(simd, h[0], self.2);
            }
        }
        expand(&mut self.cipher);
        self.isa.run(Powers(&self.cipher, &mut self.ghash, blocks));
    }
}

impl<K: RoundKeys + Zeroize, const SLOTS: usize> Gcm<Aes<K>, Clmul<SLOTS>> {
    /// Wipes the key, in memory that will hold another.
    pub(crate) fn clear(&mut self) {
        self.cipher.round_keys_mut().zeroize();
        self.ghash.clear();
    }
}

macro_rules! key_sizes {
    ($($bytes:literal $keys:literal),*) => {
        $(impl<const SLOTS: usize> Gcm<Aes<Expanded<$keys>>, Clmul<SLOTS>> {
            /// Replaces the key in place, without allocating, wiping and freeing memory.
            ///
            /// What kernels left of the previous key on the stack is wiped when this object is dropped, like everything
            /// else there.
            ///
            /// ```
            /// use sealwright::{Aead, Isa, Suite, block::aes::Aes256, mode::gcm::{Aes256Gcm, TagLen}};
            ///
            /// let isa = Isa::best();
            /// let mut aead = Aes256Gcm::new(isa, Aes256::new(isa, &[7; 32]), TagLen::T16);
            /// aead.rekey(&[8; 32]);
            /// let (mut text, mut same) = (*b"attack at dawn", *b"attack at dawn");
            /// let tag = aead.seal_in_place(&[1; 12], b"", &mut text)?;
            /// assert_eq!(tag, Suite::Aes256Gcm.aead(&[8; 32])?.seal_in_place(&[1; 12], b"", &mut same)?);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[inline]
            pub fn rekey(&mut self, key: &[u8; $bytes]) {
                self.rekey_for(key, SLOTS);
            }

            /// The same for messages whose nonces have 96 bits, of at most `blocks` [`hashed`] blocks: further powers
            /// of h are left unchanged.
            #[inline]
            pub(crate) fn rekey_for(&mut self, key: &[u8; $bytes], blocks: usize) {
                let isa = self.isa;
                self.set_up(blocks, |aes| aes.round_keys_mut().expand(isa, &OnTheFly::new(key)));
            }
        })*
    };
}
key_sizes!(16 11, 24 13, 32 15);

// Cipher and strategy wipe themselves.
impl<C: ZeroizeOnDrop, G: ZeroizeOnDrop> ZeroizeOnDrop for Gcm<C, G> {}

impl<C, G> fmt::Debug for Gcm<C, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gcm").field("isa", &self.isa).field("tag_len", &self.tag_len).finish_non_exhaustive()
    }
}

impl<C: BlockCipher, G: Ghash> Sealed for Gcm<C, G> {}
impl<C: BlockCipher, G: Ghash> Aead for Gcm<C, G> {
    fn tag_len(&self) -> usize {
        self.tag_len
    }

    #[inline(always)]
    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        Ok(self.whole::<true>(nonce, ad, text)?.tag(self.tag_len))
    }

    #[inline(always)]
    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let (text, tag) = message.split_at_mut(text_len(message.len(), self.tag_len));
        self.whole::<true>(nonce, ad, text)?.write(tag);
        Ok(())
    }

    #[inline(always)]
    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let genuine = self.whole::<false>(nonce, ad, text).is_ok_and(|ours| ours.matches(self.tag_len, tag));
        release(text, genuine)
    }
}

/// Refuses the lengths in bytes that SP 800-38D, 5.2.1.1, does not allow.
#[inline]
fn limits(nonce: u64, ad: u64, text: u64) -> Result<(), SealError> {
    match (nonce, ad, text) {
        (0, _, _) => Err(SealError::NonceLength),
        (nonce, _, _) if nonce > MAX_AD => Err(SealError::NonceLength),
        (_, _, text) if text > MAX_TEXT => Err(SealError::TextTooLong),
        (_, ad, _) if ad > MAX_AD => Err(SealError::AdTooLong),
        _ => Ok(()),
    }
}

/// The blocks that GHASH processes for a message under a nonce of 96 bits: associated data, text, and one for the
/// lengths.
#[inline(always)]
pub(crate) fn hashed(ad: &[u8], text: &[u8]) -> usize {
    ad.len().div_ceil(16) + text.len().div_ceil(16) + 1
}

/// Seals (or opens) `text` in place under a cipher and a GHASH key that need not be derived from it; returns the tag.
#[inline(always)]
pub(super) fn fused<C: BlockCipher, G: Ghash, const SEAL: bool>(
    isa: Isa,
    cipher: &C,
    ghash: &G,
    nonce: &[u8],
    ad: &[u8],
    text: &mut [u8],
) -> Result<Whole, SealError> {
    limits(nonce.len() as u64, ad.len() as u64, text.len() as u64)?;
    Ok(isa.run(&mut Fused::<C, G, SEAL> { cipher, ghash, nonce, ad, text }))
}

/// The GHASH key of a cipher: its encryption of the zero block.
pub(super) fn hash_key<C: BlockCipher, G: Ghash>(isa: Isa, cipher: &C) -> G {
    let mut h = encrypt_block(isa, cipher, &[0; 16]);
    let ghash = G::new(isa, &h);
    h.zeroize();
    ghash
}

/// AES-GCM, selected by key length: 16 or 32 bytes, or 24 with the feature `aes192`.
///
/// ```
/// use sealwright::{Isa, mode::gcm::{TagLen, by_key}};
///
/// let aead = by_key(Isa::best(), &[7; 32], TagLen::T16)?; // AES-256-GCM
/// assert!(by_key(Isa::best(), &[7; 20], TagLen::T16).is_err());
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
pub fn by_key(isa: Isa, key: &[u8], tag_len: TagLen) -> Result<Box<dyn Aead>, KeyLengthError> {
    with_tag_bytes(isa, key, tag_len as usize)
}

/// AES-GCM with short tags, selected by key length; see [`ShortTagLen`] before using it.
///
/// ```
/// use sealwright::{Isa, mode::gcm::{ShortTagLen, short_tag_by_key}};
///
/// let aead = short_tag_by_key(Isa::best(), &[7; 16], ShortTagLen::T4)?;
/// let tag = aead.seal_in_place(&[1; 12], b"header", &mut [])?;
/// assert_eq!(tag.as_ref().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] unless the key has 16 or 32 bytes, or 24 with the feature `aes192`.
pub fn short_tag_by_key(isa: Isa, key: &[u8], tag_len: ShortTagLen) -> Result<Box<dyn Aead>, KeyLengthError> {
    with_tag_bytes(isa, key, tag_len as usize)
}

/// Serpent-GCM under a key of 16, 24 or 32 bytes.
///
/// ```
/// use sealwright::{Isa, mode::gcm::{TagLen, serpent_by_key}};
///
/// let aead = serpent_by_key(Isa::best(), &[7; 32], TagLen::T16)?;
/// let mut text = *b"attack at dawn";
/// let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
#[cfg(feature = "serpent")]
pub fn serpent_by_key(isa: Isa, key: &[u8], tag_len: TagLen) -> Result<Box<dyn Aead>, KeyLengthError> {
    Ok(Box::new(Gcm::<_, Clmul>::new(isa, crate::block::serpent::Serpent::new(key)?, tag_len)))
}

fn with_tag_bytes(isa: Isa, key: &[u8], tag_len: usize) -> Result<Box<dyn Aead>, KeyLengthError> {
    Ok(match Key::new(key)? {
        Key::Aes128(key) => Box::new(Aes128Gcm::with_tag_bytes(isa, Aes128::new(isa, key), tag_len)),
        #[cfg(feature = "aes192")]
        Key::Aes192(key) => Box::new(Aes192Gcm::with_tag_bytes(isa, Aes192::new(isa, key), tag_len)),
        Key::Aes256(key) => Box::new(Aes256Gcm::with_tag_bytes(isa, Aes256::new(isa, key), tag_len)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text is that long: the check alone is asked.
    #[test]
    fn the_limits_of_sp_800_38d() {
        let (text, other) = ((1 << 36) - 32, (1 << 61) - 1);
        assert_eq!(limits(1, 0, text), Ok(()));
        assert_eq!(limits(other, other, 0), Ok(()));
        assert_eq!(limits(0, 0, 0), Err(SealError::NonceLength));
        assert_eq!(limits(other + 1, 0, 0), Err(SealError::NonceLength));
        assert_eq!(limits(12, 0, text + 1), Err(SealError::TextTooLong));
        assert_eq!(limits(12, other + 1, 0), Err(SealError::AdTooLong));
    }
}
