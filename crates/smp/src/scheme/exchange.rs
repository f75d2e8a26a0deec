//! Before the first transfer: units agree on a key and on their first counters, by X25519.
//!
//! Every unit has a private key from manufacture and knows the public keys of its peers, as in the thesis (whose
//! 128-bit RSA keys are factored in milliseconds and whose senders are not authenticated). Static keys on both
//! sides prove the sender too: only two units can derive a pair's key. Unit 0 draws the group's key and encrypts it for
//! each peer; every unit encrypts its first counter for each peer.

use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use hkdf::Hkdf;
use sealwright::Suite;
use sha2::Sha256;
use zeroize::Zeroizing;

/// What the units hold after the exchange.
pub struct Exchange {
    /// The group's key.
    pub(crate) key: Zeroizing<[u8; 32]>,
    /// First counter of each ordered pair, `from * units + to`.
    pub(crate) counters: Vec<u64>,
    /// Bytes that travelled.
    pub bytes: u64,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange")
            .field("pairs", &self.counters.len())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Derives the keys and random values of the simulated units from the seed, so that runs are reproducible.
pub(crate) fn derive<const N: usize>(seed: u64, what: &str, unit: usize) -> Zeroizing<[u8; N]> {
    let mut out = Zeroizing::new([0; N]);
    let info = [what.as_bytes(), &(unit as u64).to_be_bytes()].concat();
    let source = Hkdf::<Sha256>::new(Some(b"sealwright smp"), &seed.to_be_bytes());
    source.expand(&info, out.as_mut()).expect("a key is shorter than HKDF's limit");
    out
}

impl Exchange {
    /// Runs the exchange between `units` units. Where `shared` is set, a unit sends every peer the same counter, as the
    /// thesis says.
    pub(crate) fn run(units: usize, seed: u64, shared: bool) -> Exchange {
        let private: Vec<PrivateKey> = (0..units)
            .map(|unit| {
                let bytes = derive::<32>(seed, "private key", unit);
                PrivateKey::from_private_key(&X25519, bytes.as_ref()).expect("any 32 bytes are a key of X25519")
            })
            .collect();
        let public: Vec<_> =
            private.iter().map(|key| key.compute_public_key().expect("a private key has a public one")).collect();
        let pair = |from: usize, mine: usize, theirs: usize, to: usize| {
            let peer = UnparsedPublicKey::new(&X25519, public[theirs].as_ref());
            let mut key = Zeroizing::new([0; 32]);
            let info = [from as u8, to as u8];
            let derived: Result<(), aws_lc_rs::error::Unspecified> =
                agree(&private[mine], peer, aws_lc_rs::error::Unspecified, |secret| {
                    let source = Hkdf::<Sha256>::new(Some(b"sealwright smp pair"), secret);
                    source.expand(&info, key.as_mut()).map_err(|_| aws_lc_rs::error::Unspecified)
                });
            derived.expect("units hold keys of the same curve");
            Suite::Aes256Gcm.aead(key.as_ref()).expect("32 bytes are the suite's key length")
        };
        let group = derive::<32>(seed, "group key", 0);
        let mut keys = vec![group.clone(); units];
        let mut counters = vec![0; units * units];
        let mut bytes = 0;
        for from in 0..units {
            let own = first_counter(seed, from);
            for to in (0..units).filter(|to| *to != from) {
                let counter = if shared { own } else { first_counter(seed, from * units + to) };
                let mut text = Zeroizing::new([0; 40]);
                text[..8].copy_from_slice(&counter.to_be_bytes());
                if from == 0 {
                    text[8..].copy_from_slice(group.as_ref());
                }
                let len = if from == 0 { 40 } else { 8 };
                let sealer = pair(from, from, to, to);
                let tag = sealer.seal_in_place(&[0; 12], b"", &mut text[..len]).expect("a short text seals");
                // On the other side
                let opener = pair(from, to, from, to);
                opener.open_in_place(&[0; 12], b"", &mut text[..len], tag.as_ref()).expect("both derive one key");
                let mut first = [0; 8];
                first.copy_from_slice(&text[..8]);
                counters[from * units + to] = u64::from_be_bytes(first);
                if from == 0 {
                    keys[to].copy_from_slice(&text[8..]);
                }
                bytes += (len + tag.as_ref().len()) as u64;
            }
        }
        let key = keys.pop().unwrap_or(group);
        Exchange { key, counters, bytes }
    }
}

/// A first counter: 32 random bits, which leave at least 2^64 - 2^32 transfers until the counter ends.
fn first_counter(seed: u64, unit: usize) -> u64 {
    u64::from(u32::from_be_bytes(*derive::<4>(seed, "first counter", unit)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn everybody_ends_with_one_key_and_counters_of_their_own() {
        let exchange = Exchange::run(4, 7, false);
        assert_eq!(exchange.key, derive::<32>(7, "group key", 0));
        let mut counters: Vec<_> = (0..16).filter(|i| i % 5 != 0).map(|i| exchange.counters[i]).collect();
        counters.sort_unstable();
        counters.dedup();
        assert_eq!(counters.len(), 12);
        // 12 encrypted counters, 3 of them with the key
        assert_eq!(exchange.bytes, 12 * 24 + 3 * 32);
        let shared = Exchange::run(4, 7, true);
        assert_eq!(shared.counters[1], shared.counters[2]);
        assert_ne!(shared.counters[1], shared.counters[4]);
    }
}
