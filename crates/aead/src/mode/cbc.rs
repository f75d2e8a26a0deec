//! Cipher block chaining (SP 800-38A, 6.2), and PKCS#7 padding (RFC 5652, 6.3). It does not authenticate: a building
//! block only.
//!
//! ```
//! use sealwright::{Isa, block::aes::BothWays, mode::cbc::{self, PaddingError, pkcs7_pad, pkcs7_unpad}};
//!
//! let isa = Isa::best();
//! let cipher = BothWays::<11>::new(isa, &[7; 16]);
//! let (iv, mut text) = ([1; 16], b"attack at dawn".to_vec()); // the IV: random
//! pkcs7_pad(&mut text);
//! cbc::encrypt(isa, &cipher, &iv, &mut text);
//! cbc::decrypt(isa, &cipher, &iv, &mut text);
//! assert_eq!(&text[..pkcs7_unpad(&text)?], b"attack at dawn");
//! # Ok::<(), PaddingError>(())
//! ```

use alloc::vec::Vec;
use core::fmt;

use subtle::{ConstantTimeEq, ConstantTimeLess};

use crate::{
    block::{BlockCipher, Inverse, aes::rounds},
    simd::{Block, Isa, Kernel, Reg, Simd},
    wipe::room,
};

/// Encrypts whole blocks in place, one after the other: each depends on the one before.
///
/// ```
/// use sealwright::{Isa, block::aes::Aes128, mode::cbc};
///
/// // A long text in parts: the last block of one part is the IV of the next.
/// let isa = Isa::best();
/// let cipher = Aes128::new(isa, &[7; 16]);
/// let (mut whole, mut first, mut second) = ([5; 64], [5; 48], [5; 16]);
/// cbc::encrypt(isa, &cipher, &[1; 16], &mut whole);
/// cbc::encrypt(isa, &cipher, &[1; 16], &mut first);
/// cbc::encrypt(isa, &cipher, first.last_chunk().expect("48 bytes"), &mut second);
/// assert_eq!(whole[48..], second);
/// ```
///
/// # Panics
/// If `text` is not whole blocks of 16 bytes.
pub fn encrypt<C: BlockCipher>(isa: Isa, cipher: &C, iv: &Block, text: &mut [u8]) {
    assert!(text.len().is_multiple_of(16), "CBC takes whole blocks");
    isa.run(Encrypt { cipher, iv, text });
}

/// Decrypts whole blocks in place, many in parallel.
///
/// ```
/// use sealwright::{Isa, block::aes::BothWays, mode::cbc};
///
/// let isa = Isa::best();
/// let cipher = BothWays::<15>::new(isa, &[7; 32]);
/// let mut text = [5; 64];
/// cbc::encrypt(isa, &cipher, &[1; 16], &mut text);
/// cbc::decrypt(isa, &cipher, &[1; 16], &mut text);
/// assert_eq!(text, [5; 64]);
/// ```
///
/// # Panics
/// If `text` is not whole blocks of 16 bytes.
pub fn decrypt<C: Inverse>(isa: Isa, cipher: &C, iv: &Block, text: &mut [u8]) {
    assert!(text.len().is_multiple_of(16), "CBC takes whole blocks");
    isa.run(Decrypt { cipher, iv, text });
}

struct Encrypt<'a, C> {
    cipher: &'a C,
    iv: &'a Block,
    text: &'a mut [u8],
}

impl<C: BlockCipher> Kernel for Encrypt<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        if S::AES && C::AES_ROUNDS > 0 {
            return self.chained(simd);
        }
        let mut chain = [simd.first(self.iv)];
        for block in self.text.as_chunks_mut::<16>().0 {
            chain[0] = chain[0] ^ simd.first(block);
            self.cipher.encrypt(simd, &mut chain);
            *block = chain[0].first_block();
        }
    }
}

impl<C: BlockCipher> Encrypt<'_, C> {
    /// AES rounds only between one block and the next: the next text block and the first round key are xored into the
    /// last round key.
    #[inline(always)]
    fn chained<S: Simd>(self, simd: S) {
        // Not with `map`: its closure may be compiled without the instruction set.
        let mut keys = [simd.zero(); 15];
        for (round, key) in keys.iter_mut().enumerate().take(C::AES_ROUNDS + 1) {
            *key = self.cipher.round_key(simd, round);
        }
        let (first, last) = (keys[0], keys[C::AES_ROUNDS]);
        let (blocks, _) = self.text.as_chunks_mut::<16>();
        let Some(block) = blocks.first() else { return };
        let mut state = simd.first(self.iv) ^ (simd.first(block) ^ first);
        for i in 0..blocks.len() {
            let coming = match blocks.get(i + 1) {
                Some(next) => simd.first(next) ^ first,
                None => simd.zero(),
            };
            rounds!(round < C::AES_ROUNDS => { state = state.aesenc(keys[round]) });
            state = state.aesenclast(last ^ coming);
            blocks[i] = (state ^ coming).first_block();
        }
    }
}

struct Decrypt<'a, C> {
    cipher: &'a C,
    iv: &'a Block,
    text: &'a mut [u8],
}

impl<C: Inverse> Kernel for Decrypt<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        let mut iv = *self.iv;
        let mut batches = self.text.chunks_exact_mut(W * S::Reg::BYTES);
        for batch in &mut batches {
            iv = decrypt_batch::<_, S, W>(simd, self.cipher, &iv, batch);
        }
        let mut rest = batches.into_remainder().chunks_exact_mut(S::Reg::BYTES);
        for row in &mut rest {
            iv = decrypt_batch::<_, S, 1>(simd, self.cipher, &iv, row);
        }
        for block in rest.into_remainder().as_chunks_mut::<16>().0 {
            let mut one = [simd.first(block)];
            self.cipher.decrypt(simd, &mut one);
            let plain = one[0] ^ simd.first(&iv);
            iv = *block;
            *block = plain.first_block();
        }
    }
}

/// Decrypts `W` registers in place and returns the last ciphertext block.
#[inline(always)]
fn decrypt_batch<C: Inverse, S: Simd, const W: usize>(simd: S, cipher: &C, iv: &Block, batch: &mut [u8]) -> Block {
    let mut blocks = [simd.zero(); W];
    for (x, row) in blocks.iter_mut().zip(batch.chunks_exact(S::Reg::BYTES)) {
        *x = simd.load(row);
    }
    cipher.decrypt(simd, &mut blocks);
    let mut last = [0; 16];
    last.copy_from_slice(&batch[batch.len() - 16..]);
    // The predecessor of each row lies one block before it. Rows are written from the last, so that it is still
    // ciphertext.
    for (i, x) in blocks.iter().enumerate().skip(1).rev() {
        let at = i * S::Reg::BYTES;
        (*x ^ simd.load(&batch[at - 16..])).store(&mut batch[at..]);
    }
    let mut before = [0; 64];
    before[..16].copy_from_slice(iv);
    before[16..S::Reg::BYTES].copy_from_slice(&batch[..S::Reg::BYTES - 16]);
    (blocks[0] ^ simd.load(&before)).store(batch);
    last
}

/// The text does not end with PKCS#7 padding.
///
/// ```
/// use sealwright::mode::cbc::{PaddingError, pkcs7_unpad};
///
/// assert_eq!(pkcs7_unpad(&[0; 16]), Err(PaddingError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaddingError;

impl fmt::Display for PaddingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bad padding")
    }
}
impl core::error::Error for PaddingError {}

/// Appends 1 to 16 bytes, each of which holds their number. If `text` must be reallocated, its old memory is wiped.
///
/// ```
/// use sealwright::mode::cbc::pkcs7_pad;
///
/// let mut text = b"attack at dawn".to_vec();
/// pkcs7_pad(&mut text);
/// assert_eq!(text, b"attack at dawn\x02\x02");
/// ```
pub fn pkcs7_pad(text: &mut Vec<u8>) {
    let n = 16 - text.len() % 16;
    room(text, n);
    text.resize(text.len() + n, n as u8);
}

/// The length of the text without its padding. For a given length, the time is the same whatever the padding.
///
/// ```
/// use sealwright::mode::cbc::pkcs7_unpad;
///
/// assert_eq!(pkcs7_unpad(b"attack at dawn\x02\x02"), Ok(14));
/// assert!(pkcs7_unpad(b"attack at dawn\x01\x02").is_err());
/// ```
///
/// # Errors
/// [`PaddingError`]. Revealing this error to a peer without authentication creates a padding oracle.
pub fn pkcs7_unpad(text: &[u8]) -> Result<usize, PaddingError> {
    let Some(last) = text.last_chunk::<16>() else { return Err(PaddingError) };
    if !text.len().is_multiple_of(16) {
        return Err(PaddingError);
    }
    let n = last[15];
    let mut good = n.ct_lt(&17) & !n.ct_eq(&0);
    for (i, byte) in last.iter().enumerate() {
        let padding = (15 - i as u8).ct_lt(&n);
        good &= !padding | byte.ct_eq(&n);
    }
    if bool::from(good) { Ok(text.len() - usize::from(n)) } else { Err(PaddingError) }
}
