//! Any bytes as input of `enc -d`, with and without base64: a result or an error, but no panic. Encrypted data decrypts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_file::enc::{Armor, Direction, Enc, EncCipher, EncSecret, Kdf, Salt};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let ciphers: Vec<EncCipher> = EncCipher::all().collect();
    let cipher = ciphers[usize::from(choice) % ciphers.len()];
    let hex = |len: usize| "5c".repeat(len);
    let by_key = EncSecret::from_hex(cipher, &hex(cipher.key_len()), &hex(cipher.iv_len())).expect("the digits fit");
    let by_passphrase = EncSecret::passphrase("p", Kdf::Legacy { digest: Default::default() }, Salt::Header);
    for secret in [by_key, by_passphrase] {
        for armor in [Armor::None, Armor::Lines, Armor::OneLine] {
            let enc = Enc { armor, padding: choice & 128 == 0, ..Enc::new(cipher, secret.clone()) };
            let run = |direction, bytes: &[u8]| {
                let mut out = Vec::new();
                enc.copy(direction, &mut &bytes[..], &mut out).map(|()| out)
            };
            let _ = run(Direction::Decrypt, bytes);
            if let Ok(encrypted) = run(Direction::Encrypt, bytes) {
                assert_eq!(run(Direction::Decrypt, &encrypted).expect("what was encrypted decrypts"), bytes);
            }
        }
    }
});
