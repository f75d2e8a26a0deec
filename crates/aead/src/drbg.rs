//! A deterministic random bit generator: Hash_DRBG with SHA-256 (NIST SP 800-90A revision 1, 10.1.1), at security
//! strength 256.
//!
//! ```
//! use sealwright::drbg::HashDrbg;
//!
//! # let (entropy, nonce, fresh) = ([1; 32], [2; 16], [3; 32]); // of course: from an entropy source
//! let mut drbg = HashDrbg::instantiate(&entropy, &nonce, b"my program, instance 7")?;
//! let mut key = [0; 32];
//! drbg.generate(&mut key, b"")?;
//! drbg.reseed(&fresh, b"")?;
//! drbg.generate_fresh(&fresh, &mut key, b"")?; // prediction resistance: as much entropy again for this one request
//! # Ok::<(), sealwright::drbg::DrbgError>(())
//! ```
//!
//! The caller supplies the entropy: the `entropy` arguments take the place of the standard's Get_entropy_input.

use core::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroize;

pub use crate::seed_number::SEED_BYTES;
use crate::{
    seed_number::{self, Number, Seed, number, sum},
    simd::{
        Isa,
        sha_constants::Message,
        sha_lanes::{LANES, Lanes},
    },
    wipe::CleanStack,
};

/// The most bytes that one request may ask for: 2^19 bits (table 2).
pub const MAX_REQUEST: usize = 1 << 16;
/// The most requests between two reseeds (table 2).
pub const MAX_REQUESTS: u64 = 1 << 48;
/// The shortest entropy input, in bytes: the security strength (8.6.4).
pub const MIN_ENTROPY: usize = 32;
/// The shortest nonce, in bytes: half the security strength (8.6.7).
pub const MIN_NONCE: usize = 16;
/// The longest entropy input, personalization string or additional input, in bytes: 2^35 bits (table 2).
pub const MAX_INPUT: u64 = 1 << 32;

/// One instantiation of Hash_DRBG. It is not `Clone`, because a copy would return the same bits again. A forked process
/// holds such a copy: parent or child must [reseed](HashDrbg::reseed) before its next request, or supply fresh entropy
/// with each request ([`HashDrbg::generate_fresh`]).
///
/// ```
/// use sealwright::drbg::HashDrbg;
///
/// // The same seed gives the same bits: for tests that shall be random and repeatable.
/// let mut one = HashDrbg::instantiate(&[1; 32], &[2; 16], b"")?;
/// let mut other = HashDrbg::instantiate(&[1; 32], &[2; 16], b"")?;
/// let (mut a, mut b) = ([0; 100], [0; 100]);
/// one.generate(&mut a, b"")?;
/// other.generate(&mut b, b"")?;
/// assert_eq!(a, b);
/// # Ok::<(), sealwright::drbg::DrbgError>(())
/// ```
pub struct HashDrbg {
    v: Seed,
    c: Seed,
    /// One more than the requests since the last seed; above every permitted value if there is no seed.
    reseed_counter: u64,
    /// V is on the stack while it is added to and hashed.
    _stack: CleanStack,
}
// A wiped generator has no seed and refuses every request until it is reseeded: bits from a known V would look like any
// others.
wipe_on_drop!(HashDrbg { v: [0; SEED_BYTES], c: [0; SEED_BYTES], reseed_counter: u64::MAX });

/// Why Hash_DRBG refused a request.
///
/// ```
/// use sealwright::drbg::{DrbgError, HashDrbg};
///
/// assert_eq!(HashDrbg::instantiate(&[1; 16], &[2; 16], b"").err(), Some(DrbgError::EntropyTooShort));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrbgError {
    /// Less entropy than [`MIN_ENTROPY`].
    EntropyTooShort,
    /// A nonce shorter than [`MIN_NONCE`].
    NonceTooShort,
    /// An input longer than [`MAX_INPUT`].
    InputTooLong,
    /// A request for more than [`MAX_REQUEST`].
    RequestTooLong,
    /// [`MAX_REQUESTS`] requests were made with this seed, or it was wiped.
    ReseedRequired,
}

impl fmt::Display for DrbgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DrbgError::EntropyTooShort => "less than 32 bytes of entropy",
            DrbgError::NonceTooShort => "a nonce of less than 16 bytes",
            DrbgError::InputTooLong => "an input of more than 2^35 bits",
            DrbgError::RequestTooLong => "a request for more than 2^19 bits",
            DrbgError::ReseedRequired => "2^48 requests were answered, or the seed was wiped: a new seed is needed",
        })
    }
}
impl core::error::Error for DrbgError {}

impl fmt::Debug for HashDrbg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashDrbg").field("reseed_counter", &self.reseed_counter).finish_non_exhaustive()
    }
}

impl HashDrbg {
    /// Instantiates from entropy, a nonce and a personalization string, which may be empty (10.1.1.2).
    ///
    /// # Errors
    /// If an input is shorter or longer than the standard allows.
    pub fn instantiate(entropy: &[u8], nonce: &[u8], personalization: &[u8]) -> Result<Self, DrbgError> {
        entropic(entropy)?;
        if nonce.len() < MIN_NONCE {
            return Err(DrbgError::NonceTooShort);
        }
        bounded(nonce)?;
        bounded(personalization)?;
        Ok(Self::from_seed_material(&[entropy, nonce, personalization]))
    }

    /// Sets V to Hash_df of the seed material (10.1.1.2, steps 2 to 5; 10.1.1.3, steps 2 to 5).
    fn from_seed_material(material: &[&[u8]]) -> Self {
        let v = hash_df(material);
        HashDrbg { v, c: constant(&v), reseed_counter: 1, _stack: CleanStack }
    }

    /// Mixes in fresh entropy (10.1.1.3).
    ///
    /// # Errors
    /// If an input is shorter or longer than the standard allows; the state is then unchanged.
    pub fn reseed(&mut self, entropy: &[u8], additional: &[u8]) -> Result<(), DrbgError> {
        entropic(entropy)?;
        bounded(additional)?;
        *self = Self::from_seed_material(&[&[1], &self.v, entropy, additional]);
        Ok(())
    }

    /// Fills `out` with random bytes (10.1.1.4).
    ///
    /// # Errors
    /// If the request or an input is too long, or a reseed is required; `out` and the state are then unchanged.
    pub fn generate(&mut self, out: &mut [u8], additional: &[u8]) -> Result<(), DrbgError> {
        if out.len() > MAX_REQUEST {
            return Err(DrbgError::RequestTooLong);
        }
        if self.reseed_counter > MAX_REQUESTS {
            return Err(DrbgError::ReseedRequired);
        }
        bounded(additional)?;
        if !additional.is_empty() {
            let w = hash(&[&[2], &self.v, additional]);
            add(&mut self.v, &w);
        }
        hashgen(Isa::best().lanes(), &self.v, out);
        let h = hash(&[&[3], &self.v]);
        add(&mut self.v, &h);
        add(&mut self.v, &self.c);
        add(&mut self.v, &self.reseed_counter.to_be_bytes());
        self.reseed_counter += 1;
        Ok(())
    }

    /// Fills `out`, with prediction resistance: mixes in fresh entropy first (9.3.1, step 7).
    ///
    /// # Errors
    /// Same as [`HashDrbg::reseed`] and [`HashDrbg::generate`]; `out` and the state are then unchanged.
    pub fn generate_fresh(&mut self, entropy: &[u8], out: &mut [u8], additional: &[u8]) -> Result<(), DrbgError> {
        if out.len() > MAX_REQUEST {
            return Err(DrbgError::RequestTooLong);
        }
        // The additional input is used in the reseed, and not again in the request.
        self.reseed(entropy, additional)?;
        self.generate(out, &[])
    }
}

/// Up to this many outputs are computed faster one after the other than sixteen side by side.
const FEW: usize = 6;

/// The number whose hash is the next output, and its form for the lanes.
struct Counting {
    next: Number,
    messages: [Message; 2],
}
wipe_on_drop!(Counting { next: [0; 7], messages: [[0; 8]; 2] });

/// Hashes V, V + 1, V + 2, … (10.1.1.4, Hashgen), side by side if there are `lanes`.
fn hashgen(lanes: Option<Lanes>, v: &Seed, out: &mut [u8]) {
    let mut counting = Counting { next: number(v), messages: [[0; 8]; 2] };
    let mut lanes = lanes.filter(|_| out.len() > 32 * FEW).map(Lanes::schedules);
    for out in out.chunks_mut(32 * LANES) {
        if let Some(lanes) = lanes.as_mut().filter(|_| out.len() > 32 * FEW) {
            counting.messages = seed_number::counting(&counting.next);
            counting.next = sum(&counting.next, &[LANES as u64, 0, 0, 0, 0, 0, 0]);
            let [first, carried] = &counting.messages;
            if let Ok(out) = out.as_chunks_mut().0.try_into() {
                lanes.hash(first, carried, out);
            } else {
                let mut all = [[0; 32]; LANES];
                lanes.hash(first, carried, &mut all);
                out.copy_from_slice(&all.as_flattened()[..out.len()]);
                all.zeroize();
            }
            continue;
        }
        for out in out.chunks_mut(32) {
            let mut data = seed_number::seed(&counting.next);
            out.copy_from_slice(&Sha256::digest(data)[..out.len()]);
            data.zeroize();
            counting.next = sum(&counting.next, &[1, 0, 0, 0, 0, 0, 0]);
        }
    }
}

/// C, derived from V: Hash_df(0x00 || V).
fn constant(v: &Seed) -> Seed {
    hash_df(&[&[0], v])
}

/// SHA-256 of the concatenated parts. The state is not moved, as `chain_update` would for each part.
fn hash(parts: &[&[u8]]) -> sha2::digest::Output<Sha256> {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize()
}

/// Derives [`SEED_BYTES`] bytes from an input of any length (10.3.1).
fn hash_df(input: &[&[u8]]) -> Seed {
    let mut seed = [0; SEED_BYTES];
    for (out, counter) in seed.chunks_mut(32).zip(1u8..) {
        let mut hash = Sha256::new();
        for part in [&[counter][..], &(8 * SEED_BYTES as u32).to_be_bytes()].iter().chain(input) {
            hash.update(part);
        }
        out.copy_from_slice(&hash.finalize()[..out.len()]);
    }
    seed
}

/// Adds a shorter number modulo 2^440; both are big endian.
fn add(v: &mut Seed, n: &[u8]) {
    let mut padded = [0; SEED_BYTES];
    padded[SEED_BYTES - n.len()..].copy_from_slice(n);
    *v = seed_number::seed(&sum(&number(v), &number(&padded)));
}

fn entropic(entropy: &[u8]) -> Result<(), DrbgError> {
    if entropy.len() < MIN_ENTROPY { Err(DrbgError::EntropyTooShort) } else { bounded(entropy) }
}

fn bounded(input: &[u8]) -> Result<(), DrbgError> {
    if input.len() as u64 > MAX_INPUT { Err(DrbgError::InputTooLong) } else { Ok(()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_new_seed_is_due_after_2_to_the_48_requests() {
        let mut drbg = HashDrbg::instantiate(&[1; 32], &[2; 16], b"").unwrap();
        drbg.reseed_counter = MAX_REQUESTS;
        let mut out = [0; 7];
        assert_eq!(drbg.generate(&mut out, b""), Ok(()));
        let (v, kept) = (drbg.v, out);
        assert_eq!(drbg.generate(&mut out, b""), Err(DrbgError::ReseedRequired));
        assert_eq!((drbg.v, out), (v, kept), "a refused request changes nothing");
        drbg.reseed(&[3; 32], b"").unwrap();
        assert_eq!(drbg.reseed_counter, 1);
        assert_eq!(drbg.generate(&mut out, b""), Ok(()));
    }

    #[test]
    fn nothing_comes_from_a_seed_that_was_wiped() {
        let mut drbg = HashDrbg::instantiate(&[1; 32], &[2; 16], b"").unwrap();
        drbg.zeroize();
        let mut out = [7; 7];
        assert_eq!(drbg.generate(&mut out, b""), Err(DrbgError::ReseedRequired));
        assert_eq!(drbg.generate(&mut out, b"more"), Err(DrbgError::ReseedRequired));
        assert_eq!((drbg.v, out), ([0; SEED_BYTES], [7; 7]));
        drbg.reseed(&[3; 32], b"").unwrap();
        assert_eq!(drbg.generate(&mut out, b""), Ok(()));
        assert_ne!(out, [7; 7]);
    }

    /// A case of `vectors/hash_drbg.json`, as the beginning of requests that are long enough to be hashed side by side.
    #[test]
    fn nists_outputs_begin_longer_requests() {
        fn bytes<const N: usize>(hex: &str) -> [u8; N] {
            core::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
        }
        let entropy: [u8; 32] = bytes("a65ad0f345db4e0effe875c3a2e71f42c7129d620ff5c119a9ef55f05185e0fb");
        let nonce: [u8; 16] = bytes("8581f9317517276e06e9607ddbcbcc2e");
        let expected: [u8; 128] = bytes(
            "d3e160c35b99f340b2628264d1751060e0045da383ff57a57d73a673d2b8d80daaf6a6c35a91bb4579d73fd0c8fed111\
             b0391306828adfed528f018121b3febdc343e797b87dbb63db1333ded9d1ece177cfa6b71fe8ab1da46624ed6415e51c\
             cde2c7ca86e283990eeaeb91120415528b2295910281b02dd431f4c9f70427df",
        );
        let mut drbg = HashDrbg::instantiate(&entropy, &nonce, b"").unwrap();
        let mut out = [0; 1000];
        drbg.generate(&mut out, b"").unwrap();
        drbg.generate(&mut out, b"").unwrap();
        assert_eq!(out[..128], expected);
    }

    /// Every length to more than four batches, and numbers that carry at every place of a batch.
    #[test]
    fn outputs_side_by_side_are_those_one_after_the_other() {
        let mut seeds = vec![[0; SEED_BYTES], [0xff; SEED_BYTES], [0x5a; SEED_BYTES]];
        for low in 0xffff_ffe0_u32..=0xffff_ffff {
            // The last 24 bits carry, and with every other number all above them too.
            let mut seed = [if low % 2 == 0 { 0xff } else { 0x7f }; SEED_BYTES];
            seed[SEED_BYTES - 4..].copy_from_slice(&low.to_be_bytes());
            seeds.push(seed);
        }
        let next = |v: &mut Seed| {
            for byte in v.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        };
        let plainly = |v: &Seed, outputs: usize| {
            let (mut data, mut out) = (*v, Vec::new());
            for _ in 0..outputs {
                out.extend_from_slice(&Sha256::digest(data));
                next(&mut data);
            }
            out
        };
        for isa in Isa::available() {
            assert_eq!(isa.lanes().is_some(), isa.name() == "avx512");
            for (i, v) in seeds.iter().enumerate() {
                let expected = plainly(v, 70);
                for len in (0..=expected.len()).step_by(if i < 3 { 1 } else { 79 }) {
                    let mut out = vec![0; len];
                    hashgen(isa.lanes(), v, &mut out);
                    assert_eq!(out, expected[..len], "{isa}, {len} bytes of {v:x?}");
                }
            }
        }
    }

    #[test]
    fn addition_carries_through_and_falls_off_the_end() {
        let mut v = [0xff; SEED_BYTES];
        add(&mut v, &[1]);
        assert_eq!(v, [0; SEED_BYTES]);
        v[0] = 7;
        v[1..].fill(0xff);
        add(&mut v, &[0xff; 8]);
        assert_eq!(v[0], 8);
        assert_eq!(v[47..], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]);
        assert!(v[1..47].iter().all(|&byte| byte == 0));
    }
}
