//! RustCrypto's `aes-gcm` and `ocb3` over its `aes` and `serpent`: generic Rust, intrinsics where the cipher has them. And
//! compositions of its `aes`, `hmac` and `sha2`: CBC with HMAC, RKC.

use aes::{Aes128, Aes256};
use aes_gcm::{
    AesGcm,
    aead::{AeadInOut, KeyInit, Nonce, Tag, consts::U12},
};
use ocb3::Ocb3;
use sealwright::Suite;
use serpent::Serpent;

use super::{
    super::subject::Subject,
    composed::CbcHmac,
    sealing::{Peer, RefusedError, Sealing, parts},
};
use crate::plain_rkc;

pub(super) struct RustCrypto;

impl Peer for RustCrypto {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn packages(&self) -> Vec<&'static str> {
        vec!["aes-gcm", "ocb3", "aes", "serpent", "hmac", "sha2"]
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        if key.len() != subject.key_len() {
            return None;
        }
        let suite = match subject {
            Subject::Suite(suite) => suite,
            Subject::Aes128CbcHmac => return composed::<Aes128>(key, subject.tag_len()),
            Subject::Aes256CbcHmac => return composed::<Aes256>(key, subject.tag_len()),
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

/// The mode `A` over the cipher `C`.
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
