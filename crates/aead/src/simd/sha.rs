//! SHA-256's compression function (FIPS 180-4, 6.2.2) for several messages side by side: with SHA instructions, or in
//! plain Rust.
//!
//! One message is a chain: each round depends on the one before. The instructions have a throughput of one in two
//! cycles and a latency of four, so that two messages together take hardly longer than one. Both must be in one stream
//! of instructions for that; the processor does not overlap two separate calls.

pub(crate) use super::sha_constants::{Digest, Message};

/// A computation over SHA-256, compiled for one implementation of it.
pub(crate) trait Hashing {
    /// What it computes.
    type Output;
    /// Computes with `sha`.
    fn run<H: Sha256>(self, sha: H) -> Self::Output;
}

/// An implementation of the compression function.
pub(crate) trait Sha256: Copy {
    /// The state between blocks.
    type State: Copy;
    /// The state before the first block.
    fn start(self) -> Self::State;
    /// Processes one block for each of `N` states.
    fn compress<const N: usize>(self, states: &mut [Self::State; N], messages: &[Message; N]);
    /// The state as a hash.
    fn digest(self, state: Self::State) -> Digest;
}

#[cfg(target_arch = "x86_64")]
mod instructions {
    use core::arch::x86_64::*;

    use super::{
        super::sha_constants::{K, START},
        Digest, Hashing, Message, Sha256,
    };

    /// Proof that the SHA instructions exist, and SSE4.1.
    #[derive(Clone, Copy)]
    pub(in crate::simd) struct Instructions(());

    /// The words A, B, E, F and C, D, G, H, from the high end of each register, as the instructions require.
    #[derive(Clone, Copy)]
    pub(in crate::simd) struct Halves(__m128i, __m128i);

    /// Runs `kernel` with the SHA instructions.
    ///
    /// # Safety
    /// The machine must have SHA, SSSE3 and SSE4.1.
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    pub(in crate::simd) unsafe fn run<K: Hashing>(kernel: K) -> K::Output {
        kernel.run(Instructions(()))
    }

    /// Repeats the body for the groups of four rounds from `$group` on, so that everything about a group is a constant.
    macro_rules! groups {
        ($group:ident => $body:block) => {
            groups!($group => $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
        };
        ($group:ident => $body:block; $($n:literal)*) => {
            $({
                const $group: usize = $n;
                $body
            })*
        };
    }

    impl Sha256 for Instructions {
        type State = Halves;

        #[inline(always)]
        fn start(self) -> Halves {
            let [a, b, c, d, e, f, g, h] = START.map(|word| word as i32);
            // SAFETY: the token proves the instructions.
            unsafe { Halves(_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h)) }
        }

        #[inline(always)]
        fn compress<const N: usize>(self, states: &mut [Halves; N], messages: &[Message; N]) {
            // SAFETY: the token proves the instructions; `K` has four words at each group.
            unsafe {
                let mut w = [[_mm_setzero_si128(); 4]; N];
                for (w, message) in w.iter_mut().zip(messages) {
                    for (w, pair) in w.iter_mut().zip(message.as_chunks::<2>().0) {
                        // In a little-endian register, the two words of a 64-bit number are in the wrong order.
                        *w = _mm_shuffle_epi32::<0xb1>(_mm_set_epi64x(pair[1] as i64, pair[0] as i64));
                    }
                }
                let before = *states;
                groups!(G => {
                    for n in 0..N {
                        let Halves(abef, cdgh) = &mut states[n];
                        let w = &mut w[n];
                        let sum = _mm_add_epi32(w[G % 4], _mm_loadu_si128(K.as_ptr().add(4 * G).cast()));
                        *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
                        if (3..15).contains(&G) {
                            let middle = _mm_alignr_epi8::<4>(w[G % 4], w[(G + 3) % 4]);
                            w[(G + 1) % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(w[(G + 1) % 4], middle), w[G % 4]);
                        }
                        *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32::<0x0e>(sum));
                        if (1..13).contains(&G) {
                            w[(G + 3) % 4] = _mm_sha256msg1_epu32(w[(G + 3) % 4], w[G % 4]);
                        }
                    }
                });
                for (state, before) in states.iter_mut().zip(before) {
                    state.0 = _mm_add_epi32(state.0, before.0);
                    state.1 = _mm_add_epi32(state.1, before.1);
                }
            }
        }

        #[inline(always)]
        fn digest(self, Halves(abef, cdgh): Halves) -> Digest {
            // SAFETY: the token proves the instructions.
            unsafe {
                // The high half of each register is A, B or C, D, the low half E, F or G, H, the first word higher.
                let (ab, cd) = (_mm_extract_epi64::<1>(abef), _mm_extract_epi64::<1>(cdgh));
                let (ef, gh) = (_mm_cvtsi128_si64(abef), _mm_cvtsi128_si64(cdgh));
                [ab, cd, ef, gh].map(|pair| pair as u64)
            }
        }
    }
}
#[cfg(target_arch = "x86_64")]
pub(super) use instructions::run as by_instructions;
