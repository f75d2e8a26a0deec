//! Suites by name: cipher, mode and lengths under one word.

use core::{fmt, str::FromStr};

use crate::{
    Aead, Isa,
    mode::{gcm, ocb},
};

/// A named choice of cipher, mode and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suite {
    /// AES with a 256-bit key in Galois/Counter Mode (SP 800-38D): the default.
    Aes256Gcm,
    /// AES with a 128-bit key in Galois/Counter Mode (SP 800-38D).
    Aes128Gcm,
    /// AES with a 256-bit key in OCB3 (RFC 7253).
    Aes256Ocb,
    /// Serpent with a 256-bit key in Galois/Counter Mode.
    Serpent256Gcm,
    /// Serpent with a 256-bit key in OCB3.
    Serpent256Ocb,
    /// AES with a 128-bit key in OCB3 (RFC 7253).
    Aes128Ocb,
}

/// The key has a length other than its suite's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLength {
    /// Bytes the suite takes.
    pub wanted: usize,
    /// Bytes that were given.
    pub given: usize,
}

impl fmt::Display for KeyLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key has {} bytes where the suite takes {}", self.given, self.wanted)
    }
}
impl core::error::Error for KeyLength {}

/// No suite has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSuite;

impl fmt::Display for UnknownSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown suite; known are")?;
        for (i, suite) in Suite::ALL.iter().enumerate() {
            write!(f, "{}{suite}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}
impl core::error::Error for UnknownSuite {}

impl Suite {
    /// Every suite, by number.
    pub const ALL: &'static [Suite] = &[
        Suite::Aes256Gcm,
        Suite::Aes128Gcm,
        Suite::Aes256Ocb,
        Suite::Serpent256Gcm,
        Suite::Serpent256Ocb,
        Suite::Aes128Ocb,
    ];

    /// The number that a sealed file's preamble carries.
    pub fn id(self) -> u8 {
        match self {
            Suite::Aes256Gcm => 1,
            Suite::Aes128Gcm => 2,
            Suite::Aes256Ocb => 3,
            Suite::Serpent256Gcm => 4,
            Suite::Serpent256Ocb => 5,
            Suite::Aes128Ocb => 6,
        }
    }

    /// The suite of a number.
    pub fn from_id(id: u8) -> Option<Suite> {
        Suite::ALL.iter().copied().find(|suite| suite.id() == id)
    }

    /// The name on command lines: `aes-256-gcm`.
    pub fn name(self) -> &'static str {
        match self {
            Suite::Aes256Gcm => "aes-256-gcm",
            Suite::Aes128Gcm => "aes-128-gcm",
            Suite::Aes256Ocb => "aes-256-ocb",
            Suite::Serpent256Gcm => "serpent-256-gcm",
            Suite::Serpent256Ocb => "serpent-256-ocb",
            Suite::Aes128Ocb => "aes-128-ocb",
        }
    }

    /// Key length in bytes.
    pub fn key_len(self) -> usize {
        match self {
            Suite::Aes256Gcm | Suite::Aes256Ocb | Suite::Serpent256Gcm | Suite::Serpent256Ocb => 32,
            Suite::Aes128Gcm | Suite::Aes128Ocb => 16,
        }
    }

    /// Nonce length in bytes, as files and [`Sealer`](crate::Sealer) use it.
    pub fn nonce_len(self) -> usize {
        12
    }

    /// Tag length in bytes.
    pub fn tag_len(self) -> usize {
        16
    }

    /// This suite under `key`, at the best level of this machine.
    ///
    /// # Errors
    /// [`KeyLength`] unless the key has [`Suite::key_len`] bytes.
    pub fn aead(self, key: &[u8]) -> Result<Box<dyn Aead>, KeyLength> {
        self.aead_at(Isa::best(), key)
    }

    /// This suite under `key`, at a level of your choice.
    ///
    /// # Errors
    /// [`KeyLength`] unless the key has [`Suite::key_len`] bytes.
    pub fn aead_at(self, isa: Isa, key: &[u8]) -> Result<Box<dyn Aead>, KeyLength> {
        if key.len() != self.key_len() {
            return Err(KeyLength { wanted: self.key_len(), given: key.len() });
        }
        match self {
            Suite::Aes256Gcm | Suite::Aes128Gcm => gcm::by_key(isa, key, gcm::TagLen::T16),
            Suite::Aes256Ocb | Suite::Aes128Ocb => ocb::by_key(isa, key, ocb::TagLen::T16),
            Suite::Serpent256Gcm => gcm::serpent_by_key(isa, key, gcm::TagLen::T16),
            Suite::Serpent256Ocb => ocb::serpent_by_key(isa, key, ocb::TagLen::T16),
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Suite {
    type Err = UnknownSuite;
    fn from_str(name: &str) -> Result<Self, UnknownSuite> {
        Suite::ALL.iter().copied().find(|suite| suite.name().eq_ignore_ascii_case(name)).ok_or(UnknownSuite)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Numbers and names are in files and scripts: they stay.
    #[test]
    fn names_and_numbers() {
        let names = ["aes-256-gcm", "aes-128-gcm", "aes-256-ocb", "serpent-256-gcm", "serpent-256-ocb", "aes-128-ocb"];
        assert_eq!(Suite::ALL.len(), names.len());
        for (i, name) in names.into_iter().enumerate() {
            let suite = Suite::from_id(i as u8 + 1).unwrap();
            assert_eq!((suite.name(), name.parse()), (name, Ok(suite)));
        }
        assert_eq!((Suite::from_id(0), Suite::from_id(7)), (None, None));
    }

    /// No two suites seal alike, and each takes keys of its own length alone.
    #[test]
    fn each_is_its_own() {
        let sealed = |suite: &Suite| {
            let mut text = *b"sixteen bytes..!";
            let aead = suite.aead(&vec![7; suite.key_len()]).unwrap();
            let tag = aead.seal_in_place(&vec![1; suite.nonce_len()], b"", &mut text).unwrap();
            assert_eq!((aead.tag_len(), tag.as_ref().len()), (suite.tag_len(), suite.tag_len()));
            for len in [0, 8, 15, 17, 24, 31, 33, 48 - suite.key_len()] {
                assert_eq!(suite.aead(&vec![7; len]).err(), Some(KeyLength { wanted: suite.key_len(), given: len }));
            }
            text
        };
        let mut texts: Vec<_> = Suite::ALL.iter().map(sealed).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Suite::ALL.len());
    }
}
