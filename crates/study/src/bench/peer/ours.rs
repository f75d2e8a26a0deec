//! Sealwright itself, at one level.

use sealwright::{
    Aead, Isa, Suite,
    block::aes::{Aes128, Aes256},
    mode::gcm::{Aes128Gcm, Aes256Gcm, TagLen},
};

use super::{
    super::subject::Subject,
    records,
    sealing::{Peer, RefusedError, Sealing},
};

/// Sealwright held to a level.
#[derive(Clone, Copy, Debug)]
pub struct Ours(pub Isa);

impl Peer for Ours {
    fn name(&self) -> &'static str {
        super::super::row::OURS
    }

    fn level(&self) -> &'static str {
        self.0.name()
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        if subject == Subject::Tls13Records {
            // The provider takes the best level.
            let ours = || sealwright_rustls::provider(rustls::crypto::aws_lc_rs::default_provider());
            return if self.0 == Isa::best() { records::sealing(&ours(), key) } else { None };
        }
        Some(match subject {
            Subject::Suite(Suite::Aes128Gcm) => {
                let aead = Aes128Gcm::new(self.0, Aes128::new(self.0, key.try_into().ok()?), TagLen::T16);
                Box::new(Key(Box::new(aead), |aead, key| key.try_into().map(|key| aead.rekey(key)).is_ok()))
            }
            Subject::Suite(Suite::Aes256Gcm) => {
                let aead = Aes256Gcm::new(self.0, Aes256::new(self.0, key.try_into().ok()?), TagLen::T16);
                Box::new(Key(Box::new(aead), |aead, key| key.try_into().map(|key| aead.rekey(key)).is_ok()))
            }
            _ => Box::new(Key(subject.aead_at(self.0, key)?, |_, _| false)),
        })
    }
}

/// A key, and how it takes another in place.
struct Key<A: ?Sized>(Box<A>, fn(&mut A, &[u8]) -> bool);

impl<A: Aead + ?Sized> Sealing for Key<A> {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let end = message.len().checked_sub(self.0.tag_len()).ok_or(RefusedError)?;
        let (text, end) = message.split_at_mut(end);
        let tag = self.0.seal_in_place(nonce, ad, text).map_err(|_| RefusedError)?;
        end.copy_from_slice(tag.as_ref());
        Ok(())
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let end = message.len().checked_sub(self.0.tag_len()).ok_or(RefusedError)?;
        let (text, tag) = message.split_at_mut(end);
        self.0.open_in_place(nonce, ad, text, tag).map_err(|_| RefusedError)
    }
    fn rekey(&mut self, key: &[u8]) -> bool {
        self.1(&mut self.0, key)
    }
}
