//! What is searched for: keys and texts of a case, computed here by other means than the mode's own where there are any.

use std::collections::HashSet;

use hmac::{Hmac, KeyInit, Mac};
use sealwright::{Isa, mode::multi_key::Schedule, raw};
use sha2::{Digest, Sha256, Sha512};

use crate::{key, support::slow_ghash, text};

/// What a child must not keep.
pub(crate) struct Wanted {
    pub(crate) keys: HashSet<[u8; 16]>,
    pub(crate) texts: HashSet<[u8; 16]>,
    /// Whether keys must be found as long as they are in use.
    pub(crate) must_be_seen: bool,
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
        // V and C of Hash_DRBG, from the first bytes on and, as numbers, from the last.
        if case == "hash-drbg" {
            let v = hash_df(&[&key, &[2; 16]]);
            for mut secret in [v, hash_df(&[&[0], &v])] {
                keys.extend(secret.windows(16).map(|window| <[u8; 16]>::try_from(window).unwrap()));
                secret.reverse();
                keys.extend(secret.windows(16).map(|window| <[u8; 16]>::try_from(window).unwrap()));
            }
        }
        // Keys of one message, which are gone when it is sealed.
        if let Some(key) = message_key(case, &key) {
            keys.extend(Schedule::expand(Isa::best(), &key).unwrap().blocks());
        }
        let texts = text.windows(16).map(|window| window.try_into().unwrap()).collect();
        // At the portable level AES has bit slices, and a committing suite keeps no cipher between messages.
        let must_be_seen = case != "committing" && case != "batch";
        Wanted { keys, texts, must_be_seen }
    }
}

/// Hash_df of SP 800-90A, 10.3.1, to 55 bytes.
fn hash_df(input: &[&[u8]]) -> [u8; 55] {
    let block = |counter| Sha256::digest([&[counter], &440u32.to_be_bytes()[..], &input.concat()].concat());
    [block(1), block(2)].concat()[..55].try_into().unwrap()
}

/// The key that a mode derives for the message of nonce 01 01 .. and associated data `ad`, by other means than the mode's own.
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
        _ => None,
    }
}
