//! The contract of every authenticated cipher: seal and open a text in place, with a detached tag.

use alloc::vec::Vec;

use crate::{
    error::{OpenError, SealError},
    sealed::Sealed,
    tag::Tag,
};

/// Authenticated encryption with associated data, in place.
///
/// A nonce must never serve twice under one key: [`RandomNonceKey`](crate::RandomNonceKey) draws them for a key that is
/// stored, [`Sealer`](crate::Sealer) counts them for a key that lives once. `ad` is the associated data: authenticated, not
/// encrypted, not part of the message.
///
/// This trait is sealed: methods may be added to it.
pub trait Aead: Sealed + Send + Sync {
    /// Length of the tags that this key makes and accepts, in bytes.
    fn tag_len(&self) -> usize;

    /// Length of the nonces to use, in bytes: 12 unless the mode says otherwise. Some modes take others too.
    fn nonce_len(&self) -> usize {
        12
    }

    /// Encrypts `text` in place and returns the tag over it and `ad`.
    ///
    /// # Errors
    /// Refuses a nonce or a length that the mode does not take; `text` is then as it was.
    #[doc(alias("encrypt", "aad", "associated data", "plaintext"))]
    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError>;

    /// Decrypts `text` in place if `tag` holds for it, `nonce` and `ad`.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; `text` is then all zero, so that nothing unverified can be used.
    #[doc(alias("decrypt", "aad", "associated data", "ciphertext"))]
    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError>;

    /// Encrypts `text` in place and appends the tag.
    ///
    /// # Errors
    /// As of [`Aead::seal_in_place`]; `text` is then as it was.
    fn seal_vec(&self, nonce: &[u8], ad: &[u8], text: &mut Vec<u8>) -> Result<(), SealError> {
        let tag = self.seal_in_place(nonce, ad, text)?;
        text.extend_from_slice(tag.as_ref());
        Ok(())
    }

    /// Decrypts `message`, ciphertext and tag, in place and takes the tag off.
    ///
    /// # Errors
    /// [`OpenError`]; `message` is then empty.
    fn open_vec(&self, nonce: &[u8], ad: &[u8], message: &mut Vec<u8>) -> Result<(), OpenError> {
        let opened = message.len().checked_sub(self.tag_len()).ok_or(OpenError).and_then(|text_len| {
            let (text, tag) = message.split_at_mut(text_len);
            self.open_in_place(nonce, ad, text, tag).map(|()| text_len)
        });
        message.truncate(opened.unwrap_or_default());
        opened.map(|_| ())
    }

    /// Appends the ciphertext of `text` and the tag to `out`; copies the text once.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
    /// let mut packet = b"header".to_vec();
    /// aead.seal_into(&[1; 12], b"header", b"attack at dawn", &mut packet)?;
    /// let mut text = Vec::new();
    /// aead.open_into(&[1; 12], b"header", &packet[6..], &mut text)?;
    /// assert_eq!(text, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Aead::seal_in_place`]; `out` is then as it was.
    fn seal_into(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
        let start = out.len();
        out.reserve(text.len() + self.tag_len());
        out.extend_from_slice(text);
        match self.seal_in_place(nonce, ad, &mut out[start..]) {
            Ok(tag) => {
                out.extend_from_slice(tag.as_ref());
                Ok(())
            }
            Err(error) => {
                out.truncate(start);
                Err(error)
            }
        }
    }

    /// Appends the text of `message`, ciphertext and tag, to `out`. The message stays as it is, so that another key can be
    /// tried; copies the text once.
    ///
    /// # Errors
    /// [`OpenError`]; `out` is then as it was.
    fn open_into(&self, nonce: &[u8], ad: &[u8], message: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
        let text_len = message.len().checked_sub(self.tag_len()).ok_or(OpenError)?;
        let (ciphertext, tag) = message.split_at(text_len);
        let start = out.len();
        out.extend_from_slice(ciphertext);
        let opened = self.open_in_place(nonce, ad, &mut out[start..], tag);
        if opened.is_err() {
            out.truncate(start);
        }
        opened
    }
}

/// Keeps `text` if `genuine`, else wipes it: the end of every `open_in_place`.
pub(crate) fn release(text: &mut [u8], genuine: bool) -> Result<(), OpenError> {
    if genuine {
        return Ok(());
    }
    text.fill(0);
    Err(OpenError)
}
