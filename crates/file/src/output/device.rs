//! A block device as an output.

use std::{
    fs::File,
    io::{self, Write},
};

/// A block device, which is written in place. It is synced after the last write, because closing it does not wait for
/// the data to reach it.
pub(super) struct Device {
    pub(super) file: File,
    pub(super) sync: bool,
}

impl Write for Device {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.sync { self.file.sync_all() } else { Ok(()) }
    }
}
