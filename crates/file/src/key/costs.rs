//! What a passphrase costs: Argon2id's parameters, and how much of it a file may ask for.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

use super::Secret;
use crate::Error;

/// Argon2id's parameters (RFC 9106).
///
/// The default is 256 MiB, 3 passes, 4 lanes: the passes and lanes that RFC 9106 recommends where memory is bounded, with
/// four times its 64 MiB, since a file is opened rarely and attacked at leisure. It takes about half a second; the lanes run
/// one after the other, since waiting for other threads with the key at hand could make two jobs wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
    /// Lanes that may run side by side.
    pub lanes: u32,
}

impl Default for Costs {
    fn default() -> Self {
        Costs { memory_kib: 256 * 1024, passes: 3, lanes: 4 }
    }
}

impl Costs {
    /// Whether Argon2 is defined for these.
    pub fn are_possible(self) -> bool {
        self.params(32).is_some()
    }

    fn params(self, len: usize) -> Option<Params> {
        Params::new(self.memory_kib, self.passes, self.lanes, Some(len)).ok()
    }

    /// Argon2id of `passphrase`, `len` bytes.
    pub(crate) fn stretch(self, passphrase: &[u8], salt: &[u8], len: usize) -> Result<Secret, Error> {
        let params = self.params(len).ok_or(Error::Costs(self))?;
        let mut key = Zeroizing::new(vec![0; len]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase, salt, &mut key)
            .map_err(|_| Error::Costs(self))?;
        Ok(key)
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_costs(f, self.memory_kib, self.passes, self.lanes)
    }
}

/// The most that a file may ask for. A file from a stranger could otherwise ask for all memory or a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// Passes.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Default for Ceiling {
    /// 1 GiB, 16 passes, 64 lanes.
    fn default() -> Self {
        Ceiling { memory_kib: 1024 * 1024, passes: 16, lanes: 64 }
    }
}

impl Ceiling {
    /// The default with another limit on memory, in KiB.
    pub fn memory(memory_kib: u32) -> Ceiling {
        Ceiling { memory_kib, ..Ceiling::default() }
    }

    /// # Errors
    /// [`Error::TooCostly`] if any of the costs is above its limit.
    pub fn allow(self, asked: Costs) -> Result<(), Error> {
        if asked.memory_kib > self.memory_kib || asked.passes > self.passes || asked.lanes > self.lanes {
            return Err(Error::TooCostly { asked, ceiling: self });
        }
        Ok(())
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_costs(f, self.memory_kib, self.passes, self.lanes)
    }
}

fn write_costs(f: &mut fmt::Formatter<'_>, memory_kib: u32, passes: u32, lanes: u32) -> fmt::Result {
    match memory_kib % 1024 {
        0 => write!(f, "{} MiB", memory_kib / 1024)?,
        _ => write!(f, "{memory_kib} KiB")?,
    }
    write!(f, ", {passes} passes, {lanes} lanes")
}
