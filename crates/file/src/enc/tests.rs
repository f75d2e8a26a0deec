//! Recorded results of OpenSSL 3.0.19, which need not be installed. `tests/files/openssl.rs` runs the installed one.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};

use sha2::{Digest as _, Sha256};

use super::*;
use crate::output::{OutputOptions, Shared};

/// A text without repetitions.
fn text(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ (state >> 29)).to_le_bytes()
    });
    words.flatten().take(len).collect()
}

fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// With a key and an IV of bytes 01, 04, 07, ...
fn enc(name: &str) -> Enc {
    let cipher: EncCipher = name.parse().unwrap();
    let bytes = |len: usize| hex(&(0..len).map(|i| (3 * i + 1) as u8).collect::<Vec<u8>>());
    Enc::new(cipher, EncSecret::from_hex(cipher, &bytes(cipher.key_len()), &bytes(cipher.iv_len())).unwrap())
}

fn run(enc: &Enc, direction: Direction, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    enc.copy(direction, &mut &bytes[..], &mut out)?;
    Ok(out)
}

fn refused(enc: &Enc, direction: Direction, bytes: &[u8]) -> EncError {
    match run(enc, direction, bytes) {
        Err(Error::Enc(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// For each cipher, the first 16 bytes of the SHA-256 of the output of `openssl enc -e` for a text of 262,244 bytes,
/// and of `-d -nopad` for its first 262,240 bytes. Both lengths exceed one piece.
const CIPHERS: [(&str, &str, &str); 20] = [
    ("aes-128-cbc", "31a31df1c773559b61be55ee6f102537", "150f50546106540a8fc33fbb5d03507a"),
    ("aes-192-cbc", "608fb2952a62356b08e9af4c96dbdc2b", "209758d728d22286ab106006e2c952fb"),
    ("aes-256-cbc", "16b6787059b6e702c2629401a6b33fe0", "58dfa49bed826de4e409eff7941f7047"),
    ("aes-128-ctr", "9be4c16e85e8cdcd10ed71478150d4e6", "8764b3e5d660587e35791cce48237195"),
    ("aes-192-ctr", "a075efc6fba94c4c77351fbaca7e5799", "e8ca1f3d12bf25f102b4b8dc311fd82e"),
    ("aes-256-ctr", "f2dc6446f70f7330c476f7562fec0815", "805933269ed4f62eea1c347cc7d2d0b3"),
    ("aes-128-cfb", "a0ba16f5c8718a978689ecc54b39dab9", "5d9f6a1206f7835bd0ead51b88db329b"),
    ("aes-192-cfb", "d8d087ed713d5f0cfdb0a064ead5e018", "0b94e71805bd9b52054db0acc2b7a438"),
    ("aes-256-cfb", "1d1f667c98006c5e7f4e84d092948339", "c3d38015d5194de3cdbe334a5ea726a0"),
    ("aes-128-ofb", "d8ba83c7f7db4918dadab79650450b8d", "e690c81e23be609d44edd5b81cb95c32"),
    ("aes-192-ofb", "99b18df6c78e037086b403e33e5a0213", "9416b9b1aeac07b6c041be4ed5467d26"),
    ("aes-256-ofb", "3c43f2f60d0d9cceaa1362cbcce70965", "f5b84f02b13ab7a947d9b6e81244b763"),
    ("aes-128-ecb", "5f0d7a0b29549fab205a9b0bdf14cdc1", "2e79295bc7cc551bef0f850a774ac697"),
    ("aes-192-ecb", "6d93d5f1a312c5a2f565520437486de4", "85498c1f7644e3facf650204dccf5f12"),
    ("aes-256-ecb", "9d5387d89af3032cc509de03695ff0bf", "7b246086d0ecd2ad0020808cc03a0c93"),
    ("des-ede3-cbc", "81f420a8cc99bb836707847046dedec0", "1b02651aaff8740e735f7e8ca12c50ee"),
    ("des-ede3-cfb", "d48ac9c562f35496c978aaf3c7c7bcea", "00c535fe95d0994b487b6bc198ca5601"),
    ("des-ede3-ofb", "99929c4b3350fa1e0f28a61da8e395ac", "893495a6dd4827f563025a90768d9fb2"),
    ("des-ede3-ecb", "3b470561ac2a9ab17813bb16b78ac004", "5d7a511415292f3c4a39ecb8840e0ba5"),
    ("chacha20", "eba6747f4e4fc9898004721d65c9e719", "22b84d08ed4d400bc8d0ef0cd6e93ed3"),
];

#[test]
fn every_cipher_does_what_openssl_does() {
    let hash = |bytes: &[u8]| hex(&Sha256::digest(bytes)[..16]);
    for (name, encrypted, decrypted) in CIPHERS {
        let enc = enc(name);
        if enc.cipher.is_read_only() {
            assert_eq!(refused(&enc, Direction::Encrypt, b""), EncError::ReadOnly(name.into()));
            if let (EncMode::Cbc, EncSecret::Key { key, iv }) = (enc.cipher.mode(), &enc.secret) {
                // Encryption with these ciphers is refused, but the code below that check can encrypt.
                let (mut made, mut iv) = (text(262_244), iv.clone());
                blocks::pad(&mut made, iv.len());
                blocks::blocks(enc.cipher, enc.isa, key).cbc_encrypt(&mut iv, &mut made);
                assert_eq!(hash(&made), encrypted, "{name}");
                assert!(made.ends_with(&iv), "{name} goes on");
            }
        } else {
            let made = run(&enc, Direction::Encrypt, &text(262_244)).unwrap();
            assert_eq!(hash(&made), encrypted, "{name}");
            assert!(run(&enc, Direction::Decrypt, &made).unwrap() == text(262_244), "{name}");
        }
        let bare = enc.padding(false);
        assert_eq!(hash(&run(&bare, Direction::Decrypt, &text(262_240)).unwrap()), decrypted, "{name}");
    }
    assert_eq!(EncCipher::all().filter(|cipher| cipher.mode() != EncMode::Gcm).count(), CIPHERS.len());
}

/// Without padding, the result for a prefix of a text is a prefix of the result.
#[test]
fn short_texts_are_the_beginnings_of_long_ones() {
    for name in ["aes-128-ctr", "aes-192-cfb", "aes-256-ofb", "chacha20"] {
        let (enc, text) = (enc(name), text(130));
        let whole = run(&enc, Direction::Encrypt, &text).unwrap();
        for len in 0..130 {
            assert_eq!(run(&enc, Direction::Encrypt, &text[..len]).unwrap(), whole[..len], "{name} {len}");
            assert_eq!(run(&enc, Direction::Decrypt, &whole[..len]).unwrap(), text[..len], "{name} {len}");
        }
    }
}

/// Output of `openssl enc -aes-256-cbc -P -pass 'pass:pass word' -S 0123456789abcdef -md DIGEST`: key and IV with
/// `-pbkdf2 -iter 3`, then without.
const PASSPHRASES: [(&str, [&str; 4]); 6] = [
    (
        "md5",
        [
            "466416f5dce97bfb8540c866e3c451d486c28d522935663c1f248efa035724b3",
            "b4698a966801270a3b4834ca2775178c",
            "eacc99421e426d37b857d67b3ce9c4f008ba9665d848d61c62ec1349c74eea1b",
            "392d57bb346a2c175fe9c19ed2430849",
        ],
    ),
    (
        "sha1",
        [
            "c4e5f373525d2957dd0b7c58c2113db991f0a53c8af1d08b2fbc0e879d2d01ae",
            "14529b0aa4d070a363cae10512abe044",
            "8ff70a7f1117fb1c1f5e2fa91af12561905038c3aa9c3de675928a9133d1f7a1",
            "740ec9ba1c6d944576dd48810c59cf11",
        ],
    ),
    (
        "sha224",
        [
            "416bc7b3f7ab3a1befdebd44199c8b4dc9c34956955a68b62ba214e874404323",
            "8dd6d566a328719e01d0a82c2fdc0eab",
            "317dfe7c59595a4f5441cf0111859c79d0dd387687643b11d13b2e9b025d94ca",
            "5c41426742fdd60fa1550da463e41ca8",
        ],
    ),
    (
        "sha256",
        [
            "e1df549f77d5ee66ec481b860c4f426c1ae268e7f2724b3bac7c5e265c0aa2c9",
            "4cd658ba9e0a7a8f4523a88d732776ea",
            "33da02a3cf427cd071617eb92cc6e46412ee35b58863d38dc5ae6c68671a8480",
            "e7ec406a9cef15d26c6ea0b37ac2ffcc",
        ],
    ),
    (
        "sha384",
        [
            "b15e381dbc39e3b654a0085740bb71c236846ce9247417b251284ee0e789b036",
            "0b270fcfc716638f7e635b1bb4a652f2",
            "df4cd33d2c9b637d254006f963458a1bf931b87eed5e8a2a754c2a86aaa0ba40",
            "4ee0a74b5dc2cece6cfe813985d66198",
        ],
    ),
    (
        "sha512",
        [
            "b5ac021fbe6d548018658243584f5fb621ae94d8d2c4011f74b80a185bf8c0c9",
            "0bc10a111e1d9abc78dfa21563d803ce",
            "f036bda85e76d3f8e337ac3a974a0eb1eba844e842cad3222354f6ef20801d75",
            "6705ca5058a14df1c2340583ca779545",
        ],
    ),
];

#[test]
fn passphrases_become_what_openssl_makes_of_them() {
    let cipher: EncCipher = "aes-256-cbc".parse().unwrap();
    let salt = Salt::from_hex("0123456789abcdef").unwrap();
    let derived = |kdf, salt| {
        let enc = Enc::new(cipher, EncSecret::passphrase("pass word", kdf, salt));
        let [one, other] = [Direction::Encrypt, Direction::Decrypt].map(|it| enc.derive(it, &mut &b""[..]).unwrap());
        assert_eq!((&one.key, &one.iv, one.salt), (&other.key, &other.iv, other.salt));
        [hex(&one.key), hex(&one.iv)]
    };
    for (name, [key, iv, old_key, old_iv]) in PASSPHRASES {
        let digest: Digest = name.parse().unwrap();
        assert_eq!(name.to_uppercase().replace("SHA", "SHA-").parse(), Ok(digest));
        assert_eq!(derived(Kdf::Pbkdf2 { iterations: 3, digest }, salt), [key, iv], "{name}");
        assert_eq!(derived(Kdf::Legacy { digest }, salt), [old_key, old_iv], "{name}");
    }
    assert_eq!("sha3".parse::<Digest>(), Err(EncError::Digest("sha3".into())));
    // The defaults of `-pbkdf2`; and without a salt, none is written.
    assert_eq!(Kdf::default(), Kdf::Pbkdf2 { iterations: 10_000, digest: Digest::Sha256 });
    let secret = EncSecret::passphrase("p", Kdf::Legacy { digest: Digest::Md5 }, Salt::None);
    let out = run(&Enc::new("aes-128-ctr".parse().unwrap(), secret), Direction::Encrypt, b"text").unwrap();
    assert_eq!(hex(&out), "5e26a266");
}

/// Output of `openssl enc -aes-256-ctr -pass pass:p`, with a random salt.
#[test]
fn a_salt_is_read_and_written_in_front() {
    let cipher: EncCipher = "aes-256-ctr".parse().unwrap();
    let legacy = Kdf::Legacy { digest: Digest::Sha256 };
    let with = |salt| Enc::new(cipher, EncSecret::passphrase("p", legacy, salt));
    let from_them = base16ct::lower::decode_vec("53616c7465645f5f8d21f753b1b95a68105fa39a").unwrap();
    assert_eq!(run(&with(Salt::Header), Direction::Decrypt, &from_them).unwrap(), b"text");
    let [a, b] = [0, 1].map(|_| run(&with(Salt::Header), Direction::Encrypt, b"text").unwrap());
    assert!(a[..8] == *b"Salted__" && a.len() == 20 && a[8..16] != b[8..16]);
    let given = with(Salt::Given(a[8..16].try_into().unwrap()));
    assert_eq!(run(&given, Direction::Encrypt, b"text").unwrap(), a[16..]);
    assert_eq!(run(&given, Direction::Decrypt, &a[16..]).unwrap(), b"text");
    for bad in [&b""[..], b"Salted__1234567", b"salted__12345678"] {
        assert_eq!(refused(&with(Salt::Header), Direction::Decrypt, bad), EncError::NoSalt);
    }
}

/// A given IV takes precedence over the derived one; values of the wrong length are refused, not truncated or padded.
#[test]
fn keys_and_ivs_are_taken_as_they_are() {
    let cipher: EncCipher = "aes-256-cbc".parse().unwrap();
    let iv = "ff".repeat(16);
    let derived = |secret: EncSecret| Enc::new(cipher, secret).derive(Direction::Encrypt, &mut &b""[..]);
    let passphrase = EncSecret::passphrase("p", Kdf::Legacy { digest: Digest::Md5 }, Salt::None);
    let plain = derived(passphrase.clone()).unwrap();
    let given = derived(passphrase.with_iv(cipher, &iv).unwrap()).unwrap();
    assert!(given.key == plain.key && given.iv == [0xff; 16] && plain.iv != given.iv);
    let key = EncSecret::from_hex(cipher, &"01".repeat(32), &"02".repeat(16)).unwrap().with_iv(cipher, &iv).unwrap();
    let of_key = derived(key.clone()).unwrap();
    assert_eq!((of_key.key.as_slice(), &of_key.iv[..], of_key.salt), (&[1; 32][..], &[0xff; 16][..], None));
    // The key's length is that of another cipher.
    for (name, what, wanted, given) in [("aes-128-cbc", "key", 32, 64), ("aes-256-gcm", "IV", 24, 32)] {
        let error = refused(&Enc::new(name.parse().unwrap(), key.clone()), Direction::Encrypt, b"text");
        assert_eq!(error, EncError::HexLength { what, wanted, given });
    }
    let refused = |key: &str, iv: &str| EncSecret::from_hex(cipher, key, iv).unwrap_err();
    let digits = |what, wanted, given| EncError::HexLength { what, wanted, given };
    assert_eq!(refused(&"0".repeat(63), &iv), digits("key", 64, 63));
    assert_eq!(refused(&"0".repeat(65), &iv), digits("key", 64, 65));
    assert_eq!(refused(&"0".repeat(64), &iv[2..]), digits("IV", 32, 30));
    assert_eq!(refused(&"0g".repeat(32), &iv), EncError::NotHex("key"));
    assert_eq!(Salt::from_hex("0011").unwrap_err(), digits("salt", 16, 4));
    let never = Kdf::Pbkdf2 { iterations: 0, digest: Digest::Sha256 };
    assert!(matches!(derived(EncSecret::passphrase("p", never, Salt::None)), Err(Error::Enc(EncError::Iterations))));
}

/// Without padding, the text must consist of whole blocks; the ciphertext always.
#[test]
fn blocks_must_be_whole() {
    let padded = enc("aes-128-cbc");
    let bare = padded.clone().padding(false);
    // A piece has 16,384 blocks; decryption reads one more.
    for blocks in [0, 1, 2, 16_384, 16_385, 32_770] {
        let text = text(blocks * 16);
        let made = run(&bare, Direction::Encrypt, &text).unwrap();
        assert!(run(&bare, Direction::Decrypt, &made).unwrap() == text, "{blocks}");
        let with_padding = run(&padded, Direction::Encrypt, &text).unwrap();
        let (same, last) = with_padding.split_at(with_padding.len() - 16);
        assert!(same == made && made.len() == text.len(), "{blocks}");
        assert!(run(&padded, Direction::Decrypt, &with_padding).unwrap() == text, "{blocks}");
        for cut in [&last[..1], &last[..15]].map(|last| [same, last].concat()) {
            assert_eq!(refused(&padded, Direction::Decrypt, &cut), EncError::Cut);
            assert_eq!(refused(&bare, Direction::Encrypt, &cut), EncError::NotWholeBlocks);
        }
    }
    assert_eq!(refused(&padded, Direction::Decrypt, b""), EncError::BadPadding);
    assert_eq!(refused(&enc("des-ede3-cbc"), Direction::Decrypt, &[7; 12]), EncError::Cut);
}

/// The last block is held back until its padding is checked.
#[test]
fn bad_padding_gives_nothing_of_the_last_piece() {
    let enc = enc("aes-128-cbc");
    let mut made = run(&enc, Direction::Encrypt, &text(300_000)).unwrap();
    let end = made.len() - 20;
    made[end] ^= 0x80;
    let mut out = Vec::new();
    let done = enc.copy(Direction::Decrypt, &mut &made[..], &mut out);
    assert!(matches!(done, Err(Error::Enc(EncError::BadPadding))), "{done:?}");
    assert!(out == text(300_000)[..262_144]);
}

/// The GCM extension holds the text until its tag is verified. The vector is case 2 of the GCM specification (McGrew,
/// Viega), with a key and text of zeros.
#[test]
fn gcm_is_gcm_and_releases_nothing_unauthentic() {
    let cipher: EncCipher = "aes-128-gcm".parse().unwrap();
    let zeros = Enc::new(cipher, EncSecret::from_hex(cipher, &"00".repeat(16), &"00".repeat(12)).unwrap());
    let made = run(&zeros, Direction::Encrypt, &[0; 16]).unwrap();
    assert_eq!(hex(&made), "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf");
    let enc = enc("aes-256-gcm");
    // The buffer grows at 256 KiB and at 512 KiB.
    for len in [0, 1, 262_128, 262_143, 262_144, 262_145, 600_000] {
        let mut made = run(&enc, Direction::Encrypt, &text(len)).unwrap();
        assert_eq!(made.len(), len + 16);
        assert!(run(&enc, Direction::Decrypt, &made).unwrap() == text(len), "{len}");
        made[len / 2] ^= 1;
        let mut out = Vec::new();
        let error = enc.copy(Direction::Decrypt, &mut &made[..], &mut out).unwrap_err();
        assert!(out.is_empty() && error.exit_code() == 3, "{len}: {error}");
    }
    for cut in [0, 15, 16, 31] {
        assert_eq!(refused(&zeros, Direction::Decrypt, &made[..cut]), EncError::NotAuthentic);
    }
}

/// Whatever is said of the length beforehand; what is said truly is allocated once, with a byte to see the end.
#[test]
fn no_more_is_held_than_the_limit() {
    let enc = enc("aes-256-gcm");
    for most in [0, 116, 262_143, 262_144, 524_287, 600_016] {
        for known in [None, Some(0), Some(1), Some(100), Some(most), Some(usize::MAX)] {
            let held = |len| enc.whole(&mut &text(len)[..], most, known);
            assert!(*held(0).unwrap() == [0; 0] && *held(most).unwrap() == text(most), "{most}, {known:?}");
            assert!(matches!(held(most + 1), Err(Error::Enc(EncError::TooLong))), "{most}, {known:?}");
        }
        let text = enc.whole(&mut &text(most)[..], 1 << 30, Some(most)).unwrap();
        assert_eq!((text.len(), text.capacity()), (most, most + 1));
    }
}

/// The limit applies to the text without its tag, so that everything that was encrypted can be decrypted.
#[test]
fn no_more_is_encrypted_than_the_limit() {
    let enc = enc("aes-256-gcm");
    let (key, iv) = enc.secret.derive(enc.cipher, None).unwrap();
    for limit in [0, 100, 262_143, 262_144, 600_000] {
        let made = |len| {
            let mut out = Vec::new();
            let mut to = armor::Encoder::new(&mut out, Armor::None);
            enc.gcm_encrypt(&key, &iv, &mut &text(len)[..], &mut to, limit).map(|()| out.len())
        };
        assert_eq!(made(limit).unwrap(), limit + 16);
        assert!(matches!(made(limit + 1), Err(Error::Enc(EncError::TooLong))), "{limit}");
    }
}

/// The returned counts, the reported key, and the progress.
#[test]
fn what_moved_and_what_was_derived_is_told() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let secret = EncSecret::passphrase("p", Kdf::Legacy { digest: Digest::Sha1 }, Salt::Header);
    let mut enc = Enc::new("aes-256-cbc".parse().unwrap(), secret);
    let seen = Arc::clone(&told);
    enc.on_derived = Some(OnDerived::new(move |derived| seen.lock().unwrap().push(derived.clone())));
    let text = text(300_001);
    let mut to = Shared::default();
    let output = Output::writer(to.clone(), "out");
    let moved = enc.run(Direction::Encrypt, Input::bytes(text.clone(), "text"), output).unwrap();
    let made = to.take();
    // "Salted__", the salt, and whole blocks
    assert_eq!((moved.read, moved.written, made.len()), (300_001, 16 + 300_016, 16 + 300_016));
    {
        let told = told.lock().unwrap();
        let [one] = &told[..] else { panic!("told {} times", told.len()) };
        assert_eq!(one.salt.map(|salt| salt.to_vec()), Some(made[8..16].to_vec()));
        let key = EncSecret::Key { key: one.key.clone(), iv: one.iv.clone() };
        assert!(run(&Enc::new(enc.cipher, key), Direction::Decrypt, &made[16..]).unwrap() == text);
    }
    let mut back = Shared::default();
    let output = Output::writer(back.clone(), "text");
    let moved = enc.run(Direction::Decrypt, Input::bytes(made, "out"), output).unwrap();
    assert_eq!((moved.read, moved.written, back.take()), (16 + 300_016, 300_001, text));
    assert_eq!(told.lock().unwrap().len(), 2);
}

/// An encrypted file gets the permission bits of the text; a decrypted one is for its owner only.
#[test]
fn files_get_their_modes() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let directory = tempfile::tempdir().unwrap();
    let [plain, made, back] = ["plain", "made", "back"].map(|name| directory.path().join(name));
    fs::write(&plain, text(1000)).unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let enc = enc("aes-256-cbc");
    for (direction, from, to, lens) in
        [(Direction::Encrypt, &plain, &made, (1000, 1008)), (Direction::Decrypt, &made, &back, (1008, 1000))]
    {
        let output = Output::file(to, OutputOptions::default().sync(false)).unwrap();
        let moved = enc.run(direction, Input::open(from).unwrap(), output).unwrap();
        assert_eq!((moved.read, moved.written), lens);
    }
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&made), mode(&back), fs::read(&back).unwrap()), (0o644, 0o600, text(1000)));
}

/// Writers may buffer what was not flushed.
#[test]
fn what_was_written_is_flushed() {
    struct Held(Vec<u8>, Shared);
    impl Write for Held {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.1.write_all(&std::mem::take(&mut self.0))
        }
    }
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let mut out = Shared::default();
        let output = Output::writer(Held(Vec::new(), out.clone()), "out");
        let moved = enc("aes-128-ctr").run(direction, Input::bytes(text(1000), "text"), output).unwrap();
        assert_eq!((out.take().len(), moved.written), (1000, 1000), "{direction:?}");
    }
}
