//! Secret keys that are generated, hidden and wiped.

use core::fmt;

use subtle::ConstantTimeEq;

/// A secret key of `LEN` bytes. It is wiped when dropped, `Debug` does not show it, and comparison takes constant time.
///
/// ```
/// use sealwright::Key;
///
/// let key = Key::<32>::generate()?;
/// assert_eq!(format!("{key:?}"), "Key(32 bytes)");
/// assert_ne!(key, Key::generate()?);
/// # Ok::<(), sealwright::RandomError>(())
/// ```
#[derive(Clone)]
pub struct Key<const LEN: usize = 32>([u8; LEN]);
wipe_on_drop!(Key<const LEN> { 0: [0; LEN] });

impl<const LEN: usize> Key<LEN> {
    /// A fresh key from the operating system's random source.
    ///
    /// # Errors
    /// [`RandomError`] if the operating system gives no random bytes.
    #[cfg(feature = "random")]
    pub fn generate() -> Result<Self, RandomError> {
        let mut key = Key([0; LEN]);
        random(&mut key.0)?;
        Ok(key)
    }

    /// The secret bytes, to store or to pass on.
    pub fn expose(&self) -> &[u8; LEN] {
        &self.0
    }
}

impl<const LEN: usize> From<[u8; LEN]> for Key<LEN> {
    /// Takes over bytes that are secret and uniformly random already.
    fn from(bytes: [u8; LEN]) -> Self {
        Key(bytes)
    }
}

impl<const LEN: usize> PartialEq for Key<LEN> {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
impl<const LEN: usize> Eq for Key<LEN> {}

impl<const LEN: usize> fmt::Debug for Key<LEN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({LEN} bytes)")
    }
}

/// The operating system gave no random bytes.
///
/// ```
/// use sealwright::{Key, RandomError};
///
/// fn new_key() -> Result<Key, RandomError> {
///     Key::generate() // fails where a sandbox forbids the system call, say
/// }
/// assert_ne!(new_key()?, new_key()?);
/// # Ok::<(), RandomError>(())
/// ```
#[cfg(feature = "random")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomError;

#[cfg(feature = "random")]
impl fmt::Display for RandomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("the operating system gave no random bytes")
    }
}
#[cfg(feature = "random")]
impl core::error::Error for RandomError {}

/// Fills `bytes` from the operating system's random source.
#[cfg(feature = "random")]
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), RandomError> {
    getrandom::fill(bytes).map_err(|_| RandomError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_equal_if_every_byte_is() {
        let bytes: [u8; 32] = core::array::from_fn(|i| i as u8);
        let key = Key::from(bytes);
        assert_eq!(key, key.clone());
        for at in 0..32 {
            let mut other = bytes;
            other[at] ^= 0x80;
            assert_ne!(key, Key::from(other), "byte {at}");
        }
    }

    #[cfg(feature = "random")]
    #[test]
    fn errors_say_what_went_wrong() {
        assert_eq!(RandomError.to_string(), "the operating system gave no random bytes");
    }
}
