//! RKC in all its readings at every level, against the paper's lines composed of the `aes` and `sha2` crates.
#![allow(clippy::unwrap_used)]

mod support;

use aes::{
    Aes256,
    cipher::{BlockCipherEncrypt, KeyInit, array::Array},
};
use hmac::{Hmac, Mac};
use sealwright::{
    Aead, Isa, OpenError, SealError,
    mode::rkc::{Draw, Offsets, Reading, Rkc, RkcHmac, Seed, SeedUse},
};
use sha2::{Digest, Sha256};
use support::{agree, bytes};

const READINGS: [Reading; 4] = [
    Reading { seed: SeedUse::V, draw: Draw::Block },
    Reading { seed: SeedUse::V, draw: Draw::All },
    Reading { seed: SeedUse::Df, draw: Draw::Block },
    Reading { seed: SeedUse::Df, draw: Draw::All },
];

/// Hash_DRBG as SP 800-90A writes it, a byte at a time; the library's own is not asked.
struct Drbg {
    v: Vec<u8>,
    c: Vec<u8>,
    counter: u64,
}

fn sha256(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().to_vec()
}

fn hash_df(input: &[u8]) -> Vec<u8> {
    let mut out = sha256(&[&[1], &440u32.to_be_bytes(), input]);
    out.extend(sha256(&[&[2], &440u32.to_be_bytes(), input]));
    out.truncate(55);
    out
}

fn add(v: &mut [u8], number: &[u8]) {
    let mut carry = 0;
    for (i, byte) in v.iter_mut().rev().enumerate() {
        let other = number.len().checked_sub(i + 1).map_or(0, |at| number[at]);
        let sum = u16::from(*byte) + u16::from(other) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
}

impl Drbg {
    fn new(seed: &Seed, reading: Reading) -> Drbg {
        let v = if reading.seed == SeedUse::V { seed.to_vec() } else { hash_df(seed) };
        let c = hash_df(&[&[0], &v[..]].concat());
        Drbg { v, c, counter: 1 }
    }

    fn generate(&mut self, length: usize) -> Vec<u8> {
        let (mut out, mut data) = (Vec::new(), self.v.clone());
        while out.len() < length {
            out.extend(sha256(&[&data]));
            add(&mut data, &[1]);
        }
        out.truncate(length);
        let update = sha256(&[&[3], &self.v]);
        let c = self.c.clone();
        for number in [&update[..], &c, &self.counter.to_be_bytes()] {
            add(&mut self.v, number);
        }
        self.counter += 1;
        out
    }
}

/// Ciphertext and T.
fn slow(key: &[u8; 32], seed: &Seed, text: &[u8], reading: Reading) -> (Vec<u8>, Vec<u8>) {
    let mut drbg = Drbg::new(seed, reading);
    let drawn: Vec<u8> = match reading.draw {
        Draw::Block => text.chunks(16).flat_map(|_| drbg.generate(32)).collect(),
        Draw::All => {
            let lengths = (0..2 * text.len()).step_by(1 << 16).map(|done| (2 * text.len() - done).min(1 << 16));
            lengths.flat_map(|length| drbg.generate(length)).collect()
        }
    };
    let (mut key, mut ciphertext, mut hash) = (*key, Vec::new(), Sha256::new());
    for (block, r) in text.chunks(16).zip(drawn.chunks(32)) {
        key.iter_mut().zip(r).for_each(|(key, r)| *key ^= r);
        let mut c = Array::try_from(block).unwrap();
        Aes256::new(&key.into()).encrypt_block(&mut c);
        ciphertext.extend_from_slice(&c);
        c.iter_mut().zip(block).for_each(|(c, p)| *c ^= p);
        hash.update(c);
    }
    (ciphertext, hash.finalize().to_vec())
}

fn array<const N: usize>(seed: u64) -> [u8; N] {
    bytes(N, seed).try_into().unwrap()
}

#[test]
fn every_reading_at_every_number_of_blocks() {
    for isa in Isa::available() {
        for blocks in (0..=70).chain([127, 128, 129]) {
            let (key, seed, text) = (array(1), array(blocks), bytes(16 * blocks as usize, 2));
            for reading in READINGS {
                let theirs = slow(&key, &seed, &text, reading);
                let rkc = Rkc::research_only_reading(isa, &key, reading);
                agree(&rkc, &seed, &[], &text, &theirs, blocks as usize % 61, &format!("{isa} {blocks} {reading:?}"));
            }
        }
    }
}

#[test]
fn a_second_request_of_2_to_the_19_bits() {
    let (key, seed, text) = (array(1), array(2), bytes(16 * 2051, 3));
    for reading in [READINGS[1], READINGS[3]] {
        let theirs = slow(&key, &seed, &text, reading);
        for isa in Isa::available() {
            let rkc = Rkc::research_only_reading(isa, &key, reading);
            agree(&rkc, &seed, &[], &text, &theirs, 3, &format!("{isa} {reading:?}"));
        }
    }
}

/// V runs through all its carries: a seed of ones.
#[test]
fn sums_carry_through_all_words() {
    let (key, text) = (array(1), bytes(16 * 40, 3));
    for seed in [[0xff; 55], [0; 55], [0x80; 55]] {
        for reading in READINGS {
            let theirs = slow(&key, &seed, &text, reading);
            for isa in Isa::available() {
                let rkc = Rkc::research_only_reading(isa, &key, reading);
                agree(&rkc, &seed, &[], &text, &theirs, 0, &format!("{isa} {reading:?} {seed:?}"));
            }
        }
    }
}

#[test]
fn readings_differ_as_they_should() {
    let (key, seed, text): (_, Seed, _) = (array(1), array(2), bytes(32, 3));
    let [a, b, c, d] = READINGS.map(|reading| {
        let mut text = text.clone();
        let _ = Rkc::research_only_reading(Isa::best(), &key, reading).seal(&seed, &mut text).unwrap();
        text
    });
    assert_eq!(a[..16], b[..16], "the first block does not depend on the draw");
    assert_eq!(c[..16], d[..16]);
    assert!(a[16..] != b[16..] && c[16..] != d[16..] && a[..16] != c[..16]);
}

#[test]
fn offsets_made_before_give_the_same() {
    let (key, seed, text): (_, Seed, _) = (array(1), array(2), bytes(16 * 45, 3));
    for isa in Isa::available() {
        for reading in READINGS {
            let rkc = Rkc::research_only_reading(isa, &key, reading);
            let offsets = Offsets::new(isa, reading, &seed, 45);
            for blocks in [0, 1, 15, 16, 17, 44, 45] {
                let (mut ours, mut theirs) = (text[..16 * blocks].to_vec(), text[..16 * blocks].to_vec());
                let tags = (rkc.seal_ahead(&offsets, &mut ours).unwrap(), rkc.seal(&seed, &mut theirs).unwrap());
                assert_eq!((&ours, tags.0), (&theirs, tags.1), "{isa} {reading:?} {blocks}");
                let mut untagged = text[..16 * blocks].to_vec();
                rkc.encrypt_ahead(&offsets, &mut untagged).unwrap();
                assert_eq!(untagged, theirs, "{isa} {reading:?} {blocks}");
            }
            assert_eq!(offsets.heap_bytes(), 45 * 32);
            let mut longer = vec![7; 16 * 46];
            assert_eq!(rkc.seal_ahead(&offsets, &mut longer), Err(SealError::TextTooLong));
            assert!(longer.iter().all(|&byte| byte == 7), "a refused text stays");
        }
    }
}

#[test]
fn what_is_not_defined_is_refused() {
    let rkc = Rkc::research_only(Isa::best(), &array(1));
    let mut text = vec![7; 33];
    assert_eq!((rkc.tag_len(), rkc.nonce_len()), (32, 55));
    assert_eq!(rkc.seal(&array(2), &mut text), Err(SealError::PartialBlock));
    assert_eq!(rkc.seal_in_place(&[0; 54], b"", &mut text[..32]), Err(SealError::NonceLength));
    assert_eq!(rkc.seal_in_place(&[0; 55], b"a", &mut text[..32]), Err(SealError::AdTooLong));
    assert!(text.iter().all(|&byte| byte == 7), "a refused text stays");
    assert_eq!(rkc.open(&array(2), &mut text, &[0; 32]), Err(OpenError));
    assert!(text.iter().all(|&byte| byte == 0));
    assert_eq!(rkc.open_wire(&[0; 86]), Err(OpenError));
    let tag = rkc.seal(&array(2), &mut text[..32]).unwrap();
    assert_eq!(rkc.open_in_place(&array::<55>(2), b"a", &mut text[..32], tag.as_ref()), Err(OpenError));
    assert_eq!(text[..32], [0; 32], "with associated data");
}

/// With HMAC there is associated data, but texts and seeds are no others; what is authentic and not padded was never
/// sealed.
#[test]
fn with_hmac_what_is_not_defined_is_refused() {
    let (seed, sealed) = (array::<55>(2), RkcHmac::research_only(Isa::best(), &array(1), &array(9)));
    assert_eq!((sealed.tag_len(), sealed.nonce_len()), (32, 55));
    let mut text = vec![7; 33];
    assert_eq!(sealed.seal_in_place(&seed, b"", &mut text), Err(SealError::PartialBlock));
    assert_eq!(sealed.seal_in_place(&[0; 54], b"", &mut text[..32]), Err(SealError::NonceLength));
    assert!(text.iter().all(|&byte| byte == 7), "a refused text stays");
    assert_eq!(sealed.open_in_place(&[0; 54], b"", &mut text, &[0; 32]), Err(OpenError));
    assert_eq!(text, [0; 33]);
    // No mark; a mark and more than a block of zeros; another mark.
    let (zeros, early, other) = ([0; 32], [&[0x80][..], &[0; 31]].concat(), [&[7; 31][..], &[0x81]].concat());
    for plain in [&zeros[..], &early, &other] {
        let mut text = plain.to_vec();
        let tag = sealed.seal_in_place(&seed, b"", &mut text).unwrap();
        assert_eq!(sealed.open(&seed, b"", &mut text, tag.as_ref()), Err(OpenError), "{plain:?}");
        assert_eq!(text, [0; 32]);
    }
}

#[test]
fn the_wire_is_seed_ciphertext_tag() {
    let (key, seed, text): (_, Seed, _) = (array(1), array(2), bytes(48, 3));
    let rkc = Rkc::research_only(Isa::best(), &key);
    let (ciphertext, tag) = slow(&key, &seed, &text, Reading::default());
    let wire = rkc.seal_wire(&seed, &text).unwrap();
    assert_eq!(wire, [&seed[..], &ciphertext, &tag].concat());
    assert_eq!(rkc.open_wire(&wire).unwrap(), text);
    for at in 0..wire.len() {
        let mut changed = wire.clone();
        changed[at] ^= 4;
        assert_eq!(rkc.open_wire(&changed), Err(OpenError), "byte {at}");
    }
    assert_eq!(rkc.open_wire(&rkc.seal_wire(&seed, b"").unwrap()), Ok(vec![]));
}

/// Why it is for research: a prefix of a message whose text is known is forged with one hash and no key.
#[test]
fn truncation_is_forged_without_the_key() {
    let (seed, text): (Seed, _) = (array(2), bytes(64, 3));
    let rkc = Rkc::research_only(Isa::best(), &array(1));
    let mut ciphertext = text.clone();
    let _ = rkc.seal(&seed, &mut ciphertext).unwrap();
    let x: Vec<u8> = ciphertext.iter().zip(&text).map(|(c, p)| c ^ p).collect();
    let mut forged = ciphertext[..32].to_vec();
    rkc.open(&seed, &mut forged, &Sha256::digest(&x[..32])).unwrap();
    assert_eq!(forged, text[..32]);
}

#[test]
fn with_hmac_every_length_and_no_change_unnoticed() {
    let (key, mac_key, seed): (_, [u8; 32], Seed) = (array(1), array(9), array(2));
    for isa in Isa::available() {
        let sealed = RkcHmac::research_only(isa, &key, &mac_key);
        for length in 0..100 {
            let (text, ad) = (bytes(length, 3), bytes(length % 23, 4));
            let mut padded = text.clone();
            padded.push(0x80);
            padded.resize(padded.len().next_multiple_of(16), 0);
            let (ciphertext, _) = slow(&key, &seed, &padded, Reading::default());
            let mut mac = Hmac::<Sha256>::new_from_slice(&mac_key).unwrap();
            for part in [&seed[..], &(ad.len() as u64).to_be_bytes(), &ad] {
                mac.update(part);
            }
            mac.update(&(ciphertext.len() as u64).to_be_bytes());
            mac.update(&ciphertext);
            let theirs = mac.finalize().into_bytes();

            let mut ours = text.clone();
            let tag = sealed.seal(&seed, &ad, &mut ours).unwrap();
            assert_eq!((&ours, tag.as_ref()), (&ciphertext, &theirs[..]), "{isa} {length}");
            sealed.open(&seed, &ad, &mut ours, tag.as_ref()).unwrap();
            assert_eq!(ours, text);

            let mut shifted = ciphertext.clone();
            let ad_and_more = [&ad[..], &[0]].concat();
            assert_eq!(sealed.open(&seed, &ad_and_more, &mut shifted, tag.as_ref()), Err(OpenError));
            assert!(shifted.iter().all(|&byte| byte == 0));
            let mut prefix = ciphertext[..ciphertext.len() - 16].to_vec();
            assert_eq!(sealed.open(&seed, &ad, &mut prefix, tag.as_ref()), Err(OpenError));
        }
    }
}
