//! Block ciphers over batches of registers.
//!
//! ```
//! use sealwright::{Isa, block::{BlockCipher, aes::Aes256}, simd::{Block, Kernel, Reg, Simd}};
//!
//! /// The check value of a key, as payment systems have it: the first bytes of the encryption of zero.
//! struct CheckValue<'a, C>(&'a C);
//! impl<C: BlockCipher> Kernel for CheckValue<'_, C> {
//!     type Output = Block;
//!     #[inline(always)]
//!     fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
//!         let mut blocks = [simd.zero()];
//!         self.0.encrypt(simd, &mut blocks);
//!         blocks[0].first_block()
//!     }
//! }
//! let isa = Isa::best();
//! let value = isa.run(CheckValue(&Aes256::new(isa, &[0; 32])));
//! assert_eq!(value[..3], [0xdc, 0x95, 0xc0]);
//! ```

pub mod aes;
#[cfg(feature = "sessions")]
pub mod aes2s;
#[cfg(feature = "sessions")]
pub(crate) mod multi_key;
mod round_keys;
#[cfg(feature = "serpent")]
pub mod serpent;

pub use round_keys::{Expanded, InverseKeys, OnTheFly, RoundKeys};

pub use crate::wipe::CleanStack;
use crate::{
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Reg, Simd},
};

/// Encrypts batches of 16-byte blocks.
///
/// ```
/// use sealwright::{Isa, block::{BlockCipher, aes::{Aes128, Aes256}}, mode::ctr};
///
/// fn keystream<C: BlockCipher>(cipher: &C) -> [u8; 32] {
///     let mut stream = [0; 32];
///     ctr::apply(Isa::best(), cipher, &[0; 16], &mut stream);
///     stream
/// }
/// let isa = Isa::best();
/// assert_ne!(keystream(&Aes128::new(isa, &[7; 16])), keystream(&Aes256::new(isa, &[7; 32])));
/// assert_eq!((Aes128::STATE_BYTES, Aes256::STATE_BYTES), (176, 240));
/// ```
pub trait BlockCipher: Sealed + Send + Sync {
    /// Bytes of key material that are stored per key or client of this cipher.
    const STATE_BYTES: usize;
    /// The form in which a level without AES instructions runs this cipher: one type for all key sizes.
    type Sliced: BlockCipher;
    /// The number of AES rounds, if [`BlockCipher::round_key`] returns their keys; 0 for other ciphers.
    const AES_ROUNDS: usize = 0;

    /// Round key `round` in every lane, if [`BlockCipher::AES_ROUNDS`] is not 0.
    #[inline(always)]
    fn round_key<S: Simd>(&self, simd: S, _round: usize) -> S::Reg {
        simd.zero()
    }

    /// Prepares the cipher for a message at a level without AES instructions.
    fn sliced<S: Simd>(&self, simd: S) -> Self::Sliced;

    /// Encrypts every block of `blocks`, and does steps of `work` between the rounds as long as that saves time: the
    /// caller does the rest.
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        work: &mut B,
    );

    /// Encrypts every block of `blocks`.
    #[inline(always)]
    fn encrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.encrypt_interleaved(simd, blocks, &mut NoInterleave);
    }

    /// Encrypts every block of `blocks`, xored with its mask before and after.
    #[inline(always)]
    fn encrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        mask(simd, blocks, masks);
        self.encrypt(simd, blocks);
        mask(simd, blocks, masks);
    }
}

/// Decrypts batches of 16-byte blocks.
///
/// ```
/// # #[cfg(feature = "ocb")] {
/// use sealwright::{Isa, block::{Inverse, aes::BothWays}, mode::ecb};
///
/// fn round_trip<C: Inverse>(cipher: &C, block: [u8; 16]) -> [u8; 16] {
///     let mut text = block;
///     ecb::encrypt(Isa::best(), cipher, &mut text);
///     ecb::decrypt(Isa::best(), cipher, &mut text);
///     text
/// }
/// let cipher = BothWays::<11>::new(Isa::best(), &[7; 16]); // AES-128
/// assert_eq!(round_trip(&cipher, [1; 16]), [1; 16]);
/// # }
/// ```
pub trait Inverse: BlockCipher {
    /// The form in which a level without AES instructions runs this cipher in both directions.
    type SlicedBothWays: Inverse;

    /// Prepares both directions for a message at a level without AES instructions.
    fn sliced_both_ways<S: Simd>(&self, simd: S) -> Self::SlicedBothWays;

    /// Decrypts every block of `blocks`.
    fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]);

    /// Decrypts every block of `blocks`, xored with its mask before and after.
    #[inline(always)]
    fn decrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        mask(simd, blocks, masks);
        self.decrypt(simd, blocks);
        mask(simd, blocks, masks);
    }
}

/// The masks that are xored into each register of a batch before and after the cipher. OCB's offsets are such masks.
///
/// ```
/// use sealwright::{Isa, block::{BlockCipher, Masks, aes::Aes128}, simd::{Block, Kernel, Reg, Simd}};
///
/// /// One mask for every block: the construction of Even and Mansour over AES.
/// struct Same<R>(R);
/// impl<S: Simd> Masks<S> for Same<S::Reg> {
///     #[inline(always)]
///     fn with(&self, _: S, _: usize, key: S::Reg) -> S::Reg {
///         self.0 ^ key
///     }
/// }
/// struct Masked<'a>(&'a Aes128, Block);
/// impl Kernel for Masked<'_> {
///     type Output = Block;
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
///         let mut blocks = [simd.zero()];
///         self.0.encrypt_masked(simd, &mut blocks, &Same(simd.splat(&self.1)));
///         blocks[0].first_block()
///     }
/// }
/// let isa = Isa::best();
/// let cipher = Aes128::new(isa, &[7; 16]);
/// assert_ne!(isa.run(Masked(&cipher, [1; 16])), isa.run(Masked(&cipher, [2; 16])));
/// ```
pub trait Masks<S: Simd> {
    /// The mask of register `i`, xor `key`: a cipher that xors a key at its start or end passes it here, so that mask
    /// and key take one operation.
    fn with(&self, simd: S, i: usize, key: S::Reg) -> S::Reg;
}

/// No masks: only the cipher's keys are xored.
///
/// ```
/// use sealwright::{Isa, block::{BlockCipher, NoMask, aes::Aes128}, simd::{Block, Kernel, Reg, Simd}};
///
/// struct Unmasked<'a>(&'a Aes128);
/// impl Kernel for Unmasked<'_> {
///     type Output = [Block; 2];
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, simd: S) -> [Block; 2] {
///         let (mut plain, mut masked) = ([simd.zero()], [simd.zero()]);
///         self.0.encrypt(simd, &mut plain);
///         self.0.encrypt_masked(simd, &mut masked, &NoMask);
///         [plain[0].first_block(), masked[0].first_block()]
///     }
/// }
/// let isa = Isa::best();
/// let [plain, masked] = isa.run(Unmasked(&Aes128::new(isa, &[7; 16])));
/// assert_eq!(plain, masked);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NoMask;

impl<S: Simd> Masks<S> for NoMask {
    #[inline(always)]
    fn with(&self, _: S, _: usize, key: S::Reg) -> S::Reg {
        key
    }
}

/// Xors each register with its mask.
#[inline(always)]
pub(crate) fn mask<S: Simd, const W: usize, M: Masks<S>>(simd: S, blocks: &mut [S::Reg; W], masks: &M) {
    for (i, x) in blocks.iter_mut().enumerate() {
        *x = *x ^ masks.with(simd, i, simd.zero());
    }
}

/// Work to be interleaved with the rounds of a cipher, in steps that use other execution ports.
///
/// ```
/// use sealwright::{Isa, block::{BlockCipher, Interleave, aes::Aes128}, simd::{Kernel, Simd}};
///
/// /// Counts the places between rounds at which a hash could compute.
/// struct Count(usize);
/// impl<S: Simd> Interleave<S> for Count {
///     #[inline(always)]
///     fn step(&mut self, _: S, _: &mut [S::Reg], _: usize, _: usize) {
///         self.0 += 1;
///     }
/// }
/// struct Places<'a>(&'a Aes128);
/// impl Kernel for Places<'_> {
///     type Output = usize;
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, simd: S) -> usize {
///         let mut count = Count(0);
///         self.0.encrypt_interleaved(simd, &mut [simd.zero()], &mut count);
///         count.0
///     }
/// }
/// let isa = Isa::best();
/// assert!(isa.run(Places(&Aes128::new(isa, &[7; 16]))) <= 10);
/// ```
pub trait Interleave<S: Simd> {
    /// Called after round `done` of `of`, which are constants once the rounds are unrolled. It may tie some of `blocks`
    /// to its own registers with [`Simd::order_barrier`], so that it stays between these rounds.
    fn step(&mut self, simd: S, blocks: &mut [S::Reg], done: usize, of: usize);
}

/// No work between the rounds.
///
/// ```
/// use sealwright::{Isa, block::{BlockCipher, NoInterleave, aes::Aes128}, simd::{Block, Kernel, Reg, Simd}};
///
/// struct Alone<'a>(&'a Aes128);
/// impl Kernel for Alone<'_> {
///     type Output = Block;
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
///         let mut blocks = [simd.zero()];
///         self.0.encrypt_interleaved(simd, &mut blocks, &mut NoInterleave); // what `encrypt` does
///         blocks[0].first_block()
///     }
/// }
/// let isa = Isa::best();
/// assert_eq!(isa.run(Alone(&Aes128::new(isa, &[0; 16])))[..4], [0x66, 0xe9, 0x4b, 0xd4]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NoInterleave;

impl<S: Simd> Interleave<S> for NoInterleave {
    #[inline(always)]
    fn step(&mut self, _: S, _: &mut [S::Reg], _: usize, _: usize) {}
}

/// The encryption of one block, for hash keys and key derivation.
pub(crate) fn encrypt_block<C: BlockCipher>(isa: Isa, cipher: &C, block: &Block) -> Block {
    struct One<'a, C>(&'a C, &'a Block);
    impl<C: BlockCipher> Kernel for One<'_, C> {
        type Output = Block;

        #[inline(always)]
        fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
            let mut blocks = [simd.first(self.1)];
            self.0.encrypt(simd, &mut blocks);
            blocks[0].first_block()
        }
    }
    isa.run(One(cipher, block))
}
