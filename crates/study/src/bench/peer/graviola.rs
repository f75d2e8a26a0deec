//! graviola: formally verified assembly for elliptic curves, Rust intrinsics for AES-GCM.

use std::panic::catch_unwind;

use graviola::aead::AesGcm;
use sealwright::Suite;

use super::{
    super::subject::Subject,
    sealing::{Peer, RefusedError, Sealing, parts},
};

const SUITES: &[Subject] = &[Subject::Suite(Suite::Aes256Gcm), Subject::Suite(Suite::Aes128Gcm)];

pub(super) struct Graviola;

impl Peer for Graviola {
    fn name(&self) -> &'static str {
        "graviola"
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        if !SUITES.contains(&subject) || key.len() != subject.key_len() {
            return None;
        }
        // On a processor without the necessary instructions it panics; it then does not take part
        let key = catch_unwind(|| AesGcm::new(key)).ok()?;
        Some(Box::new(Key(key)))
    }
}

struct Key(AesGcm);

impl Sealing for Key {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, tag) = parts(message)?;
        self.0.encrypt(nonce.try_into().map_err(|_| RefusedError)?, ad, text, tag);
        Ok(())
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (text, tag) = parts(message)?;
        self.0.decrypt(nonce.try_into().map_err(|_| RefusedError)?, ad, text, tag).map_err(|_| RefusedError)
    }
}
