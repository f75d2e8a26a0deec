//! `openssl enc` decrypts what our `enc` writes and vice versa, and both write the same bytes unless they are random.

use std::{
    fs,
    process::{Command, Stdio},
};

use sealwright_file::enc::{Armor, Digest, Direction, Enc, EncCipher, EncMode, EncSecret, Kdf, Salt};
use sealwright_transcripts::skipped;

use crate::{
    enc::{LENGTHS, run, secret},
    support::*,
};

/// Whether `openssl` is installed and recent enough; otherwise prints that the test is skipped.
fn openssl() -> Option<()> {
    let version = Command::new("openssl").arg("version").output().ok();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    if !version.starts_with("OpenSSL 3") {
        skipped(format_args!("no openssl 3 here ({version:?})"));
        return None;
    }
    Some(())
}

/// Runs `openssl enc` with `args` on `bytes`.
fn enc(args: &[&str], bytes: &[u8]) -> Result<Vec<u8>, String> {
    let dir = Dir::new();
    let from = dir.write("in", bytes);
    let out = dir.path("out");
    let done = Command::new("openssl")
        .arg("enc")
        .args(args)
        .arg("-in")
        .arg(&from)
        .arg("-out")
        .arg(&out)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    Ok(fs::read(&out).unwrap())
}

fn unauthenticated() -> impl Iterator<Item = EncCipher> {
    EncCipher::all().filter(|cipher| cipher.mode() != EncMode::Gcm)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Both encrypt to the same bytes and decrypt each other's.
fn agree(ours: &Enc, theirs: &[&str], text: &[u8]) {
    let name = format!("-{}", ours.cipher);
    let args = |direction| [&[direction, name.as_str()], theirs].concat();
    let encrypted = enc(&args("-e"), text).unwrap();
    assert!(text == run(ours, Direction::Decrypt, &encrypted).unwrap(), "{name} {theirs:?}, {} bytes", text.len());
    if ours.cipher.is_read_only() {
        return;
    }
    let ours = run(ours, Direction::Encrypt, text).unwrap();
    assert!(encrypted == ours, "{name} {theirs:?}, {} bytes: encrypting", text.len());
    assert!(
        text == enc(&args("-d"), &encrypted).unwrap(),
        "{name} {theirs:?}, {} bytes: they decrypt ours",
        text.len()
    );
}

/// `-K` and, for ciphers that take one, `-iv`.
fn with_iv<'a>(key: &'a str, iv: &'a str) -> Vec<&'a str> {
    let mut words = vec!["-K", key];
    if !iv.is_empty() {
        words.extend(["-iv", iv]);
    }
    words
}

/// Every cipher with every source of the key, with and without base64 and padding, at lengths around those of blocks.
#[test]
fn the_whole_grid() {
    let Some(()) = openssl() else { return };
    let salt = Salt::from_hex("0123456789abcdef").unwrap();
    let mut runs = 0;
    for cipher in unauthenticated() {
        let EncSecret::Key { key, iv } = secret(cipher) else { unreachable!("it is made from hex") };
        let (key, iv) = (hex(&key), hex(&iv));
        let passphrase = |kdf, salt| EncSecret::passphrase("p", kdf, salt);
        let pbkdf2 = Kdf::Pbkdf2 { iterations: 3, digest: Digest::Sha512 };
        let legacy = Kdf::Legacy { digest: Digest::Md5 };
        let secrets = [
            (secret(cipher), with_iv(&key, &iv)),
            (
                passphrase(pbkdf2, salt),
                vec!["-pass", "pass:p", "-S", "0123456789abcdef", "-pbkdf2", "-iter", "3", "-md", "sha512"],
            ),
            (passphrase(pbkdf2, Salt::None), vec!["-pass", "pass:p", "-nosalt", "-iter", "3", "-md", "sha512"]),
            (passphrase(legacy, Salt::None), vec!["-pass", "pass:p", "-nosalt", "-md", "md5"]),
        ];
        for (secret, words) in secrets {
            for (armor, base64) in [(Armor::None, &[][..]), (Armor::Lines, &["-a"]), (Armor::OneLine, &["-a", "-A"])] {
                for (padding, nopad) in [(true, &[][..]), (false, &["-nopad"])] {
                    let len = if padding { 37 } else { 48 };
                    let ours = Enc::new(cipher, secret.clone()).armor(armor).padding(padding);
                    agree(&ours, &[&words[..], base64, nopad].concat(), &text(len));
                    runs += 1;
                }
            }
        }
    }
    assert!(runs >= 15 * 24, "{runs} combinations");
}

#[test]
fn keys_in_hex() {
    let Some(()) = openssl() else { return };
    for cipher in unauthenticated() {
        let EncSecret::Key { key, iv } = secret(cipher) else { unreachable!("it is made from hex") };
        let (key, iv) = (hex(&key), hex(&iv));
        for len in LENGTHS {
            agree(&Enc::new(cipher, secret(cipher)), &with_iv(&key, &iv), &text(len));
        }
        // A counter that overflows in all its bits.
        let full = "f".repeat(2 * cipher.iv_len());
        let secret = secret(cipher).with_iv(cipher, &full).unwrap();
        agree(&Enc::new(cipher, secret), &with_iv(&key, &full), &text(600_000));
    }
}

#[test]
fn without_padding() {
    let Some(()) = openssl() else { return };
    let cipher: EncCipher = "aes-192-cbc".parse().unwrap();
    let EncSecret::Key { key, iv } = secret(cipher) else { unreachable!("it is made from hex") };
    for len in [0, 16, 4096, 262_144, 262_160] {
        let ours = Enc::new(cipher, secret(cipher)).padding(false);
        agree(&ours, &["-K", &hex(&key), "-iv", &hex(&iv), "-nopad"], &text(len));
    }
}

#[test]
fn base64() {
    let Some(()) = openssl() else { return };
    let cipher: EncCipher = "aes-128-ctr".parse().unwrap();
    let EncSecret::Key { key, iv } = secret(cipher) else { unreachable!("it is made from hex") };
    let (key, iv) = (hex(&key), hex(&iv));
    for len in LENGTHS {
        let ours = |armor| Enc::new(cipher, secret(cipher)).armor(armor);
        agree(&ours(Armor::Lines), &["-K", &key, "-iv", &iv, "-a"], &text(len));
        agree(&ours(Armor::OneLine), &["-K", &key, "-iv", &iv, "-a", "-A"], &text(len));
    }
}

#[test]
fn passphrases_with_a_given_salt() {
    let Some(()) = openssl() else { return };
    let digests = [
        ("md5", Digest::Md5),
        ("sha1", Digest::Sha1),
        ("sha224", Digest::Sha224),
        ("sha256", Digest::Sha256),
        ("sha384", Digest::Sha384),
        ("sha512", Digest::Sha512),
    ];
    let salt = Salt::from_hex("0123456789abcdef").unwrap();
    for cipher in unauthenticated() {
        for (name, digest) in digests {
            assert_eq!(name.parse(), Ok(digest));
            let ours = |kdf| Enc::new(cipher, EncSecret::passphrase("pass word", kdf, salt));
            let theirs = ["-pass", "pass:pass word", "-S", "0123456789abcdef", "-md", name];
            let pbkdf2 = [&theirs[..], &["-pbkdf2", "-iter", "77"]].concat();
            agree(&ours(Kdf::Pbkdf2 { iterations: 77, digest }), &pbkdf2, &text(100));
            agree(&ours(Kdf::Legacy { digest }), &theirs, &text(100));
        }
    }
}

#[test]
fn defaults_no_salt_and_given_iv() {
    let Some(()) = openssl() else { return };
    let cipher: EncCipher = "aes-256-cbc".parse().unwrap();
    let salt = Salt::from_hex("0123456789abcdef").unwrap();
    let given = ["-pass", "pass:p", "-S", "0123456789abcdef"];
    let ours = |kdf, salt| EncSecret::passphrase("p", kdf, salt);
    agree(&Enc::new(cipher, ours(Kdf::default(), salt)), &[&given[..], &["-pbkdf2"]].concat(), b"text");
    let legacy = Kdf::Legacy { digest: Digest::default() };
    agree(&Enc::new(cipher, ours(legacy, salt)), &given, b"text");
    agree(&Enc::new(cipher, ours(legacy, Salt::None)), &["-pass", "pass:p", "-nosalt"], b"text");
    let iv = "00112233445566778899aabbccddeeff";
    let with_iv = ours(Kdf::default(), salt).with_iv(cipher, iv).unwrap();
    agree(&Enc::new(cipher, with_iv), &[&given[..], &["-pbkdf2", "-iv", iv]].concat(), b"text");
}

/// With a salt in the header, the output differs in every run, so each program decrypts the other's.
#[test]
fn salted_header() {
    let Some(()) = openssl() else { return };
    for cipher in unauthenticated() {
        for (kdf, option) in [(Kdf::default(), Some("-pbkdf2")), (Kdf::Legacy { digest: Digest::Sha256 }, None)] {
            for (armor, base64) in [(Armor::None, None), (Armor::Lines, Some("-a"))] {
                let ours = Enc::new(cipher, EncSecret::passphrase("p", kdf, Salt::Header)).armor(armor);
                let name = format!("-{cipher}");
                let mut theirs = vec![name.as_str(), "-pass", "pass:p"];
                theirs.extend(option);
                theirs.extend(base64);
                let text = text(5000);
                let from_them = enc(&[&["-e"], &theirs[..]].concat(), &text).unwrap();
                if !cipher.is_read_only() {
                    let from_us = run(&ours, Direction::Encrypt, &text).unwrap();
                    assert!(enc(&[&["-d"], &theirs[..]].concat(), &from_us).unwrap() == text, "{theirs:?}");
                    assert_eq!(from_them.len(), from_us.len());
                }
                assert!(run(&ours, Direction::Decrypt, &from_them).unwrap() == text, "{theirs:?}");
            }
        }
    }
}

/// OpenSSL lacks our extension, and silently accepts what we refuse.
#[test]
fn where_we_differ() {
    let Some(()) = openssl() else { return };
    let gcm = enc(&["-e", "-aes-256-gcm", "-K", &"00".repeat(32), "-iv", &"00".repeat(12)], b"text");
    assert!(gcm.unwrap_err().contains("AEAD"), "it knows GCM now: compare the bytes");
    let short = enc(&["-e", "-aes-256-cbc", "-K", "00", "-iv", "00"], b"text").unwrap();
    let full = enc(&["-e", "-aes-256-cbc", "-K", &"00".repeat(32), "-iv", &"00".repeat(16)], b"text").unwrap();
    assert_eq!(short, full);
}
