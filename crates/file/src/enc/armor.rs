//! Base64 around the ciphertext, in OpenSSL's lines of 64.

use std::io::{self, Read, Write};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::error::EncError;
use crate::{
    error::{Error, OUTPUT},
    read::fill,
};

/// Whether the ciphertext is in base64.
///
/// ```
/// use sealwright_file::enc::{Armor, Enc, EncSecret};
///
/// let cipher = "aes-128-ctr".parse()?;
/// let enc = Enc::new(cipher, EncSecret::from_hex(cipher, &"07".repeat(16), &"01".repeat(16))?).armor(Armor::OneLine); // -a -A
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Armor {
    /// Bytes.
    #[default]
    None,
    /// `-a`: base64 in lines of 64 characters.
    Lines,
    /// `-a -A`: base64 in one line without an end.
    OneLine,
}

/// Bytes that make a line.
const LINE: usize = 48;

/// Writes its input to `to`, encoded in base64 if requested.
pub(super) struct Encoder<'a, W> {
    to: &'a mut W,
    armor: Armor,
    /// Bytes that do not fill a line yet.
    rest: Vec<u8>,
}

impl<'a, W: Write> Encoder<'a, W> {
    pub(super) fn new(to: &'a mut W, armor: Armor) -> Self {
        Encoder { to, armor, rest: Vec::new() }
    }

    /// Writes `bytes`, except for the last ones that do not fill a line yet.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.armor == Armor::None {
            return self.to.write_all(bytes).map_err(Error::io("write", OUTPUT));
        }
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() / LINE * LINE;
        self.put(whole)
    }

    /// Writes the incomplete last line.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.put(self.rest.len())?;
        self.to.flush().map_err(Error::io("write", OUTPUT))
    }

    fn put(&mut self, len: usize) -> Result<(), Error> {
        let mut text = String::with_capacity(len / LINE * 65 + 70);
        for line in self.rest[..len].chunks(LINE) {
            STANDARD.encode_string(line, &mut text);
            if self.armor == Armor::Lines {
                text.push('\n');
            }
        }
        self.rest.drain(..len);
        self.to.write_all(text.as_bytes()).map_err(Error::io("write", OUTPUT))
    }
}

/// Reads from `from`, decoding base64 if requested. White space is skipped everywhere.
pub(super) struct Decoder<'a, R> {
    from: &'a mut R,
    armor: Armor,
    /// Characters of an incomplete group of four.
    text: Vec<u8>,
    /// Decoded bytes not yet read.
    bytes: Vec<u8>,
    taken: usize,
    /// Characters read so far, for the error.
    at: u64,
    ended: bool,
    padded: bool,
}

impl<'a, R: Read> Decoder<'a, R> {
    pub(super) fn new(from: &'a mut R, armor: Armor) -> Self {
        Decoder { from, armor, text: Vec::new(), bytes: Vec::new(), taken: 0, at: 0, ended: false, padded: false }
    }

    /// Decodes the next piece of input.
    fn refill(&mut self) -> Result<(), Error> {
        let mut raw = [0; 64 * 1024];
        let got = fill(self.from, &mut raw)?;
        self.at += got as u64;
        self.ended = got < raw.len();
        self.text.extend(raw[..got].iter().filter(|c| !c.is_ascii_whitespace()));
        let whole = if self.ended { self.text.len() } else { self.text.len() / 4 * 4 };
        let wrong = EncError::NotBase64(self.at);
        if self.padded && whole > 0 {
            return Err(wrong.into());
        }
        self.bytes = STANDARD.decode(&self.text[..whole]).map_err(|_| wrong)?;
        self.padded = self.text[..whole].ends_with(b"=");
        self.text.drain(..whole);
        self.taken = 0;
        Ok(())
    }
}

impl<R: Read> Read for Decoder<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.armor == Armor::None {
            return self.from.read(buffer);
        }
        while self.taken == self.bytes.len() {
            if self.ended {
                return Ok(0);
            }
            self.refill()?;
        }
        let n = buffer.len().min(self.bytes.len() - self.taken);
        buffer[..n].copy_from_slice(&self.bytes[self.taken..self.taken + n]);
        self.taken += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Characters that are read at once.
    const PIECE: usize = 64 * 1024;

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 7 % 251) as u8).collect()
    }

    fn read(text: &[u8]) -> Result<Vec<u8>, Error> {
        let (mut from, mut out) = (text, Vec::new());
        match Decoder::new(&mut from, Armor::Lines).read_to_end(&mut out) {
            Ok(_) => Ok(out),
            Err(error) => Err(error.downcast().unwrap()),
        }
    }

    /// The number of characters read when decoding failed.
    fn wrong(text: &[u8]) -> u64 {
        match read(text).unwrap_err() {
            Error::Enc(EncError::NotBase64(at)) => at,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn lines_are_written_as_openssl_writes_them() {
        for len in [0, 1, 47, 48, 49, 97, 200, 5000] {
            let bytes = bytes(len);
            let lines: String = bytes.chunks(48).map(|line| STANDARD.encode(line) + "\n").collect();
            let wanted = [
                (Armor::None, bytes.clone()),
                (Armor::Lines, lines.into_bytes()),
                (Armor::OneLine, STANDARD.encode(&bytes).into_bytes()),
            ];
            for ((armor, text), step) in
                wanted.into_iter().flat_map(|wanted| [1, 50, 5000].map(|n| (wanted.clone(), n)))
            {
                let mut to = Vec::new();
                let mut encoder = Encoder::new(&mut to, armor);
                bytes.chunks(step).for_each(|bytes| encoder.write(bytes).unwrap());
                encoder.finish().unwrap();
                assert_eq!(to, text, "{len} bytes in writes of {step}, {armor:?}");
            }
        }
    }

    /// Decoded bytes are returned before more input is read.
    #[test]
    fn whole_groups_are_given_at_once() {
        let text = STANDARD.encode(bytes(2 * PIECE));
        for (spaces, left) in [(0, 0), (1, 3), (2, 2), (3, 1)] {
            let text = format!("{}{text}", " ".repeat(spaces));
            let mut from = text.as_bytes();
            let mut decoder = Decoder::new(&mut from, Armor::OneLine);
            decoder.refill().unwrap();
            assert_eq!((decoder.text.len(), decoder.bytes.len()), (left, (PIECE - spaces) / 4 * 3), "{spaces} spaces");
            assert_eq!(decoder.bytes, bytes(2 * PIECE)[..decoder.bytes.len()]);
        }
    }

    /// Padding may be the last thing in a piece of input; after it, only white space is allowed.
    #[test]
    fn nothing_follows_padding() {
        for len in [PIECE / 4 * 3 - 1, PIECE / 4 * 3 - 2] {
            let text = STANDARD.encode(bytes(len)).into_bytes();
            assert_eq!((text.len(), read(&text).unwrap()), (PIECE, bytes(len)));
            assert_eq!(read(&[&text[..], b"\n \n"].concat()).unwrap(), bytes(len));
            assert_eq!(wrong(&[&text[..], b"AAAA"].concat()), PIECE as u64 + 4);
        }
        assert_eq!(read(b" AA\n==\n").unwrap(), [0]);
        assert_eq!(wrong(b"AA==AAAA"), 8);
    }

    #[test]
    fn where_reading_stopped_is_told() {
        assert_eq!((wrong(b"AAA?"), wrong(b"AAAAA"), wrong(b"AAAA\nA=\n")), (4, 5, 8));
        let mut text = vec![b'A'; 2 * PIECE + 100];
        text[PIECE + 7] = b'?';
        assert_eq!(wrong(&text), 2 * PIECE as u64);
        *text.last_mut().unwrap() = b'?';
        text[PIECE + 7] = b'A';
        assert_eq!(wrong(&text), text.len() as u64);
    }
}
