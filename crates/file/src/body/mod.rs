//! The body of a file: its chunk cipher, and the position of its chunks in the file.

use std::io::Read;

use sealwright_stream::{
    ChunkCipher, StreamError,
    chunk::{self, HEADER, PLAIN, TAG},
};

use crate::{
    error::{Error, Flaw},
    file_id::Commitment,
    read::fill,
    secret::Secret,
};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod example;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod vectors;

/// A body's chunk cipher, and where the body begins.
pub(crate) struct Body {
    cipher: ChunkCipher,
    commitment: Commitment,
    /// Where the body begins in the file, in bytes.
    start: u64,
}

/// Reads salt and commitment from `from`, which is at offset `start`.
pub(crate) fn read_header(from: &mut impl Read, start: u64) -> Result<[u8; HEADER], Error> {
    let mut header = [0; HEADER];
    match fill(from, &mut header)? {
        HEADER => Ok(header),
        got => Err(Error::cut(start + got as u64)),
    }
}

impl Body {
    /// A body with the header `header`, `start` bytes from the start of the file, whose chunks `cipher` seals or opens.
    pub(crate) fn new(cipher: ChunkCipher, header: &[u8; HEADER], start: u64) -> Body {
        Body { cipher, commitment: header.last_chunk().copied().unwrap_or_default(), start }
    }

    /// The commitment of the file.
    pub(crate) fn commitment(&self) -> Commitment {
        self.commitment
    }

    /// Seals chunk `index`: encrypts the first `len` bytes of `chunk` in place and writes the tag after them.
    pub(crate) fn seal(&self, index: u64, chunk: &mut [u8], len: usize) {
        self.cipher.seal_chunk(index, chunk, len);
    }

    /// Opens chunk `index`, text and tag, in place.
    pub(crate) fn unseal(&self, index: u64, chunk: &mut [u8]) -> Result<(), Error> {
        self.cipher.open_chunk(index, chunk).map_err(|error| self.placed(error))
    }

    /// Length of the text in a sealed file of `len` bytes.
    pub(crate) fn text_len(&self, len: u64) -> Result<u64, Error> {
        text_len(len, self.start).map_err(Error::NotAuthentic)
    }

    /// Where chunk `index` begins in the file.
    pub(crate) fn offset(&self, index: u64) -> u64 {
        self.start + chunk::offset(index)
    }

    /// Where the last chunk of a text of `len` bytes begins in the file.
    pub(crate) fn last_offset(&self, len: u64) -> u64 {
        self.offset(chunk::count(len) - 1)
    }

    /// Reads and opens the last chunk of a text of `len` bytes. It is authentic only if the text has that length.
    /// Returns the chunk with its text at the start.
    pub(crate) fn prove_length(&self, from: &mut impl Read, len: u64) -> Result<Secret, Error> {
        let mut last = Secret::new(vec![0; (len % PLAIN as u64) as usize + TAG]);
        self.read_chunk(from, chunk::count(len) - 1, &mut last)?;
        Ok(last)
    }

    /// Reads chunk `index` from `from`, which is at the chunk's offset, and opens it in place.
    pub(crate) fn read_chunk(&self, from: &mut impl Read, index: u64, chunk: &mut [u8]) -> Result<(), Error> {
        let got = fill(from, chunk)?;
        if got < chunk.len() {
            return Err(Error::cut(self.offset(index) + got as u64));
        }
        self.unseal(index, chunk)
    }

    /// An error of the stream with offsets counted from the start of the file.
    fn placed(&self, error: StreamError) -> Error {
        match Flaw::of(&error, self.start) {
            Some(flaw) => Error::NotAuthentic(flaw),
            None => Error::from(error),
        }
    }
}

/// Length of the text in a sealed file of `len` bytes, whose body begins at `start`.
pub(crate) fn text_len(len: u64, start: u64) -> Result<u64, Flaw> {
    let cut = Flaw::Truncated { offset: len };
    let body = len.checked_sub(start).ok_or_else(|| cut.clone())?;
    chunk::plain_len(body).map_err(|error| Flaw::of(&error, start).unwrap_or(cut))
}
