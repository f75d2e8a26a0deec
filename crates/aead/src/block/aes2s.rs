//! AES2S: AES in which two round keys of the schedule are replaced with a client's own (El-Fotouh and Diepold, "The
//! Analysis of Galois Substitution Counter Mode", 2009, table 1). Encryption only, because counter mode needs no
//! decryption.
//!
//! Many clients share one schedule; each stores 32 bytes. Key K1 replaces round key 0. Which one K2 replaces is chosen
//! by a type: `AsPrinted` (feature `research`) is the paper's choice, and **broken** if clients know the schedule.
//! [`LastRound`] puts all of AES between two secret keys. `docs/GSCM.md` explains why.
//!
//! ```
//! use sealwright::{Isa, block::{aes::Aes128, aes2s::{LastRound, SecondaryKeys}}, mode::ctr};
//!
//! let isa = Isa::best();
//! let shared = Aes128::new(isa, &[7; 16]); // the schedule of the cluster
//! let alice = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
//! let mut text = *b"to Alice";
//! ctr::apply(isa, &shared.substituted::<LastRound>(&alice), &[0; 16], &mut text);
//! ```

use core::{fmt, marker::PhantomData};

use super::{Expanded, RoundKeys, aes::Aes};
use crate::{
    sealed::Sealed,
    simd::{Block, Isa, Reg, Simd},
};

/// A client's own keys of AES2S: 32 bytes. After `zeroize` they are zeros, which everybody knows.
///
/// ```
/// use sealwright::block::aes2s::SecondaryKeys;
///
/// let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
/// assert_eq!(format!("{keys:?}"), "SecondaryKeys { .. }");
/// ```
#[derive(Clone, Default)]
pub struct SecondaryKeys {
    /// K1, which replaces round key 0.
    pub k1: Block,
    /// K2, which replaces the round key that a [`K2Position`] selects.
    pub k2: Block,
}

wipe_on_drop!(SecondaryKeys { k1: [0; 16], k2: [0; 16] });

impl fmt::Debug for SecondaryKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecondaryKeys").finish_non_exhaustive()
    }
}

/// Which round key K2 replaces.
///
/// ```
/// use sealwright::block::aes2s::{LastRound, K2Position};
///
/// assert_eq!((LastRound::of_second(10), LastRound::of_second(14)), (10, 14));
/// ```
pub trait K2Position: Sealed + Copy + Send + Sync + 'static {
    /// The number of that round key, in a cipher of `rounds` rounds.
    fn of_second(rounds: usize) -> usize;
}

/// **Research only.** The paper's choice: round key 5 of 10 rounds, 9 of 12 or 14. A client that knows the schedule
/// recovers K1 and K2 from 256 blocks if K2 replaces round key 5.
///
/// ```
/// use sealwright::block::aes2s::{AsPrinted, K2Position};
///
/// assert_eq!((AsPrinted::of_second(10), AsPrinted::of_second(14)), (5, 9));
/// ```
#[cfg(feature = "research")]
#[derive(Clone, Copy, Debug)]
pub struct AsPrinted;

/// The last round key, which is the hardened form: all of AES lies between K1 and K2.
///
/// ```
/// use sealwright::{Isa, block::{aes::Aes256, aes2s::{LastRound, SecondaryKeys}}};
///
/// let schedule = Aes256::new(Isa::best(), &[7; 32]);
/// let keys = SecondaryKeys { k1: [1; 16], k2: [2; 16] };
/// let cipher = schedule.substituted::<LastRound>(&keys);
/// assert_eq!(size_of_val(&cipher), 2 * size_of::<usize>()); // it borrows both
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LastRound;

#[cfg(feature = "research")]
impl Sealed for AsPrinted {}
#[cfg(feature = "research")]
impl K2Position for AsPrinted {
    #[inline(always)]
    fn of_second(rounds: usize) -> usize {
        if rounds == 10 { 5 } else { 9 }
    }
}

impl Sealed for LastRound {}
impl K2Position for LastRound {
    #[inline(always)]
    fn of_second(rounds: usize) -> usize {
        rounds
    }
}

/// A schedule of `KEYS` round keys, with two of them replaced.
///
/// ```
/// use sealwright::block::{RoundKeys, aes2s::{LastRound, Substituted}};
///
/// // What each client costs: the schedule is the cluster's.
/// assert_eq!(Substituted::<'_, 15, LastRound>::STATE_BYTES, 32);
/// ```
#[derive(Clone, Copy)]
pub struct Substituted<'a, const KEYS: usize, P> {
    schedule: &'a Expanded<KEYS>,
    client: &'a SecondaryKeys,
    place: PhantomData<P>,
}

impl<const KEYS: usize, P> fmt::Debug for Substituted<'_, KEYS, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Substituted").finish_non_exhaustive()
    }
}

impl<const KEYS: usize, P: K2Position> Sealed for Substituted<'_, KEYS, P> {}
impl<const KEYS: usize, P: K2Position> RoundKeys for Substituted<'_, KEYS, P> {
    const ROUNDS: usize = KEYS - 1;
    /// Only the client's keys are counted; the schedule belongs to the cluster.
    const STATE_BYTES: usize = size_of::<SecondaryKeys>();
    type Carry<R: Reg> = ();

    #[inline(always)]
    fn start<S: Simd>(&self, _: S) {}
    #[inline(always)]
    fn key<S: Simd>(&self, simd: S, round: usize, carry: &mut ()) -> S::Reg {
        if round == 0 {
            simd.splat(&self.client.k1)
        } else if round == P::of_second(Self::ROUNDS) {
            simd.splat(&self.client.k2)
        } else {
            self.schedule.key(simd, round, carry)
        }
    }
}

/// AES2S on a schedule of `KEYS` round keys. **Research only** with `AsPrinted`.
pub type Aes2s<'a, const KEYS: usize, P> = Aes<Substituted<'a, KEYS, P>>;

impl<const KEYS: usize> Aes<Expanded<KEYS>> {
    /// AES2S: this schedule, with `client`'s keys in place of round key 0 and of the one that `P` selects.
    #[inline(always)]
    pub fn substituted<'a, P: K2Position>(&'a self, client: &'a SecondaryKeys) -> Aes2s<'a, KEYS, P> {
        Aes::with(Substituted { schedule: self.round_keys(), client, place: PhantomData })
    }
}

impl<const KEYS: usize, P: K2Position> Aes2s<'_, KEYS, P> {
    /// The same cipher with all its round keys in memory.
    pub(crate) fn expanded(&self, isa: Isa) -> Aes<Expanded<KEYS>> {
        Aes::with(Expanded::new(isa, self.round_keys()))
    }
}
