//! XAES-256-GCM (C2SP): AES-256-GCM under a key derived for each nonce of 192 bits, so that nonces may be random.
//!
//! The key and the first half of the nonce determine the message key, through CMAC-AES-256 as the pseudorandom function
//! of SP 800-108r1; the second half is the nonce of AES-256-GCM. Specification: <https://c2sp.org/XAES-256-GCM>. With
//! random nonces, 2^80 messages contain a collision with a probability of 2^-32. The limit of AES under the message
//! keys comes sooner: N l^2 <= 2^97 for N messages of l blocks, which is 2^77 of 16 KiB or 2^33 of 64 GiB. Not
//! resistant to nonce reuse, and not key-committing.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::gcm::{Aes256Gcm, hashed, short::few_blocks};
use crate::{
    aead::{Aead, release, text_len},
    block::{BlockCipher, Expanded, OnTheFly, aes::Aes256, encrypt_block},
    error::{OpenError, SealError},
    ghash::{Clmul, FEW, Ghash, SOME},
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Reg, Simd, counter_zero},
    tag::{Tag, Whole},
    wipe::{CleanStack, wipe},
};

/// Bytes of a nonce.
pub const NONCE: usize = 24;

/// XAES-256-GCM under one key.
///
/// ```
/// use sealwright::{Aead, Isa, mode::xaes::Xaes256Gcm};
///
/// let aead = Xaes256Gcm::new(Isa::best(), &[7; 32]);
/// let nonce = [1; 24]; // random, fresh for every message: `RandomNonceKey` sees to it
/// let mut text = *b"attack at dawn";
/// let tag = aead.seal_in_place(&nonce, b"header", &mut text)?;
/// aead.open_in_place(&nonce, b"header", &mut text, tag.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Xaes256Gcm {
    isa: Isa,
    cipher: Aes256,
    /// The subkey K1 of CMAC (SP 800-38B, 6.1).
    subkey: Subkey,
    _stack: CleanStack,
}

#[derive(Clone)]
struct Subkey(Block);
wipe_on_drop!(Subkey { 0: [0; 16] });

// Cipher and subkey wipe themselves.
impl ZeroizeOnDrop for Xaes256Gcm {}

impl Xaes256Gcm {
    /// Prepares `key`.
    pub fn new(isa: Isa, key: &[u8; 32]) -> Self {
        let cipher = Aes256::new(isa, key);
        let l = u128::from_be_bytes(encrypt_block(isa, &cipher, &[0; 16]));
        let carry = 0u128.wrapping_sub(l >> 127);
        let subkey = Subkey(((l << 1) ^ (carry & 0x87)).to_be_bytes());
        Xaes256Gcm { isa, cipher, subkey, _stack: CleanStack }
    }

    /// Seals or opens a message in one kernel if it is short and there are registers of two blocks. With four, powers
    /// of h would be loaded from across what was just stored.
    #[inline(always)]
    fn short<const SEAL: bool>(&self, nonce: &[u8; NONCE], ad: &[u8], text: &mut [u8]) -> Option<Whole> {
        let (isa, blocks) = (self.isa.without_wide(), hashed(ad, text));
        if !isa.has_pairs() || ad.len() > 32 || blocks > Clmul::<SOME>::GROUP {
            None
        } else if blocks > Clmul::<FEW>::GROUP {
            Some(isa.run(Short::<SEAL, SOME, 10> { xaes: self, nonce, ad, text }))
        } else {
            Some(isa.run(Short::<SEAL, FEW, 4> { xaes: self, nonce, ad, text }))
        }
    }

    /// Seals or opens `text` in place; returns the tag. A nonce of another length is refused.
    #[inline(always)]
    fn whole<const SEAL: bool>(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Whole, SealError> {
        let nonce: &[u8; NONCE] = nonce.try_into().map_err(|_| SealError::NonceLength)?;
        if let Some(tag) = self.short::<SEAL>(nonce, ad, text) {
            return Ok(tag);
        }
        let (context, nonce) = nonce.split_at(12);
        // Its memory stays in place and is wiped at the end of the message
        let mut gcm = Aes256Gcm::of_message(self.isa, Aes256::with(Expanded::empty()));
        let mut keys = [[0; 32]; 2];
        self.isa.run(Derivation { cipher: &self.cipher, subkey: &self.subkey, context, keys: &mut keys });
        gcm.rekey_for(&keys[0], hashed(ad, text));
        wipe(keys.as_flattened_mut());
        gcm.whole::<SEAL>(nonce, ad, text)
    }
}

impl Sealed for Xaes256Gcm {}
impl Aead for Xaes256Gcm {
    fn tag_len(&self) -> usize {
        16
    }

    fn nonce_len(&self) -> usize {
        NONCE
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        Ok(self.whole::<true>(nonce, ad, text)?.tag(16))
    }

    fn seal_message(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        let (text, tag) = message.split_at_mut(text_len(message.len(), 16));
        self.whole::<true>(nonce, ad, text)?.write(tag);
        Ok(())
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let genuine = self.whole::<false>(nonce, ad, text).is_ok_and(|ours| ours.matches(16, tag));
        release(text, genuine)
    }
}

/// A short message in one kernel, for registers of two blocks. Text and first counter block take at most `MOST`.
struct Short<'a, const SEAL: bool, const SLOTS: usize, const MOST: usize> {
    xaes: &'a Xaes256Gcm,
    nonce: &'a [u8; NONCE],
    ad: &'a [u8],
    text: &'a mut [u8],
}

impl<const SEAL: bool, const SLOTS: usize, const MOST: usize> Kernel for Short<'_, SEAL, SLOTS, MOST> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        let Short { xaes: Xaes256Gcm { cipher, subkey, .. }, nonce, ad, text } = self;
        const { assert!(2 * MOST >= Clmul::<SLOTS>::GROUP, "text and first counter block take the others' places") };
        if const { S::Reg::BLOCKS != 2 } {
            unreachable!("it is called at one level");
        }
        let (context, nonce) = nonce.split_at(12);
        let mut keys = [[0; 32]; 2];
        Derivation { cipher, subkey, context, keys: &mut keys }.registers::<S, 1>(simd);
        let (mut cipher, mut powers) = (Aes256::with(Expanded::empty()), Clmul::<SLOTS>::zeros());
        cipher.round_keys_mut().fill(simd, &OnTheFly::new(&keys[0]));
        wipe(keys.as_flattened_mut());
        let mut h = [simd.zero()];
        cipher.encrypt(simd, &mut h);
        powers.fill(simd, h[0], hashed(ad, text));
        few_blocks::<S, _, _, SEAL, MOST>(simd, (&cipher, &powers), nonce, ad, text)
    }
}

/// Computes the key of a message: the CMACs of two blocks, each of which consists of a counter from 1, `X` and the
/// first half of the nonce. Behind the key there is room for the other lanes of a register.
struct Derivation<'a> {
    cipher: &'a Aes256,
    subkey: &'a Subkey,
    context: &'a [u8],
    keys: &'a mut [[u8; 32]; 2],
}

impl Kernel for Derivation<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        if const { S::Reg::BLOCKS > 1 } { self.registers::<S, 1>(simd) } else { self.registers::<S, 2>(simd) }
    }
}

impl Derivation<'_> {
    #[inline(always)]
    fn registers<S: Simd, const N: usize>(self, simd: S) {
        // The counter is the second byte of a word.
        let first = counter_zero(self.context) << 32 | u128::from(u32::from_le_bytes([0, 1, b'X', 0]));
        let first = simd.splat(&first.to_le_bytes()).add32(simd.lane_numbers().shift32::<8>());
        let mut blocks = [first; N];
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = block.add32(simd.splat_word((i * S::Reg::BLOCKS) as u32 * 0x100)) ^ simd.splat(&self.subkey.0);
        }
        self.cipher.encrypt(simd, &mut blocks);
        for (block, part) in blocks.iter().zip(self.keys.as_flattened_mut().chunks_exact_mut(S::Reg::BYTES)) {
            block.store(part);
        }
    }
}

impl fmt::Debug for Xaes256Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xaes256Gcm").field("isa", &self.isa).finish_non_exhaustive()
    }
}
