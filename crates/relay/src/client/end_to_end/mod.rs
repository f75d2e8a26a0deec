//! A stream that the relay cannot read: sealed between the two clients under their key pairs, inside the stream that
//! the relay carries.
//!
//! Each side sends, as the bytes of its stream:
//!
//! 1. `SEALE2E2`, a fresh X-Wing public key (1,216 bytes), and an encapsulation to the other side's own public key
//!    (1,120 bytes; HPKE in base mode). Both sides derive a secret from both encapsulations.
//! 2. An encapsulation to the other side's fresh key (1,120 bytes; HPKE in PSK mode with that secret).
//! 3. Records: length of the ciphertext (2 bytes, also its associated data), ciphertext. The first byte of the
//!    plaintext is its kind: 0 data, 1 the end, 2 new keys: another encapsulation to the fresh key, in PSK mode with a
//!    secret exported from the keys before, 3 the receipt: how many bytes of data came from the other side (8 bytes).
//!
//! A receipt confirms that the other side's end has arrived and that everything before it was written. Each side sends
//! one, as its last record: after its own end, as soon as the other's end has arrived. A side with nothing more to send
//! can therefore end at once, and no receipt waits for another. The relay's acknowledgements prove nothing.
//!
//! HPKE is that of RFC 9180, with X-Wing, SHAKE256 and ChaCha20-Poly1305. Only the holders of the secret keys that
//! belong to the two named public keys can make or open a record. Records are numbered, so none can be lost, repeated
//! or moved unnoticed.

mod agreement;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod opening;
mod sealing;

use std::{
    fmt,
    io::{self, Read, Write},
    sync::Arc,
};

pub use agreement::EndToEndError;
use agreement::Shared;
pub use opening::Opening;
pub use sealing::Sealing;

/// Bytes of plaintext after which a side switches to new keys.
const REKEY_BYTES: u64 = 64 << 20;

/// Both directions of a stream that is sealed end to end.
pub struct EndToEnd(Arc<Shared>);

impl fmt::Debug for EndToEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndToEnd").field("names", &self.0.ends.names).finish_non_exhaustive()
    }
}

impl EndToEnd {
    /// Between the holder of the secret key `own` and that of the public key `peer`, X-Wing both, and with these names:
    /// ours first.
    ///
    /// # Errors
    /// [`EndToEndError::Key`], [`EndToEndError::Name`], [`EndToEndError::Oneself`].
    pub fn new(own: &[u8; 32], peer: &[u8], names: [&str; 2]) -> Result<EndToEnd, EndToEndError> {
        EndToEnd::with_rekey(own, peer, names, REKEY_BYTES)
    }

    fn with_rekey(own: &[u8; 32], peer: &[u8], names: [&str; 2], rekey: u64) -> Result<EndToEnd, EndToEndError> {
        Ok(EndToEnd(Arc::new(Shared::new(own, peer, names, rekey)?)))
    }

    /// Seals what is read from `input`. The result must be read on another thread than the one that writes to
    /// [`EndToEnd::opening`], because reading waits for the other side's keys.
    pub fn sealing<R: Read>(&self, input: R) -> Sealing<R> {
        Sealing::new(self.0.clone(), input)
    }

    /// Opens what is written to it, and writes it to `output`.
    pub fn opening<W: Write>(&self, output: W) -> Opening<W> {
        Opening::new(self.0.clone(), output)
    }

    /// The error that the peer's receipt is missing, once both sides have sent everything else. `None` before that, and
    /// once the receipt has arrived.
    pub fn missing_receipt(&self) -> Option<io::Error> {
        let state = self.0.state();
        (state.ended && state.end_sent && !state.confirmed).then(|| EndToEndError::Unconfirmed.into())
    }

    /// Bytes of text that went each way, once the peer has confirmed what we sent.
    ///
    /// # Errors
    /// [`EndToEndError::Cut`] if the peer's stream has not reached its end, [`EndToEndError::Unconfirmed`] if the peer
    /// has not confirmed all that was sent, or why its stream could not be opened.
    pub fn finished(&self) -> Result<(u64, u64), EndToEndError> {
        let state = self.0.state();
        match state.failed.or(state.missing()) {
            Some(error) => Err(error),
            None => Ok((state.sent, state.received)),
        }
    }
}

#[cfg(test)]
mod tests;
