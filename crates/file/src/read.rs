//! Reading until there is enough.

use std::io::{self, ErrorKind, Read};

use crate::error::{Error, INPUT};

/// Reads until `buffer` is full or the input ends; returns how much came.
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

/// Why `name` could not be read. A reader of ours may have one of our errors to tell.
pub(crate) fn unread(error: io::Error, name: &str) -> Error {
    error.downcast().unwrap_or_else(Error::io("read", name))
}
