//! Authentication tags.

use core::{fmt, num::NonZero};

use crate::simd::{Block, unknown, verdict};

/// The longest tag of any mode, in bytes.
pub const MAX_TAG: usize = 48;

/// The shortest tag of any mode, in bytes.
const MIN_TAG: usize = 4;

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
#[must_use = "without its tag nobody can open the message"]
pub struct Tag {
    bytes: [u8; MAX_TAG],
    /// Never 0: with this niche, a `Result` with a tag in it is no larger than the tag, and none is moved to build one.
    len: NonZero<u8>,
}
const _: () = assert!(size_of::<Result<Tag, crate::SealError>>() == size_of::<Tag>());

/// A length in the form that a tag stores; 0 is not a tag length.
#[inline]
fn kept(len: usize) -> NonZero<u8> {
    NonZero::new(len as u8).unwrap_or(NonZero::<u8>::MIN)
}

impl Tag {
    /// A tag of `bytes`, of which there must be 1 to [`MAX_TAG`]; further bytes are cut off.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let len = bytes.len().min(MAX_TAG);
        let mut tag = Tag { bytes: [0; MAX_TAG], len: kept(len) };
        tag.bytes[..len].copy_from_slice(&bytes[..len]);
        tag
    }

    /// The first `len` bytes of `block`.
    #[inline]
    pub(crate) fn of_block(block: &Block, len: usize) -> Self {
        let mut bytes = [0; MAX_TAG];
        bytes[..16].copy_from_slice(block);
        Tag { bytes, len: kept(len.min(16)) }
    }

    /// Whether `other` has the same length and value as this tag, in constant time for a given length.
    #[must_use = "a message whose tag does not match is forged"]
    pub fn matches(&self, other: &[u8]) -> bool {
        same(self.as_ref(), other)
    }

    /// Whether this tag begins with `start`, of 4 bytes or more, in constant time for a given length: for a protocol
    /// that sends a part of the tag, as SP 800-38D (5.2.1.2) allows. Each byte less makes a forgery 256 times as likely.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let tag = Suite::Aes128Gcm.aead(&[7; 16])?.seal_in_place(&[1; 12], b"", &mut [])?;
    /// assert!(tag.begins_with(&tag.as_ref()[..12]) && tag.begins_with(tag.as_ref()));
    /// assert!(!tag.begins_with(&[0; 12]) && !tag.begins_with(b"") && !tag.begins_with(&[0; 17]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "a message whose tag does not match is forged"]
    pub fn begins_with(&self, start: &[u8]) -> bool {
        start.len() >= MIN_TAG && self.as_ref().get(..start.len()).is_some_and(|ours| same(ours, start))
    }
}

/// All 16 bytes of a tag as an integer, which a kernel returns to its caller in registers. An array would be returned
/// through memory, and unpacked from a `Result` in pieces, so that the next load stalls.
#[derive(Clone, Copy)]
pub(crate) struct Whole(u128);

impl Whole {
    #[inline(always)]
    pub(crate) fn of(block: Block) -> Self {
        Whole(u128::from_ne_bytes(block))
    }

    #[inline(always)]
    pub(crate) fn block(self) -> Block {
        self.0.to_ne_bytes()
    }

    /// The first `len` bytes.
    #[inline(always)]
    pub(crate) fn tag(self, len: usize) -> Tag {
        Tag::of_block(&self.block(), len)
    }

    /// Writes the first `to.len()` bytes, at most 16.
    #[inline(always)]
    pub(crate) fn write(self, to: &mut [u8]) {
        match <&mut Block>::try_from(&mut *to) {
            Ok(to) => *to = self.block(),
            Err(_) => to.copy_from_slice(&self.block()[..to.len()]),
        }
    }

    /// Whether `other` is equal to the first `len` bytes.
    #[inline(always)]
    pub(crate) fn matches(self, len: usize, other: &[u8]) -> bool {
        if len == 16 && other.len() == 16 {
            same(&self.block(), other)
        } else {
            same(&self.block()[..len.min(16)], other)
        }
    }
}

/// Whether two tags have the same length and value, in constant time for a given length.
#[inline]
pub(crate) fn same(ours: &[u8], theirs: &[u8]) -> bool {
    if ours.len() != theirs.len() {
        return false;
    }
    // Whole blocks are compared as integers: comparing a tag byte by byte took as long as a third of a short packet.
    let ((ours, ours_end), (theirs, theirs_end)) = (ours.as_chunks(), theirs.as_chunks());
    let number = |block: &Block| u128::from_ne_bytes(*block);
    let blocks = ours.iter().zip(theirs).fold(0, |differing, (a, b)| differing | (number(a) ^ number(b)));
    let bytes = ours_end.iter().zip(theirs_end).fold(0, |differing, (a, b)| differing | (a ^ b));
    verdict(unknown(blocks as u64 | (blocks >> 64) as u64 | u64::from(bytes)) == 0)
}

impl AsRef<[u8]> for Tag {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len.get().into()]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_the_same_if_every_bit_and_the_length_are() {
        let bytes: [u8; MAX_TAG + 1] = core::array::from_fn(|i| (i * 37) as u8);
        for len in 0..=MAX_TAG {
            let ours = &bytes[..len];
            assert!(same(ours, ours), "{len}");
            assert!(!same(ours, &bytes[..len + 1]) && !same(&bytes[..len + 1], ours), "{len}");
            for bit in 0..8 * len {
                let mut theirs = bytes;
                theirs[bit / 8] ^= 1 << (bit % 8);
                assert!(!same(ours, &theirs[..len]), "{len}, {bit}");
            }
        }
    }

    #[test]
    fn a_tag_begins_with_four_bytes_of_it_or_more() {
        let bytes: [u8; MAX_TAG + 1] = core::array::from_fn(|i| (i * 37) as u8);
        for len in MIN_TAG..=MAX_TAG {
            let tag = Tag::new(&bytes[..len]);
            for start in 0..=MAX_TAG + 1 {
                assert_eq!(tag.begins_with(&bytes[..start]), (MIN_TAG..=len).contains(&start), "{len}, {start}");
            }
            for at in 0..len {
                let mut other = bytes;
                other[at] ^= 0x80;
                assert!(
                    !tag.begins_with(&other[..len]) && tag.begins_with(&other[..at]) == (at >= MIN_TAG),
                    "{len}, {at}"
                );
            }
        }
    }

    #[test]
    fn a_computed_tag_is_matched_by_so_many_bytes() {
        let block: Block = core::array::from_fn(|i| (i * 37 + 1) as u8);
        for len in 0..=16 {
            for other in 0..=16 {
                assert_eq!(Whole::of(block).matches(len, &block[..other]), len == other, "{len}, {other}");
            }
            for at in 0..len {
                let mut other = block;
                other[at] ^= 1;
                assert!(!Whole::of(block).matches(len, &other[..len]), "{len}: {at}");
            }
        }
    }

    /// Differences that are alike do not cancel: two bytes with the same bit wrong, in any two places.
    #[test]
    fn two_errors_are_not_none() {
        let bytes: [u8; 48] = core::array::from_fn(|i| (i * 37) as u8);
        for len in [2, 12, 16, 17, 32, 40, 48] {
            for a in 0..len {
                for b in a + 1..len {
                    let mut theirs = bytes;
                    theirs[a] ^= 0x10;
                    theirs[b] ^= 0x10;
                    assert!(!same(&bytes[..len], &theirs[..len]), "{len}: {a} and {b}");
                }
            }
        }
    }
}
