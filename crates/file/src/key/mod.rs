//! Keys: raw, from a passphrase, or one of a pair.

mod as_name;
mod file;
mod held;
#[cfg(feature = "public-keys")]
mod pair;
mod public;
#[cfg(feature = "ssh")]
mod ssh;
mod stretch;
#[cfg(test)]
mod tests;
#[cfg(feature = "public-keys")]
pub(crate) mod text;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

pub use as_name::is_key;
pub(crate) use as_name::place_of;
pub use file::{KeyForm, write_new};
#[cfg(feature = "public-keys")]
pub use pair::{PublicKey, SecretKey};
#[cfg(feature = "public-keys")]
pub(crate) use public::{is_secret, public};
use sealwright::Suite;
use sealwright_stream::hkdf_expand;
#[cfg(feature = "ssh")]
pub(crate) use ssh::{BEGIN as SSH_BEGIN, other_form};
#[cfg(test)]
pub(crate) use stretch::argon2id;

use crate::{
    costs::{Ceiling, Costs},
    error::{Error, KeyKind},
    of_process::OfProcess,
    preamble::KeySource,
    secret::{Secret, random},
    slots::{PASSPHRASE_SALT, SlotKind},
};

/// What opens files, and seals them: a raw key, a passphrase, or the secret key of a pair.
///
/// A passphrase is stretched once for all the files that one `Key` seals, and once for each salt among the files that
/// it opens: every file still gets its own key, from its own salt. A clone shares the secret and what was stretched.
/// Debug shows no secret; memory is wiped when the last clone is dropped.
///
/// ```
/// use sealwright_file::{Key, SecretKey};
///
/// let raw = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// let passphrase = Key::passphrase("six words that nobody guesses so")?;
/// let pair = Key::pair(SecretKey::generate()?);
/// assert!(passphrase.is_passphrase() && pair.public_key().is_some());
/// assert!(Key::passphrase("").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Key {
    inner: Arc<Inner>,
}

/// What a key shares with its clones.
struct Inner {
    secret: KeyMaterial,
    /// Keys already derived from the passphrase, each for its salt and costs.
    stretched: Mutex<Vec<Stretched>>,
    /// Held while a key is being derived.
    stretching: OfProcess<Mutex<()>>,
}

enum KeyMaterial {
    Raw(Secret),
    Passphrase(Secret),
    #[cfg(feature = "public-keys")]
    Pair(SecretKey),
    #[cfg(feature = "ssh")]
    Ssh(ssh::SshSecretKey),
}

impl KeyMaterial {
    fn kind(&self) -> KeyKind {
        match self {
            KeyMaterial::Raw(_) => KeyKind::Raw,
            KeyMaterial::Passphrase(_) => KeyKind::Passphrase,
            #[cfg(feature = "public-keys")]
            KeyMaterial::Pair(_) => KeyKind::Secret,
            #[cfg(feature = "ssh")]
            KeyMaterial::Ssh(_) => KeyKind::Secret,
        }
    }
}

#[derive(Clone)]
struct Stretched {
    costs: Costs,
    salt: [u8; PASSPHRASE_SALT],
    key: Secret,
}

/// The maximum number of derived keys that are kept.
const MAX_STRETCHED_KEYS: usize = 16;
/// Bytes of a slot key.
pub(crate) const SLOT_KEY: usize = 32;

impl Key {
    /// A raw key, which must be uniformly random. Its length is checked against the suite when it is used.
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

    /// A passphrase: the bytes that were typed, without the line ending.
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

    /// The secret key of a pair. It opens what was sealed for its public key and seals nothing itself.
    #[cfg(feature = "public-keys")]
    pub fn pair(secret: SecretKey) -> Key {
        Key::of(KeyMaterial::Pair(secret))
    }

    /// The secret key in an OpenSSH private key file; for an encrypted one, `passphrase` is called.
    #[cfg(feature = "ssh")]
    pub(crate) fn ssh<E: From<Error>>(text: &[u8], passphrase: impl FnOnce() -> Result<Key, E>) -> Result<Key, E> {
        let ask = || -> Result<Secret, E> {
            match &passphrase()?.inner.secret {
                KeyMaterial::Passphrase(passphrase) => Ok(passphrase.clone()),
                other => Err(Error::KeyKind { wanted: KeyKind::Passphrase, given: other.kind() }.into()),
            }
        };
        Ok(Key::of(KeyMaterial::Ssh(ssh::SshSecretKey::parse(text, ask)?)))
    }

    fn of(secret: KeyMaterial) -> Key {
        Key { inner: Arc::new(Inner { secret, stretched: Mutex::default(), stretching: OfProcess::default() }) }
    }

    /// Whether this is a passphrase.
    pub fn is_passphrase(&self) -> bool {
        matches!(self.inner.secret, KeyMaterial::Passphrase(_))
    }

    /// The public key, if this is the secret key of a pair.
    #[cfg(feature = "public-keys")]
    pub fn public_key(&self) -> Option<PublicKey> {
        match &self.inner.secret {
            KeyMaterial::Pair(secret) => Some(secret.public_key()),
            #[cfg(feature = "ssh")]
            KeyMaterial::Ssh(secret) => Some(secret.public().clone().into()),
            _ => None,
        }
    }

    /// The 32-byte seed of the secret key of a pair, if it is one, for protocols with their own X-Wing implementation.
    #[cfg(feature = "public-keys")]
    pub fn pair_seed(&self) -> Option<zeroize::Zeroizing<[u8; 32]>> {
        match &self.inner.secret {
            KeyMaterial::Pair(secret) => Some(secret.to_seed()),
            _ => None,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> KeyKind {
        self.inner.secret.kind()
    }

    /// The key source for the preamble of a new file, and the input key of its body.
    pub(crate) fn for_sealing(&self, suite: Suite, costs: Costs) -> Result<(KeySource, Secret), Error> {
        match &self.inner.secret {
            KeyMaterial::Raw(key) if key.len() == suite.key_len() => Ok((KeySource::Raw, key.clone())),
            KeyMaterial::Raw(key) => Err(Error::KeyLength { suite, wanted: suite.key_len(), given: key.len() }),
            KeyMaterial::Passphrase(passphrase) => {
                let (salt, key) = self.fresh(passphrase, costs, suite.key_len())?;
                Ok((KeySource::Passphrase { costs, salt }, key))
            }
            #[cfg(feature = "public-keys")]
            _ => Err(Error::KeyKind { wanted: KeyKind::Public, given: self.kind() }),
        }
    }

    /// The input key of a body whose preamble has `source`. Costs above `ceiling` are refused before any work is done.
    pub(crate) fn input_key(&self, suite: Suite, source: &KeySource, ceiling: Ceiling) -> Result<Secret, Error> {
        match (&self.inner.secret, source) {
            (KeyMaterial::Raw(key), KeySource::Raw) if key.len() == suite.key_len() => Ok(key.clone()),
            (KeyMaterial::Raw(key), KeySource::Raw) => {
                Err(Error::OtherKeyLength { suite, wanted: suite.key_len(), given: key.len() })
            }
            (KeyMaterial::Passphrase(passphrase), &KeySource::Passphrase { costs, salt }) => {
                self.stretch(passphrase, costs, &salt, suite.key_len(), ceiling)
            }
            // Never `None` here: keys for slots have `slot_key`.
            _ => Err(Error::KeyKind { wanted: source.key_kind().unwrap_or(KeyKind::Raw), given: self.kind() }),
        }
    }

    /// A new slot for this key: its kind, and its slot key.
    pub(crate) fn for_slot(&self, costs: Costs) -> Result<(SlotKind, Secret), Error> {
        match &self.inner.secret {
            KeyMaterial::Raw(key) if matches!(key.len(), 16 | 32) => Ok((SlotKind::Raw, slot_key(key))),
            KeyMaterial::Raw(key) => Err(Error::KeyLength { suite: Suite::Aes256Gcm, wanted: 32, given: key.len() }),
            KeyMaterial::Passphrase(passphrase) => {
                let (salt, key) = self.fresh(passphrase, costs, SLOT_KEY)?;
                Ok((SlotKind::Passphrase { costs, salt }, key))
            }
            #[cfg(feature = "public-keys")]
            _ => Err(Error::KeyKind { wanted: KeyKind::Public, given: self.kind() }),
        }
    }

    /// The slot key of a slot of `kind`; `None` if that is for another kind of key.
    pub(crate) fn slot_key(&self, kind: &SlotKind, ceiling: Ceiling) -> Result<Option<Secret>, Error> {
        match (&self.inner.secret, kind) {
            (KeyMaterial::Raw(key), SlotKind::Raw) => Ok(Some(slot_key(key))),
            (KeyMaterial::Passphrase(passphrase), SlotKind::Passphrase { costs, salt }) => {
                self.stretch(passphrase, *costs, salt, SLOT_KEY, ceiling).map(Some)
            }
            #[cfg(feature = "public-keys")]
            (KeyMaterial::Pair(secret), SlotKind::Public { encapsulated, .. }) => {
                Ok(Some(secret.decapsulate(encapsulated)))
            }
            #[cfg(feature = "ssh")]
            (KeyMaterial::Ssh(secret), kind) => Ok(secret.slot_key(kind)),
            _ => Ok(None),
        }
    }

    /// Derives a key from the passphrase for a new file, with a salt that was used before if there is one: Argon2id is
    /// slow.
    fn fresh(&self, passphrase: &Secret, costs: Costs, len: usize) -> Result<([u8; PASSPHRASE_SALT], Secret), Error> {
        let fits = |known: &Stretched| known.costs == costs && known.key.len() == len;
        let new = || {
            let mut salt = [0; PASSPHRASE_SALT];
            random(&mut salt)?;
            Ok(Stretched { costs, salt, key: stretch::argon2id(costs, passphrase, &salt, len)? })
        };
        self.known_or(fits, new).map(|found| (found.salt, found.key))
    }

    /// Derives a key from the passphrase with the salt that a file states.
    fn stretch(
        &self,
        passphrase: &Secret,
        costs: Costs,
        salt: &[u8; PASSPHRASE_SALT],
        len: usize,
        ceiling: Ceiling,
    ) -> Result<Secret, Error> {
        if !ceiling.allows(costs) {
            return Err(Error::TooCostly { asked: costs, ceiling });
        }
        let fits = |known: &Stretched| known.costs == costs && known.salt == *salt && known.key.len() == len;
        let new = || Ok(Stretched { costs, salt: *salt, key: stretch::argon2id(costs, passphrase, salt, len)? });
        self.known_or(fits, new).map(|found| found.key)
    }

    /// A derived key that is cached and `fits`, or the result of `new`. Only one thread at a time runs `new`, because
    /// it may take much memory; threads that waited for it find its result in the cache. The cache is locked for short
    /// moments only, never during `new`: a process forked while it is locked could never lock it again.
    fn known_or(
        &self,
        fits: impl Fn(&Stretched) -> bool,
        new: impl FnOnce() -> Result<Stretched, Error>,
    ) -> Result<Stretched, Error> {
        let kept = || self.inner.stretched.lock().unwrap_or_else(PoisonError::into_inner);
        let known = || kept().iter().find(|known| fits(known)).cloned();
        if let Some(known) = known() {
            return Ok(known);
        }
        let _turn = self.inner.stretching.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known() {
            return Ok(known);
        }
        let new = new()?;
        keep(&mut kept(), new.clone());
        Ok(new)
    }
}

/// The slot key of a raw key, which has 16 or 32 bytes. Its length is an input, because HMAC pads keys with zeros:
/// without it, a key and the same key followed by zeros would give the same slot key.
fn slot_key(raw: &Secret) -> Secret {
    let mut key = Secret::new(vec![0; SLOT_KEY]);
    hkdf_expand(raw, &[b"SEALWRIGHT slot key v1", &[raw.len() as u8]], &mut key);
    key
}

/// Appends the newest; if the cache is full, the oldest is dropped.
fn keep(kept: &mut Vec<Stretched>, new: Stretched) {
    if kept.len() == MAX_STRETCHED_KEYS {
        kept.remove(0);
    }
    kept.push(new);
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.kind())
    }
}
