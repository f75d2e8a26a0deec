//! Key pairs: X-Wing, a hybrid of X25519 and ML-KEM-768. Who breaks one of the two opens nothing.

use std::{fmt, path::Path, str::FromStr};

use x_wing::{Decapsulate, DecapsulationKey, Decapsulator, Encapsulate, EncapsulationKey, KeyExport};
use zeroize::Zeroizing;

use super::{file::write_private, text};
use crate::{
    error::Error,
    secret::{Secret, random},
    slots::ENCAPSULATED,
};

/// In front of a public key in text: `seal1...`.
const PUBLIC_PREFIX: &str = "seal";
/// In front of a secret key in text: `SEAL-SECRET-KEY-1...`.
const SECRET_PREFIX: &str = "seal-secret-key-";

/// The public key of a pair: who has it can seal files for the holder of the secret key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: Box<EncapsulationKey>,
}

/// The secret key of a pair. Debug shows nothing of it; memory is wiped on drop.
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
        PublicKey { key: Box::new(self.key().encapsulation_key().clone()) }
    }

    /// The slot key that was encapsulated to the public key. For what was encapsulated to another key, a useless one.
    pub(crate) fn decapsulate(&self, encapsulated: &[u8; ENCAPSULATED]) -> Secret {
        let shared = Zeroizing::new(self.key().decapsulate(&(*encapsulated).into()));
        Secret::new(shared.to_vec())
    }

    /// An identity file with this key: its public key as a comment, then the secret key.
    pub fn to_identity(&self) -> Zeroizing<String> {
        let secret = self.to_text();
        let public = self.public_key().to_string();
        // Room for all of it: growing would leave a copy behind.
        let mut text = Zeroizing::new(String::with_capacity(secret.len() + public.len() + 100));
        text.push_str("# Public key: ");
        text.push_str(&public);
        text.push('\n');
        text.push_str(&secret);
        text.push('\n');
        text
    }

    /// Writes an identity file with this key, new and readable for its owner only.
    ///
    /// # Errors
    /// [`Error::Exists`]; writing errors, after which no file is left.
    pub fn write_file(&self, path: &Path) -> Result<(), Error> {
        write_private(path, self.to_identity().as_bytes())
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

    /// Reads a text as [`SecretKey::to_text`] makes it.
    fn from_str(text: &str) -> Result<SecretKey, Error> {
        let bytes = Zeroizing::new(text::decode(SECRET_PREFIX, text, "not a secret key of Sealwright")?);
        let mut seed = Zeroizing::new([0; 32]);
        if bytes.len() != seed.len() {
            return Err(text::wrong("a secret key has 32 bytes"));
        }
        seed.copy_from_slice(&bytes);
        Ok(SecretKey { seed })
    }
}

impl PublicKey {
    /// Its bytes: the ML-KEM-768 encapsulation key, then the X25519 public key.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.key.to_bytes().to_vec()
    }

    /// A fresh slot key, and its encapsulation that only the secret key opens.
    pub(crate) fn encapsulate(&self) -> (Box<[u8; ENCAPSULATED]>, Secret) {
        let (encapsulated, shared) = self.key.encapsulate();
        let shared = Zeroizing::new(shared);
        (Box::new(encapsulated.into()), Secret::new(shared.to_vec()))
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    /// Reads a text as [`fmt::Display`] prints it.
    fn from_str(text: &str) -> Result<PublicKey, Error> {
        let bytes = text::decode(PUBLIC_PREFIX, text, "not a public key of Sealwright")?;
        let key = EncapsulationKey::try_from(&bytes[..]).map_err(|_| text::wrong("not a valid public key"))?;
        Ok(PublicKey { key: Box::new(key) })
    }
}

impl fmt::Display for PublicKey {
    /// As text on one line: `seal1...`, 1,958 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::encode(PUBLIC_PREFIX, &self.key.to_bytes()))
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
