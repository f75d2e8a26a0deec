//! Header protection of QUIC (RFC 9001, 5.4): the first byte and the packet number are masked with the AES encryption
//! of a sample of the sealed payload.

use rustls::{Error, crypto::cipher::AeadKey, quic::HeaderProtectionKey};
use sealwright::{
    Block, Isa,
    block::{
        BlockCipher, CleanStack,
        aes::{Aes128, Aes256},
    },
    simd::{Kernel, Reg, Simd},
};

/// Length of a sample in bytes: one block.
const SAMPLE: usize = 16;
/// The first bit of a long header.
const LONG: u8 = 0x80;

/// The key that protects the headers of one direction. It does not change when the packet keys are updated.
pub(crate) struct HeaderKey {
    isa: Isa,
    cipher: Cipher,
    _stack: CleanStack,
}

enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

impl HeaderKey {
    /// The cipher is selected by the key's length: 16 or 32 bytes.
    pub(crate) fn new(key: &AeadKey) -> Self {
        let isa = Isa::best();
        let cipher = match key.as_ref().try_into() {
            Ok(key) => Cipher::Aes128(Aes128::new(isa, key)),
            Err(_) => {
                let key = key.as_ref().try_into().expect("a key of the length that rustls was told");
                Cipher::Aes256(Aes256::new(isa, key))
            }
        };
        HeaderKey { isa, cipher, _stack: CleanStack }
    }

    /// The encrypted sample; its first five bytes are the mask.
    fn mask(&self, sample: &Block) -> Block {
        match &self.cipher {
            Cipher::Aes128(aes) => self.isa.run(One { aes, block: sample }),
            Cipher::Aes256(aes) => self.isa.run(One { aes, block: sample }),
        }
    }

    /// Masks a header, or unmasks it if `masked`. Both are an xor, but the length of the packet number is in bits of
    /// the first byte that are themselves masked.
    fn apply(&self, sample: &[u8], first: &mut u8, number: &mut [u8], masked: bool) -> Result<(), Error> {
        let sample = sample.try_into().map_err(|_| Error::General("sample of invalid length".into()))?;
        let [mask, numbers @ ..] = self.mask(sample);
        if number.len() > 4 {
            return Err(Error::General("packet number too long".into()));
        }
        let changed = *first ^ (mask & if *first & LONG == 0 { 0x1f } else { 0x0f });
        let plain = if masked { changed } else { *first };
        let len = usize::from(plain & 3) + 1;
        *first = changed;
        number.iter_mut().zip(numbers).take(len).for_each(|(byte, mask)| *byte ^= mask);
        Ok(())
    }
}

impl HeaderProtectionKey for HeaderKey {
    fn encrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.apply(sample, first, number, false)
    }

    fn decrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.apply(sample, first, number, true)
    }

    fn sample_len(&self) -> usize {
        SAMPLE
    }
}

/// The AES encryption of one block.
struct One<'a, C> {
    aes: &'a C,
    block: &'a Block,
}

impl<C: BlockCipher> Kernel for One<'_, C> {
    type Output = Block;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
        let mut blocks = [simd.first(self.block)];
        self.aes.encrypt(simd, &mut blocks);
        blocks[0].first_block()
    }
}
