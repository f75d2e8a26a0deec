//! Block ciphers on whole blocks, and the modes of `enc` that use them.

use sealwright::{Isa, raw};
use zeroize::Zeroizing;

use super::cipher::{EncAlgorithm, EncCipher};
use crate::secret::Secret;

/// The longest block, in bytes.
const MAX_BLOCK_LEN: usize = 16;

/// A block cipher under one key.
pub(super) trait Blocks {
    /// Bytes of a block.
    fn block(&self) -> usize;
    /// Encrypts each block separately.
    fn encrypt(&self, blocks: &mut [u8]);
    /// Decrypts each block separately.
    fn decrypt(&self, blocks: &mut [u8]);

    /// CBC decryption; `iv` becomes the IV for the next piece.
    fn cbc_decrypt(&self, iv: &mut [u8], text: &mut [u8]) {
        let before = [&*iv, &*text].concat();
        iv.copy_from_slice(&before[text.len()..]);
        self.decrypt(text);
        xor(text, &before);
    }

    /// CBC encryption; `iv` becomes the IV for the next piece.
    fn cbc_encrypt(&self, iv: &mut [u8], text: &mut [u8]) {
        for block in text.chunks_exact_mut(self.block()) {
            xor(block, iv);
            self.encrypt(block);
            iv.copy_from_slice(block);
        }
    }
}

struct Aes(Box<dyn raw::Raw>);

impl Blocks for Aes {
    fn block(&self) -> usize {
        16
    }

    fn encrypt(&self, blocks: &mut [u8]) {
        self.0.ecb_encrypt(blocks);
    }

    fn decrypt(&self, blocks: &mut [u8]) {
        self.0.ecb_decrypt(blocks);
    }

    fn cbc_decrypt(&self, iv: &mut [u8], text: &mut [u8]) {
        if let (Ok(first), Some(last)) = (<[u8; 16]>::try_from(&*iv), text.last_chunk::<16>().copied()) {
            self.0.cbc_decrypt(&first, text);
            iv.copy_from_slice(&last);
        }
    }

    fn cbc_encrypt(&self, iv: &mut [u8], text: &mut [u8]) {
        if let Ok(first) = <[u8; 16]>::try_from(&*iv) {
            self.0.cbc_encrypt(&first, text);
        }
        if let Some(last) = text.last_chunk::<16>() {
            iv.copy_from_slice(last);
        }
    }
}

#[cfg(feature = "enc-more")]
struct TripleDes(des::TdesEde3);

#[cfg(feature = "enc-more")]
impl Blocks for TripleDes {
    fn block(&self) -> usize {
        8
    }

    fn encrypt(&self, blocks: &mut [u8]) {
        use des::cipher::BlockCipherEncrypt;
        for block in blocks.chunks_exact_mut(8) {
            self.0.encrypt_block(block.try_into().expect("a block has 8 bytes"));
        }
    }

    fn decrypt(&self, blocks: &mut [u8]) {
        use des::cipher::BlockCipherDecrypt;
        for block in blocks.chunks_exact_mut(8) {
            self.0.decrypt_block(block.try_into().expect("a block has 8 bytes"));
        }
    }
}

/// The block cipher of `cipher` under `key`.
pub(super) fn blocks(cipher: EncCipher, isa: Isa, key: &Secret) -> Box<dyn Blocks> {
    const FITS: &str = "the key has the length that its cipher names";
    match cipher.algorithm() {
        EncAlgorithm::Aes => Box::new(Aes(raw::aes(isa, key).expect(FITS))),
        #[cfg(feature = "enc-more")]
        EncAlgorithm::TripleDes => {
            use des::cipher::KeyInit;
            Box::new(TripleDes(des::TdesEde3::new_from_slice(key).expect(FITS)))
        }
        #[cfg(feature = "enc-more")]
        EncAlgorithm::ChaCha20 => unreachable!("a stream cipher has no blocks"),
    }
}

/// The key stream of OFB, and of CFB with whole blocks, computed piece by piece. All pieces but the last consist of
/// whole blocks.
pub(super) struct Feedback {
    cipher: Box<dyn Blocks>,
    /// The cipher's input for the next block of key stream.
    register: Zeroizing<Vec<u8>>,
}

impl Feedback {
    pub(super) fn new(cipher: Box<dyn Blocks>, iv: &[u8]) -> Self {
        Feedback { cipher, register: Zeroizing::new(iv.to_vec()) }
    }

    /// CFB encryption. Each block of key stream depends on the ciphertext block before it.
    pub(super) fn cfb_encrypt(&mut self, text: &mut [u8]) {
        for block in text.chunks_mut(self.cipher.block()) {
            self.cipher.encrypt(&mut self.register);
            xor(block, &self.register);
            self.register[..block.len()].copy_from_slice(block);
        }
    }

    /// CFB decryption. All blocks of key stream are computed at once, because the whole ciphertext is known.
    pub(super) fn cfb_decrypt(&mut self, text: &mut [u8]) {
        let whole = text.len() / self.cipher.block() * self.cipher.block();
        let mut stream = Zeroizing::new([&self.register[..], &text[..whole]].concat());
        if whole > 0 {
            let len = self.register.len();
            self.register.copy_from_slice(&text[whole - len..whole]);
        }
        self.cipher.encrypt(&mut stream);
        xor(text, &stream);
    }

    /// OFB, in both directions.
    pub(super) fn ofb(&mut self, text: &mut [u8]) {
        for block in text.chunks_mut(self.cipher.block()) {
            self.cipher.encrypt(&mut self.register);
            xor(block, &self.register);
        }
    }
}

/// ChaCha20 as in OpenSSL: the IV is a 64-bit little-endian counter and a 64-bit nonce.
#[cfg(feature = "enc-more")]
pub(super) struct ChaCha20(chacha20::ChaCha20LegacyCore);

#[cfg(feature = "enc-more")]
impl ChaCha20 {
    pub(super) fn new(key: &Secret, iv: &[u8]) -> Self {
        use chacha20::cipher::KeyIvInit;
        let (counter, nonce) = iv.split_first_chunk().expect("the IV has 16 bytes");
        let mut core =
            chacha20::ChaCha20LegacyCore::new_from_slices(key, nonce).expect("key and nonce have their lengths");
        core.set_block_pos(u64::from_le_bytes(*counter));
        ChaCha20(core)
    }

    /// Encrypts or decrypts the next piece. All pieces but the last consist of whole blocks of 64 bytes.
    pub(super) fn apply(&mut self, text: &mut [u8]) {
        use chacha20::cipher::StreamCipherCore;
        let mut stream = Zeroizing::new([0; 64]);
        for block in text.chunks_mut(64) {
            self.0.write_keystream_block((&mut *stream).into());
            xor(block, stream.as_slice());
        }
    }
}

fn xor(text: &mut [u8], with: &[u8]) {
    text.iter_mut().zip(with).for_each(|(byte, with)| *byte ^= with);
}

/// Appends PKCS#7 padding for blocks of `block` bytes.
pub(super) fn pad(text: &mut Vec<u8>, block: usize) {
    let more = block - text.len() % block;
    text.resize(text.len() + more, more as u8);
}

/// Length of a text without its PKCS#7 padding.
pub(super) fn unpadded(text: &[u8], block: usize) -> Option<usize> {
    let more = usize::from(*text.last()?);
    let len = text.len().checked_sub(more).filter(|_| (1..=block.min(MAX_BLOCK_LEN)).contains(&more))?;
    let wrong = text[len..].iter().fold(0, |wrong, &byte| wrong | byte ^ more as u8);
    (wrong == 0).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_right_in_every_byte_or_wrong() {
        for block in [8, 16] {
            for len in 0..3 * block {
                let mut text: Vec<u8> = (0..len).map(|i| i as u8).collect();
                pad(&mut text, block);
                assert_eq!(unpadded(&text, block), Some(len));
                let more = text.len() - len;
                // One wrong padding byte other than the last, or two wrong in the same bit.
                for a in len..text.len() - 1 {
                    for b in a..text.len() - 1 {
                        let mut wrong = text.clone();
                        wrong[a] ^= 0x40;
                        if b > a {
                            wrong[b] ^= 0x40;
                        }
                        assert_eq!(unpadded(&wrong, block), None, "{more} bytes, {a} and {b}");
                    }
                }
            }
            assert_eq!(unpadded(&[], block), None);
            for last in [0, block as u8 + 1, 255] {
                assert_eq!(unpadded(&vec![last; 3 * block], block), None, "{last}");
            }
            // A full block of padding is valid; one byte less is not.
            assert_eq!(unpadded(&vec![block as u8; block], block), Some(0));
            assert_eq!(unpadded(&vec![block as u8; block - 1], block), None);
        }
    }
}
