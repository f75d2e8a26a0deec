//! ChaCha20-Poly1305 (RFC 8439) and XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), for processors without AES
//! instructions.
//!
//! One key may be used for at most 2^32 messages with random nonces of 96 bits, and 2^80 with the 192 bits of
//! XChaCha20. Neither commits to its key. A nonce that is used twice reveals the xor of the texts and allows forgeries.
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

mod cipher;
mod poly1305;

use core::fmt;

use zeroize::Zeroizing;

use self::{
    cipher::{MOST, State, Work},
    poly1305::{Lanes, Poly1305},
};
use crate::{
    aead::{Aead, release, text_len},
    error::{OpenError, SealError},
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Reg, Simd},
    tag::{Tag, Whole},
    wipe::{CleanStack, wipe},
};

/// The longest text, in bytes: 2^32 - 1 blocks of 64 (RFC 8439, section 2.8).
pub const MAX_TEXT: u64 = ((1 << 32) - 1) * 64;
/// Bytes of a nonce of ChaCha20-Poly1305.
pub const NONCE: usize = 12;
/// Bytes of a nonce of XChaCha20-Poly1305.
pub const LONG_NONCE: usize = 24;

/// From this length in bytes on, a text is worth computing the powers of r that lanes need.
const LONG: usize = 384;

/// The hash so far; from the first long part on in lanes.
struct Sum<R> {
    poly: Poly1305,
    lanes: Option<Lanes<R>>,
}

impl<R: Reg> Sum<R> {
    /// Adds the next part of the ciphertext: whole blocks, except in the last part.
    #[inline(always)]
    fn add<S: Simd<Reg = R>>(&mut self, simd: S, part: &[u8], last: bool) {
        let group = poly1305::group::<S>();
        let mut rest = part;
        if poly1305::has_lanes::<S>() {
            if let Some(lanes) = &mut self.lanes {
                let (groups, behind) = part.split_at(part.len() / group * group);
                lanes.add(simd, groups);
                rest = behind;
            } else if part.len() >= LONG || (!last && part.len() >= 2 * group) {
                // Blocks that do not fill a group come before the groups, because another part may follow.
                let (alone, groups) = part.split_at(part.len() / 16 * 16 % group);
                self.poly.padded(simd, alone);
                let (groups, behind) = groups.split_at(groups.len() / group * group);
                let (first, groups) = groups.split_at(group);
                let mut lanes = Lanes::new(simd, &self.poly, first);
                lanes.add(simd, groups);
                self.lanes = Some(lanes);
                rest = behind;
            }
            if last && let Some(lanes) = self.lanes.take() {
                lanes.join(&mut self.poly);
            }
        }
        self.poly.padded(simd, rest);
    }
}

/// One message, sealed or opened in place. Returns its tag.
struct Message<'a> {
    key: &'a [u8; 32],
    nonce: &'a [u8; NONCE],
    ad: &'a [u8],
    text: &'a mut [u8],
    seals: bool,
}

impl Message<'_> {
    /// A text for which `SETS` registers of each row are enough, with the one-time key: one call of the cipher, whose
    /// blocks take little memory to clear before and wipe behind. There are at most `BLOCKS` of them, four a register.
    #[inline(always)]
    fn short<S: Simd, const SETS: usize, const BLOCKS: usize>(self, simd: S) -> Whole {
        let Message { key, nonce, ad, text, seals } = self;
        let mut stream = [[[0; 16]; 4]; BLOCKS];
        let made = SETS * S::Reg::BLOCKS;
        cipher::sets::<S, SETS>(simd, &State::new(key, nonce), 0, &mut stream.each_mut()[..made], &mut Work::default());
        let stream = &mut stream[..made];
        let (once, keystream) = stream.split_first().expect("there is a block");
        let mut sum = Sum { poly: Poly1305::new(&once[0], &once[1]), lanes: None };
        sum.poly.padded(simd, ad);
        if !seals {
            sum.add(simd, text, true);
        }
        let last = cipher::xor(simd, text, keystream.as_flattened().as_flattened());
        if seals {
            sum.add(simd, text.as_chunks::<16>().0.as_flattened(), true);
            if let Some(last) = last {
                sum.poly.whole(&last);
            }
        }
        let tag = Whole::of(sum.poly.tag(ad.len(), text.len()));
        // The keystream begins with the one-time key of Poly1305.
        wipe(stream.as_flattened_mut().as_flattened_mut());
        tag
    }
}

impl Kernel for Message<'_> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        let (lanes, blocks) = (S::Reg::BLOCKS, 1 + self.text.len().div_ceil(64));
        if S::AES && lanes > 1 && blocks <= lanes {
            return self.short::<S, 1, 4>(simd);
        }
        if S::AES && blocks <= 2 * lanes {
            return self.short::<S, 2, 8>(simd);
        }
        if S::AES && blocks <= 3 * lanes {
            return self.short::<S, 3, 12>(simd);
        }
        let Message { key, nonce, ad, text, seals } = self;
        let state = State::new(key, nonce);
        let len = text.len();
        // The first block is the one-time key of Poly1305.
        let mut stream = [[[0; 16]; 4]; MOST];
        let (mut counter, mut first) = (0, true);
        let mut made = cipher::blocks(simd, &state, counter, 1 + len.div_ceil(64), &mut stream, Work::default());
        let mut sum = Sum { poly: Poly1305::new(&stream[0][0], &stream[0][1]), lanes: None };
        sum.poly.padded(simd, ad);
        // `waiting` is ciphertext before `rest` that is not hashed yet, if it is hashed while the next keystream is
        // computed.
        let (mut rest, mut waiting) = (text, &[][..]);
        let alongside = !poly1305::has_lanes::<S>();
        while !rest.is_empty() {
            if !first {
                counter = counter.wrapping_add(made as u32);
                let coming = &rest[..rest.len().min(64 * cipher::at_once::<S>())];
                let hashed = if alongside && !seals { coming } else { waiting };
                let work = Work::new(&mut sum.poly, hashed);
                made = cipher::blocks(simd, &state, counter, rest.len().div_ceil(64), &mut stream, work);
            }
            let keystream = &stream.as_flattened().as_flattened()[64 * usize::from(first)..64 * made];
            let (part, behind) = rest.split_at_mut(rest.len().min(keystream.len()));
            rest = behind;
            if !seals && (first || !alongside) {
                sum.add(simd, part, rest.is_empty());
            }
            cipher::xor(simd, part, keystream);
            if seals && alongside {
                waiting = part;
            } else if seals {
                sum.add(simd, part, rest.is_empty());
            }
            first = false;
        }
        if seals {
            sum.poly.padded(simd, waiting);
        }
        let tag = Whole::of(sum.poly.tag(ad.len(), len));
        // The keystream begins with the one-time key of Poly1305.
        wipe(stream[..cipher::at_once::<S>()].as_flattened_mut().as_flattened_mut());
        tag
    }
}

/// HChaCha20 of a key and the first 16 bytes of a nonce.
struct Derived<'a>(&'a [u8; 32], &'a Block);

impl Kernel for Derived<'_> {
    type Output = [u8; 32];

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> [u8; 32] {
        cipher::derived(simd, self.0, self.1)
    }
}

impl ChaCha20Poly1305 {
    fn run(&self, nonce: &[u8; NONCE], ad: &[u8], text: &mut [u8], seals: bool) -> Whole {
        self.isa.run(Message { key: &self.key, nonce, ad, text, seals })
    }
}

impl XChaCha20Poly1305 {
    /// ChaCha20-Poly1305 under a key derived from the nonce's first 16 bytes, with its last eight as nonce.
    fn run(&self, nonce: &[u8; LONG_NONCE], ad: &[u8], text: &mut [u8], seals: bool) -> Whole {
        let (first, last) = nonce.split_first_chunk().expect("it is longer");
        let mut short = [0; NONCE];
        short[4..].copy_from_slice(last);
        let key = Zeroizing::new(self.isa.run(Derived(&self.key, first)));
        self.isa.run(Message { key: &key, nonce: &short, ad, text, seals })
    }
}

macro_rules! aead {
    ($(#[$doc:meta])* $name:ident, $nonce:expr) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            key: [u8; 32],
            isa: Isa,
            _stack: CleanStack,
        }
        wipe_on_drop!(only $name { key: [0; 32] });

        impl $name {
            /// The cipher under a key of 32 bytes, at the best level of this machine.
            pub fn new(key: &[u8; 32]) -> Self {
                Self::at(Isa::best(), key)
            }

            /// The same at a level of your choice.
            pub fn at(isa: Isa, key: &[u8; 32]) -> Self {
                $name { key: *key, isa, _stack: CleanStack }
            }

            /// Encrypts `text` in place; returns the tag.
            #[inline]
            fn seal(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Whole, SealError> {
                let nonce = nonce.try_into().map_err(|_| SealError::NonceLength)?;
                if text.len() as u64 > MAX_TEXT {
                    return Err(SealError::TextTooLong);
                }
                Ok(self.run(nonce, ad, text, true))
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
                Ok(self.seal(nonce, ad, text)?.tag(16))
            }

            fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
                let (text, tag) = message.split_at_mut(text_len(message.len(), 16));
                self.seal(nonce, ad, text)?.write(tag);
                Ok(())
            }

            fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
                let nonce: Option<&[u8; $nonce]> = nonce.try_into().ok();
                let Some(nonce) = nonce.filter(|_| text.len() as u64 <= MAX_TEXT) else {
                    return release(text, false);
                };
                let genuine = self.run(nonce, ad, text, false).matches(16, tag);
                release(text, genuine)
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
