//! The fused kernel of OCB: offsets, cipher and checksum in one pass over the text.
//!
//! The end of the associated data is encrypted together with the nonce. The rest of the text at the end is processed in
//! one last batch of just enough registers, with the pad of a partial last block and, when sealing, the tag, which
//! depends on the plaintext only. So a short packet has the cipher's latency only twice.

use super::offsets::{Offsets, Walk};
use crate::{
    aead::input,
    block::{BlockCipher, Inverse, Masks},
    simd::{Block, Kernel, Outlined, Reg, Simd},
    tag::Whole,
};

/// Seals (or opens) `text` in place; returns the tag, 16 bytes.
pub(super) struct Fused<'a, C, const SEAL: bool> {
    pub(super) cipher: &'a C,
    pub(super) offsets: &'a Offsets,
    /// The formatted nonce (RFC 7253, 4.2).
    pub(super) nonce: Block,
    pub(super) ad: &'a [u8],
    pub(super) text: &'a mut [u8],
    /// The source of the text, of the same length, if it is not in `text` already.
    pub(super) source: Option<&'a [u8]>,
}

impl<C: BlockCipher + Inverse, const SEAL: bool> Kernel for Fused<'_, C, SEAL> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        if S::AES {
            return Whole::of(self.whole::<S, W>(simd));
        }
        // One function for all ciphers of a kind, as in GCM.
        let cipher = self.cipher.sliced_both_ways(simd);
        let Fused { offsets, nonce, ad, text, source, .. } = self;
        Whole::of(simd.outlined(Sliced(Fused::<_, SEAL> { cipher: &cipher, offsets, nonce, ad, text, source })))
    }
}

/// The kernel as a separate function.
struct Sliced<'a, C, const SEAL: bool>(Fused<'a, C, SEAL>);

impl<S: Simd, C: BlockCipher + Inverse, const SEAL: bool> Outlined<S> for Sliced<'_, C, SEAL> {
    type Output = Block;

    #[inline(always)]
    fn run(self, simd: S) -> Block {
        self.0.whole::<S, 8>(simd)
    }
}

impl<C: BlockCipher + Inverse, const SEAL: bool> Fused<'_, C, SEAL> {
    /// The whole text, in batches of `W` registers.
    #[inline(always)]
    fn whole<S: Simd, const W: usize>(mut self, simd: S) -> Block {
        let (hash, first) = self.start::<S, W>(simd);
        let mut walk = Walk::new(simd, self.offsets, simd.splat(&first));
        let (checksum, at) = self.bulk::<S, W>(simd, &mut walk);
        let last = Last { fused: self, simd, walk, checksum, at };
        // The conditions are constants, so that batches wider than the level's are not compiled.
        let registers = (last.fused.text.len() - at).div_ceil(S::Reg::BYTES);
        let tag = if registers <= 2 {
            last.batch::<2, 4>()
        } else if const { W <= 4 } {
            last.batch::<4, 6>()
        } else if registers <= 6 {
            last.batch::<6, 8>()
        } else if const { W <= 8 } {
            last.batch::<8, 10>()
        } else if registers <= 10 {
            last.batch::<10, 12>()
        } else {
            last.batch::<16, 18>()
        };
        (tag ^ hash.fold()).first_block()
    }
}

/// One bit after a given length: a window that starts `n` bytes before the middle has the bit after `n` bytes.
static END: [u8; 128] = {
    let mut bytes = [0; 128];
    bytes[64] = 0x80;
    bytes
};

/// The padding bit after a text in its last register, if the last block is partial.
#[inline(always)]
pub(super) fn end_bit<S: Simd>(simd: S, len: usize) -> S::Reg {
    if len.is_multiple_of(16) { simd.zero() } else { simd.load(&END[64 - len % S::Reg::BYTES..]) }
}

/// The range of `len` bytes that register `i` holds: a whole register, fewer bytes at the end, none after it.
#[inline(always)]
fn part<R: Reg>(len: usize, i: usize) -> core::ops::Range<usize> {
    (i * R::BYTES).min(len)..((i + 1) * R::BYTES).min(len)
}

/// The offset of the first block: bits `bottom` to `bottom` + 127 of the stretched encrypted nonce (RFC 7253, 4.2).
#[inline(always)]
fn first_offset(top: &Block, bottom: u32) -> Block {
    let top = u128::from_be_bytes(*top);
    let behind = (top >> 64) as u64 ^ (top >> 56) as u64;
    ((top << bottom) | u128::from((behind >> 1) >> (63 - bottom))).to_be_bytes()
}

impl<C: BlockCipher + Inverse, const SEAL: bool> Fused<'_, C, SEAL> {
    /// HASH of the associated data (RFC 7253, 4.1), to be folded, and the offset before the text.
    #[inline(always)]
    pub(super) fn start<S: Simd, const W: usize>(&self, simd: S) -> (S::Reg, Block) {
        let row = S::Reg::BYTES;
        let mut walk = Walk::new(simd, self.offsets, simd.zero());
        let mut sum = simd.zero();
        let mut batches = self.ad.chunks_exact(W * row);
        for batch in &mut batches {
            let offsets = walk.batch::<W>();
            let mut x = [simd.zero(); W];
            for (i, x) in x.iter_mut().enumerate() {
                *x = offsets.with(simd, i, simd.load(&batch[i * row..]));
            }
            self.cipher.encrypt(simd, &mut x);
            for x in x {
                sum = sum ^ x;
            }
        }
        // The rest: whole registers, and a last one, which is encrypted together with the nonce and may be full,
        // partial or empty.
        let rest = batches.remainder();
        let whole = rest.len().saturating_sub(1) / row;
        for at in (0..whole).step_by(4) {
            let count = 4.min(whole - at);
            let mut x = [simd.zero(); 4];
            for i in 0..count {
                x[i] = simd.load(&rest[(at + i) * row..]) ^ walk.row(at + i);
            }
            self.cipher.encrypt(simd, &mut x);
            for x in &x[..count] {
                sum = sum ^ *x;
            }
        }
        let bottom = u32::from(self.nonce[15] % 64);
        let mut nonce = self.nonce;
        nonce[15] &= !63;
        let mut x = [simd.zero(), simd.first(&nonce)];
        let bytes = &rest[whole * row..];
        if !bytes.is_empty() {
            // A partial block is xored with L_* instead of the next offset.
            let block = simd.load_partial(bytes);
            let last = walk.after(rest.len() / 16) ^ simd.splat(&self.offsets.star);
            let padded = block ^ end_bit(simd, bytes.len()) ^ last;
            x[0] = ((block ^ walk.row(whole)) ^ padded).keep(bytes.len() / 16 * 16) ^ padded;
        }
        self.cipher.encrypt(simd, &mut x);
        sum = sum ^ x[0].keep(bytes.len().next_multiple_of(16));
        (sum, first_offset(&x[1].first_block(), bottom))
    }

    /// All whole batches of the text; returns the checksum, to be folded, and where they end.
    #[inline(always)]
    pub(super) fn bulk<S: Simd, const W: usize>(&mut self, simd: S, walk: &mut Walk<'_, S>) -> (S::Reg, usize) {
        let row = S::Reg::BYTES;
        let mut checksum = simd.zero();
        let bulk = self.text.len() / (W * row) * (W * row);
        for (i, batch) in self.text.chunks_exact_mut(W * row).enumerate() {
            let at = i * W * row;
            let offsets = walk.batch::<W>();
            let mut x = [simd.zero(); W];
            for (i, (x, text)) in x.iter_mut().zip(batch.chunks_exact(row)).enumerate() {
                *x = simd.load(input(self.source, at + i * row, text));
                if SEAL {
                    checksum = checksum ^ *x;
                }
            }
            if SEAL {
                self.cipher.encrypt_masked(simd, &mut x, &offsets);
            } else {
                self.cipher.decrypt_masked(simd, &mut x, &offsets);
            }
            for (x, text) in x.iter().zip(batch.chunks_exact_mut(row)) {
                if !SEAL {
                    checksum = checksum ^ *x;
                }
                x.store(text);
            }
        }
        (checksum, bulk)
    }
}

/// The text from `at` on, less than a batch, and the tag.
struct Last<'a, 'b, C, S: Simd, const SEAL: bool> {
    fused: Fused<'a, C, SEAL>,
    simd: S,
    walk: Walk<'b, S>,
    checksum: S::Reg,
    at: usize,
}

impl<C: BlockCipher + Inverse, S: Simd, const SEAL: bool> Last<'_, '_, C, S, SEAL> {
    /// `T` registers of text, and `N` = `T` + 2; returns the tag before the associated data's hash, in the first lane.
    #[inline(always)]
    fn batch<const T: usize, const N: usize>(self) -> S::Reg {
        const { assert!(N == T + 2) }
        let simd = self.simd;
        let Fused { cipher, offsets, text, source, .. } = self.fused;
        let at = self.at;
        let text = &mut text[at..];
        let len = text.len();
        let mut last = self.walk.after(len / 16);
        if !len.is_multiple_of(16) {
            last = last ^ simd.splat(&offsets.star);
        }
        let mut checksum = self.checksum ^ end_bit(simd, len);
        let mut x = [simd.zero(); N];
        for i in 0..T {
            let text = &text[part::<S::Reg>(len, i)];
            if text.is_empty() {
                break;
            }
            let block = simd.load_partial(input(source, at + i * S::Reg::BYTES, text));
            x[i] = block ^ self.walk.row(i);
            if SEAL {
                checksum = checksum ^ block;
            }
        }
        let tag = last ^ simd.splat(&offsets.dollar);
        x[T] = last;
        if SEAL {
            x[T + 1] = checksum.fold() ^ tag;
            cipher.encrypt(simd, &mut x);
        } else {
            let mut pad = [last];
            // Needed for a partial block only; without cipher instructions, one block takes long.
            if !len.is_multiple_of(16) {
                cipher.encrypt(simd, &mut pad);
            }
            cipher.decrypt(simd, &mut x);
            x[T] = pad[0];
        }
        for i in 0..T {
            let text = &mut text[part::<S::Reg>(len, i)];
            if text.is_empty() {
                break;
            }
            let mut new = x[i] ^ self.walk.row(i);
            if text.len() < S::Reg::BYTES {
                // The whole blocks were encrypted; the rest is xored with the pad.
                let padded = simd.load_partial(input(source, at + i * S::Reg::BYTES, text)) ^ x[T];
                new = ((new ^ padded).keep(text.len() / 16 * 16) ^ padded).keep(text.len());
            }
            new.store_partial(text);
            if !SEAL {
                checksum = checksum ^ new;
            }
        }
        if SEAL {
            return x[T + 1];
        }
        let mut tag = [checksum.fold() ^ tag];
        cipher.encrypt(simd, &mut tag);
        tag[0]
    }
}
