//! Random access to the text of a sealed file.

use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom},
};

use sealwright_stream::chunk;
use zeroize::Zeroizing;

use crate::{
    body::Body,
    error::{Error, Flaw},
    layout::{TRAILER, pad},
    open::Opening,
    preamble::Preamble,
};

/// Random access to the text of a sealed file; each chunk is authenticated before a byte of it is returned.
///
/// The last chunk is opened first, so the length is proven before anything is read and a truncated file is refused at
/// once. Reading a byte reads and opens its whole chunk, 16 KiB; further reads from the same chunk are free.
///
/// ```
/// use std::io::{Cursor, Read, Seek, SeekFrom};
///
/// use sealwright_file::{Input, Key, Opening, Output, SealedReader, Sealing, Shared};
///
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// Sealing::new(&key).seal(Input::bytes(vec![7; 100_000], "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let mut reader = SealedReader::new(Cursor::new(sealed.take()), &Opening::new(&key))?;
/// reader.seek(SeekFrom::End(-10))?;
/// let mut end = Vec::new();
/// reader.read_to_end(&mut end)?;
/// assert_eq!((reader.len(), end), (100_000, vec![7; 10]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SealedReader<R> {
    inner: R,
    body: Body,
    preamble: Preamble,
    /// Length of the text.
    len: u64,
    /// Length of the text including its padding and signature.
    laid_out: u64,
    /// Offset in the text of the next byte to be read; may be past the end.
    at: u64,
    /// The text of the chunk that was opened last, in a buffer that never grows.
    chunk: Zeroizing<Vec<u8>>,
    /// The number of that chunk, and the length of its text.
    held: Option<(u64, usize)>,
}

impl<R: Read + Seek> SealedReader<R> {
    /// Reads the header, checks the key, and proves the length.
    ///
    /// # Errors
    /// Those of [`SealedReader::of_any_content`]; [`Error::IsATree`] and [`Error::IsAList`] for what is not one file.
    pub fn new(inner: R, opening: &Opening<'_>) -> Result<Self, Error> {
        let reader = SealedReader::of_any_content(inner, opening)?;
        reader.preamble.layout.content.is_one_file()?;
        Ok(reader)
    }

    /// As [`SealedReader::new`], but also for a sealed directory, whose text is a [tree](crate::tree), and for a
    /// manifest.
    ///
    /// # Errors
    /// [`Error::WrongKey`], [`Error::NoneOpens`], [`Error::KeyKind`] and [`Error::OtherKeyLength`] if no key opens the
    /// file; [`Error::WrongContext`] for other associated data than was sealed with; [`Error::TooCostly`] and
    /// [`Error::NoMemory`] for a passphrase; [`Error::NotAuthentic`] if header or end are damaged, or if the file has
    /// another [commitment](Opening::commitment); [`Error::Unsupported`] and [`Error::Armored`] for kinds of files that
    /// are not read here; [`Error::SignedPart`] if signers were given, because a signature covers the whole file; [`Error::Io`] when
    /// `inner` cannot be read.
    pub fn of_any_content(mut inner: R, opening: &Opening<'_>) -> Result<Self, Error> {
        let read = || Error::io("read", "the input");
        inner.seek(SeekFrom::Start(0)).map_err(read())?;
        let (body, preamble) = opening.begin(&mut inner)?;
        let sealed = inner.seek(SeekFrom::End(0)).map_err(read())?;
        let laid_out = body.text_len(sealed)?;
        inner.seek(SeekFrom::Start(body.last_offset(laid_out))).map_err(read())?;
        let mut chunk = Zeroizing::new(Vec::with_capacity(chunk::SEALED));
        chunk.extend_from_slice(&body.prove_length(&mut inner, laid_out)?);
        let held = Some((chunk::count(laid_out) - 1, chunk.len() - chunk::TAG));
        let layout = preamble.layout;
        #[cfg(feature = "signatures")]
        if !opening.signers.is_empty() {
            return Err(Error::SignedPart);
        }
        let mut reader = SealedReader { inner, body, preamble, len: laid_out, laid_out, at: 0, chunk, held };
        if layout.padded {
            reader.at = laid_out.saturating_sub(pad::LENGTH as u64);
            reader.len = pad::read_length(&mut reader, laid_out)?;
            reader.at = 0;
        }
        if layout.signed {
            let len = reader.len.checked_sub(TRAILER as u64);
            reader.len = len.ok_or(Error::NotAuthentic(Flaw::Layout))?;
        }
        Ok(reader)
    }

    /// Authenticated length of the text in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The preamble of the file.
    pub fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// Returns the underlying reader.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Opens the chunk that contains `self.at`, unless it is in the buffer; returns its text from there on.
    fn rest(&mut self) -> Result<&[u8], Error> {
        let index = self.at / chunk::PLAIN as u64;
        let text = match self.held {
            Some((held, text)) if held == index => text,
            _ => {
                self.held = None;
                let text = (self.laid_out - index * chunk::PLAIN as u64).min(chunk::PLAIN as u64) as usize;
                self.chunk.resize(text + chunk::TAG, 0);
                self.inner.seek(SeekFrom::Start(self.body.offset(index))).map_err(Error::io("read", "the input"))?;
                self.body.read_chunk(&mut self.inner, index, &mut self.chunk)?;
                self.held = Some((index, text));
                text
            }
        };
        Ok(&self.chunk[(self.at % chunk::PLAIN as u64) as usize..text])
    }
}

impl<R: Read + Seek> Read for SealedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.len || buffer.is_empty() {
            return Ok(0);
        }
        let left = self.len - self.at;
        let rest = self.rest()?;
        let n = rest.len().min(buffer.len()).min(usize::try_from(left).unwrap_or(usize::MAX));
        buffer[..n].copy_from_slice(&rest[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl<R: Read + Seek> Seek for SealedReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the start"))?;
        Ok(self.at)
    }
}

impl<R> fmt::Debug for SealedReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedReader")
            .field("preamble", &self.preamble)
            .field("len", &self.len)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
