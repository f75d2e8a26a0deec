//! Messages between nodes, inside the sealed ones of [`link`](super::link). The first byte is the kind; numbers are big
//! endian.
//!
//! | kind | what | then |
//! |---|---|---|
//! | 1 | frames | a batch of the data plane |
//! | 2 | a name was opened | address 8, stamp 8 (milliseconds since 1970, or later; at most 2^62), name |
//! | 3 | a name is gone | address 8, name |
//! | 4 | heartbeat | digest of the sender's names: count 4, sum 8 |
//! | 5 | request for all names | nothing |
//! | 6 | names of the sender | 1 in the first part, 2 in the last, 3 in the only one, else 0; then each name as address 8, stamp 8, length 1, name |

use std::str;

#[cfg(any(test, feature = "fuzz"))]
use crate::data::{Plaintext, push_frame};
use crate::{
    address::Address,
    data::{Frames, MAX_BATCH},
    mesh::directory::{Digest, LAST_STAMP},
};

const FRAMES: u8 = 1;
const OPENED: u8 = 2;
const CLOSED: u8 = 3;
const HEARTBEAT: u8 = 4;
const REQUEST: u8 = 5;
const NAMES: u8 = 6;

/// The first part of a list of names.
pub(crate) const FIRST: u8 = 1;
/// The last part.
pub(crate) const LAST: u8 = 2;

/// One message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    Frames(Frames<'a>),
    Opened { address: Address, stamp: u64, name: &'a str },
    Closed { address: Address, name: &'a str },
    Heartbeat(Digest),
    Request,
    Names { part: u8, names: Vec<(Address, u64, &'a str)> },
}

pub(crate) fn frames(batch: &[u8]) -> Vec<u8> {
    [&[FRAMES], batch].concat()
}

pub(crate) fn opened(address: Address, stamp: u64, name: &str) -> Vec<u8> {
    [&[OPENED], &address.to_bytes()[..], &stamp.to_be_bytes(), name.as_bytes()].concat()
}

pub(crate) fn closed(address: Address, name: &str) -> Vec<u8> {
    [&[CLOSED], &address.to_bytes()[..], name.as_bytes()].concat()
}

pub(crate) fn heartbeat(digest: Digest) -> Vec<u8> {
    [&[HEARTBEAT], &digest.count.to_be_bytes()[..], &digest.sum.to_be_bytes()].concat()
}

pub(crate) fn request() -> Vec<u8> {
    vec![REQUEST]
}

/// The list of all names on a node, in as many messages as needed.
pub(crate) fn names<'a>(names: impl Iterator<Item = (Address, u64, &'a str)>) -> Vec<Vec<u8>> {
    let mut parts = vec![vec![NAMES, FIRST]];
    for (address, stamp, name) in names {
        let Ok(length) = u8::try_from(name.len()) else { continue };
        let entry = [&address.to_bytes()[..], &stamp.to_be_bytes(), &[length], name.as_bytes()].concat();
        if parts.last().is_some_and(|part| part.len() + entry.len() > MAX_BATCH) {
            parts.push(vec![NAMES, 0]);
        }
        parts.last_mut().into_iter().for_each(|part| part.extend_from_slice(&entry));
    }
    parts.last_mut().into_iter().for_each(|part| part[1] |= LAST);
    parts
}

/// Parses a message; `None` if it is malformed.
pub(crate) fn read(text: &[u8]) -> Option<Message<'_>> {
    let (kind, rest) = text.split_first()?;
    match *kind {
        FRAMES => Some(Message::Frames(Frames(rest))),
        OPENED => {
            let (address, rest) = Address::split(rest)?;
            let (stamp, name) = stamped(rest)?;
            Some(Message::Opened { address, stamp, name: str::from_utf8(name).ok()? })
        }
        CLOSED => {
            let (address, name) = Address::split(rest)?;
            Some(Message::Closed { address, name: str::from_utf8(name).ok()? })
        }
        HEARTBEAT => {
            let (count, sum) = rest.split_first_chunk()?;
            let (sum, rest) = sum.split_first_chunk()?;
            let digest = Digest { count: u32::from_be_bytes(*count), sum: u64::from_be_bytes(*sum) };
            rest.is_empty().then_some(Message::Heartbeat(digest))
        }
        REQUEST => rest.is_empty().then_some(Message::Request),
        NAMES => {
            let (&part, mut rest) = rest.split_first()?;
            let mut names = Vec::new();
            while !rest.is_empty() {
                let (address, more) = Address::split(rest)?;
                let (stamp, more) = stamped(more)?;
                let (&length, more) = more.split_first()?;
                let (name, more) = more.split_at_checked(length.into())?;
                names.push((address, stamp, str::from_utf8(name).ok()?));
                rest = more;
            }
            Some(Message::Names { part, names })
        }
        _ => None,
    }
}

fn stamped(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (stamp, rest) = bytes.split_first_chunk()?;
    Some((u64::from_be_bytes(*stamp), rest)).filter(|(stamp, _)| *stamp <= LAST_STAMP)
}

/// Whether a message is unchanged after writing and reading it again; `None` if it is malformed. For fuzzing.
#[cfg(any(test, feature = "fuzz"))]
pub(crate) fn survives(text: &[u8]) -> Option<bool> {
    let message = read(text)?;
    let written = match &message {
        Message::Frames(batch) => {
            // A truncated frame ends a batch; the frames before it must be unchanged
            let mut written = Plaintext::new(vec![FRAMES]);
            batch.for_each(|(to, from, data)| push_frame(&mut written, to, from, data));
            return Some(text.starts_with(written.as_slice()));
        }
        Message::Opened { address, stamp, name } => opened(*address, *stamp, name),
        Message::Closed { address, name } => closed(*address, name),
        Message::Heartbeat(digest) => heartbeat(*digest),
        Message::Request => request(),
        Message::Names { names: all, .. } => {
            let parts = names(all.iter().copied());
            let again = parts.iter().filter_map(|part| match read(part) {
                Some(Message::Names { names, .. }) => Some(names),
                _ => None,
            });
            return Some(again.flatten().eq(all.iter().copied()));
        }
    };
    Some(written == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(session: u32) -> Address {
        Address { session, generation: 9 }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        assert_eq!(read(&frames(b"batch")), Some(Message::Frames(Frames(b"batch"))));
        let name = "alice";
        assert_eq!(read(&opened(address(7), 8, name)), Some(Message::Opened { address: address(7), stamp: 8, name }));
        assert_eq!(read(&closed(address(7), name)), Some(Message::Closed { address: address(7), name }));
        let digest = Digest { count: 3, sum: 1 << 60 };
        assert_eq!(read(&heartbeat(digest)), Some(Message::Heartbeat(digest)));
        assert_eq!(read(&request()), Some(Message::Request));
    }

    #[test]
    fn a_long_list_of_names_takes_several_messages() {
        let all: Vec<String> = (0..5000).map(|number| format!("{number}.sensors.example")).collect();
        let parts = names(all.iter().map(|name| (address(1), 2, name.as_str())));
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= MAX_BATCH));
        let mut read_back = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let Some(Message::Names { part, names }) = read(part) else { panic!("names") };
            assert_eq!((part & FIRST != 0, part & LAST != 0), (at == 0, at + 1 == parts.len()));
            read_back.extend(names.into_iter().map(|(_, _, name)| name.to_owned()));
        }
        assert_eq!(read_back, all);
        assert_eq!(names(std::iter::empty()), [[NAMES, FIRST | LAST]]);
    }

    /// Each message is filled as far as possible.
    #[test]
    fn names_fill_their_messages() {
        // Address, stamp, length and name take 139 bytes; 442 of these entries fit after the two bytes of the head
        let name = "n".repeat(122);
        let lengths = |count| {
            names(vec![(address(1), 2, name.as_str()); count].into_iter()).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(lengths(1), [141]);
        assert_eq!((lengths(442), lengths(443)), (vec![MAX_BATCH], vec![MAX_BATCH, 141]));
        assert_eq!(lengths(2 * 442 + 1), [MAX_BATCH, MAX_BATCH, 141]);
        // The length of a name has one byte
        let (long, longer) = ("n".repeat(255), "n".repeat(256));
        let parts = names([(address(1), 2, longer.as_str()), (address(3), 4, long.as_str())].into_iter());
        let [part] = &parts[..] else { panic!("one part") };
        assert_eq!(read(part), Some(Message::Names { part: FIRST | LAST, names: vec![(address(3), 4, &long)] }));
    }

    #[test]
    fn every_kind_of_message_survives() {
        let mut batch = Plaintext::default();
        push_frame(&mut batch, address(7), address(8), b"some data");
        push_frame(&mut batch, address(9), address(8), b"");
        let list = names([(address(7), 8, "alice"), (address(9), 10, "")].into_iter());
        let digest = heartbeat(Digest { count: 3, sum: 1 << 60 });
        for text in [
            frames(&batch),
            frames(b""),
            opened(address(7), 8, "alice"),
            closed(address(7), ""),
            digest,
            request(),
            list[0].clone(),
        ] {
            assert_eq!(survives(&text), Some(true), "{text:?}");
        }
        // A truncated frame, and bytes that are no frame
        assert_eq!(survives(&frames(&batch[..batch.len() - 1])), Some(true));
        assert_eq!((survives(b""), survives(b"\x09"), survives(b"\x05x")), (None, None, None));
        // Meaningless bits are not written again
        assert_eq!(survives(&[&[NAMES, 0xff], &list[0][2..]].concat()), Some(true));
    }

    #[test]
    fn a_stamp_that_no_other_can_exceed_is_refused() {
        for (stamp, read_back) in [(LAST_STAMP, true), (LAST_STAMP + 1, false), (u64::MAX, false)] {
            assert_eq!(read(&opened(address(7), stamp, "alice")).is_some(), read_back, "{stamp}");
            assert_eq!(read(&names([(address(7), stamp, "alice")].into_iter())[0]).is_some(), read_back, "{stamp}");
        }
    }

    #[test]
    fn a_message_that_makes_no_sense_is_nothing() {
        for text in [&b""[..], b"\x09", b"\x02123", b"\x0312345678\xff", b"\x0412345678901", b"\x05x", b"\x06\x0312"] {
            assert_eq!(read(text), None);
        }
    }
}
