//! The keys of packets.

use super::MultiBuffer;
use crate::simd::Block;

impl MultiBuffer {
    /// Sets both halves of a packet's key, for AES or AES2S.
    ///
    /// # Panics
    /// If `packet` is not below [`PACKETS`].
    #[inline]
    pub fn key(&mut self, packet: usize, halves: [&Block; 2]) {
        for (row, half) in self.rows.halves.iter_mut().zip(halves) {
            row.0[packet] = *half;
        }
        self.has_key(packet);
    }

    /// The first half (0) or second half (1) of the keys of all packets, to be filled in place.
    ///
    /// # Panics
    /// If `half` is above 1.
    pub fn halves(&mut self, half: usize) -> &mut [Block] {
        &mut self.rows.halves[half].0[..self.count]
    }

    /// Sets the round keys of a packet, 11 for AES-128 or 15 for AES-256.
    ///
    /// # Panics
    /// For another number of round keys, or if `packet` is not below [`PACKETS`].
    #[inline]
    pub fn schedule(&mut self, packet: usize, blocks: &[Block]) {
        assert!(matches!(blocks.len(), 11 | 15), "AES-128 has 11 round keys, and AES-256 has 15");
        self.has_rounds = true;
        for (row, block) in self.rows.rounds.iter_mut().zip(blocks) {
            row.0[packet] = *block;
        }
        self.has_key(packet);
    }

    /// Copies the halves of a packet's key into its round keys, as round key 0 and round key `second`: AES2S.
    ///
    /// # Panics
    /// If `second` is above 14, or `packet` not below [`PACKETS`].
    #[inline]
    pub fn substitute(&mut self, packet: usize, second: usize) {
        self.has_rounds = true;
        for (round, half) in [0, second].into_iter().zip(&self.rows.halves) {
            self.rows.rounds[round].0[packet] = half.0[packet];
        }
        self.has_key(packet);
    }

    /// Sets the GHASH key of a packet.
    ///
    /// # Panics
    /// If `packet` is not below [`PACKETS`].
    #[inline]
    pub fn hash_key(&mut self, packet: usize, h: &Block) {
        self.rows.h.0[packet] = *h;
        self.has_key(packet);
    }

    /// Keys may be set before their packet is added: wiping must reach them, too.
    #[inline]
    fn has_key(&mut self, packet: usize) {
        self.most_before = self.most_before.max(packet + 1);
    }
}
