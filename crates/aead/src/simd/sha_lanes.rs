//! SHA-256 of sixteen messages side by side: an AVX-512 register holds the same word of each message. The messages are
//! one block long, and consecutive: each is the one before plus one, as Hash_DRBG needs them.
//!
//! Rounds are written four at a time, in a loop. Sixteen at a time were 3 % faster, but took four times the code.

#[cfg(target_arch = "x86_64")]
use in_registers as work;
#[cfg(not(target_arch = "x86_64"))]
use nowhere::{self as work, Proof};

#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512 as Proof;
use super::sha_constants::Message;

/// The number of messages side by side.
pub(crate) const LANES: usize = 16;
/// One word of each message, little endian.
type Row = [u8; 4 * LANES];

/// Proof that the level is `avx512`.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no level there has them"))]
pub(crate) struct Lanes(pub(super) Proof);

/// The last sixteen words of each of the sixteen message schedules, in groups of four.
#[repr(align(64))]
pub(crate) struct Schedules {
    words: [[Row; 4]; 4],
    lanes: Lanes,
}
wipe_on_drop!(Schedules { words: [[[0; 4 * LANES]; 4]; 4] });

impl Lanes {
    /// Working memory for sixteen messages.
    #[inline]
    pub(crate) fn schedules(self) -> Schedules {
        Schedules { words: [[[0; 4 * LANES]; 4]; 4], lanes: self }
    }
}

impl Schedules {
    /// Hashes sixteen consecutive numbers of 440 bits, each padded to a message; `first` is the message of the first
    /// number. `carried` is `first` with a carry into all but the last 24 bits of the number.
    #[inline]
    pub(crate) fn hash(&mut self, first: &Message, carried: &Message, hashes: &mut [[u8; 32]; LANES]) {
        work::hash(self.lanes.0, &mut self.words, [first, carried], hashes);
    }
}

#[cfg(target_arch = "x86_64")]
mod in_registers {
    use super::{
        super::{
            Logic, Outlined, Reg, Simd,
            avx512::{Avx512, X4, transpose_lanes},
            sha_constants::{K, START},
        },
        LANES, Message, Row,
    };

    /// The index of the word with the number's last bits.
    const LAST: usize = 13;

    /// The difference between each number's last word and the first's.
    const COUNTS: Row = {
        let mut counts = [0; 4 * LANES];
        let mut lane = 0;
        while lane < LANES {
            counts[4 * lane + 1] = lane as u8;
            lane += 1;
        }
        counts
    };

    pub(super) fn hash(
        simd: Avx512,
        words: &mut [[Row; 4]; 4],
        messages: [&Message; 2],
        hashes: &mut [[u8; 32]; LANES],
    ) {
        simd.outlined(Sixteen { words, messages, hashes });
    }

    #[inline(always)]
    fn load<const N: usize>(simd: Avx512, rows: &[Row; N]) -> [X4; N] {
        let mut registers = [simd.zero(); N];
        for (register, row) in registers.iter_mut().zip(rows) {
            *register = simd.load(row);
        }
        registers
    }

    #[inline(always)]
    fn xor(x: X4, y: X4, z: X4) -> X4 {
        x.ternary::<0x96>(y, z)
    }

    /// Four rounds with the words of one group of the window, which are then replaced by those of sixteen rounds later
    /// if `SCHEDULE`.
    #[inline(always)]
    fn four_rounds<const SCHEDULE: bool>(simd: Avx512, state: &mut [X4; 8], words: &mut [[Row; 4]; 4], step: usize) {
        let constants = &K.as_chunks::<4>().0[step];
        let mut now = load(simd, &words[step % 4]);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
        macro_rules! round {
            ($i:literal: $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
                let s1 = xor($e.rotate32::<{ 32 - 6 }>(), $e.rotate32::<{ 32 - 11 }>(), $e.rotate32::<{ 32 - 25 }>());
                let choice = $e.ternary::<0xca>($f, $g);
                let word = $h.add32(now[$i].add32(simd.splat_words(constants[$i])));
                let first = word.add32(choice).add32(s1);
                let s0 = xor($a.rotate32::<{ 32 - 2 }>(), $a.rotate32::<{ 32 - 13 }>(), $a.rotate32::<{ 32 - 22 }>());
                let majority = $a.ternary::<0xe8>($b, $c);
                $d = $d.add32(first);
                $h = s0.add32(majority).add32(first);
            };
        }
        // Each round renames the eight variables instead of moving them.
        round!(0: a b c d e f g h);
        round!(1: h a b c d e f g);
        round!(2: g h a b c d e f);
        round!(3: f g h a b c d e);
        *state = [e, f, g, h, a, b, c, d];
        if SCHEDULE {
            let fifth = simd.load(&words[(step + 1) % 4][0]);
            let [_, tenth, eleventh, twelfth] = load(simd, &words[(step + 2) % 4]);
            let [thirteenth, _, fifteenth, sixteenth] = load(simd, &words[(step + 3) % 4]);
            macro_rules! next {
                ($i:literal: $second:expr, $tenth:expr, $fifteenth:expr) => {
                    let (x, y) = ($second, $fifteenth);
                    let s0 = xor(x.rotate32::<{ 32 - 7 }>(), x.rotate32::<{ 32 - 18 }>(), x.shift_down32::<3>());
                    let s1 = xor(y.rotate32::<{ 32 - 17 }>(), y.rotate32::<{ 32 - 19 }>(), y.shift_down32::<10>());
                    now[$i] = now[$i].add32($tenth).add32(s0.add32(s1));
                };
            }
            next!(0: now[1], tenth, fifteenth);
            next!(1: now[2], eleventh, sixteenth);
            next!(2: now[3], twelfth, now[0]);
            next!(3: fifth, thirteenth, now[1]);
            for (row, register) in words[step % 4].iter_mut().zip(now) {
                register.store(row);
            }
        }
    }

    #[inline(always)]
    fn word(message: &Message, i: usize) -> u32 {
        (message[i / 2] >> (32 * (1 - i % 2))) as u32
    }

    /// Fills in the words of the messages, from the first number on: later ones differ from it in the last word, and in
    /// all words before it if that one overflows.
    #[inline(always)]
    fn count(simd: Avx512, words: &mut [[Row; 4]; 4], [first, carried]: [&Message; 2]) {
        // The number ends with the third byte of this word; the fourth is padding.
        let last = simd.splat_words(word(first, LAST));
        let counted = last.add32(simd.load(&COUNTS));
        // All ones where the high bit did not change from one to zero, which means no carry.
        let kept = (last & !counted).shift_down32::<31>().add32(simd.splat_words(!0));
        for (i, row) in words.as_flattened_mut().iter_mut().enumerate() {
            let register = match i {
                ..LAST => kept.ternary::<0xca>(simd.splat_words(word(first, i)), simd.splat_words(word(carried, i))),
                LAST => counted,
                _ => simd.splat_words(word(first, i)),
            };
            register.store(row);
        }
    }

    struct Sixteen<'a> {
        words: &'a mut [[Row; 4]; 4],
        messages: [&'a Message; 2],
        hashes: &'a mut [[u8; 32]; LANES],
    }

    impl Outlined<Avx512> for Sixteen<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self, simd: Avx512) {
            let Sixteen { words, messages, hashes } = self;
            count(simd, words, messages);
            let mut state = [simd.zero(); 8];
            for (register, word) in state.iter_mut().zip(START) {
                *register = simd.splat_words(word);
            }
            let start = state;
            // The words that the last four steps would compute are not needed.
            for step in 0..12 {
                four_rounds::<true>(simd, &mut state, words, step);
            }
            for step in 12..16 {
                four_rounds::<false>(simd, &mut state, words, step);
            }
            let mut rows = [simd.zero(); LANES];
            for i in 0..8 {
                // Four words form one big-endian number.
                rows[i ^ 3] = state[i].add32(start[i]);
            }
            for (hash, register) in hashes.iter_mut().zip(transpose(rows)) {
                register.reverse_bytes().store_partial(hash);
            }
        }
    }

    /// Word `i` of row `j` becomes word `j` of row `i`.
    #[inline(always)]
    fn transpose(mut rows: [X4; LANES]) -> [X4; LANES] {
        for four in rows.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = *four;
            let (low, high) = (a.unpack_low_words(b), a.unpack_high_words(b));
            let (low2, high2) = (c.unpack_low_words(d), c.unpack_high_words(d));
            *four = [low.unpack_low(low2), low.unpack_high(low2), high.unpack_low(high2), high.unpack_high(high2)];
        }
        let mut words = rows;
        for i in 0..4 {
            let lanes = transpose_lanes([rows[i], rows[4 + i], rows[8 + i], rows[12 + i]]);
            for (j, lane) in lanes.into_iter().enumerate() {
                words[4 * j + i] = lane;
            }
        }
        words
    }
}

/// This architecture has no level with registers of sixteen words.
#[cfg(not(target_arch = "x86_64"))]
mod nowhere {
    use super::{LANES, Message, Row};

    /// A type without values.
    #[derive(Clone, Copy)]
    pub(in crate::simd) enum Proof {}

    pub(super) fn hash(proof: Proof, _: &mut [[Row; 4]; 4], _: [&Message; 2], _: &mut [[u8; 32]; LANES]) {
        match proof {}
    }
}
