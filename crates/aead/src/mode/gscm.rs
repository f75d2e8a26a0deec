//! Galois Substitution Counter Mode (El-Fotouh and Diepold, "The Analysis of Galois Substitution Counter Mode", 2009):
//! GCM for very many clients, each with a key of 32 bytes.
//!
//! The block cipher is AES2S ([`aes2s`]). The clients of a cluster share its key schedule; each client replaces two of
//! the round keys with its own. A counter block is a nonce of 12 bytes (the paper's nonce of 4 and its IV of 8)
//! followed by a counter of 32 bits, which is 1 for the block that masks the tag.
//!
//! * `ResearchOnlyCluster` (feature `research`) is GSCM as printed in the paper, where clients also share the GHASH
//!   key. **Broken against members of the cluster**: with one packet of another client a member can forge; 256 packets,
//!   or one known text of 8,160 bytes, yield that client's keys with AES-128.
//! * [`Cluster`] is the hardened GSCM-H: K2 replaces the last round key, and each client has a GHASH key of its own,
//!   its encryption of the zero block. Even so, members of a cluster are better placed to attack than outsiders:
//!   `docs/GSCM.md` gives the bounds.
//!
//! ```
//! use sealwright::{Aead, Isa, block::{aes::Aes128, aes2s::SecondaryKeys}, ghash::Clmul, mode::gscm::Cluster};
//!
//! let cluster = Cluster::new(Isa::best(), Aes128::new(Isa::best(), &[7; 16])); // once, for all clients
//! let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
//! let ghash: Clmul = cluster.hash_key(&keys); // kept, or made anew for each packet
//! let mut text = *b"to client 1";
//! cluster.client(&keys, &ghash).seal_in_place(&[0; 12], b"header", &mut text)?;
//! # Ok::<(), sealwright::SealError>(())
//! ```

use alloc::boxed::Box;
use core::{
    fmt,
    ops::Deref,
    panic::{RefUnwindSafe, UnwindSafe},
};

use zeroize::ZeroizeOnDrop;

use super::gcm;
#[cfg(doc)]
use crate::block::aes2s;
#[cfg(feature = "research")]
use crate::block::aes2s::AsPrinted;
use crate::{
    aead::{Aead, release, text_len},
    block::{
        BlockCipher, Expanded,
        aes::{Aes, Aes128, Aes192, Aes256, Key},
        aes2s::{Aes2s, K2Position, LastRound, SecondaryKeys},
    },
    error::{KeyLengthError, OpenError, SealError},
    ghash::{Clmul, Ghash},
    sealed::Sealed,
    simd::Isa,
    tag::{Tag, Whole},
    wipe::CleanStack,
};

/// Bytes of a nonce: the paper's nonce of 4 and its IV of 8.
pub const NONCE: usize = 12;
/// Bytes of a tag.
pub const TAG: usize = 16;

/// **Research only: broken against members of the cluster.** What the clients of a cluster share in one direction in
/// the paper: the key schedule and the GHASH key. (The paper calls them E_c and T_c1, or D_c and T_c2.)
///
/// ```
/// use sealwright::{Aead, Isa, block::{aes::Aes128, aes2s::SecondaryKeys}, ghash::Clmul, mode::gscm::ResearchOnlyCluster};
///
/// let isa = Isa::best();
/// let cluster = ResearchOnlyCluster::<11, Clmul>::new(isa, Aes128::new(isa, &[7; 16]));
/// let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
/// let mut text = *b"to client 1"; // which every client of the cluster can forge
/// cluster.client(&keys).seal_in_place(&[0; 12], b"header", &mut text)?;
/// # Ok::<(), sealwright::SealError>(())
/// ```
#[cfg(feature = "research")]
#[derive(Clone)]
pub struct ResearchOnlyCluster<const KEYS: usize, G> {
    isa: Isa,
    schedule: Aes<Expanded<KEYS>>,
    ghash: G,
    _stack: CleanStack,
}

/// What the clients of a GSCM-H cluster share in one direction: the key schedule.
///
/// ```
/// use sealwright::{Isa, block::{aes::Aes256, aes2s::SecondaryKeys}, ghash::{Clmul, Ghash}, mode::gscm::Cluster};
///
/// let isa = Isa::best();
/// let cluster = Cluster::new(isa, Aes256::new(isa, &[7; 32]));
/// let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] }; // all that a client takes
/// let ghash: Clmul<44> = cluster.hash_key(&keys); // unless its GHASH key is kept too
/// assert_eq!((size_of_val(&keys), <Clmul<44>>::STATE_BYTES > 1000), (32, true));
/// ```
#[derive(Clone)]
pub struct Cluster<const KEYS: usize> {
    isa: Isa,
    schedule: Aes<Expanded<KEYS>>,
    _stack: CleanStack,
}

/// One client's GCM: the cipher `C`, which is AES2S with the client's keys, and `G`, a reference to a GHASH key.
///
/// ```
/// use sealwright::{Aead, Isa, block::{aes::Aes128, aes2s::SecondaryKeys}, ghash::Clmul, mode::gscm::Cluster};
///
/// let cluster = Cluster::new(Isa::best(), Aes128::new(Isa::best(), &[7; 16]));
/// let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
/// let ghash: Clmul = cluster.hash_key(&keys);
/// let client = cluster.client(&keys, &ghash); // an `Aead` for one packet or many
/// let mut text = *b"to client 1";
/// let tag = client.seal_in_place(&[0; 12], b"header", &mut text)?;
/// client.open_in_place(&[0; 12], b"header", &mut text, tag.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client<C, G> {
    isa: Isa,
    cipher: C,
    ghash: G,
}

/// **Research only: broken against members of the cluster.** A client as in the paper, borrowing from its cluster and
/// its record.
#[cfg(feature = "research")]
pub type ResearchOnlyGscm<'a, const KEYS: usize, G> = Client<Aes2s<'a, KEYS, AsPrinted>, &'a G>;
/// A client of GSCM-H, borrowing from its cluster and its record.
pub type GscmH<'a, const KEYS: usize, G> = Client<Aes2s<'a, KEYS, LastRound>, &'a G>;

#[cfg(feature = "research")]
impl<const KEYS: usize, G: Ghash> ResearchOnlyCluster<KEYS, G> {
    /// Bytes stored for a cluster in one direction.
    pub const STATE_BYTES: usize = size_of::<Aes<Expanded<KEYS>>>() + G::STATE_BYTES;

    /// The cluster whose main key was expanded to `schedule`.
    pub fn new(isa: Isa, schedule: Aes<Expanded<KEYS>>) -> Self {
        let ghash = gcm::hash_key(isa, &schedule);
        ResearchOnlyCluster { isa, schedule, ghash, _stack: CleanStack }
    }

    /// The client with these keys.
    #[inline]
    pub fn client<'a>(&'a self, keys: &'a SecondaryKeys) -> ResearchOnlyGscm<'a, KEYS, G> {
        Client { isa: self.isa, cipher: self.schedule.substituted(keys), ghash: &self.ghash }
    }
}

impl<const KEYS: usize> Cluster<KEYS> {
    /// Bytes stored for a cluster in one direction.
    pub const STATE_BYTES: usize = size_of::<Aes<Expanded<KEYS>>>();

    /// The cluster whose main key was expanded to `schedule`.
    pub fn new(isa: Isa, schedule: Aes<Expanded<KEYS>>) -> Self {
        Cluster { isa, schedule, _stack: CleanStack }
    }

    /// The GHASH key of the client with these keys. It can be stored, which takes `G::STATE_BYTES` of memory, or
    /// recomputed for each packet, which takes time.
    pub fn hash_key<G: Ghash>(&self, keys: &SecondaryKeys) -> G {
        gcm::hash_key(self.isa, &self.schedule.substituted::<LastRound>(keys))
    }

    /// The client with these keys; `ghash` is their [`Cluster::hash_key`].
    #[inline]
    pub fn client<'a, G: Ghash>(&'a self, keys: &'a SecondaryKeys, ghash: &'a G) -> GscmH<'a, KEYS, G> {
        Client { isa: self.isa, cipher: self.schedule.substituted(keys), ghash }
    }
}

impl<C: BlockCipher, G: Deref<Target: Ghash>> Client<C, G> {
    #[inline]
    fn fused<const SEAL: bool>(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Whole, SealError> {
        if nonce.len() != NONCE {
            return Err(SealError::NonceLength);
        }
        gcm::fused::<_, _, SEAL>(self.isa, &self.cipher, &*self.ghash, nonce, ad, text)
    }
}

impl<C, G> Sealed for Client<C, G>
where
    C: BlockCipher,
    G: Deref<Target: Ghash> + Send + Sync + UnwindSafe + RefUnwindSafe,
{
}
impl<C, G> Aead for Client<C, G>
where
    C: BlockCipher,
    G: Deref<Target: Ghash> + Send + Sync + UnwindSafe + RefUnwindSafe,
{
    fn tag_len(&self) -> usize {
        TAG
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        Ok(self.fused::<true>(nonce, ad, text)?.tag(TAG))
    }

    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let (text, tag) = message.split_at_mut(text_len(message.len(), TAG));
        self.fused::<true>(nonce, ad, text)?.write(tag);
        Ok(())
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let genuine = self.fused::<false>(nonce, ad, text).is_ok_and(|ours| ours.matches(TAG, tag));
        release(text, genuine)
    }
}

/// GSCM-H for a single client, selected by the length of the cluster's key: 16 or 32 bytes, or 24 with the feature
/// `aes192`. Nothing is shared: all round keys and powers of h belong to the client.
///
/// ```
/// use sealwright::{Isa, block::aes2s::SecondaryKeys, mode::gscm};
///
/// // The client's side: it has one session, and may keep everything.
/// let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
/// let aead = gscm::by_key(Isa::best(), &[7; 16], &keys)?;
/// let tag = aead.seal_in_place(&[0; 12], b"header", &mut b"to the server".to_vec())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] for any other length.
pub fn by_key(isa: Isa, key: &[u8], keys: &SecondaryKeys) -> Result<Box<dyn Aead>, KeyLengthError> {
    alone::<LastRound>(isa, key, keys)
}

/// **Research only: broken against members of the cluster.** GSCM as in the paper, for a single client.
///
/// ```
/// use sealwright::{Isa, block::aes2s::SecondaryKeys, mode::gscm};
///
/// let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
/// let (printed, hardened) = (gscm::research_only_by_key(Isa::best(), &[7; 16], &keys)?, gscm::by_key(Isa::best(), &[7; 16], &keys)?);
/// let (mut one, mut two) = ([0; 16], [0; 16]);
/// printed.seal_in_place(&[0; 12], b"", &mut one)?;
/// hardened.seal_in_place(&[0; 12], b"", &mut two)?;
/// assert_ne!(one, two); // K2 stands in another round
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] unless the key has 16 or 32 bytes, or 24 with the feature `aes192`.
#[cfg(feature = "research")]
pub fn research_only_by_key(isa: Isa, key: &[u8], keys: &SecondaryKeys) -> Result<Box<dyn Aead>, KeyLengthError> {
    alone::<AsPrinted>(isa, key, keys)
}

fn alone<P: HashedBy>(isa: Isa, key: &[u8], keys: &SecondaryKeys) -> Result<Box<dyn Aead>, KeyLengthError> {
    /// GCM's own kernel; the client's round keys are written into a copy of the schedule.
    fn client<const KEYS: usize, P: HashedBy>(
        isa: Isa,
        schedule: &Aes<Expanded<KEYS>>,
        keys: &SecondaryKeys,
    ) -> Box<dyn Aead> {
        let cipher = schedule.substituted::<P>(keys).expanded(isa);
        let hashed = if P::CLUSTER { schedule } else { &cipher };
        let ghash: Box<Clmul> = Box::new(gcm::hash_key(isa, hashed));
        Box::new(Alone { client: Client { isa, cipher, ghash }, _stack: CleanStack })
    }
    Ok(match Key::new(key)? {
        Key::Aes128(key) => client::<_, P>(isa, &Aes128::new(isa, key), keys),
        #[cfg(feature = "aes192")]
        Key::Aes192(key) => client::<_, P>(isa, &Aes192::new(isa, key), keys),
        Key::Aes256(key) => client::<_, P>(isa, &Aes256::new(isa, key), keys),
    })
}

/// A client that shares nothing, and the stack on which its keys were made.
struct Alone<C> {
    client: Client<C, Box<Clmul>>,
    _stack: CleanStack,
}

impl<C> fmt::Debug for Alone<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.client.fmt(f)
    }
}

impl<C: BlockCipher> Sealed for Alone<C> {}
impl<C: BlockCipher> Aead for Alone<C> {
    fn tag_len(&self) -> usize {
        TAG
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        self.client.seal_in_place(nonce, ad, text)
    }

    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        self.client.seal_message(nonce, ad, message)
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        self.client.open_in_place(nonce, ad, text, tag)
    }
}

/// Which GHASH key a variant of GSCM uses.
trait HashedBy: K2Position {
    /// Whether it is the cluster's key rather than the client's.
    const CLUSTER: bool;
}
#[cfg(feature = "research")]
impl HashedBy for AsPrinted {
    const CLUSTER: bool = true;
}
impl HashedBy for LastRound {
    const CLUSTER: bool = false;
}

// Schedule and strategy wipe themselves.
#[cfg(feature = "research")]
impl<const KEYS: usize, G: ZeroizeOnDrop> ZeroizeOnDrop for ResearchOnlyCluster<KEYS, G> {}
impl<const KEYS: usize> ZeroizeOnDrop for Cluster<KEYS> {}

#[cfg(feature = "research")]
impl<const KEYS: usize, G> fmt::Debug for ResearchOnlyCluster<KEYS, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResearchOnlyCluster").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<const KEYS: usize> fmt::Debug for Cluster<KEYS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<C, G> fmt::Debug for Client<C, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("isa", &self.isa).finish_non_exhaustive()
    }
}
