//! Electronic codebook (SP 800-38A, 6.1): each block separately, for test vectors. Equal blocks have equal ciphertexts.

use crate::{
    block::{BlockCipher, Inverse},
    simd::{Isa, Kernel, Reg, Simd},
};

/// Encrypts whole blocks in place.
///
/// ```
/// use sealwright::{Isa, block::aes::Aes128, mode::ecb};
///
/// let isa = Isa::best();
/// let mut blocks = [0; 32];
/// ecb::encrypt(isa, &Aes128::new(isa, &[7; 16]), &mut blocks);
/// assert_eq!(blocks[..16], blocks[16..]); // why ECB protects nothing
/// ```
///
/// # Panics
/// If `text` is not whole blocks of 16 bytes.
pub fn encrypt<C: BlockCipher>(isa: Isa, cipher: &C, text: &mut [u8]) {
    isa.run(Each { cipher: &Forward(cipher), text });
}

/// Decrypts whole blocks in place.
///
/// ```
/// # #[cfg(feature = "ocb")] {
/// use sealwright::{Isa, block::aes::BothWays, mode::ecb};
///
/// let isa = Isa::best();
/// let cipher = BothWays::<11>::new(isa, &[7; 16]);
/// let mut block = [1; 16];
/// ecb::encrypt(isa, &cipher, &mut block);
/// ecb::decrypt(isa, &cipher, &mut block);
/// assert_eq!(block, [1; 16]);
/// # }
/// ```
///
/// # Panics
/// If `text` is not whole blocks of 16 bytes.
pub fn decrypt<C: Inverse>(isa: Isa, cipher: &C, text: &mut [u8]) {
    isa.run(Each { cipher: &Backward(cipher), text });
}

/// One direction of a cipher, encryption or decryption.
trait Direction {
    fn turn<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]);
}

struct Forward<'a, C>(&'a C);
impl<C: BlockCipher> Direction for Forward<'_, C> {
    #[inline(always)]
    fn turn<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.0.encrypt(simd, blocks);
    }
}

struct Backward<'a, C>(&'a C);
impl<C: Inverse> Direction for Backward<'_, C> {
    #[inline(always)]
    fn turn<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.0.decrypt(simd, blocks);
    }
}

struct Each<'a, D> {
    cipher: &'a D,
    text: &'a mut [u8],
}

impl<D: Direction> Kernel for Each<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        assert!(self.text.len().is_multiple_of(16), "ECB takes whole blocks");
        let mut batches = self.text.chunks_exact_mut(W * S::Reg::BYTES);
        for batch in &mut batches {
            let mut blocks = [simd.zero(); W];
            for (x, row) in blocks.iter_mut().zip(batch.chunks_exact(S::Reg::BYTES)) {
                *x = simd.load(row);
            }
            self.cipher.turn(simd, &mut blocks);
            for (x, row) in blocks.iter().zip(batch.chunks_exact_mut(S::Reg::BYTES)) {
                x.store(row);
            }
        }
        for row in batches.into_remainder().chunks_mut(S::Reg::BYTES) {
            let mut one = [simd.load_partial(row)];
            self.cipher.turn(simd, &mut one);
            one[0].store_partial(row);
        }
    }
}
