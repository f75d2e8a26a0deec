//! What every library in a benchmark offers: to seal and to open messages in place.

use std::fmt;

use super::super::{subject::Subject, version};

/// A library that seals, at one level of the processor.
pub trait Peer: Send + Sync {
    /// The name that rows carry.
    fn name(&self) -> &'static str;

    /// The instruction-set level; `auto` where the library chooses by itself.
    fn level(&self) -> &'static str {
        "auto"
    }

    /// The crates whose versions say which release this is.
    fn packages(&self) -> Vec<&'static str> {
        vec![self.name()]
    }

    /// Which release this is.
    fn version(&self) -> String {
        version::of(&self.packages())
    }

    /// This library under `key`, or `None` where it does not know the subject or cannot run on this processor.
    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>>;

    /// What seals many messages at once, each under a key of its own, where this library has that.
    fn batch(&self, _subject: Subject) -> Option<Box<dyn Batch>> {
        None
    }

    /// What seals at most [`SIDE_BY_SIDE`] messages at once, all under `key`, where this library has that.
    fn side_by_side(&self, _subject: Subject, _key: &[u8]) -> Option<Box<dyn Batch>> {
        None
    }
}

/// Most messages of a batch.
pub const BATCH: usize = 32;
/// Most messages at once under one key.
pub const SIDE_BY_SIDE: usize = 16;

/// A message of a batch: the text, and behind it the tag.
#[derive(Debug, Default)]
pub struct Job<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// Its nonce.
    pub nonce: &'a [u8],
    /// The text and room for the tag.
    pub message: &'a mut [u8],
}

/// Seals messages that come together.
pub trait Batch {
    /// Encrypts at most [`BATCH`] texts and writes the tags.
    ///
    /// # Errors
    /// [`RefusedError`] when the library would not.
    fn seal(&mut self, ad: &[u8], jobs: &mut [Job<'_>]) -> Result<(), RefusedError>;
}

/// A key ready to seal and open messages that lie in one buffer: the text, and behind it the tag.
pub trait Sealing: Send {
    /// Encrypts the text at the front of `message` and writes the tag over the end.
    ///
    /// # Errors
    /// [`RefusedError`] when the library would not.
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError>;

    /// Seals a message for the clock alone. An interface that hands out sealed messages in memory of its own does not copy
    /// them back here, and may count its nonces itself.
    ///
    /// # Errors
    /// [`RefusedError`] when the library would not.
    fn send(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.seal(nonce, ad, message)
    }

    /// Checks the tag at the end of `message` and decrypts the text before it.
    ///
    /// # Errors
    /// [`RefusedError`] when the message is not authentic.
    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError>;

    /// Takes another key in place, where the library can. Elsewhere a new key is made.
    fn rekey(&mut self, _key: &[u8]) -> bool {
        false
    }
}

/// A library said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedError;

impl fmt::Display for RefusedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for RefusedError {}

/// The tag's length in every suite so far of every peer so far.
pub(super) const TAG: usize = 16;

/// A message as its text and its tag; refused if shorter than a tag.
pub(super) fn parts(message: &mut [u8]) -> Result<(&mut [u8], &mut [u8; TAG]), RefusedError> {
    message.split_last_chunk_mut().ok_or(RefusedError)
}
