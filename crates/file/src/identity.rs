//! Files of keys: identity files with secret keys, recipients files with public ones.

use std::{fs::File, io::Read, os::unix::fs::MetadataExt, path::Path, str};

use zeroize::Zeroizing;

#[cfg(feature = "ssh")]
use crate::key::{SSH_BEGIN, other_form};
#[cfg(feature = "signatures")]
use crate::sign::{SigningKey, VerifyingKey};
use crate::{
    error::{Error, LOOSE},
    input::Input,
    key::{Key, PublicKey, SecretKey},
    open::Opening,
    output::{Output, Shared},
    preamble::MAGIC,
    read::fill,
};

/// No file of keys is longer, in bytes.
const LONGEST: usize = 1 << 20;

/// Reads the keys in an identity file: secret keys, one a line; or one raw key, as key files hold it; or an
/// OpenSSH private key. A file that is itself sealed or encrypted with a passphrase is opened first; `passphrase` is called for it, and not otherwise.
///
/// ```
/// use sealwright_file::{Error, Key, SecretKey, read_identities};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("identity");
/// let secret = SecretKey::generate()?;
/// secret.write_file(&path)?;
/// // The passphrase is asked for only if the file is sealed with one.
/// let keys = read_identities(&path, || Err::<Key, Error>(Error::EmptyPassphrase))?;
/// assert_eq!(keys[0].public_key(), Some(secret.public_key()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::KeyFile`] if others than the owner may read it, unless it is sealed, or if it holds no key;
/// [`Error::BadKey`] naming the line; those of opening; what `passphrase` says.
pub fn read_identities<E: From<Error>>(
    path: &Path,
    passphrase: impl FnOnce() -> Result<Key, E>,
) -> Result<Vec<Key>, E> {
    let place = path.display().to_string();
    let mut once = Some(passphrase);
    let mut passphrase = || match once.take() {
        Some(ask) => ask(),
        // A sealed file with an SSH key that is encrypted itself.
        None => Err(Error::KeyFile { place: path.display().to_string(), why: "it takes two passphrases" }.into()),
    };
    let text = &read_secret(path, &place, &mut passphrase)?;
    #[cfg(feature = "ssh")]
    if text.starts_with(SSH_BEGIN) {
        return Ok(vec![Key::ssh(text, &mut passphrase)?]);
    }
    #[cfg(feature = "ssh")]
    if let Some(why) = other_form(text) {
        return Err(Error::KeyFile { place, why }.into());
    }
    // A raw key is random bytes, or hexadecimal digits on one line: never a secret key's line.
    if let Ok(key) = Key::read_from(&text[..], &place) {
        return Ok(vec![key]);
    }
    let keys = lines(text, &place, |line| Ok(Key::pair(line.parse::<SecretKey>()?)))?;
    if keys.is_empty() {
        return Err(Error::KeyFile { place, why: "there is no key in it" }.into());
    }
    Ok(keys)
}

/// Reads the signing key in a file. One that is sealed with a passphrase is opened first; `passphrase` is called for it.
///
/// ```
/// use sealwright_file::{Error, Key, SigningKey, read_signing_key};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("signing-key");
/// SigningKey::generate()?.write_file(&path)?;
/// let key = read_signing_key(&path, || Err::<Key, Error>(Error::EmptyPassphrase))?;
/// println!("{}", key.verifying_key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::KeyFile`] if others than the owner may read it, unless it is sealed, or if it does not hold one key;
/// [`Error::BadKey`]; those of opening; what `passphrase` says.
#[cfg(feature = "signatures")]
pub fn read_signing_key<E: From<Error>>(
    path: &Path,
    passphrase: impl FnMut() -> Result<Key, E>,
) -> Result<SigningKey, E> {
    let place = path.display().to_string();
    let text = read_secret(path, &place, passphrase)?;
    let mut keys = lines(&text, &place, |line| line.parse::<SigningKey>())?;
    let key = keys.pop().filter(|_| keys.is_empty());
    Ok(key.ok_or(Error::KeyFile { place, why: "it must hold one signing key" })?)
}

/// Reads the verification keys in a file, one a line.
///
/// ```
/// use sealwright_file::{SigningKey, read_verifying_keys};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("signers");
/// let key = SigningKey::generate()?;
/// std::fs::write(&path, format!("# the build machine\n{}\n", key.verifying_key()))?;
/// assert_eq!(read_verifying_keys(&path)?[0].id(), key.verifying_key().id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::BadKey`] naming the line; [`Error::KeyFile`] if there is none; reading errors.
#[cfg(feature = "signatures")]
pub fn read_verifying_keys(path: &Path) -> Result<Vec<VerifyingKey>, Error> {
    let place = path.display().to_string();
    let (text, _) = read(path, &place)?;
    let keys = lines(&text, &place, str::parse)?;
    let why = "there is no verification key in it";
    if keys.is_empty() { Err(Error::KeyFile { place, why }) } else { Ok(keys) }
}

/// The content of a file with secret keys, opened where it is sealed.
fn read_secret<E: From<Error>>(
    path: &Path,
    place: &str,
    mut passphrase: impl FnMut() -> Result<Key, E>,
) -> Result<Zeroizing<Vec<u8>>, E> {
    let (bytes, loose) = read(path, place)?;
    if bytes.starts_with(&MAGIC) {
        let key = passphrase()?;
        return Ok(open(bytes.to_vec(), place, &key)?);
    }
    if loose {
        return Err(Error::KeyFile { place: place.into(), why: LOOSE }.into());
    }
    Ok(bytes)
}

/// Reads the public keys in a recipients file, one a line.
///
/// ```
/// use sealwright_file::{SecretKey, read_recipients};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("recipients");
/// let (alice, bob) = (SecretKey::generate()?.public_key(), SecretKey::generate()?.public_key());
/// std::fs::write(&path, format!("# Alice\n{alice}\n# Bob\n{bob}\n"))?;
/// assert_eq!(read_recipients(&path)?, [alice, bob]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::BadKey`] naming the line; [`Error::KeyFile`] if there is none; reading errors.
pub fn read_recipients(path: &Path) -> Result<Vec<PublicKey>, Error> {
    let place = path.display().to_string();
    let (text, _) = read(path, &place)?;
    let keys = lines(&text, &place, str::parse)?;
    if keys.is_empty() { Err(Error::KeyFile { place, why: "there is no public key in it" }) } else { Ok(keys) }
}

/// The content of a file, and whether others than its owner may read it.
fn read(path: &Path, place: &str) -> Result<(Zeroizing<Vec<u8>>, bool), Error> {
    let file = File::open(path).map_err(Error::io("open", place))?;
    let meta = file.metadata().map_err(Error::io("read", place))?;
    let loose = meta.is_file() && meta.mode() & 0o077 != 0;
    // One buffer, never grown: a growing one would leave copies of keys behind.
    let room =
        if meta.is_file() { usize::try_from(meta.len()).unwrap_or(LONGEST).min(LONGEST) + 1 } else { LONGEST + 1 };
    let mut bytes = Zeroizing::new(vec![0; room]);
    let got = fill(&mut file.take(room as u64), &mut bytes).map_err(|error| error.of(place))?;
    if got > LONGEST {
        return Err(Error::KeyFile { place: place.into(), why: "it is longer than 1 MiB" });
    }
    bytes.truncate(got);
    Ok((bytes, loose))
}

/// The text of a sealed identity file.
fn open(sealed: Vec<u8>, place: &str, key: &Key) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut text = Shared::default();
    Opening::new(key).open(Input::bytes(sealed, place), Output::writer(text.clone(), place))?;
    Ok(Zeroizing::new(text.take()))
}

/// What `parse` makes of each line that is not empty and not a comment.
fn lines<T>(text: &[u8], place: &str, parse: impl Fn(&str) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let bad = |number: usize, why| Error::BadKey { place: format!("{place}, line {number}"), why };
    let mut found = Vec::new();
    for (i, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let line = str::from_utf8(line).map_err(|_| bad(i + 1, "it is not text"))?;
        found.push(parse(line).map_err(|error| match error {
            Error::BadKey { why, .. } => bad(i + 1, why),
            other => other,
        })?);
    }
    Ok(found)
}
