//! Keys and IVs as `openssl enc` gets them: hex, PBKDF2, or its old one-pass derivation.

use std::{fmt, str::FromStr};

use md5::Md5;
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};
use zeroize::{Zeroize, Zeroizing};

use super::{
    cipher::{EncCipher, EncMode},
    error::EncError,
};
use crate::{
    error::Error,
    secret::{Secret, random},
};

/// Length of the salt in bytes.
pub(super) const SALT: usize = 8;

/// What the key and the IV come from.
///
/// ```
/// use sealwright_file::enc::{EncSecret, Kdf, Salt};
///
/// let cipher = "aes-256-cbc".parse()?;
/// let key = EncSecret::from_hex(cipher, &"07".repeat(32), &"01".repeat(16))?; // -K and -iv
/// let passphrase = EncSecret::passphrase("a passphrase", Kdf::default(), Salt::Header); // -pass and -pbkdf2
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum EncSecret {
    /// `-K` and `-iv`.
    Key {
        /// The key.
        key: Zeroizing<Vec<u8>>,
        /// The IV.
        iv: Vec<u8>,
    },
    /// `-pass`.
    Passphrase {
        /// The passphrase, without the end of its line.
        passphrase: Zeroizing<Vec<u8>>,
        /// How to stretch it.
        kdf: Kdf,
        /// Which salt to use.
        salt: Salt,
        /// `-iv`, which goes before the derived one.
        iv: Option<Vec<u8>>,
    },
}

/// How a passphrase becomes a key.
///
/// ```
/// use sealwright_file::enc::{Digest, Kdf};
///
/// let slow = Kdf::Pbkdf2 { iterations: 600_000, digest: Digest::Sha256 }; // -pbkdf2 -iter 600000
/// let old = Kdf::Legacy { digest: Digest::Md5 }; // a file of OpenSSL 1.0
/// assert_ne!(slow, Kdf::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kdf {
    /// `-pbkdf2 -iter N`.
    Pbkdf2 {
        /// How often the hash runs.
        iterations: u32,
        /// Under HMAC.
        digest: Digest,
    },
    /// `EVP_BytesToKey` with one round: what OpenSSL does unless told otherwise. A graphics card tries billions of
    /// passphrases a second against it; only for reading what exists.
    Legacy {
        /// The hash.
        digest: Digest,
    },
}

impl Default for Kdf {
    /// PBKDF2 with 10 000 rounds of SHA-256, as `-pbkdf2` means in OpenSSL.
    fn default() -> Self {
        Kdf::Pbkdf2 { iterations: 10_000, digest: Digest::Sha256 }
    }
}

/// Where the salt comes from and whether it is written.
///
/// ```
/// use sealwright_file::enc::Salt;
///
/// assert_eq!(Salt::from_hex("0102030405060708")?, Salt::Given([1, 2, 3, 4, 5, 6, 7, 8]));
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Salt {
    /// Fresh, written in front as `Salted__` and 8 bytes; read from there when decrypting.
    #[default]
    Header,
    /// `-S`: given, neither written nor read, as OpenSSL 3 has it.
    Given([u8; SALT]),
    /// `-nosalt`.
    None,
}

/// A hash, `-md`.
///
/// ```
/// use sealwright_file::enc::Digest;
///
/// assert_eq!("SHA-512".parse::<Digest>()?, Digest::Sha512);
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Digest {
    /// The default of OpenSSL before 1.1.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// The default since 1.1.
    #[default]
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl FromStr for Digest {
    type Err = EncError;

    fn from_str(name: &str) -> Result<Self, EncError> {
        Ok(match name.to_ascii_lowercase().replace('-', "").as_str() {
            "md5" => Digest::Md5,
            "sha1" => Digest::Sha1,
            "sha224" => Digest::Sha224,
            "sha256" => Digest::Sha256,
            "sha384" => Digest::Sha384,
            "sha512" => Digest::Sha512,
            _ => return Err(EncError::Digest(name.into())),
        })
    }
}

impl EncSecret {
    /// `-K key -iv iv`: exactly as many hex digits as the cipher needs.
    ///
    /// # Errors
    /// [`EncError::HexLength`] and [`EncError::NotHex`], where OpenSSL would guess.
    pub fn from_hex(cipher: EncCipher, key: &str, iv: &str) -> Result<EncSecret, EncError> {
        let key = Zeroizing::new(unhex("key", key, cipher.key_len())?);
        Ok(EncSecret::Key { key, iv: unhex("IV", iv, cipher.iv_len())? })
    }

    /// `-pass`, stretched by `kdf`, salted by `salt`.
    pub fn passphrase(passphrase: impl Into<Vec<u8>>, kdf: Kdf, salt: Salt) -> EncSecret {
        EncSecret::Passphrase { passphrase: Zeroizing::new(passphrase.into()), kdf, salt, iv: None }
    }

    /// With `-iv`, in hex.
    ///
    /// # Errors
    /// As [`EncSecret::from_hex`].
    pub fn with_iv(mut self, cipher: EncCipher, hex: &str) -> Result<EncSecret, EncError> {
        let given = unhex("IV", hex, cipher.iv_len())?;
        match &mut self {
            EncSecret::Key { iv, .. } => *iv = given,
            EncSecret::Passphrase { iv, .. } => *iv = Some(given),
        }
        Ok(self)
    }

    /// Key and IV for `salt`, which is `None` for [`EncSecret::Key`] and `-nosalt`.
    pub(super) fn derive(&self, cipher: EncCipher, salt: Option<[u8; SALT]>) -> Result<(Secret, Vec<u8>), Error> {
        let (passphrase, kdf, given) = match self {
            EncSecret::Key { key, iv } => {
                let fits = |what, bytes: &[u8], wanted| match bytes.len() == wanted {
                    true => Ok(()),
                    false => Err(EncError::HexLength { what, wanted: 2 * wanted, given: 2 * bytes.len() }),
                };
                fits("key", key, cipher.key_len())?;
                fits("IV", iv, cipher.iv_len())?;
                return Ok((key.clone(), iv.clone()));
            }
            EncSecret::Passphrase { .. } if cipher.mode() == EncMode::Gcm => Err(EncError::GcmPassphrase)?,
            EncSecret::Passphrase { passphrase, kdf, iv, .. } => (passphrase, *kdf, iv),
        };
        let salt = salt.as_ref().map_or(&[][..], |salt| &salt[..]);
        let mut key = Zeroizing::new(vec![0; cipher.key_len() + cipher.iv_len()]);
        match kdf {
            Kdf::Pbkdf2 { iterations: 0, .. } => Err(EncError::Iterations)?,
            Kdf::Pbkdf2 { iterations, digest } => pbkdf2(digest, passphrase, salt, iterations, &mut key),
            Kdf::Legacy { digest } => legacy(digest, passphrase, salt, &mut key),
        }
        let iv = given.clone().unwrap_or_else(|| key[cipher.key_len()..].to_vec());
        key[cipher.key_len()..].zeroize();
        key.truncate(cipher.key_len());
        Ok((key, iv))
    }

    /// The salt to encrypt with, and whether it is written to the output.
    pub(super) fn fresh_salt(&self) -> Result<(Option<[u8; SALT]>, bool), Error> {
        Ok(match self {
            EncSecret::Passphrase { salt: Salt::Header, .. } => {
                let mut salt = [0; SALT];
                random(&mut salt)?;
                (Some(salt), true)
            }
            EncSecret::Passphrase { salt: Salt::Given(salt), .. } => (Some(*salt), false),
            _ => (None, false),
        })
    }
}

impl fmt::Debug for EncSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EncSecret::Key { .. } => "EncSecret(key)",
            EncSecret::Passphrase { .. } => "EncSecret(passphrase)",
        })
    }
}

impl Salt {
    /// `-S`: 16 hex digits.
    ///
    /// # Errors
    /// As [`EncSecret::from_hex`].
    pub fn from_hex(hex: &str) -> Result<Salt, EncError> {
        let mut salt = [0; SALT];
        salt.copy_from_slice(&unhex("salt", hex, SALT)?);
        Ok(Salt::Given(salt))
    }
}

fn unhex(what: &'static str, hex: &str, len: usize) -> Result<Vec<u8>, EncError> {
    if !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(EncError::NotHex(what));
    }
    if hex.len() != 2 * len {
        return Err(EncError::HexLength { what, wanted: 2 * len, given: hex.len() });
    }
    base16ct::mixed::decode_vec(hex).map_err(|_| EncError::NotHex(what))
}

fn pbkdf2(digest: Digest, passphrase: &[u8], salt: &[u8], iterations: u32, out: &mut [u8]) {
    match digest {
        Digest::Md5 => pbkdf2_hmac::<Md5>(passphrase, salt, iterations, out),
        Digest::Sha1 => pbkdf2_hmac::<Sha1>(passphrase, salt, iterations, out),
        Digest::Sha224 => pbkdf2_hmac::<Sha224>(passphrase, salt, iterations, out),
        Digest::Sha256 => pbkdf2_hmac::<Sha256>(passphrase, salt, iterations, out),
        Digest::Sha384 => pbkdf2_hmac::<Sha384>(passphrase, salt, iterations, out),
        Digest::Sha512 => pbkdf2_hmac::<Sha512>(passphrase, salt, iterations, out),
    }
}

/// `EVP_BytesToKey` with one round: the concatenation of D1 = H(pass, salt), D2 = H(D1, pass, salt), ...
fn legacy(digest: Digest, passphrase: &[u8], salt: &[u8], out: &mut [u8]) {
    let mut previous = Zeroizing::new(Vec::new());
    let mut filled = 0;
    while filled < out.len() {
        let text = Zeroizing::new([&previous, passphrase, salt].concat());
        previous = Zeroizing::new(match digest {
            Digest::Md5 => Md5::digest(&*text).to_vec(),
            Digest::Sha1 => Sha1::digest(&*text).to_vec(),
            Digest::Sha224 => Sha224::digest(&*text).to_vec(),
            Digest::Sha256 => Sha256::digest(&*text).to_vec(),
            Digest::Sha384 => Sha384::digest(&*text).to_vec(),
            Digest::Sha512 => Sha512::digest(&*text).to_vec(),
        });
        let n = previous.len().min(out.len() - filled);
        out[filled..filled + n].copy_from_slice(&previous[..n]);
        filled += n;
    }
}
