//! Shared by tests that hold a program up at a named pipe.

use std::{fs::File, os::unix::fs::OpenOptionsExt};

use rustix::fs::OFlags;
use sealwright_transcripts::{Sandbox, until};

/// Opens a named pipe for writing once it has a reader. An ordinary open would block forever if the reader failed
/// before.
pub(crate) fn writer(sandbox: &Sandbox, pipe: &str) -> File {
    let mut options = File::options();
    options.write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let mut opened = None;
    until("a reader of the pipe", || {
        opened = options.open(sandbox.path(pipe)).ok();
        opened.is_some()
    });
    opened.unwrap()
}
