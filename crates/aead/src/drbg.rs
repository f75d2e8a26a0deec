//! Random bits from a seed: Hash_DRBG over SHA-256 (NIST SP 800-90A revision 1, 10.1.1), at security strength 256.
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
//! The caller supplies the entropy: these slices take the place of the standard's Get_entropy_input.

use core::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// Bytes of the state's V and C: seedlen, 440 bits (table 2).
pub const SEED_BYTES: usize = 55;
/// The most bytes one request gives: 2^19 bits (table 2).
pub const MAX_REQUEST: usize = 1 << 16;
/// Requests between two reseeds, at most (table 2).
pub const MAX_REQUESTS: u64 = 1 << 48;
/// The least entropy, in bytes: the security strength (8.6.4).
pub const MIN_ENTROPY: usize = 32;
/// The least nonce, in bytes: half the security strength (8.6.7).
pub const MIN_NONCE: usize = 16;
/// The longest entropy, personalization or additional input, in bytes: 2^35 bits (table 2).
pub const MAX_INPUT: u64 = 1 << 32;

/// A number of [`SEED_BYTES`] bytes, big endian.
pub(crate) type Seed = [u8; SEED_BYTES];

/// One instantiation of Hash_DRBG. Not `Clone`: a copy would give the same bits again.
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
    /// Requests since the last seed, and one.
    reseed_counter: u64,
}
wipe_on_drop!(HashDrbg { v: [0; SEED_BYTES], c: [0; SEED_BYTES], reseed_counter: 0 });

/// Why Hash_DRBG gave nothing.
///
/// ```
/// use sealwright::drbg::{DrbgError, HashDrbg};
///
/// assert_eq!(HashDrbg::instantiate(&[1; 16], &[2; 16], b"").err(), Some(DrbgError::EntropyTooShort));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrbgError {
    /// Less entropy than [`MIN_ENTROPY`].
    EntropyTooShort,
    /// A nonce shorter than [`MIN_NONCE`].
    NonceTooShort,
    /// An input longer than [`MAX_INPUT`].
    InputTooLong,
    /// A request for more than [`MAX_REQUEST`].
    RequestTooLong,
    /// [`MAX_REQUESTS`] were answered from this seed.
    ReseedRequired,
}

impl fmt::Display for DrbgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DrbgError::EntropyTooShort => "less than 32 bytes of entropy",
            DrbgError::NonceTooShort => "a nonce of less than 16 bytes",
            DrbgError::InputTooLong => "an input of more than 2^35 bits",
            DrbgError::RequestTooLong => "a request for more than 2^19 bits",
            DrbgError::ReseedRequired => "2^48 requests were answered: a new seed is needed",
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
    /// When an input is shorter or longer than the standard allows.
    pub fn instantiate(entropy: &[u8], nonce: &[u8], personalization: &[u8]) -> Result<Self, DrbgError> {
        entropic(entropy)?;
        if nonce.len() < MIN_NONCE {
            return Err(DrbgError::NonceTooShort);
        }
        bounded(nonce)?;
        bounded(personalization)?;
        Ok(Self::from_seed_material(&[entropy, nonce, personalization]))
    }

    /// The state that a seed of its own length would have if it were V: not the standard's instantiation, but what
    /// [`rkc`](crate::mode::rkc) makes of its seed.
    pub(crate) fn from_v(v: &Seed) -> Self {
        HashDrbg { v: *v, c: constant(v), reseed_counter: 1 }
    }

    /// Hash_df of the seed material becomes V (10.1.1.2, steps 2 to 5; 10.1.1.3, steps 2 to 5).
    pub(crate) fn from_seed_material(material: &[&[u8]]) -> Self {
        Self::from_v(&hash_df(material))
    }

    /// Takes fresh entropy in (10.1.1.3).
    ///
    /// # Errors
    /// When an input is shorter or longer than the standard allows; the state is then as it was.
    pub fn reseed(&mut self, entropy: &[u8], additional: &[u8]) -> Result<(), DrbgError> {
        entropic(entropy)?;
        bounded(additional)?;
        *self = Self::from_seed_material(&[&[1], &self.v, entropy, additional]);
        Ok(())
    }

    /// Fills `out` (10.1.1.4).
    ///
    /// # Errors
    /// When the request or the input is too long, or a new seed is due; `out` and the state are then as they were.
    pub fn generate(&mut self, out: &mut [u8], additional: &[u8]) -> Result<(), DrbgError> {
        if out.len() > MAX_REQUEST {
            return Err(DrbgError::RequestTooLong);
        }
        if self.reseed_counter > MAX_REQUESTS {
            return Err(DrbgError::ReseedRequired);
        }
        bounded(additional)?;
        if !additional.is_empty() {
            let w = Sha256::new().chain_update([2]).chain_update(self.v).chain_update(additional).finalize();
            add(&mut self.v, &w);
        }
        self.hashgen(out);
        let h = Sha256::new().chain_update([3]).chain_update(self.v).finalize();
        add(&mut self.v, &h);
        add(&mut self.v, &self.c);
        add(&mut self.v, &self.reseed_counter.to_be_bytes());
        self.reseed_counter += 1;
        Ok(())
    }

    /// Fills `out` with prediction resistance: takes fresh entropy in first (9.3.1, step 7).
    ///
    /// # Errors
    /// As of [`HashDrbg::reseed`] and [`HashDrbg::generate`]; `out` and the state are then as they were.
    pub fn generate_fresh(&mut self, entropy: &[u8], out: &mut [u8], additional: &[u8]) -> Result<(), DrbgError> {
        if out.len() > MAX_REQUEST {
            return Err(DrbgError::RequestTooLong);
        }
        // The additional input goes into the reseed and not into the request again.
        self.reseed(entropy, additional)?;
        self.generate(out, &[])
    }

    /// Hashes V, V + 1, V + 2, … (10.1.1.4, Hashgen).
    fn hashgen(&self, out: &mut [u8]) {
        let mut data = self.v;
        for out in out.chunks_mut(32) {
            out.copy_from_slice(&Sha256::digest(data)[..out.len()]);
            add(&mut data, &[1]);
        }
        data.zeroize();
    }
}

/// C of V: Hash_df(0x00 || V).
fn constant(v: &Seed) -> Seed {
    hash_df(&[&[0], v])
}

/// Derives [`SEED_BYTES`] from any bytes (10.3.1).
fn hash_df(input: &[&[u8]]) -> Seed {
    let mut seed = [0; SEED_BYTES];
    for (out, counter) in seed.chunks_mut(32).zip(1u8..) {
        let mut hash = Sha256::new().chain_update([counter]).chain_update((8 * SEED_BYTES as u32).to_be_bytes());
        for part in input {
            hash.update(part);
        }
        out.copy_from_slice(&hash.finalize()[..out.len()]);
    }
    seed
}

/// Adds a shorter number, modulo 2^440; all big endian.
fn add(v: &mut Seed, n: &[u8]) {
    let mut carry = 0;
    let padded = n.iter().rev().copied().chain(core::iter::repeat(0));
    for (v, n) in v.iter_mut().rev().zip(padded) {
        let sum = u16::from(*v) + u16::from(n) + carry;
        *v = sum as u8;
        carry = sum >> 8;
    }
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
