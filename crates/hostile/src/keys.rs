//! Keys and signatures as files and as text.

use std::{fs, io::Write, os::unix::fs::OpenOptionsExt, path::PathBuf, sync::OnceLock};

use sealwright_file::{
    Error, Input, Key, PublicKey, SecretKey, Signature, SigningKey, VerifyingKey, Work, read_identities,
    read_recipients, read_signing_key, read_verifying_keys, sign_file, verify_file,
};

/// A file of this process, readable for its owner alone.
pub(crate) fn file_with(bytes: &[u8]) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let path = FOLDER.get_or_init(crate::folder::folder).path().join(format!("{:?}", std::thread::current().id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
    file.write_all(bytes).unwrap();
    path
}

/// Any bytes as a file of keys of each kind, and as one key in text. A key that is accepted is the same after it was written and
/// read again, and no error repeats the text, which may hold a secret.
pub(crate) fn keys(bytes: &[u8]) {
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

/// Any bytes as a signature beside a file: what is read is written back unchanged, and only the genuine one holds.
pub(crate) fn signature(bytes: &[u8]) {
    static SIGNED: OnceLock<(VerifyingKey, String)> = OnceLock::new();
    let work = Work { threads: 1, ..Work::default() };
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
