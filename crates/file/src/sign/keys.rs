//! Signing keys and verification keys, and their text form.

use std::{fmt, path::Path, str::FromStr};

use ed25519_dalek::Signer;
use ml_dsa::{EncodedSignature, EncodedVerifyingKey, MlDsa65};
use sealwright_stream::hkdf_expand;
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

use super::{HASH, KEY_ID, KeyId, SIGNATURE, hex};
use crate::{
    error::Error,
    key::{text, write_new},
    secret::random,
};

/// The prefix of a verification key as text: `seal-verify1...`.
const PUBLIC_PREFIX: &str = "seal-verify";
/// The prefix of a signing key as text: `SEAL-SIGNING-KEY-1...`.
const SECRET_PREFIX: &str = "seal-signing-key-";
/// Bytes of an ed25519 public key.
const ED25519: usize = 32;
/// Bytes of a verification key.
const PUBLIC: usize = ED25519 + 1952;

/// A key that signs. Debug shows nothing of it; memory is wiped on drop.
///
/// ```
/// use sealwright_file::{Input, Key, Opening, Output, Sealing, Shared, SigningKey, VerifyingKey};
///
/// let signing = SigningKey::generate()?;
/// let verifying: VerifyingKey = signing.verifying_key().to_string().parse()?; // sent beforehand
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// let sealing = Sealing::new(&key).sign(Some(&signing));
/// sealing.seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let done = Opening::new(&key).signers(&[verifying]).verify(Input::bytes(sealed.take(), "sealed"))?;
/// assert_eq!(done.signer, Some(signing.verifying_key().id()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SigningKey {
    seed: Zeroizing<[u8; 32]>,
    ed25519: ed25519_dalek::SigningKey,
    ml_dsa: ml_dsa::SigningKey<MlDsa65>,
    public: VerifyingKey,
}

/// A key that verifies signatures.
///
/// ```
/// use sealwright_file::{SigningKey, VerifyingKey};
///
/// let text = SigningKey::generate()?.verifying_key().to_string(); // seal-verify1...
/// let key: VerifyingKey = text.parse()?;
/// println!("signed by {}", key.id_text());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct VerifyingKey {
    bytes: Vec<u8>,
    hash: [u8; HASH],
    ed25519: ed25519_dalek::VerifyingKey,
    ml_dsa: Box<ml_dsa::VerifyingKey<MlDsa65>>,
}

impl SigningKey {
    /// A fresh key.
    ///
    /// # Errors
    /// [`Error::Random`] if the operating system has no random bytes.
    pub fn generate() -> Result<SigningKey, Error> {
        let mut seed = Zeroizing::new([0; 32]);
        random(seed.as_mut_slice())?;
        Ok(SigningKey::from_seed(seed))
    }

    fn from_seed(seed: Zeroizing<[u8; 32]>) -> SigningKey {
        let part = |label: &[u8]| {
            let mut part = Zeroizing::new([0; 32]);
            hkdf_expand(seed.as_slice(), &[label], part.as_mut_slice());
            part
        };
        let ed25519 = ed25519_dalek::SigningKey::from_bytes(&part(b"SEALWRIGHT signing key ed25519 v1"));
        let ml_dsa = ml_dsa::SigningKey::<MlDsa65>::from_seed(&(*part(b"SEALWRIGHT signing key ML-DSA-65 v1")).into());
        let verifying = ml_dsa.expanded_key().verifying_key();
        let bytes = [&ed25519.verifying_key().to_bytes()[..], &verifying.encode()].concat();
        let public = VerifyingKey::of(bytes, ed25519.verifying_key(), verifying);
        SigningKey { seed, ed25519, ml_dsa, public }
    }

    /// Its verification key.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    pub(super) fn sign_message(&self, message: &[u8]) -> [u8; SIGNATURE] {
        let classic = self.ed25519.sign(message).to_bytes();
        let signed = self.ml_dsa.expanded_key().sign_deterministic(message, b"");
        let mut signature = [0; SIGNATURE];
        signature[..classic.len()].copy_from_slice(&classic);
        signature[classic.len()..].copy_from_slice(&signed.expect("an empty context is not too long").encode());
        signature
    }

    /// A file with this key: its verification key as a comment, then the signing key.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut secret = Zeroizing::new(text::encode(SECRET_PREFIX, self.seed.as_slice()));
        secret.make_ascii_uppercase();
        text::key_file("Verification key", &self.public.to_string(), &secret)
    }

    /// Writes a file with this key, new and readable for its owner only.
    ///
    /// # Errors
    /// [`Error::Exists`]; writing errors, after which no file is left.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        write_new(path, self.to_text().as_bytes())
    }
}

impl FromStr for SigningKey {
    type Err = Error;

    /// Parses the line of a key file that contains the key.
    fn from_str(line: &str) -> Result<SigningKey, Error> {
        let bytes = text::decode(SECRET_PREFIX, line, "not a signing key of Sealwright")?;
        let mut seed = Zeroizing::new([0; 32]);
        if bytes.len() != seed.len() {
            return Err(text::wrong("a signing key has 32 bytes"));
        }
        seed.copy_from_slice(&bytes);
        Ok(SigningKey::from_seed(seed))
    }
}

impl VerifyingKey {
    fn of(bytes: Vec<u8>, ed25519: ed25519_dalek::VerifyingKey, ml_dsa: ml_dsa::VerifyingKey<MlDsa65>) -> Self {
        let mut hash = [0; HASH];
        hash.copy_from_slice(&Sha512::digest(&bytes));
        VerifyingKey { bytes, hash, ed25519, ml_dsa: Box::new(ml_dsa) }
    }

    /// Its bytes: ed25519's public key, then ML-DSA-65's.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// What names it in signatures.
    pub fn id(&self) -> KeyId {
        let mut id = [0; KEY_ID];
        id.copy_from_slice(&self.hash[..KEY_ID]);
        id
    }

    /// The id in hexadecimal.
    pub fn id_text(&self) -> String {
        hex(&self.id())
    }

    pub(super) fn hash(&self) -> &[u8; HASH] {
        &self.hash
    }

    /// Whether both signatures of `message` are valid.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8; SIGNATURE]) -> bool {
        let (classic, post_quantum) = signature.split_at(64);
        let Ok(classic) = ed25519_dalek::Signature::from_slice(classic) else { return false };
        let Ok(encoded) = EncodedSignature::<MlDsa65>::try_from(post_quantum) else { return false };
        let Some(post_quantum) = ml_dsa::Signature::<MlDsa65>::decode(&encoded) else { return false };
        // `verify_strict` refuses keys of small order, and malleable signatures.
        self.ed25519.verify_strict(message, &classic).is_ok()
            && self.ml_dsa.verify_with_context(message, b"", &post_quantum)
    }
}

impl FromStr for VerifyingKey {
    type Err = Error;

    /// Parses the output of [`fmt::Display`].
    fn from_str(line: &str) -> Result<VerifyingKey, Error> {
        let bytes = text::decode(PUBLIC_PREFIX, line, "not a verification key of Sealwright")?;
        let wrong = || text::wrong("not a valid verification key");
        if bytes.len() != PUBLIC {
            return Err(wrong());
        }
        let (classic, post_quantum) = bytes.split_first_chunk::<ED25519>().ok_or_else(wrong)?;
        let ed25519 = ed25519_dalek::VerifyingKey::from_bytes(classic).map_err(|_| wrong())?;
        if ed25519.is_weak() {
            return Err(wrong());
        }
        let encoded = EncodedVerifyingKey::<MlDsa65>::try_from(post_quantum).map_err(|_| wrong())?;
        let ml_dsa = ml_dsa::VerifyingKey::<MlDsa65>::decode(&encoded);
        Ok(VerifyingKey::of(bytes.to_vec(), ed25519, ml_dsa))
    }
}

impl fmt::Display for VerifyingKey {
    /// As text on one line: `seal-verify1...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::encode(PUBLIC_PREFIX, &self.bytes))
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({})", self.id_text())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}
