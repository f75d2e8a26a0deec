//! A suite that commits to its key, its nonce and its associated data.
//!
//! GCM and OCB do not: who knows two keys makes one message that opens under both, each time to another text (Dodis, Grubbs,
//! Ristenpart and Woodage, "Fast Message Franking", 2018), and who guesses passwords tests many of them with one message
//! (Len, Grubbs and Ristenpart, "Partitioning Oracle Attacks", 2021). Here each message carries 32 bytes that only its own key,
//! nonce and associated data give. They are derived as those of a sealed file are, in the manner of C2SP's chunked encryption:
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
//! HKDF-Expand is that of RFC 5869, without Extract: the key is uniformly random. L is at most 64, so that it is one HMAC:
//! `HMAC-SHA-512(key, info || 01)`, cut to L bytes. The AEAD names are those of IANA's registry where it has one
//! ([`Suite::aead_name`]).
//!
//! **Why it commits.** `info` can be read in one way only, and keys of one suite have one length, so two different triples of
//! key, nonce and associated data are two different inputs of HMAC-SHA-512. If both gave one commitment, its first 256 bits would
//! collide: 2^128 work. With the triple the message key is fixed, with it the text. So a message and its
//! tag belong to one key, one nonce, one associated data and one text: CMT-4 of Bellare and Hoang ("Efficient Schemes for
//! Committing Authenticated Encryption", 2022), of whose transform HtE this is an instance: hash all but the text,
//! encrypt under what comes out.
//!
//! **Why it is secret and authentic.** HMAC-SHA-512 is a pseudorandom function: message keys are independent of each other and of
//! the commitments. Each serves one nonce and associated data.
//!
//! **Limits.** 2^80 messages with random nonces repeat one with a probability of 2^-32. Before that comes the limit of AES or Serpent under
//! the messages' keys: N l^2 <= 2^97 for N messages of l blocks, 2^77 of 16 KiB or 2^33 of 64 GiB, and a twelfth of these in OCB. A nonce
//! that serves twice with the same associated data is as bad as in the suite itself; with another it does no harm. One message is as long as
//! the suite allows. Associated data passes through SHA-512, which is slower than the ciphers, once. A message takes
//! longer than one of the suite by the derivation and by the set-up of the message key.

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

/// Names the construction in the key derivation.
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
    /// The suite's name, looked up once: whoever searches generated code for tables then finds none here.
    name: &'static str,
    /// HMAC with the key taken in: the hash states wipe themselves.
    prf: Hmac<Sha512>,
    _stack: CleanStack,
}

/// Commitment and message key, and what is left of the hash.
struct Derived([u8; 64]);
wipe_on_drop!(Derived { 0: [0; 64] });

/// Bytes of a nonce.
pub const NONCE: usize = 24;
/// Bytes of a commitment, with which a tag begins.
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
        // The suite knows which keys are its own.
        drop(suite.aead_at(isa, key)?);
        // A key shorter than the hash's block is filled up with zero: no length is refused.
        let mut block = Zeroizing::new([0; 128]);
        block[..key.len()].copy_from_slice(key);
        Ok(Committing { isa, suite, name: suite.aead_name(), prf: Hmac::new((&*block).into()), _stack: CleanStack })
    }

    /// Whether a message with this nonce, associated data and tag was sealed under this key, as far as its commitment tells:
    /// to find the right one of several keys. Only opening tells whether the text is authentic.
    #[must_use]
    pub fn is_key_of(&self, nonce: &[u8], ad: &[u8], tag: &[u8]) -> bool {
        let Ok(nonce) = nonce.try_into() else { return false };
        tag.len() == self.tag_len() && same(self.derive(nonce, ad).commitment(), &tag[..COMMITMENT])
    }

    fn derive(&self, nonce: &[u8; NONCE], ad: &[u8]) -> Derived {
        let mut mac = self.prf.clone();
        // Not `chain_update`, which moves the state each time.
        for part in [LABEL, self.name.as_bytes(), &[0], nonce, ad, &[1]] {
            mac.update(part);
        }
        let mut out = mac.finalize().into_bytes();
        let derived = Derived(out.into());
        wipe(out.as_mut_slice());
        derived
    }

    /// Lets `work` have the suite under the message key, for this text.
    fn message<T>(&self, derived: &Derived, text: &mut [u8], work: impl FnOnce(&dyn Aead, &mut [u8]) -> T) -> T {
        let (isa, key) = (self.isa, &derived.0[COMMITMENT..][..self.suite.key_len()]);
        // A key of AES-GCM takes no memory but the stack, and no more powers of h than the text does.
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
