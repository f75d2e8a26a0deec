//! Messages that are sealed piece by piece, for programs that must output the start of a message before they have its
//! end.
//!
//! There is sealing only: to open in pieces would release plaintext before it is authenticated.

use alloc::{boxed::Box, sync::Arc};
use core::fmt;

use crate::{
    aead::Aead,
    error::{OpenError, SealError},
    sealed::Sealed,
    tag::Tag,
};

/// A key under which messages can also be sealed in pieces: [`gcm::pieces_by_key`](crate::mode::gcm::pieces_by_key),
/// [`ocb::pieces_by_key`](crate::mode::ocb::pieces_by_key).
///
/// ```
/// use sealwright::{Aead, InPieces, Isa, Pieces, mode::gcm::{TagLen, pieces_by_key}};
///
/// let key = pieces_by_key(Isa::best(), &[7; 32], TagLen::T16)?;
/// let mut whole = *b"attack at dawn";
/// let tag = key.seal_in_place(&[1; 12], b"header", &mut whole)?;
///
/// let (mut front, mut end) = (*b"attack", *b" at dawn");
/// let mut message = key.begin(&[1; 12], b"header")?; // an example only: a nonce serves one message
/// message.seal(&mut front)?;
/// message.seal(&mut end)?;
/// assert_eq!(message.finish(), tag);
/// assert_eq!([&front[..], &end].concat(), whole);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait InPieces: Aead {
    /// Begins a message. Its associated data must be complete.
    ///
    /// # Errors
    /// Same as [`Aead::seal_in_place`].
    fn begin(self: Arc<Self>, nonce: &[u8], ad: &[u8]) -> Result<Box<dyn Pieces>, SealError>;
}

/// A message of which a part is sealed. No recipient may use any of it before its tag was received and verified. A
/// process that was forked, or restored from a snapshot of itself or of its virtual machine, holds a copy of it: only
/// one of the copies may seal further pieces. `Debug` shows no secrets.
///
/// ```
/// use sealwright::{InPieces, Isa, Pieces, SealError, mode::ocb::{TagLen, pieces_by_key}};
///
/// fn part(message: &mut dyn Pieces, text: &[u8]) -> Result<Vec<u8>, SealError> {
///     let mut part = text.to_vec();
///     message.seal(&mut part)?;
///     Ok(part)
/// }
/// let mut message = pieces_by_key(Isa::best(), &[7; 16], TagLen::T16)?.begin(&[1; 12], b"")?;
/// part(&mut *message, b"sixteen bytes ..")?;
/// part(&mut *message, b"the end")?; // not whole blocks: the last one
/// assert_eq!(part(&mut *message, b"more"), Err(SealError::PartialBlock));
/// assert_eq!(message.finish().as_ref().len(), 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Pieces: Sealed + fmt::Debug + Send + Sync {
    /// Encrypts the next piece of the text in place. GCM accepts pieces of any length. In OCB, a piece that does not
    /// end with a whole block of 16 bytes must be the last.
    ///
    /// # Errors
    /// [`SealError::TextTooLong`] if the text exceeds what the mode can encrypt under one nonce,
    /// [`SealError::PartialBlock`] for a piece after the last one; `piece` and the message are then unchanged.
    fn seal(&mut self, piece: &mut [u8]) -> Result<(), SealError>;

    /// The tag of everything sealed: the one that [`Aead::seal_in_place`] computes for the whole text.
    #[must_use = "without its tag nobody can open the message"]
    fn finish(self: Box<Self>) -> Tag;

    /// A copy of the message at its present position. Both copies may be finished with the same text; two different
    /// texts under one nonce break GCM and OCB.
    fn duplicate(&self) -> Box<dyn Pieces>;
}

impl Clone for Box<dyn Pieces> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

/// A key in a box of its own: between an [`Arc`]'s counts and a key there would be padding, into which bytes of the
/// stack are copied.
pub(crate) struct Kept<A>(pub(crate) Box<A>);

impl<A: fmt::Debug> fmt::Debug for Kept<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<A: Aead> Sealed for Kept<A> {}
impl<A: Aead> Aead for Kept<A> {
    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        self.0.seal_in_place(nonce, ad, text)
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        self.0.open_in_place(nonce, ad, text, tag)
    }
}
