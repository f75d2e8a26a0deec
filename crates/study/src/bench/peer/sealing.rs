//! The interface of every library in a benchmark: sealing and opening messages in place.

use std::fmt;

pub use sealwright_peers::SIDE_BY_SIDE;

use super::super::{subject::Subject, version};

/// A library at one instruction-set level.
pub trait Peer: Send + Sync {
    /// The name in rows.
    fn name(&self) -> &'static str;

    /// The instruction-set level; `auto` if the library chooses it.
    fn level(&self) -> &'static str {
        "auto"
    }

    /// The crates whose versions identify the release.
    fn packages(&self) -> Vec<&'static str> {
        vec![self.name()]
    }

    /// The version of the library.
    fn version(&self) -> String {
        version::of(&self.packages())
    }

    /// A key for this library; `None` if the library does not support the subject, or cannot run on this processor.
    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>>;

    /// A function that seals many messages at once, each under a key of its own, if the library has one.
    fn batch(&self, _subject: Subject) -> Option<Box<dyn Batch>> {
        None
    }

    /// A function that seals up to [`SIDE_BY_SIDE`] messages at once under the same `key`, if the library has one.
    fn side_by_side(&self, _subject: Subject, _key: &[u8]) -> Option<Box<dyn Batch>> {
        None
    }
}

/// The maximum number of messages in a batch.
pub const BATCH: usize = 32;

/// A message of a batch: the text, followed by the tag.
#[derive(Debug, Default)]
pub struct Job<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The nonce.
    pub nonce: &'a [u8],
    /// The text and room for the tag.
    pub message: &'a mut [u8],
}

/// Seals several messages at once.
pub trait Batch {
    /// Encrypts at most [`BATCH`] texts and writes the tags.
    ///
    /// # Errors
    /// [`RefusedError`] if the library refuses.
    fn seal(&mut self, ad: &[u8], jobs: &mut [Job<'_>]) -> Result<(), RefusedError>;
}

/// A key that is set up, and seals and opens messages in place. A message is the text, followed by the tag.
pub trait Sealing: Send {
    /// Encrypts the text at the front of `message` and writes the tag over the end.
    ///
    /// # Errors
    /// [`RefusedError`] if the library refuses.
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError>;

    /// Seals a message only to be timed. The result need not be in `message`: a library that returns sealed messages
    /// in its own memory does not copy them back, and may count nonces itself.
    ///
    /// # Errors
    /// [`RefusedError`] if the library refuses.
    fn send(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.seal(nonce, ad, message)
    }

    /// Checks the tag at the end of `message` and decrypts the text before it.
    ///
    /// # Errors
    /// [`RefusedError`] if the message is not authentic.
    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError>;

    /// Replaces the key in place, if the library can do that; returns whether it did.
    fn rekey(&mut self, _key: &[u8]) -> bool {
        false
    }
}

/// The library refused the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedError;

impl fmt::Display for RefusedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for RefusedError {}

/// The length of the tag, which is the same in every suite with a tag.
pub(super) const TAG: usize = 16;

/// Splits a message into text and tag; refused if it is shorter than a tag.
pub(super) fn parts(message: &mut [u8]) -> Result<(&mut [u8], &mut [u8; TAG]), RefusedError> {
    message.split_last_chunk_mut().ok_or(RefusedError)
}
