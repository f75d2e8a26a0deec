//! The layout: where each chunk begins, its nonce, and conversion between the lengths of text and sealed stream.
//!
//! Offsets and lengths are in bytes and count from the salt, with which a sealed stream begins.
//!
//! ```
//! use sealwright_stream::chunk;
//!
//! // Which bytes of a sealed stream to fetch for byte 1 000 000 of the text.
//! let index = 1_000_000 / chunk::PLAIN as u64;
//! assert_eq!((index, chunk::offset(index)), (61, 56 + 61 * 16_400));
//! // And how long the whole is.
//! assert_eq!(chunk::plain_len(chunk::sealed_len(1_000_000)), Ok(1_000_000));
//! ```

use crate::StreamError;

/// Plaintext bytes in every chunk but the last, which has fewer.
pub const PLAIN: usize = 16_384;
/// Bytes that sealing adds to each chunk.
pub const TAG: usize = 16;
/// Bytes of a sealed chunk that is not the last.
pub const SEALED: usize = PLAIN + TAG;
/// Bytes of the salt, with which a sealed stream begins.
pub const SALT: usize = 24;
/// Bytes of the commitment that follows the salt.
pub const COMMITMENT: usize = 32;
/// Bytes before the first chunk: salt and commitment.
pub const HEADER: usize = SALT + COMMITMENT;
/// Bytes of a nonce.
pub const NONCE: usize = 12;
/// The most chunks in one stream: 4 PiB of text.
pub const MAX_CHUNKS: u64 = 1 << 38;
/// The longest text, in bytes: every chunk is full but the last, which lacks one byte.
pub const MAX_TEXT: u64 = MAX_CHUNKS * PLAIN as u64 - 1;

/// Where chunk `index` begins. `index` must be less than [`MAX_CHUNKS`]: that is not checked, and larger numbers can
/// overflow.
///
/// ```
/// use sealwright_stream::chunk;
///
/// assert_eq!(chunk::offset(0), chunk::HEADER as u64);
/// assert_eq!(chunk::offset(2) - chunk::offset(1), chunk::SEALED as u64);
/// ```
pub fn offset(index: u64) -> u64 {
    HEADER as u64 + index * SEALED as u64
}

/// The nonce of chunk `index`: the base nonce with the big-endian index XORed into its end.
///
/// ```
/// use sealwright_stream::chunk;
///
/// assert_eq!(chunk::nonce(&[0xff; 12], 1)[11], 0xfe);
/// ```
pub fn nonce(base: &[u8; NONCE], index: u64) -> [u8; NONCE] {
    let mut nonce = *base;
    for (byte, i) in nonce[NONCE - 8..].iter_mut().zip(index.to_be_bytes()) {
        *byte ^= i;
    }
    nonce
}

/// Number of chunks of a text of `len` bytes. There is always a last chunk that is shorter than the others; it may be
/// empty.
///
/// ```
/// use sealwright_stream::chunk;
///
/// assert_eq!([0, 1, 16_383, 16_384].map(chunk::count), [1, 1, 1, 2]);
/// ```
pub fn count(len: u64) -> u64 {
    len / PLAIN as u64 + 1
}

/// Length of the sealed stream that a text of `len` bytes makes. `len` must be at most
/// [`MAX_TEXT`]: that is not checked, and larger numbers can overflow.
///
/// ```
/// use sealwright_stream::chunk;
///
/// assert_eq!(chunk::sealed_len(0), 72); // salt, commitment, the tag of an empty chunk
/// ```
pub fn sealed_len(len: u64) -> u64 {
    HEADER as u64 + len + count(len) * TAG as u64
}

/// Length of the text in a sealed stream of `len` bytes. The result is not authenticated, since the stream may be
/// truncated; opening the last chunk proves it.
///
/// ```
/// use sealwright_stream::{StreamError, chunk};
///
/// assert_eq!(chunk::plain_len(100), Ok(28));
/// assert_eq!(chunk::plain_len(71), Err(StreamError::Truncated { offset: 71 }));
/// ```
///
/// # Errors
/// [`StreamError::Truncated`] if no sealed stream has this length, [`StreamError::Chunk`] if the stream has more chunks
/// than the format allows.
pub fn plain_len(len: u64) -> Result<u64, StreamError> {
    let cut = StreamError::Truncated { offset: len };
    let chunks = len.checked_sub(HEADER as u64).ok_or_else(|| cut.clone())?;
    let (full, rest) = (chunks / SEALED as u64, chunks % SEALED as u64);
    let rest = rest.checked_sub(TAG as u64).ok_or(cut)?;
    if full >= MAX_CHUNKS {
        return Err(StreamError::Chunk { index: MAX_CHUNKS, offset: offset(MAX_CHUNKS), last: false });
    }
    Ok(full * PLAIN as u64 + rest)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lengths_go_both_ways() {
        for len in (0..100).chain(16_300..16_500).chain(32_700..32_800).chain([1 << 20, 1 << 40, MAX_TEXT]) {
            assert_eq!(plain_len(sealed_len(len)), Ok(len));
            assert_eq!(sealed_len(len), offset(count(len) - 1) + len % PLAIN as u64 + TAG as u64);
        }
    }

    #[test]
    fn a_body_length_belongs_to_one_text_or_none() {
        let reached: std::collections::HashSet<u64> = (0..40_000).map(sealed_len).collect();
        for len in 0..sealed_len(40_000) {
            assert_eq!(plain_len(len).is_ok(), reached.contains(&len), "{len}");
        }
    }

    #[test]
    fn chunk_limit() {
        assert!(plain_len(sealed_len(MAX_TEXT)).is_ok());
        assert!(plain_len(sealed_len(MAX_TEXT + 1)).is_err());
        assert!(plain_len(u64::MAX).is_err());
    }

    #[test]
    fn nonces_differ_in_the_last_five_bytes() {
        let base = [0xff; NONCE];
        assert_eq!(nonce(&base, 0), base);
        assert_eq!(nonce(&base, MAX_CHUNKS - 1)[..7], base[..7]);
        assert_eq!(nonce(&[0; NONCE], 0x0001_0203_0405)[7..], [1, 2, 3, 4, 5]);
    }
}
