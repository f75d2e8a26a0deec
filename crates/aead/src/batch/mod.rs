//! Many short messages at once, under many keys or one: AES-GCM.

mod repeated_nonce;
mod single;

use alloc::{boxed::Box, vec::Vec};
use core::{fmt, mem};

use repeated_nonce::Nonces;
use single::Single;

use crate::{
    aead::release,
    error::{KeyLengthError, OpenError, SealError},
    mode::{
        gcm::MAX_TEXT,
        multi_buffer::{Frame, HashKeys, Keys, MultiBuffer, PACKETS},
    },
    simd::{Block, Isa},
    tag::same,
    wipe::CleanStack,
};

/// The longest text that is processed side by side with others, in bytes.
const LONGEST: usize = 512;
/// The longest associated data of such a message.
const LONGEST_AD: usize = 16;
/// Blocks of a frame: associated data and text.
const FRAME: usize = 1 + LONGEST / 16;

/// A message of a [`Batch`].
///
/// ```
/// use sealwright::{Batch, BatchMessage, Isa};
///
/// let mut text = *b"attack at dawn";
/// let mut message = BatchMessage { key: &[7; 16], nonce: [0; 12], ad: b"header", text: &mut text, tag: [0; 16] };
/// Batch::new(Isa::best()).seal(std::slice::from_mut(&mut message))?;
/// let sent = [&*message.text, &message.tag].concat();
/// assert_eq!(sent.len(), 30);
/// # Ok::<(), sealwright::BatchError>(())
/// ```
pub struct BatchMessage<'a> {
    /// The key: 16 bytes for AES-128-GCM, 32 for AES-256-GCM.
    pub key: &'a [u8],
    /// The nonce. It must never be used twice under one key.
    pub nonce: [u8; 12],
    /// The associated data.
    pub ad: &'a [u8],
    /// The text: plaintext for [`Batch::seal`], ciphertext for [`Batch::open`].
    pub text: &'a mut [u8],
    /// The tag: written by [`Batch::seal`], read by [`Batch::open`].
    pub tag: [u8; 16],
}

impl fmt::Debug for BatchMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchMessage").field("len", &self.text.len()).finish_non_exhaustive()
    }
}

/// Seals and opens batches of messages with AES-GCM, up to 32 messages at a time side by side in the lanes of
/// registers. Round keys are computed in the lanes too, for every message: a different key for each message costs no
/// more than one key for all.
///
/// Messages of up to 512 bytes with up to 16 bytes of associated data are processed side by side, others one after the
/// other.
///
/// Between calls, a batch keeps no key and no text. What compilers left of them on the stack is wiped when the batch is
/// dropped, which needs 48 KiB of stack.
///
/// ```
/// use sealwright::{Batch, BatchMessage, Isa};
///
/// let mut texts = [*b"to Alice", *b"to Bob  "];
/// let keys = [[1; 32], [2; 32]]; // of two connections
/// let nonce = [0; 12]; // the number of the packet in its connection
/// let [a, b] = &mut texts;
/// let mut batch = Batch::new(Isa::best());
/// let mut messages = [(&keys[0], a), (&keys[1], b)]
///     .map(|(key, text)| BatchMessage { key, nonce, ad: b"header", text, tag: [0; 16] });
/// batch.seal(&mut messages)?;
/// assert!(batch.open(&mut messages).iter().all(Result::is_ok));
/// assert_eq!(&texts[0], b"to Alice");
/// # Ok::<(), sealwright::BatchError>(())
/// ```
pub struct Batch {
    isa: Isa,
    lanes: Box<MultiBuffer>,
    frames: Box<Frames>,
    single: Single,
    nonces: Nonces,
    /// The short messages, those with keys of 16 bytes first. Like the nonces, it is kept only to reuse its memory.
    order: Vec<usize>,
    // Test builds have the deepest frames: up to 33 KiB were observed.
    _stack: CleanStack<{ 48 << 10 }>,
}

/// Copies of the messages, in whole blocks. Plaintexts are wiped after they were copied out; everything is wiped on
/// drop.
struct Frames([[Block; FRAME]; PACKETS]);
wipe_on_drop!(Frames { 0: [[[0; 16]; FRAME]; PACKETS] });

/// Why a batch was refused. None of its messages was sealed.
///
/// ```
/// use sealwright::{Batch, BatchError, BatchMessage, Isa};
///
/// let mut texts = [[1; 20], [2; 20]];
/// // A nonce that would serve twice is found before anything is sealed.
/// let mut messages = texts.each_mut().map(|text| BatchMessage { key: &[7; 16], nonce: [0; 12], ad: b"", text, tag: [0; 16] });
/// let refused = Batch::new(Isa::best()).seal(&mut messages);
/// assert_eq!(refused, Err(BatchError::NonceTwice { first: 0, second: 1 }));
/// assert_eq!(texts[0], [1; 20]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchError {
    /// A key has a wrong length.
    Key {
        /// The index of the message.
        message: usize,
        /// The lengths: given, and allowed.
        error: KeyLengthError,
    },
    /// Two messages have the same key and the same nonce.
    NonceTwice {
        /// The index of one message.
        first: usize,
        /// The index of the other.
        second: usize,
    },
    /// GCM does not accept a message of this length.
    Length {
        /// The index of the message.
        message: usize,
        /// Which part is too long.
        error: SealError,
    },
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Key { message, error } => write!(f, "message {message}: {error}"),
            BatchError::NonceTwice { first, second } => {
                write!(f, "messages {first} and {second} have the same key and the same nonce")
            }
            BatchError::Length { message, error } => write!(f, "message {message}: {error}"),
        }
    }
}
impl core::error::Error for BatchError {}

impl Batch {
    /// An empty batch, which can be used for any number of calls. It takes about 30 KiB of memory, up to 6 KiB more
    /// after a longer message, and about 100 bytes for each message of the largest batch so far.
    pub fn new(isa: Isa) -> Self {
        Batch {
            isa,
            lanes: MultiBuffer::boxed(),
            frames: Box::new(Frames([[[0; 16]; FRAME]; PACKETS])),
            single: Single::default(),
            nonces: Nonces::default(),
            order: Vec::new(),
            _stack: CleanStack,
        }
    }

    /// Encrypts every text in place and writes the tags.
    ///
    /// # Errors
    /// [`BatchError`] if a key or a text has a wrong length, or if two messages have the same key and nonce. All texts
    /// are then unchanged. Nonces of earlier batches are not remembered.
    ///
    /// # Panics
    /// If there are more than 2^32 messages.
    #[doc(alias("encrypt", "aad", "plaintext"))]
    pub fn seal(&mut self, messages: &mut [BatchMessage<'_>]) -> Result<(), BatchError> {
        self.check(messages)?;
        self.side_by_side(messages, true, |_, message, tag, text| {
            message.text.copy_from_slice(text);
            message.tag = *tag;
        });
        if self.order.len() == messages.len() {
            return Ok(());
        }
        let long = messages.iter_mut().enumerate().filter(|(_, message)| !message.is_short());
        let sealed = long.map(|(i, message)| {
            let aead = self.single.keyed(self.isa, message.key, message.ad, message.text);
            let aead = aead.map_err(|error| BatchError::Key { message: i, error })?;
            let tag = aead.seal_in_place(&message.nonce, message.ad, message.text);
            message.tag.copy_from_slice(tag.map_err(|error| BatchError::Length { message: i, error })?.as_ref());
            Ok(())
        });
        let sealed = sealed.collect();
        self.single.clear();
        sealed
    }

    /// Decrypts in place every text whose tag is valid, and sets the others to zero. Returns one result for each
    /// message.
    #[must_use]
    #[doc(alias("decrypt", "aad", "ciphertext"))]
    pub fn open(&mut self, messages: &mut [BatchMessage<'_>]) -> Vec<Result<(), OpenError>> {
        let mut results = Vec::with_capacity(messages.len());
        results.resize(messages.len(), Ok(()));
        self.side_by_side(messages, false, |i, message, tag, text| {
            if same(tag, &message.tag) {
                message.text.copy_from_slice(text);
            } else {
                message.text.fill(0);
                results[i] = Err(OpenError);
            }
        });
        if self.order.len() == messages.len() {
            return results;
        }
        let long = messages.iter_mut().zip(&mut results).filter(|(message, _)| !message.is_short());
        for (message, result) in long {
            *result = match self.single.keyed(self.isa, message.key, message.ad, message.text) {
                Ok(aead) => aead.open_in_place(&message.nonce, message.ad, message.text, &message.tag),
                Err(_) => release(message.text, false),
            };
        }
        self.single.clear();
        results
    }

    /// Runs all short messages through the lanes, which are then wiped, and passes each one's index, message, tag and
    /// text to `take`.
    fn side_by_side(
        &mut self,
        messages: &mut [BatchMessage<'_>],
        seal: bool,
        mut take: impl FnMut(usize, &mut BatchMessage<'_>, &Block, &[u8]),
    ) {
        let mut order = mem::take(&mut self.order);
        let of = |len| messages.iter().enumerate().filter(move |(_, m)| m.key.len() == len && m.is_short());
        order.clear();
        order.extend(of(16).map(|(i, _)| i));
        let long = order.len();
        order.extend(of(32).map(|(i, _)| i));
        for (some, keys) in [(&order[..long], Keys::Own16), (&order[long..], Keys::Own32)] {
            for some in some.chunks(PACKETS) {
                self.lanes.start();
                for (packet, message) in some.iter().map(|i| &messages[*i]).enumerate() {
                    self.lanes.push_with(&message.nonce, message.ad.len(), message.text.len());
                    let (halves, _) = message.key.as_chunks();
                    self.lanes.key(packet, [&halves[0], halves.last().unwrap_or(&[0; 16])]);
                    let [ad, text @ ..] = &mut self.frames.0[packet];
                    *ad = [0; 16];
                    ad[..message.ad.len()].copy_from_slice(message.ad);
                    text.as_flattened_mut()[..message.text.len()].copy_from_slice(message.text);
                }
                let mut frames = self.frames.0.each_mut().map(|frame| -> Frame<'_> { frame });
                self.lanes.run(self.isa, &mut frames, keys, HashKeys::Made, seal);
                for (packet, i) in some.iter().enumerate() {
                    let message = &mut messages[*i];
                    let text = &self.frames.0[packet][1..].as_flattened()[..message.text.len()];
                    take(*i, message, self.lanes.tag(packet), text);
                    // Ciphertext is no secret.
                    if !seal {
                        wipe_blocks(&mut self.frames.0[packet][1..], message.text.len());
                    }
                }
            }
        }
        self.lanes.wipe();
        self.order = order;
    }

    /// Refuses keys and texts of wrong lengths, and a nonce that is used twice under one key.
    fn check(&mut self, messages: &[BatchMessage<'_>]) -> Result<(), BatchError> {
        for (i, message) in messages.iter().enumerate() {
            if ![16, 32].contains(&message.key.len()) {
                return Err(BatchError::Key { message: i, error: KeyLengthError::new(&[16, 32], message.key.len()) });
            }
            if message.text.len() as u64 > MAX_TEXT {
                return Err(BatchError::Length { message: i, error: SealError::TextTooLong });
            }
        }
        self.nonces.twice(messages).map_or(Ok(()), |(first, second)| Err(BatchError::NonceTwice { first, second }))
    }
}

/// Wipes the blocks of a text. The first four are always wiped, in a few stores: for a short text, a call would take
/// longer.
#[inline(always)]
fn wipe_blocks(blocks: &mut [Block], len: usize) {
    let (few, more) = blocks.split_at_mut(4);
    few.copy_from_slice(&[[0; 16]; 4]);
    if len > 64 {
        more[..(len - 64).div_ceil(16)].fill([0; 16]);
    }
    zeroize::optimization_barrier(blocks);
}

impl BatchMessage<'_> {
    /// Whether it is processed side by side with others.
    fn is_short(&self) -> bool {
        self.text.len() <= LONGEST && self.ad.len() <= LONGEST_AD && [16, 32].contains(&self.key.len())
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("isa", &self.isa).finish_non_exhaustive()
    }
}
