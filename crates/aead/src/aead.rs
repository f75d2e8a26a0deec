//! The contract of every authenticated cipher: seal and open a text in place, with a detached tag.

use crate::{
    error::{OpenError, SealError},
    sealed::Sealed,
    tag::Tag,
};

/// Authenticated encryption with associated data, in place.
///
/// A nonce must never serve twice under one key; [`Sealer`](crate::Sealer) counts them for you.
pub trait Aead: Sealed + Send + Sync {
    /// Length of the tags that this key makes and accepts, in bytes.
    fn tag_len(&self) -> usize;

    /// Encrypts `text` in place and returns the tag over it and `ad`.
    ///
    /// # Errors
    /// Refuses a nonce or a length that the mode does not take; `text` is then as it was.
    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError>;

    /// Decrypts `text` in place if `tag` holds for it, `nonce` and `ad`.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; `text` is then all zero, so that nothing unverified can be used.
    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError>;
}

/// Keeps `text` if `genuine`, else wipes it: the end of every `open_in_place`.
pub(crate) fn release(text: &mut [u8], genuine: bool) -> Result<(), OpenError> {
    if genuine {
        return Ok(());
    }
    text.fill(0);
    Err(OpenError)
}
