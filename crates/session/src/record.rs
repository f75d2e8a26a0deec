//! What a table stores for one client: whole cache lines, or half of one. Records are plain bytes, so that they can be
//! placed in huge pages, prefetched and wiped.

use bytemuck::{Pod, Zeroable};
use sealwright::{Block, simd::prefetch};

use crate::{
    error::SessionError,
    replay::{Past, Ring, RingWithPast},
};

/// The most blocks that a key may encrypt, minus one: 2^32 is the paper's limit (6.4).
pub(crate) const LIMIT: u32 = u32::MAX;

/// Blocks (4 MiB) that the other end may have sent most recently and that may all have been lost.
const BLOCKS_UNDER_WAY: u32 = 1 << 18;

/// One of the two ends of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Receive = 0,
    Send = 1,
}

/// Whether the slot has a client, and the epoch of its keys.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Life {
    /// How many times this slot's keys were made. Keys of one epoch are never used in another.
    pub(crate) epoch: u16,
    /// 1 if the session is in use.
    pub(crate) live: u16,
}

/// A replay window in which each packet number is accepted once: of 8 (`N` - 1) packets, or 1,024 more with a past.
macro_rules! received {
    ($name:ident, $n:literal) => {
        #[repr(C)]
        #[derive(Clone, Copy, Pod, Zeroable)]
        pub(crate) struct $name {
            highest: u32,
            blocks: u32,
            seen: [u8; $n],
        }

        impl Receive for $name {
            fn new() -> Self {
                $name { highest: 0, blocks: 0, seen: Ring::new() }
            }
            #[inline]
            fn check(&self, past: Option<&Past>, n: u32, blocks: u32) -> Result<(), SessionError> {
                let is_new = match past {
                    None => self.seen.is_new(self.highest, n),
                    Some(past) => self.seen.is_new_or_past(past, self.highest, n),
                };
                if !is_new {
                    return Err(SessionError::Replayed);
                }
                self.blocks.checked_add(blocks).map(drop).ok_or(SessionError::Exhausted)
            }
            #[inline]
            fn accept(&mut self, past: Option<&mut Past>, n: u32, blocks: u32) {
                self.highest = match past {
                    None => self.seen.mark(self.highest, n),
                    Some(past) => self.seen.mark_with_past(past, self.highest, n),
                };
                self.blocks = self.blocks.saturating_add(blocks);
            }
            fn blocks(&self) -> u32 {
                self.blocks
            }
            fn withhold(&mut self, blocks: u32) {
                self.blocks = blocks;
            }
        }
    };
}
received!(Received8, 8);
received!(Received16, 16);

/// The receiving half of a record: the replay window, and the blocks that the key has encrypted.
pub(crate) trait Receive: Pod {
    /// The initial state: nothing received.
    fn new() -> Self;
    /// Whether packet `n` with this many blocks may be opened.
    fn check(&self, past: Option<&Past>, n: u32, blocks: u32) -> Result<(), SessionError>;
    /// Records packet `n`, which was authentic.
    fn accept(&mut self, past: Option<&mut Past>, n: u32, blocks: u32);
    /// Blocks counted against the limit of the key: those that it has encrypted, and those withheld.
    fn blocks(&self) -> u32;
    /// Lowers the limit of the key, under which nothing was received yet, by `blocks` blocks.
    fn withhold(&mut self, blocks: u32);
}

/// The sending half of a record: packets and blocks sealed under the key.
#[repr(C)]
#[derive(Clone, Copy, Default, Pod, Zeroable)]
pub(crate) struct Sent {
    packets: u32,
    blocks: u32,
}

impl Sent {
    /// The number of the next packet, which has `blocks` blocks.
    #[inline]
    pub(crate) fn next(&mut self, blocks: u32) -> Result<u32, SessionError> {
        let after = self.blocks.checked_add(blocks).ok_or(SessionError::Exhausted)?;
        // A packet has at least one block, so that there are never more packets than blocks.
        self.packets += 1;
        self.blocks = after;
        Ok(self.packets)
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }
}

/// The interface of every record.
pub(crate) trait Record: Pod {
    /// The part for received packets.
    type Rx: Receive;

    /// The life of the session: the copy next to the receiving half.
    fn life(&self) -> Life;
    /// The life of the session: the copy next to the sending half.
    fn life_of_sent(&self) -> Life;
    fn received(&self) -> &Self::Rx;
    fn received_mut(&mut self) -> &mut Self::Rx;
    fn sent(&self) -> &Sent;
    fn sent_mut(&mut self) -> &mut Sent;
    /// Resets it to nothing received or sent; wipes everything but the epoch.
    fn restart(&mut self, life: Life);

    /// Lowers the limit of both keys, which must be unused, to `blocks` blocks.
    fn allow(&mut self, blocks: u32) {
        self.received_mut().withhold(LIMIT - blocks);
        self.sent_mut().blocks = LIMIT - blocks;
    }

    /// Prefetches the cache lines that one end needs.
    #[inline]
    fn fetch(&self, _: End) {
        prefetch(self);
    }

    /// Estimates how many blocks the keys have encrypted, in the direction with more of them, at most `allowance`. Of
    /// the receiving direction only what arrived is known: as much again is assumed lost, and `BLOCKS_UNDER_WAY` blocks in
    /// transit.
    fn encrypted(&self, allowance: u32) -> u64 {
        let [received, sent] = [self.received().blocks(), self.sent().blocks()].map(|n| n - (LIMIT - allowance));
        let sealed = received.saturating_mul(2).saturating_add(BLOCKS_UNDER_WAY).min(allowance);
        sent.max(sealed).into()
    }

    /// Blocks that the keys may still encrypt, the smaller number of both directions.
    fn blocks_left(&self) -> u64 {
        u64::from(LIMIT - self.received().blocks().max(self.sent().blocks()))
    }
}

/// Implements [`Record`] by field names.
macro_rules! record {
    ($($type:ident: $rx:ident, $life:ident, $sent_life:ident $(, |$record:ident, $end:ident| $fetch:block)?;)*) => {
        $(impl Record for $type {
            type Rx = $rx;
            $(#[inline]
            fn fetch(&self, $end: End) {
                let $record = self;
                $fetch
            })?
            #[inline]
            fn life(&self) -> Life {
                self.$life
            }
            #[inline]
            fn life_of_sent(&self) -> Life {
                self.$sent_life
            }
            #[inline]
            fn received(&self) -> &$rx {
                &self.rx
            }
            #[inline]
            fn received_mut(&mut self) -> &mut $rx {
                &mut self.rx
            }
            #[inline]
            fn sent(&self) -> &Sent {
                &self.tx
            }
            #[inline]
            fn sent_mut(&mut self) -> &mut Sent {
                &mut self.tx
            }
            fn restart(&mut self, life: Life) {
                zeroize::Zeroize::zeroize(bytemuck::bytes_of_mut(self));
                self.$life = life;
                self.$sent_life = life;
                self.rx = Receive::new();
            }
        })*
    };
}

/// Counters only; no key is stored. Half a cache line.
#[repr(C, align(32))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Numbers {
    rx: Received8,
    tx: Sent,
    life: Life,
    reserved: [u8; 4],
}

/// Two AES-128 keys, one for each direction. One cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Keys16 {
    pub(crate) keys: [[u8; 16]; 2],
    rx: Received8,
    tx: Sent,
    life: Life,
    reserved: [u8; 4],
}

/// Two AES-256 keys, one for each direction. Two cache lines.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Keys32 {
    pub(crate) keys: [[u8; 32]; 2],
    rx: Received16,
    tx: Sent,
    life: Life,
    reserved: [u8; 28],
}

/// Secondary keys of AES2S: one cache line for receiving, one for sending.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Secondary {
    rx: Received8,
    life: Life,
    pub(crate) rx_prefix: [u8; 4],
    pub(crate) rx_base: u64,
    pub(crate) rx_keys: [Block; 2],
    tx: Sent,
    sent_life: Life,
    pub(crate) tx_prefix: [u8; 4],
    pub(crate) tx_base: u64,
    pub(crate) tx_keys: [Block; 2],
    reserved: [u8; 8],
}

/// The paper's records for GCM: nonces and IVs, keys of type `$key`, GHASH keys.
macro_rules! paper {
    ($($(#[$doc:meta])* $name:ident: [$key:ty; 2], $reserved:literal;)*) => {
        $(
            $(#[$doc])*
            #[repr(C, align(64))]
            #[derive(Clone, Copy, Pod, Zeroable)]
            pub(crate) struct $name {
                rx: Received16,
                tx: Sent,
                pub(crate) prefixes: [[u8; 4]; 2],
                pub(crate) bases: [u64; 2],
                life: Life,
                reserved: [u8; $reserved],
                pub(crate) h: [Block; 2],
                pub(crate) keys: [$key; 2],
            }
        )*
    };
}
paper! {
    /// GCM-On with 128-bit keys. Two cache lines.
    On16: [[u8; 16]; 2], 4;
    /// GCM-On with 256-bit keys. Three cache lines.
    On32: [[u8; 32]; 2], 36;
    /// GCM-Pre with 128-bit keys: 11 round keys for each direction. Seven cache lines.
    Pre16: [[Block; 11]; 2], 4;
    /// GCM-Pre with 256-bit keys: 15 round keys for each direction. Nine cache lines.
    Pre32: [[Block; 15]; 2], 4;
}

record! {
    Numbers: Received8, life, life;
    Keys16: Received8, life, life;
    Keys32: Received16, life, life;
    Secondary: Received8, life, sent_life, |record, end| {
        match end {
            End::Receive => prefetch(&record.rx),
            End::Send => prefetch(&record.tx),
        }
    };
    On16: Received16, life, life;
    On32: Received16, life, life;
    Pre16: Received16, life, life, |record, end| {
        prefetch(&record.rx);
        prefetch(&record.h[end as usize]);
        prefetch(&record.keys[end as usize]);
        prefetch(record.keys[end as usize].last().unwrap_or(&[0; 16]));
    };
    Pre32: Received16, life, life, |record, end| {
        prefetch(&record.rx);
        prefetch(&record.h[end as usize]);
        prefetch(&record.keys[end as usize]);
        prefetch(record.keys[end as usize].last().unwrap_or(&[0; 16]));
    };
}

const _: () = {
    assert!(size_of::<Numbers>() == 32);
    assert!(size_of::<Keys16>() == 64);
    assert!(size_of::<Secondary>() == 128);
    assert!(core::mem::offset_of!(Secondary, tx) == 64);
    assert!(size_of::<On16>() == 128);
    assert!(size_of::<Pre16>() == 448);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_numbered_from_one_until_the_blocks_end() {
        let mut sent = Sent::default();
        assert_eq!([1, 1, 7].map(|blocks| sent.next(blocks)), [Ok(1), Ok(2), Ok(3)]);
        assert_eq!(sent.blocks(), 9);
        assert_eq!(sent.next(u32::MAX - 8), Err(SessionError::Exhausted));
        assert_eq!((sent.next(u32::MAX - 9), sent.blocks()), (Ok(4), u32::MAX), "what was refused took no number");
        assert_eq!(sent.next(1), Err(SessionError::Exhausted));
    }

    #[test]
    fn more_counts_as_encrypted_than_has_arrived() {
        let after = |received, sent, allowance| {
            let mut record = Keys16::zeroed();
            record.restart(Life { epoch: 1, live: 1 });
            record.allow(allowance);
            record.received_mut().accept(None, 1, received);
            record.sent_mut().blocks += sent;
            record.encrypted(allowance)
        };
        assert_eq!(after(0, 0, LIMIT), 1 << 18);
        assert_eq!(after(5, 0, LIMIT), (1 << 18) + 10);
        assert_eq!(after(5, 1 << 19, LIMIT), 1 << 19, "what was sent is known");
        assert_eq!([after(1 << 31, 9, LIMIT), after(LIMIT, 9, LIMIT)], [u64::from(LIMIT); 2]);
        assert_eq!([after(0, 9, 1000), after(3, 9, 1 << 20)], [1000, (1 << 18) + 6], "of a great cluster");
    }

    #[test]
    fn the_way_that_has_fewer_blocks_left_counts() {
        let mut record = Keys16::zeroed();
        assert_eq!(record.blocks_left(), 0xffff_ffff);
        record.received_mut().accept(None, 1, 5);
        assert_eq!(record.blocks_left(), 0xffff_fffa);
        record.sent_mut().blocks = 9;
        assert_eq!(record.blocks_left(), 0xffff_fff6);
        assert_eq!(record.received().check(None, 1, 1), Err(SessionError::Replayed));
        assert_eq!(record.received().check(None, 2, u32::MAX - 5), Ok(()));
        assert_eq!(record.received().check(None, 2, u32::MAX - 4), Err(SessionError::Exhausted));
        // If both apply, the replay is reported.
        assert_eq!(record.received().check(None, 1, u32::MAX), Err(SessionError::Replayed));
        record.restart(Life { epoch: 3, live: 1 });
        assert_eq!((record.blocks_left(), record.life().epoch, record.life_of_sent().live), (0xffff_ffff, 3, 1));
    }
}
