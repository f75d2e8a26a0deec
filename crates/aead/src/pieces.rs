//! Messages that are sealed piece by piece, for programs that must give out the front of a message before they have its end.
//!
//! Only to seal: what is opened in pieces is given out before it is known to be genuine.

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
    /// Begins a message, whose associated data are all there.
    ///
    /// # Errors
    /// Same as [`Aead::seal_in_place`].
    fn begin(self: Arc<Self>, nonce: &[u8], ad: &[u8]) -> Result<Box<dyn Pieces>, SealError>;
}

/// A message on its way. Nobody may use what was sealed of it before its tag is there and holds. A process that is forked, or that goes on
/// from a snapshot of itself or of its virtual machine, has a copy of it: of the two only one may seal further pieces. `Debug` shows no
/// secrets.
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
    /// Encrypts the next piece of the text in place. GCM takes pieces of any length. In OCB a piece that is not whole blocks of 16 bytes
    /// is the last one.
    ///
    /// # Errors
    /// [`SealError::TextTooLong`] for more than the mode may encrypt under a nonce, [`SealError::PartialBlock`] for a piece
    /// that cannot follow; `piece` is then as it was, and the message too.
    fn seal(&mut self, piece: &mut [u8]) -> Result<(), SealError>;

    /// The tag of all that was sealed: what [`Aead::seal_in_place`] makes of the whole text.
    #[must_use = "without its tag nobody can open the message"]
    fn finish(self: Box<Self>) -> Tag;

    /// The same message at the same place. Both may end alike; two texts under one nonce break GCM and OCB.
    fn duplicate(&self) -> Box<dyn Pieces>;
}

impl Clone for Box<dyn Pieces> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

/// A key in a box of its own: between an [`Arc`]'s counts and a key there would be padding, which takes along what was on the stack.
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
