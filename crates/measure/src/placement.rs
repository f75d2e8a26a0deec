//! Buffers at random addresses: the address of a buffer affects the speed of the code, and each address is one sample
//! of that effect.

use std::ops::{Deref, DerefMut};

use crate::random::Random;

/// Bytes on a page.
const PAGE: usize = 4096;
/// Bytes of a cache line, on which every buffer begins.
const LINE: usize = 64;

/// A buffer that begins on a random cache line of a page of its own, and can be moved to another.
#[derive(Debug)]
pub struct Placed {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Placed {
    /// `length` bytes of `value` at a random place.
    pub fn new(length: usize, value: u8, random: &mut Random) -> Placed {
        let (memory, start) = somewhere(length, random);
        let mut placed = Placed { memory, start, length };
        placed.fill(value);
        placed
    }

    /// Moves the bytes to another random place.
    pub fn renew(&mut self, random: &mut Random) {
        // The old memory is freed last, so that the allocator cannot return it again
        let (mut memory, start) = somewhere(self.length, random);
        memory[start..start + self.length].copy_from_slice(self);
        (self.memory, self.start) = (memory, start);
    }
}

/// Zeroed memory with room for `length` bytes, and the offset at which they begin.
fn somewhere(length: usize, random: &mut Random) -> (Vec<u8>, usize) {
    // Two extra pages and a random size, so that the allocator does not return the same address again
    let memory = vec![0; length + 2 * PAGE + LINE * random.below(PAGE)];
    let aligned = memory.as_ptr().align_offset(PAGE).min(PAGE);
    (memory, aligned + LINE * random.below(PAGE / LINE))
}

impl Deref for Placed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }
}

impl DerefMut for Placed {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_buffer_keeps_its_bytes_and_changes_its_place() {
        let mut random = Random::new(5);
        for length in [0, 1, 40, 1500, 100_000] {
            let mut placed = Placed::new(length, 7, &mut random);
            let mut places = HashSet::new();
            for byte in 0..32 {
                placed.fill(byte);
                placed.renew(&mut random);
                assert!(placed.len() == length && placed.iter().all(|&one| one == byte), "{length}");
                assert_eq!(placed.as_ptr().addr() % LINE, 0);
                places.insert(placed.as_ptr().addr() % PAGE);
            }
            assert!(places.len() > 12, "{length}: {places:?}");
        }
    }
}
