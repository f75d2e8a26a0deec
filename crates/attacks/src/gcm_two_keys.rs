//! GCM does not commit to its key: one ciphertext and tag that open under two keys, each to a text that makes sense
//! ("invisible salamanders", Dodis, Grubbs, Ristenpart and Woodage, 2018).

use sealwright::{
    Isa,
    mode::gcm::{TagLen, by_key},
    raw,
};

use crate::{
    attack::{Attack, AttackError, Cost, Log, Size, Target},
    tools::{
        ghash::{ghash, inverse, mul, number},
        sealed, xor,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gcm-two-keys",
    title: "One AES-GCM ciphertext opens under two keys, to two different texts",
    knows: "both keys: the attacker is the sender, and wants two receivers to read different things",
    stopped_by: "key commitment: a sealed file opens under one key only",
    page: "gcm-two-keys.md",
    run,
};

const KEYS: [[u8; 32]; 2] = [[0x11; 32], [0x22; 32]];
const NONCE: [u8; 12] = [7; 12];
/// What each receiver shall read in its own block.
const WORDS: [&[u8; 16]; 2] = [b"the price is 100", b"the price is 900"];

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "AES-256-GCM", raw_gcm)?;
    log.trial(Target::Strong, "a sealed file", sealed_file)
}

/// Blocks of a key's keystream, the tag's mask first, and the GHASH key.
fn keystream(key: &[u8; 32], blocks: usize) -> Result<(Vec<[u8; 16]>, u128), AttackError> {
    let cipher = raw::aes(Isa::best(), key)?;
    let mut stream: Vec<[u8; 16]> = (1..=blocks as u32 + 1)
        .map(|i| [&NONCE[..], &i.to_be_bytes()].concat().try_into().expect("16 bytes"))
        .collect();
    cipher.ecb_encrypt(stream.as_flattened_mut());
    let mut h = [0; 16];
    cipher.ecb_encrypt(&mut h);
    Ok((stream, number(&h)))
}

/// A ciphertext of three blocks and its tag, valid under both keys: block 1 reads as `WORDS[0]` under the first, block 2
/// as `WORDS[1]` under the second, and block 3 makes the tags equal.
fn two_faced() -> Result<(Vec<u8>, [u8; 16]), AttackError> {
    let [(ours, h1), (theirs, h2)] = [keystream(&KEYS[0], 3)?, keystream(&KEYS[1], 3)?];
    let mut text = [xor(WORDS[0], &ours[1]), xor(WORDS[1], &theirs[2]), vec![0; 16]].concat();
    // With x in block 3 the tags differ by x (h1^2 + h2^2) and by what they differ without it.
    let tag = |h, mask: &[u8; 16], text: &[u8]| ghash(h, &[], text) ^ number(mask);
    let difference = tag(h1, &ours[0], &text) ^ tag(h2, &theirs[0], &text);
    let x = mul(difference, inverse(mul(h1, h1) ^ mul(h2, h2)));
    text[32..].copy_from_slice(&x.to_be_bytes());
    let tag = tag(h1, &ours[0], &text).to_be_bytes();
    Ok((text, tag))
}

fn raw_gcm(cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let (sealed, tag) = two_faced()?;
    (cost.queries, cost.steps, cost.step, cost.memory) = (0, 1, "linear equation over GF(2^128)", 256);
    let mut read = 0;
    for (i, key) in KEYS.iter().enumerate() {
        let mut text = sealed.clone();
        let opened = by_key(Isa::best(), key, TagLen::T16)?.open_in_place(&NONCE, &[], &mut text, &tag);
        read += usize::from(opened.is_ok() && text[16 * i..][..16] == *WORDS[i]);
    }
    Ok((read == 2, format!("{read} of 2 keys open it to their own text")))
}

/// Under the one key there is a genuine file; its body is replaced by a two-faced one, in every way that leaves the header
/// as it is, or the file is left alone.
fn sealed_file(cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let genuine = sealed::seal(&KEYS[0], WORDS[0])?;
    let (text, tag) = two_faced()?;
    let body = [&text[..], &tag].concat();
    let header = genuine.len() - WORDS[0].len() - 16;
    let replaced = [&genuine[..header], &body].concat();
    (cost.step, cost.memory) = ("files tried", 256);
    for file in [&genuine, &replaced] {
        cost.steps += 1;
        if KEYS.iter().all(|key| sealed::open(key, file).is_some()) {
            return Ok((true, "a file opens under both keys".into()));
        }
    }
    Ok((false, "the second key is refused before anything is opened: the header commits to the first".into()))
}
