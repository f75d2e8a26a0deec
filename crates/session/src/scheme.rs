//! The interface of a scheme: where the keys of a client come from, and which of them are stored.

use core::ops::Range;

use sealwright::{
    Block, Isa,
    mode::multi_buffer::{Frame, MultiBuffer, PACKETS},
};

use crate::{
    error::SessionError,
    material::{Flow, Material},
    packet::{Keyed, Packet},
    record::{End, LIMIT, Record},
};

pub(crate) const INVARIANT: &str = "keys have 16 or 32 bytes, schedules 11 or 15 round keys";

/// A client, and the epoch of its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyId {
    pub(crate) slot: u32,
    pub(crate) epoch: u16,
}

/// How the packets of one direction are numbered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) prefix: [u8; 4],
    pub(crate) base: u64,
}

impl Stream {
    /// The numbering that belongs to an epoch; no two epochs share a number.
    #[inline]
    pub(crate) fn of_epoch(epoch: u16) -> Stream {
        Stream { prefix: [0; 4], base: u64::from(epoch) << 32 }
    }

    /// The nonce of packet `seq`.
    #[inline]
    pub(crate) fn nonce(&self, seq: u64) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&self.prefix);
        nonce[4..].copy_from_slice(&seq.to_be_bytes());
        nonce
    }
}

/// A way to store the secrets of many sessions.
pub(crate) trait Scheme: Send {
    /// What is stored for a client.
    type Client: Record;

    /// The instruction-set level that it uses.
    fn isa(&self) -> Isa;

    /// Derives both directions of a new client, up and down, in the form that its grant contains.
    fn flows(&mut self, id: KeyId, material: &Material, flows: &mut [Flow; 2]) -> Result<(), SessionError>;

    /// Stores in a record what is needed to receive and to send.
    fn keep(&mut self, id: KeyId, client: &mut Self::Client, flows: [&Flow; 2]);

    /// How the packets that an end receives or sends are numbered.
    fn stream(&self, client: &Self::Client, end: End) -> Stream;

    /// The keys for one packet.
    fn keyed<'a>(&'a self, slot: u32, client: &'a Self::Client, end: End) -> Keyed<'a>;

    /// Seals a packet; returns the tag.
    fn seal(&self, slot: u32, client: &Self::Client, packet: Packet<'_>) -> Block {
        self.keyed(slot, client, End::Send).seal(self.isa(), packet)
    }

    /// Opens a packet; if the tag does not match, its text is wiped.
    fn open(&self, slot: u32, client: &Self::Client, packet: Packet<'_>, tag: &Block) -> bool {
        self.keyed(slot, client, End::Receive).open(self.isa(), packet, tag)
    }

    /// Whether it derives keys from slot and epoch, so that no epoch of a slot may repeat.
    fn keys_by_epoch(&self) -> bool {
        false
    }

    /// Whether its packets can be processed side by side.
    fn side_by_side(&self) -> bool {
        false
    }

    /// The most blocks that a client's keys may encrypt, minus one.
    fn allowance(&self) -> u32 {
        LIMIT
    }

    /// Copies the keys for a packet into its lane.
    fn stage(&self, _slot: u32, _client: &Self::Client, _end: End, _lanes: &mut MultiBuffer, _packet: usize) {}

    /// Seals or opens the staged packets, which belong to the clients in these slots; tags are not checked.
    fn run(&self, _slots: &[u32], _end: End, _lanes: &mut MultiBuffer, _frames: &mut [Frame<'_>; PACKETS]) {}

    /// Removes what it stores outside the record for a client whose keys encrypted `blocks` blocks.
    fn remove(&mut self, _slot: u32, _blocks: u64) {}

    /// Removes the keys that a client shared with others; returns the slots of them all.
    fn revoke(&mut self, _slot: u32) -> Range<u32> {
        0..0
    }

    /// Heap memory for all clients, in bytes.
    fn heap_bytes(&self) -> u64 {
        0
    }

    /// Bytes that clients share.
    fn shared_bytes(&self) -> u64 {
        0
    }
}
