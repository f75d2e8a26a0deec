//! GCM with a key that changes with every packet, as in a server of very many clients.
//!
//! A [`Schedule`] is made (or copied from a client's record), used for one packet and wiped. Only the few powers of h
//! that save time within one packet are computed. The modes and the kernel are those of GCM and GSCM.
//!
//! ```
//! use sealwright::{Isa, mode::multi_key::Schedule};
//!
//! let isa = Isa::best();
//! let keys = Schedule::expand(isa, &[7; 32])?; // a client's key
//! let h = keys.hash_key(isa); // may be kept beside the key
//! let mut text = *b"to client 1";
//! let tag = keys.seal(isa, &h, &[0; 12], b"header", &mut text)?;
//! keys.open(isa, &h, &[0; 12], b"header", &mut text, &tag)?;
//! assert_eq!(&text, b"to client 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The type fixes the nonce's length at [`NONCE`] bytes. The caller must never use a nonce twice under one key.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::gcm;
use crate::{
    aead::release,
    block::{
        Expanded, OnTheFly,
        aes::{Aes, Aes128, Aes256, Key},
    },
    error::{KeyLengthError, OpenError, SealError},
    ghash::Clmul,
    mode::{ctr, ecb},
    simd::{Block, Isa},
    tag::{Whole, same},
};

/// Bytes of a nonce.
pub const NONCE: usize = 12;
/// Bytes of a tag.
pub const TAG: usize = 16;

/// Whether two tags are equal, in constant time. For packets that were opened side by side, whose tags the caller
/// compares.
///
/// ```
/// use sealwright::mode::multi_key::same_tag;
///
/// assert!(same_tag(&[7; 16], &[7; 16]) && !same_tag(&[7; 16], &[8; 16]));
/// ```
#[must_use = "a packet whose tag is another is forged"]
#[inline]
pub fn same_tag(ours: &Block, theirs: &Block) -> bool {
    same(ours, theirs)
}

/// 36 powers of h, and the padding: more powers would cost a packet more time than they save.
type Powers = Clmul<44>;

/// As many of them as this packet needs.
#[inline]
fn powers(isa: Isa, h: &Block, ad: &[u8], text: &[u8]) -> Powers {
    let mut powers = Powers::empty();
    powers.refill(isa, h, gcm::hashed(ad, text));
    powers
}

/// The round keys of AES-128 or AES-256 for a short time, not bound to a mode. Wiped when dropped.
///
/// ```
/// use sealwright::{Isa, mode::multi_key::Schedule};
///
/// let isa = Isa::best();
/// let keys = Schedule::expand(isa, &[7; 16])?;
/// let again = Schedule::of(keys.blocks())?; // from a client's record, without expanding again
/// assert_eq!(keys.hash_key(isa), again.hash_key(isa));
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
#[derive(Clone)]
pub struct Schedule(Size);

#[derive(Clone)]
enum Size {
    /// With zeros up to the size of the other: moving padding copies what the stack held, such as round keys of others.
    Short(Aes128, #[expect(dead_code, reason = "padding")] [u8; size_of::<Aes256>() - size_of::<Aes128>()]),
    Long(Aes256),
}

impl Size {
    fn short(cipher: Aes128) -> Self {
        Size::Short(cipher, [0; _])
    }
}

impl ZeroizeOnDrop for Schedule {}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule").field("keys", &self.blocks().len()).finish_non_exhaustive()
    }
}

/// `$body` for the cipher with the schedule's key size.
macro_rules! either {
    ($schedule:expr, $cipher:ident => $body:expr) => {
        match &$schedule.0 {
            Size::Short($cipher, _) => $body,
            Size::Long($cipher) => $body,
        }
    };
}

impl Schedule {
    /// Expands a key of 16 or 32 bytes.
    ///
    /// # Errors
    /// [`KeyLengthError`] for any other length.
    pub fn expand(isa: Isa, key: &[u8]) -> Result<Self, KeyLengthError> {
        match Key::new(key) {
            Ok(Key::Aes128(key)) => Ok(Schedule(Size::short(Aes128::new(isa, key)))),
            Ok(Key::Aes256(key)) => Ok(Schedule(Size::Long(Aes256::new(isa, key)))),
            _ => Err(KeyLengthError::new(&[16, 32], key.len())),
        }
    }

    /// Replaces the key by another of the same length, in place. A schedule that is moved leaves copies behind; one
    /// that is rekeyed in place does not.
    ///
    /// ```
    /// use sealwright::{Isa, mode::multi_key::Schedule};
    ///
    /// let isa = Isa::best();
    /// let mut kept = Box::new(Schedule::expand(isa, &[0; 32])?);
    /// kept.rekey(isa, &[7; 32])?;
    /// assert_eq!(kept.blocks(), Schedule::expand(isa, &[7; 32])?.blocks());
    /// assert!(kept.rekey(isa, &[7; 16]).is_err());
    /// # Ok::<(), sealwright::KeyLengthError>(())
    /// ```
    ///
    /// # Errors
    /// [`KeyLengthError`] for a key of another length; the schedule is then unchanged.
    pub fn rekey(&mut self, isa: Isa, key: &[u8]) -> Result<(), KeyLengthError> {
        match (&mut self.0, Key::new(key)) {
            (Size::Short(cipher, _), Ok(Key::Aes128(key))) => {
                cipher.round_keys_mut().expand(isa, &OnTheFly::new(key));
            }
            (Size::Long(cipher), Ok(Key::Aes256(key))) => cipher.round_keys_mut().expand(isa, &OnTheFly::new(key)),
            (Size::Short(..), _) => return Err(KeyLengthError::new(&[16], key.len())),
            (Size::Long(_), _) => return Err(KeyLengthError::new(&[32], key.len())),
        }
        Ok(())
    }

    /// A schedule of round keys that were expanded before: 11 or 15 of them.
    ///
    /// # Errors
    /// [`KeyLengthError`], with lengths in bytes of round keys, for any other number.
    pub fn of(blocks: &[Block]) -> Result<Self, KeyLengthError> {
        if let Ok(blocks) = blocks.try_into() {
            return Ok(Schedule(Size::short(Aes::with(Expanded::of(blocks)))));
        }
        match blocks.try_into() {
            Ok(blocks) => Ok(Schedule(Size::Long(Aes::with(Expanded::of(blocks))))),
            Err(_) => Err(KeyLengthError::new(&[16 * 11, 16 * 15], 16 * blocks.len())),
        }
    }

    /// The round keys, in the order of the rounds.
    pub fn blocks(&self) -> &[Block] {
        either!(self, cipher => cipher.round_keys().blocks())
    }

    /// This schedule with `key` in place of round key `round`. AES2S replaces two of them.
    ///
    /// # Panics
    /// If there is no round key with this number.
    #[must_use]
    pub fn replaced(mut self, round: usize, key: &Block) -> Self {
        match &mut self.0 {
            Size::Short(cipher, _) => cipher.round_keys_mut().blocks_mut()[round] = *key,
            Size::Long(cipher) => cipher.round_keys_mut().blocks_mut()[round] = *key,
        }
        self
    }

    /// Encrypts each block separately (ECB).
    pub fn encrypt(&self, isa: Isa, blocks: &mut [Block]) {
        either!(self, cipher => ecb::encrypt(isa, cipher, blocks.as_flattened_mut()))
    }

    /// Encrypts or decrypts `text`, counting from `counter` in all 128 bits.
    pub fn ctr(&self, isa: Isa, counter: &Block, text: &mut [u8]) {
        either!(self, cipher => ctr::apply(isa, cipher, counter, text))
    }

    /// The encryption of the zero block: h of GHASH.
    pub fn hash_key(&self, isa: Isa) -> Block {
        let mut h = [[0; 16]];
        self.encrypt(isa, &mut h);
        h[0]
    }

    /// Seals `text` in place with the GHASH key `h`; returns the tag.
    ///
    /// # Errors
    /// [`SealError`] for lengths that GCM does not take.
    pub fn seal(
        &self,
        isa: Isa,
        h: &Block,
        nonce: &[u8; NONCE],
        ad: &[u8],
        text: &mut [u8],
    ) -> Result<Block, SealError> {
        let powers = powers(isa, h, ad, text);
        either!(self, cipher => gcm::fused::<_, _, true>(isa, cipher, &powers, nonce, ad, text)).map(Whole::block)
    }

    /// Opens `text` in place with the GHASH key `h`, if `tag` holds.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; `text` is then all zero.
    pub fn open(
        &self,
        isa: Isa,
        h: &Block,
        nonce: &[u8; NONCE],
        ad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), OpenError> {
        let powers = powers(isa, h, ad, text);
        let ours = either!(self, cipher => gcm::fused::<_, _, false>(isa, cipher, &powers, nonce, ad, text));
        let genuine = ours.is_ok_and(|ours| ours.matches(TAG, tag));
        release(text, genuine)
    }
}
