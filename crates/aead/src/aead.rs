//! The contract of every authenticated cipher here: seal and open a text in place, beside a tag.

use core::fmt;

use subtle::ConstantTimeEq;

/// A block of 16 bytes, as every cipher here takes it.
pub type Block = [u8; 16];

/// The longest tag of any suite, in bytes.
pub const MAX_TAG: usize = 32;

/// An authentication tag of 4 to [`MAX_TAG`] bytes. Comparison takes the same time wherever two tags differ.
#[derive(Clone, Copy)]
pub struct Tag {
    bytes: [u8; MAX_TAG],
    len: usize,
}

impl Tag {
    /// A tag holding `bytes`, of which there are at most [`MAX_TAG`]; more are cut off.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let len = bytes.len().min(MAX_TAG);
        let mut tag = Tag { bytes: [0; MAX_TAG], len };
        tag.bytes[..len].copy_from_slice(&bytes[..len]);
        tag
    }

    /// The first `len` bytes of `block`.
    #[inline]
    pub(crate) fn of_block(block: &Block, len: usize) -> Self {
        let mut bytes = [0; MAX_TAG];
        bytes[..16].copy_from_slice(block);
        Tag { bytes, len: len.min(16) }
    }

    /// Whether `other` is this tag, of the same length and value, in constant time for a given length.
    pub fn matches(&self, other: &[u8]) -> bool {
        // Whole blocks as numbers: a tag compared byte by byte took as long as a third of a short packet.
        match (self.as_ref().try_into(), other.try_into()) {
            (Ok(ours), Ok(theirs)) => {
                let differing = u128::from_ne_bytes(ours) ^ u128::from_ne_bytes(theirs);
                (differing as u64 | (differing >> 64) as u64).ct_eq(&0).into()
            }
            _ => self.as_ref().ct_eq(other).into(),
        }
    }
}

impl AsRef<[u8]> for Tag {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.matches(other.as_ref())
    }
}
impl Eq for Tag {}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tag(")?;
        for byte in self.as_ref() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// Why a text could not be sealed. Says nothing of key or text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealError {
    /// The nonce has a length that the mode does not take.
    NonceLength,
    /// The text is longer than the mode may encrypt under one nonce.
    TextTooLong,
    /// The associated data is longer than the mode may authenticate.
    AdTooLong,
    /// The text ends within a block, and the mode takes whole blocks of 16 bytes.
    PartialBlock,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SealError::NonceLength => "the nonce has a length that this mode does not take",
            SealError::TextTooLong => "the text is longer than this mode may seal under one nonce",
            SealError::AdTooLong => "the associated data is longer than this mode may authenticate",
            SealError::PartialBlock => "the text ends within a block, and this mode takes whole ones",
        })
    }
}
impl core::error::Error for SealError {}

/// The text, nonce, associated data or tag is not what was sealed under this key. Nothing more is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAuthentic;

impl fmt::Display for NotAuthentic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not authentic")
    }
}
impl core::error::Error for NotAuthentic {}

/// Authenticated encryption with associated data, in place.
///
/// A nonce must never serve twice under one key; [`Sealer`](crate::Sealer) counts them for you.
pub trait Aead: Send + Sync {
    /// Length of the tags that this key makes and accepts, in bytes.
    fn tag_len(&self) -> usize;

    /// Encrypts `text` in place and returns the tag over it and `ad`.
    ///
    /// # Errors
    /// Refuses a nonce or a length that the mode does not take; `text` is then as it was.
    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError>;

    /// Decrypts `text` in place if `tag` holds for it, `nonce` and `ad`.
    ///
    /// # Errors
    /// [`NotAuthentic`] otherwise; `text` is then all zero, so that nothing unverified can be used.
    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), NotAuthentic>;
}

/// Keeps `text` if `genuine`, else wipes it: the end of every `open_in_place`.
pub(crate) fn release(text: &mut [u8], genuine: bool) -> Result<(), NotAuthentic> {
    if genuine {
        return Ok(());
    }
    text.fill(0);
    Err(NotAuthentic)
}
