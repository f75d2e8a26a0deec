//! What `enc` refuses.

#[cfg(not(feature = "enc-more"))]
const KNOWN: &str = "aes-{128,192,256}-{cbc,ctr,cfb,ofb,ecb,gcm}";
#[cfg(feature = "enc-more")]
const KNOWN: &str = "aes-{128,192,256}-{cbc,ctr,cfb,ofb,ecb,gcm}, des-ede3-{cbc,cfb,ofb,ecb} and chacha20";

/// Why `enc` did not encrypt or decrypt.
///
/// ```
/// use sealwright_file::enc::{EncError, EncSecret};
///
/// // OpenSSL would fill the key up with zeros.
/// let error = EncSecret::from_hex("aes-128-cbc".parse()?, "0707", &"01".repeat(16)).unwrap_err();
/// assert_eq!(error, EncError::HexLength { what: "key", wanted: 32, given: 4 });
/// assert_eq!(error.exit_code(), 2);
/// # Ok::<(), EncError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncError {
    /// A cipher name that is not offered.
    #[error("cipher {0} is not supported; those that are: {KNOWN}")]
    Cipher(String),
    /// A cipher with which nothing new should be encrypted.
    #[error("{0} is supported for decryption only")]
    ReadOnly(String),
    /// A digest name that is not offered.
    #[error("unknown digest {0}; known are md5, sha1, sha224, sha256, sha384, sha512")]
    Digest(String),
    /// A character that is not a hex digit.
    #[error("the {0} has a character that is not a hexadecimal digit")]
    NotHex(&'static str),
    /// Too few or too many hex digits.
    #[error("the {what} has {given} hexadecimal digits, but {wanted} are needed")]
    HexLength {
        /// Key, IV or salt.
        what: &'static str,
        /// Digits needed.
        wanted: usize,
        /// Digits given.
        given: usize,
    },
    /// PBKDF2 must run at least once.
    #[error("the number of iterations must be at least 1")]
    Iterations,
    /// GCM takes a key and an IV, not a passphrase.
    #[error("GCM takes a key and an IV in hex, not a passphrase")]
    GcmPassphrase,
    /// The input lacks the header that says which salt was used.
    #[error("the input does not begin with Salted__")]
    NoSalt,
    /// Without padding, the text must be whole blocks.
    #[error("without padding the text must be a whole number of blocks")]
    NotWholeBlocks,
    /// The ciphertext is not whole blocks.
    #[error("the ciphertext is not a whole number of blocks: it was truncated")]
    Cut,
    /// The padding is wrong, so key or ciphertext are.
    #[error("bad padding: the key or passphrase is wrong, or the ciphertext was changed")]
    BadPadding,
    /// The tag does not hold.
    #[error("not authentic: the key or the IV is wrong, or the ciphertext was changed")]
    NotAuthentic,
    /// More than GCM holds in memory here to decrypt it.
    #[error("GCM here takes at most 1 GiB")]
    TooLong,
    /// Something that is not base64.
    #[error("the input is not base64 (near byte {0})")]
    NotBase64(u64),
}

impl EncError {
    /// 2 usage, 3 not authentic, 1 anything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            EncError::Cipher(_)
            | EncError::ReadOnly(_)
            | EncError::Digest(_)
            | EncError::NotHex(_)
            | EncError::HexLength { .. }
            | EncError::Iterations
            | EncError::GcmPassphrase => 2,
            EncError::NotAuthentic => 3,
            _ => 1,
        }
    }

    /// A suggestion to the user, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            EncError::HexLength { .. } => "openssl enc silently pads or truncates such keys; give all digits",
            EncError::ReadOnly(_) => "use seal; or aes-256-ctr for programs that read nothing else",
            EncError::NoSalt => {
                "it may have been encrypted with a key and an IV, with a salt given apart, or as base64"
            }
            EncError::BadPadding => "CBC cannot tell which; sealed files can",
            EncError::GcmPassphrase | EncError::TooLong => "use seal, which takes passphrases and files of any length",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::EncError;

    /// As the manual has it: 2 for how it was called, 3 for what is not authentic, 1 for the rest; and what to do about
    /// it.
    #[test]
    fn exit_codes_and_hints() {
        let text = String::new;
        for (error, code, hint) in [
            (EncError::Cipher(text()), 2, None),
            (EncError::ReadOnly(text()), 2, Some("use seal")),
            (EncError::Digest(text()), 2, None),
            (EncError::NotHex("key"), 2, None),
            (EncError::HexLength { what: "key", wanted: 32, given: 4 }, 2, Some("give all digits")),
            (EncError::Iterations, 2, None),
            (EncError::GcmPassphrase, 2, Some("takes passphrases")),
            (EncError::NoSalt, 1, Some("given apart")),
            (EncError::NotWholeBlocks, 1, None),
            (EncError::Cut, 1, None),
            (EncError::BadPadding, 1, Some("sealed files can")),
            (EncError::NotAuthentic, 3, None),
            (EncError::TooLong, 1, Some("files of any length")),
            (EncError::NotBase64(7), 1, None),
        ] {
            assert_eq!(error.exit_code(), code, "{error:?}");
            match (error.hint(), hint) {
                (Some(said), Some(wanted)) => assert!(said.contains(wanted), "{error:?}: {said}"),
                (said, wanted) => assert_eq!(said, wanted, "{error:?}"),
            }
        }
    }
}
