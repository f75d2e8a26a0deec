//! Hash_DRBG against a slow one, written from NIST SP 800-90A (10.1.1) with SHA-256 and numbers of single bytes.

use sealwright::drbg::{DrbgError, HashDrbg, MAX_REQUEST, MIN_ENTROPY, MIN_NONCE, SEED_BYTES};
use sha2::{Digest, Sha256};

use crate::{case::Case, message::take};

type Seed = [u8; SEED_BYTES];

struct Slow {
    v: Seed,
    c: Seed,
    requests: u64,
}

/// Hash_df: as many bytes as a seed has.
fn derived(parts: &[&[u8]]) -> Seed {
    let input = parts.concat();
    let hashes = (1..=2_u8).flat_map(|counter| {
        Sha256::digest([&[counter][..], &(SEED_BYTES as u32 * 8).to_be_bytes(), &input].concat()).to_vec()
    });
    let bytes: Vec<u8> = hashes.take(SEED_BYTES).collect();
    bytes.try_into().unwrap()
}

/// Adds a number to another one, modulo 2^440.
fn add(sum: &mut Seed, number: &[u8]) {
    let mut carry = 0;
    for (at, place) in sum.iter_mut().rev().enumerate() {
        let digit = number.len().checked_sub(at + 1).map_or(0, |at| number[at]);
        let all = u16::from(*place) + u16::from(digit) + carry;
        (*place, carry) = (all as u8, all >> 8);
    }
}

impl Slow {
    fn seeded(material: &[&[u8]]) -> Slow {
        let v = derived(material);
        Slow { v, c: derived(&[&[0], &v]), requests: 0 }
    }

    fn reseed(&mut self, entropy: &[u8], more: &[u8]) {
        *self = Slow::seeded(&[&[1], &self.v, entropy, more]);
    }

    fn generate(&mut self, len: usize, more: &[u8]) -> Vec<u8> {
        if !more.is_empty() {
            let hash = Sha256::digest([&[2], &self.v[..], more].concat());
            add(&mut self.v, &hash);
        }
        let (mut data, mut out) = (self.v, Vec::new());
        while out.len() < len {
            out.extend_from_slice(&Sha256::digest(data));
            add(&mut data, &[1]);
        }
        out.truncate(len);
        let hash = Sha256::digest([&[3], &self.v[..]].concat());
        self.requests += 1;
        for number in [&hash[..], &self.c.clone(), &self.requests.to_be_bytes()] {
            add(&mut self.v, number);
        }
        out
    }
}

/// The seed is key and nonce, each step six bytes of the text. A refused step changes nothing.
pub(crate) fn random_bits(case: &Case) {
    let entropy = &case.key[..usize::from(case.tag) % 65];
    let nonce = &case.nonce[..usize::from(case.nonce_len) % 33];
    let begun = HashDrbg::instantiate(entropy, nonce, &case.ad);
    let refused = match () {
        () if entropy.len() < MIN_ENTROPY => Some(DrbgError::EntropyTooShort),
        () if nonce.len() < MIN_NONCE => Some(DrbgError::NonceTooShort),
        () => None,
    };
    assert_eq!(begun.as_ref().err(), refused.as_ref());
    let Ok(mut drbg) = begun else { return };
    let mut slow = Slow::seeded(&[entropy, nonce, &case.ad]);
    let mut rest = &case.text[..];
    for _ in 0..12 {
        if rest.is_empty() {
            break;
        }
        let [what, a, b, entropy_len, entropy_from, more_len] = take(&mut rest);
        let (more, left) = rest.split_at(rest.len().min(usize::from(more_len) % 80));
        rest = left;
        let entropy: Vec<u8> = (0..entropy_len % 64).map(|at| at.wrapping_mul(29) ^ entropy_from).collect();
        // Requests that are too long are one in 64
        let len = if what > 251 { MAX_REQUEST + 1 } else { usize::from(u16::from_be_bytes([a, b])) % 5000 };
        let mut out = vec![0xa5; len];
        let too_long = (len > MAX_REQUEST).then_some(DrbgError::RequestTooLong);
        let too_short = (entropy.len() < MIN_ENTROPY).then_some(DrbgError::EntropyTooShort);
        let (done, refused) = match what % 3 {
            0 => (drbg.generate(&mut out, more), too_long),
            1 => (drbg.reseed(&entropy, more), too_short),
            _ => (drbg.generate_fresh(&entropy, &mut out, more), too_long.or(too_short)),
        };
        assert_eq!(done.err(), refused);
        if refused.is_none() && what % 3 > 0 {
            slow.reseed(&entropy, more);
        }
        let expected = match what % 3 {
            0 if refused.is_none() => slow.generate(len, more),
            2 if refused.is_none() => slow.generate(len, &[]),
            _ => vec![0xa5; len],
        };
        assert!(out == expected, "{len} bytes of step {what}");
    }
}
