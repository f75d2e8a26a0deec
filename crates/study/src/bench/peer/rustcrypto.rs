//! RustCrypto's `aes-gcm`: generic Rust over intrinsics.

use super::{Peer, Refused, Sealing, parts};
use aes_gcm::{
    Aes128Gcm, Aes256Gcm,
    aead::{AeadInOut, KeyInit, Nonce, Tag},
};
use sealwright::Suite;

pub(super) struct RustCrypto;

impl Peer for RustCrypto {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn package(&self) -> &'static str {
        "aes-gcm"
    }

    fn make(&self, suite: Suite, key: &[u8]) -> Option<Box<dyn Sealing>> {
        match suite {
            Suite::Aes256Gcm => keyed::<Aes256Gcm>(key),
            Suite::Aes128Gcm => keyed::<Aes128Gcm>(key),
            _ => None,
        }
    }
}

fn keyed<A: AeadInOut + KeyInit + Send + Sync + 'static>(key: &[u8]) -> Option<Box<dyn Sealing>> {
    Some(Box::new(Key(A::new_from_slice(key).ok()?)))
}

struct Key<A>(A);

impl<A: AeadInOut + Send + Sync> Sealing for Key<A> {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), Refused> {
        let (text, end) = parts(message)?;
        let nonce = <&Nonce<A>>::try_from(nonce).map_err(|_| Refused)?;
        let tag = self.0.encrypt_inout_detached(nonce, ad, text.into()).map_err(|_| Refused)?;
        end.copy_from_slice(&tag);
        Ok(())
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), Refused> {
        let (text, tag) = parts(message)?;
        let nonce = <&Nonce<A>>::try_from(nonce).map_err(|_| Refused)?;
        let tag = <&Tag<A>>::try_from(tag.as_slice()).map_err(|_| Refused)?;
        self.0.decrypt_inout_detached(nonce, ad, text.into(), tag).map_err(|_| Refused)
    }
}
