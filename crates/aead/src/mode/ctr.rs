//! Counter mode (SP 800-38A, 6.5), and the counters that GCM shares with it.
//!
//! ```
//! use sealwright::{Isa, block::aes::Aes256, mode::ctr};
//!
//! let isa = Isa::best();
//! let cipher = Aes256::new(isa, &[7; 32]);
//! let mut text = *b"attack at dawn";
//! ctr::apply(isa, &cipher, &[0; 16], &mut text); // encrypts
//! ctr::apply(isa, &cipher, &[0; 16], &mut text); // decrypts
//! assert_eq!(&text, b"attack at dawn");
//! ```

use crate::{
    block::BlockCipher,
    simd::{Block, Isa, Kernel, Reg, Simd, unknown},
};

/// The counter blocks of GCM: the last 32 bits are a big-endian counter, which wraps (inc32 of SP 800-38D, 6.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter32<R> {
    /// The next counter blocks, with their bytes reversed, one per lane.
    next: R,
    /// The lowest byte of the first of them.
    low: u8,
    /// All ones if no branch may depend on that byte: it is secret if the first counter block was computed by a hash.
    hidden: u8,
}

/// `n` in the last byte of a block.
const fn last_byte(n: usize) -> Block {
    let mut block = [0; 16];
    block[15] = n as u8;
    block
}

impl<R: Reg> Counter32<R> {
    /// Counts from `first` + `skip`; `public` unless `first` is secret.
    #[inline(always)]
    pub(crate) fn new<S: Simd<Reg = R>>(simd: S, first: &Block, skip: u8, public: bool) -> Self {
        let lanes = simd.lane_numbers().add32(simd.splat_word(u32::from(skip)));
        let next = simd.splat(first).reverse_bytes().add32(lanes);
        // A number that the compiler cannot know. Otherwise it would test the secret byte first, and this condition
        // afterwards.
        let hidden = if public { 0 } else { unknown(0xff) as u8 };
        Counter32 { next, low: first[15].wrapping_add(skip), hidden }
    }

    /// The next counter blocks.
    #[inline(always)]
    pub(crate) fn take<S: Simd<Reg = R>, const W: usize>(&mut self, simd: S) -> [R; W] {
        let mut blocks = [self.next.reverse_bytes(); W];
        if usize::from(self.low | self.hidden) + W * R::BLOCKS <= 256 {
            // Without a carry out of the last byte, which is the case in three of four batches, no register needs a
            // shuffle.
            for (i, block) in blocks.iter_mut().enumerate().skip(1) {
                *block = block.add32(simd.splat(&last_byte(i * R::BLOCKS)));
            }
        } else {
            for (i, block) in blocks.iter_mut().enumerate().skip(1) {
                *block = self.next.add32(simd.splat_word((i * R::BLOCKS) as u32)).reverse_bytes();
            }
        }
        self.next = self.next.add32(simd.splat_word((W * R::BLOCKS) as u32));
        self.low = self.low.wrapping_add((W * R::BLOCKS) as u8);
        blocks
    }
}

/// Adds `blocks` to a counter block, a big-endian number of 128 bits.
///
/// ```
/// use sealwright::mode::ctr::advance;
///
/// let mut counter = [0xff; 16];
/// advance(&mut counter, 2);
/// assert_eq!(counter, *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01");
/// ```
pub fn advance(counter: &mut Block, blocks: u64) {
    *counter = u128::from_be_bytes(*counter).wrapping_add(u128::from(blocks)).to_be_bytes();
}

/// Encrypts or decrypts `text` in place, counting from `counter` in all 128 bits, big endian.
///
/// ```
/// use sealwright::{Isa, block::aes::Aes128, mode::ctr};
///
/// // Any part of a long text by itself: block 1000 of it.
/// let isa = Isa::best();
/// let cipher = Aes128::new(isa, &[7; 16]);
/// let mut text = vec![0; 16 * 2000];
/// ctr::apply(isa, &cipher, &[1; 16], &mut text);
/// let mut counter = [1; 16];
/// ctr::advance(&mut counter, 1000);
/// ctr::apply(isa, &cipher, &counter, &mut text[16_000..16_016]);
/// assert_eq!(text[16_000..16_016], [0; 16]);
/// ```
pub fn apply<C: BlockCipher>(isa: Isa, cipher: &C, counter: &Block, text: &mut [u8]) {
    // Kernels count in 32 bits only: stop where these would wrap.
    let mut counter = *counter;
    let mut text = text;
    while !text.is_empty() {
        let low = u128::from_be_bytes(counter) as u32;
        let before_carry = (1u64 << 32) - u64::from(low);
        let bytes = usize::try_from(before_carry.saturating_mul(16)).unwrap_or(usize::MAX).min(text.len());
        let (now, later) = text.split_at_mut(bytes);
        isa.run(Apply { cipher, counter: &counter, text: now });
        advance(&mut counter, before_carry);
        text = later;
    }
}

struct Apply<'a, C> {
    cipher: &'a C,
    counter: &'a Block,
    text: &'a mut [u8],
}

impl<C: BlockCipher> Kernel for Apply<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        let mut counter = Counter32::new(simd, self.counter, 0, true);
        let mut batches = self.text.chunks_exact_mut(W * S::Reg::BYTES);
        for batch in &mut batches {
            let mut keystream: [S::Reg; W] = counter.take(simd);
            self.cipher.encrypt(simd, &mut keystream);
            for (key, text) in keystream.iter().zip(batch.chunks_exact_mut(S::Reg::BYTES)) {
                (*key ^ simd.load(text)).store(text);
            }
        }
        let rest = batches.into_remainder();
        // Four registers keep the AES units busy. Without AES instructions, a few registers take as long as all of
        // them.
        if rest.len() <= 4 * S::Reg::BYTES || (S::AES && C::AES_ROUNDS > 0) {
            for few in rest.chunks_mut(4 * S::Reg::BYTES) {
                last::<S, C, 4>(simd, self.cipher, &mut counter, few);
            }
        } else {
            last::<S, C, W>(simd, self.cipher, &mut counter, rest);
        }
    }
}

/// At most `N` registers of text.
#[inline(always)]
fn last<S: Simd, C: BlockCipher, const N: usize>(
    simd: S,
    cipher: &C,
    counter: &mut Counter32<S::Reg>,
    text: &mut [u8],
) {
    let mut keystream: [S::Reg; N] = counter.take(simd);
    cipher.encrypt(simd, &mut keystream);
    for (key, text) in keystream.iter().zip(text.chunks_mut(S::Reg::BYTES)) {
        (*key ^ simd.load_partial(text)).store_partial(text);
    }
}
