//! What each kind of key is for, and how often a passphrase is stretched.
#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::*;
use crate::error::KeyFault;

const CHEAP: Costs = Costs { memory_kib: 8, passes: 1, lanes: 1 };
const OTHER: Costs = Costs { memory_kib: 16, passes: 1, lanes: 1 };
const RAW: KeySource = KeySource::Raw;

fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

fn passphrase() -> Key {
    Key::passphrase("a passphrase").unwrap()
}

/// Argon2id computed directly by the crate `argon2`.
fn stretched(costs: Costs, salt: &[u8], len: usize) -> Secret {
    let mut key = Secret::new(vec![0; len]);
    let params = argon2::Params::new(costs.memory_kib, costs.passes, costs.lanes, Some(len)).unwrap();
    let argon2 = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
    argon2.hash_password_into(b"a passphrase", salt, &mut key).unwrap();
    key
}

#[test]
fn a_raw_key_serves_suites_of_its_length() {
    for &suite in Suite::ALL {
        let [key, other] = [0, 1].map(|_| Key::generate(suite).unwrap());
        let (source, input) = key.for_sealing(suite, CHEAP).unwrap();
        assert_eq!((source, input.len()), (RAW, suite.key_len()));
        assert!(input != other.for_sealing(suite, CHEAP).unwrap().1, "two keys");
        assert_eq!(key.input_key(suite, &RAW, Ceiling::default()).unwrap(), input);
        assert_eq!((key.kind(), key.is_passphrase()), (KeyKind::Raw, false));
        let longer = Key::raw(vec![7; suite.key_len() + 1]);
        let wanted = suite.key_len();
        assert!(matches!(longer.for_sealing(suite, CHEAP),
            Err(Error::KeyLength { suite: of, wanted: w, given }) if (of, w, given) == (suite, wanted, wanted + 1)));
        assert!(matches!(longer.input_key(suite, &RAW, Ceiling::default()),
            Err(Error::OtherKeyLength { suite: of, wanted: w, given }) if (of, w, given) == (suite, wanted, wanted + 1)));
    }
}

/// HKDF-Expand-SHA-512 with the label and the length in docs/FORMAT.md, computed with Python's `hmac`.
#[test]
fn a_slot_key_of_a_raw_key_is_what_the_format_says() {
    for (len, known) in [
        (16, "0c1671a403158403b81c5d26588cf140690df30be08377eaa67a70d89da521a0"),
        (32, "fafa2cc5a8895b0fc613d40c3d42d8d4fdc86b2c16e2b06f42a29078dd5910d0"),
    ] {
        let key = Key::raw((0..len).collect::<Vec<u8>>());
        let (kind, slot_key) = key.for_slot(CHEAP).unwrap();
        assert_eq!(hex(&slot_key), known);
        assert_eq!((&kind, key.slot_key(&kind, Ceiling::default()).unwrap()), (&SlotKind::Raw, Some(slot_key)));
    }
    for len in [0, 15, 17, 31, 33, 272] {
        assert!(matches!(Key::raw(vec![7; len]).for_slot(CHEAP), Err(Error::KeyLength { given, .. }) if given == len));
    }
}

#[test]
fn a_passphrase_is_stretched_by_argon2id() {
    assert!(matches!(Key::passphrase(""), Err(Error::EmptyPassphrase)));
    let key = passphrase();
    assert_eq!((key.kind(), key.is_passphrase()), (KeyKind::Passphrase, true));
    let suite = Suite::Aes128Gcm;
    let (source, input) = key.for_sealing(suite, CHEAP).unwrap();
    let KeySource::Passphrase { costs: CHEAP, salt } = source else { panic!("{source:?}") };
    assert_eq!(input, stretched(CHEAP, &salt, 16));
    assert_eq!(passphrase().input_key(suite, &source, Ceiling::default()).unwrap(), input);
    let (kind, slot_key) = key.for_slot(CHEAP).unwrap();
    let SlotKind::Passphrase { costs: CHEAP, salt } = kind else { panic!("{kind:?}") };
    assert_eq!(slot_key, stretched(CHEAP, &salt, 32));
    assert_eq!(passphrase().slot_key(&kind, Ceiling::default()).unwrap(), Some(slot_key));
    // Costs above the ceiling are refused before any work.
    let asked = Costs { memory_kib: u32::MAX, ..CHEAP };
    let source = KeySource::Passphrase { costs: asked, salt };
    assert!(
        matches!(key.input_key(suite, &source, Ceiling::default()), Err(Error::TooCostly { asked: of, .. }) if of == asked)
    );
    let kind = SlotKind::Passphrase { costs: asked, salt };
    assert!(matches!(key.slot_key(&kind, Ceiling::default()), Err(Error::TooCostly { .. })));
}

#[test]
fn a_passphrase_is_stretched_once() {
    let key = passphrase();
    let suite = Suite::Aes256Gcm;
    let salt = |costs, suite| match key.for_sealing(suite, costs).unwrap() {
        (KeySource::Passphrase { salt, .. }, _) => salt,
        other => panic!("{other:?}"),
    };
    let kept = || key.inner.stretched.lock().unwrap().len();
    let first = salt(CHEAP, suite);
    assert_eq!((salt(CHEAP, suite), kept()), (first, 1), "the same for the next file");
    assert!(salt(OTHER, suite) != first && salt(CHEAP, Suite::Aes128Gcm) != first, "other costs, another length");
    assert_eq!((salt(CHEAP, suite), kept()), (first, 3));
    // Keys for salts in files: derived once for each salt, costs and length.
    let of =
        |costs, salt, suite| key.input_key(suite, &KeySource::Passphrase { costs, salt }, Ceiling::default()).unwrap();
    assert_eq!((of(CHEAP, first, suite), kept()), (stretched(CHEAP, &first, 32), 3));
    assert_eq!((of(CHEAP, [7; 16], suite), kept()), (stretched(CHEAP, &[7; 16], 32), 4));
    assert_eq!((of(OTHER, [7; 16], suite), kept()), (stretched(OTHER, &[7; 16], 32), 5));
    assert_eq!((of(CHEAP, [7; 16], Suite::Aes128Gcm), kept()), (stretched(CHEAP, &[7; 16], 16), 6));
    assert_eq!((of(CHEAP, [7; 16], suite), kept()), (stretched(CHEAP, &[7; 16], 32), 6));
}

#[test]
fn clones_share_what_was_stretched() {
    let key = passphrase();
    let (kind, slot_key) = key.clone().for_slot(CHEAP).unwrap();
    assert_eq!(key.inner.stretched.lock().unwrap().len(), 1);
    let again = key.clone();
    drop(key);
    assert_eq!(again.slot_key(&kind, Ceiling::default()).unwrap(), Some(slot_key));
    assert_eq!((again.inner.stretched.lock().unwrap().len(), Arc::strong_count(&again.inner)), (1, 1));
}

#[test]
fn the_oldest_makes_room() {
    let key = passphrase();
    let salts = || key.inner.stretched.lock().unwrap().iter().map(|kept| kept.salt[0]).collect::<Vec<_>>();
    for n in 0..18 {
        let source = KeySource::Passphrase { costs: CHEAP, salt: [n; 16] };
        key.input_key(Suite::Aes256Gcm, &source, Ceiling::default()).unwrap();
        assert_eq!(salts(), (n.saturating_sub(15)..=n).collect::<Vec<_>>());
    }
}

#[test]
fn keys_do_not_open_what_is_for_other_kinds() {
    let (raw, phrase) = (Key::raw([7; 32]), passphrase());
    let source = KeySource::Passphrase { costs: CHEAP, salt: [7; 16] };
    let suite = Suite::Aes256Gcm;
    let kind = |key: &Key, source: &KeySource| match key.input_key(suite, source, Ceiling::default()) {
        Err(Error::KeyKind { wanted, given }) => (wanted, given),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(&raw, &source), (KeyKind::Passphrase, KeyKind::Raw));
    assert_eq!(kind(&phrase, &RAW), (KeyKind::Raw, KeyKind::Passphrase));
    let slot = SlotKind::Passphrase { costs: CHEAP, salt: [7; 16] };
    assert_eq!(raw.slot_key(&slot, Ceiling::default()).unwrap(), None);
    assert_eq!(phrase.slot_key(&SlotKind::Raw, Ceiling::default()).unwrap(), None);
    assert!(matches!(phrase.to_form(KeyForm::Raw), Err(Error::KeyKind { wanted: KeyKind::Raw, .. })));
    #[cfg(feature = "public-keys")]
    {
        let pair = Key::pair(SecretKey::generate().unwrap());
        assert_eq!(kind(&pair, &RAW), (KeyKind::Raw, KeyKind::Secret));
        assert!(matches!(pair.for_sealing(suite, CHEAP), Err(Error::KeyKind { wanted: KeyKind::Public, .. })));
        assert!(matches!(pair.for_slot(CHEAP), Err(Error::KeyKind { wanted: KeyKind::Public, .. })));
        assert_eq!(pair.slot_key(&SlotKind::Raw, Ceiling::default()).unwrap(), None);
        assert!(raw.public_key().is_none() && phrase.public_key().is_none());
        assert!(raw.pair_seed().is_none() && phrase.pair_seed().is_none());
    }
}

/// The first vector of draft-connolly-cfrg-xwing-kem: the SHA-256 of the public key for a seed.
#[cfg(feature = "public-keys")]
#[test]
fn a_pair_is_one_of_x_wing() {
    use sha2::{Digest, Sha256};
    let seed = base16ct::lower::decode_vec("7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26").unwrap();
    let secret: SecretKey = text::encode("seal-secret-key-", &seed).parse().unwrap();
    assert_eq!(*secret.to_seed(), seed[..]);
    let public = secret.public_key();
    assert_eq!(public.to_x_wing(), Some(public.to_bytes()));
    let hash = "2e816deebcd76c5c80d0cd2d174478871658e8e2ff42bc9d4a6e486372e856bb";
    assert_eq!((public.to_bytes().len(), hex(&Sha256::digest(public.to_bytes()))), (1216, hash.to_owned()));

    let key = Key::pair(secret.clone());
    assert_eq!((key.public_key(), key.pair_seed().map(|seed| seed.to_vec())), (Some(public.clone()), Some(seed)));
    assert_eq!((key.kind(), key.is_passphrase()), (KeyKind::Secret, false));
    let [(kind, slot_key), (other, second)] = [0, 1].map(|_| public.encapsulate([5; 16]).unwrap());
    assert!(kind.mark() == Some(&[5; 16]) && kind != other && slot_key != second && slot_key.len() == 32);
    assert_eq!(key.slot_key(&kind, Ceiling::default()).unwrap(), Some(slot_key.clone()));
    let another = SecretKey::generate().unwrap();
    assert!(another.public_key() != public && another.to_seed() != secret.to_seed());
    assert_ne!(Key::pair(another).slot_key(&kind, Ceiling::default()).unwrap(), Some(slot_key));
}

#[cfg(feature = "public-keys")]
#[test]
fn keys_of_a_pair_go_both_ways_as_text() {
    let secret = SecretKey::generate().unwrap();
    let (text, public) = (secret.to_text(), secret.public_key());
    assert!(text.starts_with("SEAL-SECRET-KEY-1") && *text == text.to_uppercase(), "a line in capitals");
    assert_eq!(text.parse::<SecretKey>().unwrap().to_seed(), secret.to_seed());
    assert!(public.to_string().starts_with("seal1") && public.to_string().parse::<PublicKey>().unwrap() == public);
    assert_eq!(*secret.to_identity(), format!("# Public key: {public}\n{}\n", *text));
    for len in [0, 31, 33] {
        assert!(text::encode("seal-secret-key-", &vec![7; len]).parse::<SecretKey>().is_err(), "{len} bytes");
    }
    for len in [1215, 1217] {
        assert!(text::encode("seal", &vec![7; len]).parse::<PublicKey>().is_err(), "{len} bytes");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("identity");
    secret.write_file(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), *secret.to_identity());
    assert!(mode(&path) == 0o600 && matches!(secret.write_file(&path), Err(Error::Exists(of)) if of == path));
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A key file is readable by its owner only, and an existing file is never overwritten.
#[test]
fn key_files_are_for_their_owner() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    let key = Key::raw((100..132).collect::<Vec<u8>>());
    for form in [KeyForm::Raw, KeyForm::Hex] {
        key.write_file(&path, form).unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (key.to_form(form).unwrap().to_vec(), 0o600));
        let again = Key::raw([7; 32]).write_file(&path, form);
        assert!(matches!(again, Err(Error::Exists(of)) if of == path));
        for readable in [0o600, 0o400, 0o700] {
            fs::set_permissions(&path, fs::Permissions::from_mode(readable)).unwrap();
            let read = Key::read_file(&path).unwrap();
            assert_eq!(read.to_form(KeyForm::Raw).unwrap(), key.to_form(KeyForm::Raw).unwrap());
        }
        for loose in [0o601, 0o610, 0o604, 0o640, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(loose)).unwrap();
            let read = Key::read_file(&path);
            assert!(matches!(read, Err(Error::KeyFile { why: KeyFault::Readable, .. })), "{loose:o}");
        }
        fs::remove_file(&path).unwrap();
    }
    assert!(matches!(Key::read_file(&path), Err(Error::Io { doing: "open", .. })));
    assert!(matches!(Key::read_from(&[7; 31][..], "here"), Err(Error::KeyFile { place, .. }) if place == "here"));
    let nowhere = directory.path().join("none/key");
    assert!(matches!(key.write_file(&nowhere, KeyForm::Raw), Err(Error::Io { doing: "create", .. })));
}
