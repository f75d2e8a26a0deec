//! The kernels of GCM-SIV: a short message in one kernel, a longer one in several.

use super::NONCE;
use crate::{
    block::{
        BlockCipher, Expanded, OnTheFly,
        aes::{Aes128, Aes256},
    },
    ghash::{Clmul, FEW, Ghash, SOME},
    mode::gcm::{hash::Hash, hashed},
    simd::{Block, Isa, Kernel, Reg, Simd, counter_zero},
    tag::Whole,
    wipe::wipe,
};

/// A cipher whose key is derived for each message.
pub(super) trait Derived: BlockCipher + Sized {
    /// Blocks in a key.
    const BLOCKS: usize;
    fn empty() -> Self;
    /// Sets its key to the first bytes of `key`.
    fn expand<S: Simd>(&mut self, simd: S, key: &[u8; 32]);
}

impl Derived for Aes128 {
    const BLOCKS: usize = 1;
    #[inline(always)]
    fn empty() -> Self {
        Aes128::with(Expanded::empty())
    }
    #[inline(always)]
    fn expand<S: Simd>(&mut self, simd: S, [first @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _]: &[u8; 32]) {
        self.round_keys_mut().fill(simd, &OnTheFly::new(first));
    }
}

impl Derived for Aes256 {
    const BLOCKS: usize = 2;
    #[inline(always)]
    fn empty() -> Self {
        Aes256::with(Expanded::empty())
    }
    #[inline(always)]
    fn expand<S: Simd>(&mut self, simd: S, key: &[u8; 32]) {
        self.round_keys_mut().fill(simd, &OnTheFly::new(key));
    }
}

/// The keys of one message, computed in place, because moving them leaves copies.
pub(super) struct Keys<C, const SLOTS: usize> {
    pub(super) hash: Clmul<SLOTS>,
    pub(super) cipher: C,
}

/// Slots for 36 powers of h, which take half the time of the usual 68.
const MANY: usize = 44;

impl<C: Derived, const SLOTS: usize> Keys<C, SLOTS> {
    #[inline(always)]
    pub(super) fn empty() -> Self {
        Keys { hash: Clmul::zeros(), cipher: C::empty() }
    }
}

/// A message to be sealed or opened.
pub(super) struct Message<'a> {
    pub(super) nonce: &'a [u8; NONCE],
    pub(super) ad: &'a [u8],
    pub(super) text: &'a mut [u8],
}

impl Message<'_> {
    /// Whether it is processed by one kernel with `SLOTS` slots.
    #[inline(always)]
    fn fits<const SLOTS: usize>(&self) -> bool {
        hashed(self.ad, self.text) <= Clmul::<SLOTS>::GROUP
    }

    /// The number of blocks in associated data or text, whichever is larger.
    pub(super) fn longest_part(&self) -> usize {
        self.ad.len().max(self.text.len()).div_ceil(16).max(1)
    }
}

/// A short message in one kernel: its hash is reduced once, results stay in registers, and keys are cleared and wiped
/// in whole registers.
struct Short<'a, C, const SEAL: bool, const SLOTS: usize> {
    generator: &'a C,
    message: Message<'a>,
    /// The tag of a message to be opened.
    tag: &'a Block,
}

/// Seals or opens a message, or gives it back if it is not short. At `avx512` in registers of two blocks: with four,
/// powers of h would be loaded from across what was just stored.
#[inline(always)]
pub(super) fn short<'a, C: Derived, const SEAL: bool>(
    isa: Isa,
    generator: &'a C,
    message: Message<'a>,
    tag: &'a Block,
) -> Result<Whole, Message<'a>> {
    let isa = isa.without_wide();
    if message.fits::<FEW>() {
        Ok(isa.run(Short::<C, SEAL, FEW> { generator, message, tag }))
    } else if message.fits::<SOME>() {
        Ok(isa.run(Short::<C, SEAL, SOME> { generator, message, tag }))
    } else {
        Err(message)
    }
}

impl<C: Derived, const SEAL: bool, const SLOTS: usize> Kernel for Short<'_, C, SEAL, SLOTS> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        let Short { generator, message, tag } = self;
        let Message { nonce, ad, text } = message;
        let blocks = hashed(ad, text);
        let mut keys = Keys::<C, SLOTS>::empty();
        Derivation { generator, nonce, blocks, keys: &mut keys }.derive(simd);
        if !SEAL {
            Ctr { cipher: &keys.cipher, tag, text: &mut *text }.few(simd);
        }
        let mut hash = Hash::new(simd, &keys.hash);
        hash.open(blocks);
        for part in [ad, &*text] {
            hash.bytes::<true>(part);
        }
        hash.single(lengths(simd, ad, text), 1);
        hash.close();
        let genuine = tag_of(simd, &keys, nonce, &hash.sum);
        if SEAL {
            Ctr { cipher: &keys.cipher, tag: &genuine, text }.few(simd);
        }
        Whole::of(genuine)
    }
}

/// Derives the keys of a message (RFC 8452, section 4) from the encryptions of several numbers, each with the nonce:
/// their first halves are concatenated. The first two form POLYVAL's key, the others the cipher's.
pub(super) struct Derivation<'a, C, const SLOTS: usize> {
    pub(super) generator: &'a C,
    pub(super) nonce: &'a [u8; NONCE],
    /// The most blocks in a group of the hash.
    pub(super) blocks: usize,
    pub(super) keys: &'a mut Keys<C, SLOTS>,
}

impl<C: Derived, const SLOTS: usize> Kernel for Derivation<'_, C, SLOTS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        self.derive(simd);
    }
}

impl<C: Derived, const SLOTS: usize> Derivation<'_, C, SLOTS> {
    #[inline(always)]
    fn derive<S: Simd>(self, simd: S) {
        // One lane for each block of POLYVAL's key and the cipher's. The conditions are constants: each level has one
        // of these.
        if const { C::BLOCKS < S::Reg::BLOCKS } {
            self.pairs::<S, 2>(simd)
        } else if const { C::BLOCKS < 2 * S::Reg::BLOCKS } {
            self.pairs::<S, 4>(simd)
        } else {
            self.pairs::<S, 6>(simd)
        }
    }

    /// In `N` registers, with even numbers in one of each pair and odd ones in the other, so that the halves to be
    /// joined are in the same lanes.
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
        let mut blocks = [[0; 16]; 4];
        let rows = blocks.as_flattened_mut().chunks_exact_mut(S::Reg::BYTES);
        for ([even, odd], row) in registers.as_chunks::<2>().0.iter().zip(rows) {
            even.unpack_low(*odd).store(row);
        }
        let [hash, first, second, _] = &blocks;
        let mut key = [0; 32];
        key[..16].copy_from_slice(first);
        key[16..].copy_from_slice(second);
        self.keys.hash.fill_kept(simd, simd.splat(hash), self.blocks);
        self.keys.cipher.expand(simd, &key);
        wipe(&mut key);
        wipe(blocks.as_flattened_mut());
    }
}

/// The tag of a plaintext: POLYVAL of associated data and text, each padded with zeros to whole blocks, and both
/// lengths.
pub(super) struct TagOf<'a, C> {
    pub(super) keys: &'a Keys<C, MANY>,
    pub(super) nonce: &'a [u8; NONCE],
    pub(super) ad: &'a [u8],
    pub(super) text: &'a [u8],
}

impl<C: BlockCipher> Kernel for TagOf<'_, C> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        /// Blocks between reductions: whole registers at every level.
        const GROUP: usize = Clmul::<MANY>::GROUP / 8 * 8;
        let TagOf { keys, nonce, ad, text } = self;
        let mut hash = Hash::new(simd, &keys.hash);
        for part in [ad, text] {
            for group in part.chunks(16 * GROUP) {
                hash.open(group.len().div_ceil(16));
                // GHASH reverses the bytes of each block; POLYVAL does not.
                hash.bytes::<true>(group);
                hash.close();
            }
        }
        hash.open(1);
        hash.single(lengths(simd, ad, text), 1);
        hash.close();
        Whole::of(tag_of(simd, keys, nonce, &hash.sum))
    }
}

/// The last block of a hash: the lengths in bits, byte-reversed like all of its blocks.
#[inline(always)]
fn lengths<S: Simd>(simd: S, ad: &[u8], text: &[u8]) -> S::Reg {
    let bits = |part: &[u8]| 8 * part.len() as u128;
    simd.first(&(bits(ad) | bits(text) << 64).to_le_bytes()).reverse_bytes()
}

/// The tag for a hash: the hash xor the nonce, with the last bit cleared, encrypted.
#[inline(always)]
fn tag_of<S: Simd, C: BlockCipher, const SLOTS: usize>(
    simd: S,
    keys: &Keys<C, SLOTS>,
    nonce: &[u8; NONCE],
    hash: &<Clmul<SLOTS> as Ghash>::Sum<S::Reg>,
) -> Block {
    let sum = keys.hash.finish(simd, hash).reverse_bytes();
    let nonce = simd.first(&counter_zero(nonce).to_le_bytes());
    let mut tag = [(sum ^ nonce) & simd.first(&(!0u128 >> 1).to_le_bytes())];
    keys.cipher.encrypt(simd, &mut tag);
    tag[0].first_block()
}

/// Counter mode that starts from a tag, whose first 32 bits are a little-endian counter that wraps.
pub(super) struct Ctr<'a, C> {
    pub(super) cipher: &'a C,
    pub(super) tag: &'a Block,
    pub(super) text: &'a mut [u8],
}

impl<C: BlockCipher> Kernel for Ctr<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        let mut counter = self.counter(simd);
        let mut batches = self.text.chunks_exact_mut(W * S::Reg::BYTES);
        for batch in &mut batches {
            let keystream: [S::Reg; W] = take(simd, self.cipher, &mut counter);
            for (key, text) in keystream.iter().zip(batch.chunks_exact_mut(S::Reg::BYTES)) {
                (*key ^ simd.load(text)).store(text);
            }
        }
        rest(simd, self.cipher, counter, batches.into_remainder());
    }
}

impl<C: BlockCipher> Ctr<'_, C> {
    #[inline(always)]
    fn counter<S: Simd>(&self, simd: S) -> S::Reg {
        (simd.splat(self.tag) | simd.splat(&(1u128 << 127).to_le_bytes())).add32(simd.lane_numbers())
    }

    /// A text shorter than a batch.
    #[inline(always)]
    fn few<S: Simd>(self, simd: S) {
        let counter = self.counter(simd);
        rest(simd, self.cipher, counter, self.text);
    }
}

/// A text of any length: four registers at a time, or a single one if it fits into that.
#[inline(always)]
fn rest<S: Simd, C: BlockCipher>(simd: S, cipher: &C, mut counter: S::Reg, text: &mut [u8]) {
    if text.len() <= S::Reg::BYTES {
        return apply(simd, take::<S, C, 1>(simd, cipher, &mut counter), text);
    }
    for few in text.chunks_mut(4 * S::Reg::BYTES) {
        apply(simd, take::<S, C, 4>(simd, cipher, &mut counter), few);
    }
}

/// Xors at most `N` registers of text with keystream.
#[inline(always)]
fn apply<S: Simd, const N: usize>(simd: S, keystream: [S::Reg; N], text: &mut [u8]) {
    for (key, text) in keystream.iter().zip(text.chunks_mut(S::Reg::BYTES)) {
        (*key ^ simd.load_partial(text)).store_partial(text);
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
