//! Secret keys: generated at random, hidden from `Debug`, wiped when dropped.

use core::fmt;

use subtle::ConstantTimeEq;

use crate::error::KeyLengthError;

/// A secret key of `LEN` bytes. It is wiped when dropped, `Debug` does not show it, and comparison takes constant time.
/// After `zeroize` it is a key of zeros, which everybody knows: nothing must be sealed with it then.
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
    /// Generates a key from the operating system's random source.
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
    /// Takes ownership of bytes that are already secret and uniformly random.
    fn from(bytes: [u8; LEN]) -> Self {
        Key(bytes)
    }
}

impl<const LEN: usize> From<&[u8; LEN]> for Key<LEN> {
    /// Copies bytes that are already secret and uniformly random; the caller's copy is left unchanged.
    fn from(bytes: &[u8; LEN]) -> Self {
        Key(*bytes)
    }
}

impl<const LEN: usize> TryFrom<&[u8]> for Key<LEN> {
    type Error = KeyLengthError;

    /// Copies bytes that are already secret and uniformly random, if there are exactly `LEN` of them.
    ///
    /// ```
    /// use sealwright::Key;
    ///
    /// let stored = vec![7; 32]; // read from a file, say
    /// let key = Key::<32>::try_from(&stored[..])?;
    /// assert_eq!(Key::<32>::try_from(&stored[1..]).unwrap_err().to_string(), "the key has 31 bytes; it must have 32");
    /// # Ok::<(), sealwright::KeyLengthError>(())
    /// ```
    fn try_from(bytes: &[u8]) -> Result<Self, KeyLengthError> {
        let key: &[u8; LEN] = bytes.try_into().map_err(|_| KeyLengthError::new(const { &[LEN] }, bytes.len()))?;
        Ok(Key::from(key))
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
    #![allow(clippy::unwrap_used)]
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

    #[test]
    fn a_slice_is_a_key_if_it_has_its_length() {
        let bytes: [u8; 33] = core::array::from_fn(|i| i as u8 + 1);
        assert_eq!(Key::<32>::try_from(&bytes[..32]).map(|key| *key.expose()), Ok(*bytes.first_chunk().unwrap()));
        assert_eq!(Key::from(&bytes), Key::from(bytes));
        for len in [0, 31, 33] {
            assert_eq!(Key::<32>::try_from(&bytes[..len]), Err(KeyLengthError::new(&[32], len)));
        }
    }

    #[cfg(feature = "random")]
    #[test]
    fn errors_say_what_went_wrong() {
        assert_eq!(RandomError.to_string(), "the operating system gave no random bytes");
    }
}
