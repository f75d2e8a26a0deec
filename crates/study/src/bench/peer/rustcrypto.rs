//! RustCrypto's `aes-gcm`, `aes-gcm-siv` and `ocb3` with its `aes` and `serpent`: generic Rust, with intrinsics where
//! the cipher uses them. Also CBC, counter mode, XAES and RKC, composed of its `aes`, `serpent`, `hmac` and `sha2`.

use aes::{
    Aes128, Aes256,
    cipher::{BlockCipherEncrypt, array::Array},
};
use aes_gcm::{
    Aes256Gcm, AesGcm,
    aead::{AeadInOut, KeyInit, Nonce, Tag, consts::U12},
};
use aes_gcm_siv::AesGcmSiv;
use ocb3::Ocb3;
use sealwright::Suite;
use serpent::Serpent;

use super::{
    super::subject::Subject,
    composed::{Cbc, CbcHmac, Ctr},
    sealing::{Peer, RefusedError, Sealing, parts},
};
use crate::plain_rkc;

pub(super) struct RustCrypto;

impl Peer for RustCrypto {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn packages(&self) -> Vec<&'static str> {
        vec!["aes-gcm", "aes-gcm-siv", "ocb3", "aes", "serpent", "hmac", "sha2"]
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        if key.len() != subject.key_len() {
            return None;
        }
        let suite = match subject {
            Subject::Suite(suite) => suite,
            Subject::Aes128CbcHmac => return composed::<Aes128>(key, subject.tag_len()),
            Subject::Aes256CbcHmac => return composed::<Aes256>(key, subject.tag_len()),
            Subject::Aes128Cbc => return Some(Box::new(Cbc(Aes128::new_from_slice(key).ok()?))),
            Subject::Aes256Cbc => return Some(Box::new(Cbc(Aes256::new_from_slice(key).ok()?))),
            Subject::Serpent256Ctr => return Some(Box::new(Ctr(<Serpent as KeyInit>::new_from_slice(key).ok()?))),
            Subject::Aes128GcmSiv => return keyed::<Aes128, AesGcmSiv<Aes128>>(key),
            Subject::Aes256GcmSiv => return keyed::<Aes256, AesGcmSiv<Aes256>>(key),
            Subject::Xaes256Gcm => return Some(Box::new(Xaes::new(key)?)),
            Subject::Rkc => return Some(Box::new(PlainRkc(key.try_into().ok()?))),
            _ => return None,
        };
        match suite {
            Suite::Aes256Gcm => keyed::<Aes256, AesGcm<Aes256, U12>>(key),
            Suite::Aes128Gcm => keyed::<Aes128, AesGcm<Aes128, U12>>(key),
            Suite::Aes256Ocb => keyed::<Aes256, Ocb3<Aes256>>(key),
            Suite::Aes128Ocb => keyed::<Aes128, Ocb3<Aes128>>(key),
            Suite::Serpent256Gcm => keyed::<Serpent, AesGcm<Serpent, U12>>(key),
            Suite::Serpent256Ocb => keyed::<Serpent, Ocb3<Serpent>>(key),
            _ => None,
        }
    }
}

fn composed<C>(key: &[u8], tag_len: usize) -> Option<Box<dyn Sealing>>
where
    CbcHmac<C>: Sealing + 'static,
    C: KeyInit,
{
    Some(Box::new(CbcHmac::<C>::new(key, tag_len)?))
}

/// The mode `A` with the cipher `C`.
fn keyed<C: KeyInit, A: AeadInOut + From<C> + Send + Sync + 'static>(key: &[u8]) -> Option<Box<dyn Sealing>> {
    Some(Box::new(Key(A::from(C::new_from_slice(key).ok()?))))
}

struct Key<A>(A);

impl<A: AeadInOut + Send + Sync> Sealing for Key<A> {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, end) = parts(message)?;
        let nonce = <&Nonce<A>>::try_from(nonce).map_err(|_| RefusedError)?;
        let tag = self.0.encrypt_inout_detached(nonce, ad, text.into()).map_err(|_| RefusedError)?;
        end.copy_from_slice(&tag);
        Ok(())
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, tag) = parts(message)?;
        let nonce = <&Nonce<A>>::try_from(nonce).map_err(|_| RefusedError)?;
        let tag = <&Tag<A>>::try_from(tag.as_slice()).map_err(|_| RefusedError)?;
        self.0.decrypt_inout_detached(nonce, ad, text.into(), tag).map_err(|_| RefusedError)
    }
}

/// XAES-256-GCM (C2SP) composed of `aes` and `aes-gcm`: each message has a key that CMAC derives from half of its
/// nonce.
struct Xaes {
    cipher: Aes256,
    /// The subkey K1 of CMAC.
    subkey: u128,
}

impl Xaes {
    fn new(key: &[u8]) -> Option<Self> {
        let cipher = Aes256::new_from_slice(key).ok()?;
        let mut l = Array::default();
        cipher.encrypt_block(&mut l);
        let l = u128::from_be_bytes(l.into());
        Some(Xaes { cipher, subkey: (l << 1) ^ (0u128.wrapping_sub(l >> 127) & 0x87) })
    }

    /// The key of a message, and the rest of the nonce.
    fn derive<'a>(&self, nonce: &'a [u8]) -> Result<(Key<Aes256Gcm>, &'a [u8]), RefusedError> {
        let (context, rest) = nonce.split_at_checked(12).ok_or(RefusedError)?;
        let mut blocks = [1u8, 2].map(|counter| {
            let mut block = [0, counter, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            block[4..].copy_from_slice(context);
            Array::from((u128::from_be_bytes(block) ^ self.subkey).to_be_bytes())
        });
        self.cipher.encrypt_blocks(&mut blocks);
        let halves = blocks.map(Into::<[u8; 16]>::into);
        let key = Aes256Gcm::new_from_slice(halves.as_flattened()).map_err(|_| RefusedError)?;
        Ok((Key(key), rest))
    }
}

impl Sealing for Xaes {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (key, nonce) = self.derive(nonce)?;
        key.seal(nonce, ad, message)
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (key, nonce) = self.derive(nonce)?;
        key.open(nonce, ad, message)
    }
}

/// RKC-R composed of `aes` and `sha2`.
struct PlainRkc([u8; 32]);

impl Sealing for PlainRkc {
    fn seal(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, end) = message.split_last_chunk_mut().ok_or(RefusedError)?;
        *end = plain_rkc::seal(&self.0, nonce.try_into().map_err(|_| RefusedError)?, text);
        Ok(())
    }

    fn open(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, tag) = message.split_last_chunk_mut().ok_or(RefusedError)?;
        let ours = plain_rkc::open(&self.0, nonce.try_into().map_err(|_| RefusedError)?, text);
        if ours == *tag { Ok(()) } else { Err(RefusedError) }
    }
}
