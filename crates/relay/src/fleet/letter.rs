//! What nodes tell each other, within sealed messages.
//!
//! One kind a message: `1` frames, each as receiver 4, sender 4, length 2, data; `2` an opening as session 4, milliseconds
//! 8, name; `3` a name that is gone. Numbers are big endian.

use std::str;

/// The most bytes of a message's text.
pub(crate) const LONGEST: usize = 60 << 10;
const FRAME: usize = 4 + 4 + 2;

/// One message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Letter<'a> {
    Frames(Frames<'a>),
    Opened { session: u32, at: u64, name: &'a str },
    Closed { name: &'a str },
}

/// Opened frames: receiver, sender, data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frames<'a>(&'a [u8]);

/// Starts a message of frames.
pub(crate) fn frames() -> Vec<u8> {
    vec![1]
}

/// Adds one.
pub(crate) fn push(letter: &mut Vec<u8>, to: u32, from: u32, data: &[u8]) {
    letter.extend_from_slice(&to.to_be_bytes());
    letter.extend_from_slice(&from.to_be_bytes());
    letter.extend_from_slice(&(data.len() as u16).to_be_bytes());
    letter.extend_from_slice(data);
}

/// Whether data of that length has no place in a message any more.
pub(crate) fn is_full(letter: &[u8], data: usize) -> bool {
    letter.len() + FRAME + data > LONGEST
}

pub(crate) fn opened(session: u32, at: u64, name: &str) -> Vec<u8> {
    [&[2], &session.to_be_bytes()[..], &at.to_be_bytes(), name.as_bytes()].concat()
}

pub(crate) fn closed(name: &str) -> Vec<u8> {
    [&[3], name.as_bytes()].concat()
}

/// Reads one; nothing where it makes no sense.
pub(crate) fn read(text: &[u8]) -> Option<Letter<'_>> {
    let (kind, rest) = text.split_first()?;
    match kind {
        1 => Some(Letter::Frames(Frames(rest))),
        2 => {
            let (session, rest) = rest.split_first_chunk()?;
            let (at, name) = rest.split_first_chunk()?;
            let name = str::from_utf8(name).ok()?;
            Some(Letter::Opened { session: u32::from_be_bytes(*session), at: u64::from_be_bytes(*at), name })
        }
        3 => Some(Letter::Closed { name: str::from_utf8(rest).ok()? }),
        _ => None,
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = (u32, u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (to, rest) = self.0.split_first_chunk()?;
        let (from, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (data, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        self.0 = rest;
        Some((u32::from_be_bytes(*to), u32::from_be_bytes(*from), data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_read_as_they_were_written() {
        let mut letter = frames();
        push(&mut letter, 1, 2, b"data");
        push(&mut letter, 3, 4, b"");
        let Some(Letter::Frames(all)) = read(&letter) else { panic!("frames") };
        assert_eq!(all.collect::<Vec<_>>(), [(1, 2, &b"data"[..]), (3, 4, &b""[..])]);
        assert!(is_full(&letter, LONGEST - letter.len() - FRAME + 1) && !is_full(&letter, 1500));
        assert_eq!(read(&opened(7, 8, "alice")), Some(Letter::Opened { session: 7, at: 8, name: "alice" }));
        assert_eq!(read(&closed("bob")), Some(Letter::Closed { name: "bob" }));
    }

    #[test]
    fn what_makes_no_sense_is_nothing() {
        for text in [&b""[..], b"\x09", b"\x02123", b"\x03\xff"] {
            assert_eq!(read(text), None);
        }
        let mut letter = frames();
        push(&mut letter, 1, 2, b"data");
        let Some(Letter::Frames(all)) = read(&letter[..letter.len() - 1]) else { panic!("frames") };
        assert_eq!(all.count(), 0, "a frame that is cut");
    }
}
