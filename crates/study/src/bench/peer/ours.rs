//! Sealwright itself, at one level.

use sealwright::{Aead, Isa};

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
        Some(Box::new(Key(subject.aead_at(self.0, key)?)))
    }
}

struct Key(Box<dyn Aead>);

impl Sealing for Key {
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
}
