//! What is searched for: keys and texts of a case, computed here by other means than the mode's own where there are
//! any.

use std::collections::HashSet;

use hmac::{Hmac, KeyInit, Mac};
use sealwright::{Isa, mode::multi_key::Schedule, raw};
use sha2::{Digest, Sha256, Sha512};

use crate::{fill, key, support::slow_ghash, text};

/// What a child must not keep.
pub(crate) struct Wanted {
    pub(crate) keys: HashSet<[u8; 16]>,
    pub(crate) texts: HashSet<[u8; 16]>,
    /// Whether keys must be found as long as they are in use.
    pub(crate) must_be_seen: bool,
    /// Whether nothing may be found in use either, but on the stack: of what lives longer than the keys.
    pub(crate) only_on_stack: bool,
}

impl Wanted {
    pub(crate) fn of(case: &str) -> Self {
        let (key, text) = (key(), text());
        let schedule = Schedule::expand(Isa::best(), &key).unwrap();
        let mut keys: HashSet<[u8; 16]> = schedule.blocks()[2..].iter().copied().collect();
        // h and its powers, as GHASH has them and as the library keeps them; L of OCB, doubled.
        let mut h = [0; 16];
        raw::aes(Isa::best(), &key).unwrap().ecb_encrypt(&mut h);
        let (mut power, mut l) = (u128::from_be_bytes(h), u128::from_be_bytes(h));
        for _ in 0..20 {
            let kept = (power << 1) ^ if power >> 127 == 1 { 0xc200_0000_0000_0000_0000_0000_0000_0001 } else { 0 };
            keys.extend([power.to_be_bytes(), kept.to_le_bytes(), kept.to_be_bytes()]);
            keys.extend([l.to_be_bytes(), l.to_le_bytes()]);
            power = slow_ghash(h, &power.to_be_bytes());
            l = (l << 1) ^ if l >> 127 == 1 { 0x87 } else { 0 };
        }
        // The IV as both ends keep it: a number of 128 bits.
        if case == "counted" {
            let mut iv = [0; 16];
            fill(&mut iv[..12], 6);
            keys = HashSet::from([iv]);
        }
        // V and C of Hash_DRBG, from the first bytes on and, as numbers, from the last.
        if case == "hash-drbg" {
            let v = hash_df(&[&key, &[2; 16]]);
            for mut secret in [v, hash_df(&[&[0], &v])] {
                keys.extend(secret.windows(16).map(|window| <[u8; 16]>::try_from(window).unwrap()));
                secret.reverse();
                keys.extend(secret.windows(16).map(|window| <[u8; 16]>::try_from(window).unwrap()));
            }
        }
        if case == "batch" || case.ends_with("chacha20-poly1305") {
            keys.extend(key.as_chunks::<16>().0);
        }
        if case.starts_with("serpent") {
            keys.extend(serpent_keys(&key));
        }
        if case == "gscm-h by key" {
            let [mut k1, mut k2] = [[0; 16]; 2];
            fill(&mut k1, 4);
            fill(&mut k2, 5);
            let h = schedule.clone().replaced(0, &k1).replaced(14, &k2).hash_key(Isa::best());
            keys.extend([k1, k2, h]);
        }
        // Keys of one message, which are gone when it is sealed.
        if let Some(key) = message_key(case, &key) {
            if case == "xchacha20-poly1305" {
                keys.extend(key.as_chunks::<16>().0);
            } else {
                keys.extend(Schedule::expand(Isa::best(), &key).unwrap().blocks());
            }
        }
        let texts = text.windows(16).map(|window| window.try_into().unwrap()).collect();
        // At the portable level AES has bit slices, and a committing suite keeps no cipher between messages.
        let must_be_seen = case != "committing" && case != "batch";
        Wanted { keys, texts, must_be_seen, only_on_stack: case == "batch" }
    }
}

/// Hash_df of SP 800-90A, 10.3.1, to 55 bytes.
fn hash_df(input: &[&[u8]]) -> [u8; 55] {
    let block = |counter| Sha256::digest([&[counter], &440u32.to_be_bytes()[..], &input.concat()].concat());
    [block(1), block(2)].concat()[..55].try_into().unwrap()
}

/// The key that a mode derives for the message of nonce 01 01 .. and associated data `ad`, by other means than the
/// mode's own.
fn message_key(case: &str, key: &[u8; 32]) -> Option<Vec<u8>> {
    let aes = raw::aes(Isa::best(), key).unwrap();
    let encrypt = |block: u128| {
        let mut block = block.to_be_bytes();
        aes.ecb_encrypt(&mut block);
        block
    };
    let behind = |start: [u8; 4]| u128::from_be_bytes([&start[..], &[1; 12]].concat().try_into().unwrap());
    match case {
        "committing" => {
            let info = [b"SEALWRIGHT committing AEAD v1+AEAD_AES_256_GCM\0", &[1; 24][..], b"ad", &[1]].concat();
            let derived = Hmac::<Sha512>::new_from_slice(key).unwrap().chain_update(info).finalize().into_bytes();
            Some(derived[32..].to_vec())
        }
        "xaes-256-gcm" => {
            let l = u128::from_be_bytes(encrypt(0));
            let subkey = (l << 1) ^ if l >> 127 == 1 { 0x87 } else { 0 };
            Some([1, 2].map(|i| encrypt(behind([0, i, b'X', 0]) ^ subkey)).concat())
        }
        "aes-256-gcm-siv" => Some((2..6).flat_map(|i| encrypt(behind([i, 0, 0, 0]))[..8].to_vec()).collect()),
        "xchacha20-poly1305" => Some(hchacha20(key, &[1; 16])),
        _ => None,
    }
}

/// The S-boxes of Serpent, by their outputs.
const BOXES: [u64; 8] = [
    0x38f1_a65b_ed42_709c,
    0xfc27_905a_1be8_6d34,
    0x8679_3caf_d1e4_0b52,
    0x0fb8_c963_d124_a75e,
    0x1f83_c0b6_254a_9e7d,
    0xf52b_4a9c_03e8_d671,
    0x72c5_846b_e91f_d3a0,
    0x1df0_e82b_74ca_9356,
];

/// The round keys of Serpent as it is printed, in words, and each word in all lanes of a register.
fn serpent_keys(key: &[u8; 32]) -> Vec<[u8; 16]> {
    let mut words: Vec<u32> = key.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    for i in 8..140 {
        let word = words[i - 8] ^ words[i - 5] ^ words[i - 3] ^ words[i - 1];
        words.push((word ^ 0x9e37_79b9 ^ (i - 8) as u32).rotate_left(11));
    }
    let mut keys = Vec::new();
    for (i, words) in words[8..].as_chunks::<4>().0.iter().enumerate() {
        let outputs = BOXES[(35 - i) % 8];
        let mut round = [0; 4];
        for bit in 0..32 {
            let input = (0..4).fold(0, |input, word| input | (words[word] >> bit & 1) << word);
            let output = (outputs >> (60 - 4 * input)) as u32;
            for (word, to) in round.iter_mut().enumerate() {
                *to |= (output >> word & 1) << bit;
            }
        }
        let block = |words: [u32; 4]| <[u8; 16]>::try_from(words.map(u32::to_le_bytes).as_flattened()).unwrap();
        keys.extend(round.map(|word| block([word; 4])));
        keys.push(block(round));
    }
    keys
}

/// The key of a message of XChaCha20 (draft-irtf-cfrg-xchacha-03, 2.2).
fn hchacha20(key: &[u8; 32], nonce: &[u8; 16]) -> Vec<u8> {
    let bytes = [&b"expand 32-byte k"[..], key, nonce].concat();
    let mut x: Vec<u32> = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    for round in 0..20 {
        for i in 0..4 {
            let at = |row: usize| 4 * row + (i + row * (round % 2)) % 4;
            let [a, b, c, d] = [0, 1, 2, 3].map(at);
            for (to, by, mixed, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                x[to] = x[to].wrapping_add(x[by]);
                x[mixed] = (x[mixed] ^ x[to]).rotate_left(turn);
            }
        }
    }
    [&x[..4], &x[12..]].concat().into_iter().flat_map(u32::to_le_bytes).collect()
}
