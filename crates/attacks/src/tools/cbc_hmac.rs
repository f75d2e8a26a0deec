//! CBC with HMAC: the strong target of attacks on CBC.

use sealwright::{Isa, mode::cbc_hmac::A128CbcHs256};

use super::enc::IV;
use crate::attack::AttackError;

/// A128CBC-HS256 under a key unknown to the attacker, with one IV.
pub(crate) struct CbcHmac(A128CbcHs256);

const KEY: [u8; 32] = *b"the key of the MAC, then another";

impl CbcHmac {
    pub(crate) fn new() -> CbcHmac {
        CbcHmac(A128CbcHs256::new(Isa::best(), &KEY))
    }

    /// Ciphertext and tag.
    pub(crate) fn seal(&self, text: &[u8]) -> Result<Vec<u8>, AttackError> {
        let mut sealed = text.to_vec();
        let tag = self.0.seal(&IV, &[], &mut sealed)?;
        Ok([&sealed[..], tag.as_ref()].concat())
    }

    /// The text, or nothing if anything was changed.
    pub(crate) fn open(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.open_with(&IV, message)
    }

    /// The same with an IV that the attacker chose.
    pub(crate) fn open_with(&self, iv: &[u8; 16], message: &[u8]) -> Option<Vec<u8>> {
        let (text, tag) = message.split_last_chunk::<16>()?;
        let mut text = text.to_vec();
        self.0.open(iv, &[], &mut text, tag).ok().map(|()| text)
    }

    /// Decrypts without checking the tag: the text, if its padding is right.
    #[cfg(test)]
    pub(crate) fn open_without_tag(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.read_without_tag(&IV, message)
    }

    /// The same with an IV that the attacker chose.
    #[cfg(test)]
    pub(crate) fn read_without_tag(&self, iv: &[u8; 16], message: &[u8]) -> Option<Vec<u8>> {
        let (text, _) = message.split_last_chunk::<16>()?;
        let cipher = sealwright::raw::aes(Isa::best(), &KEY[16..]).ok()?;
        let mut plain = text.to_vec();
        cipher.ecb_decrypt(&mut plain);
        let before = [&iv[..], text].concat();
        plain.iter_mut().zip(before).for_each(|(byte, before)| *byte ^= before);
        let padding = usize::from(*plain.last()?);
        let right =
            (1..=16).contains(&padding) && plain.iter().rev().take(padding).all(|&byte| byte as usize == padding);
        right.then(|| plain[..plain.len() - padding].to_vec())
    }
}
