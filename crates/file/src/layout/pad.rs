//! Length padding: `text || zeros || length of the text (8)`.
//!
//! All bytes between the text and its length must be zeros. A reader of a stream therefore need not buffer what may be
//! padding: it counts zeros, and writes them when another byte follows. A random-access reader reads the length at the
//! end.

use std::io::{self, IoSliceMut, Read, Write};

use super::held_back::HeldBack;
use crate::{
    error::{Error, Flaw, OUTPUT},
    read::fill,
};

/// Bytes of the length at the end of the padding.
pub(crate) const LENGTH: usize = 8;
/// The minimum length of a padded text, including its length field: short messages have the same length.
const MIN_PADDED_LEN: u64 = 1024;

/// The padded length of a text, including its length field; `None` if it does not fit into 64 bits.
///
/// Padmé (Nikitin et al., Reducing Metadata Leakage from Encrypted Files and Communication with PURBs, PETS 2019): of a
/// length below 2^(E + 1), only the highest log2(E) + 1 bits vary; it is rounded up so that the others are zeros. This
/// reveals O(log log L) bits of the length L, as padding to powers of two does, but adds at most 12 % instead of 100 %.
pub(crate) fn padded_len(text: u64) -> Option<u64> {
    let len = text.checked_add(LENGTH as u64)?.max(MIN_PADDED_LEN);
    let exponent = len.ilog2();
    let low = (1 << (exponent - exponent.ilog2() - 1)) - 1;
    Some(len.checked_add(low)? & !low)
}

/// Reads the text of `from`, then its padding.
pub(crate) struct Padder<R> {
    from: R,
    text: u64,
    /// What is left to be read after the text: a number of zeros, then the bytes of the length.
    tail: Option<(u64, Vec<u8>)>,
}

impl<R: Read> Padder<R> {
    pub(crate) fn new(from: R) -> Self {
        Padder { from, text: 0, tail: None }
    }

    /// Length of the text so far.
    pub(crate) fn text(&self) -> u64 {
        self.text
    }

    /// Counts `got` bytes of text; at its end, prepares the padding.
    fn took(&mut self, got: usize) -> io::Result<()> {
        self.text += got as u64;
        if got == 0 {
            let whole = padded_len(self.text).ok_or(Error::TooLong)?;
            self.tail = Some((whole - self.text - LENGTH as u64, self.text.to_be_bytes().into()));
        }
        Ok(())
    }
}

impl<R: Read> Read for Padder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(buffer)])
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        if buffers.iter().all(|buffer| buffer.is_empty()) {
            return Ok(0);
        }
        if self.tail.is_none() {
            let got = self.from.read_vectored(buffers)?;
            self.took(got)?;
            if got > 0 {
                return Ok(got);
            }
        }
        let Some((zeros, length)) = &mut self.tail else { return Ok(0) };
        let mut given = 0;
        for buffer in buffers {
            let some = buffer.len().min(usize::try_from(*zeros).unwrap_or(usize::MAX));
            buffer[..some].fill(0);
            *zeros -= some as u64;
            let last = (buffer.len() - some).min(length.len());
            buffer[some..some + last].copy_from_slice(&length[..last]);
            length.drain(..last);
            given += some + last;
        }
        Ok(given)
    }
}

/// Writes a padded text to `to` without its padding. [`Unpadder::finish`] checks the length.
pub(crate) struct Unpadder<W> {
    to: W,
    /// The last bytes so far, which are the length if nothing follows.
    tail: HeldBack,
    /// Zeros before `tail` that were not written yet, because they may be padding.
    zeros: u64,
    written: u64,
}

impl<W: Write> Unpadder<W> {
    pub(crate) fn new(to: W) -> Self {
        Unpadder { to, tail: HeldBack::new(LENGTH), zeros: 0, written: 0 }
    }

    fn write_zeros(&mut self, mut zeros: u64) -> io::Result<()> {
        while zeros > 0 {
            let some = zeros.min(ZEROS.len() as u64);
            self.to.write_all(&ZEROS[..some as usize])?;
            self.written += some;
            zeros -= some;
        }
        Ok(())
    }

    /// Takes bytes that are text or padding.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        if text > 0 {
            let zeros = std::mem::take(&mut self.zeros);
            self.write_zeros(zeros)?;
            self.to.write_all(&bytes[..text])?;
            self.written += text as u64;
        }
        self.zeros += (bytes.len() - text) as u64;
        Ok(())
    }

    /// Writes the held-back zeros that belong to the text. Returns the writer and the length of the text.
    ///
    /// # Errors
    /// [`Flaw::Layout`] if the length is inconsistent with the bytes before it.
    pub(crate) fn finish(mut self, name: &str) -> Result<(W, u64), Error> {
        let malformed = || Error::NotAuthentic(Flaw::Layout);
        let length = u64::from_be_bytes(self.tail.bytes().try_into().map_err(|_| malformed())?);
        let zeros = length.checked_sub(self.written).filter(|zeros| *zeros <= self.zeros).ok_or_else(malformed)?;
        let written = self.write_zeros(zeros).and_then(|()| self.to.flush());
        written.map_err(Error::io("write", OUTPUT)).map_err(|error| error.of_output(name))?;
        Ok((self.to, length))
    }
}

static ZEROS: [u8; 16 * 1024] = [0; 16 * 1024];

impl<W: Write> Write for Unpadder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (first, settled) = self.tail.push(bytes);
        self.pass(&first)?;
        self.pass(settled)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Reads the length of the text at the end of a padded text of `whole` bytes.
pub(crate) fn read_length(from: &mut impl Read, whole: u64) -> Result<u64, Error> {
    let mut length = [0; LENGTH];
    let got = fill(from, &mut length)?;
    let length = u64::from_be_bytes(length);
    let fits = got == LENGTH && whole.checked_sub(LENGTH as u64).is_some_and(|most| length <= most);
    if fits { Ok(length) } else { Err(Error::NotAuthentic(Flaw::Layout)) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn padded(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Padder::new(text).read_to_end(&mut out).unwrap();
        out
    }

    fn unpadded(padded: &[u8], piece: usize) -> Result<Vec<u8>, Error> {
        let mut unpadder = Unpadder::new(Vec::new());
        padded.chunks(piece).for_each(|piece| unpadder.write_all(piece).unwrap());
        let (text, length) = unpadder.finish("out")?;
        assert_eq!(text.len() as u64, length);
        Ok(text)
    }

    #[test]
    fn any_text_comes_back_in_pieces_of_any_size() {
        for len in [0, 1, 7, 8, 9, 1000, 1016, 1017, 5000] {
            let mut texts = vec![vec![0; len], vec![7; len]];
            texts.push((0..len).map(|i| u8::from(i * 2 < len)).collect());
            texts.push((0..len).map(|i| u8::from(i % 5 == 0)).collect());
            for text in texts {
                let whole = padded(&text);
                assert_eq!(Some(whole.len() as u64), padded_len(len as u64));
                assert_eq!(read_length(&mut &whole[whole.len() - 8..], whole.len() as u64).unwrap(), len as u64);
                for piece in [1, 3, 8, 9, 4096] {
                    assert_eq!(unpadded(&whole, piece).unwrap(), text, "{len} in {piece}");
                }
            }
        }
    }

    #[test]
    fn how_much_was_text_is_told() {
        let text = [7; 1000];
        let mut padder = Padder::new(&text[..]);
        // 16 zeros and the 8 bytes of the length.
        for wanted in [(300, 300), (300, 600), (300, 900), (100, 1000), (24, 1000), (0, 1000)] {
            assert_eq!((padder.read(&mut [0; 300]).unwrap(), padder.text()), wanted);
        }
    }

    /// Writers may buffer what was not flushed.
    #[test]
    fn flushing_goes_through() {
        struct Flushed(usize);
        impl Write for Flushed {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                self.0 += 1;
                Ok(())
            }
        }
        let mut unpadder = Unpadder::new(Flushed(0));
        unpadder.write_all(&padded(b"text")).unwrap();
        unpadder.flush().unwrap();
        assert_eq!(unpadder.to.0, 1);
        let (Flushed(times), len) = unpadder.finish("out").unwrap();
        assert_eq!((times, len), (2, 4));
    }

    /// Examples of the paper's rule, computed by hand: E = floor(log2 L), S = floor(log2 E) + 1, E - S low bits are
    /// zero.
    #[test]
    fn lengths_are_those_of_padme() {
        // 1024: E = 10, S = 4, six low bits. 1025 is rounded up to the next multiple of 64.
        assert_eq!((padded_len(0), padded_len(1016), padded_len(1017)), (Some(1024), Some(1024), Some(1088)));
        // 1 MiB and 1 byte: E = 20, S = 5, fifteen low bits.
        assert_eq!(padded_len((1 << 20) - 8), Some(1 << 20));
        assert_eq!(padded_len((1 << 20) - 7), Some((1 << 20) + (1 << 15)));
        for text in (0..4000).map(|i| i * 7919).filter(|text| *text > 1016) {
            let more = padded_len(text).unwrap() - text - 8;
            assert!(more as f64 <= 0.12 * text as f64, "{text}: {more}");
        }
        assert_eq!(padded_len(u64::MAX), None);
    }

    #[test]
    fn what_is_not_padded_is_refused() {
        let mut whole = padded(b"text");
        assert!(unpadded(&whole[..7], 3).is_err());
        whole[500] = 1;
        assert!(unpadded(&whole, 100).is_err(), "padding that is not zero");
        for length in [1017u64, u64::MAX, 2] {
            let mut whole = padded(b"text");
            whole[1016..].copy_from_slice(&length.to_be_bytes());
            assert!(unpadded(&whole, 100).is_err(), "{length}");
            assert_eq!(read_length(&mut &whole[1016..], 1024).is_err(), length > 1016, "{length}");
        }
    }
}
