//! A whole message as transmitted: S || C || T.

use alloc::vec::Vec;

use super::{Rkc, SEED_BYTES, Seed};
use crate::{
    error::{OpenError, SealError},
    wipe::wipe,
};

/// Bytes of T.
const TAG: usize = 32;

impl Rkc {
    /// Seals `plaintext` as S || C || T: 87 bytes more.
    ///
    /// # Errors
    /// Same as [`Rkc::seal`].
    pub fn seal_wire(&self, seed: &Seed, plaintext: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut wire = Vec::with_capacity(SEED_BYTES + plaintext.len() + TAG);
        wire.extend_from_slice(seed);
        wire.extend_from_slice(plaintext);
        let tag = self.seal(seed, &mut wire[SEED_BYTES..]).inspect_err(|_| wipe(&mut wire))?;
        wire.extend_from_slice(tag.as_ref());
        Ok(wire)
    }

    /// Returns the plaintext of S || C || T.
    ///
    /// # Errors
    /// [`OpenError`] unless T matches the plaintext.
    pub fn open_wire(&self, wire: &[u8]) -> Result<Vec<u8>, OpenError> {
        let (seed, rest) = wire.split_first_chunk().ok_or(OpenError)?;
        let (ciphertext, tag) = rest.split_last_chunk::<TAG>().ok_or(OpenError)?;
        let mut text = ciphertext.to_vec();
        self.open(seed, &mut text, tag)?;
        Ok(text)
    }
}
