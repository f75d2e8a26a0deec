//! Signatures: ed25519 and ML-DSA-65 together, over one message. Who breaks one of the two forges nothing.
//!
//! ```
//! use sealwright_file::{Input, Work, sign::{SigningKey, VerifyingKey}, sign_file, verify_file};
//!
//! let signing = SigningKey::generate()?;
//! let verifying: VerifyingKey = signing.verifying_key().clone(); // to be given to those who verify
//! let signature = sign_file(&signing, Input::bytes(b"a release", "release"), "", &Work::default())?;
//! verify_file(&[verifying], &signature, Input::bytes(b"a release", "release"), &Work::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod before;
mod keys;
mod span_hashes;
mod text;

pub use keys::{SigningKey, VerifyingKey};
pub(crate) use span_hashes::SpanHashes;
pub(crate) use text::{TextSigner, TextVerifier};

use crate::{
    error::{Error, Flaw},
    layout::TRAILER,
};

#[cfg(test)]
mod tests;

// The two modules define the length of a signature independently.
const _: () = assert!(TRAILER == KEY_ID + SIGNATURE);

/// Bytes of a signature: ed25519's 64, then ML-DSA-65's 3309.
pub(crate) const SIGNATURE: usize = 64 + 3309;
/// Bytes of the id of a verification key.
pub(crate) const KEY_ID: usize = 16;
/// Bytes of a SHA-512 hash.
pub(crate) const HASH: usize = 64;

/// Names a verification key: the first bytes of its hash.
pub type KeyId = [u8; KEY_ID];

/// What a signature covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signed<'a> {
    /// The text of the sealed file with this fixed part of the preamble and this commitment.
    Text { fixed: &'a [u8; 12], commitment: &'a [u8; 32] },
    /// A file that is not sealed, and the comment in its signature file.
    Detached { comment: &'a str },
}

impl Signed<'_> {
    /// The message that both algorithms sign, for the hash `key` of the verification key and the hash `content` of the
    /// signed content.
    fn message(self, key: &[u8; HASH], content: &[u8; HASH]) -> Vec<u8> {
        let (kind, context): (u8, Vec<u8>) = match self {
            Signed::Text { fixed, commitment } => (1, [&fixed[..], commitment].concat()),
            Signed::Detached { comment } => (2, comment.as_bytes().to_vec()),
        };
        [b"SEALWRIGHT signature v1", &[kind][..], key, content, &context].concat()
    }
}

/// The key with this id among `keys`.
///
/// # Errors
/// [`Error::OtherSigner`].
pub(crate) fn find<'a>(keys: &'a [VerifyingKey], id: &KeyId) -> Result<&'a VerifyingKey, Error> {
    keys.iter().find(|key| key.id() == *id).ok_or(Error::OtherSigner(hex(id)))
}

/// Verifies a signature with the key that `id` names among `keys`.
///
/// # Errors
/// [`Error::OtherSigner`]; [`Flaw::Signature`].
pub(crate) fn verify(
    keys: &[VerifyingKey],
    id: &KeyId,
    what: Signed<'_>,
    content: &[u8; HASH],
    signature: &[u8; SIGNATURE],
) -> Result<(), Error> {
    let key = find(keys, id)?;
    if key.verifies(&what.message(key.hash(), content), signature) {
        Ok(())
    } else {
        Err(Error::NotAuthentic(Flaw::Signature))
    }
}

/// An id in hexadecimal, for messages.
pub(crate) fn hex(id: &KeyId) -> String {
    base16ct::lower::encode_string(id)
}

impl SigningKey {
    /// Signs a content with this hash.
    pub(crate) fn sign(&self, what: Signed<'_>, content: &[u8; HASH]) -> [u8; SIGNATURE] {
        self.sign_message(&what.message(self.verifying_key().hash(), content))
    }
}
