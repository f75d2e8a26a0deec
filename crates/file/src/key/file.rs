//! Key files: the bytes of the key, or the same in hexadecimal on one line.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use zeroize::Zeroizing;

use super::{
    Key, KeyMaterial, place_of,
    public::{public, secret},
};
use crate::{
    error::{Error, KeyFault, KeyKind},
    output::Above,
    secret::Secret,
};

/// How a key is written to a file. Both are read.
///
/// ```
/// use sealwright_file::{Key, key::KeyForm};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("key");
/// Key::generate(sealwright_file::Suite::Aes256Gcm)?.write_file(&path, KeyForm::Hex)?;
/// assert_eq!(std::fs::read_to_string(&path)?.len(), 65);
/// let key = Key::read_file(&path)?; // either form
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyForm {
    /// Its bytes and nothing else.
    #[default]
    Raw,
    /// Lower-case hex and a newline.
    Hex,
}

/// The number of bytes read: more than the longest key file, 64 hex digits and a line end, to detect longer files.
const MAX_READ_LEN: usize = 128;

/// Key lengths of the suites, in bytes.
const LENGTHS: [usize; 2] = [16, 32];

impl Key {
    /// Reads a raw key from `path`: 16 or 32 bytes, or as many in hex, with or without a newline.
    ///
    /// # Errors
    /// [`Error::KeyFile`] if others than the owner may read it (a regular file only) or if it holds no key;
    /// [`Error::KeyAsName`]; reading errors.
    pub fn read_file(path: impl AsRef<Path>) -> Result<Key, Error> {
        let path = path.as_ref();
        let place = place_of(path)?;
        let file = File::open(path).map_err(Error::io("open", place.clone()))?;
        let meta = file.metadata().map_err(Error::io("read", place.clone()))?;
        let key = Key::read_from(file, &place);
        // If the file is not a key but, say, a document, the error must not advise the user to restrict its
        // permissions.
        if meta.is_file() && meta.mode() & 0o077 != 0 && key.is_ok() {
            return Err(Error::KeyFile { place, why: KeyFault::Readable });
        }
        key
    }

    /// Reads a raw key from `from` to its end; `place` names it in errors. For `--key-fd`.
    ///
    /// # Errors
    /// [`Error::KeyFile`] if it holds no key; reading errors.
    pub fn read_from(mut from: impl Read, place: &str) -> Result<Key, Error> {
        // One buffer, never grown: a growing Vec would leave copies of the key behind.
        let mut buffer = Zeroizing::new([0; MAX_READ_LEN]);
        let got = crate::read::fill(&mut from, &mut *buffer).map_err(|error| error.of(place))?;
        match parse(&buffer[..got]) {
            Some(key) => Ok(Key::of(KeyMaterial::Raw(key))),
            None => Err(Error::KeyFile {
                place: place.into(),
                why: match public(&buffer[..got]).or_else(|| secret(&buffer[..got])) {
                    Some(KeyKind::Public) => KeyFault::PublicForRaw,
                    Some(other) => KeyFault::OtherKind(other),
                    None => KeyFault::RawLength,
                },
            }),
        }
    }

    /// Writes this raw key to a new file that only its owner may read.
    ///
    /// # Errors
    /// [`Error::Exists`]; [`Error::KeyKind`] for a passphrase; writing errors, after which no file is left.
    pub fn write_file(&self, path: impl AsRef<Path>, form: KeyForm) -> Result<(), Error> {
        write_new(path, &*self.to_form(form)?)
    }

    /// This raw key as a key file holds it.
    ///
    /// # Errors
    /// [`Error::KeyKind`] for a passphrase.
    pub fn to_form(&self, form: KeyForm) -> Result<Zeroizing<Vec<u8>>, Error> {
        let KeyMaterial::Raw(key) = &self.inner.secret else {
            return Err(Error::KeyKind { wanted: KeyKind::Raw, given: self.kind() });
        };
        Ok(match form {
            KeyForm::Raw => key.clone(),
            KeyForm::Hex => {
                let mut text = Secret::new(Vec::with_capacity(2 * key.len() + 1));
                let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
                text.extend(key.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]));
                text.push(b'\n');
                text
            }
        })
    }
}

/// Writes a secret to a new file that only its owner may read.
///
/// ```
/// use sealwright_file::{Error, key::write_new};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("token");
/// write_new(&path, "a secret")?; // readable for its owner alone
/// assert!(matches!(write_new(&path, "another"), Err(Error::Exists(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Exists`]; writing errors, after which no file is left.
pub fn write_new(path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> Result<(), Error> {
    let path = path.as_ref();
    let place = path.display().to_string();
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(Error::Exists(path.into())),
        other => other.map_err(Error::io("create", place.clone()))?,
    };
    let written = file.write_all(text.as_ref()).and_then(|()| file.sync_all());
    written.map_err(Error::io("write", place)).and_then(|()| Above::of(path)?.sync(&file, path)).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

/// If both readings are possible, the file is hexadecimal: random bytes are practically never all hex digits.
fn parse(bytes: &[u8]) -> Option<Secret> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if LENGTHS.contains(&(line.len() / 2)) && line.len().is_multiple_of(2) && line.iter().all(u8::is_ascii_hexdigit) {
        let digit = |byte: u8| (byte as char).to_digit(16).map_or(0, |digit| digit as u8);
        return Some(Secret::new(line.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()));
    }
    LENGTHS.contains(&bytes.len()).then(|| Secret::new(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let key: Vec<u8> = (0..32).collect();
        for form in [KeyForm::Raw, KeyForm::Hex] {
            let text = Key::raw(key.clone()).to_form(form).unwrap();
            assert_eq!(parse(&text).unwrap().as_slice(), key);
        }
        assert_eq!(parse(b"000102030405060708090a0B0c0d0e0f\r\n").unwrap().as_slice(), &key[..16]);
        assert_eq!(parse(b"000102030405060708090a0b0c0d0e0f").unwrap().as_slice(), &key[..16]);
    }

    #[test]
    fn other_lengths_are_refused() {
        for len in (0..MAX_READ_LEN).filter(|len| !LENGTHS.contains(len)) {
            assert!(parse(&vec![0xff; len]).is_none(), "{len}");
            let hex = [32, 33, 64, 65].contains(&len);
            assert_eq!(parse(&vec![b'a'; len]).is_some(), hex && len % 2 == 0, "{len} digits");
        }
    }
}
