//! ECB, CBC and CTR of AES and Serpent.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, consts::U16};
use aes_gcm::{KeyInit, aead::array::Array};
use sealwright::{
    Block,
    mode::cbc_many::Chain,
    raw::{self, Raw},
};
use sealwright_peers::Algorithm;

use crate::{case::Case, referees::agree_in_c};

/// One of RustCrypto's block ciphers under a key.
pub(crate) struct Cipher {
    pub(crate) encrypt: Box<dyn Fn(Block) -> Block>,
    pub(crate) decrypt: Box<dyn Fn(Block) -> Block>,
}

impl Cipher {
    fn of<C>(key: &[u8]) -> Cipher
    where
        C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + KeyInit + Clone + 'static,
    {
        let cipher = C::new_from_slice(key).unwrap();
        let inverse = cipher.clone();
        let encrypt = Box::new(move |block: Block| {
            let mut block = Array::from(block);
            cipher.encrypt_block(&mut block);
            block.into()
        });
        let decrypt = Box::new(move |block: Block| {
            let mut block = Array::from(block);
            inverse.decrypt_block(&mut block);
            block.into()
        });
        Cipher { encrypt, decrypt }
    }

    pub(crate) fn new(serpent: bool, key: &[u8]) -> Cipher {
        match (serpent, key.len()) {
            (true, _) => Cipher::of::<serpent::Serpent>(key),
            (false, 16) => Cipher::of::<aes::Aes128>(key),
            (false, 24) => Cipher::of::<aes::Aes192>(key),
            (false, _) => Cipher::of::<aes::Aes256>(key),
        }
    }

    pub(crate) fn chain(&self, iv: &Block, text: &[u8]) -> Vec<u8> {
        let mut before = *iv;
        let blocks = text.as_chunks::<16>().0.iter().flat_map(|block| {
            before = (self.encrypt)(xor(before, *block));
            before
        });
        blocks.collect()
    }

    pub(crate) fn counted(&self, counter: &Block, text: &[u8]) -> Vec<u8> {
        let first = u128::from_be_bytes(*counter);
        let pads = (0..).flat_map(|at: u128| (self.encrypt)(first.wrapping_add(at).to_be_bytes()));
        text.iter().zip(pads).map(|(byte, pad)| byte ^ pad).collect()
    }
}

pub(crate) fn xor(a: Block, b: Block) -> Block {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

/// The longest text here: 1024 blocks. Longer ones take seconds at the level without instructions for the cipher.
const LONGEST: usize = 1 << 14;

/// ECB, CBC and CTR, whole and in parts, one text and several side by side.
pub(crate) fn raw_modes(case: &Case, serpent: bool) {
    let key = case.key(case.tag);
    let make = |isa| if serpent { raw::serpent(isa, key) } else { raw::aes(isa, key) }.unwrap();
    let (one, other): (Box<dyn Raw>, Box<dyn Raw>) = (make(case.one), make(case.other));
    let cipher = Cipher::new(serpent, key);
    let iv: Block = *case.nonce.first_chunk().unwrap();
    let text = &case.text[..case.text.len().min(LONGEST)];
    let blocks = text[..text.len() / 16 * 16].to_vec();
    let what = format!("{} at {} and {}", if serpent { "Serpent" } else { "AES" }, case.one, case.other);
    let of_each = |each: &dyn Fn(Block) -> Block| -> Vec<u8> {
        blocks.as_chunks::<16>().0.iter().flat_map(|block| each(*block)).collect()
    };

    let mut out = blocks.clone();
    one.ecb_encrypt(&mut out);
    assert_eq!(out, of_each(&cipher.encrypt), "ECB of {what}");
    other.ecb_decrypt(&mut out);
    assert_eq!(out, blocks, "ECB of {what}");
    other.ecb_decrypt(&mut out);
    assert_eq!(out, of_each(&cipher.decrypt), "ECB of {what}");

    let chained = cipher.chain(&iv, &blocks);
    let in_c = match (serpent, key.len()) {
        (false, 16) => Some(Algorithm::Aes128Cbc),
        (false, 32) => Some(Algorithm::Aes256Cbc),
        _ => None,
    };
    if let Some(algorithm) = in_c.filter(|_| !blocks.is_empty()) {
        agree_in_c(algorithm, key, &iv, &[], &blocks, &chained);
    }
    let mut out = blocks.clone();
    one.cbc_encrypt(&iv, &mut out);
    assert_eq!(out, chained, "CBC of {what}");
    other.cbc_decrypt(&iv, &mut out);
    assert_eq!(out, blocks, "CBC of {what}");
    // Chains of several lengths side by side, each with its IV
    let len = 16 * (1 + usize::from(case.cut) % 9);
    let ivs = (0..).map(|at: u128| u128::from_be_bytes(iv).wrapping_mul(at + 1).to_be_bytes());
    let expected: Vec<u8> =
        blocks.chunks(len).zip(ivs.clone()).flat_map(|(text, iv)| cipher.chain(&iv, text)).collect();
    let mut chains: Vec<_> = out.chunks_mut(len).zip(ivs).map(|(text, iv)| Chain { iv, text }).collect();
    other.cbc_encrypt_many(&mut chains);
    assert_eq!(out, expected, "CBC of {what}, chains of {len} bytes");

    let counted = cipher.counted(&iv, text);
    if serpent && key.len() == 32 && !text.is_empty() {
        agree_in_c(Algorithm::Serpent256Ctr, key, &iv, &[], text, &counted);
    }
    let mut out = text.to_vec();
    one.ctr(&iv, &mut out);
    assert_eq!(out, counted, "CTR of {what}");
    let (first, second) = out.split_at_mut(text.len().min(usize::from(case.cut) * 16));
    let mut counter = iv;
    other.ctr(&counter, first);
    raw::advance(&mut counter, (first.len() / 16) as u64);
    other.ctr(&counter, second);
    assert_eq!(out, text, "CTR of {what}, in parts");
}
