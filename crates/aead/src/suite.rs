//! Suites by name: cipher, mode and lengths under one word.

use crate::{
    Aead, Isa,
    mode::gcm::{self, TagLen},
};
use core::{fmt, str::FromStr};

/// A named choice of cipher, mode and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suite {
    /// AES with a 256-bit key in Galois/Counter Mode (SP 800-38D): the default.
    Aes256Gcm,
    /// AES with a 128-bit key in Galois/Counter Mode (SP 800-38D).
    Aes128Gcm,
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
    pub const ALL: &'static [Suite] = &[Suite::Aes256Gcm, Suite::Aes128Gcm];

    /// The number that a sealed file's preamble carries.
    pub fn id(self) -> u8 {
        match self {
            Suite::Aes256Gcm => 1,
            Suite::Aes128Gcm => 2,
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
        }
    }

    /// Key length in bytes.
    pub fn key_len(self) -> usize {
        match self {
            Suite::Aes256Gcm => 32,
            Suite::Aes128Gcm => 16,
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
            Suite::Aes256Gcm | Suite::Aes128Gcm => gcm::by_key(isa, key, TagLen::T16),
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
