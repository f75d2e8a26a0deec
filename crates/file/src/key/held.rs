//! Whether a file holds a key, whatever its name: what opens a sealed file must not go with its text.

use subtle::ConstantTimeEq;

use super::{Key, KeyMaterial};
#[cfg(feature = "public-keys")]
use super::{PublicKey, SecretKey};

impl Key {
    /// Whether a file with this content contains this key: a raw key as key files have it, or the secret key of a pair,
    /// whatever else is in the file. Passphrases are never found.
    ///
    /// ```
    /// use sealwright_file::{Key, key::KeyForm};
    ///
    /// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
    /// assert!(key.is_in(&key.to_form(KeyForm::Hex)?) && !key.is_in(b"a text"));
    /// # Ok::<(), sealwright_file::Error>(())
    /// ```
    pub fn is_in(&self, text: &[u8]) -> bool {
        match &self.inner.secret {
            KeyMaterial::Raw(key) => Key::read_from(text, "").is_ok_and(
                |held| matches!(&held.inner.secret, KeyMaterial::Raw(held) if bool::from(held.as_slice().ct_eq(key))),
            ),
            KeyMaterial::Passphrase(_) => false,
            #[cfg(feature = "public-keys")]
            _ => self.public_key().is_some_and(|public| public.secret_is_in(text)),
        }
    }
}

#[cfg(feature = "public-keys")]
impl PublicKey {
    /// Whether a file with this content contains the secret key: on a line of its own, whatever the other lines are, or
    /// as an OpenSSH private key, even an encrypted one. A sealed file is not opened to look for it.
    ///
    /// ```
    /// use sealwright_file::SecretKey;
    ///
    /// let (secret, other) = (SecretKey::generate()?, SecretKey::generate()?);
    /// let text = format!("My key:\n{}\n", *secret.to_text());
    /// assert!(secret.public_key().secret_is_in(text.as_bytes()));
    /// assert!(!other.public_key().secret_is_in(text.as_bytes()));
    /// # Ok::<(), sealwright_file::Error>(())
    /// ```
    pub fn secret_is_in(&self, text: &[u8]) -> bool {
        #[cfg(feature = "ssh")]
        if text.starts_with(super::SSH_BEGIN) {
            return public_of_ssh(text).as_ref() == Some(self);
        }
        let secret = |line: &[u8]| {
            // Quickly skips lines that cannot be a key.
            let line = line.trim_ascii();
            line.first_chunk::<4>().filter(|begin| begin.eq_ignore_ascii_case(b"SEAL"))?;
            std::str::from_utf8(line).ok()?.parse::<SecretKey>().ok()
        };
        text.split(|&byte| byte == b'\n').filter_map(secret).any(|secret| secret.public_key() == *self)
    }
}

/// The public key in an OpenSSH private key file, which is readable without the passphrase.
#[cfg(feature = "ssh")]
fn public_of_ssh(text: &[u8]) -> Option<PublicKey> {
    ssh_key::PrivateKey::from_openssh(text).ok()?.public_key().to_openssh().ok()?.parse().ok()
}

#[cfg(all(test, feature = "ssh"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::key::KeyForm;

    const SSH: [(&[u8], &str); 3] = [
        (include_bytes!("../../tests/keys/ed25519"), include_str!("../../tests/keys/ed25519.pub")),
        (include_bytes!("../../tests/keys/rsa"), include_str!("../../tests/keys/rsa.pub")),
        (include_bytes!("../../tests/keys/ed25519_encrypted"), include_str!("../../tests/keys/ed25519_encrypted.pub")),
    ];

    #[test]
    fn keys_are_found_in_files() {
        let secret = SecretKey::generate().unwrap();
        let raw = Key::raw([7; 32]);
        let crlf = format!("a note\r\n{}\r\n", secret.to_text().to_lowercase());
        let mut texts = vec![
            ("raw", raw.to_form(KeyForm::Raw).unwrap().to_vec()),
            ("raw", raw.to_form(KeyForm::Hex).unwrap().to_vec()),
            ("pair", secret.to_identity().as_bytes().to_vec()),
            ("pair", [b"\xff\n", crlf.as_bytes()].concat()),
            ("none", secret.public_key().to_string().into()),
            ("none", b"a text".to_vec()),
            ("none", vec![8; 32]),
            ("none", Vec::new()),
        ];
        texts.extend(["0", "1", "2"].into_iter().zip(SSH).map(|(name, (text, _))| (name, text.to_vec())));
        let ssh: Vec<PublicKey> = SSH.iter().map(|(_, line)| line.parse().unwrap()).collect();
        for (holds, text) in &texts {
            assert_eq!(raw.is_in(text), *holds == "raw", "{holds}");
            assert_eq!(secret.public_key().secret_is_in(text), *holds == "pair", "{holds}");
            assert_eq!(Key::pair(secret.clone()).is_in(text), *holds == "pair", "{holds}");
            for (name, key) in ["0", "1", "2"].iter().zip(&ssh) {
                assert_eq!(key.secret_is_in(text), holds == name, "{holds}");
            }
            assert!(!Key::passphrase(text.clone()).is_ok_and(|key| key.is_in(text)));
        }
    }
}
