//! A small seeded generator for shuffled rounds and bootstrap draws: the same seed gives the same figures.

use std::hash::{BuildHasher, RandomState};

/// A seed that differs between processes.
pub fn seed_of_process() -> u64 {
    RandomState::new().hash_one(0)
}

/// Sebastiano Vigna's SplitMix64: full period, 64 bits of state, ample for resampling. Not for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that is determined by `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound` (Lemire's multiply-shift; its bias of at most bound / 2^64 does not matter here).
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no number lies below 0");
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Shuffles `items` uniformly (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_splitmix64s_published_sequence() {
        // The reference implementation's first outputs for seed 1234567
        let mut random = Random::new(1_234_567);
        let expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431];
        assert_eq!(expected.map(|_| random.bits()), expected);
    }

    #[test]
    fn covers_a_range_evenly() {
        let mut random = Random::new(3);
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[random.below(7)] += 1);
        // 10 000 each, standard deviation 93
        assert!(counts.iter().all(|count| (9500..10500).contains(count)), "{counts:?}");
    }

    #[test]
    fn unit_is_uniform_below_one() {
        let mut random = Random::new(4);
        let draws: Vec<f64> = (0..10_000).map(|_| random.unit()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean = draws.iter().sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn shuffles_into_every_order() {
        let mut random = Random::new(5);
        let mut seen = std::collections::HashMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (800..1200).contains(count)), "{seen:?}");
    }
}
