//! The powers of a GHASH key.

use super::field::{Factor, both_halves};
use crate::simd::{Block, Outlined, Reg, Simd};

/// Zeros after the last power: partially filled registers multiply their zero lanes by them.
pub(super) const PAD: usize = 8;

/// Fills a table with the first `wanted` powers of the `h` in every lane, or with as many as fit. Each step doubles
/// their number, up to sixteen at once, so that few products depend on each other.
pub(super) struct Fill<'a, R> {
    pub(super) h: R,
    pub(super) wanted: usize,
    pub(super) powers: &'a mut [Block],
    pub(super) middles: &'a mut [Block],
}

impl<S: Simd> Outlined<S> for Fill<'_, S::Reg> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Fill { h, wanted, powers, middles } = self;
        let (lanes, end) = (S::Reg::BLOCKS, powers.len() - PAD);
        let wanted = wanted.next_multiple_of(lanes).min(end);
        const {
            assert!(
                S::Reg::BLOCKS == 1 || S::Reg::BLOCKS == 2 || S::Reg::BLOCKS == 4,
                "the first register is written out"
            )
        };
        // The first register, with the highest power first. It is not assembled in memory, because loading a register
        // whose parts were just stored stalls the processor.
        let mut last = h;
        if const { S::Reg::BLOCKS > 1 } {
            let square = Factor::new(simd, h).times(simd, h);
            last = square.replace_lane(1, h);
            if const { S::Reg::BLOCKS > 2 } {
                last = Factor::new(simd, square).times(simd, last).replace_lane(2, square).replace_lane(3, h);
            }
        }
        last.store(powers[end - lanes..].as_flattened_mut());
        both_halves(last, simd.zero()).store(middles[end - lanes..].as_flattened_mut());
        let (mut done, mut ready) = (lanes, lanes);
        while done < wanted {
            // Each of the next powers is the one `ready` places earlier times h^ready.
            let stride = Factor::new(simd, simd.splat(&powers[end - ready]));
            for _ in 0..ready / lanes {
                if done >= wanted {
                    break;
                }
                let at = end - done - lanes;
                let next = stride.times(simd, simd.load(powers[at + ready..].as_flattened()));
                next.store(powers[at..].as_flattened_mut());
                both_halves(next, last).store(middles[at..].as_flattened_mut());
                (last, done) = (next, done + lanes);
            }
            if ready < 16 {
                ready = done;
            }
        }
    }
}
