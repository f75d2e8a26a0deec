//! Short texts of one length: each round key is applied to all blocks of its packets as soon as it is computed, and is
//! never stored.

use super::{
    HashKeys,
    kernel::{Across, Run, Source, absorb},
    row::WIDTH,
};
use crate::{
    block::{aes::rounds, multi_key::next},
    ghash::LaneKeys,
    simd::{Block, Outlined, Reg, Simd},
};

/// The longest such text, in blocks: together with the block that masks the tag, the GHASH key and the round keys it
/// fills 32 registers.
const LONGEST: usize = 3;

impl<const KEYS: usize> Run<'_, '_, KEYS> {
    /// Seals or opens all packets if they are short, have one length and compute their own GHASH keys; otherwise does
    /// nothing. Returns whether it did.
    #[inline(always)]
    pub(super) fn short<S: Simd>(&mut self, simd: S) -> bool {
        let blocks = self.lanes.most;
        let own = matches!(self.source, Source::Own);
        let fit = (1..=LONGEST).contains(&blocks) && (own || matches!(self.source, Source::Shared(..)));
        let Some(even) = self.even.filter(|_| S::WIDE && fit && matches!(self.hash, HashKeys::Made)) else {
            return false;
        };
        for at in (0..self.lanes.count).step_by(WIDTH * S::Reg::BLOCKS) {
            let (run, even) = (&mut *self, &even);
            match (own, blocks) {
                (true, 1) => simd.outlined(Short::<KEYS, true, 3, 2> { run, at, even }),
                (true, 2) => simd.outlined(Short::<KEYS, true, 4, 3> { run, at, even }),
                (true, _) => simd.outlined(Short::<KEYS, true, 5, 4> { run, at, even }),
                (false, 1) => simd.outlined(Short::<KEYS, false, 3, 2> { run, at, even }),
                (false, 2) => simd.outlined(Short::<KEYS, false, 4, 3> { run, at, even }),
                (false, _) => simd.outlined(Short::<KEYS, false, 5, 4> { run, at, even }),
            }
        }
        true
    }
}

/// The packets from `at` on, under keys of their own (`OWN`) or a shared schedule. `BLOCKS` is the number of blocks in
/// a frame, associated data and text. `ROWS` is one more: the block that masks the tag, one row for each block of text,
/// the GHASH key.
struct Short<'r, 'a, 'b, const KEYS: usize, const OWN: bool, const ROWS: usize, const BLOCKS: usize> {
    run: &'r mut Run<'a, 'b, KEYS>,
    at: usize,
    /// Which bytes of the last row are text, and the lengths.
    even: &'r [Block; 2],
}

impl<S: Simd, const KEYS: usize, const OWN: bool, const ROWS: usize, const BLOCKS: usize> Outlined<S>
    for Short<'_, '_, '_, KEYS, OWN, ROWS, BLOCKS>
{
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        const { assert!(BLOCKS <= 1 + LONGEST && ROWS == BLOCKS + 1) };
        let mut rows = [[simd.zero(); WIDTH]; ROWS];
        self.encrypt(simd, &mut rows);
        let Short { run, at, even: [keep, lengths] } = self;
        let hashes = rows[ROWS - 1].map(|h| LaneKeys::new(simd, h));
        let mut none = [[[0; 16]; BLOCKS]; 4 * WIDTH];
        let mut frames = none.each_mut();
        for (blocks, frame) in frames.iter_mut().zip(&mut run.frames[at..at + WIDTH * S::Reg::BLOCKS]) {
            if let Some(there) = frame.first_chunk_mut() {
                *blocks = there;
            }
        }
        let (mut sums, mut known) = ([simd.zero(); WIDTH], [[simd.zero(); WIDTH]; BLOCKS]);
        let keep = simd.splat(keep);
        for i in 0..WIDTH {
            let frames = &mut frames[i * S::Reg::BLOCKS..];
            let old = read(simd, frames);
            let mut new = old;
            for (new, row) in new[1..].iter_mut().zip(&rows[1..]) {
                *new = *new ^ row[i];
            }
            // Bytes after the text are left unchanged and not hashed.
            new[BLOCKS - 1] = old[BLOCKS - 1] ^ rows[BLOCKS - 1][i] & keep;
            write(new, frames);
            for (known, block) in known.iter_mut().zip(if run.seal { new } else { old }) {
                known[i] = block;
            }
            known[BLOCKS - 1][i] = known[BLOCKS - 1][i] & keep;
        }
        for known in &known {
            absorb(simd, &hashes, &mut sums, known);
        }
        absorb(simd, &hashes, &mut sums, &[simd.splat(lengths); WIDTH]);
        for (sum, mask) in sums.iter_mut().zip(rows[0]) {
            *sum = sum.reverse_bytes() ^ mask;
        }
        run.lanes.rows.tags.store(at, &sums);
    }
}

impl<const KEYS: usize, const OWN: bool, const ROWS: usize, const BLOCKS: usize>
    Short<'_, '_, '_, KEYS, OWN, ROWS, BLOCKS>
{
    /// Computes the blocks that mask the tags, the keystream and the GHASH keys.
    #[inline(always)]
    fn encrypt<S: Simd>(&self, simd: S, rows: &mut [Across<S>; ROWS]) {
        let from = &self.run.lanes.rows;
        let halves = [from.halves[0].load(simd, self.at), from.halves[1].load(simd, self.at)];
        let counters = from.counters.load(simd, self.at);
        for (n, row) in rows[..BLOCKS].iter_mut().enumerate() {
            // The last word of the counters is zero.
            let n = simd.splat(&(n as u128 + 1).to_be_bytes());
            for (block, counter) in row.iter_mut().zip(counters) {
                *block = counter ^ n;
            }
        }
        for row in rows.iter_mut() {
            for (block, key) in row.iter_mut().zip(halves[0]) {
                *block = *block ^ key;
            }
        }
        match self.run.source {
            Source::Shared(keys, second) if !OWN => {
                let key = |n: usize| if n == second { halves[1] } else { [simd.splat(&keys[n]); WIDTH] };
                for n in 1..KEYS - 1 {
                    round(simd, rows, key(n));
                }
                last_round(rows, key(KEYS - 1));
            }
            _ => {
                let mut pair = halves;
                rounds!(n < KEYS - 1 => {
                    round(simd, rows, next::<S, WIDTH, KEYS>(simd, n, &mut pair));
                });
                last_round(rows, next::<S, WIDTH, KEYS>(simd, KEYS - 1, &mut pair));
            }
        }
    }
}

/// Loads all blocks of as many frames as a register has lanes; a register holds one of each. If there are four blocks,
/// each frame is loaded at once.
#[inline(always)]
fn read<S: Simd, const BLOCKS: usize>(simd: S, frames: &[&mut [Block; BLOCKS]]) -> [S::Reg; BLOCKS] {
    let mut blocks = [simd.zero(); BLOCKS];
    if BLOCKS == 4 {
        blocks.copy_from_slice(&simd.gather4(frames, 0));
        return blocks;
    }
    for (n, block) in blocks.iter_mut().enumerate() {
        *block = simd.gather(frames, n);
    }
    blocks
}

/// Stores them: the text, and the associated data unchanged.
#[inline(always)]
fn write<R: Reg, const BLOCKS: usize>(blocks: [R; BLOCKS], frames: &mut [&mut [Block; BLOCKS]]) {
    if let Some(&blocks) = blocks.first_chunk()
        && BLOCKS == 4
    {
        return R::scatter4(blocks, frames, 0);
    }
    for (n, block) in blocks.into_iter().enumerate().skip(1) {
        block.scatter(frames, n);
    }
}

/// One round of all blocks, each row with the same keys. A barrier follows each round: otherwise compilers take one
/// block through many rounds and spill the round keys for the others.
#[inline(always)]
fn round<S: Simd, const ROWS: usize>(simd: S, rows: &mut [Across<S>; ROWS], keys: Across<S>) {
    for (i, key) in keys.into_iter().enumerate() {
        let mut column = rows.each_mut().map(|row| &mut row[i]);
        for block in &mut column {
            **block = block.aesenc(key);
        }
        let (mut d, mut e) = (simd.zero(), simd.zero());
        match &mut column[..] {
            [a, b, c, d, e] => simd.order_barrier([a, b], [c, d, e]),
            [a, b, c, d] => simd.order_barrier([a, b], [c, d, &mut e]),
            [a, b, c] => simd.order_barrier([a, b], [c, &mut d, &mut e]),
            _ => {}
        }
    }
}

/// The last round of all blocks.
#[inline(always)]
fn last_round<R: Reg, const ROWS: usize>(rows: &mut [[R; WIDTH]; ROWS], keys: [R; WIDTH]) {
    for row in rows {
        for (block, key) in row.iter_mut().zip(keys) {
            *block = block.aesenclast(key);
        }
    }
}
