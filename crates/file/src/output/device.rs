//! A block device as an output.

use std::{
    fs::File,
    io::{self, Write},
};

/// A block device, which is written in place. At the end of what is written it is waited for: closing it does not.
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
