//! The trait of every authenticated cipher: seal and open a text in place, with a detached tag.

use alloc::vec::Vec;
use core::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
};

use crate::{
    error::{OpenError, SealError},
    sealed::Sealed,
    tag::Tag,
    wipe::{grow, wipe, wipe_rest},
};

/// Authenticated encryption with associated data, in place.
///
/// A nonce must never be used twice under one key: [`RandomNonceKey`](crate::RandomNonceKey) draws nonces for a stored
/// key, [`Sealer`](crate::Sealer) counts them for a key that serves one connection only. `ad` is the associated data:
/// authenticated, but neither encrypted nor part of the message.
///
/// References, `Box`es and `Arc`s of an `Aead` implement it too, so that generic code also accepts one that is chosen
/// at run time or shared.
///
/// This trait is sealed: it cannot be implemented elsewhere, and later versions may add methods. `Debug` shows no
/// secrets. A panic leaves a key unchanged, so that keys may be used within `catch_unwind`:
///
/// ```
/// use std::panic::catch_unwind;
///
/// use sealwright::{Aead, Suite};
///
/// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
/// assert!(!format!("{aead:?}").contains('7'));
/// let too_short = catch_unwind(|| aead.seal_message(&[1; 12], b"header", &mut [0; 3]));
/// assert!(too_short.is_err()); // it panicked, and the key still serves
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
///
/// ```
/// use sealwright::{Aead, OpenError, SealError, Suite};
///
/// // A protocol that does not mind which mode it runs over. The number of the packet is its nonce.
/// fn packet(aead: &dyn Aead, number: u64, header: &[u8], text: &[u8]) -> Result<Vec<u8>, SealError> {
///     let mut nonce = vec![0; aead.nonce_len()];
///     let at = nonce.len() - 8;
///     nonce[at..].copy_from_slice(&number.to_be_bytes());
///     let mut packet = header.to_vec();
///     aead.seal_into(&nonce, header, text, &mut packet)?;
///     Ok(packet)
/// }
/// let packet = packet(&*Suite::Aes128Gcm.aead(&[7; 16])?, 1, b"header", b"attack at dawn")?;
/// assert_eq!(packet.len(), 6 + 14 + 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Aead: Sealed + fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Length of the tags that this key makes and accepts, in bytes.
    fn tag_len(&self) -> usize;

    /// Length in bytes of the nonces to use: 12 unless the mode says otherwise. Some modes accept other lengths too.
    fn nonce_len(&self) -> usize {
        12
    }

    /// Encrypts `text` in place and returns the tag over it and `ad`.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
    /// let mut text = *b"attack at dawn";
    /// let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
    /// assert_ne!(&text, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SealError::NonceLength`], [`SealError::TextTooLong`] and [`SealError::AdTooLong`] for lengths that the mode
    /// does not accept, and [`SealError::PartialBlock`] in modes that accept whole blocks only; `text` is then
    /// unchanged.
    #[doc(alias("encrypt", "aad", "associated data", "plaintext"))]
    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError>;

    /// Decrypts `text` in place if `tag` is valid for `text`, `nonce` and `ad`.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
    /// let mut text = *b"attack at dawn";
    /// let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
    /// let mut copy = text;
    /// assert!(aead.open_in_place(&[1; 12], b"another", &mut copy, tag.as_ref()).is_err());
    /// assert_eq!(copy, [0; 14]); // nothing of a text that is not authentic is left
    /// aead.open_in_place(&[1; 12], b"header", &mut text, tag.as_ref())?;
    /// assert_eq!(&text, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OpenError`] otherwise; `text` is then all zero, so that no unverified plaintext can be used.
    #[doc(alias("decrypt", "aad", "associated data", "ciphertext"))]
    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError>;

    /// Encrypts in place the text at the start of `message` and writes the tag into the rest, the last
    /// [`tag_len`](Self::tag_len) bytes: the fastest way for packets.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
    /// let mut packet = [0; 14 + 16];
    /// packet[..14].copy_from_slice(b"attack at dawn");
    /// aead.seal_message(&[1; 12], b"header", &mut packet)?;
    /// let text = aead.open_message(&[1; 12], b"header", &mut packet)?;
    /// assert_eq!(text, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Aead::seal_in_place`]; `message` is then unchanged.
    ///
    /// # Panics
    /// If `message` is shorter than a tag.
    #[doc(alias("encrypt", "packet", "in-place"))]
    #[inline]
    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let (text, tag) = message.split_at_mut(text_len(message.len(), self.tag_len()));
        tag.copy_from_slice(self.seal_in_place(nonce, ad, text)?.as_ref());
        Ok(())
    }

    /// Decrypts in place the text at the start of `message` if the last [`tag_len`](Self::tag_len) bytes are its tag;
    /// returns the text.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; the text is then all zero. A message shorter than a tag contains no text and is left
    /// unchanged.
    #[doc(alias("decrypt", "packet", "in-place"))]
    #[inline]
    fn open_message<'m>(&self, nonce: &[u8], ad: &[u8], message: &'m mut [u8]) -> Result<&'m mut [u8], OpenError> {
        let text_len = message.len().checked_sub(self.tag_len()).ok_or(OpenError)?;
        let (text, tag) = message.split_at_mut(text_len);
        self.open_in_place(nonce, ad, text, tag)?;
        Ok(text)
    }

    /// Encrypts `text` in place and appends the tag.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let aead = Suite::Aes128Gcm.aead(&[7; 16])?;
    /// let mut message = b"attack at dawn".to_vec();
    /// aead.seal_vec(&[1; 12], b"header", &mut message)?;
    /// assert_eq!(message.len(), 14 + aead.tag_len());
    /// aead.open_vec(&[1; 12], b"header", &mut message)?;
    /// assert_eq!(message, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Aead::seal_in_place`]; `text` is then unchanged.
    #[doc(alias("encrypt", "append", "plaintext"))]
    fn seal_vec(&self, nonce: &[u8], ad: &[u8], text: &mut Vec<u8>) -> Result<(), SealError> {
        let len = text.len();
        if text.capacity() - len < self.tag_len() {
            // Sealed before the vector is moved: the old memory then holds no plaintext.
            let tag = self.seal_in_place(nonce, ad, text)?;
            wipe_rest(text);
            text.extend_from_slice(tag.as_ref());
            return Ok(());
        }
        text.resize(len + self.tag_len(), 0);
        self.seal_message(nonce, ad, text).inspect_err(|_| text.truncate(len))
    }

    /// Decrypts `message`, ciphertext followed by the tag, in place and removes the tag.
    ///
    /// # Errors
    /// [`OpenError`]; `message` is then empty.
    #[doc(alias("decrypt", "ciphertext"))]
    fn open_vec(&self, nonce: &[u8], ad: &[u8], message: &mut Vec<u8>) -> Result<(), OpenError> {
        let opened = message.len().checked_sub(self.tag_len()).ok_or(OpenError).and_then(|text_len| {
            let (text, tag) = message.split_at_mut(text_len);
            self.open_in_place(nonce, ad, text, tag).map(|()| text_len)
        });
        message.truncate(opened.unwrap_or_default());
        opened.map(|_| ())
    }

    /// Appends the ciphertext of `text` and the tag to `out`. The text is copied once.
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
    /// Same as [`Aead::seal_in_place`]; `out` is then unchanged.
    #[doc(alias("encrypt", "append", "plaintext"))]
    fn seal_into(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
        let start = out.len();
        out.reserve(text.len() + self.tag_len());
        out.extend_from_slice(text);
        out.resize(start + text.len() + self.tag_len(), 0);
        self.seal_message(nonce, ad, &mut out[start..]).inspect_err(|_| {
            wipe(&mut out[start..]);
            out.truncate(start);
        })
    }

    /// Opens `message`, ciphertext followed by the tag, and appends the plaintext to `out`. The message is left
    /// unchanged, so that another key can be tried. The text is copied once. If `out` must be reallocated, its old
    /// memory is wiped.
    ///
    /// # Errors
    /// [`OpenError`]; the contents of `out` are then unchanged.
    #[doc(alias("decrypt", "ciphertext"))]
    fn open_into(&self, nonce: &[u8], ad: &[u8], message: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
        let text_len = message.len().checked_sub(self.tag_len()).ok_or(OpenError)?;
        let (ciphertext, tag) = message.split_at(text_len);
        let start = out.len();
        grow(out, text_len);
        out.extend_from_slice(ciphertext);
        let opened = self.open_in_place(nonce, ad, &mut out[start..], tag);
        if opened.is_err() {
            out.truncate(start);
        }
        opened
    }

    /// Encrypts `text` into `out` and returns the tag over the ciphertext and `ad`. OCB reads from one buffer and
    /// writes to the other. The other modes copy the text first, except for keys from
    /// [`mode::gcm::across_by_key`](crate::mode::gcm::across_by_key), which copy a part at a time.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
    /// let (mut ciphertext, mut text) = ([0; 14], [0; 14]);
    /// let tag = aead.seal_to(&[1; 12], b"header", b"attack at dawn", &mut ciphertext)?;
    /// aead.open_to(&[1; 12], b"header", &ciphertext, tag.as_ref(), &mut text)?;
    /// assert_eq!(&text, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Aead::seal_in_place`]; `out` is then all zero.
    ///
    /// # Panics
    /// If `out` is not as long as `text`.
    #[doc(alias("encrypt", "out of place", "buffer to buffer"))]
    fn seal_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut [u8]) -> Result<Tag, SealError> {
        same_length(text, out);
        out.copy_from_slice(text);
        self.seal_in_place(nonce, ad, out).inspect_err(|_| out.fill(0))
    }

    /// Decrypts `text` into `out` if `tag` is valid. `text` is left unchanged, so that another key can be tried.
    ///
    /// # Errors
    /// [`OpenError`]; `out` is then all zero.
    ///
    /// # Panics
    /// If `out` is not as long as `text`.
    #[doc(alias("decrypt", "out of place", "buffer to buffer"))]
    fn open_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], tag: &[u8], out: &mut [u8]) -> Result<(), OpenError> {
        same_length(text, out);
        out.copy_from_slice(text);
        self.open_in_place(nonce, ad, out, tag)
    }

    /// Encrypts in place a text that lies in several buffers, treated as their concatenation.
    ///
    /// The text is gathered into one buffer and copied back. These two copies, which [`Aead::seal_in_place`] does not
    /// need, cost less than kernels that stop at every buffer boundary.
    ///
    /// ```
    /// use sealwright::{Aead, Suite};
    ///
    /// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
    /// let (mut head, mut body) = (*b"attack ", *b"at dawn");
    /// let tag = aead.seal_scattered(&[1; 12], b"header", &mut [&mut head, &mut body])?;
    /// let mut whole = [head, body].concat(); // the message of one buffer
    /// aead.open_in_place(&[1; 12], b"header", &mut whole, tag.as_ref())?;
    /// assert_eq!(whole, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Aead::seal_in_place`]; the buffers are then unchanged.
    #[doc(alias("encrypt", "vectored", "scatter", "gather", "IoSlice"))]
    fn seal_scattered(&self, nonce: &[u8], ad: &[u8], text: &mut [&mut [u8]]) -> Result<Tag, SealError> {
        let mut whole = gather(text);
        let sealed = self.seal_in_place(nonce, ad, &mut whole);
        match sealed {
            Ok(_) => scatter(&whole, text),
            Err(_) => wipe(&mut whole),
        }
        sealed
    }

    /// Decrypts in place a text that lies in several buffers, if `tag` is valid.
    ///
    /// # Errors
    /// [`OpenError`] otherwise; the buffers are then all zero.
    #[doc(alias("decrypt", "vectored", "scatter", "gather", "IoSlice"))]
    fn open_scattered(&self, nonce: &[u8], ad: &[u8], text: &mut [&mut [u8]], tag: &[u8]) -> Result<(), OpenError> {
        let mut whole = gather(text);
        let opened = self.open_in_place(nonce, ad, &mut whole, tag);
        scatter(&whole, text);
        wipe(&mut whole);
        opened
    }
}

/// Bytes of text in a message with a tag.
///
/// # Panics
/// If there is no room for the tag.
#[inline]
pub(crate) fn text_len(message: usize, tag: usize) -> usize {
    assert!(message >= tag, "a message of {message} bytes has no room for a tag of {tag}");
    message - tag
}

/// # Panics
/// If the buffers differ in length.
#[inline]
pub(crate) fn same_length(text: &[u8], out: &[u8]) {
    assert_eq!(text.len(), out.len(), "the output must be as long as the text");
}

/// What a kernel reads to produce `text`, which is the part of the message from `at` on: `text` itself, or the same
/// part of another buffer.
#[cfg(feature = "ocb")]
#[inline(always)]
pub(crate) fn input<'a>(source: Option<&'a [u8]>, at: usize, text: &'a [u8]) -> &'a [u8] {
    match source {
        Some(source) => &source[at..at + text.len()],
        None => text,
    }
}

/// Refuses associated data or a text of more than `most` bytes.
#[cfg(any(feature = "ocb", feature = "siv"))]
#[inline]
pub(crate) fn limits(most: u64, ad: u64, text: u64) -> Result<(), SealError> {
    if text > most {
        return Err(SealError::TextTooLong);
    }
    if ad > most { Err(SealError::AdTooLong) } else { Ok(()) }
}

/// Copies the text of several buffers into one.
fn gather(parts: &[&mut [u8]]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        whole.extend_from_slice(part);
    }
    whole
}

/// Copies a text back into its buffers.
fn scatter(whole: &[u8], parts: &mut [&mut [u8]]) {
    let mut rest = whole;
    for part in parts {
        let (now, later) = rest.split_at(part.len());
        part.copy_from_slice(now);
        rest = later;
    }
}

/// Keeps `text` if `genuine`, otherwise wipes it: the last step of every `open_in_place`. The caller has computed
/// `genuine` with [`verdict`](crate::simd::verdict).
#[inline(never)]
pub(crate) fn release(text: &mut [u8], genuine: bool) -> Result<(), OpenError> {
    if genuine {
        return Ok(());
    }
    text.fill(0);
    Err(OpenError)
}
