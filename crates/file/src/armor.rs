//! Armor: a sealed file as text, for mail and chat. Base64 in lines of 64 between two marks.
//!
//! ```
//! use sealwright_file::{Input, Key, Opening, Output, Sealing, Shared, armor};
//!
//! let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
//! Sealing::new(&key).armor(true).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
//! let mail = String::from_utf8(sealed.take())?;
//! assert!(mail.starts_with(armor::BEGIN) && mail.trim_end().ends_with(armor::END));
//! Opening::new(&key).verify(Input::bytes(mail, "mail"))?; // recognised
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, BufRead, BufReader, Read, Write};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::error::{Error, Flaw};

/// The first line.
pub const BEGIN: &str = "-----BEGIN SEALED FILE-----";
/// The last line.
pub const END: &str = "-----END SEALED FILE-----";

/// Bytes encoded in a line.
const LINE: usize = 48;
/// Bytes of text that are read of a line at most.
const READ: u64 = 200;

/// A writer that armors. [`ArmorWriter::finish`] must be called to write the last line.
pub(crate) struct ArmorWriter<W> {
    to: W,
    begun: bool,
    /// Bytes that do not fill a line yet.
    rest: Vec<u8>,
}

impl<W: Write> ArmorWriter<W> {
    pub(crate) fn new(to: W) -> Self {
        ArmorWriter { to, begun: false, rest: Vec::with_capacity(LINE) }
    }

    /// Writes the remaining bytes and the last line.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        let mut text = if self.begun { String::new() } else { format!("{BEGIN}\n") };
        if !rest.is_empty() {
            STANDARD.encode_string(&rest, &mut text);
            text.push('\n');
        }
        text += END;
        text.push('\n');
        self.to.write_all(text.as_bytes())?;
        self.to.flush()
    }
}

impl<W: Write> Write for ArmorWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = if self.begun { String::new() } else { format!("{BEGIN}\n") };
        self.begun = true;
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() / LINE * LINE;
        for line in self.rest[..whole].chunks(LINE) {
            STANDARD.encode_string(line, &mut text);
            text.push('\n');
        }
        self.rest.drain(..whole);
        self.to.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A reader of armored files. It accepts only the canonical form of the base64, so that a file has only one armored
/// text.
pub(crate) struct ArmorReader<R> {
    from: BufReader<R>,
    begun: bool,
    ended: bool,
    /// A line shorter than the others was read; only the last line may follow.
    short: bool,
    bytes: Vec<u8>,
    given: usize,
    /// Lines read so far.
    line: u64,
}

impl<R: Read> ArmorReader<R> {
    pub(crate) fn new(from: R) -> Self {
        let from = BufReader::with_capacity(64 * 1024, from);
        ArmorReader { from, begun: false, ended: false, short: false, bytes: Vec::new(), given: 0, line: 0 }
    }

    /// Decodes the next line; at the end, `bytes` is empty.
    fn next_line(&mut self) -> io::Result<()> {
        let bad = |line| io::Error::from(Error::NotAuthentic(Flaw::Armor { line }));
        let mut text = Vec::new();
        // A longer line cannot be valid, so it is not read to its end.
        self.from.by_ref().take(READ).read_until(b'\n', &mut text)?;
        self.line += 1;
        let line = text.trim_ascii_end();
        // Otherwise the rest of a line, after much white space, would be taken for a line of its own.
        let whole = text.ends_with(b"\n") || (text.len() as u64) < READ;
        if !self.begun {
            self.begun = true;
            return if whole && line == BEGIN.as_bytes() { self.next_line() } else { Err(bad(self.line)) };
        }
        (self.bytes, self.given) = (Vec::new(), 0);
        if line == END.as_bytes() {
            self.ended = true;
            return if self.only_space_follows()? { Ok(()) } else { Err(bad(self.line + 1)) };
        }
        if self.short || !whole || line.is_empty() || line.len() > 64 {
            return Err(bad(self.line));
        }
        self.bytes = STANDARD.decode(line).map_err(|_| bad(self.line))?;
        self.short = self.bytes.len() < LINE;
        Ok(())
    }

    /// Reads to the end, however far that is, so that nothing after much white space is overlooked.
    fn only_space_follows(&mut self) -> io::Result<bool> {
        loop {
            let read = match self.from.fill_buf() {
                Ok([]) => return Ok(true),
                Ok(bytes) if !bytes.trim_ascii().is_empty() => return Ok(false),
                Ok(bytes) => bytes.len(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(error) => return Err(error),
            };
            self.from.consume(read);
        }
    }
}

impl<R: Read> Read for ArmorReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut got = 0;
        while got < buffer.len() {
            if self.given == self.bytes.len() {
                if self.ended {
                    break;
                }
                self.next_line()?;
                continue;
            }
            let n = (buffer.len() - got).min(self.bytes.len() - self.given);
            buffer[got..got + n].copy_from_slice(&self.bytes[self.given..self.given + n]);
            (got, self.given) = (got + n, self.given + n);
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::BufWriter;

    use super::*;

    /// Bytes whose lines are all different.
    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 7 % 251) as u8).collect()
    }

    /// The text that is written if `bytes` arrive in pieces of `step` bytes.
    fn armored(bytes: &[u8], step: usize) -> String {
        let mut text = Vec::new();
        let mut writer = ArmorWriter::new(&mut text);
        bytes.chunks(step).for_each(|bytes| writer.write_all(bytes).unwrap());
        writer.finish().unwrap();
        String::from_utf8(text).unwrap()
    }

    /// The bytes that are read with buffers of `step` bytes.
    fn read(text: &str, step: usize) -> io::Result<Vec<u8>> {
        let (mut reader, mut out, mut buffer) = (ArmorReader::new(text.as_bytes()), Vec::new(), vec![0; step]);
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(out),
                n => out.extend_from_slice(&buffer[..n]),
            }
        }
    }

    /// The number of the line that is refused.
    fn wrong(text: &str) -> u64 {
        let error = read(text, 100).unwrap_err().downcast::<Error>().unwrap();
        let Error::NotAuthentic(Flaw::Armor { line }) = error else { panic!("{error}") };
        line
    }

    #[test]
    fn lines_have_48_bytes_and_come_back() {
        for len in [0, 1, 47, 48, 49, 96, 97, 150, 200] {
            let bytes = bytes(len);
            let lines: String = bytes.chunks(48).map(|line| STANDARD.encode(line) + "\n").collect();
            let text = format!("{BEGIN}\n{lines}{END}\n");
            for step in [1, 7, 48, 50, 1000] {
                assert_eq!(armored(&bytes, step), text, "{len} bytes in writes of {step}");
                assert_eq!(read(&text, step).unwrap(), bytes, "{len} bytes in reads of {step}");
            }
            assert_eq!(read(&text.replace('\n', "\r\n"), 64).unwrap(), bytes, "lines as others end them");
        }
    }

    #[test]
    fn flushing_goes_through() {
        let mut text = Vec::new();
        let mut writer = ArmorWriter::new(BufWriter::with_capacity(4096, &mut text));
        writer.write_all(&[0; 48]).unwrap();
        writer.flush().unwrap();
        assert_eq!(writer.to.get_ref().len(), BEGIN.len() + 1 + 64 + 1);
    }

    #[test]
    fn there_is_one_form_and_the_line_that_differs_is_told() {
        let [whole, other] = [bytes(48), vec![9; 48]].map(|line| STANDARD.encode(line));
        let text = |lines: &[&str]| format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"));
        assert_eq!(read(&text(&[&whole, &other, "AAAA"]), 100).unwrap().len(), 99);
        assert_eq!(wrong("a letter\n"), 1);
        assert_eq!(wrong(&text(&[&whole, "not base64", &whole])), 3);
        assert_eq!(wrong(&text(&[&whole, "AAB="])), 3, "bits that are not zero");
        assert_eq!(wrong(&text(&["AAAA", &whole])), 3, "a short line in the middle");
        assert_eq!(wrong(&text(&["AAAA", "AAAA"])), 3);
        assert_eq!((wrong(&text(&[""])), wrong(&text(&[&whole, ""]))), (2, 3), "an empty line");
        assert_eq!(wrong(&text(&[&format!("{whole}AAAA")])), 2, "a line of 68");
        for end in ["\n", ""] {
            assert_eq!(wrong(&format!("{BEGIN}\n{whole}{end}")), 3, "no last line");
        }
        let spaces = |n: usize| " ".repeat(n);
        assert_eq!(read(&text(&[&(whole.clone() + &spaces(135)), "AAAA"]), 100).unwrap().len(), 51);
        assert_eq!(wrong(&text(&[&(whole.clone() + &spaces(136) + &other)])), 2, "two lines in one");
        assert_eq!(
            wrong(&text(&[&whole]).replacen('\n', &spaces(200 - BEGIN.len()), 1)),
            1,
            "the first and another in one"
        );
        assert_eq!(wrong(&format!("{}\n \nmore", text(&[&whole]))), 4, "text behind the last line");
        assert_eq!(read(&format!("{}\n \n", text(&[&whole])), 5).unwrap(), bytes(48), "spaces behind it");
        for spaces in [1024, 1025, 16_384, 200_000].map(|n| " ".repeat(n)) {
            assert_eq!(read(&format!("{}{spaces}", text(&[&whole])), 5).unwrap(), bytes(48), "{}", spaces.len());
            assert_eq!(wrong(&format!("{}{spaces}more", text(&[&whole]))), 4, "{}", spaces.len());
        }
    }

    /// A reader that fails once, at its end.
    struct Fails<'a>(&'a [u8], Option<io::ErrorKind>);

    impl Read for Fails<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.1.take_if(|_| self.0.is_empty()) {
                Some(kind) => Err(kind.into()),
                None => self.0.read(buffer),
            }
        }
    }

    #[test]
    fn what_fails_behind_the_last_line_is_told_and_an_interrupt_is_no_failure() {
        let text = armored(&bytes(50), 50);
        let read = |kind| {
            let mut out = Vec::new();
            // `read_to_end` would retry `Interrupted` itself.
            let mut reader = ArmorReader::new(Fails(text.as_bytes(), Some(kind)));
            while out.len() < 60 {
                let mut byte = [0];
                match reader.read(&mut byte)? {
                    0 => break,
                    _ => out.push(byte[0]),
                }
            }
            io::Result::Ok(out)
        };
        assert_eq!(read(io::ErrorKind::Interrupted).unwrap(), bytes(50));
        assert_eq!(read(io::ErrorKind::TimedOut).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
