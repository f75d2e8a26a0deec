//! Keys and signatures as files and as text.

use std::{
    fs,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    sync::{LazyLock, OnceLock},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use sealwright_file::{
    Error, Input, Key, PublicKey, Sealing, SecretKey, Signature, SigningKey, VerifyingKey, Work, armor,
    preamble::MAGIC, read_identities, read_recipients, read_signing_key, read_verifying_keys, sign_file, verify_file,
};

use crate::files::{edited, sealed};

/// A file of this process, readable only by its owner.
pub(crate) fn file_with(bytes: &[u8]) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let path = FOLDER.get_or_init(crate::folder::folder).path().join(format!("{:?}", std::thread::current().id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
    file.write_all(bytes).unwrap();
    path
}

/// Takes arbitrary bytes, or a genuine file with changes, as a key file of each kind and as one key in text. An
/// accepted key is the same after it was written and read again, and no error message repeats the text, which may
/// contain a secret.
pub(crate) fn keys(bytes: &[u8]) {
    static GENUINE: LazyLock<[Vec<u8>; 6]> = LazyLock::new(|| {
        let (secret, signing) = (SecretKey::generate().unwrap(), SigningKey::generate().unwrap());
        let texts = [
            secret.to_text().to_string(),
            secret.public_key().to_string(),
            signing.to_text().to_string(),
            signing.verifying_key().to_string(),
            include_str!("../../cli/tests/keys/ed25519.pub").to_owned(),
            include_str!("../../cli/tests/keys/ed25519").to_owned(),
        ];
        texts.map(String::into_bytes)
    });
    let changed = match bytes {
        [0xff, which, edits @ ..] => Some(edited(&GENUINE[usize::from(*which) % GENUINE.len()], edits)),
        _ => None,
    };
    let bytes = changed.as_deref().unwrap_or(bytes);
    let path = file_with(bytes);
    let none = || Err::<Key, Error>(Error::EmptyPassphrase);
    if let Err(error) = read_identities(&path, none) {
        assert!(error.to_string().len() < 300, "{error}");
    }
    let _ = read_recipients(&path);
    let _ = read_signing_key(&path, none);
    let _ = read_verifying_keys(&path);
    let _ = Key::read_from(bytes, "fuzz");
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(key) = text.parse::<PublicKey>() {
        assert!(key.to_string().parse::<PublicKey>().unwrap() == key);
    }
    if let Ok(key) = text.parse::<SecretKey>() {
        let again: SecretKey = key.to_text().parse().unwrap();
        assert!(again.public_key() == key.public_key());
    }
    if let Ok(key) = text.parse::<VerifyingKey>() {
        assert_eq!(key.to_string().parse::<VerifyingKey>().unwrap().to_bytes(), key.to_bytes());
    }
    if let Ok(key) = text.parse::<SigningKey>() {
        let again: SigningKey = key.to_text().parse().unwrap();
        assert_eq!(again.verifying_key().to_bytes(), key.verifying_key().to_bytes());
    }
}

/// The keys of a file, or the error.
fn identities(bytes: &[u8], key: fn() -> Key) -> Result<Vec<Option<PublicKey>>, Error> {
    let mut asked = 0;
    let passphrase = || {
        asked += 1;
        Ok::<_, Error>(key())
    };
    let keys = read_identities(file_with(bytes), passphrase);
    Ok(keys?.iter().map(Key::public_key).collect())
}

/// Files of keys that are sealed themselves, in armor or not, with any text in them: what is read is what the text says
/// by itself. And OpenSSH's private keys behind a passphrase: any, or a genuine one with changes; what is read is that
/// key, or nothing.
pub(crate) fn locked_keys(bytes: &[u8]) {
    // Each reading takes a round of bcrypt
    const SSH: &str = include_str!("../../cli/tests/keys/ed25519_one_round");
    const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
    const END: &str = "-----END OPENSSH PRIVATE KEY-----\n";
    static LOCKED: LazyLock<(Vec<u8>, PublicKey)> = LazyLock::new(|| {
        let text = SSH.strip_prefix(BEGIN).and_then(|text| text.strip_suffix(END)).unwrap();
        let key = identities(SSH.as_bytes(), correct).unwrap().remove(0).unwrap();
        (STANDARD.decode(text.replace('\n', "")).unwrap(), key)
    });
    fn correct() -> Key {
        Key::passphrase("correct horse").unwrap()
    }
    fn raw() -> Key {
        Key::raw(vec![5; 32])
    }
    let Some((&how, bytes)) = bytes.split_first() else { return };
    if how & 1 == 0 {
        // By itself it would be opened too
        if bytes.starts_with(&MAGIC) || bytes.starts_with(armor::BEGIN.as_bytes()) {
            return;
        }
        let file = sealed(&Sealing::new(&raw()).armor(how & 4 != 0), bytes);
        let (within, plain) = (identities(&file, raw), identities(bytes, raw));
        assert_eq!(within.ok(), plain.ok());
        let signing = |bytes: &[u8]| {
            let key = read_signing_key(file_with(bytes), || Ok::<_, Error>(raw()));
            key.ok().map(|key| key.verifying_key().to_bytes())
        };
        assert_eq!(signing(&file), signing(bytes));
        return;
    }
    let (genuine, key) = &*LOCKED;
    let body = if how & 2 == 0 { edited(genuine, bytes) } else { bytes.to_vec() };
    // Rounds are worked off before anything else is known
    let rounds = body.windows(6).position(|name| name == b"bcrypt").and_then(|at| {
        // Behind the lengths of its options and of the salt, and the salt
        let salt = u32::from_be_bytes(*body.get(at + 10..)?.first_chunk()?) as usize;
        body.get(at + 14 + salt..)?.first_chunk().map(|rounds| u32::from_be_bytes(*rounds))
    });
    if rounds.is_some_and(|rounds| (4..=10_000).contains(&rounds)) {
        return;
    }
    let file = format!("{BEGIN}{}\n{END}", STANDARD.encode(&body));
    match identities(file.as_bytes(), correct) {
        Ok(keys) => assert!(keys.len() == 1 && keys[0].as_ref() == Some(key), "{keys:?}"),
        Err(error) => assert!(body != *genuine && error.to_string().len() < 300, "{error}"),
    }
}

/// Takes arbitrary bytes as a detached signature: what is read is written back unchanged, and only the genuine
/// signature is valid.
pub(crate) fn signature(bytes: &[u8]) {
    static SIGNED: OnceLock<(VerifyingKey, String)> = OnceLock::new();
    let work = Work::default().threads(1);
    let (key, genuine) = SIGNED.get_or_init(|| {
        let key = SigningKey::generate().unwrap();
        let signature = sign_file(&key, Input::bytes(b"a release", "release"), "a comment", &work).unwrap();
        (key.verifying_key().clone(), signature.to_text())
    });
    // A change of one byte of the genuine text, or any text
    let mut text = genuine.clone().into_bytes();
    match bytes.split_first_chunk() {
        Some((&[0, high, low, with], _)) => {
            let at = usize::from(u16::from_be_bytes([high, low])) % text.len();
            text[at] = with;
        }
        _ => text = bytes.to_vec(),
    }
    let Ok(signature) = Signature::read(&text[..]) else { return };
    assert_eq!(Signature::read(signature.to_text().as_bytes()).unwrap().to_text(), signature.to_text());
    let held = verify_file(std::slice::from_ref(key), &signature, Input::bytes(b"a release", "release"), &work);
    assert_eq!(held.is_ok(), signature.to_text() == *genuine);
}
