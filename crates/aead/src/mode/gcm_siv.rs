//! AES-GCM-SIV (RFC 8452): authenticated encryption that survives a nonce that is used twice.
//!
//! The tag is computed from the text and is the start of the counter, so that two messages under one nonce reveal only
//! whether they are equal. Sealing therefore passes over the text twice. Each nonce has its own keys for hash and cipher,
//! derived from the key (section 4). The hash is POLYVAL: GHASH with the bytes of blocks reversed and a key times x
//! (appendix A). Random nonces are fine for 2^32 messages and more, by the bounds of section 9.

use alloc::boxed::Box;
use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::gcm::hash::Hash;
use crate::{
    aead::{Aead, limits, release, text_len},
    block::{
        BlockCipher, Expanded, OnTheFly,
        aes::{Aes128, Aes256},
    },
    error::{KeyLengthError, OpenError, SealError},
    ghash::{Clmul, Ghash},
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Reg, Simd, counter_zero},
    tag::{Tag, Whole},
    wipe::{CleanStack, wipe},
};

/// The longest text and the longest associated data, in bytes (RFC 8452, section 6).
pub const MAX_BYTES: u64 = 1 << 36;
/// Bytes of a nonce.
pub const NONCE: usize = 12;

/// GCM-SIV over the cipher `C`.
///
/// ```
/// use sealwright::{Aead, Isa, mode::gcm_siv};
///
/// let aead = gcm_siv::by_key(Isa::best(), &[7; 32])?;
/// let mut message = b"attack at dawn".to_vec();
/// aead.seal_vec(&[1; 12], b"header", &mut message)?;
/// aead.open_vec(&[1; 12], b"header", &mut message)?;
/// assert_eq!(message, b"attack at dawn");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GcmSiv<C> {
    isa: Isa,
    /// Derives the keys of a message.
    generator: C,
    _stack: CleanStack,
}

/// AEAD_AES_128_GCM_SIV.
pub type Aes128GcmSiv = GcmSiv<Aes128>;
/// AEAD_AES_256_GCM_SIV.
pub type Aes256GcmSiv = GcmSiv<Aes256>;

impl Aes128GcmSiv {
    /// Under a key of 16 bytes.
    pub fn new(isa: Isa, key: &[u8; 16]) -> Self {
        GcmSiv { isa, generator: Aes128::new(isa, key), _stack: CleanStack }
    }
}

impl Aes256GcmSiv {
    /// Under a key of 32 bytes.
    pub fn new(isa: Isa, key: &[u8; 32]) -> Self {
        GcmSiv { isa, generator: Aes256::new(isa, key), _stack: CleanStack }
    }
}

/// AES-GCM-SIV by length of key: 16 or 32 bytes.
///
/// ```
/// use sealwright::{Isa, mode::gcm_siv};
///
/// let aead = gcm_siv::by_key(Isa::best(), &[7; 32])?; // AES-256-GCM-SIV
/// let (mut one, mut two) = (*b"attack at dawn", *b"attack at dusk");
/// aead.seal_in_place(&[1; 12], b"", &mut one)?;
/// aead.seal_in_place(&[1; 12], b"", &mut two)?; // a nonce that comes twice shows equal messages alone
/// assert_ne!(one[..10], two[..10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other.
pub fn by_key(isa: Isa, key: &[u8]) -> Result<Box<dyn Aead>, KeyLengthError> {
    if let Ok(key) = key.try_into() {
        return Ok(Box::new(Aes128GcmSiv::new(isa, key)));
    }
    match key.try_into() {
        Ok(key) => Ok(Box::new(Aes256GcmSiv::new(isa, key))),
        Err(_) => Err(KeyLengthError::new(&[16, 32], key.len())),
    }
}

/// A cipher whose key is derived for each message.
trait Derived: BlockCipher + Sized {
    /// Blocks of a key.
    const BLOCKS: usize;
    fn empty() -> Self;
    /// Takes its key from the front of `key`.
    fn expand(&mut self, isa: Isa, key: &[u8; 32]);
}

impl Derived for Aes128 {
    const BLOCKS: usize = 1;
    fn empty() -> Self {
        Aes128::with(Expanded::empty())
    }
    fn expand(&mut self, isa: Isa, [first @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _]: &[u8; 32]) {
        self.round_keys_mut().expand(isa, &OnTheFly::new(first));
    }
}

impl Derived for Aes256 {
    const BLOCKS: usize = 2;
    fn empty() -> Self {
        Aes256::with(Expanded::empty())
    }
    fn expand(&mut self, isa: Isa, key: &[u8; 32]) {
        self.round_keys_mut().expand(isa, &OnTheFly::new(key));
    }
}

/// The keys of one message, made where they stay: what is moved leaves copies.
struct Keys<C> {
    hash: Clmul<POWERS>,
    cipher: C,
}

/// Room for 36 powers of h, which take half the time of the usual 68.
const POWERS: usize = 44;

#[allow(private_bounds, reason = "only the two types above exist")]
impl<C: Derived> GcmSiv<C> {
    #[inline(always)]
    fn empty() -> Keys<C> {
        Keys { hash: Clmul::empty(), cipher: C::empty() }
    }

    /// Keys for hash and cipher of a message (RFC 8452, section 4).
    fn derive(&self, nonce: &[u8; NONCE], ad: &[u8], text: &[u8], keys: &mut Keys<C>) {
        let mut key = [0; 32];
        let blocks = ad.len().max(text.len()).div_ceil(16).max(1);
        self.isa.run(Derivation { generator: &self.generator, nonce, hash: &mut keys.hash, blocks, key: &mut key });
        keys.cipher.expand(self.isa, &key);
        wipe(&mut key);
    }

    /// The tag of a plaintext.
    fn tag(&self, keys: &Keys<C>, nonce: &[u8; NONCE], ad: &[u8], text: &[u8]) -> Block {
        self.isa.run(TagOf { keys, nonce, ad, text }).block()
    }

    /// Encrypts `text` in place; returns the tag.
    #[inline]
    fn seal(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Block, SealError> {
        let nonce = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        limits(MAX_BYTES, ad.len() as u64, text.len() as u64)?;
        let mut keys = Self::empty();
        self.derive(nonce, ad, text, &mut keys);
        let tag = self.tag(&keys, nonce, ad, text);
        self.ctr(&keys, &tag, text);
        Ok(tag)
    }

    /// Encrypts or decrypts `text`, counting from `tag`.
    fn ctr(&self, keys: &Keys<C>, tag: &Block, text: &mut [u8]) {
        let mut counter = *tag;
        counter[15] |= 0x80;
        self.isa.run(Ctr { cipher: &keys.cipher, counter: &counter, text });
    }
}

// The cipher wipes itself.
impl<C: ZeroizeOnDrop> ZeroizeOnDrop for GcmSiv<C> {}

impl<C> fmt::Debug for GcmSiv<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcmSiv").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<C: BlockCipher> Sealed for GcmSiv<C> {}
impl<C: Derived> Aead for GcmSiv<C> {
    fn tag_len(&self) -> usize {
        16
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        Ok(Tag::of_block(&self.seal(nonce, ad, text)?, 16))
    }

    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let (text, tag) = message.split_at_mut(text_len(message.len(), 16));
        tag.copy_from_slice(&self.seal(nonce, ad, text)?);
        Ok(())
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let (Ok(nonce), Ok(tag)) = (nonce.try_into(), <&Block>::try_from(tag)) else { return release(text, false) };
        if limits(MAX_BYTES, ad.len() as u64, text.len() as u64).is_err() {
            return release(text, false);
        }
        let mut keys = Self::empty();
        self.derive(nonce, ad, text, &mut keys);
        self.ctr(&keys, tag, text);
        let genuine = Tag::of_block(&self.tag(&keys, nonce, ad, text), 16).matches(tag);
        release(text, genuine)
    }
}

/// Makes the keys of a message: of the encryptions of a number and the nonce each, the first halves. Two of them are POLYVAL's key, the others
/// that of the cipher.
struct Derivation<'a, C> {
    generator: &'a C,
    nonce: &'a [u8; NONCE],
    hash: &'a mut Clmul<POWERS>,
    /// The most blocks of a hash.
    blocks: usize,
    key: &'a mut [u8; 32],
}

impl<C: Derived> Kernel for Derivation<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        // As many lanes as POLYVAL's key and the cipher's have blocks. Conditions that are constants: each level has one of these.
        if const { C::BLOCKS < S::Reg::BLOCKS } {
            self.pairs::<S, 2>(simd)
        } else if const { C::BLOCKS < 2 * S::Reg::BLOCKS } {
            self.pairs::<S, 4>(simd)
        } else {
            self.pairs::<S, 6>(simd)
        }
    }
}

impl<C: Derived> Derivation<'_, C> {
    /// In `N` registers, the even numbers in one of each pair and the odd ones in the other: so halves meet in their lanes.
    #[inline(always)]
    fn pairs<S: Simd, const N: usize>(self, simd: S) {
        let even =
            simd.splat(&(counter_zero(self.nonce) << 32).to_le_bytes()).add32(simd.lane_numbers().shift32::<1>());
        let mut registers = [even; N];
        for (i, register) in registers.iter_mut().enumerate() {
            let number = i / 2 * 2 * S::Reg::BLOCKS + i % 2;
            *register = register.add32(simd.splat_word(number as u32));
        }
        self.generator.encrypt(simd, &mut registers);
        let mut keys = [[0; 16]; 4];
        let rows = keys.as_flattened_mut().chunks_exact_mut(S::Reg::BYTES);
        for ([even, odd], row) in registers.as_chunks::<2>().0.iter().zip(rows) {
            even.unpack_low(*odd).store(row);
        }
        self.hash.fill_kept(simd, simd.splat(&keys[0]), self.blocks);
        self.key.copy_from_slice(keys[1..3].as_flattened());
        wipe(keys.as_flattened_mut());
    }
}

/// The tag of a plaintext: POLYVAL of associated data, text and both lengths, each filled up with zero to whole blocks, xor the nonce,
/// encrypted without its last bit.
struct TagOf<'a, C> {
    keys: &'a Keys<C>,
    nonce: &'a [u8; NONCE],
    ad: &'a [u8],
    text: &'a [u8],
}

impl<C: BlockCipher> Kernel for TagOf<'_, C> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        /// Blocks between reductions: whole registers of every level.
        const GROUP: usize = Clmul::<POWERS>::GROUP / 8 * 8;
        let mut hash = Hash::new(simd, &self.keys.hash);
        for part in [self.ad, self.text] {
            for group in part.chunks(16 * GROUP) {
                hash.open(group.len().div_ceil(16));
                // GHASH reverses the bytes of each block; POLYVAL takes them as they are.
                hash.bytes::<true>(group);
                hash.close();
            }
        }
        let bits = |part: &[u8]| 8 * part.len() as u128;
        let lengths = (bits(self.ad) | bits(self.text) << 64).to_le_bytes();
        hash.open(1);
        hash.single(simd.first(&lengths).reverse_bytes(), 1);
        hash.close();
        let sum = self.keys.hash.finish(simd, &hash.sum).reverse_bytes();
        let nonce = simd.first(&counter_zero(self.nonce).to_le_bytes());
        let mut tag = [(sum ^ nonce) & simd.first(&(!0u128 >> 1).to_le_bytes())];
        self.keys.cipher.encrypt(simd, &mut tag);
        Whole::of(tag[0].first_block())
    }
}

/// Counter mode whose first 32 bits count, little endian, and wrap.
struct Ctr<'a, C> {
    cipher: &'a C,
    counter: &'a Block,
    text: &'a mut [u8],
}

impl<C: BlockCipher> Kernel for Ctr<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        let mut counter = simd.splat(self.counter).add32(simd.lane_numbers());
        let mut batches = self.text.chunks_exact_mut(W * S::Reg::BYTES);
        for batch in &mut batches {
            let keystream: [S::Reg; W] = take(simd, self.cipher, &mut counter);
            for (key, text) in keystream.iter().zip(batch.chunks_exact_mut(S::Reg::BYTES)) {
                (*key ^ simd.load(text)).store(text);
            }
        }
        for few in batches.into_remainder().chunks_mut(4 * S::Reg::BYTES) {
            let keystream: [S::Reg; 4] = take(simd, self.cipher, &mut counter);
            for (key, text) in keystream.iter().zip(few.chunks_mut(S::Reg::BYTES)) {
                (*key ^ simd.load_partial(text)).store_partial(text);
            }
        }
    }
}

/// The next `N` registers of keystream.
#[inline(always)]
fn take<S: Simd, C: BlockCipher, const N: usize>(simd: S, cipher: &C, counter: &mut S::Reg) -> [S::Reg; N] {
    let mut blocks = [*counter; N];
    for (i, block) in blocks.iter_mut().enumerate() {
        *block = block.add32(simd.splat_word((i * S::Reg::BLOCKS) as u32));
    }
    *counter = counter.add32(simd.splat_word((N * S::Reg::BLOCKS) as u32));
    cipher.encrypt(simd, &mut blocks);
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text is that long: the check alone is asked.
    #[test]
    fn the_limits_of_rfc_8452() {
        let most = 1 << 36;
        assert_eq!(limits(MAX_BYTES, most, most), Ok(()));
        assert_eq!(limits(MAX_BYTES, 0, most + 1), Err(SealError::TextTooLong));
        assert_eq!(limits(MAX_BYTES, most + 1, 0), Err(SealError::AdTooLong));
    }
}
