//! CBC encryption of many texts side by side. A single text leaves most of the processor idle, because each block
//! depends on the one before.

use crate::{
    block::BlockCipher,
    simd::{Block, Isa, Kernel, Reg, Simd},
};

/// A text for [`encrypt`], and the block that its first block is chained to.
///
/// ```
/// use sealwright::{Isa, block::aes::Aes128, mode::{cbc, cbc_many::{self, Chain}}};
///
/// let isa = Isa::best();
/// let cipher = Aes128::new(isa, &[7; 16]);
/// let (mut one, mut other, mut alone) = ([5; 64], [6; 160], [5; 64]);
/// cbc_many::encrypt(isa, &cipher, &mut [Chain { iv: [1; 16], text: &mut one }, Chain { iv: [2; 16], text: &mut other }]);
/// cbc::encrypt(isa, &cipher, &[1; 16], &mut alone);
/// assert_eq!(one, alone);
/// ```
pub struct Chain<'a> {
    /// The IV, or the preceding block of ciphertext.
    pub iv: Block,
    /// The text, in whole blocks. [`encrypt`] takes the reference and leaves an empty slice.
    pub text: &'a mut [u8],
}

impl core::fmt::Debug for Chain<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chain").field("len", &self.text.len()).finish_non_exhaustive()
    }
}

/// Encrypts whole blocks of every text in place, up to 16 texts side by side. Texts may differ in length.
///
/// ```
/// use sealwright::{Isa, block::aes::BothWays, mode::{cbc, cbc_many::{self, Chain}}};
///
/// let isa = Isa::best();
/// let cipher = BothWays::<15>::new(isa, &[7; 32]);
/// let mut records = vec![[5; 96]; 40];
/// let mut chains: Vec<_> = records.iter_mut().zip(0..).map(|(text, i)| Chain { iv: [i; 16], text }).collect();
/// cbc_many::encrypt(isa, &cipher, &mut chains);
/// cbc::decrypt(isa, &cipher, &[39; 16], &mut records[39]);
/// assert_eq!(records[39], [5; 96]);
/// ```
///
/// # Panics
/// If a text is not whole blocks of 16 bytes; nothing is then encrypted.
pub fn encrypt<C: BlockCipher>(isa: Isa, cipher: &C, chains: &mut [Chain<'_>]) {
    assert!(chains.iter().all(|chain| chain.text.len().is_multiple_of(16)), "CBC takes whole blocks");
    let crowded = crowded(chains);
    // Sixteen AES blocks wait less for each other in eight registers than in four of twice the size.
    let isa = if C::AES_ROUNDS > 0 && !crowded { isa.without_wide() } else { isa };
    isa.run(Encrypt { cipher, chains, crowded });
}

/// The most texts side by side.
const MOST: usize = 16;
/// Rows of blocks that are processed without a check of the lengths.
const ROWS: usize = 16;
/// The same for the rest: as many as there are blocks in a cache line.
const FEW: usize = 4;

/// Whether most texts begin in the same cache set as the one in the middle, in a cache of 64 sets, where sixteen texts
/// evict each other: they are then read and written in whole cache lines.
fn crowded(chains: &[Chain<'_>]) -> bool {
    let set = |chain: &Chain<'_>| chain.text.as_ptr().addr() / 64 % 64;
    let Some(first) = chains.get(chains.len() / 2).map(set) else { return false };
    let same = chains.iter().filter(|chain| set(chain) == first).count();
    same > MOST / 2 && same > chains.len() / 2
}

struct Encrypt<'a, 'b, C> {
    cipher: &'a C,
    chains: &'a mut [Chain<'b>],
    crowded: bool,
}

impl<C: BlockCipher> Kernel for Encrypt<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        // Enough registers to hide a round's latency.
        if const { S::Reg::BLOCKS == 4 } { self.side_by_side::<S, 4>(simd) } else { self.side_by_side::<S, 8>(simd) }
    }
}

impl<'b, C: BlockCipher> Encrypt<'_, 'b, C> {
    #[inline(always)]
    fn side_by_side<S: Simd, const R: usize>(self, simd: S) {
        let lanes = const { R * S::Reg::BLOCKS };
        // With AES, wide registers are used only for crowded texts.
        let whole = S::WIDE && (self.crowded || C::AES_ROUNDS > 0);
        let mut waiting = self.chains.iter_mut().filter(|chain| !chain.text.is_empty());
        let mut texts: [&'b mut [u8]; MOST] = Default::default();
        let mut last = [[0; 16]; MOST];
        // Input of lanes that have no text.
        let mut nothing = [[[0; 16]; ROWS]; MOST];
        loop {
            for (text, last) in texts.iter_mut().zip(&mut last).take(lanes).filter(|(text, _)| text.is_empty()) {
                if let Some(chain) = waiting.next() {
                    (*text, *last) = (core::mem::take(&mut chain.text), chain.iv);
                }
            }
            let lengths = texts.iter().map(|text| text.len() / 16).filter(|&blocks| blocks > 0);
            let Some(mut blocks) = lengths.min() else { return };
            while blocks >= ROWS {
                if whole {
                    rows::<C, S, R, ROWS, true>(simd, self.cipher, &mut texts, &mut last, &mut nothing);
                } else {
                    rows::<C, S, R, ROWS, false>(simd, self.cipher, &mut texts, &mut last, &mut nothing);
                }
                blocks -= ROWS;
            }
            // With registers of one block, this takes longer than row by row.
            if const { S::Reg::BLOCKS > 1 } && blocks >= FEW {
                let mut nothing = [[[0; 16]; FEW]; MOST];
                while blocks >= FEW {
                    if whole {
                        rows::<C, S, R, FEW, true>(simd, self.cipher, &mut texts, &mut last, &mut nothing);
                    } else {
                        rows::<C, S, R, FEW, false>(simd, self.cipher, &mut texts, &mut last, &mut nothing);
                    }
                    blocks -= FEW;
                }
            }
            let mut nothing = nothing.each_mut().map(|rows| [rows[0]]);
            for _ in 0..blocks {
                rows::<C, S, R, 1, false>(simd, self.cipher, &mut texts, &mut last, &mut nothing);
            }
        }
    }
}

/// Encrypts the next `N` blocks of every text. If `WHOLE`, whole cache lines, four blocks, are read and written at
/// once.
#[inline(always)]
fn rows<C: BlockCipher, S: Simd, const R: usize, const N: usize, const WHOLE: bool>(
    simd: S,
    cipher: &C,
    texts: &mut [&mut [u8]; MOST],
    last: &mut [Block; MOST],
    nothing: &mut [[Block; N]; MOST],
) {
    let mut frames = nothing.each_mut();
    for (frame, text) in frames.iter_mut().zip(texts) {
        if let Some((now, later)) = core::mem::take(text).split_at_mut_checked(16 * N)
            && let Some(now) = now.as_chunks_mut().0.first_chunk_mut()
        {
            (*frame, *text) = (now, later);
        }
    }
    let lanes = S::Reg::BLOCKS;
    let mut chain = [simd.zero(); R];
    for (i, x) in chain.iter_mut().enumerate() {
        *x = simd.load(last[i * lanes..].as_flattened());
    }
    if const { WHOLE } {
        for row in (0..N).step_by(4) {
            let mut blocks = [[simd.zero(); 4]; R];
            for (i, blocks) in blocks.iter_mut().enumerate() {
                *blocks = simd.gather4(&frames[i * lanes..], row);
            }
            for at in 0..4 {
                for (x, blocks) in chain.iter_mut().zip(&blocks) {
                    *x = *x ^ blocks[at];
                }
                cipher.encrypt(simd, &mut chain);
                for (x, blocks) in chain.iter().zip(&mut blocks) {
                    blocks[at] = *x;
                }
            }
            for (i, blocks) in blocks.into_iter().enumerate() {
                S::Reg::scatter4(blocks, &mut frames[i * lanes..], row);
            }
        }
    } else {
        for row in 0..N {
            for (i, x) in chain.iter_mut().enumerate() {
                *x = *x ^ simd.gather(&frames[i * lanes..], row);
            }
            cipher.encrypt(simd, &mut chain);
            for (i, x) in chain.iter().enumerate() {
                x.scatter(&mut frames[i * lanes..], row);
            }
        }
    }
    for (i, x) in chain.iter().enumerate() {
        x.store(last[i * lanes..].as_flattened_mut());
    }
}
