//! What a text was when its signature was verified.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Flaw},
    span::Span,
};

/// The hashes of the spans of a text that is opened twice.
#[derive(Debug, Default)]
pub(crate) struct SpanHashes(Mutex<BTreeMap<u64, [u8; 32]>>);

impl SpanHashes {
    /// Records the hash of a span when it is opened first. Fails if it is another one when the span is opened again.
    /// The last span is shorter than the others, so that none follows if it has the same text.
    pub(crate) fn check(&self, span: &Span) -> Result<(), Error> {
        let mut hash = Sha256::new();
        span.text().iter().for_each(|chunk| hash.update(&chunk[..]));
        let hash = hash.finalize().into();
        let mut hashes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *hashes.entry(span.index).or_insert(hash) == hash {
            Ok(())
        } else {
            Err(Error::NotAuthentic(Flaw::Signature)) // It is not the text that was signed.
        }
    }
}
