//! One packet under the keys of one client.

#[cfg(feature = "research")]
use sealwright::mode::multi_key::same_tag;
use sealwright::{Block, Isa, mode::multi_key::Schedule};

use crate::{frame::HEADER, ghash::Hash};

/// A packet in a frame's buffer.
pub(crate) struct Packet<'a> {
    pub(crate) nonce: &'a [u8; 12],
    pub(crate) ad: &'a [u8; HEADER],
    pub(crate) text: &'a mut [u8],
}

/// The keys for one packet.
pub(crate) struct Keyed<'a> {
    pub(crate) schedule: Schedule,
    pub(crate) hash: Hash<'a>,
}

/// Blocks that the cipher encrypts for a text of `len` bytes: those of the text, and one to mask the tag.
#[inline]
pub(crate) fn blocks(len: usize) -> u32 {
    len.div_ceil(16) as u32 + 1
}

impl Keyed<'_> {
    /// Seals; returns the tag.
    pub(crate) fn seal(&self, isa: Isa, packet: Packet<'_>) -> Block {
        #[cfg(feature = "research")]
        if self.hash.is_separate() {
            return self.seal_in_two_passes(isa, packet);
        }
        let Packet { nonce, ad, text } = packet;
        let h = self.hash_key(isa);
        self.schedule.seal(isa, &h, nonce, ad, text).expect("a frame is shorter than GCM's limits")
    }

    /// Opens; if the tag does not match, wipes the text.
    pub(crate) fn open(&self, isa: Isa, packet: Packet<'_>, tag: &Block) -> bool {
        #[cfg(feature = "research")]
        if self.hash.is_separate() {
            return self.open_in_two_passes(isa, packet, tag);
        }
        let Packet { nonce, ad, text } = packet;
        self.schedule.open(isa, &self.hash_key(isa), nonce, ad, text, tag).is_ok()
    }

    /// The GHASH key.
    fn hash_key(&self, isa: Isa) -> Block {
        match self.hash {
            Hash::Own => self.schedule.hash_key(isa),
            Hash::WithKey(h) => *h,
            #[cfg(feature = "research")]
            Hash::Bitwise(h) => *h,
            #[cfg(feature = "research")]
            Hash::Table(_) => unreachable!("a table holds multiples of its key, not the key"),
        }
    }
}

/// GCM as the paper computes it, counter mode followed by GHASH: the fused kernel does not support tables.
#[cfg(feature = "research")]
impl Keyed<'_> {
    fn seal_in_two_passes(&self, isa: Isa, packet: Packet<'_>) -> Block {
        let Packet { nonce, ad, text } = packet;
        self.schedule.ctr(isa, &counter(nonce, 2), text);
        self.tag(isa, nonce, ad, text)
    }

    fn open_in_two_passes(&self, isa: Isa, packet: Packet<'_>, tag: &Block) -> bool {
        let Packet { nonce, ad, text } = packet;
        let genuine = same_tag(&self.tag(isa, nonce, ad, text), tag);
        if genuine {
            self.schedule.ctr(isa, &counter(nonce, 2), text);
        } else {
            text.fill(0);
        }
        genuine
    }

    fn tag(&self, isa: Isa, nonce: &[u8; 12], ad: &[u8], text: &[u8]) -> Block {
        let hash = self.hash.separately(isa, ad, text);
        let mut mask = [counter(nonce, 1)];
        self.schedule.encrypt(isa, &mut mask);
        (u128::from_ne_bytes(hash) ^ u128::from_ne_bytes(mask[0])).to_ne_bytes()
    }
}

/// A counter block.
#[cfg(feature = "research")]
#[inline]
pub(crate) fn counter(nonce: &[u8; 12], n: u32) -> Block {
    let mut block = [0; 16];
    block[..12].copy_from_slice(nonce);
    block[12..].copy_from_slice(&n.to_be_bytes());
    block
}
