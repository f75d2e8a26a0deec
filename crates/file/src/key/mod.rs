//! Keys: a raw key or a passphrase, from memory, a file or a descriptor.

mod file;
mod stretch;

use std::{fmt, sync::Mutex};

pub use file::KeyForm;
use sealwright::Suite;
#[cfg(test)]
pub(crate) use stretch::argon2id;
use zeroize::Zeroizing;

use crate::{
    costs::{Ceiling, Costs},
    error::Error,
    preamble::{KeySource, PASSPHRASE_SALT},
};

/// Secret bytes, wiped when dropped.
pub(crate) type Secret = Zeroizing<Vec<u8>>;

/// What seals and opens files: a raw key or a passphrase.
///
/// A passphrase is stretched once for all the files that one `Key` seals, and once for each salt among the files that it
/// opens: every file still gets its own key, from its own salt. Debug shows no secret; memory is wiped on drop.
pub struct Key {
    secret: KeyMaterial,
    /// Passphrases already stretched.
    stretched: Mutex<Vec<Stretched>>,
}

enum KeyMaterial {
    Raw(Secret),
    Passphrase(Secret),
}

struct Stretched {
    costs: Costs,
    salt: [u8; PASSPHRASE_SALT],
    key: Secret,
}

/// How many stretched passphrases are kept.
const KEPT: usize = 16;

impl Key {
    /// A raw key, uniformly random. Its length is held against the suite when it is used.
    pub fn raw(key: impl Into<Vec<u8>>) -> Key {
        Key::of(KeyMaterial::Raw(Secret::new(key.into())))
    }

    /// A fresh raw key for `suite`.
    ///
    /// # Errors
    /// [`Error::Random`] if the operating system has no random bytes.
    pub fn generate(suite: Suite) -> Result<Key, Error> {
        let mut key = Secret::new(vec![0; suite.key_len()]);
        random(&mut key)?;
        Ok(Key::of(KeyMaterial::Raw(key)))
    }

    /// A passphrase, as the bytes that were typed, without the end of the line.
    ///
    /// # Errors
    /// [`Error::EmptyPassphrase`].
    pub fn passphrase(passphrase: impl Into<Vec<u8>>) -> Result<Key, Error> {
        let secret = Secret::new(passphrase.into());
        if secret.is_empty() {
            return Err(Error::EmptyPassphrase);
        }
        Ok(Key::of(KeyMaterial::Passphrase(secret)))
    }

    fn of(secret: KeyMaterial) -> Key {
        Key { secret, stretched: Mutex::new(Vec::new()) }
    }

    /// Whether this is a passphrase.
    pub fn is_passphrase(&self) -> bool {
        matches!(self.secret, KeyMaterial::Passphrase(_))
    }

    /// What it is called in messages.
    pub fn kind(&self) -> &'static str {
        match self.secret {
            KeyMaterial::Raw(_) => "a raw key",
            KeyMaterial::Passphrase(_) => "a passphrase",
        }
    }

    /// The source to write into a new file's preamble, and the input key of its body.
    pub(crate) fn for_sealing(&self, suite: Suite, costs: Costs) -> Result<(KeySource, Secret), Error> {
        let KeyMaterial::Passphrase(passphrase) = &self.secret else {
            return Ok((KeySource::Raw, self.input_key(suite, &KeySource::Raw, Ceiling::default())?));
        };
        let mut kept = self.stretched.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = kept.iter().find(|known| known.costs == costs && known.key.len() == suite.key_len()) {
            return Ok((KeySource::Passphrase { costs, salt: known.salt }, known.key.clone()));
        }
        let mut salt = [0; PASSPHRASE_SALT];
        random(&mut salt)?;
        let key = stretch::argon2id(costs, passphrase, &salt, suite.key_len())?;
        keep(&mut kept, Stretched { costs, salt, key: key.clone() });
        Ok((KeySource::Passphrase { costs, salt }, key))
    }

    /// The input key of a body whose preamble names `source`. Costs above `ceiling` are refused before they are spent.
    pub(crate) fn input_key(&self, suite: Suite, source: &KeySource, ceiling: Ceiling) -> Result<Secret, Error> {
        match (&self.secret, source) {
            (KeyMaterial::Raw(key), KeySource::Raw) if key.len() == suite.key_len() => Ok(key.clone()),
            (KeyMaterial::Raw(key), KeySource::Raw) => {
                Err(Error::KeyLength { suite, wanted: suite.key_len(), given: key.len() })
            }
            (KeyMaterial::Passphrase(passphrase), &KeySource::Passphrase { costs, salt }) => {
                if !ceiling.allows(costs) {
                    return Err(Error::TooCostly { asked: costs, ceiling });
                }
                let mut kept = self.stretched.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let fits = |known: &&Stretched| {
                    known.costs == costs && known.salt == salt && known.key.len() == suite.key_len()
                };
                if let Some(known) = kept.iter().find(fits) {
                    return Ok(known.key.clone());
                }
                let key = stretch::argon2id(costs, passphrase, &salt, suite.key_len())?;
                keep(&mut kept, Stretched { costs, salt, key: key.clone() });
                Ok(key)
            }
            _ => Err(Error::KeyKind { wanted: source.wants(), given: self.kind() }),
        }
    }
}

/// Newest last; the oldest makes room.
fn keep(kept: &mut Vec<Stretched>, new: Stretched) {
    if kept.len() == KEPT {
        kept.remove(0);
    }
    kept.push(new);
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.kind())
    }
}

/// Fills `bytes` from the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(Error::Random)
}
