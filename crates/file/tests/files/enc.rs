//! `enc` on its own: both directions, all lengths, and what is refused. `openssl.rs` compares it with OpenSSL.

use std::{
    fs,
    io::{self, Read},
    sync::{Arc, Mutex},
};

use sealwright_file::{
    Error, Input, Output, Shared,
    enc::{Armor, Digest, Direction, Enc, EncCipher, EncError, EncMode, EncSecret, GCM_LIMIT, Kdf, OnDerived, Salt},
};

use crate::support::*;

pub(crate) fn secret(cipher: EncCipher) -> EncSecret {
    let hex = |len: usize| (0..len).map(|i| format!("{:02x}", 3 * i + 1)).collect::<String>();
    EncSecret::from_hex(cipher, &hex(cipher.key_len()), &hex(cipher.iv_len())).unwrap()
}

pub(crate) fn run(enc: &Enc, direction: Direction, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    enc.copy(direction, &mut &bytes[..], &mut out)?;
    Ok(out)
}

fn encrypt(enc: &Enc, text: &[u8]) -> Vec<u8> {
    run(enc, Direction::Encrypt, text).unwrap()
}

fn refused(enc: &Enc, bytes: &[u8]) -> EncError {
    match run(enc, Direction::Decrypt, bytes) {
        Err(Error::Enc(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(out) => panic!("{} bytes came out", out.len()),
    }
}

/// Lengths around those of blocks, base64 lines and pieces.
pub(crate) const LENGTHS: [usize; 16] =
    [0, 1, 15, 16, 17, 47, 48, 49, 1000, 65_536, 262_128, 262_143, 262_144, 262_145, 262_160, 700_001];

#[test]
fn round_trips() {
    for cipher in EncCipher::all().filter(|cipher| !cipher.is_read_only()) {
        for armor in [Armor::None, Armor::Lines, Armor::OneLine] {
            let enc = Enc::new(cipher, secret(cipher)).armor(armor);
            for len in LENGTHS {
                let text = text(len);
                let encrypted = encrypt(&enc, &text);
                assert!(run(&enc, Direction::Decrypt, &encrypted).unwrap() == text, "{cipher} {armor:?} {len}");
            }
        }
    }
}

/// Obsolete ciphers are supported for decryption only.
#[test]
fn obsolete_ciphers_only_decrypt() {
    let obsolete: Vec<EncCipher> = EncCipher::all().filter(|cipher| cipher.is_read_only()).collect();
    assert!(obsolete.len() >= 3, "{obsolete:?}");
    for cipher in obsolete {
        let error = run(&Enc::new(cipher, secret(cipher)), Direction::Encrypt, b"text").unwrap_err();
        assert_eq!((error.exit_code(), error.to_string()), (2, format!("{cipher} is supported for decryption only")));
    }
}

#[test]
fn levels_agree() {
    for cipher in EncCipher::all().filter(|cipher| !cipher.is_read_only()) {
        let text = text(300_001);
        let wanted = encrypt(&Enc::new(cipher, secret(cipher)), &text);
        for isa in sealwright::Isa::available() {
            let enc = Enc::new(cipher, secret(cipher)).isa(isa);
            assert!(encrypt(&enc, &text) == wanted, "{cipher} at {isa}");
            assert!(run(&enc, Direction::Decrypt, &wanted).unwrap() == text, "{cipher} at {isa}");
        }
    }
}

#[test]
fn hex_is_not_repaired() {
    let cipher: EncCipher = "aes-256-cbc".parse().unwrap();
    let (key, iv) = ("00".repeat(32), "00".repeat(16));
    assert!(EncSecret::from_hex(cipher, &key, &iv).is_ok());
    for (key, iv, what) in
        [(&key[1..], &iv[..], "key"), (&(key.clone() + "0"), &iv, "key"), (&key, &iv[2..], "IV"), ("", "", "key")]
    {
        let error = EncSecret::from_hex(cipher, key, iv).unwrap_err();
        assert!(matches!(error, EncError::HexLength { what: w, .. } if w == what), "{error}");
        assert_eq!((error.exit_code(), error.hint().is_some()), (2, true));
    }
    let not_hex = key.replace("00", "0g");
    assert_eq!(EncSecret::from_hex(cipher, &not_hex, &iv).unwrap_err(), EncError::NotHex("key"));
    assert_eq!(EncSecret::from_hex(cipher, &"0é".repeat(32), &iv).unwrap_err(), EncError::NotHex("key"));
    assert!(matches!(Salt::from_hex("0011"), Err(EncError::HexLength { what: "salt", .. })));
    assert_eq!(Salt::from_hex("0011223344556677").unwrap(), Salt::Given([0, 17, 34, 51, 68, 85, 102, 119]));
}

#[test]
fn cbc_refuses_what_is_not_whole() {
    let cipher: EncCipher = "aes-128-cbc".parse().unwrap();
    let enc = Enc::new(cipher, secret(cipher));
    let encrypted = encrypt(&enc, &text(100));
    for cut in [1, 15, 17, 111] {
        assert_eq!(refused(&enc, &encrypted[..cut]), EncError::Cut);
    }
    assert_eq!(refused(&enc, b""), EncError::BadPadding);
    let bare = enc.clone().padding(false);
    assert_eq!(encrypt(&bare, &text(96)), encrypted[..96]);
    assert!(matches!(run(&bare, Direction::Encrypt, &text(97)), Err(Error::Enc(EncError::NotWholeBlocks))));
    assert_eq!(run(&bare, Direction::Decrypt, &encrypted[..96]).unwrap(), text(96));
    assert!(encrypt(&bare, b"").is_empty() && run(&bare, Direction::Decrypt, b"").unwrap().is_empty());
}

/// A wrong key shows only as bad padding; the block that is held back is not output.
#[test]
fn bad_padding_gives_nothing_of_the_last_block() {
    let cipher: EncCipher = "aes-128-cbc".parse().unwrap();
    let enc = Enc::new(cipher, secret(cipher));
    let mut encrypted = encrypt(&enc, &text(300_000));
    let end = encrypted.len() - 20;
    encrypted[end] ^= 0x80;
    let mut out = Vec::new();
    let done = enc.copy(Direction::Decrypt, &mut &encrypted[..], &mut out);
    assert!(matches!(done, Err(Error::Enc(EncError::BadPadding))), "{done:?}");
    assert_eq!(out.len(), 262_144);
    let dir = Dir::new();
    let output = Output::file(dir.path("out"), place()).unwrap();
    assert!(enc.run(Direction::Decrypt, Input::bytes(encrypted, "e"), output).is_err());
    assert!(dir.names().is_empty());
}

/// The GCM extension: ciphertext and tag; nothing is output before the tag is verified.
#[test]
fn gcm_releases_nothing_unauthentic() {
    let cipher: EncCipher = "aes-256-gcm".parse().unwrap();
    let enc = Enc::new(cipher, secret(cipher));
    let text = text(1000);
    let encrypted = encrypt(&enc, &text);
    assert_eq!(encrypted.len(), 1016);
    for at in (0..1016).step_by(7).chain([999, 1000, 1015]) {
        let mut bad = encrypted.clone();
        bad[at] ^= 1;
        let mut out = Vec::new();
        let error = enc.copy(Direction::Decrypt, &mut &bad[..], &mut out).unwrap_err();
        assert!(out.is_empty() && error.exit_code() == 3, "byte {at}: {error}");
    }
    for cut in [0, 15, 16, 1015] {
        assert_eq!(refused(&enc, &encrypted[..cut]), EncError::NotAuthentic);
    }
    let by_passphrase = Enc::new(cipher, EncSecret::passphrase("p", Kdf::default(), Salt::Header));
    assert!(matches!(run(&by_passphrase, Direction::Encrypt, b""), Err(Error::Enc(EncError::GcmPassphrase))));
}

/// A reader that fails.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }
}

/// Only decrypting needs the tag first: a stream gets the ciphertext while the text is still read. A file gets all of
/// it or does not appear.
#[test]
fn gcm_encrypts_as_it_reads() {
    for name in ["aes-128-gcm", "aes-192-gcm", "aes-256-gcm"] {
        let cipher: EncCipher = name.parse().unwrap();
        let enc = Enc::new(cipher, secret(cipher));
        let text = text(1 << 20);
        let mut out = Vec::new();
        assert!(enc.copy(Direction::Encrypt, &mut text.chain(Broken), &mut out).is_err());
        assert!(out.len() >= 1 << 19, "{name}: {} bytes were written", out.len());
        assert!(encrypt(&enc, &text).starts_with(&out), "{name}");
        let dir = Dir::new();
        let output = Output::file(dir.path("out"), place()).unwrap();
        let broken = Input::reader(io::Cursor::new(text).chain(Broken), "broken");
        assert!(enc.run(Direction::Encrypt, broken, output).is_err());
        assert!(dir.names().is_empty(), "{name}");
    }
}

/// What is longer than the limit is refused before anything is read or written, if its length is known.
#[test]
fn gcm_refuses_files_that_are_too_long_at_once() {
    let (dir, cipher) = (Dir::new(), "aes-256-gcm".parse().unwrap());
    for (direction, armor, most) in [
        (Direction::Encrypt, Armor::None, GCM_LIMIT),
        (Direction::Encrypt, Armor::Lines, GCM_LIMIT),
        (Direction::Decrypt, Armor::None, GCM_LIMIT + 16),
    ] {
        // A file that cannot be read.
        let file = fs::File::options().write(true).open(dir.write("long", b"")).unwrap();
        file.set_len(most as u64 + 1).unwrap();
        let mut out = Shared::default();
        let output = Output::writer(out.clone(), "out");
        let enc = Enc::new(cipher, secret(cipher)).armor(armor);
        let refused = enc.run(direction, Input::file(file, "long").unwrap(), output);
        assert!(matches!(refused, Err(Error::Enc(EncError::TooLong))), "{direction:?}: {refused:?}");
        assert!(out.take().is_empty(), "{direction:?}, {armor:?}");
    }
}

#[test]
fn a_salt_is_in_the_header_given_or_absent() {
    let cipher: EncCipher = "aes-256-ctr".parse().unwrap();
    let with = |salt| Enc::new(cipher, EncSecret::passphrase("p", Kdf::default(), salt));
    let [a, b] = [0, 1].map(|_| encrypt(&with(Salt::Header), b"text"));
    assert!(a[..8] == *b"Salted__" && a.len() == 20 && a[8..16] != b[8..16] && a[16..] != b[16..]);
    let salt = Salt::Given(a[8..16].try_into().unwrap());
    assert_eq!(encrypt(&with(salt), b"text"), a[16..]);
    assert_eq!(run(&with(salt), Direction::Decrypt, &a[16..]).unwrap(), b"text");
    assert_eq!(encrypt(&with(Salt::None), b"text").len(), 4);
    for bad in [&b""[..], b"Salted", b"Salted__1234567", b"salted__12345678"] {
        assert_eq!(refused(&with(Salt::Header), bad), EncError::NoSalt);
    }
    let never = Enc::new(
        cipher,
        EncSecret::passphrase("p", Kdf::Pbkdf2 { iterations: 0, digest: Digest::Sha256 }, Salt::Header),
    );
    assert!(matches!(run(&never, Direction::Encrypt, b""), Err(Error::Enc(EncError::Iterations))));
}

#[test]
fn base64_lines_and_nonsense() {
    let cipher: EncCipher = "aes-128-ctr".parse().unwrap();
    let enc = Enc::new(cipher, secret(cipher)).armor(Armor::Lines);
    let lines = String::from_utf8(encrypt(&enc, &text(100))).unwrap();
    assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [64, 64, 8]);
    assert!(lines.ends_with('\n') && encrypt(&enc, b"").is_empty());
    let loose = lines.replace('\n', " \r\n\t").into_bytes();
    assert_eq!(run(&enc, Direction::Decrypt, &loose).unwrap(), text(100));
    for bad in ["A", "AAA", "AAA$", "AA=A", "====", "AAAA=", "AA==AAAA"] {
        assert!(matches!(refused(&enc, bad.as_bytes()), EncError::NotBase64(_)), "{bad}");
    }
    // The end of the base64 is only found after more than one piece was decoded.
    let long = [encrypt(&enc, &text(200_000)), b"AAAA".to_vec()].concat();
    assert!(matches!(refused(&enc, &long), EncError::NotBase64(_)));
}

#[test]
fn files_and_modes() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    let plain = dir.write("plain", &text(1000));
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let cipher: EncCipher = "aes-256-cbc".parse().unwrap();
    assert_eq!(cipher.mode(), EncMode::Cbc);
    let enc = Enc::new(cipher, secret(cipher));
    let [encrypted, back] = ["e", "d"].map(|name| dir.path(name));
    let output = |path| Output::file(path, place()).unwrap();
    enc.run(Direction::Encrypt, Input::open(&plain).unwrap(), output(&encrypted)).unwrap();
    enc.run(Direction::Decrypt, Input::open(&encrypted).unwrap(), output(&back)).unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((fs::read(&back).unwrap(), mode(&encrypted), mode(&back)), (text(1000), 0o644, 0o600));
    let mut out = Shared::default();
    enc.run(Direction::Decrypt, Input::open(&encrypted).unwrap(), Output::writer(out.clone(), "m")).unwrap();
    assert_eq!(out.take(), text(1000));
    let error = Output::file(&encrypted, place()).unwrap_err();
    assert!(matches!(error, Error::Exists(_)));
}

/// More than one read and one write; the counts and the derived key are reported.
#[test]
fn what_moved_and_what_was_derived_is_told() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut enc =
        Enc::new("aes-256-cbc".parse().unwrap(), EncSecret::passphrase("secret", Kdf::default(), Salt::Header));
    let seen = Arc::clone(&told);
    enc.on_derived = Some(OnDerived::new(move |derived| {
        seen.lock().unwrap().push((derived.salt, derived.key.len(), derived.iv.len()));
    }));
    let text = text(300_001);
    let mut to = Shared::default();
    let moved =
        enc.run(Direction::Encrypt, Input::bytes(text.clone(), "text"), Output::writer(to.clone(), "out")).unwrap();
    let encrypted = to.take();
    // "Salted__", the salt, and whole blocks.
    assert_eq!((moved.read, moved.written), (300_001, 16 + 300_016));
    assert_eq!(encrypted.len(), 16 + 300_016);
    let salt: [u8; 8] = encrypted[8..16].try_into().unwrap();
    assert_eq!(*told.lock().unwrap(), [(Some(salt), 32, 16)]);
    let mut back = Shared::default();
    let moved =
        enc.run(Direction::Decrypt, Input::bytes(encrypted, "out"), Output::writer(back.clone(), "text")).unwrap();
    assert_eq!((moved.read, moved.written, back.take()), (16 + 300_016, 300_001, text));
}
