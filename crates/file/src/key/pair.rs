//! Key pairs: X-Wing, a hybrid of X25519 and ML-KEM-768, which is secure as long as either of the two is.

use std::{fmt, path::Path, str::FromStr};

use x_wing::{Decapsulate, DecapsulationKey, Decapsulator, Encapsulate, EncapsulationKey, KeyExport};
use zeroize::Zeroizing;

#[cfg(feature = "ssh")]
use super::ssh::SshPublicKey;
use super::{file::write_new, text};
use crate::{
    error::Error,
    secret::{Secret, random},
    slots::{ENCAPSULATED, MARK, SlotKind},
};

/// The prefix of a public key as text: `seal1...`.
const PUBLIC_PREFIX: &str = "seal";
/// The prefix of a secret key as text: `SEAL-SECRET-KEY-1...`.
const SECRET_PREFIX: &str = "seal-secret-key-";

/// The public key of a pair, with which anybody can seal files for the holder of the secret key.
///
/// ```
/// use sealwright_file::{PublicKey, Recipient, SecretKey, Sealing};
///
/// let secret = SecretKey::generate()?; // stays with its owner: `write_file`
/// let text = secret.public_key().to_string(); // may be sent to everybody
/// let recipients = [Recipient::PublicKey(text.parse::<PublicKey>()?)];
/// let sealing = Sealing::for_recipients(&recipients);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: Public,
}

#[derive(Clone, PartialEq, Eq)]
enum Public {
    XWing(Box<EncapsulationKey>),
    #[cfg(feature = "ssh")]
    Ssh(Box<SshPublicKey>),
}

/// The secret key of a pair. Debug shows nothing of it; memory is wiped on drop.
///
/// ```
/// use sealwright_file::SecretKey;
///
/// let secret = SecretKey::generate()?;
/// let text = secret.to_text(); // SEAL-SECRET-KEY-1...
/// assert_eq!(text.parse::<SecretKey>()?.public_key(), secret.public_key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SecretKey {
    seed: Zeroizing<[u8; 32]>,
}

impl SecretKey {
    /// A fresh pair.
    ///
    /// # Errors
    /// [`Error::Random`] if the operating system has no random bytes.
    pub fn generate() -> Result<SecretKey, Error> {
        let mut seed = Zeroizing::new([0; 32]);
        random(seed.as_mut_slice())?;
        Ok(SecretKey { seed })
    }

    fn key(&self) -> DecapsulationKey {
        DecapsulationKey::from(*self.seed)
    }

    /// Its public key.
    pub fn public_key(&self) -> PublicKey {
        PublicKey { kind: Public::XWing(Box::new(self.key().encapsulation_key().clone())) }
    }

    /// The 32-byte seed from which X-Wing derives both keys, for protocols with their own X-Wing implementation.
    pub fn to_seed(&self) -> Zeroizing<[u8; 32]> {
        self.seed.clone()
    }

    /// The slot key that was encapsulated to the public key. What was encapsulated to another key gives no error but a
    /// key that opens nothing (implicit rejection).
    pub(crate) fn decapsulate(&self, encapsulated: &[u8; ENCAPSULATED]) -> Secret {
        let shared = Zeroizing::new(self.key().decapsulate(&(*encapsulated).into()));
        Secret::new(shared.to_vec())
    }

    /// An identity file with this key: its public key as a comment, then the secret key.
    pub fn to_identity(&self) -> Zeroizing<String> {
        text::key_file("Public key", &self.public_key().to_string(), &self.to_text())
    }

    /// Writes an identity file with this key, new and readable for its owner only.
    ///
    /// # Errors
    /// [`Error::Exists`]; writing errors, after which no file is left.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        write_new(path, self.to_identity().as_bytes())
    }

    /// As text on one line: `SEAL-SECRET-KEY-1...`.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut text = text::encode(SECRET_PREFIX, self.seed.as_slice());
        text.make_ascii_uppercase();
        Zeroizing::new(text)
    }
}

impl FromStr for SecretKey {
    type Err = Error;

    /// Parses the output of [`SecretKey::to_text`].
    fn from_str(text: &str) -> Result<SecretKey, Error> {
        let bytes = text::decode(SECRET_PREFIX, text, "not a secret key of Sealwright")?;
        let mut seed = Zeroizing::new([0; 32]);
        if bytes.len() != seed.len() {
            return Err(text::wrong("a secret key has 32 bytes"));
        }
        seed.copy_from_slice(&bytes);
        Ok(SecretKey { seed })
    }
}

impl PublicKey {
    /// Its bytes: the ML-KEM-768 encapsulation key, then the X25519 public key; for an SSH key its SSH encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.kind {
            Public::XWing(key) => key.to_bytes().to_vec(),
            #[cfg(feature = "ssh")]
            Public::Ssh(key) => key.to_bytes(),
        }
    }

    /// The bytes of an X-Wing public key; none for an SSH key.
    pub fn to_x_wing(&self) -> Option<Vec<u8>> {
        match &self.kind {
            Public::XWing(_) => Some(self.to_bytes()),
            #[cfg(feature = "ssh")]
            Public::Ssh(_) => None,
        }
    }

    /// A new slot that only the secret key opens: its kind, with `mark`, and its slot key.
    pub(crate) fn encapsulate(&self, mark: [u8; MARK]) -> Result<(SlotKind, Secret), Error> {
        match &self.kind {
            Public::XWing(key) => {
                let (encapsulated, shared) = key.encapsulate();
                let shared = Zeroizing::new(shared);
                let encapsulated = Box::new(encapsulated.into());
                Ok((SlotKind::Public { encapsulated, mark }, Secret::new(shared.to_vec())))
            }
            #[cfg(feature = "ssh")]
            Public::Ssh(key) => key.encapsulate(mark),
        }
    }
}

#[cfg(feature = "ssh")]
impl From<SshPublicKey> for PublicKey {
    fn from(key: SshPublicKey) -> PublicKey {
        PublicKey { kind: Public::Ssh(Box::new(key)) }
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    /// Parses the output of [`fmt::Display`], or an SSH public key with or without a comment.
    fn from_str(text: &str) -> Result<PublicKey, Error> {
        #[cfg(feature = "ssh")]
        if SshPublicKey::is_meant(text) {
            return SshPublicKey::parse(text).map(PublicKey::from);
        }
        let bytes = text::decode(PUBLIC_PREFIX, text, "not a public key of Sealwright")?;
        let key = EncapsulationKey::try_from(&bytes[..]).map_err(|_| text::wrong("not a valid public key"))?;
        Ok(PublicKey { kind: Public::XWing(Box::new(key)) })
    }
}

impl fmt::Display for PublicKey {
    /// As text on one line: `seal1...`, 1,957 characters, or `ssh-...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Public::XWing(key) => f.write_str(&text::encode(PUBLIC_PREFIX, &key.to_bytes())),
            #[cfg(feature = "ssh")]
            Public::Ssh(key) => f.write_str(&key.to_text()),
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_string();
        write!(f, "PublicKey({}...)", &text[..16.min(text.len())])
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}
