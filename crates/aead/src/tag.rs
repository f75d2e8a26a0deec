//! Authentication tags.

use core::fmt;

use subtle::ConstantTimeEq;

use crate::simd::Block;

/// The longest tag of any mode, in bytes.
pub const MAX_TAG: usize = 48;

/// An authentication tag of 4 to [`MAX_TAG`] bytes. Comparison takes the same time wherever two tags differ.
///
/// ```
/// use sealwright::{Aead, Suite};
///
/// let tag = Suite::Aes128Gcm.aead(&[7; 16])?.seal_in_place(&[1; 12], b"", &mut [])?;
/// assert!(tag.matches(tag.as_ref()) && !tag.matches(&[0; 16]));
/// assert_eq!(tag.as_ref().len(), 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
