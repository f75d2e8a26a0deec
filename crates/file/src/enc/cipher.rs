//! Ciphers by the names that OpenSSL gives them.

use std::{fmt, str::FromStr};

use super::error::EncError;

/// A mode of operation.
///
/// ```
/// use sealwright_file::enc::{EncCipher, EncMode};
///
/// assert_eq!("aes-256-ctr".parse::<EncCipher>()?.mode(), EncMode::Ctr);
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncMode {
    /// Each block by itself, which shows which blocks are equal. Only decrypted.
    Ecb,
    /// Cipher block chaining.
    Cbc,
    /// Cipher feedback of whole blocks.
    Cfb,
    /// Output feedback.
    Ofb,
    /// Counter, 128 bits, big endian.
    Ctr,
    /// Galois/Counter Mode: the extension.
    Gcm,
    /// None: a stream cipher.
    #[cfg(feature = "enc-more")]
    Stream,
}

/// A cipher.
///
/// ```
/// use sealwright_file::enc::{EncAlgorithm, EncCipher};
///
/// assert_eq!("aes-192-cbc".parse::<EncCipher>()?.algorithm(), EncAlgorithm::Aes);
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncAlgorithm {
    /// AES.
    Aes,
    /// DES three times under three keys, with blocks of 8 bytes. Only decrypted.
    #[cfg(feature = "enc-more")]
    TripleDes,
    /// ChaCha20.
    #[cfg(feature = "enc-more")]
    ChaCha20,
}

/// A cipher with a key length and a mode: `aes-256-cbc`.
///
/// ```
/// use sealwright_file::enc::EncCipher;
///
/// let cipher: EncCipher = "aes-256-cbc".parse()?;
/// assert_eq!((cipher.key_len(), cipher.iv_len(), cipher.is_read_only()), (32, 16, false));
/// assert!(EncCipher::all().any(|other| other.to_string() == "aes-128-gcm"));
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncCipher {
    algorithm: EncAlgorithm,
    key_len: usize,
    mode: EncMode,
}

const AES_MODES: [EncMode; 6] = [EncMode::Cbc, EncMode::Ctr, EncMode::Cfb, EncMode::Ofb, EncMode::Ecb, EncMode::Gcm];
#[cfg(feature = "enc-more")]
const DES_MODES: [EncMode; 4] = [EncMode::Cbc, EncMode::Cfb, EncMode::Ofb, EncMode::Ecb];

impl EncMode {
    fn name(self) -> &'static str {
        match self {
            EncMode::Ecb => "ecb",
            EncMode::Cbc => "cbc",
            EncMode::Cfb => "cfb",
            EncMode::Ofb => "ofb",
            EncMode::Ctr => "ctr",
            EncMode::Gcm => "gcm",
            #[cfg(feature = "enc-more")]
            EncMode::Stream => "",
        }
    }
}

impl EncCipher {
    /// Every cipher.
    pub fn all() -> impl Iterator<Item = EncCipher> {
        let aes = |mode| [16, 24, 32].map(|key_len| EncCipher { algorithm: EncAlgorithm::Aes, key_len, mode });
        let ciphers = AES_MODES.into_iter().flat_map(aes);
        #[cfg(feature = "enc-more")]
        let ciphers = {
            let des = |mode| EncCipher { algorithm: EncAlgorithm::TripleDes, key_len: 24, mode };
            let chacha20 = EncCipher { algorithm: EncAlgorithm::ChaCha20, key_len: 32, mode: EncMode::Stream };
            ciphers.chain(DES_MODES.map(des)).chain([chacha20])
        };
        ciphers
    }

    /// The cipher without its key length and mode.
    pub fn algorithm(self) -> EncAlgorithm {
        self.algorithm
    }

    /// Key length in bytes.
    pub fn key_len(self) -> usize {
        self.key_len
    }

    /// IV length in bytes.
    pub fn iv_len(self) -> usize {
        match (self.algorithm, self.mode) {
            (_, EncMode::Ecb) => 0,
            (_, EncMode::Gcm) => 12,
            #[cfg(feature = "enc-more")]
            (EncAlgorithm::TripleDes, _) => 8,
            _ => 16,
        }
    }

    /// Its mode.
    pub fn mode(self) -> EncMode {
        self.mode
    }

    /// Whether it is supported for decryption only, because nothing new should be encrypted with it.
    pub fn is_read_only(self) -> bool {
        self.algorithm.is_read_only() || self.mode == EncMode::Ecb
    }
}

impl EncAlgorithm {
    fn is_read_only(self) -> bool {
        match self {
            EncAlgorithm::Aes => false,
            #[cfg(feature = "enc-more")]
            EncAlgorithm::TripleDes => true,
            #[cfg(feature = "enc-more")]
            EncAlgorithm::ChaCha20 => false,
        }
    }
}

impl fmt::Display for EncCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.algorithm {
            EncAlgorithm::Aes => write!(f, "aes-{}-{}", 8 * self.key_len, self.mode.name()),
            #[cfg(feature = "enc-more")]
            EncAlgorithm::TripleDes => write!(f, "des-ede3-{}", self.mode.name()),
            #[cfg(feature = "enc-more")]
            EncAlgorithm::ChaCha20 => f.write_str("chacha20"),
        }
    }
}

impl FromStr for EncCipher {
    type Err = EncError;

    /// Takes `aes-256-cbc` in either case, with or without OpenSSL's leading dash; `aes256`, `des3` and `des-ede3` mean
    /// what they mean there.
    fn from_str(name: &str) -> Result<Self, EncError> {
        let wanted = name.strip_prefix('-').unwrap_or(name).to_ascii_lowercase();
        let full = match wanted.as_str() {
            "aes128" => "aes-128-cbc",
            "aes192" => "aes-192-cbc",
            "aes256" => "aes-256-cbc",
            "des3" => "des-ede3-cbc",
            "des-ede3" => "des-ede3-ecb",
            other => other,
        };
        EncCipher::all().find(|cipher| cipher.to_string() == full).ok_or_else(|| EncError::Cipher(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_openssl_reads_them() {
        let parsed = |name: &str| name.parse::<EncCipher>().map(|c| (c.key_len(), c.mode(), c.iv_len()));
        assert_eq!(parsed("aes-256-cbc"), Ok((32, EncMode::Cbc, 16)));
        assert_eq!(parsed("-AES-192-CTR"), Ok((24, EncMode::Ctr, 16)));
        assert_eq!(parsed("aes128"), Ok((16, EncMode::Cbc, 16)));
        assert_eq!(parsed("-aes-256-gcm"), Ok((32, EncMode::Gcm, 12)));
        assert_eq!(parsed("-aes-192-ecb"), Ok((24, EncMode::Ecb, 0)));
        for name in ["", "-", "aes", "aes-256", "aes-256-xts", "aes-512-cbc", "--aes-256-cbc", "aes256-gcm", "des"] {
            assert_eq!(parsed(name), Err(EncError::Cipher(name.into())));
        }
        assert!(EncCipher::all().all(|cipher| cipher.to_string().parse() == Ok(cipher)));
    }

    #[cfg(feature = "enc-more")]
    #[test]
    fn names_of_ciphers_that_are_only_read() {
        let parsed =
            |name: &str| name.parse::<EncCipher>().map(|c| (c.key_len(), c.mode(), c.iv_len(), c.is_read_only()));
        assert_eq!(parsed("-des3"), Ok((24, EncMode::Cbc, 8, true)));
        assert_eq!(parsed("des-ede3"), Ok((24, EncMode::Ecb, 0, true)));
        assert_eq!(parsed("chacha20"), Ok((32, EncMode::Stream, 16, false)));
    }
}
