//! CBC with HMAC-SHA-256, CBC alone and counter mode, composed of RustCrypto's `aes`, `serpent`, `hmac` and `sha2` as
//! an application would do it.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, array::Array, consts::U16};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::sealing::{RefusedError, Sealing};

/// CBC with HMAC under one key, whose first half is the MAC key.
pub(super) struct CbcHmac<C> {
    cipher: C,
    mac: Hmac<Sha256>,
    tag_len: usize,
}

/// Number of blocks decrypted together. In CBC, decryption of a block does not depend on that of the previous one.
const BATCH: usize = 16;

impl<C: KeyInit> CbcHmac<C> {
    pub(super) fn new(key: &[u8], tag_len: usize) -> Option<Self> {
        let (mac_key, key) = key.split_at_checked(key.len() / 2)?;
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(mac_key).ok()?;
        Some(CbcHmac { cipher: C::new_from_slice(key).ok()?, mac, tag_len })
    }

    fn mac(&self, iv: &[u8], ad: &[u8], text: &[u8]) -> Hmac<Sha256> {
        let bits = (8 * ad.len() as u64).to_be_bytes();
        self.mac.clone().chain_update(ad).chain_update(iv).chain_update(text).chain_update(bits)
    }

    fn parts<'a>(&self, message: &'a mut [u8]) -> Result<(&'a mut [u8], &'a mut [u8]), RefusedError> {
        let end = message.len().checked_sub(self.tag_len).filter(|end| end.is_multiple_of(16)).ok_or(RefusedError)?;
        Ok(message.split_at_mut(end))
    }
}

impl<C> Sealing for CbcHmac<C>
where
    C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + KeyInit + Send + Sync,
{
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, end) = self.parts(message)?;
        encrypt(&self.cipher, nonce, text)?;
        let tag = self.mac(nonce, ad, text).finalize().into_bytes();
        end.copy_from_slice(&tag[..self.tag_len]);
        Ok(())
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, tag) = self.parts(message)?;
        self.mac(nonce, ad, text).verify_truncated_left(tag).map_err(|_| RefusedError)?;
        decrypt(&self.cipher, nonce, text)
    }
}

/// CBC encryption in place.
fn encrypt<C: BlockCipherEncrypt<BlockSize = U16>>(cipher: &C, iv: &[u8], text: &mut [u8]) -> Result<(), RefusedError> {
    let mut before: Array<u8, U16> = iv.try_into().map_err(|_| RefusedError)?;
    for block in text.as_chunks_mut::<16>().0 {
        for (mixed, plain) in before.iter_mut().zip(&*block) {
            *mixed ^= plain;
        }
        cipher.encrypt_block(&mut before);
        block.copy_from_slice(&before);
    }
    Ok(())
}

/// CBC decryption in place.
fn decrypt<C: BlockCipherDecrypt<BlockSize = U16>>(cipher: &C, iv: &[u8], text: &mut [u8]) -> Result<(), RefusedError> {
    let mut before: [u8; 16] = iv.try_into().map_err(|_| RefusedError)?;
    for batch in text.chunks_mut(16 * BATCH) {
        let mut blocks = [Array::<u8, U16>::default(); BATCH];
        let blocks = &mut blocks[..batch.len() / 16];
        for (block, bytes) in blocks.iter_mut().zip(batch.as_chunks::<16>().0) {
            block.copy_from_slice(bytes);
        }
        cipher.decrypt_blocks(blocks);
        for (bytes, block) in batch.as_chunks_mut::<16>().0.iter_mut().zip(blocks) {
            let ciphertext = *bytes;
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = block[i] ^ before[i];
            }
            before = ciphertext;
        }
    }
    Ok(())
}

/// CBC without authentication, whole blocks only.
pub(super) struct Cbc<C>(pub(super) C);

impl<C> Sealing for Cbc<C>
where
    C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + Send,
{
    fn seal(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        encrypt(&self.0, nonce, message)
    }

    fn open(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        decrypt(&self.0, nonce, message)
    }
}

/// Counter mode with a counter of 128 bits.
pub(super) struct Ctr<C>(pub(super) C);

impl<C: BlockCipherEncrypt<BlockSize = U16>> Ctr<C> {
    fn apply(&self, counter: &[u8], text: &mut [u8]) -> Result<(), RefusedError> {
        let mut counter = u128::from_be_bytes(counter.try_into().map_err(|_| RefusedError)?);
        for batch in text.chunks_mut(16 * BATCH) {
            let mut keys = [Array::<u8, U16>::default(); BATCH];
            let keys = &mut keys[..batch.len().div_ceil(16)];
            for key in keys.iter_mut() {
                key.copy_from_slice(&counter.to_be_bytes());
                counter = counter.wrapping_add(1);
            }
            self.0.encrypt_blocks(keys);
            for (byte, key) in batch.iter_mut().zip(keys.iter().flatten()) {
                *byte ^= key;
            }
        }
        Ok(())
    }
}

impl<C: BlockCipherEncrypt<BlockSize = U16> + Send> Sealing for Ctr<C> {
    fn seal(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.apply(nonce, message)
    }

    fn open(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.apply(nonce, message)
    }
}
