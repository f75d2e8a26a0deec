//! Libraries in C: ipsec-mb, libgcrypt, Botan, where they are installed.

use std::cell::RefCell;

use sealwright::Suite;
use sealwright_peers::{Algorithm, Key, Library};

use super::{
    super::subject::Subject,
    sealing::{Peer, RefusedError, Sealing},
};

/// A library that was loaded.
pub(super) struct InC(pub(super) Library);

impl Peer for InC {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn version(&self) -> String {
        self.0.version().to_owned()
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        let algorithm = match subject {
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
            _ => return None,
        };
        Some(Box::new(Keyed(RefCell::new(self.0.key(algorithm, key)?))))
    }
}

/// A key keeps the state of its message: one at a time has it.
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
