//! An output that several threads share, and bytes to send.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "each test program uses a part")]

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Shared {
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// What was written so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes to send; they differ for each `salt`.
pub(crate) fn bytes(length: usize, salt: u32) -> Vec<u8> {
    let mut state = salt;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}
