//! ring: BoringSSL's assembly under a Rust interface.

use super::{Peer, Refused, Sealing, parts};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};
use sealwright::Suite;

const SUITES: &[(Suite, &Algorithm)] = &[(Suite::Aes256Gcm, &AES_256_GCM), (Suite::Aes128Gcm, &AES_128_GCM)];

pub(super) struct Ring;

impl Peer for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn make(&self, suite: Suite, key: &[u8]) -> Option<Box<dyn Sealing>> {
        let (_, algorithm) = SUITES.iter().find(|(known, _)| *known == suite)?;
        Some(Box::new(Key(LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?))))
    }
}

struct Key(LessSafeKey);

impl Sealing for Key {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), Refused> {
        let (text, end) = parts(message)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Refused)?;
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(ad), text).map_err(|_| Refused)?;
        end.copy_from_slice(tag.as_ref());
        Ok(())
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), Refused> {
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Refused)?;
        self.0.open_in_place(nonce, Aad::from(ad), message).map(|_| ()).map_err(|_| Refused)
    }
}
