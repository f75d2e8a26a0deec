//! A suite that commits to its key, its nonce and its associated data.
//!
//! Plain GCM and OCB do not: an attacker who knows two keys can make one message that opens under both, to a different
//! text each (Dodis, Grubbs, Ristenpart and Woodage, "Fast Message Franking", 2018), and one who guesses passwords can
//! test many of them with one message (Len, Grubbs and Ristenpart, "Partitioning Oracle Attacks", 2021). Here each
//! message carries a commitment: 32 bytes that only its own key, nonce and associated data produce. Commitment and
//! message key are derived like those of a sealed file, in the manner of C2SP's chunked encryption:
//!
//! ```text
//! commitment (32) || message key = HKDF-Expand-SHA-512(
//!     PRK  = key,
//!     info = "SEALWRIGHT committing AEAD v1+" || AEAD name || 00 || nonce (24) || associated data,
//!     L    = 32 + key length of the suite)
//! ciphertext || tag (16) = AEAD-seal(message key, nonce = last 12 bytes of the nonce, ad = empty, text)
//! tag of the message (48) = commitment || tag
//! ```
//!
//! HKDF-Expand is that of RFC 5869, without Extract, because the key is uniformly random. L is at most 64, so that it
//! is one HMAC: `HMAC-SHA-512(key, info || 01)`, truncated to L bytes. AEAD names are those of IANA's registry if the
//! suite is in it ([`Suite::aead_name`]).
//!
//! **Why it commits.** `info` can be parsed in one way only, and all keys of a suite have the same length, so two
//! different triples of key, nonce and associated data are two different inputs of HMAC-SHA-512. If both gave one
//! commitment, the first 256 bits of the outputs would collide, which takes 2^128 work. The triple determines the
//! message key, which with ciphertext and tag determines the text. So a message and its tag belong to one key, one
//! nonce, one associated data and one text. This is CMT-4 of Bellare and Hoang ("Efficient Schemes for Committing
//! Authenticated Encryption", 2022), and the construction is an instance of their transform HtE: hash everything but
//! the text, then encrypt under the result.
//!
//! **Why it is secret and authentic.** HMAC-SHA-512 is a pseudorandom function: message keys are independent of each
//! other and of the commitments. Each is used for one nonce and associated data only.
//!
//! **Limits.** With random nonces, 2^80 messages contain a repeated one with a probability of 2^-32. The limit of AES
//! or Serpent under the message keys comes sooner: N l^2 <= 2^97 for N messages of l blocks, which is 2^77 of 16 KiB or
//! 2^33 of 64 GiB, and a twelfth of these in OCB. A nonce that is used twice with the same associated data does the
//! same harm as in the suite itself; with different associated data it does none. A message may be as long as the suite
//! allows. Associated data is hashed once with SHA-512, which is slower than the ciphers. Compared with the suite, each
//! message also takes the time of the derivation and of the set-up of its key.

use core::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha512;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{
    aead::{Aead, release},
    block::{
        Expanded,
        aes::{Aes, Key},
    },
    error::{KeyLengthError, OpenError, SealError},
    mode::gcm::{Aes128Gcm, Aes256Gcm, hashed},
    sealed::Sealed,
    simd::Isa,
    suite::Suite,
    tag::{Tag, same},
    wipe::{CleanStack, wipe},
};

/// The label of this construction in the key derivation.
const LABEL: &[u8] = b"SEALWRIGHT committing AEAD v1+";

/// A suite whose messages commit to key, nonce and associated data. See the [module](self).
///
/// ```
/// use sealwright::{Aead, committing::Committing, Suite};
///
/// let mine = Committing::new(Suite::Aes256Gcm, &[7; 32])?;
/// let theirs = Committing::new(Suite::Aes256Gcm, &[8; 32])?;
/// let nonce = [1; 24]; // random, fresh for every message: `RandomNonceKey::committing` sees to it
/// let mut text = *b"attack at dawn";
/// let tag = mine.seal_in_place(&nonce, b"header", &mut text)?;
/// assert!(mine.is_key_of(&nonce, b"header", tag.as_ref()));
/// assert!(!theirs.is_key_of(&nonce, b"header", tag.as_ref()));
/// mine.open_in_place(&nonce, b"header", &mut text, tag.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Committing {
    isa: Isa,
    suite: Suite,
    /// The suite's name, looked up once, so that no table look-up appears here when generated code is searched for
    /// them.
    name: &'static str,
    /// HMAC, already keyed. The hash states wipe themselves.
    prf: Hmac<Sha512>,
    _stack: CleanStack,
}

/// The commitment, the message key, and the unused rest of the hash.
struct Derived([u8; 64]);
wipe_on_drop!(Derived { 0: [0; 64] });

/// Length of a nonce in bytes.
pub const NONCE: usize = 24;
/// Length of a commitment in bytes. A tag begins with it.
pub const COMMITMENT: usize = 32;

impl Committing {
    /// `suite` under `key`, which must be uniformly random, at the best level of this machine.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key has [`Suite::key_len`] bytes.
    pub fn new(suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
        Self::at(Isa::best(), suite, key)
    }

    /// The same, at a level of your choice.
    ///
    /// # Errors
    /// Same as [`Committing::new`].
    pub fn at(isa: Isa, suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
        // Checks the key's length.
        drop(suite.aead_at(isa, key)?);
        // HMAC pads a key that is shorter than the hash's block with zeros: no length is refused.
        let mut block = Zeroizing::new([0; 128]);
        block[..key.len()].copy_from_slice(key);
        Ok(Committing { isa, suite, name: suite.aead_name(), prf: Hmac::new((&*block).into()), _stack: CleanStack })
    }

    /// Whether a message with this nonce, associated data and tag was sealed under this key, judged by its commitment
    /// alone: use it to find the right one of several keys. Only opening verifies the text.
    #[must_use]
    pub fn is_key_of(&self, nonce: &[u8], ad: &[u8], tag: &[u8]) -> bool {
        let Ok(nonce) = nonce.try_into() else { return false };
        tag.len() == self.tag_len() && same(self.derive(nonce, ad).commitment(), &tag[..COMMITMENT])
    }

    fn derive(&self, nonce: &[u8; NONCE], ad: &[u8]) -> Derived {
        let mut mac = self.prf.clone();
        // Not with `chain_update`, which would move the state each time.
        for part in [LABEL, self.name.as_bytes(), &[0], nonce, ad, &[1]] {
            mac.update(part);
        }
        let mut out = mac.finalize().into_bytes();
        let derived = Derived(out.into());
        wipe(out.as_mut_slice());
        derived
    }

    /// Runs `work` on the suite under the message key, prepared for this text.
    fn message<T>(&self, derived: &Derived, text: &mut [u8], work: impl FnOnce(&dyn Aead, &mut [u8]) -> T) -> T {
        let (isa, key) = (self.isa, &derived.0[COMMITMENT..][..self.suite.key_len()]);
        // A key of AES-GCM is made on the stack, with only as many powers of h as the text takes.
        match (self.suite, Key::new(key)) {
            (Suite::Aes128Gcm, Ok(Key::Aes128(key))) => {
                let mut gcm = Aes128Gcm::of_message(isa, Aes::with(Expanded::empty()));
                gcm.rekey_for(key, hashed(&[], text));
                work(&gcm, text)
            }
            (Suite::Aes256Gcm, Ok(Key::Aes256(key))) => {
                let mut gcm = Aes256Gcm::of_message(isa, Aes::with(Expanded::empty()));
                gcm.rekey_for(key, hashed(&[], text));
                work(&gcm, text)
            }
            _ => work(&*self.suite.aead_at(isa, key).expect("a message key has the suite's length"), text),
        }
    }
}

impl Derived {
    fn commitment(&self) -> &[u8] {
        &self.0[..COMMITMENT]
    }
}

// HMAC's states wipe themselves.
impl ZeroizeOnDrop for Committing {}

impl Sealed for Committing {}
impl Aead for Committing {
    fn tag_len(&self) -> usize {
        COMMITMENT + self.suite.tag_len()
    }

    fn nonce_len(&self) -> usize {
        NONCE
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        let nonce: &[u8; NONCE] = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        let derived = self.derive(nonce, ad);
        let tag = self.message(&derived, text, |aead, text| aead.seal_in_place(&nonce[NONCE - 12..], &[], text))?;
        let mut both = [0; COMMITMENT + 16];
        both[..COMMITMENT].copy_from_slice(derived.commitment());
        both[COMMITMENT..].copy_from_slice(tag.as_ref());
        Ok(Tag::new(&both))
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let Ok(nonce): Result<&[u8; NONCE], _> = nonce.try_into() else { return release(text, false) };
        let Some((commitment, tag)) = tag.split_at_checked(COMMITMENT) else { return release(text, false) };
        let derived = self.derive(nonce, ad);
        if !same(derived.commitment(), commitment) {
            return release(text, false);
        }
        self.message(&derived, text, |aead, text| aead.open_in_place(&nonce[NONCE - 12..], &[], text, tag))
    }
}

impl fmt::Debug for Committing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committing").field("isa", &self.isa).field("suite", &self.suite).finish_non_exhaustive()
    }
}
