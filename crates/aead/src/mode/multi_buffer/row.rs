//! One block of each packet, and the registers that take them.

use crate::simd::{Block, Reg, Simd};

/// The most packets that are processed side by side.
pub const PACKETS: usize = 32;

/// Registers of a row that are encrypted together.
pub(super) const WIDTH: usize = 4;

/// One block of every packet.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Row(pub(super) [Block; PACKETS]);

impl Row {
    pub(super) const ZERO: Row = Row([[0; 16]; PACKETS]);

    /// The registers from packet `at` on.
    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S, at: usize) -> [S::Reg; WIDTH] {
        let bytes = &self.0.as_flattened()[16 * at..][..WIDTH * S::Reg::BYTES];
        let mut registers = [simd.zero(); WIDTH];
        for (i, register) in registers.iter_mut().enumerate() {
            *register = simd.load(&bytes[i * S::Reg::BYTES..]);
        }
        registers
    }

    #[inline(always)]
    pub(super) fn store<R: Reg>(&mut self, at: usize, registers: &[R; WIDTH]) {
        let bytes = &mut self.0.as_flattened_mut()[16 * at..][..WIDTH * R::BYTES];
        for (i, register) in registers.iter().enumerate() {
            register.store(&mut bytes[i * R::BYTES..]);
        }
    }
}
