//! The errors of keys and messages. None of them contains any part of a key or of a text.

use core::fmt;

/// A message was refused and not sealed. Texts and buffers are unchanged, except that the output of
/// [`Aead::seal_to`](crate::Aead::seal_to) is all zero, and that of `seal_to` of a key that draws nonces has a nonce or
/// a part of one before its zeros.
///
/// ```
/// use sealwright::{Aead, SealError, Suite};
///
/// let aead = Suite::Aes256Gcm.aead(&[7; 32])?;
/// let mut text = *b"attack at dawn";
/// let refused = aead.seal_in_place(&[1; 8], b"header", &mut text); // a nonce of another protocol
/// assert_eq!(refused.err(), Some(SealError::NonceLength));
/// assert_eq!(&text, b"attack at dawn");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealError {
    /// The mode does not accept nonces of this length.
    NonceLength,
    /// The text is longer than the mode can encrypt under one nonce.
    TextTooLong,
    /// The associated data is longer than the mode can authenticate.
    AdTooLong,
    /// The text ends with a partial block, but the mode accepts only whole blocks of 16 bytes.
    PartialBlock,
    /// The key has reached its limit of messages or blocks.
    KeyExhausted,
    /// The operating system's random source failed, so that there is no nonce.
    NoRandomness,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SealError::NonceLength => "the nonce has a length that this mode does not take",
            SealError::TextTooLong => "the text is longer than this mode may seal under one nonce",
            SealError::AdTooLong => "the associated data is longer than this mode may authenticate",
            SealError::PartialBlock => "the text ends within a block, and this mode takes whole blocks only",
            SealError::KeyExhausted => {
                "this key has sealed as many messages as it may, or as many blocks; take a new key"
            }
            SealError::NoRandomness => "the operating system gave no random bytes for a nonce",
        })
    }
}
impl core::error::Error for SealError {}

/// The message is not authentic: text, nonce, associated data or tag differ from what was sealed under this key. The
/// error does not say which, because that would help a forger.
///
/// ```
/// use sealwright::{Key, OpenError, RandomNonceKey};
///
/// let sealing = RandomNonceKey::xaes_256_gcm(&Key::generate()?);
/// let mut message = sealing.seal(b"header", b"attack at dawn")?;
/// message[30] ^= 1;
/// match sealing.open(b"header", &message) {
///     Ok(text) => println!("{} bytes", text.len()),
///     Err(OpenError) => println!("refused"), // no more can be said: drop the message
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenError;

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("the message is not authentic")
    }
}
impl core::error::Error for OpenError {}

/// The algorithm does not accept keys of this length.
///
/// ```
/// use sealwright::{Sealer, Suite};
///
/// let error = Sealer::new(Suite::Aes256Gcm, b"a passphrase").unwrap_err();
/// assert_eq!((error.given(), error.allowed()), (12, &[32][..]));
/// assert_eq!(error.to_string(), "the key has 12 bytes; it must have 32");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLengthError {
    allowed: &'static [usize],
    given: usize,
}

impl KeyLengthError {
    /// A key of `given` bytes, where `allowed` lists the lengths that the algorithm accepts.
    pub(crate) const fn new(allowed: &'static [usize], given: usize) -> Self {
        KeyLengthError { allowed, given }
    }

    /// The key lengths that the algorithm accepts, in bytes.
    pub fn allowed(&self) -> &'static [usize] {
        self.allowed
    }

    /// The length of the key that was given, in bytes.
    pub fn given(&self) -> usize {
        self.given
    }
}

impl fmt::Display for KeyLengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key has {} bytes; it must have ", self.given)?;
        for (i, length) in self.allowed.iter().enumerate() {
            let before = match i {
                0 => "",
                _ if i + 1 == self.allowed.len() => " or ",
                _ => ", ",
            };
            write!(f, "{before}{length}")?;
        }
        Ok(())
    }
}
impl core::error::Error for KeyLengthError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_key_length_is_told_with_every_right_one() {
        let told = |allowed| KeyLengthError::new(allowed, 7).to_string();
        assert_eq!(told(&[32]), "the key has 7 bytes; it must have 32");
        assert_eq!(told(&[16, 32]), "the key has 7 bytes; it must have 16 or 32");
        assert_eq!(told(&[16, 24, 32]), "the key has 7 bytes; it must have 16, 24 or 32");
    }

    #[test]
    fn widths_are_respected() {
        assert_eq!(format!("{OpenError:>30}|"), "  the message is not authentic|");
        assert_eq!(format!("{:.9}", SealError::NonceLength), "the nonce");
    }
}
