//! GCM in all its choices against SP 800-38D written down: strategies, round keys, nonces, counters, tags, limits.
//! Lengths are `referee.rs`'s matter.
#![allow(clippy::unwrap_used)]

mod support;

use sealwright::{
    Isa, SealError,
    block::{
        BlockCipher,
        aes::{Aes128, Aes128OnTheFly, Aes192, Aes256, Aes256OnTheFly},
    },
    ghash::{Bitwise, Clmul, Ghash, Table4k_vartime, Table8k_vartime, Table64k_vartime, Table256_vartime},
    mode::gcm::{self, Gcm, ShortTagLen, TagLen},
};
use support::{aes_block, agree, bytes, hashed, nonce_for, slow_gcm, slow_ghash};

fn key<const N: usize>() -> [u8; N] {
    bytes(N, 1).try_into().unwrap()
}

/// One choice of cipher and strategy, around every edge of blocks, registers and batches. The carry-less product over
/// kept round keys, of every key size, is in all other tests.
fn choice<C: BlockCipher, G: Ghash>(isa: Isa, key: &[u8], cipher: C) {
    let slow = aes_block(key);
    let gcm: Gcm<C, G> = Gcm::new(isa, cipher, TagLen::T16);
    let edges = [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 1300, 2500];
    for (i, n) in edges.into_iter().enumerate() {
        let (nonce, ad, text) = (bytes(12, n as u64), bytes([0, 20, 16, 300][i % 4], 3), bytes(n, 2));
        let theirs = slow_gcm(&slow, slow([0; 16]), &nonce, &ad, &text);
        let what = format!("{isa}, {}, {n} bytes", core::any::type_name::<Gcm<C, G>>());
        agree(&gcm, &nonce, &ad, &text, &theirs, n % 61, &what);
    }
}

#[test]
fn every_strategy() {
    for isa in Isa::available() {
        let key = key();
        let cipher = || Aes128::new(isa, &key);
        choice::<_, Bitwise>(isa, &key, cipher());
        choice::<_, Table256_vartime>(isa, &key, cipher());
        choice::<_, Table4k_vartime>(isa, &key, cipher());
        choice::<_, Table8k_vartime>(isa, &key, cipher());
        choice::<_, Table64k_vartime>(isa, &key, cipher());
    }
}

#[test]
fn round_keys_on_the_fly() {
    for isa in Isa::available() {
        choice::<_, Table4k_vartime>(isa, &key::<16>(), Aes128OnTheFly::new(&key()));
        choice::<_, Clmul>(isa, &key::<16>(), Aes128OnTheFly::new(&key()));
        choice::<_, Clmul>(isa, &key::<32>(), Aes256OnTheFly::new(&key()));
    }
}

/// `$bytes` of key, as many powers as fit into `$slots`.
macro_rules! rekeyed {
    ($isa:ident: $($aes:ident $bytes:literal $slots:literal),*) => {
        $(
            let (old, new) = (bytes($bytes, 1), bytes($bytes, 2));
            let [old, new]: [&[u8; $bytes]; 2] = [&old, &new].map(|key| key.as_slice().try_into().unwrap());
            let mut gcm = Gcm::<_, Clmul<$slots>>::new($isa, $aes::new($isa, old), TagLen::T16);
            gcm.rekey(new);
            let slow = aes_block(new);
            for n in [0, 40, 700, 3000] {
                let (nonce, ad, text) = (bytes(12, n as u64), bytes(20, 3), bytes(n, 4));
                let theirs = slow_gcm(&slow, slow([0; 16]), &nonce, &ad, &text);
                agree(&gcm, &nonce, &ad, &text, &theirs, 7, &format!("{}, {} bytes of key, {} slots", $isa, $bytes, $slots));
            }
        )*
    };
}

#[test]
fn a_replaced_key_is_the_new_one() {
    for isa in Isa::available() {
        rekeyed!(isa: Aes128 16 76, Aes192 24 76, Aes256 32 76, Aes128 16 44, Aes192 24 48, Aes256 32 140);
    }
}

/// Lengths around the ends of batches and of their halves, and where the counter carries out of its last byte, and out
/// of the next.
#[test]
fn long_texts_are_the_same_at_every_level() {
    let (portable, text) = (Isa::available()[0], bytes((1 << 20) + 5000, 2));
    let around = |n: usize| [n - 1, n, n + 1];
    let edges = [512, 1024, 1536, 2048, 2560, 3072, 4064, 4096, 4128, 5120, 8160, 8192, 12_288, 16_384];
    let lengths = edges.into_iter().flat_map(around).chain([1500, 1 << 20, text.len()]);
    for n in lengths {
        let (nonce, ad) = (bytes(12, n as u64), bytes([0, 13, 16, 40, 3000][n % 5], 3));
        // The longest under one key: what carries there is the same for all.
        let keys = [key::<32>().to_vec(), key::<24>().to_vec(), key::<16>().to_vec()];
        for key in keys.into_iter().take(if n < 1 << 20 { 3 } else { 1 }) {
            let mut sealed = text[..n].to_vec();
            let aead = gcm::by_key(portable, &key, TagLen::T16).unwrap();
            let tag = aead.seal_in_place(&nonce, &ad, &mut sealed).unwrap().as_ref().to_vec();
            let theirs = (sealed, tag);
            for isa in Isa::available() {
                let aead = gcm::by_key(isa, &key, TagLen::T16).unwrap();
                agree(&*aead, &nonce, &ad, &text[..n], &theirs, n % 61, &format!("{isa}, {n} bytes"));
            }
        }
    }
    // The counter's carry against the standard.
    let slow = aes_block(&key::<16>());
    for n in [4100, 9000] {
        let theirs = slow_gcm(&slow, slow([0; 16]), &[5; 12], b"ad", &text[..n]);
        for isa in Isa::available() {
            let aead = gcm::by_key(isa, &key::<16>(), TagLen::T16).unwrap();
            agree(&*aead, &[5; 12], b"ad", &text[..n], &theirs, 1, &format!("{isa}, {n} bytes"));
        }
    }
}

/// Every length to where a text has four whole halves of a batch, and associated data around what short messages and
/// the first group of the hash take.
#[test]
fn every_length_with_much_and_little_beside_it_is_the_same_at_every_level() {
    let (portable, text) = (Isa::available()[0], bytes(2700, 4));
    for n in 0..text.len() {
        let (nonce, ad) = (bytes(12, n as u64), bytes([0, 13, 16, 47, 48, 49, 64, 65, 1100][n % 9], 5));
        let key = if n % 2 == 0 { key::<16>().to_vec() } else { key::<32>().to_vec() };
        let mut sealed = text[..n].to_vec();
        let tag = gcm::by_key(portable, &key, TagLen::T16).unwrap().seal_in_place(&nonce, &ad, &mut sealed).unwrap();
        let theirs = (sealed, tag.as_ref().to_vec());
        // The slowest level made them; `referee.rs` has each length at it.
        for isa in Isa::available().into_iter().skip(usize::from(n % 8 != 0)) {
            let aead = gcm::by_key(isa, &key, TagLen::T16).unwrap();
            agree(&*aead, &nonce, &ad, &text[..n], &theirs, n % 61, &format!("{isa}, {n} bytes"));
        }
    }
}

/// By a table a long text goes through whole wide batches, and as many as there are.
#[test]
fn a_mebibyte_by_a_table() {
    let (isa, text) = (Isa::best(), bytes((1 << 20) + 1030, 2));
    let mut sealed = text.clone();
    let tag = gcm::by_key(isa, &key::<16>(), TagLen::T16).unwrap().seal_in_place(&[4; 12], b"ad", &mut sealed).unwrap();
    let by_table: Gcm<_, Table4k_vartime> = Gcm::new(isa, Aes128::new(isa, &key()), TagLen::T16);
    agree(&by_table, &[4; 12], b"ad", &text, &(sealed, tag.as_ref().to_vec()), 1, "a mebibyte");
}

/// The hash of associated data and lengths alone, around one group of it: 68 blocks where the key has its usual powers.
#[test]
fn associated_data_without_a_text_around_a_group() {
    let slow = aes_block(&key::<16>());
    for isa in Isa::available() {
        let gcm = gcm::by_key(isa, &key::<16>(), TagLen::T16).unwrap();
        for blocks in [1, 5, 35, 66, 67, 68, 69, 70, 137] {
            let (ad, what) = (bytes(16 * blocks - 3, 3), format!("{isa}, {blocks} blocks of associated data"));
            let theirs = slow_gcm(&slow, slow([0; 16]), &[4; 12], &ad, b"");
            agree(&*gcm, &[4; 12], &ad, b"", &theirs, 0, &what);
        }
    }
}

#[test]
fn what_is_secret_takes_constant_time_unless_its_name_says_otherwise() {
    fn constant<G: Ghash>() -> bool {
        G::CONSTANT_TIME
    }
    assert!(constant::<Clmul>() && constant::<Bitwise>());
    assert!(!constant::<Table256_vartime>() && !constant::<Table4k_vartime>());
    assert!(!constant::<Table8k_vartime>() && !constant::<Table64k_vartime>());
}

#[test]
fn nonces_of_every_length() {
    let slow = aes_block(&key::<24>());
    for isa in Isa::available() {
        let gcm = gcm::by_key(isa, &key::<24>(), TagLen::T16).unwrap();
        for n in (1..=150).chain([256, 1024, 1100, 5000, 66_000]) {
            let (nonce, text) = (bytes(n, n as u64), bytes(n % 90, 2));
            let theirs = slow_gcm(&slow, slow([0; 16]), &nonce, b"ad", &text);
            agree(&*gcm, &nonce, b"ad", &text, &theirs, 0, &format!("{isa}, nonce of {n} bytes"));
        }
        let mut text = *b"stays";
        assert_eq!(gcm.seal_in_place(&[], b"", &mut text), Err(SealError::NonceLength), "{isa}");
        assert_eq!(&text, b"stays");
        assert!(gcm.open_in_place(&[], b"", &mut text, &[0; 16]).is_err());
        assert_eq!(text, [0; 5]);
    }
}

#[test]
fn counters_wrap_in_32_bits() {
    let slow = aes_block(&key::<32>());
    let h = slow([0; 16]);
    for isa in Isa::available() {
        let gcm = gcm::by_key(isa, &key::<32>(), TagLen::T16).unwrap();
        // So many blocks before the wrap, which also ends all 96 bits above in ones.
        for before in [1, 2, 3, 4, 5, 15, 16, 17, 40, 63, 64, 65, 200, 256, 257, 300] {
            let nonce = nonce_for(h, u128::MAX - before);
            assert_eq!(slow_ghash(h, &hashed(&[], &nonce)), u128::MAX - before);
            let text = bytes(16 * 310 + 5, 2);
            let theirs = slow_gcm(&slow, h, &nonce, b"", &text);
            agree(&*gcm, &nonce, b"", &text, &theirs, 1, &format!("{isa}, wrap after {before} blocks"));
        }
    }
}

/// Shorter tags are the first bytes of the longest; none other than the key's length opens.
#[test]
fn tags_of_every_length() {
    let slow = aes_block(&key::<16>());
    let (nonce, text) = (bytes(12, 7), bytes(100, 2));
    let (ciphertext, whole) = slow_gcm(&slow, slow([0; 16]), &nonce, b"ad", &text);
    for isa in Isa::available() {
        let full = [TagLen::T16, TagLen::T15, TagLen::T14, TagLen::T13, TagLen::T12];
        let full = full.map(|len| (len as usize, gcm::by_key(isa, &key::<16>(), len).unwrap()));
        let short = [ShortTagLen::T8, ShortTagLen::T4];
        let short = short.map(|len| (len as usize, gcm::short_tag_by_key(isa, &key::<16>(), len).unwrap()));
        for (len, gcm) in full.into_iter().chain(short) {
            assert_eq!(gcm.tag_len(), len);
            let theirs = (ciphertext.clone(), whole[..len].to_vec());
            agree(&*gcm, &nonce, b"ad", &text, &theirs, 0, &format!("{isa}, {len} bytes of tag"));
            for other in (0..=16).filter(|&other| other != len) {
                let mut text = ciphertext.clone();
                let opened = gcm.open_in_place(&nonce, b"ad", &mut text, &whole[..other]);
                assert!(opened.is_err() && text.iter().all(|&b| b == 0), "{isa}: {other} bytes of tag for {len}");
            }
        }
    }
    assert_eq!(TagLen::default() as usize, 16);
}

#[test]
fn every_bit_of_a_message_counts() {
    for isa in Isa::available() {
        let gcm = gcm::by_key(isa, &key::<16>(), TagLen::T16).unwrap();
        let (nonce, ad) = (bytes(12, 7), bytes(21, 8));
        let mut text = bytes(37, 2);
        let tag = gcm.seal_in_place(&nonce, &ad, &mut text).unwrap();
        let parts = [&nonce[..], &ad, &text, tag.as_ref()].map(<[u8]>::to_vec);
        for part in 0..4 {
            for bit in 0..8 * parts[part].len() {
                let mut parts = parts.clone();
                parts[part][bit / 8] ^= 1 << (bit % 8);
                let [nonce, ad, mut text, tag] = parts;
                assert!(gcm.open_in_place(&nonce, &ad, &mut text, &tag).is_err(), "{isa}: bit {bit} of part {part}");
                assert!(text.iter().all(|&b| b == 0), "{isa}: text after bit {bit} of part {part}");
            }
        }
    }
}

#[test]
fn keys_of_other_lengths_are_refused() {
    for len in (0..=64).filter(|len| ![16, 24, 32].contains(len)) {
        let refused = gcm::by_key(Isa::best(), &vec![1; len], TagLen::T16).map(|_| ()).unwrap_err();
        assert_eq!((refused.given(), refused.allowed()), (len, &[16, 24, 32][..]));
    }
}

#[test]
fn debug_shows_no_key() {
    let gcm: Gcm<_, Table4k_vartime> = Gcm::new(Isa::best(), Aes128::new(Isa::best(), &[0xe5; 16]), TagLen::T16);
    let shown = format!("{gcm:?}");
    assert!(shown.starts_with("Gcm") && !shown.contains("e5") && !shown.contains("229"), "{shown}");
}

/// SP 800-38D, section 5.2.1.1: 2^39 - 256 bits of text, 2^64 - 1 bits of associated data.
#[test]
fn limits_are_those_of_the_standard() {
    assert_eq!((gcm::MAX_TEXT, gcm::MAX_AD), (68_719_476_704, 2_305_843_009_213_693_951));
}
