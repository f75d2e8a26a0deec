//! Secret bytes, and random bytes.

use sealwright::RandomError;
use zeroize::Zeroizing;

use crate::error::Error;

/// Secret bytes, wiped when dropped.
pub(crate) type Secret = Zeroizing<Vec<u8>>;

/// Fills `bytes` with random bytes from the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|_| Error::Random(RandomError))
}
