//! What a table keeps for one client: whole cache lines, or half of one. Plain bytes, so that records can lie in huge
//! pages, be fetched ahead and be wiped.

use bytemuck::{Pod, Zeroable};
use sealwright::{Block, simd::prefetch};

use crate::{
    error::SessionError,
    replay::{Past, Ring, RingWithPast},
};

/// The most blocks that a key may encrypt, less one: 2^32 is the paper's limit (6.4).
pub(crate) const LIMIT: u32 = u32::MAX;

/// Blocks, 4 MiB, that the other end of a session is taken to have sealed last without any of it having arrived.
const UNDER_WAY: u32 = 1 << 18;

/// One of the two ends of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Receive = 0,
    Send = 1,
}

/// Whether a client is here, and which of its keys.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Life {
    /// How many times this slot's keys were made. Keys of an epoch are never used in another.
    pub(crate) epoch: u16,
    /// 1 if the session may be used.
    pub(crate) live: u16,
}

/// What was received: in a window of 8 (`N` - 1) packets each number once; with a past, in one of 1,024 more.
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

/// What was received under a key.
pub(crate) trait Receive: Pod {
    /// Nothing yet.
    fn new() -> Self;
    /// Whether packet `n` of so many blocks may be opened.
    fn check(&self, past: Option<&Past>, n: u32, blocks: u32) -> Result<(), SessionError>;
    /// Notes packet `n`, which was genuine.
    fn accept(&mut self, past: Option<&mut Past>, n: u32, blocks: u32);
    /// Blocks that the key has encrypted, and those withheld from it.
    fn blocks(&self) -> u32;
    /// Leaves the key, which has received nothing yet, so many blocks less.
    fn withhold(&mut self, blocks: u32);
}

/// What was sent under a key.
#[repr(C)]
#[derive(Clone, Copy, Default, Pod, Zeroable)]
pub(crate) struct Sent {
    packets: u32,
    blocks: u32,
}

impl Sent {
    /// The number of the next packet, which has so many blocks.
    #[inline]
    pub(crate) fn next(&mut self, blocks: u32) -> Result<u32, SessionError> {
        let after = self.blocks.checked_add(blocks).ok_or(SessionError::Exhausted)?;
        // A packet has a block at least, so that packets cannot outnumber blocks.
        self.packets += 1;
        self.blocks = after;
        Ok(self.packets)
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }
}

/// What every record has.
pub(crate) trait Record: Pod {
    /// Its part for what is received.
    type Rx: Receive;

    /// Whether it is used, where receiving looks.
    fn life(&self) -> Life;
    /// Whether it is used, where sending looks.
    fn life_of_sent(&self) -> Life;
    fn received(&self) -> &Self::Rx;
    fn received_mut(&mut self) -> &mut Self::Rx;
    fn sent(&self) -> &Sent;
    fn sent_mut(&mut self) -> &mut Sent;
    /// Nothing received or sent yet; wipes all but the epoch.
    fn restart(&mut self, life: Life);

    /// Leaves the keys, which were not used yet, no more than so many blocks.
    fn allow(&mut self, blocks: u32) {
        self.received_mut().withhold(LIMIT - blocks);
        self.sent_mut().blocks = LIMIT - blocks;
    }

    /// Asks for what an end needs of it, without waiting.
    #[inline]
    fn fetch(&self, _: End) {
        prefetch(self);
    }

    /// Blocks that its keys, which may encrypt no more than `allowance`, have encrypted, the greater number of both directions. What was
    /// received is what arrived: as much again counts as lost on its way, and a little as still on it.
    fn encrypted(&self, allowance: u32) -> u64 {
        let [received, sent] = [self.received().blocks(), self.sent().blocks()].map(|n| n - (LIMIT - allowance));
        let sealed = received.saturating_mul(2).saturating_add(UNDER_WAY).min(allowance);
        sent.max(sealed).into()
    }

    /// Blocks left under its keys, the lesser number of both.
    fn blocks_left(&self) -> u64 {
        u64::from(LIMIT - self.received().blocks().max(self.sent().blocks()))
    }
}

/// [`Record`] by its fields.
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

/// Numbers alone: no key is kept. Half a cache line.
#[repr(C, align(32))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Numbers {
    rx: Received8,
    tx: Sent,
    life: Life,
    reserved: [u8; 4],
}

/// Both keys of AES-128. One cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Keys16 {
    pub(crate) keys: [[u8; 16]; 2],
    rx: Received8,
    tx: Sent,
    life: Life,
    reserved: [u8; 4],
}

/// Both keys of AES-256. Two cache lines.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Keys32 {
    pub(crate) keys: [[u8; 32]; 2],
    rx: Received16,
    tx: Sent,
    life: Life,
    reserved: [u8; 28],
}

/// Secondary keys of AES2S: a line for what is received, a line for what is sent.
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

/// The paper's records for GCM: nonces and IVs, keys as `$key`, GHASH keys.
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
    /// GCM-On with 256-bit keys. Three.
    On32: [[u8; 32]; 2], 36;
    /// GCM-Pre with 128-bit keys: 11 round keys a direction. Seven.
    Pre16: [[Block; 11]; 2], 4;
    /// GCM-Pre with 256-bit keys: 15 round keys a direction. Nine.
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
        // Of two reasons the number comes first.
        assert_eq!(record.received().check(None, 1, u32::MAX), Err(SessionError::Replayed));
        record.restart(Life { epoch: 3, live: 1 });
        assert_eq!((record.blocks_left(), record.life().epoch, record.life_of_sent().live), (0xffff_ffff, 3, 1));
    }
}
