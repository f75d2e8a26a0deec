//! The kernel: keys made or loaded, then row after row through the cipher and GHASH, a packet a lane.

use super::{Frame, HashKeys, MultiBuffer, PACKETS, row::WIDTH};
use crate::{
    block::multi_key::{encrypt_rows, expand},
    ghash::LaneKeys,
    simd::{Block, Kernel, Reg, Simd},
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

/// A register of each packet's blocks, as many packets as [`WIDTH`] registers hold.
type Across<S> = [<S as Simd>::Reg; WIDTH];

impl<const KEYS: usize> Kernel for Run<'_, '_, KEYS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(mut self, simd: S) {
        let mut keys = [[simd.zero(); WIDTH]; KEYS];
        if let Source::Shared(shared, _) = self.source {
            for (key, block) in keys.iter_mut().zip(shared) {
                *key = [simd.splat(block); WIDTH];
            }
        }
        let mut at = 0;
        while at < self.lanes.count {
            self.schedule(simd, at, &mut keys);
            self.group(simd, at, &keys);
            at += WIDTH * S::Reg::BLOCKS;
        }
    }
}

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
    fn group<S: Simd>(&mut self, simd: S, at: usize, keys: &[Across<S>; KEYS]) {
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
            encrypt_rows(simd, keys, &mut rows);
            masks = rows[0];
            rows[1]
        } else {
            let mut rows = [masks];
            encrypt_rows(simd, keys, &mut rows);
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
            (true, 1) => group.head::<2, 1>(),
            (true, 2) => group.head::<3, 2>(),
            (true, 3..) => group.head::<4, 3>(),
            _ => group.ad(),
        };
        while row <= group.last {
            row += match group.last + 1 - row {
                // One after the other, as long as some packets have not started.
                _ if row <= group.latest => group.rows::<1>(row),
                1 => group.rows::<1>(row),
                2 => group.rows::<2>(row),
                3 => group.rows::<3>(row),
                _ => group.rows::<4>(row),
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

/// Packets on their way through their rows.
struct Group<'a, 'b, S: Simd, const KEYS: usize> {
    simd: S,
    keys: &'a [Across<S>; KEYS],
    frames: &'a mut [Frame<'b>],
    first: &'a [usize],
    /// Counter blocks 0, bytes reversed.
    counters: Across<S>,
    hashes: [LaneKeys<S::Reg>; WIDTH],
    sums: Across<S>,
    /// The last row that is some packet's first.
    latest: usize,
    /// The last row, and what of it is text.
    last: usize,
    keep: Across<S>,
    seal: bool,
}

/// Packets of the widest group.
const MOST: usize = 4 * WIDTH;

/// `ROWS` blocks of each packet of a group.
type Blocks<'a, const ROWS: usize> = [&'a mut [Block; ROWS]; MOST];

/// The frames' blocks from `row` on; where a packet has none, of the spare ones.
#[inline(always)]
fn blocks<'a, const ROWS: usize>(
    frames: &'a mut [Frame<'_>],
    first: &[usize],
    spare: &'a mut [[Block; ROWS]; MOST],
    row: usize,
) -> Blocks<'a, ROWS> {
    let mut blocks = spare.each_mut();
    for ((block, frame), first) in blocks.iter_mut().zip(frames).zip(first) {
        let at = row.wrapping_sub(*first);
        if let Some(there) = frame.get_mut(at..at.wrapping_add(ROWS))
            && let Ok(there) = there.try_into()
        {
            *block = there;
        }
    }
    blocks
}

impl<S: Simd, const KEYS: usize> Group<'_, '_, S, KEYS> {
    /// The first `ROWS` rows where all packets have them: associated data, and `TEXT` of text, one less.
    #[inline(always)]
    fn head<const ROWS: usize, const TEXT: usize>(&mut self) -> usize {
        let simd = self.simd;
        let mut stream = self.stream::<TEXT>(1);
        let mut spare = [[[0; 16]; ROWS]; MOST];
        let mut blocks = spare.each_mut();
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
    fn ad(&mut self) -> usize {
        let mut spare = [[[0; 16]; 1]; MOST];
        let blocks = blocks(self.frames, self.first, &mut spare, 0);
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
        encrypt_rows(simd, self.keys, &mut stream);
        stream
    }

    /// Encrypts or decrypts text rows and hashes them; they stand in the blocks from `from` on.
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
            let mut known = [simd.zero(); WIDTH];
            for (j, key) in keys.iter().enumerate() {
                let frames = &mut blocks[j * S::Reg::BLOCKS..];
                let old = simd.gather(frames, from + i);
                let new = old ^ *key;
                new.scatter(frames, from + i);
                known[j] = if self.seal { new } else { old };
            }
            if is_last && i == ROWS - 1 {
                for (known, keep) in known.iter_mut().zip(self.keep) {
                    *known = *known & keep;
                }
            }
            absorb(simd, &self.hashes, &mut self.sums, &known);
        }
    }

    /// `ROWS` rows of text from `row` on.
    #[inline(always)]
    fn rows<const ROWS: usize>(&mut self, row: usize) -> usize {
        let mut stream = self.stream::<ROWS>(row);
        if row <= self.latest {
            clip::<S>(self.simd, self.first, row, &mut stream[0]);
        }
        let mut spare = [[[0; 16]; ROWS]; MOST];
        let frames = core::mem::take(&mut self.frames);
        let mut blocks = blocks(frames, self.first, &mut spare, row);
        self.texts(&mut stream, &mut blocks, 0, row + ROWS > self.last);
        self.frames = frames;
        ROWS
    }
}

/// Keystream, but nothing for packets whose text starts later.
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

/// One block more in every lane.
#[inline(always)]
fn absorb<S: Simd>(simd: S, hashes: &[LaneKeys<S::Reg>; WIDTH], sums: &mut Across<S>, blocks: &Across<S>) {
    for i in 0..WIDTH {
        sums[i] = hashes[i].absorb(simd, sums[i], blocks[i]);
    }
}
