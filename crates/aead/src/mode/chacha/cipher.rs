//! ChaCha20 (RFC 8439, section 2) in two layouts. `sets` keeps the four rows of a state in one register each, one state
//! per lane, and has the lower latency; `many` keeps one word of many states in a register, and has the higher
//! throughput. At the level `portable`, `four` does the same with vectors of four words, and `plain` computes one block.

use super::poly1305::Poly1305;
use crate::simd::{Block, Reg, Simd, Words, counter_zero, unknown};

/// The most blocks that are computed at once.
pub(super) const MOST: usize = 16;
/// Blocks that are hashed beside two rounds, where a register holds a row.
const BESIDE_SETS: usize = 2;

/// A key and the last row of a state: a counter of zero and a nonce, or a nonce alone. The row is made in a register
/// where it is used, as a load of it would wait for the parts that it was stored in.
pub(super) struct State<'a> {
    key: &'a [u8; 32],
    last: u128,
}

impl<'a> State<'a> {
    #[inline(always)]
    pub(super) fn new(key: &'a [u8; 32], nonce: &[u8; 12]) -> Self {
        State { key, last: counter_zero(nonce) << 32 }
    }

    #[inline(always)]
    fn rows(&self) -> [Block; 4] {
        let (halves, _) = self.key.as_chunks();
        [*b"expand 32-byte k", halves[0], halves[1], self.last.to_le_bytes()]
    }
}

/// Four quarter rounds side by side, each on the words of one column.
#[inline(always)]
fn quarter_rounds<R: Reg>(a: &mut R, b: &mut R, c: &mut R, d: &mut R) {
    *a = a.add32(*b);
    *d = (*d ^ *a).rotate32::<16>();
    *c = c.add32(*d);
    *b = (*b ^ *c).rotate32::<12>();
    *a = a.add32(*b);
    *d = (*d ^ *a).rotate32::<8>();
    *c = c.add32(*d);
    *b = (*b ^ *c).rotate32::<7>();
}

/// Two rounds on sixteen words: on the columns, then on the diagonals, each by four calls of a function. A macro, as a
/// function that is passed on is not inlined where it has a level's instructions.
macro_rules! double_round {
    ($now:ident, $quarter:ident) => {
        double_round!(@ $now $quarter 0 4 8 12, 1 5 9 13, 2 6 10 14, 3 7 11 15);
        double_round!(@ $now $quarter 0 5 10 15, 1 6 11 12, 2 7 8 13, 3 4 9 14);
    };
    (@ $now:ident $quarter:ident $($a:literal $b:literal $c:literal $d:literal),*) => {
        $(
            let [mut a, mut b, mut c, mut d] = [$now[$a], $now[$b], $now[$c], $now[$d]];
            $quarter(&mut a, &mut b, &mut c, &mut d);
            [$now[$a], $now[$b], $now[$c], $now[$d]] = [a, b, c, d];
        )*
    };
}

/// Twenty rounds on `SETS` sets of states, with one register for each row.
#[inline(always)]
fn rounds<R: Reg, const SETS: usize>(sets: &mut [[R; 4]; SETS], work: &mut Work<'_>) {
    // An unknown number, as compilers would write out all ten times.
    for _ in 0..unknown(10) {
        work.step(BESIDE_SETS);
        for [a, b, c, d] in sets.iter_mut() {
            quarter_rounds(a, b, c, d);
            // The diagonals become columns. Row b, which is computed last, stays, and so nothing waits for a move.
            (*a, *c, *d) = (a.words_up(), c.words_down(), d.swap_halves());
        }
        for [a, b, c, d] in sets.iter_mut() {
            quarter_rounds(a, b, c, d);
            (*a, *c, *d) = (a.words_down(), c.words_up(), d.swap_halves());
        }
    }
}

/// The rows of a state in every lane.
#[inline(always)]
fn loaded<S: Simd>(simd: S, state: &State<'_>) -> [S::Reg; 4] {
    let [a, b, c, d] = &state.rows();
    [simd.splat(a), simd.splat(b), simd.splat(c), simd.splat(d)]
}

/// As many blocks as `SETS` registers have lanes, from block `counter` on.
#[inline(always)]
pub(super) fn sets<S: Simd, const SETS: usize>(
    simd: S,
    state: &State<'_>,
    counter: u32,
    frames: &mut [&mut [Block; 4]],
    work: &mut Work<'_>,
) {
    let [a, b, c, d] = loaded(simd, state);
    let mut start = [[a, b, c, d.add32(simd.lane_numbers())]; SETS];
    for (i, [_, _, _, last]) in start.iter_mut().enumerate() {
        *last = last.add32(simd.splat_word(counter.wrapping_add((i * S::Reg::BLOCKS) as u32)));
    }
    let mut now = start;
    rounds(&mut now, work);
    for ((rows, start), frames) in now.iter_mut().zip(start).zip(frames.chunks_mut(S::Reg::BLOCKS)) {
        for (row, start) in rows.iter_mut().zip(start) {
            *row = row.add32(start);
        }
        S::Reg::scatter4(*rows, frames, 0);
    }
}

/// The words of a state.
#[inline(always)]
fn words(state: &State<'_>) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(state.rows().as_flattened().as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// A quarter round (RFC 8439, section 2.1).
#[inline(always)]
fn quarter_round(a: &mut u32, b: &mut u32, c: &mut u32, d: &mut u32) {
    *a = a.wrapping_add(*b);
    *d = (*d ^ *a).rotate_left(16);
    *c = c.wrapping_add(*d);
    *b = (*b ^ *c).rotate_left(12);
    *a = a.wrapping_add(*b);
    *d = (*d ^ *a).rotate_left(8);
    *c = c.wrapping_add(*d);
    *b = (*b ^ *c).rotate_left(7);
}

/// Twenty rounds on one state, word by word.
#[inline(always)]
fn plain_rounds(mut now: [u32; 16]) -> [u32; 16] {
    for _ in 0..10 {
        double_round!(now, quarter_round);
    }
    now
}

/// One block, word by word.
#[inline(always)]
fn plain(state: &State<'_>, counter: u32, out: &mut [Block; 4]) {
    let mut start = words(state);
    start[12] = counter;
    let now = plain_rounds(start);
    for ((bytes, word), start) in out.as_flattened_mut().as_chunks_mut().0.iter_mut().zip(now).zip(start) {
        *bytes = word.wrapping_add(start).to_le_bytes();
    }
}

/// The same on the words of four states.
#[inline(always)]
fn quarter_rounds_of_four(a: &mut Words, b: &mut Words, c: &mut Words, d: &mut Words) {
    *a = a.add(*b);
    *d = d.xor_rotate::<16, 16>(*a);
    *c = c.add(*d);
    *b = b.xor_rotate::<12, 20>(*c);
    *a = a.add(*b);
    *d = d.xor_rotate::<8, 24>(*a);
    *c = c.add(*d);
    *b = b.xor_rotate::<7, 25>(*c);
}

/// Four blocks from block `counter` on, with a word of each in a register.
#[inline(always)]
fn four(state: &State<'_>, counter: u32, out: &mut [[Block; 4]; 4], work: &mut Work<'_>) {
    let mut start = words(state).map(|word| Words::new([word; 4]));
    start[12] = Words::new([counter; 4]).add(Words::new([0, 1, 2, 3]));
    let mut now = start;
    for _ in 0..10 {
        double_round!(now, quarter_rounds_of_four);
        work.step(2);
    }
    for (now, start) in now.iter_mut().zip(start) {
        *now = now.add(start);
    }
    for (row, words) in now.as_chunks().0.iter().enumerate() {
        for (block, words) in out.iter_mut().zip(Words::transposed(*words)) {
            block[row] = words.bytes();
        }
    }
}

/// Ciphertext that is hashed between the rounds: scalar and vector instructions use different execution units.
#[derive(Default)]
pub(super) struct Work<'a>(Option<(&'a mut Poly1305, &'a [u8])>);

impl<'a> Work<'a> {
    pub(super) fn new(poly: &'a mut Poly1305, hashed: &'a [u8]) -> Self {
        Work(Some((poly, hashed)))
    }

    /// Hashes so many blocks, or none if there are fewer.
    #[inline(always)]
    fn step(&mut self, blocks: usize) {
        if let Some((poly, hashed)) = &mut self.0
            && let Some((now, behind)) = hashed.split_at_checked(16 * blocks)
        {
            poly.whole(now);
            *hashed = behind;
        }
    }

    /// Hashes all that is left.
    #[inline(always)]
    fn end<S: Simd>(self, simd: S) {
        if let Some((poly, hashed)) = self.0 {
            poly.padded(simd, hashed);
        }
    }
}

/// Computes at least `wanted` blocks from block `counter` on, or as many as can be computed at once; returns their
/// number.
#[inline(always)]
pub(super) fn blocks<S: Simd>(
    simd: S,
    state: &State<'_>,
    counter: u32,
    wanted: usize,
    out: &mut [[Block; 4]; MOST],
    mut work: Work<'_>,
) -> usize {
    let lanes = S::Reg::BLOCKS;
    let made = if !S::AES {
        let made = wanted.min(at_once::<S>());
        if made > 1 && Words::VECTORS {
            four(state, counter, &mut out.as_chunks_mut().0[0], &mut work);
        } else {
            for (i, block) in out.iter_mut().take(made).enumerate() {
                plain(state, counter.wrapping_add(i as u32), block);
            }
        }
        made
    } else if lanes > 1 && wanted <= lanes {
        sets::<S, 1>(simd, state, counter, &mut out.each_mut()[..lanes], &mut work);
        lanes
    } else if lanes > 1 && wanted <= 2 * lanes {
        sets::<S, 2>(simd, state, counter, &mut out.each_mut()[..2 * lanes], &mut work);
        2 * lanes
    } else {
        many(simd, state, counter, out, &mut work);
        at_once::<S>()
    };
    work.end(simd);
    made
}

/// The number of blocks that [`many`] or [`four`] computes at this level.
#[inline(always)]
pub(super) const fn at_once<S: Simd>() -> usize {
    if S::AES { 4 * S::Reg::BLOCKS } else { 4 }
}

/// Each word of a state in a register of its own; the counter is taken from `numbers`.
#[inline(always)]
fn spread<S: Simd>(simd: S, state: &State<'_>, numbers: S::Reg) -> [S::Reg; 16] {
    let mut registers = [numbers; 16];
    for (i, (register, word)) in registers.iter_mut().zip(words(state)).enumerate() {
        if i != 12 {
            *register = simd.splat_words(word);
        }
    }
    registers
}

/// Computes as many blocks as a register has words, from block `counter` on.
#[inline(always)]
fn many<S: Simd>(simd: S, state: &State<'_>, counter: u32, out: &mut [[Block; 4]; MOST], work: &mut Work<'_>) {
    let blocks = S::Reg::BLOCKS;
    // The block numbers, ordered so that the words of one lane are adjacent.
    let mut numbers = [0; 4 * MOST];
    for word in 0..4 * blocks {
        numbers[4 * word] = (blocks * (word % 4) + word / 4) as u8;
    }
    let numbers = simd.load(&numbers).add32(simd.splat_words(counter));
    let mut now = spread(simd, state, numbers);
    for _ in 0..10 {
        double_round!(now, quarter_rounds);
        work.step(S::Reg::BLOCKS + 1);
    }
    for (register, start) in now.iter_mut().zip(spread(simd, state, numbers)) {
        *register = register.add32(start);
    }
    // Four words of one state are in four registers; they become one row of it.
    for row in now.as_chunks_mut::<4>().0 {
        let [a, b, c, d] = *row;
        let (low, high) = (a.unpack_low_words(b), a.unpack_high_words(b));
        let (low2, high2) = (c.unpack_low_words(d), c.unpack_high_words(d));
        *row = [low.unpack_low(low2), low.unpack_high(low2), high.unpack_low(high2), high.unpack_high(high2)];
    }
    let mut frames = out.each_mut();
    for (j, frames) in frames[..4 * blocks].chunks_mut(blocks).enumerate() {
        S::Reg::scatter4([now[j], now[4 + j], now[8 + j], now[12 + j]], frames, 0);
    }
}

/// HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): derives a key from `key` and the first 16 bytes of a nonce.
#[inline(always)]
pub(super) fn derived<S: Simd>(simd: S, key: &[u8; 32], nonce: &Block) -> [u8; 32] {
    let state = State { key, last: u128::from_le_bytes(*nonce) };
    let mut derived = [0; 32];
    if !S::AES {
        let [first @ .., _, _, _, _, _, _, _, _, m, n, o, p] = plain_rounds(words(&state));
        for (bytes, word) in derived.as_chunks_mut().0.iter_mut().zip(first.into_iter().chain([m, n, o, p])) {
            *bytes = word.to_le_bytes();
        }
        return derived;
    }
    let mut set = [loaded(simd, &state)];
    rounds(&mut set, &mut Work::default());
    derived[..16].copy_from_slice(&set[0][0].first_block());
    derived[16..].copy_from_slice(&set[0][3].first_block());
    derived
}

/// Xors `stream` into `text`, which is not longer. Returns the text's last block if it is partial, padded with zeros: a
/// load of it would wait for its store.
#[inline(always)]
pub(super) fn xor<S: Simd>(simd: S, text: &mut [u8], stream: &[u8]) -> Option<Block> {
    let (streams, stream) = stream.split_at(text.len() / S::Reg::BYTES * S::Reg::BYTES);
    let (texts, text) = text.split_at_mut(streams.len());
    for (text, stream) in texts.chunks_exact_mut(S::Reg::BYTES).zip(streams.chunks_exact(S::Reg::BYTES)) {
        (simd.load(text) ^ simd.load(stream)).store(text);
    }
    let (blocks, text) = text.as_chunks_mut();
    let (streams, _) = stream.as_chunks();
    for (text, stream) in blocks.iter_mut().zip(streams) {
        *text = (simd.first(text) ^ simd.first(stream)).first_block();
    }
    let stream = streams.get(blocks.len()).filter(|_| !text.is_empty())?;
    let last = (simd.load_block_partial(text) ^ simd.first(stream)).keep(text.len());
    last.store_partial(text);
    Some(last.first_block())
}
