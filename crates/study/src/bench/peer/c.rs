//! Libraries in C: OpenSSL, ipsec-mb, libgcrypt, Botan, where they are installed.

use std::cell::RefCell;

use sealwright::Suite;
use sealwright_peers::{Algorithm, Key, Library};

use super::{
    super::subject::Subject,
    sealing::{Batch, Job, Peer, RefusedError, Sealing},
};

/// A C library, loaded.
pub(super) struct InC(pub(super) Library);

impl Peer for InC {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn version(&self) -> String {
        self.0.version().to_owned()
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        Some(Box::new(Keyed(RefCell::new(self.0.key(algorithm(subject)?, key)?))))
    }

    fn side_by_side(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Batch>> {
        let mut made = self.0.key(algorithm(subject)?, key)?;
        // None of the libraries has such a function for algorithms with tags
        made.encrypt_many(&[&[0; 16]], &mut [&mut [0; 16]]).ok()?;
        Some(Box::new(Many(made)))
    }
}

fn algorithm(subject: Subject) -> Option<Algorithm> {
    Some(match subject {
        Subject::Suite(Suite::Aes128Gcm) => Algorithm::Aes128Gcm,
        Subject::Suite(Suite::Aes256Gcm) => Algorithm::Aes256Gcm,
        Subject::Suite(Suite::Aes128Ocb) => Algorithm::Aes128Ocb,
        Subject::Suite(Suite::Aes256Ocb) => Algorithm::Aes256Ocb,
        Subject::Suite(Suite::Serpent256Gcm) => Algorithm::Serpent256Gcm,
        Subject::Suite(Suite::Serpent256Ocb) => Algorithm::Serpent256Ocb,
        Subject::Aes128GcmSiv => Algorithm::Aes128GcmSiv,
        Subject::Aes256GcmSiv => Algorithm::Aes256GcmSiv,
        Subject::Aes128Cbc => Algorithm::Aes128Cbc,
        Subject::Aes256Cbc => Algorithm::Aes256Cbc,
        Subject::Serpent256Ctr => Algorithm::Serpent256Ctr,
        Subject::Suite(Suite::ChaCha20Poly1305) => Algorithm::ChaCha20Poly1305,
        _ => return None,
    })
}

/// CBC of several messages at once.
struct Many(Key);

impl Batch for Many {
    fn seal(&mut self, _: &[u8], jobs: &mut [Job<'_>]) -> Result<(), RefusedError> {
        let ivs: Vec<&[u8]> = jobs.iter().map(|job| job.nonce).collect();
        let mut messages: Vec<&mut [u8]> = jobs.iter_mut().map(|job| &mut *job.message).collect();
        self.0.encrypt_many(&ivs, &mut messages).map_err(|_| RefusedError)
    }
}

/// A key. It also holds the state of a message in progress, so it processes one message at a time.
struct Keyed(RefCell<Key>);

impl Sealing for Keyed {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.0.borrow_mut().seal(nonce, ad, message).map_err(|_| RefusedError)
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.0.borrow_mut().open(nonce, ad, message).map_err(|_| RefusedError)
    }

    fn rekey(&mut self, key: &[u8]) -> bool {
        self.0.get_mut().set(key).is_ok()
    }
}
