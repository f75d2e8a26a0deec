//! Suites by name: a cipher, a mode and their lengths.

use alloc::boxed::Box;
use core::{fmt, str::FromStr};

#[cfg(feature = "serpent")]
use crate::block::serpent::Serpent;
#[cfg(feature = "chacha")]
use crate::mode::chacha::ChaCha20Poly1305;
use crate::{
    aead::{Aead, release, same_length},
    error::{KeyLengthError, OpenError, SealError},
    sealed::Sealed,
    simd::Isa,
    tag::Tag,
};
#[cfg(feature = "ocb")]
use crate::{
    block::aes::BothWays,
    mode::ocb::{self, Ocb},
};
#[cfg(feature = "gcm")]
use crate::{
    block::{Expanded, OnTheFly, RoundKeys, aes::Aes},
    ghash::{Clmul, Ghash},
    mode::gcm::{self, Gcm},
};

/// A named choice of cipher, mode and lengths.
///
/// ```
/// use sealwright::{Aead, Suite};
///
/// let suite: Suite = "aes-256-gcm".parse()?;
/// assert_eq!((suite.key_len(), suite.nonce_len(), suite.tag_len()), (32, 12, 16));
/// let aead = suite.aead(&[7; 32])?;
/// let mut text = *b"attack at dawn";
/// let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
/// assert!(suite.aead(&[7; 31]).is_err()); // a key of another length
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suite {
    /// AES with a 128-bit key in Galois/Counter Mode (SP 800-38D).
    #[cfg(feature = "gcm")]
    Aes128Gcm,
    /// AES with a 256-bit key in Galois/Counter Mode (SP 800-38D): the default.
    #[cfg(feature = "gcm")]
    Aes256Gcm,
    /// ChaCha20-Poly1305 (RFC 8439), for processors without AES instructions.
    #[cfg(feature = "chacha")]
    ChaCha20Poly1305,
    /// AES with a 128-bit key in OCB3 (RFC 7253).
    #[cfg(feature = "ocb")]
    Aes128Ocb,
    /// AES with a 256-bit key in OCB3 (RFC 7253).
    #[cfg(feature = "ocb")]
    Aes256Ocb,
    /// Serpent with a 256-bit key in Galois/Counter Mode.
    #[cfg(all(feature = "serpent", feature = "gcm"))]
    Serpent256Gcm,
    /// Serpent with a 256-bit key in OCB3.
    #[cfg(all(feature = "serpent", feature = "ocb"))]
    Serpent256Ocb,
}

/// The given name is not that of a suite.
///
/// ```
/// use sealwright::Suite;
///
/// let error = "aes-256-cbc".parse::<Suite>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown suite; known are aes-128-gcm, aes-256-gcm"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSuiteError;

impl fmt::Display for UnknownSuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown suite; known are")?;
        for (i, suite) in Suite::ALL.iter().enumerate() {
            write!(f, "{}{suite}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}
impl core::error::Error for UnknownSuiteError {}

/// The properties of a suite.
struct Facts {
    id: u8,
    name: &'static str,
    aead_name: &'static str,
    key_len: usize,
}

impl Suite {
    /// Every suite enabled in this build, ordered by number.
    pub const ALL: &'static [Suite] = &[
        #[cfg(feature = "gcm")]
        Suite::Aes128Gcm,
        #[cfg(feature = "gcm")]
        Suite::Aes256Gcm,
        #[cfg(feature = "ocb")]
        Suite::Aes128Ocb,
        #[cfg(feature = "ocb")]
        Suite::Aes256Ocb,
        #[cfg(feature = "chacha")]
        Suite::ChaCha20Poly1305,
        #[cfg(all(feature = "serpent", feature = "gcm"))]
        Suite::Serpent256Gcm,
        #[cfg(all(feature = "serpent", feature = "ocb"))]
        Suite::Serpent256Ocb,
    ];

    const fn facts(self) -> Facts {
        let (id, name, aead_name, key_len) = match self {
            #[cfg(feature = "gcm")]
            Suite::Aes128Gcm => (1, "aes-128-gcm", "AEAD_AES_128_GCM", 16),
            #[cfg(feature = "gcm")]
            Suite::Aes256Gcm => (2, "aes-256-gcm", "AEAD_AES_256_GCM", 32),
            #[cfg(feature = "ocb")]
            Suite::Aes128Ocb => (20, "aes-128-ocb", "AEAD_AES_128_OCB_TAGLEN128", 16),
            #[cfg(feature = "ocb")]
            Suite::Aes256Ocb => (26, "aes-256-ocb", "AEAD_AES_256_OCB_TAGLEN128", 32),
            #[cfg(feature = "chacha")]
            Suite::ChaCha20Poly1305 => (29, "chacha20-poly1305", "AEAD_CHACHA20_POLY1305", 32),
            #[cfg(all(feature = "serpent", feature = "gcm"))]
            Suite::Serpent256Gcm => (128, "serpent-256-gcm", "SEALWRIGHT_SERPENT_256_GCM", 32),
            #[cfg(all(feature = "serpent", feature = "ocb"))]
            Suite::Serpent256Ocb => (129, "serpent-256-ocb", "SEALWRIGHT_SERPENT_256_OCB_TAGLEN128", 32),
        };
        Facts { id, name, aead_name, key_len }
    }

    /// The suite's number, as the preamble of a sealed file stores it: the one in IANA's registry of AEAD algorithms
    /// (RFC 5116, RFC 7253, RFC 8439) if there is one, otherwise a number of 128 or more.
    pub fn id(self) -> u8 {
        self.facts().id
    }

    /// The suite with this number, if it is enabled in this build.
    pub fn from_id(id: u8) -> Option<Suite> {
        Suite::ALL.iter().copied().find(|suite| suite.id() == id)
    }

    /// The name on command lines: `aes-256-gcm`.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The suite's name as it enters key derivations: the one in IANA's registry if there is one.
    pub fn aead_name(self) -> &'static str {
        self.facts().aead_name
    }

    /// Key length in bytes.
    pub fn key_len(self) -> usize {
        self.facts().key_len
    }

    /// Nonce length in bytes, as files and [`Sealer`](crate::Sealer) use it.
    pub fn nonce_len(self) -> usize {
        12
    }

    /// Tag length in bytes.
    pub fn tag_len(self) -> usize {
        16
    }

    /// The most blocks that one key may process, including those of associated data and tags, if the standard has a
    /// limit: 2^48 in OCB (RFC 7253, section 5).
    pub(crate) fn most_blocks(self) -> Option<u64> {
        #[cfg(feature = "ocb")]
        if matches!(self, Suite::Aes128Ocb | Suite::Aes256Ocb) {
            return Some(ocb::MAX_BLOCKS);
        }
        #[cfg(all(feature = "serpent", feature = "ocb"))]
        if matches!(self, Suite::Serpent256Ocb) {
            return Some(ocb::MAX_BLOCKS);
        }
        None
    }

    /// This suite under `key`, at the best level of this machine. It accepts nonces of [`Suite::nonce_len`] bytes only;
    /// the modes themselves ([`mode`](crate::mode)) accept every length that their standards allow.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key has [`Suite::key_len`] bytes.
    #[inline(always)]
    pub fn aead(self, key: &[u8]) -> Result<Box<dyn Aead>, KeyLengthError> {
        self.aead_at(Isa::best(), key)
    }

    /// This suite under `key`, at a level of your choice.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key has [`Suite::key_len`] bytes.
    #[inline(always)]
    pub fn aead_at(self, isa: Isa, key: &[u8]) -> Result<Box<dyn Aead>, KeyLengthError> {
        // Inlined, so that a program that names one suite does not contain the code of the others.
        match self {
            #[cfg(feature = "gcm")]
            Suite::Aes128Gcm => aes128_gcm(isa, key),
            #[cfg(feature = "gcm")]
            Suite::Aes256Gcm => aes256_gcm(isa, key),
            #[cfg(feature = "ocb")]
            Suite::Aes128Ocb => aes128_ocb(isa, key),
            #[cfg(feature = "ocb")]
            Suite::Aes256Ocb => aes256_ocb(isa, key),
            #[cfg(feature = "chacha")]
            Suite::ChaCha20Poly1305 => chacha20_poly1305(isa, key),
            #[cfg(all(feature = "serpent", feature = "gcm"))]
            Suite::Serpent256Gcm => serpent256_gcm(isa, key),
            #[cfg(all(feature = "serpent", feature = "ocb"))]
            Suite::Serpent256Ocb => serpent256_ocb(isa, key),
        }
    }
}

type Made = Result<Box<dyn Aead>, KeyLengthError>;

#[cfg(feature = "gcm")]
fn aes128_gcm(isa: Isa, key: &[u8]) -> Made {
    aes_gcm::<16, 11>(isa, key)
}

#[cfg(feature = "gcm")]
fn aes256_gcm(isa: Isa, key: &[u8]) -> Made {
    aes_gcm::<32, 15>(isa, key)
}

#[cfg(feature = "ocb")]
fn aes128_ocb(isa: Isa, key: &[u8]) -> Made {
    let key = sized(key)?;
    let mut boxed = Box::write(Box::new_uninit(), Fixed(Ocb::<BothWays<11>>::unfilled(isa, ocb::TagLen::T16)));
    boxed.0.rekey(key);
    Ok(boxed)
}

#[cfg(feature = "ocb")]
fn aes256_ocb(isa: Isa, key: &[u8]) -> Made {
    let key = sized(key)?;
    let mut boxed = Box::write(Box::new_uninit(), Fixed(Ocb::<BothWays<15>>::unfilled(isa, ocb::TagLen::T16)));
    boxed.0.rekey(key);
    Ok(boxed)
}

#[cfg(feature = "chacha")]
fn chacha20_poly1305(isa: Isa, key: &[u8]) -> Made {
    Ok(Box::new(ChaCha20Poly1305::at(isa, sized(key)?)))
}

#[cfg(all(feature = "serpent", feature = "gcm"))]
fn serpent256_gcm(isa: Isa, key: &[u8]) -> Made {
    // The key is moved here, round keys included.
    Ok(Box::new(Fixed(Gcm::<_, Clmul>::new(isa, Serpent::new(sized::<32>(key)?)?, gcm::TagLen::T16))))
}

#[cfg(all(feature = "serpent", feature = "ocb"))]
fn serpent256_ocb(isa: Isa, key: &[u8]) -> Made {
    Ok(Box::new(Fixed(Ocb::new(isa, Serpent::new(sized::<32>(key)?)?, ocb::TagLen::T16))))
}

/// A mode restricted to the suites' nonces of 12 bytes.
struct Fixed<A>(A);

#[cfg(feature = "gcm")]
#[inline(always)]
fn aes_gcm<const BYTES: usize, const KEYS: usize>(isa: Isa, key: &[u8]) -> Made
where
    OnTheFly<BYTES>: RoundKeys,
{
    let schedule = OnTheFly::<BYTES>::new(sized(key)?);
    let empty = Aes::with(Expanded::<KEYS>::empty());
    // The memory is allocated first, so that the key is computed in place.
    let mut boxed = Box::write(Box::new_uninit(), Fixed(Gcm::<_, Clmul>::unfilled(isa, empty, gcm::TagLen::T16)));
    boxed.0.set_up(<Clmul>::GROUP, |aes| aes.round_keys_mut().expand(isa, &schedule));
    Ok(boxed)
}

impl<A: fmt::Debug> fmt::Debug for Fixed<A> {
    /// The mode's output, which contains no secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<A: Aead> Sealed for Fixed<A> {}
impl<A: Aead> Aead for Fixed<A> {
    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        let nonce: &[u8; 12] = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        self.0.seal_in_place(nonce, ad, text)
    }

    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let nonce: &[u8; 12] = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        self.0.seal_message(nonce, ad, message)
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        match <&[u8; 12]>::try_from(nonce) {
            Ok(nonce) => self.0.open_in_place(nonce, ad, text, tag),
            Err(_) => release(text, false),
        }
    }

    fn seal_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut [u8]) -> Result<Tag, SealError> {
        same_length(text, out);
        match <&[u8; 12]>::try_from(nonce) {
            Ok(nonce) => self.0.seal_to(nonce, ad, text, out),
            Err(_) => {
                out.fill(0);
                Err(SealError::NonceLength)
            }
        }
    }

    fn open_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], tag: &[u8], out: &mut [u8]) -> Result<(), OpenError> {
        same_length(text, out);
        match <&[u8; 12]>::try_from(nonce) {
            Ok(nonce) => self.0.open_to(nonce, ad, text, tag, out),
            Err(_) => release(out, false),
        }
    }
}

/// The key, if it has `LEN` bytes.
fn sized<const LEN: usize>(key: &[u8]) -> Result<&[u8; LEN], KeyLengthError> {
    key.try_into().map_err(|_| KeyLengthError::new(const { &[LEN] }, key.len()))
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Suite {
    type Err = UnknownSuiteError;
    fn from_str(name: &str) -> Result<Self, UnknownSuiteError> {
        Suite::ALL.iter().copied().find(|suite| suite.name().eq_ignore_ascii_case(name)).ok_or(UnknownSuiteError)
    }
}
