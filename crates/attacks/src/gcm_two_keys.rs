//! GCM does not commit to its key: one ciphertext and tag that open under two keys, to a meaningful text under each
//! ("invisible salamanders", Dodis, Grubbs, Ristenpart and Woodage, 2018).

use sealwright::{
    Aead, Isa, OpenError, Suite,
    committing::{COMMITMENT, Committing},
    mode::gcm::{TagLen, by_key},
    raw,
};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        ghash::{ghash, inverse, mul, number},
        hkdf,
        sealed::{self, Derived},
        xor,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gcm-two-keys",
    title: "One AES-GCM ciphertext opens under two keys, to two different texts",
    knows: "both keys: the attacker is the sender, and wants two receivers to read different texts",
    stopped_by: "key commitment: a sealed file and a committing suite open under one key only",
    page: "gcm-two-keys.md",
    figure: Axes { spent: "ciphertexts", gained: "read in two ways" },
    run,
};

const KEYS: [[u8; 32]; 2] = [[0x11; 32], [0x22; 32]];
const NONCE: [u8; 12] = [7; 12];
/// The text that each receiver is to read, in a block of its own.
const WORDS: [&[u8; 16]; 2] = [b"the price is 100", b"the price is 900"];

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "AES-256-GCM", raw_gcm)?;
    log.trial(Target::Strong, "a sealed file", |cost| {
        sealed_file(|key, file| Ok(sealed::open(key, file).is_some()), cost)
    })?;
    log.trial(Target::Strong, "committing AES-256-GCM", committing)
}

/// Blocks of the keystream of a key and a nonce, the tag's mask first, and the GHASH key.
fn keystream((key, nonce): &([u8; 32], [u8; 12]), blocks: usize) -> Result<(Vec<[u8; 16]>, u128), AttackError> {
    let cipher = raw::aes(Isa::best(), key)?;
    let mut stream: Vec<[u8; 16]> = (1..=blocks as u32 + 1)
        .map(|i| [&nonce[..], &i.to_be_bytes()].concat().try_into().expect("16 bytes"))
        .collect();
    cipher.ecb_encrypt(stream.as_flattened_mut());
    let mut h = [0; 16];
    cipher.ecb_encrypt(&mut h);
    Ok((stream, number(&h)))
}

/// A ciphertext of three blocks and its tag, valid under both keys: block 1 reads as `WORDS[0]` under the first, block
/// 2 as `WORDS[1]` under the second, and block 3 makes the tags equal.
fn two_faced(keys: &[([u8; 32], [u8; 12]); 2]) -> Result<(Vec<u8>, [u8; 16]), AttackError> {
    let [(ours, h1), (theirs, h2)] = [keystream(&keys[0], 3)?, keystream(&keys[1], 3)?];
    let mut text = [xor(WORDS[0], &ours[1]), xor(WORDS[1], &theirs[2]), vec![0; 16]].concat();
    // Block 3 = x adds x (h1^2 + h2^2) to the difference of the tags.
    let tag = |h, mask: &[u8; 16], text: &[u8]| ghash(h, &[], text) ^ number(mask);
    let difference = tag(h1, &ours[0], &text) ^ tag(h2, &theirs[0], &text);
    let x = mul(difference, inverse(mul(h1, h1) ^ mul(h2, h2)));
    text[32..].copy_from_slice(&x.to_be_bytes());
    let tag = tag(h1, &ours[0], &text).to_be_bytes();
    Ok((text, tag))
}

fn raw_gcm(cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let (sealed, tag) = two_faced(&KEYS.map(|key| (key, NONCE)))?;
    (cost.queries, cost.steps, cost.step, cost.memory) = (0, 1, "linear equation over GF(2^128)", 256);
    let mut read = 0;
    for (i, key) in KEYS.iter().enumerate() {
        let mut text = sealed.clone();
        let opened = by_key(Isa::best(), key, TagLen::T16)?.open_in_place(&NONCE, &[], &mut text, &tag);
        read += usize::from(opened.is_ok() && text[16 * i..][..16] == *WORDS[i]);
    }
    Ok((read == 2, format!("{read} of 2 keys open it to their own text")))
}

/// The attacker computes the keys derived from both keys and one salt, builds the two-faced text for them, and sends it
/// with the commitment of either. Without the commitment it would open under both.
fn sealed_file(
    open: impl Fn(&[u8; 32], &[u8]) -> Result<bool, AttackError>,
    cost: &mut Cost,
) -> Result<(bool, String), AttackError> {
    let genuine = sealed::seal(&KEYS[0], b"")?;
    let derived = KEYS.map(|key| Derived::new(&key, &genuine));
    let (text, tag) = two_faced(&derived.map(|derived| derived.chunk))?;
    let chunk = [&text[..], &tag].concat();
    (cost.step, cost.memory) = ("files tried", 256);
    for (i, sender) in derived.iter().enumerate() {
        let file = sender.file(&genuine, &chunk);
        cost.steps += 1;
        // Check of the construction: the key to which the file commits opens it, to its own text.
        if !open(&KEYS[i], &file)? {
            return Err(OpenError.into());
        }
        if open(&KEYS[1 - i], &file)? {
            return Ok((true, "a file opens under both keys".into()));
        }
    }
    Ok((false, "each key opens the text with its own commitment, and neither with the other's".into()))
}

/// The attacker knows the message keys of both keys for one nonce, and their commitments. It builds the two-faced text
/// for these message keys, and sends it with either commitment. Without the commitment it would open under both.
fn committing(cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let nonce = [7; 24];
    let (mut message_keys, mut tags) = ([[0; 32]; 2], Vec::new());
    for (key, message_key) in KEYS.iter().zip(&mut message_keys) {
        *message_key = message_key_of(key, &nonce);
        tags.push(Committing::new(Suite::Aes256Gcm, key)?.seal_in_place(&nonce, &[], &mut [])?);
    }
    let (text, tag) = two_faced(&message_keys.map(|key| (key, NONCE)))?;
    (cost.step, cost.memory) = ("messages tried", 256);
    for (key, message_key) in KEYS.iter().zip(&message_keys) {
        let mut opened = text.clone();
        by_key(Isa::best(), message_key, TagLen::T16)?.open_in_place(&NONCE, &[], &mut opened, &tag)?;
        let aead = Committing::new(Suite::Aes256Gcm, key)?;
        cost.steps += 1;
        // Check of the construction: each key opens the text under its own commitment.
        let commitment = &tags[usize::from(key != &KEYS[0])].as_ref()[..COMMITMENT];
        aead.open_in_place(&nonce, &[], &mut text.clone(), &[commitment, &tag].concat())?;
    }
    for commitment in &tags {
        let sent = [&commitment.as_ref()[..COMMITMENT], &tag].concat();
        let mut opened = 0;
        for key in &KEYS {
            let aead = Committing::new(Suite::Aes256Gcm, key)?;
            opened += usize::from(aead.open_in_place(&nonce, &[], &mut text.clone(), &sent).is_ok());
        }
        if opened == 2 {
            return Ok((true, "a message opens under both keys".into()));
        }
    }
    Ok((false, "each key opens the text with its own commitment, and neither with the other's".into()))
}

/// The key of a message with no associated data, as the documentation of `sealwright::committing` defines it.
fn message_key_of(key: &[u8; 32], nonce: &[u8; 24]) -> [u8; 32] {
    let info = [&b"SEALWRIGHT committing AEAD v1+AEAD_AES_256_GCM\0"[..], nonce].concat();
    let derived: [u8; COMMITMENT + 32] = hkdf::expand(key, &info);
    *derived.last_chunk().expect("32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_commitment_nobody_compared_would_fall() -> Result<(), AttackError> {
        let (fallen, words) = sealed_file(sealed::opens_without_commitment, &mut Cost::default())?;
        assert!(fallen, "{words}");
        Ok(())
    }
}
