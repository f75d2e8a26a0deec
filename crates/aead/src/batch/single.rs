//! The messages of a batch that are processed one after the other.

use alloc::boxed::Box;

use crate::{
    aead::Aead,
    block::{
        Expanded,
        aes::{Aes, Key},
    },
    error::KeyLengthError,
    mode::gcm::{Aes128Gcm, Aes256Gcm, hashed},
    simd::Isa,
};

/// A key of each size, made when a message first needs one; later messages rekey it in place.
#[derive(Default)]
pub(super) struct Single {
    aes128: Option<Box<Aes128Gcm>>,
    aes256: Option<Box<Aes256Gcm>>,
}

impl Single {
    /// AES-GCM under `key`, prepared for this message.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless the key has 16 or 32 bytes.
    pub(super) fn keyed(&mut self, isa: Isa, key: &[u8], ad: &[u8], text: &[u8]) -> Result<&dyn Aead, KeyLengthError> {
        let blocks = hashed(ad, text);
        match Key::new(key) {
            Ok(Key::Aes128(key)) => {
                let new = || Box::new(Aes128Gcm::of_message(isa, Aes::with(Expanded::empty())));
                let gcm = self.aes128.get_or_insert_with(new);
                gcm.rekey_for(key, blocks);
                Ok(&**gcm)
            }
            Ok(Key::Aes256(key)) => {
                let new = || Box::new(Aes256Gcm::of_message(isa, Aes::with(Expanded::empty())));
                let gcm = self.aes256.get_or_insert_with(new);
                gcm.rekey_for(key, blocks);
                Ok(&**gcm)
            }
            _ => Err(KeyLengthError::new(&[16, 32], key.len())),
        }
    }

    /// Wipes the keys.
    pub(super) fn clear(&mut self) {
        if let Some(gcm) = &mut self.aes128 {
            gcm.clear();
        }
        if let Some(gcm) = &mut self.aes256 {
            gcm.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use alloc::vec::Vec;

    use super::*;
    use crate::mode::gcm::{TagLen, by_key};

    /// A short message leaves powers of h of the longer one before, under another key: none of them may count.
    #[test]
    fn a_short_message_behind_a_long_one() {
        let bytes = |len: usize, add: usize| -> Vec<u8> { (0..len).map(|i| (i * 37 + add) as u8).collect() };
        for isa in Isa::available() {
            let mut single = Single::default();
            let mut sealed = |key: &[u8], ad: &[u8], len: usize| {
                let (nonce, mut ours, mut theirs) = ([7; 12], bytes(len, 3), bytes(len, 3));
                let tag = single.keyed(isa, key, ad, &ours).unwrap().seal_in_place(&nonce, ad, &mut ours).unwrap();
                let wanted = by_key(isa, key, TagLen::T16).unwrap().seal_in_place(&nonce, ad, &mut theirs).unwrap();
                assert_eq!((&tag, &ours), (&wanted, &theirs), "{isa} {} {} {len}", key.len(), ad.len());
                single.keyed(isa, key, ad, &ours).unwrap().open_in_place(&nonce, ad, &mut ours, tag.as_ref()).unwrap();
                assert_eq!(ours, bytes(len, 3));
            };
            for len in (0..1200).step_by(if isa > Isa::available()[0] { 1 } else { 13 }) {
                let (key, ad) = (bytes(if len % 2 == 0 { 16 } else { 32 }, len), [0, 1, 16, 17, 48, 49, 200][len % 7]);
                sealed(&bytes(key.len(), len + 1), &[], 2000);
                sealed(&key, &bytes(ad, 5), len);
            }
        }
    }

    #[test]
    fn keys_of_other_lengths_are_refused_and_none_is_kept() {
        let mut single = Single::default();
        for len in [0, 15, 24, 33] {
            let error = single.keyed(Isa::best(), &[7; 33][..len], b"", b"").unwrap_err();
            assert_eq!((error.allowed(), error.given()), (&[16, 32][..], len));
        }
        single.clear();
        for len in [16, 32] {
            single.keyed(Isa::best(), &[7; 32][..len], b"", b"").unwrap();
        }
        single.clear();
        let empty = |isa| Aes256Gcm::of_message(isa, Aes::with(Expanded::empty()));
        let (wiped, mut new) = (single.aes256.unwrap(), empty(Isa::best()));
        for nonce in [[1; 12], [2; 12]] {
            let (mut a, mut b) = ([0; 40], [0; 40]);
            assert_eq!(wiped.seal_in_place(&nonce, b"ad", &mut a), new.seal_in_place(&nonce, b"ad", &mut b));
            assert_eq!(a, b);
        }
        new.rekey(&[7; 32]);
        assert_ne!(wiped.seal_in_place(&[1; 12], b"", &mut []), new.seal_in_place(&[1; 12], b"", &mut []));
    }
}
