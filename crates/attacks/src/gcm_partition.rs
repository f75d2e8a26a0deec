//! A partitioning oracle (Len, Grubbs and Ristenpart, 2021): a ciphertext that opens under many keys tests many
//! passwords in one query.

use sealwright::{
    Isa, OpenError,
    mode::gcm::{TagLen, by_key},
    raw,
};
use sha2::{Digest, Sha256};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        ghash::{inverse, mul, number},
        poly::interpolate,
        sealed::{self, Derived},
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gcm-partition",
    title: "A password is found in a list with one query per bit, if messages are AES-GCM under a password",
    knows: "a list of passwords, and for each ciphertext of its own whether the service can open it",
    stopped_by: "key commitment: a sealed file opens under one key only, so each question tests one password",
    page: "gcm-partition.md",
    figure: Axes { spent: "questions", gained: "bits of the password known" },
    run,
};

const NONCE: [u8; 12] = [7; 12];

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let passwords = if size == Size::Small { 64 } else { 512 };
    if size == Size::Small {
        log.reduced = Some("64 passwords instead of 512");
    }
    let secret = passwords * 5 / 7;
    log.trial(Target::Weak, "AES-256-GCM under a password", |cost| {
        let craft = |keys: &[[u8; 32]]| many_keys(&keys.iter().map(|key| (*key, NONCE)).collect::<Vec<_>>());
        search(passwords, secret, cost, craft, |key, file| {
            let Some((text, tag)) = file.split_last_chunk::<16>() else { return Ok(false) };
            let opened = by_key(Isa::best(), key, TagLen::T16)?.open_in_place(&NONCE, &[], &mut text.to_vec(), tag);
            Ok(opened.is_ok())
        })
    })?;
    log.trial(Target::Strong, "a sealed file", |cost| {
        against_files(passwords, secret, cost, |key, file| Ok(sealed::open(key, file).is_some()))
    })
}

/// A file whose chunk is valid under the keys derived from each of the keys and one salt, and which commits to the
/// first of them.
fn against_files(
    passwords: usize,
    secret: usize,
    cost: &mut Cost,
    service: impl Fn(&[u8; 32], &[u8]) -> Result<bool, AttackError>,
) -> Result<(bool, String), AttackError> {
    let craft = |keys: &[[u8; 32]]| {
        let genuine = sealed::seal(&keys[0], b"")?;
        let derived: Vec<Derived> = keys.iter().map(|key| Derived::new(key, &genuine)).collect();
        let chunk = many_keys(&derived.iter().map(|derived| derived.chunk).collect::<Vec<_>>())?;
        let file = derived[0].file(&genuine, &chunk);
        // Check of the construction: the key to which the file commits opens it.
        sealed::open(&keys[0], &file).map(|_| file).ok_or(AttackError::Genuine(OpenError))
    };
    search(passwords, secret, cost, craft, service)
}

/// The key of a password. A real service would use a slow password hash; the number of queries is the same.
fn key(password: usize) -> [u8; 32] {
    Sha256::digest(format!("password {password}")).into()
}

/// Halves the list of candidates with every query.
fn search(
    passwords: usize,
    secret: usize,
    cost: &mut Cost,
    craft: impl Fn(&[[u8; 32]]) -> Result<Vec<u8>, AttackError>,
    service: impl Fn(&[u8; 32], &[u8]) -> Result<bool, AttackError>,
) -> Result<(bool, String), AttackError> {
    let mut left: Vec<usize> = (0..passwords).collect();
    (cost.step, cost.memory) = ("keys in crafted ciphertexts", 16 * passwords as u64);
    let bits = |left: usize| (passwords as f64 / left as f64).log2();
    cost.gained(0.0);
    while left.len() > 1 {
        let (half, other) = left.split_at(left.len() / 2);
        let keys: Vec<[u8; 32]> = half.iter().map(|&password| key(password)).collect();
        cost.queries += 1;
        cost.steps += keys.len() as u64;
        left = if service(&key(secret), &craft(&keys)?)? { half.to_vec() } else { other.to_vec() };
        let right = left.contains(&secret);
        cost.gained(if right { bits(left.len()) } else { 0.0 });
    }
    let found = left == [secret];
    let result = if found { "the password" } else { "a wrong password" };
    Ok((found, format!("{result} remains of {passwords} after {} queries", cost.queries)))
}

/// A ciphertext with an all-zero tag that is valid under each of the keys with its nonce.
fn many_keys(keys: &[([u8; 32], [u8; 12])]) -> Result<Vec<u8>, AttackError> {
    let mut points = Vec::new();
    for (key, nonce) in keys {
        let cipher = raw::aes(Isa::best(), key)?;
        let (mut h, mut mask) = ([0; 16], [&nonce[..], &[0, 0, 0, 1]].concat());
        cipher.ecb_encrypt(&mut h);
        cipher.ecb_encrypt(&mut mask);
        let (h, mask) = (number(&h), u128::from_be_bytes(mask.try_into().expect("16 bytes")));
        // (C_1 h^(n-1) + .. + C_n) h^2 + lengths h = mask
        let lengths = mul(128 * keys.len() as u128, h);
        points.push((h, mul(mask ^ lengths, inverse(mul(h, h)))));
    }
    let mut coefficients = interpolate(&points);
    coefficients.resize(keys.len(), 0);
    let text = coefficients.iter().rev().flat_map(|block| block.to_be_bytes());
    Ok(text.chain([0; 16]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_commitment_nobody_compared_would_fall() -> Result<(), AttackError> {
        let mut cost = Cost::default();
        let (found, words) = against_files(64, 45, &mut cost, sealed::opens_without_commitment)?;
        assert!(found && cost.queries == 6, "{words}");
        Ok(())
    }
}
