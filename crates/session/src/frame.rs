//! Frames: what is sent between a client and a server.
//!
//! ```text
//!  0         1            2       4           8                16
//!  | ver kind | flags phase | len   | session   | seq            | payload                  | tag 16 |
//!  '----------- header, associated data: one block of GHASH -----'---- sealed: len bytes ---'--------'
//! ```
//! Numbers are big endian. `ver` is 1 and occupies the high half of its byte, `kind` the low half; `flags` is 0. The
//! phase is the low four bits of the session's epoch, which distinguishes frames under old keys from forged ones. `len`
//! is the length of the payload. A stream is a sequence of frames; a frame has at most [`MAX_FRAME`] bytes and is
//! sealed as a whole.
//!
//! A table of sessions accepts any payload. With [`Client`](crate::Client) and [`unsealed`] it begins with the number
//! of a session, 4 bytes: the recipient's, or on the way to a client the sender's. The crate `sealwright-relay` uses
//! addresses of 8 bytes instead.
//!
//! ```
//! use sealwright_session::frame;
//!
//! let frame = frame::unsealed(8, b"hello"); // to client 8; a `Client` or a table seals it
//! assert_eq!(frame.len(), 16 + 4 + 5 + 16);
//! assert_eq!(frame::address(frame::payload(&frame)), Some((8, &b"hello"[..])));
//! ```

use thiserror::Error;

use crate::error::SessionError;

/// Length of a header in bytes.
pub const HEADER: usize = 16;
/// Length of a tag in bytes.
pub const TAG: usize = 16;
/// Length of the session number before the data, which [`unsealed`] writes and [`address`] reads.
pub const ADDRESS: usize = 4;
/// The longest frame in bytes.
pub const MAX_FRAME: usize = 65_535;
/// The longest payload in bytes: address and data.
pub const MAX_PAYLOAD: usize = MAX_FRAME - HEADER - TAG;

/// The version of the format.
const VERSION: u8 = 1;

/// The purpose of a frame.
///
/// ```
/// use sealwright_session::{Client, Material, Plan, frame::{self, FrameKind}, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
/// let frame = Client::new(relay.admit(7, 7, &Material::random()?)?).seal(8, b"hello")?;
/// assert_eq!(frame::first(&frame)?.map(|header| header.kind), Some(FrameKind::Data));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum FrameKind {
    /// Data from one client for another.
    Data = 1,
}

/// The header of a frame.
///
/// ```
/// use sealwright_session::frame::{FrameKind, Header};
///
/// let header = Header { kind: FrameKind::Data, phase: 3, len: 9, session: 7, seq: 1 };
/// let bytes = header.write();
/// assert_eq!(Header::read(&bytes), Ok(header));
/// assert_eq!(header.frame_len(), 16 + 9 + 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The purpose of the frame.
    pub kind: FrameKind,
    /// The low four bits of the session's epoch.
    pub phase: u8,
    /// Length of the payload in bytes, at most [`MAX_PAYLOAD`].
    pub len: u16,
    /// The session of the client that sent the frame or will receive it.
    pub session: u32,
    /// The packet's number, which determines its nonce.
    pub seq: u64,
}

/// Why bytes are not a header. The rest of the stream can then not be parsed.
///
/// ```
/// use sealwright_session::frame::{Header, HeaderError};
///
/// assert_eq!(Header::read(b"GET / HTTP/1.1\r\n"), Err(HeaderError::Version)); // not a client of ours: hang up
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// Another version of the format.
    #[error("the frame has an unknown version")]
    Version,
    /// A kind that this version does not define.
    #[error("the frame is of an unknown kind")]
    Kind,
    /// Flags that this version does not define.
    #[error("the frame has unknown flags")]
    Flags,
    /// A payload longer than [`MAX_PAYLOAD`].
    #[error("the frame is longer than a frame may be")]
    Oversize,
}

impl Header {
    /// Parses a header, which is not authenticated.
    ///
    /// # Errors
    /// [`HeaderError`] says what is wrong with it.
    #[inline]
    pub fn read(bytes: &[u8; HEADER]) -> Result<Header, HeaderError> {
        let bytes = u128::from_be_bytes(*bytes);
        let (high, seq) = ((bytes >> 64) as u64, bytes as u64);
        let [first, second] = ((high >> 48) as u16).to_be_bytes();
        if first >> 4 != VERSION {
            return Err(HeaderError::Version);
        }
        if first & 15 != FrameKind::Data as u8 {
            return Err(HeaderError::Kind);
        }
        if second >> 4 != 0 {
            return Err(HeaderError::Flags);
        }
        let len = (high >> 32) as u16;
        if usize::from(len) > MAX_PAYLOAD {
            return Err(HeaderError::Oversize);
        }
        Ok(Header { kind: FrameKind::Data, phase: second & 15, len, session: high as u32, seq })
    }

    /// The header's bytes.
    #[inline]
    pub fn write(&self) -> [u8; HEADER] {
        let first = u64::from(VERSION << 4 | self.kind as u8) << 56 | u64::from(self.phase & 15) << 48;
        let high = first | u64::from(self.len) << 32 | u64::from(self.session);
        (u128::from(high) << 64 | u128::from(self.seq)).to_be_bytes()
    }

    /// Length of the whole frame in bytes.
    pub fn frame_len(&self) -> usize {
        HEADER + usize::from(self.len) + TAG
    }
}

/// The header of the frame at the start of a stream, or `None` if the header is not complete yet. The frame is complete
/// when the stream has [`Header::frame_len`] bytes.
///
/// ```
/// use sealwright_session::frame::{self, FrameKind, Header};
///
/// /// The first whole frame that has arrived.
/// fn next(arrived: &[u8]) -> Result<Option<&[u8]>, frame::HeaderError> {
///     Ok(frame::first(arrived)?.and_then(|header| arrived.get(..header.frame_len())))
/// }
/// let header = Header { kind: FrameKind::Data, phase: 0, len: 4, session: 7, seq: 1 };
/// let mut arrived = header.write().to_vec();
/// assert_eq!(next(&arrived)?, None); // more is on its way
/// arrived.resize(36, 0);
/// assert_eq!(next(&arrived)?.map(<[u8]>::len), Some(36));
/// # Ok::<(), frame::HeaderError>(())
/// ```
///
/// # Errors
/// [`HeaderError`] if no frame starts here.
pub fn first(stream: &[u8]) -> Result<Option<Header>, HeaderError> {
    stream.first_chunk().map(Header::read).transpose()
}

/// The payload of a complete frame, sealed or opened as the frame is. Empty if the frame is too short.
///
/// ```
/// use sealwright_session::frame;
///
/// assert_eq!(frame::payload(&frame::unsealed(8, b"hello")), b"\0\0\0\x08hello");
/// assert_eq!(frame::payload(b"too short"), b"");
/// ```
pub fn payload(frame: &[u8]) -> &[u8] {
    frame.get(HEADER..frame.len().saturating_sub(TAG)).unwrap_or_default()
}

/// Splits a payload into the session number at its start and the data.
///
/// ```
/// use sealwright_session::frame;
///
/// assert_eq!(frame::address(b"\0\0\0\x08hello"), Some((8, &b"hello"[..])));
/// assert_eq!(frame::address(b"\0\0"), None);
/// ```
pub fn address(payload: &[u8]) -> Option<(u32, &[u8])> {
    payload.split_first_chunk().map(|(address, data)| (u32::from_be_bytes(*address), data))
}

/// A frame that contains address and data, with room for header and tag, ready to be sealed.
///
/// ```
/// use sealwright_session::{Material, Plan, frame, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
/// relay.admit(8, 8, &Material::random()?)?;
/// let mut frame = frame::unsealed(7, b"from client 7");
/// relay.seal(8, 8, &mut frame)?; // for client 8
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the data is longer than a frame can hold.
pub fn unsealed(address: u32, data: &[u8]) -> Vec<u8> {
    assert!(data.len() <= MAX_PAYLOAD - ADDRESS, "a frame takes {} bytes of data", MAX_PAYLOAD - ADDRESS);
    let mut frame = Vec::with_capacity(HEADER + ADDRESS + data.len() + TAG);
    frame.extend_from_slice(&[0; HEADER]);
    frame.extend_from_slice(&address.to_be_bytes());
    frame.extend_from_slice(data);
    frame.extend_from_slice(&[0; TAG]);
    frame
}

/// A frame's header, payload and tag.
type Parts<'a> = (&'a mut [u8; HEADER], &'a mut [u8], &'a mut [u8; TAG]);

/// Splits a frame into its parts.
#[inline]
pub(crate) fn parts(frame: &mut [u8]) -> Result<Parts<'_>, SessionError> {
    if frame.len() > MAX_FRAME {
        return Err(SessionError::Oversize);
    }
    let (header, rest) = frame.split_first_chunk_mut().ok_or(SessionError::Short)?;
    let (text, tag) = rest.split_last_chunk_mut().ok_or(SessionError::Short)?;
    Ok((header, text, tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Header =
        Header { kind: FrameKind::Data, phase: 0xb, len: 0x1234, session: 0x89ab_cdef, seq: 0x0102_0304_0506_0708 };

    #[test]
    fn a_header_s_bytes_are_where_the_format_says() {
        let bytes = [0x11, 0x0b, 0x12, 0x34, 0x89, 0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(HEAD.write(), bytes);
        assert_eq!(Header::read(&bytes), Ok(HEAD));
        assert_eq!(HEAD.frame_len(), 0x1234 + 32);
        assert_eq!(Header { phase: 0xfb, ..HEAD }.write(), bytes, "of a phase four bits are written");
        let ends = [0, u64::MAX].map(|seq| Header { phase: 15, len: 0, session: u32::MAX, seq, ..HEAD });
        assert_eq!(ends.map(|header| Header::read(&header.write())), ends.map(Ok));
    }

    #[test]
    fn other_versions_kinds_and_flags_are_refused() {
        for (first, second) in (0..=255).flat_map(|first| [0, 0x0f, 0x10, 0x80, 0xff].map(|second| (first, second))) {
            let mut bytes = HEAD.write();
            bytes[..2].copy_from_slice(&[first, second]);
            let wanted = match (first >> 4, first & 15, second >> 4) {
                (1, 1, 0) => Ok(Header { phase: second, ..HEAD }),
                (1, 1, _) => Err(HeaderError::Flags),
                (1, ..) => Err(HeaderError::Kind),
                _ => Err(HeaderError::Version),
            };
            assert_eq!(Header::read(&bytes), wanted, "{first:x} {second:x}");
        }
    }

    #[test]
    fn a_frame_has_at_most_its_most_bytes() {
        for len in [0, 1, 0x7fff, 0xfffe, 0xffff].into_iter().chain(MAX_PAYLOAD as u16 - 1..=MAX_PAYLOAD as u16 + 1) {
            let header = Header { len, ..HEAD };
            let fits = usize::from(len) + 32 <= 65_535;
            assert_eq!(
                Header::read(&header.write()),
                if fits { Ok(header) } else { Err(HeaderError::Oversize) },
                "{len}"
            );
        }
        assert!(parts(&mut [0; MAX_FRAME]).is_ok_and(|(_, text, _)| text.len() == MAX_PAYLOAD));
        assert!(matches!(parts(&mut [0; MAX_FRAME + 1]), Err(SessionError::Oversize)));
        assert!(parts(&mut [0; 32]).is_ok_and(|(_, text, _)| text.is_empty()));
        assert!(matches!(parts(&mut [0; 31]), Err(SessionError::Short)));
        assert_eq!(unsealed(0, &[1; MAX_PAYLOAD - ADDRESS]).len(), MAX_FRAME);
    }

    #[test]
    #[should_panic(expected = "a frame takes 65499 bytes of data")]
    fn data_that_no_frame_takes() {
        unsealed(0, &[1; MAX_PAYLOAD - ADDRESS + 1]);
    }

    #[test]
    fn addresses_and_payloads() {
        let frame = unsealed(0x0102_0304, b"data");
        assert_eq!((payload(&frame), frame.len()), (&b"\x01\x02\x03\x04data"[..], 40));
        assert_eq!(address(payload(&frame)), Some((0x0102_0304, &b"data"[..])));
        assert_eq!((payload(&frame[..31]), address(&[0; 3])), (&[][..], None));
        assert_eq!(address(&[0; 4]), Some((0, &[][..])));
        assert_eq!(first(&HEAD.write()[..15]), Ok(None));
        assert_eq!(first(&[HEAD.write(), [9; 16]].concat()), Ok(Some(HEAD)));
        assert_eq!(first(&[0; 16]), Err(HeaderError::Version));
    }
}
