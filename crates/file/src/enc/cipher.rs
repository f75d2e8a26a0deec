//! Ciphers by the names that OpenSSL gives them.

use std::{fmt, str::FromStr};

use super::error::EncError;

/// A mode of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncMode {
    /// Cipher block chaining.
    Cbc,
    /// Counter, 128 bits, big endian.
    Ctr,
    /// Galois/Counter Mode: the extension.
    Gcm,
}

impl EncMode {
    const ALL: [(EncMode, &'static str); 3] = [(EncMode::Cbc, "cbc"), (EncMode::Ctr, "ctr"), (EncMode::Gcm, "gcm")];

    fn name(self) -> &'static str {
        EncMode::ALL.iter().find(|(mode, _)| *mode == self).map_or("", |(_, name)| name)
    }
}

/// AES with a key length and a mode: `aes-256-cbc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncCipher {
    key_len: usize,
    mode: EncMode,
}

impl EncCipher {
    /// Every cipher.
    pub fn all() -> impl Iterator<Item = EncCipher> {
        EncMode::ALL.into_iter().flat_map(|(mode, _)| [16, 24, 32].map(|key_len| EncCipher { key_len, mode }))
    }

    /// Key length in bytes.
    pub fn key_len(self) -> usize {
        self.key_len
    }

    /// IV length in bytes.
    pub fn iv_len(self) -> usize {
        if self.mode == EncMode::Gcm { 12 } else { 16 }
    }

    /// Its mode.
    pub fn mode(self) -> EncMode {
        self.mode
    }
}

impl fmt::Display for EncCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "aes-{}-{}", 8 * self.key_len, self.mode.name())
    }
}

impl FromStr for EncCipher {
    type Err = EncError;

    /// Takes `aes-256-cbc` in either case, with or without OpenSSL's leading dash; `aes256` means CBC, as there.
    fn from_str(name: &str) -> Result<Self, EncError> {
        let wanted = name.strip_prefix('-').unwrap_or(name).to_ascii_lowercase();
        let short = |cipher: EncCipher| format!("aes{}", 8 * cipher.key_len) == wanted && cipher.mode == EncMode::Cbc;
        EncCipher::all()
            .find(|cipher| cipher.to_string() == wanted || short(*cipher))
            .ok_or_else(|| EncError::Cipher(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let parsed = |name: &str| name.parse::<EncCipher>().map(|c| (c.key_len(), c.mode(), c.iv_len()));
        assert_eq!(parsed("aes-256-cbc"), Ok((32, EncMode::Cbc, 16)));
        assert_eq!(parsed("-AES-192-CTR"), Ok((24, EncMode::Ctr, 16)));
        assert_eq!(parsed("aes128"), Ok((16, EncMode::Cbc, 16)));
        assert_eq!(parsed("-aes-256-gcm"), Ok((32, EncMode::Gcm, 12)));
        for name in ["", "-", "aes", "aes-256", "aes-256-ecb", "aes-512-cbc", "--aes-256-cbc", "aes256-gcm"] {
            assert_eq!(parsed(name), Err(EncError::Cipher(name.into())));
        }
        assert!(EncCipher::all().all(|cipher| cipher.to_string().parse() == Ok(cipher)));
    }
}
