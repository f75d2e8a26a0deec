//! The kernel: computes or loads keys, then processes row after row with the cipher and GHASH, one packet per lane.

use super::{Frame, HashKeys, MultiBuffer, PACKETS, row::WIDTH};
use crate::{
    block::multi_key::{LaneRounds, expand},
    ghash::{LaneKeys, LanePowers},
    simd::{Block, Kernel, Reg, Simd, unknown},
};

/// [`Keys`](super::Keys), for either number of round keys.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Own,
    Kept,
    Shared(&'a [Block], usize),
}

pub(super) struct Run<'a, 'b, const KEYS: usize> {
    pub(super) lanes: &'a mut MultiBuffer,
    pub(super) frames: &'a mut [Frame<'b>; PACKETS],
    pub(super) source: Source<'a>,
    pub(super) hash: HashKeys<'a>,
    pub(super) even: Option<[Block; 2]>,
    pub(super) seal: bool,
}

/// One block of each packet, in [`WIDTH`] registers with one packet per lane.
pub(super) type Across<S> = [<S as Simd>::Reg; WIDTH];

/// Round keys of as many packets.
type Rounds<S, const KEYS: usize> = LaneRounds<<S as Simd>::Reg, WIDTH, KEYS>;

impl<const KEYS: usize> Kernel for Run<'_, '_, KEYS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(mut self, simd: S) {
        if self.short(simd) {
            return;
        }
        let mut keys = Rounds::<S, KEYS>::empty(simd);
        if let Source::Shared(shared, _) = self.source {
            for (key, block) in keys.keys_mut().iter_mut().zip(shared) {
                *key = [simd.splat(block); WIDTH];
            }
        }
        // Zeroed once, before registers are in use, because the call would spill them all.
        let mut spare = [[[0; 16]; SPARE]; MOST];
        for at in (0..self.lanes.count).step_by(WIDTH * S::Reg::BLOCKS) {
            self.schedule(simd, at, keys.keys_mut());
            keys.settle(simd);
            self.group(simd, at, &keys, &mut spare);
        }
    }
}

/// From this number of rows after the head on, computing powers of h saves time.
const POWERS_FROM: usize = 12;

impl<const KEYS: usize> Run<'_, '_, KEYS> {
    /// The round keys of the packets from `at` on.
    #[inline(always)]
    fn schedule<S: Simd>(&self, simd: S, at: usize, keys: &mut [Across<S>; KEYS]) {
        let lanes = &self.lanes;
        match self.source {
            Source::Own => {
                expand(simd, [lanes.rows.halves[0].load(simd, at), lanes.rows.halves[1].load(simd, at)], keys)
            }
            Source::Kept => {
                for (key, row) in keys.iter_mut().zip(&lanes.rows.rounds) {
                    *key = row.load(simd, at);
                }
            }
            Source::Shared(_, second) => {
                keys[0] = lanes.rows.halves[0].load(simd, at);
                keys[second] = lanes.rows.halves[1].load(simd, at);
            }
        }
    }

    /// The packets from `at` on.
    #[inline(always)]
    fn group<S: Simd>(&mut self, simd: S, at: usize, keys: &Rounds<S, KEYS>, spare: &mut Spare) {
        let mut counters = self.lanes.rows.counters.load(simd, at);
        for counter in &mut counters {
            *counter = counter.reverse_bytes();
        }
        let mut masks = counters;
        for mask in &mut masks {
            *mask = mask.add32(simd.splat_word(1)).reverse_bytes();
        }
        let h = if let HashKeys::Made = self.hash {
            let mut rows = [masks, [simd.zero(); WIDTH]];
            keys.encrypt(simd, &mut rows);
            masks = rows[0];
            rows[1]
        } else {
            let mut rows = [masks];
            keys.encrypt(simd, &mut rows);
            masks = rows[0];
            match self.hash {
                HashKeys::Shared(h) => [simd.splat(h); WIDTH],
                _ => self.lanes.rows.h.load(simd, at),
            }
        };
        let mut hashes = [LaneKeys::new(simd, h[0]); WIDTH];
        if !matches!(self.hash, HashKeys::Shared(_)) {
            for i in 1..WIDTH {
                hashes[i] = LaneKeys::new(simd, h[i]);
            }
        }
        let packets = WIDTH * S::Reg::BLOCKS;
        let mut group = Group {
            simd,
            keys,
            frames: &mut self.frames[at..at + packets],
            first: &self.lanes.first[at..at + packets],
            counters: match &self.even {
                Some(_) => counters,
                None => {
                    let mut skewed = self.lanes.rows.skew.load(simd, at);
                    for (skew, counter) in skewed.iter_mut().zip(counters) {
                        *skew = skew.add32(counter);
                    }
                    skewed
                }
            },
            hashes,
            sums: [simd.zero(); WIDTH],
            latest: self.lanes.latest,
            last: self.lanes.most,
            keep: match &self.even {
                Some([keep, _]) => [simd.splat(keep); WIDTH],
                None => self.lanes.rows.keep.load(simd, at),
            },
            seal: self.seal,
        };
        let mut row = match (self.even.is_some(), group.last) {
            (true, 1) => group.head::<2, 1>(spare),
            (true, 2) => group.head::<3, 2>(spare),
            (true, 3..) => group.head::<4, 3>(spare),
            _ => group.ad(spare),
        };
        // One row at a time, as long as some packets have not started.
        while row <= group.latest && row <= group.last {
            row += group.rows::<1>(spare, row);
        }
        if group.last + 1 - row >= POWERS_FROM {
            row = group.long(row);
        }
        while row <= group.last {
            row += match group.last + 1 - row {
                1 => group.rows::<1>(spare, row),
                2 => group.rows::<2>(spare, row),
                _ => group.rows::<3>(spare, row),
            }
        }
        let lengths = match &self.even {
            Some([_, lengths]) => [simd.splat(lengths); WIDTH],
            None => self.lanes.rows.lengths.load(simd, at),
        };
        absorb(simd, &group.hashes, &mut group.sums, &lengths);
        let mut tags = group.sums;
        for (tag, mask) in tags.iter_mut().zip(masks) {
            *tag = tag.reverse_bytes() ^ mask;
        }
        self.lanes.rows.tags.store(at, &tags);
    }
}

/// A group of packets, and the position in their rows.
struct Group<'a, 'b, S: Simd, const KEYS: usize> {
    simd: S,
    keys: &'a Rounds<S, KEYS>,
    frames: &'a mut [Frame<'b>],
    first: &'a [usize],
    /// Counter blocks 0, with their bytes reversed.
    counters: Across<S>,
    hashes: [LaneKeys<S::Reg>; WIDTH],
    sums: Across<S>,
    /// The last row in which a packet starts.
    latest: usize,
    /// The last row, and which bytes of it are text.
    last: usize,
    keep: Across<S>,
    seal: bool,
}

/// The most packets in a group, at the widest level.
const MOST: usize = 4 * WIDTH;

/// `ROWS` blocks of each packet of a group.
type Blocks<'a, const ROWS: usize> = [&'a mut [Block; ROWS]; MOST];

/// Rows of [`Spare`].
const SPARE: usize = 4;

/// The blocks of lanes whose packet has no block in a row. For a packet that starts later they stay zero, as no
/// keystream is added to them. The last lanes of the last group may have no packet: their values are never read.
type Spare = [[Block; SPARE]; MOST];

/// `ROWS` of the spare blocks of each lane.
#[inline(always)]
fn first_rows<const ROWS: usize>(spare: &mut Spare) -> Blocks<'_, ROWS> {
    const { assert!(ROWS <= SPARE) };
    spare.each_mut().map(|rows| rows.first_chunk_mut().expect("fewer rows"))
}

/// The frames' blocks from `row` on, or spare ones where a packet has none. `unknown` prevents vectors of addresses.
#[inline(always)]
fn blocks<'a, const ROWS: usize>(
    frames: &'a mut [Frame<'_>],
    first: &[usize],
    mut blocks: Blocks<'a, ROWS>,
    row: usize,
) -> Blocks<'a, ROWS> {
    for ((block, frame), first) in blocks.iter_mut().zip(frames).zip(first) {
        let at = unknown(row.wrapping_sub(*first) as u64) as usize;
        if let Some(there) = frame.get_mut(at..at.wrapping_add(ROWS))
            && let Ok(there) = there.try_into()
        {
            *block = there;
        }
    }
    blocks
}

/// Rows of text for which the frames' addresses are computed at once.
const STRETCH: usize = 16;

impl<S: Simd, const KEYS: usize> Group<'_, '_, S, KEYS> {
    /// The first `ROWS` rows, if all packets have them: associated data, and `TEXT` rows of text, one less.
    #[inline(always)]
    fn head<const ROWS: usize, const TEXT: usize>(&mut self, spare: &mut Spare) -> usize {
        let simd = self.simd;
        let mut stream = self.stream::<TEXT>(1);
        let mut blocks = first_rows::<ROWS>(spare);
        // The frames are borrowed separately from the rest of the group.
        let frames = core::mem::take(&mut self.frames);
        for (block, frame) in blocks.iter_mut().zip(frames.iter_mut()) {
            if let Some(there) = frame.first_chunk_mut() {
                *block = there;
            }
        }
        let mut ad = [simd.zero(); WIDTH];
        for (i, ad) in ad.iter_mut().enumerate() {
            *ad = simd.gather(&blocks[i * S::Reg::BLOCKS..], 0);
        }
        absorb(simd, &self.hashes, &mut self.sums, &ad);
        self.texts(&mut stream, &mut blocks, 1, ROWS > self.last);
        self.frames = frames;
        ROWS
    }

    /// Row 0, the associated data of the longest packets.
    #[inline(always)]
    fn ad(&mut self, spare: &mut Spare) -> usize {
        let blocks = blocks::<1>(self.frames, self.first, first_rows(spare), 0);
        let mut ad = [self.simd.zero(); WIDTH];
        for (i, ad) in ad.iter_mut().enumerate() {
            *ad = self.simd.gather(&blocks[i * S::Reg::BLOCKS..], 0);
        }
        absorb(self.simd, &self.hashes, &mut self.sums, &ad);
        1
    }

    /// Keystream for `ROWS` rows from `row` on.
    #[inline(always)]
    fn stream<const ROWS: usize>(&self, row: usize) -> [Across<S>; ROWS] {
        let simd = self.simd;
        let mut stream = [self.counters; ROWS];
        for (i, keys) in stream.iter_mut().enumerate() {
            let n = simd.splat_word((row + i) as u32 + 1);
            for key in keys {
                *key = key.add32(n).reverse_bytes();
            }
        }
        self.keys.encrypt(simd, &mut stream);
        stream
    }

    /// Encrypts or decrypts rows of text and hashes them; they are in the blocks from `from` on.
    #[inline(always)]
    fn texts<const ROWS: usize, const BLOCKS: usize>(
        &mut self,
        stream: &mut [Across<S>; ROWS],
        blocks: &mut Blocks<'_, BLOCKS>,
        from: usize,
        is_last: bool,
    ) {
        let simd = self.simd;
        if is_last {
            for (key, keep) in stream[ROWS - 1].iter_mut().zip(self.keep) {
                *key = *key & keep;
            }
        }
        for (i, keys) in stream.iter().enumerate() {
            let mut known = self.exchange(keys, blocks, from + i);
            if is_last && i == ROWS - 1 {
                for (known, keep) in known.iter_mut().zip(self.keep) {
                    *known = *known & keep;
                }
            }
            absorb(simd, &self.hashes, &mut self.sums, &known);
        }
    }

    /// Encrypts or decrypts block `at` of each packet; returns the ciphertext.
    #[inline(always)]
    fn exchange<const BLOCKS: usize>(
        &self,
        stream: &Across<S>,
        blocks: &mut Blocks<'_, BLOCKS>,
        at: usize,
    ) -> Across<S> {
        let mut known = [self.simd.zero(); WIDTH];
        for (i, key) in stream.iter().enumerate() {
            let frames = &mut blocks[i * S::Reg::BLOCKS..];
            let old = self.simd.gather(frames, at);
            let new = old ^ *key;
            new.scatter(frames, at);
            known[i] = if self.seal { new } else { old };
        }
        known
    }

    /// `ROWS` rows of text from `row` on.
    #[inline(always)]
    fn rows<const ROWS: usize>(&mut self, spare: &mut Spare, row: usize) -> usize {
        let mut stream = self.stream::<ROWS>(row);
        if row <= self.latest {
            clip::<S>(self.simd, self.first, row, &mut stream[0]);
        }
        let frames = core::mem::take(&mut self.frames);
        let mut blocks = blocks::<ROWS>(frames, self.first, first_rows(spare), row);
        self.texts(&mut stream, &mut blocks, 0, row + ROWS > self.last);
        self.frames = frames;
        ROWS
    }

    /// Whole rows of text from `row` on, four at a time, with one reduction of the hash each; returns the next row.
    #[inline(always)]
    fn long(&mut self, mut row: usize) -> usize {
        let mut powers = [LanePowers::new(self.simd, &self.hashes[0]); WIDTH];
        for (powers, keys) in powers.iter_mut().zip(&self.hashes).skip(1) {
            *powers = LanePowers::new(self.simd, keys);
        }
        while row + STRETCH <= self.last {
            row += self.stretch::<STRETCH>(row, &powers);
        }
        while row + 4 <= self.last {
            row += self.stretch::<4>(row, &powers);
        }
        row
    }

    /// `ROWS` of them, a multiple of four.
    #[inline(always)]
    fn stretch<const ROWS: usize>(&mut self, row: usize, powers: &[LanePowers<S::Reg>; WIDTH]) -> usize {
        let mut spare = [[[0; 16]; ROWS]; MOST];
        let frames = core::mem::take(&mut self.frames);
        let mut blocks = blocks(frames, self.first, spare.each_mut(), row);
        for at in (0..ROWS).step_by(4) {
            let stream = self.stream::<4>(row + at);
            for (i, powers) in powers.iter().enumerate() {
                let frames = &mut blocks[i * S::Reg::BLOCKS..];
                let old = self.simd.gather4(frames, at);
                let mut new = old;
                for (text, keys) in new.iter_mut().zip(&stream) {
                    *text = *text ^ keys[i];
                }
                S::Reg::scatter4(new, frames, at);
                self.sums[i] = powers.absorb(self.simd, self.sums[i], if self.seal { new } else { old });
            }
        }
        self.frames = frames;
        ROWS
    }
}

/// Clears the keystream of packets whose text starts later.
#[inline(always)]
fn clip<S: Simd>(simd: S, first: &[usize], row: usize, keys: &mut Across<S>) {
    let mut masks = [[[0; 16]; 1]; MOST];
    for (mask, first) in masks.iter_mut().zip(first) {
        mask[0] = if row > *first { [0xff; 16] } else { [0; 16] };
    }
    let masks = masks.each_mut();
    for (i, key) in keys.iter_mut().enumerate() {
        *key = *key & simd.gather(&masks[i * S::Reg::BLOCKS..], 0);
    }
}

/// Hashes one more block in every lane.
#[inline(always)]
pub(super) fn absorb<S: Simd>(simd: S, hashes: &[LaneKeys<S::Reg>; WIDTH], sums: &mut Across<S>, blocks: &Across<S>) {
    for i in 0..WIDTH {
        sums[i] = hashes[i].absorb(simd, sums[i], blocks[i]);
    }
}
