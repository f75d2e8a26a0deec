//! Armor: a sealed file as text, for mail and chat. Base64 in lines of 64 between two marks.
//!
//! ```
//! use sealwright_file::{Input, Key, Opening, Output, Sealing, Shared, armor};
//!
//! let (key, mut sealed) = (Key::generate(sealwright::Suite::Aes256Gcm)?, Shared::default());
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

/// Bytes in a line.
const LINE: usize = 48;

/// A writer that armors. [`ArmorWriter::finish`] writes the last line.
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

    /// Writes what is left and the last line.
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

/// A reader of what was armored. The base64 is held to one form: only then does one text belong to one file.
pub(crate) struct ArmorReader<R> {
    from: BufReader<R>,
    begun: bool,
    ended: bool,
    /// A line shorter than the others was read: only the last line may follow.
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

    /// Decodes the next line; at the end there are no bytes.
    fn next_line(&mut self) -> io::Result<()> {
        let bad = |line| io::Error::from(Error::NotAuthentic(Flaw::Armor { line }));
        let mut text = Vec::new();
        // A line of armor is short; one that is not is not read to its end.
        self.from.by_ref().take(200).read_until(b'\n', &mut text)?;
        self.line += 1;
        let line = text.trim_ascii_end();
        if !self.begun {
            self.begun = true;
            return if line == BEGIN.as_bytes() { self.next_line() } else { Err(bad(self.line)) };
        }
        (self.bytes, self.given) = (Vec::new(), 0);
        if line == END.as_bytes() {
            let mut rest = Vec::new();
            self.from.by_ref().take(1024).read_to_end(&mut rest)?;
            self.ended = true;
            return if rest.trim_ascii().is_empty() { Ok(()) } else { Err(bad(self.line + 1)) };
        }
        if self.short || line.is_empty() || line.len() > 64 {
            return Err(bad(self.line));
        }
        self.bytes = STANDARD.decode(line).map_err(|_| bad(self.line))?;
        self.short = self.bytes.len() < LINE;
        Ok(())
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
