//! A victim: table-based AES-128 as in OpenSSL 0.9 (Te0 to Te3 for the rounds, Te4 for the last one). Which lines of
//! the tables it reads depends on the key.

use sealwright::Block;

use super::aes::{BOXES, Rounds, times};

/// Tables that are aligned to a cache line.
#[repr(C, align(64))]
struct Tables {
    rounds: [[u32; 256]; 4],
    last: [u32; 256],
}

/// AES-128 by tables.
#[allow(non_camel_case_types, reason = "what takes variable time is named so")]
pub(crate) struct TableAes_vartime {
    tables: Box<Tables>,
    keys: [[u32; 4]; 11],
}

fn words(block: &Block) -> [u32; 4] {
    core::array::from_fn(|i| u32::from_be_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]]))
}

impl TableAes_vartime {
    pub(crate) fn new(key: &Block) -> TableAes_vartime {
        let mut tables = Box::new(Tables { rounds: [[0; 256]; 4], last: [0; 256] });
        for (x, &s) in BOXES.forward.iter().enumerate() {
            let word = u32::from_be_bytes([times(s, 2), s, s, times(s, 3)]);
            for (row, table) in tables.rounds.iter_mut().enumerate() {
                table[x] = word.rotate_right(8 * row as u32);
            }
            tables.last[x] = u32::from_be_bytes([s; 4]);
        }
        let keys = Rounds::expand(key).0;
        TableAes_vartime { tables, keys: core::array::from_fn(|round| words(&keys[round])) }
    }

    pub(crate) fn encrypt(&self, block: &mut Block) {
        let Tables { rounds, last } = &*self.tables;
        let byte = |word: u32, row: usize| (word >> (24 - 8 * row)) as usize & 0xff;
        let mut x = words(block);
        x.iter_mut().zip(self.keys[0]).for_each(|(word, key)| *word ^= key);
        for keys in &self.keys[1..10] {
            let y = x;
            for (i, (word, key)) in x.iter_mut().zip(keys).enumerate() {
                *word = (0..4).fold(*key, |sum, row| sum ^ rounds[row][byte(y[(i + row) % 4], row)]);
            }
        }
        for (i, key) in self.keys[10].iter().enumerate() {
            let word = (0..4).fold(*key, |sum, row| sum ^ last[byte(x[(i + row) % 4], row)] & 0xff00_0000 >> (8 * row));
            block[4 * i..][..4].copy_from_slice(&word.to_be_bytes());
        }
    }
}

/// The AES-128 key with this last round key: inverts the key schedule.
pub(crate) fn key_of_last_round(last: &Block) -> Block {
    let mut words: [u32; 4] = words(last);
    for round in (0..10).rev() {
        for i in (1..4).rev() {
            words[i] ^= words[i - 1];
        }
        let constant = (0..round).fold(1, |constant, _| times(constant, 2));
        let turned = words[3].rotate_left(8).to_be_bytes().map(|byte| BOXES.forward[usize::from(byte)]);
        words[0] ^= u32::from_be_bytes(turned) ^ u32::from(constant) << 24;
    }
    let mut key = [0; 16];
    key.chunks_exact_mut(4).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    key
}

/// The line (of 16 entries) of the table that the last round reads for a ciphertext byte, if its key byte is `key`.
pub(crate) fn line_of_last_round(ciphertext: u8, key: u8) -> usize {
    usize::from(BOXES.back[usize::from(ciphertext ^ key)] >> 4)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright::{Isa, raw};

    use super::*;

    #[test]
    fn tables_compute_aes_and_its_schedule_runs_backwards() {
        for seed in 0..20u8 {
            let key: Block = core::array::from_fn(|i| (i as u8).wrapping_mul(seed) ^ seed);
            let (mut ours, mut right) = ([seed; 16], [seed; 16]);
            TableAes_vartime::new(&key).encrypt(&mut ours);
            raw::aes(Isa::best(), &key).unwrap().ecb_encrypt(&mut right);
            assert_eq!(ours, right);
            let rounds = Rounds::expand(&key).0;
            assert_eq!(key_of_last_round(&rounds[10]), key);
        }
    }
}
