//! **Research only: broken.** Random Key Chaining (Kaushal, Sobti and Geetha, 2012; Kaushal, Sobti and Rathore,
//! "Comparative Study of RKC and GCM Mode of Operation", section 2.2): AES-256 with a fresh key for every block.
//!
//! ```text
//! R_i = output i of Hash_DRBG seeded with S        K_i = K_(i-1) xor R_i
//! C_i = AES-256_(K_i)(P_i)                         X_i = C_i xor P_i
//! T = SHA-256(X_1 || X_2 || … || X_n)              wire: S || C || T
//! ```
//!
//! Why it protects nothing:
//!
//! * T is a hash without a key, of public values and of the plaintext. Anyone who knows the plaintext of a message can
//!   forge every prefix of it, and anyone who guesses a plaintext can check the guess.
//! * S is sent in the clear. All R_i are therefore public, and each K_i reveals all others.
//! * Two messages with the same S encrypt equal blocks at the same position to equal ciphertexts.
//!
//! [`RkcHmac`] repairs the tag and nothing else. To protect data, use a [`Suite`](crate::Suite).
//!
//! The paper does not say how S seeds the DRBG, how the R_i are drawn, what happens to a partial block, or how long a
//! message may be. The reading implemented here is called RKC-R: S, which has 55 bytes like the DRBG's V, *is* V, with
//! C = Hash_df(0x00 || V) and a reseed counter of 1; each R_i is a Generate of 256 bits; texts are whole blocks, fewer
//! than 2^32. [`Reading`] offers the alternatives. There is no associated data.
//!
//! For speed, two hash computations are always interleaved (`chain`), and the lanes of a register compute the key
//! schedules of different keys (`block::multi_key`). See `docs/RKC.md`.
//!
//! ```
//! use sealwright::{Isa, mode::rkc::{Draw, Offsets, Reading, Rkc, SeedUse}};
//!
//! let reading = Reading { seed: SeedUse::V, draw: Draw::Block }; // RKC-R, the default
//! let rkc = Rkc::research_only_reading(Isa::best(), &[7; 32], reading);
//! let (seed, mut text) = ([1; 55], [0; 32]);
//! let offsets = Offsets::new(Isa::best(), reading, &seed, 2); // before there is a message
//! let tag = rkc.seal_ahead(&offsets, &mut text)?;
//! rkc.open(&seed, &mut text, tag.as_ref())?;
//! assert_eq!(text, [0; 32]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod chain;
mod hmac;
mod reading;
mod tag;
mod wire;

use alloc::{vec, vec::Vec};
use core::fmt;

use blocks::{Batch, Blocks};
use chain::Chain;
pub use hmac::RkcHmac;
use reading::BATCH;
pub use reading::{Draw, MAX_BLOCKS, Reading, Seed, SeedUse};
use tag::TagHash;

pub use crate::drbg::SEED_BYTES;
use crate::{
    aead::{Aead, release},
    error::{OpenError, SealError},
    sealed::Sealed,
    simd::{
        Isa,
        sha::{Digest, Hashing, Sha256},
    },
    tag::Tag,
    wipe::CleanStack,
};

/// **Research only: broken.** RKC under one key. See the [module](self).
///
/// ```
/// use sealwright::{Isa, mode::rkc::Rkc};
///
/// let (seed, mut text) = ([1; 55], [9; 32]); // the seed goes with the message, in the open
/// let tag = Rkc::research_only(Isa::best(), &[7; 32]).seal(&seed, &mut text)?;
/// // Two messages with one seed: equal blocks at equal places.
/// let mut other = [[9; 16], [5; 16]].concat();
/// Rkc::research_only(Isa::best(), &[7; 32]).seal(&seed, &mut other)?;
/// assert_eq!(text[..16], other[..16]);
/// # Ok::<(), sealwright::SealError>(())
/// ```
///
/// It is wiped when it is dropped, and cannot be wiped before: it would go on under a key of zeros.
///
/// ```compile_fail,E0599
/// use sealwright::{Isa, mode::rkc::Rkc};
/// use zeroize::Zeroize;
/// Rkc::research_only(Isa::best(), &[7; 32]).zeroize();
/// ```
pub struct Rkc {
    isa: Isa,
    key: Digest,
    reading: Reading,
    _stack: CleanStack,
}
wipe_on_drop!(only Rkc { key: [0; 4] });

/// K_i xor K_0 for the first blocks of messages with one seed, which can be computed before the key and the message are
/// known: the paper's pre-processing. Like the seed, the offsets are public, and for one message only.
///
/// ```
/// use sealwright::{Isa, mode::rkc::{Offsets, Reading}};
///
/// let offsets = Offsets::new(Isa::best(), Reading::default(), &[1; 55], 1000); // for a message of 16 000 bytes
/// assert_eq!(offsets.heap_bytes(), 32_000);
/// ```
#[derive(Clone, Debug)]
pub struct Offsets(Vec<Digest>);

/// The source of a message's offsets.
enum Source<'a> {
    Chain { reading: Reading, seed: &'a Seed },
    Ahead(&'a [Digest]),
}

impl Rkc {
    /// RKC-R.
    pub fn research_only(isa: Isa, key: &[u8; 32]) -> Self {
        Self::research_only_reading(isa, key, Reading::default())
    }

    /// RKC in another reading of the paper.
    pub fn research_only_reading(isa: Isa, key: &[u8; 32], reading: Reading) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(key.as_chunks::<8>().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        Rkc { isa, key: words, reading, _stack: CleanStack }
    }

    /// Encrypts `text` in place and returns T.
    ///
    /// # Errors
    /// If the text is not whole blocks, or has more than [`MAX_BLOCKS`]; it is then unchanged.
    pub fn seal(&self, seed: &Seed, text: &mut [u8]) -> Result<Tag, SealError> {
        whole_blocks(text.len() as u64)?;
        Ok(self.apply::<true>(Source::Chain { reading: self.reading, seed }, text, true))
    }

    /// [`Rkc::seal`] with precomputed offsets.
    ///
    /// # Errors
    /// If the text is not whole blocks, or has more blocks than there are offsets; it is then unchanged.
    pub fn seal_ahead(&self, offsets: &Offsets, text: &mut [u8]) -> Result<Tag, SealError> {
        let source = offsets.source(text)?;
        Ok(self.apply::<true>(source, text, true))
    }

    /// Encrypts `text` in place with precomputed offsets, without T: the variant for confidentiality only.
    ///
    /// # Errors
    /// Same as [`Rkc::seal_ahead`].
    pub fn encrypt_ahead(&self, offsets: &Offsets, text: &mut [u8]) -> Result<(), SealError> {
        let source = offsets.source(text)?;
        let _ = self.apply::<true>(source, text, false);
        Ok(())
    }

    /// Decrypts `text` in place if `tag` is its T, which is computed from the plaintext.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; `text` is then all zero.
    pub fn open(&self, seed: &Seed, text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let genuine = whole_blocks(text.len() as u64).is_ok() && {
            let ours = self.apply::<false>(Source::Chain { reading: self.reading, seed }, text, true);
            ours.matches(tag)
        };
        release(text, genuine)
    }

    /// Encrypts or decrypts whole blocks; unless `tagged`, T is that of an empty text.
    fn apply<const SEAL: bool>(&self, source: Source<'_>, text: &mut [u8], tagged: bool) -> Tag {
        let hash = self.isa.hash(Message::<SEAL> { isa: self.isa, key: &self.key, source, text, tagged });
        let mut tag = [0; 32];
        for (bytes, word) in tag.as_chunks_mut::<8>().0.iter_mut().zip(hash) {
            *bytes = word.to_be_bytes();
        }
        Tag::new(&tag)
    }
}

impl Offsets {
    /// The offsets of the first `blocks` blocks.
    pub fn new(isa: Isa, reading: Reading, seed: &Seed, blocks: u32) -> Self {
        Offsets(isa.hash(Ahead { reading, seed, blocks }))
    }

    /// Bytes of memory that they take: 32 for each block.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }

    /// These offsets, if there are enough for `text`.
    fn source(&self, text: &[u8]) -> Result<Source<'_>, SealError> {
        whole_blocks(text.len() as u64)?;
        if text.len() / 16 > self.0.len() { Err(SealError::TextTooLong) } else { Ok(Source::Ahead(&self.0)) }
    }
}

/// One message in one pass.
struct Message<'a, const SEAL: bool> {
    isa: Isa,
    key: &'a Digest,
    source: Source<'a>,
    text: &'a mut [u8],
    tagged: bool,
}

impl<const SEAL: bool> Hashing for Message<'_, SEAL> {
    type Output = Digest;

    #[inline(always)]
    fn run<H: Sha256>(self, sha: H) -> Digest {
        let blocks = self.text.len() as u64 / 16;
        let (mut chain, mut ahead) = match self.source {
            Source::Chain { reading, seed } => (Some(Chain::new(sha, reading, seed, blocks)), [].iter()),
            Source::Ahead(offsets) => (None, offsets.iter()),
        };
        let (mut tag, mut batch, mut offsets) = (TagHash::new(sha), Batch::new(), [[0; 4]; BATCH]);
        for text in self.text.chunks_mut(16 * BATCH) {
            let blocks = text.len() / 16;
            if let Some(chain) = &mut chain {
                chain.next(sha, &mut offsets[..blocks], &mut tag);
            } else {
                for (offset, ahead) in offsets.iter_mut().zip(ahead.by_ref().take(blocks)) {
                    *offset = *ahead;
                }
            }
            for (i, offset) in offsets[..blocks].iter().enumerate() {
                batch.key(i, self.key, offset);
            }
            self.isa.run(Blocks::<SEAL> { batch: &mut batch, text: &mut *text });
            if self.tagged {
                tag.take(sha, &batch.x[..text.len()]);
            }
        }
        if self.tagged { tag.finish(sha) } else { [0; 4] }
    }
}

/// Offsets computed without a message.
struct Ahead<'a> {
    reading: Reading,
    seed: &'a Seed,
    blocks: u32,
}

impl Hashing for Ahead<'_> {
    type Output = Vec<Digest>;

    #[inline(always)]
    fn run<H: Sha256>(self, sha: H) -> Vec<Digest> {
        let mut chain = Chain::new(sha, self.reading, self.seed, u64::from(self.blocks));
        let (mut tag, mut offsets) = (TagHash::new(sha), vec![[0; 4]; self.blocks as usize]);
        chain.next(sha, &mut offsets, &mut tag);
        offsets
    }
}

/// Refuses texts, given by length in bytes, that are not whole blocks or have more than [`MAX_BLOCKS`].
fn whole_blocks(text: u64) -> Result<(), SealError> {
    if !text.is_multiple_of(16) {
        return Err(SealError::PartialBlock);
    }
    if text / 16 > MAX_BLOCKS { Err(SealError::TextTooLong) } else { Ok(()) }
}

/// The nonce of an [`Aead`] as a seed.
fn as_seed(nonce: &[u8]) -> Option<&Seed> {
    nonce.try_into().ok()
}

/// As an [`Aead`], RKC takes S as the nonce and accepts no associated data.
impl Sealed for Rkc {}
impl Aead for Rkc {
    fn tag_len(&self) -> usize {
        32
    }

    fn nonce_len(&self) -> usize {
        SEED_BYTES
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        let seed = as_seed(nonce).ok_or(SealError::NonceLength)?;
        if ad.is_empty() { self.seal(seed, text) } else { Err(SealError::AdTooLong) }
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        match as_seed(nonce) {
            Some(seed) if ad.is_empty() => self.open(seed, text, tag),
            _ => release(text, false),
        }
    }
}

impl fmt::Debug for Rkc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rkc").field("isa", &self.isa).field("reading", &self.reading).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text is that long: the check alone is asked.
    #[test]
    fn the_longest_text_has_a_block_less_than_counters_of_32_bits_count() {
        let most = 16 * ((1 << 32) - 1);
        assert_eq!((whole_blocks(0), whole_blocks(most)), (Ok(()), Ok(())));
        assert_eq!(whole_blocks(most + 16), Err(SealError::TextTooLong));
        assert_eq!(whole_blocks(most + 1), Err(SealError::PartialBlock));
    }
}
