//! Files that contain keys: identity files with secret keys, recipients files with public keys.

use std::{fs::File, io::Read, os::unix::fs::MetadataExt, path::Path, str};

use zeroize::Zeroizing;

#[cfg(feature = "ssh")]
use crate::key::{SSH_BEGIN, other_form};
#[cfg(feature = "signatures")]
use crate::sign::{SigningKey, VerifyingKey};
use crate::{
    armor,
    error::{Error, KeyFault},
    input::Input,
    key::{Key, PublicKey, SecretKey, is_secret, place_of, public},
    open::Opening,
    output::{Output, Shared},
    preamble::MAGIC,
    read::fill,
};

/// The maximum length of such a file, in bytes.
const MAX_FILE_LEN: usize = 1 << 20;

/// Reads the keys in an identity file: secret keys, one per line; or one raw key, as in a key file; or an OpenSSH
/// private key. If the file is itself sealed (armored or not) or encrypted with a passphrase, it is opened first;
/// `passphrase` is called only then.
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
/// [`Error::KeyFile`] if others than the owner may read it, unless it is sealed, or if it holds no secret key;
/// [`Error::BadKey`] naming the line; [`Error::KeyAsName`]; those of opening; what `passphrase` says.
pub fn read_identities<E: From<Error>>(
    path: impl AsRef<Path>,
    passphrase: impl FnOnce() -> Result<Key, E>,
) -> Result<Vec<Key>, E> {
    let path = path.as_ref();
    let place = place_of(path)?;
    let mut once = Some(passphrase);
    let mut passphrase = || match once.take() {
        Some(ask) => ask(),
        // A sealed file that contains an encrypted SSH key.
        None => Err(unusable(path.display().to_string(), "it takes two passphrases").into()),
    };
    let text = &read_secret(path, &place, &mut passphrase)?;
    #[cfg(feature = "ssh")]
    if text.starts_with(SSH_BEGIN) {
        return Ok(vec![Key::ssh(text, &mut passphrase)?]);
    }
    #[cfg(feature = "ssh")]
    if let Some(why) = other_form(text) {
        return Err(unusable(place, why).into());
    }
    // A raw key is random bytes, or hexadecimal digits on one line: never a secret key's line.
    if let Ok(key) = Key::read_from(&text[..], &place) {
        return Ok(vec![key]);
    }
    let keys = lines(text, &place, |line| Ok(Key::pair(line.parse::<SecretKey>()?)))?;
    if keys.is_empty() {
        return Err(unusable(place, "there is no key in it").into());
    }
    Ok(keys)
}

/// Reads the signing key in a file. One that is sealed with a passphrase is opened first; `passphrase` is called for
/// it.
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
/// [`Error::BadKey`]; [`Error::KeyAsName`]; those of opening; what `passphrase` says.
#[cfg(feature = "signatures")]
pub fn read_signing_key<E: From<Error>>(
    path: impl AsRef<Path>,
    passphrase: impl FnMut() -> Result<Key, E>,
) -> Result<SigningKey, E> {
    let path = path.as_ref();
    let place = place_of(path)?;
    let text = read_secret(path, &place, passphrase)?;
    let mut keys = lines(&text, &place, |line| line.parse::<SigningKey>())?;
    let key = keys.pop().filter(|_| keys.is_empty());
    Ok(key.ok_or(unusable(place, "it must hold one signing key"))?)
}

/// Reads the verification keys in a file, one per line.
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
/// [`Error::BadKey`] naming the line; [`Error::KeyFile`] if there is none; [`Error::KeyAsName`]; reading errors.
#[cfg(feature = "signatures")]
pub fn read_verifying_keys(path: impl AsRef<Path>) -> Result<Vec<VerifyingKey>, Error> {
    let path = path.as_ref();
    let place = place_of(path)?;
    let (text, _) = read(path, &place)?;
    let keys = lines(&text, &place, str::parse)?;
    if keys.is_empty() { Err(unusable(place, "there is no verification key in it")) } else { Ok(keys) }
}

fn unusable(place: String, why: &'static str) -> Error {
    Error::KeyFile { place, why: KeyFault::Other(why) }
}

/// The content of a file with secret keys, opened if it is sealed.
fn read_secret<E: From<Error>>(
    path: &Path,
    place: &str,
    mut passphrase: impl FnMut() -> Result<Key, E>,
) -> Result<Zeroizing<Vec<u8>>, E> {
    let (bytes, mut loose) = read(path, place)?;
    // Binary or armored.
    let bytes = if bytes.starts_with(&MAGIC) || bytes.starts_with(armor::BEGIN.as_bytes()) {
        loose = false;
        open(bytes.to_vec(), place, &passphrase()?)?
    } else {
        bytes
    };
    // First, so that for a public key or a document no error tells the user to restrict the permissions.
    let readable = || (loose && is_secret(&bytes)).then_some(KeyFault::Readable);
    match public(&bytes).map(KeyFault::OtherKind).or_else(readable) {
        Some(why) => Err(Error::KeyFile { place: place.into(), why }.into()),
        None => Ok(bytes),
    }
}

/// Reads the public keys in a recipients file, one per line.
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
/// [`Error::BadKey`] naming the line; [`Error::KeyFile`] if there is none; [`Error::KeyAsName`]; reading errors.
pub fn read_recipients(path: impl AsRef<Path>) -> Result<Vec<PublicKey>, Error> {
    let path = path.as_ref();
    let place = place_of(path)?;
    let (text, _) = read(path, &place)?;
    let keys = lines(&text, &place, str::parse)?;
    if keys.is_empty() { Err(unusable(place, "there is no public key in it")) } else { Ok(keys) }
}

/// The content of a file, and whether others than its owner can read it.
fn read(path: &Path, place: &str) -> Result<(Zeroizing<Vec<u8>>, bool), Error> {
    let file = File::open(path).map_err(Error::io("open", place))?;
    let meta = file.metadata().map_err(Error::io("read", place))?;
    let loose = meta.is_file() && meta.mode() & 0o077 != 0;
    // A single buffer of sufficient capacity: growing would leave unwiped copies of keys behind.
    let len = if meta.is_file() { usize::try_from(meta.len()).unwrap_or(MAX_FILE_LEN) } else { MAX_FILE_LEN };
    let room = len.min(MAX_FILE_LEN) + 1;
    let mut bytes = Zeroizing::new(vec![0; room]);
    let got = fill(&mut file.take(room as u64), &mut bytes).map_err(|error| error.of(place))?;
    if got > MAX_FILE_LEN {
        return Err(unusable(place.into(), "it is longer than 1 MiB"));
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

/// Applies `parse` to each line that is neither empty nor a comment.
fn lines<T>(text: &[u8], place: &str, parse: impl Fn(&str) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let bad = |number: usize, why| Error::BadKey { place: format!("{place}, line {number}"), why };
    let mut found = Vec::new();
    for (i, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let line = str::from_utf8(line).map_err(|_| bad(i + 1, KeyFault::Other("it is not text")))?;
        found.push(parse(line).map_err(|error| match error {
            Error::BadKey { why, .. } => bad(i + 1, why),
            other => other,
        })?);
    }
    Ok(found)
}

#[cfg(all(test, feature = "signatures", feature = "ssh"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;
    use crate::{costs::Costs, error::KeyKind, seal::Sealing};

    const CHEAP: Costs = Costs { memory_kib: 8, passes: 1, lanes: 1 };
    const SSH: &[u8] = include_bytes!("../tests/keys/ed25519");
    const SSH_PUB: &str = include_str!("../tests/keys/ed25519.pub");
    const SSH_ENCRYPTED: &[u8] = include_bytes!("../tests/keys/ed25519_encrypted");
    const PEM: &[u8] = include_bytes!("../tests/keys/rsa_pem");

    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Files {
            Files(tempfile::tempdir().unwrap())
        }

        /// A file with this text and these permission bits.
        fn write(&self, text: impl AsRef<[u8]>, mode: u32) -> std::path::PathBuf {
            let path = self.0.path().join("keys");
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        }
    }

    fn nobody() -> Result<Key, Error> {
        panic!("no passphrase is needed")
    }

    fn passphrase() -> Result<Key, Error> {
        Key::passphrase("correct horse")
    }

    /// A text sealed with the passphrase.
    fn sealed(text: &[u8]) -> Vec<u8> {
        sealed_as(text, false)
    }

    fn sealed_as(text: &[u8], armor: bool) -> Vec<u8> {
        let mut out = Shared::default();
        let key = passphrase().unwrap();
        let to = Output::writer(out.clone(), "sealed");
        Sealing::new(&key).costs(CHEAP).armor(armor).seal(Input::bytes(text.to_vec(), "text"), to).unwrap();
        out.take()
    }

    /// The reason of a `KeyFile` error.
    fn why<T>(done: Result<T, Error>) -> String {
        match done {
            Err(Error::KeyFile { why, .. }) => why.to_string(),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was taken"),
        }
    }

    /// Place and reason of a `BadKey` error.
    fn bad<T>(done: Result<T, Error>) -> (String, String) {
        match done {
            Err(Error::BadKey { place, why }) => (place, why.to_string()),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was taken"),
        }
    }

    #[test]
    fn every_form_of_an_identity_is_read() {
        let files = Files::new();
        let [one, two] = [0, 1].map(|_| SecretKey::generate().unwrap());
        let publics = |keys: &[Key]| keys.iter().map(|key| key.public_key().unwrap()).collect::<Vec<_>>();
        let text = format!("# one\n\n  {}\r\n#two\n{}", *one.to_text(), *two.to_text());
        let both = [one.public_key(), two.public_key()];
        assert_eq!(publics(&read_identities(files.write(&text, 0o600), nobody).unwrap()), both);
        for armor in [false, true] {
            let path = files.write(sealed_as(text.as_bytes(), armor), 0o644);
            assert_eq!(publics(&read_identities(&path, passphrase).unwrap()), both, "others may read what is sealed");
            let other = read_identities(&path, || Key::passphrase("wrong horse"));
            assert!(matches!(other, Err(Error::WrongKey("passphrase"))));
        }
        for raw in [&[7; 32][..], b"07070707070707070707070707070707\n"] {
            let keys = read_identities(files.write(raw, 0o600), nobody).unwrap();
            assert_eq!((keys.len(), keys[0].kind(), keys[0].public_key()), (1, KeyKind::Raw, None));
        }
        let ssh: PublicKey = SSH_PUB.parse().unwrap();
        assert_eq!(publics(&read_identities(files.write(SSH, 0o600), nobody).unwrap()), std::slice::from_ref(&ssh));
        assert_eq!(publics(&read_identities(files.write(sealed(SSH), 0o600), passphrase).unwrap()), [ssh]);
        assert_eq!(read_identities(files.write(SSH_ENCRYPTED, 0o600), passphrase).unwrap().len(), 1);
        let twice = read_identities(files.write(sealed(SSH_ENCRYPTED), 0o600), passphrase);
        assert_eq!(why(twice), "it takes two passphrases");
        assert!(why(read_identities(files.write(PEM, 0o600), nobody)).contains("in PEM"));
        // 16 bytes that begin like an SSH public key are treated as one, also inside a sealed file, although any 16
        // bytes could be a raw key.
        let public = b"\tssh-ed25519 AAA";
        let within = read_identities(files.write(sealed(public), 0o600), passphrase);
        assert_eq!(why(within), why(read_identities(files.write(public, 0o600), nobody)));
    }

    #[test]
    fn what_holds_no_keys_is_refused() {
        let files = Files::new();
        let secret = SecretKey::generate().unwrap();
        for loose in [0o640, 0o604, 0o620] {
            assert_eq!(why(read_identities(files.write(&*secret.to_text(), loose), nobody)), "others may read it");
        }
        for empty in ["", "\n \n", "# nothing\n"] {
            let path = files.write(empty, 0o600);
            assert_eq!(why(read_identities(&path, nobody)), "there is no key in it");
            assert_eq!(why(read_recipients(&path)), "there is no public key in it");
            assert_eq!(why(read_verifying_keys(&path)), "there is no verification key in it");
            assert_eq!(why(read_signing_key(&path, nobody)), "it must hold one signing key");
        }
        let path = files.write("# a comment\n\nSEAL-SECRET-KEY-2QQ\n", 0o600);
        let place = format!("{}, line 3", path.display());
        assert_eq!(bad(read_identities(&path, nobody)), (place.clone(), "not a secret key of Sealwright".into()));
        assert_eq!(bad(read_recipients(&path)), (place.clone(), "not a public key of Sealwright".into()));
        assert_eq!(bad(read_verifying_keys(&path)), (place, "not a verification key of Sealwright".into()));
        let path = files.write(b"\xff\xfe\n", 0o600);
        assert_eq!(bad(read_recipients(&path)), (format!("{}, line 1", path.display()), "it is not text".into()));
        let nothing = files.0.path().join("none");
        assert!(matches!(read_recipients(&nothing), Err(Error::Io { doing: "open", .. })));
    }

    #[test]
    fn public_keys_are_read_by_everybody() {
        let files = Files::new();
        let keys = [0, 1].map(|_| SecretKey::generate().unwrap().public_key());
        let text = format!("# Alice\n{}\n# Bob\n{}\n{SSH_PUB}", keys[0], keys[1]);
        let read = read_recipients(files.write(&text, 0o644)).unwrap();
        assert!(read[..2] == keys && read.len() == 3 && read[2] == SSH_PUB.parse().unwrap());
        let signers = [0, 1].map(|_| SigningKey::generate().unwrap());
        let text: String = signers.iter().map(|key| format!("{}\n", key.verifying_key())).collect();
        let ids: Vec<_> =
            read_verifying_keys(files.write(&text, 0o644)).unwrap().iter().map(VerifyingKey::id).collect();
        assert_eq!(ids, signers.each_ref().map(|key| key.verifying_key().id()));
        // A file with a signing key contains no other key.
        let id = |text: &[u8], mode| {
            read_signing_key(files.write(text, mode), passphrase).map(|key| key.verifying_key().id())
        };
        let text = signers[0].to_text();
        for form in [sealed_as(text.as_bytes(), false), sealed_as(text.as_bytes(), true)] {
            assert_eq!((id(text.as_bytes(), 0o600).unwrap(), id(&form, 0o644).unwrap()), (ids[0], ids[0]));
        }
        // Another text between such marker lines is not a sealed file.
        assert_eq!(bad(id(b"-----BEGIN SEALWRIGHT SIGNATURE-----\n", 0o600)).1, "not a signing key of Sealwright");
        assert_eq!(why(id(text.as_bytes(), 0o644)), "others may read it");
        let two = signers.each_ref().map(|key| key.to_text().to_string()).concat();
        assert_eq!(why(id(two.as_bytes(), 0o600)), "it must hold one signing key");
    }

    /// 1 MiB is read, and no more.
    #[test]
    fn long_files_are_refused() {
        let files = Files::new();
        let key = SecretKey::generate().unwrap();
        let text = |len: usize| {
            let line = format!("{}\n", *key.to_text());
            [line.as_bytes(), &vec![b'#'; len - line.len()]].concat()
        };
        assert_eq!(read_identities(files.write(text(MAX_FILE_LEN), 0o600), nobody).unwrap().len(), 1);
        assert_eq!(why(read_identities(files.write(text(MAX_FILE_LEN + 1), 0o600), nobody)), "it is longer than 1 MiB");
        // A pipe has neither a length nor meaningful permissions.
        let read = |len| {
            let (from, mut to) = std::io::pipe().unwrap();
            let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&from));
            std::thread::scope(|scope| {
                scope.spawn(move || std::io::Write::write_all(&mut to, &text(len)));
                let done = read_identities(Path::new(&path), nobody);
                drop(from);
                done
            })
        };
        assert_eq!(read(MAX_FILE_LEN).unwrap().len(), 1);
        assert_eq!(why(read(MAX_FILE_LEN + 1)), "it is longer than 1 MiB");
    }
}
