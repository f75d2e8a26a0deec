//! Packets of many clients side by side: one packet per lane, each under its own key.
//!
//! Packet `p` is lane `p` of every row: a register loaded from a row of keys holds one key for each of its lanes. Texts
//! are not copied. Row `r` of the texts is block `r` of every packet; block 0 is the associated data.
//!
//! All texts end in the last row; a shorter packet starts in a later row. In the rows before, its lane hashes zeros,
//! and GHASH of zeros is zero. So packets of different lengths need no different instructions.
//!
//! This is a building block without checks: it **opens without comparing tags**, and uses the caller's nonces. No two
//! packets under one key may have the same nonce, in the same batch or in two. [`Batch`](crate::Batch) is the safe
//! interface.
//!
//! ```
//! use sealwright::{Isa, mode::multi_buffer::{Frame, HashKeys, Keys, MultiBuffer}};
//!
//! let mut frames = [[[0; 16]; 3], [[0; 16]; 3]]; // associated data and two blocks of text, of two packets
//! let mut batch = MultiBuffer::boxed();
//! batch.start();
//! for (packet, key) in [[1; 16], [2; 16]].iter().enumerate() {
//!     batch.push(&[0; 12], 32);
//!     batch.key(packet, [key, key]);
//! }
//! let [a, b] = &mut frames;
//! let (mut a, mut b) = (Some(&mut a[..]), Some(&mut b[..]));
//! let mut lanes: [Frame<'_>; _] = std::array::from_fn(|_| a.take().or_else(|| b.take()).unwrap_or_default());
//! batch.run(Isa::best(), &mut lanes, Keys::Own16, HashKeys::Made, true);
//! assert_ne!(batch.tag(0), batch.tag(1));
//! ```

mod kernel;
mod keys;
mod row;
mod short;

use alloc::boxed::Box;
use core::fmt;

use kernel::{Run, Source};
pub use row::PACKETS;
use row::Row;

use super::multi_key::{NONCE, Schedule};
use crate::simd::{Block, Isa};

/// The source of the lanes' round keys.
///
/// ```
/// use sealwright::{Isa, mode::{multi_buffer::Keys, multi_key::Schedule}};
///
/// let schedule = Schedule::expand(Isa::best(), &[7; 32])?;
/// let keys = Keys::Shared(&schedule, 14); // GSCM-H: round key 0 and the last are each client's
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Keys<'a> {
    /// Each packet's key, of 16 bytes, in the first half.
    Own16,
    /// Each packet's key, of 32 bytes, in both halves.
    Own32,
    /// Each packet's 11 round keys.
    Kept11,
    /// Each packet's 15 round keys.
    Kept15,
    /// A schedule that all packets share, except that the halves of each packet's key replace round key 0 and the round
    /// key with this number, from 1 to the last: AES2S.
    Shared(&'a Schedule, usize),
}

/// The source of the lanes' GHASH keys.
///
/// ```
/// use sealwright::{Isa, mode::{multi_buffer::HashKeys, multi_key::Schedule}};
///
/// let isa = Isa::best();
/// let h = Schedule::expand(isa, &[7; 16])?.hash_key(isa);
/// let keys = [HashKeys::Made, HashKeys::Kept, HashKeys::Shared(&h)]; // from the slowest to the fastest
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum HashKeys<'a> {
    /// Each lane computes its own, by encrypting the zero block.
    Made,
    /// Each packet's own, as passed to [`MultiBuffer::hash_key`].
    Kept,
    /// One key that all packets share.
    Shared(&'a Block),
}

impl fmt::Debug for HashKeys<'_> {
    /// Does not show the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HashKeys::Made => "Made",
            HashKeys::Kept => "Kept",
            HashKeys::Shared(_) => "Shared(..)",
        })
    }
}

/// Packets and their keys, at most [`PACKETS`] of them. Wiped when dropped; until then, or until [`MultiBuffer::wipe`],
/// it may hold keys of earlier batches.
///
/// ```
/// use sealwright::mode::multi_buffer::{MultiBuffer, PACKETS};
///
/// let mut batch = MultiBuffer::boxed(); // made once, for any number of batches
/// for number in 0..PACKETS as u8 {
///     batch.push(&[number; 12], 40);
/// }
/// assert_eq!(batch.count(), PACKETS);
/// batch.start();
/// assert_eq!(batch.count(), 0);
/// ```
pub struct MultiBuffer {
    /// The number of packets.
    count: usize,
    /// The most packets of an earlier batch since the last wipe.
    most_before: usize,
    /// Whether any packet brought round keys.
    has_rounds: bool,
    /// Blocks of the longest text.
    most: usize,
    /// The lengths of associated data and texts.
    ads: [usize; PACKETS],
    lens: [usize; PACKETS],
    /// The row of a packet's associated data, and the last of these rows.
    first: [usize; PACKETS],
    latest: usize,
    _rest: Rest,
    rows: Rows,
}
wipe_on_drop!(only MultiBuffer { rows: Rows::ZERO });

/// Zeros in place of padding, which would copy stack contents, keys among them, to the heap, where no wiping would
/// reach them.
type Rest = [u8; 63 - (4 + 3 * PACKETS) * size_of::<usize>() % 64];
const _: () = assert!(
    size_of::<MultiBuffer>()
        == size_of::<Rows>() + (4 + 3 * PACKETS) * size_of::<usize>() + size_of::<bool>() + size_of::<Rest>()
);

/// What the lanes read from memory, and their tags.
#[derive(Clone, Copy)]
struct Rows {
    /// Both halves of each packet's key.
    halves: [Row; 2],
    /// The round keys of each packet.
    rounds: [Row; 15],
    /// The GHASH keys.
    h: Row,
    /// Counter block 0.
    counters: Row,
    tags: Row,
    /// If texts differ in length: minus the first row, as a word of a reversed block.
    skew: Row,
    /// If texts differ in length: which bytes of the last row are text.
    keep: Row,
    /// If texts differ in length: the lengths that GHASH takes.
    lengths: Row,
}

impl Rows {
    const ZERO: Rows = Rows {
        halves: [Row::ZERO; 2],
        rounds: [Row::ZERO; 15],
        h: Row::ZERO,
        counters: Row::ZERO,
        tags: Row::ZERO,
        skew: Row::ZERO,
        keep: Row::ZERO,
        lengths: Row::ZERO,
    };
}

impl fmt::Debug for MultiBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiBuffer").field("count", &self.count).finish_non_exhaustive()
    }
}

/// A block whose first `bytes` bytes, at most 16, are 0xff, the others 0.
#[inline(always)]
fn first_bytes(bytes: usize) -> Block {
    let kept = if bytes >= 16 { !0 } else { (1u128 << (8 * bytes)) - 1 };
    kept.to_le_bytes()
}

/// Both lengths in bits.
#[inline(always)]
fn lengths(ad: usize, text: usize) -> Block {
    ((8 * ad as u128) << 64 | (8 * text as u128)).to_be_bytes()
}

/// A packet in its frame's buffer, as blocks: one block of associated data, then the text. The last block of the text
/// must be complete in the buffer.
pub type Frame<'a> = &'a mut [Block];

impl MultiBuffer {
    /// An empty batch. It takes about 10 KiB.
    pub fn boxed() -> Box<Self> {
        Box::new(MultiBuffer {
            count: 0,
            most_before: 0,
            has_rounds: false,
            most: 0,
            ads: [16; PACKETS],
            lens: [0; PACKETS],
            first: [0; PACKETS],
            latest: 0,
            _rest: [0; _],
            rows: Rows::ZERO,
        })
    }

    /// Starts a new batch.
    #[inline]
    pub fn start(&mut self) {
        self.most_before = self.most_before.max(self.count);
        self.count = 0;
    }

    /// Wipes the keys and tags of this batch and of earlier ones, and starts a new one. It touches only what was used:
    /// at most 2 KiB, or 10 KiB if packets brought their round keys.
    ///
    /// ```
    /// use sealwright::mode::multi_buffer::MultiBuffer;
    ///
    /// let mut batch = MultiBuffer::boxed();
    /// batch.push(&[0; 12], 40);
    /// batch.key(0, [&[7; 16], &[8; 16]]);
    /// batch.wipe(); // the client left
    /// batch.push(&[0; 12], 40);
    /// assert_eq!(batch.halves(0), [[0; 16]]);
    ///
    /// batch.wipe();
    /// batch.key(1, [&[7; 16], &[8; 16]]); // before its packet is added
    /// batch.wipe();
    /// batch.push(&[0; 12], 40);
    /// batch.push(&[0; 12], 40);
    /// assert_eq!(batch.halves(0), [[0; 16]; 2]);
    /// ```
    pub fn wipe(&mut self) {
        let used = self.most_before.max(self.count);
        let Rows { halves, rounds, h, tags, .. } = &mut self.rows;
        let rounds = if self.has_rounds { &mut rounds[..] } else { &mut [] };
        for row in halves.iter_mut().chain(rounds).chain([h]) {
            row.0[..used].fill([0; 16]);
        }
        if used > 0 {
            // Kernels write whole registers of tags.
            *tags = Row::ZERO;
        }
        zeroize::optimization_barrier(&self.rows);
        (self.count, self.most_before, self.has_rounds) = (0, 0, false);
    }

    /// The number of packets.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds a packet with 16 bytes of associated data and `len` bytes of text. Packets are numbered from 0. Each needs the
    /// keys that [`run`](Self::run) is told to use: one without them has zeros, or a packet's of an earlier batch.
    ///
    /// # Panics
    /// As [`push_with`](Self::push_with).
    #[inline]
    pub fn push(&mut self, nonce: &[u8; NONCE], len: usize) {
        self.push_with(nonce, 16, len);
    }

    /// Adds a packet with `ad` bytes of associated data, at most 16, which are in block 0 of its frame followed by
    /// zeros, and `len` bytes of text.
    ///
    /// # Panics
    /// If there are already [`PACKETS`] packets; for more than 16 bytes of associated data, or a text of more than
    /// [`MAX_TEXT`](crate::mode::gcm::MAX_TEXT) bytes.
    #[inline]
    pub fn push_with(&mut self, nonce: &[u8; NONCE], ad: usize, len: usize) {
        let packet = self.count;
        assert!(packet < PACKETS, "a batch has at most {PACKETS} packets");
        assert!(ad <= 16, "the associated data is at most one block");
        assert!(len as u64 <= super::gcm::MAX_TEXT, "the counters would repeat");
        self.count += 1;
        self.ads[packet] = ad;
        self.lens[packet] = len;
        self.rows.counters.0[packet][..NONCE].copy_from_slice(nonce);
    }

    /// Seals all packets in their frames, or opens them **without checking their tags**. Frames are in the order in
    /// which packets were added; further frames are ignored, and removed from `frames`.
    ///
    /// # Panics
    /// If a frame lacks blocks of its text, or if the number in [`Keys::Shared`] is not that of a round key from 1 on.
    pub fn run(&mut self, isa: Isa, frames: &mut [Frame<'_>; PACKETS], keys: Keys<'_>, hash: HashKeys<'_>, seal: bool) {
        // Kernels process as many frames as a register has lanes, and would change those too.
        frames[self.count..].fill_with(Frame::default);
        let even = self.measure(frames);
        let (source, long) = match keys {
            Keys::Own16 => (Source::Own, false),
            Keys::Own32 => (Source::Own, true),
            Keys::Kept11 => (Source::Kept, false),
            Keys::Kept15 => (Source::Kept, true),
            Keys::Shared(schedule, second) => {
                assert!((1..schedule.blocks().len()).contains(&second), "there is no round key {second} to replace");
                (Source::Shared(schedule.blocks(), second), schedule.blocks().len() == 15)
            }
        };
        if long {
            isa.run(Run::<15> { lanes: self, frames, source, hash, even, seal });
        } else {
            isa.run(Run::<11> { lanes: self, frames, source, hash, even, seal });
        }
    }

    /// The mask of the last row and the lengths, if they are the same in all lanes; otherwise fills the rows for both.
    fn measure(&mut self, frames: &[Frame<'_>; PACKETS]) -> Option<[Block; 2]> {
        let lens = &self.lens[..self.count];
        let len = lens.first().copied().unwrap_or_default();
        let ad = self.ads[0];
        let (mut most, mut even) = (0, self.ads[..self.count].iter().all(|this| *this == ad));
        for (&this, frame) in lens.iter().zip(frames) {
            let blocks = this.div_ceil(16);
            assert!(frame.len() > blocks, "a frame has all blocks of its text");
            most = most.max(blocks);
            even &= this == len;
        }
        self.most = most;
        self.latest = 0;
        if even {
            self.first = [0; PACKETS];
            return Some([first_bytes(len - 16 * most.saturating_sub(1)), lengths(ad, len)]);
        }
        for (packet, &len) in lens.iter().enumerate() {
            let blocks = len.div_ceil(16);
            let first = most - blocks;
            self.first[packet] = first;
            self.latest = self.latest.max(first);
            self.rows.skew.0[packet][..4].copy_from_slice(&(first as u32).wrapping_neg().to_le_bytes());
            self.rows.lengths.0[packet] = lengths(self.ads[packet], len);
            // The last row of an empty text is its associated data.
            self.rows.keep.0[packet] = first_bytes(if len == 0 { 16 } else { len - 16 * (blocks - 1) });
        }
        None
    }

    /// The tag of a packet.
    #[inline]
    pub fn tag(&self, packet: usize) -> &Block {
        &self.rows.tags.0[packet]
    }
}
