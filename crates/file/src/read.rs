//! Reading until a buffer is full.

use std::io::{self, ErrorKind, Read};

use crate::error::{Error, INPUT};

/// Reads until `buffer` is full or the input ends; returns the number of bytes read.
pub(crate) fn fill(from: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> Result<usize, Error> {
    let mut got = 0;
    while got < buffer.len() {
        match from.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unread(error, INPUT)),
        }
    }
    Ok(got)
}

/// The error for a failed read of `name`. If a reader of this crate failed, its own error is inside `error`.
pub(crate) fn unread(error: io::Error, name: &str) -> Error {
    error.downcast().unwrap_or_else(Error::io("read", name))
}
