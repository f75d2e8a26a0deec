//! The simulator's random numbers: splitmix64, so that everything follows from a seed.

/// A sequence of numbers that follows from its seed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The next number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// The next number, from 0 to `most`.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        self.draw() % most.saturating_add(1)
    }

    /// The next number, from 0 to below 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }
}
