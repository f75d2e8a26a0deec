//! Sealwright as a peer, at one instruction-set level.

use sealwright::{
    Aead, BatchMessage, Isa, Suite,
    block::{
        BlockCipher, Inverse,
        aes::{Aes128, Aes256, BothWays},
        serpent::Serpent,
    },
    mode::{
        cbc,
        cbc_many::{self, Chain},
        ctr,
        gcm::{Aes128Gcm, Aes256Gcm, TagLen},
        ocb::{self, Ocb},
    },
};

use super::{
    super::subject::Subject,
    records,
    sealing::{BATCH, Batch, Job, Peer, RefusedError, SIDE_BY_SIDE, Sealing},
};

/// Sealwright restricted to one level.
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
            // The provider cannot be restricted to a level: it always uses the best one
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
            Subject::Suite(Suite::Aes128Ocb) => {
                let cipher = BothWays::<11>::new(self.0, key.try_into().ok()?);
                let aead = Box::new(Ocb::new(self.0, cipher, ocb::TagLen::T16));
                Box::new(Key(aead, |aead, key| key.try_into().map(|key| aead.rekey(key)).is_ok()))
            }
            Subject::Suite(Suite::Aes256Ocb) => {
                let cipher = BothWays::<15>::new(self.0, key.try_into().ok()?);
                let aead = Box::new(Ocb::new(self.0, cipher, ocb::TagLen::T16));
                Box::new(Key(aead, |aead, key| key.try_into().map(|key| aead.rekey(key)).is_ok()))
            }
            Subject::Aes128Cbc => Box::new(Cbc(self.0, BothWays::<11>::new(self.0, key.try_into().ok()?))),
            Subject::Aes256Cbc => Box::new(Cbc(self.0, BothWays::<15>::new(self.0, key.try_into().ok()?))),
            Subject::Serpent256Ctr => Box::new(SerpentCtr(self.0, Serpent::new(key).ok()?)),
            _ => Box::new(Key(subject.aead_at(self.0, key)?, |_, _| false)),
        })
    }

    fn batch(&self, subject: Subject) -> Option<Box<dyn Batch>> {
        let gcm = matches!(subject, Subject::Suite(Suite::Aes128Gcm | Suite::Aes256Gcm));
        gcm.then(|| Box::new(Lanes(sealwright::Batch::new(self.0))) as Box<dyn Batch>)
    }

    fn side_by_side(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Batch>> {
        Some(match subject {
            Subject::Aes128Cbc => Box::new(ManyCbc(self.0, Aes128::new(self.0, key.try_into().ok()?))),
            Subject::Aes256Cbc => Box::new(ManyCbc(self.0, Aes256::new(self.0, key.try_into().ok()?))),
            _ => return None,
        })
    }
}

/// CBC of several messages at once.
struct ManyCbc<C>(Isa, C);

impl<C: BlockCipher> Batch for ManyCbc<C> {
    fn seal(&mut self, _: &[u8], jobs: &mut [Job<'_>]) -> Result<(), RefusedError> {
        if jobs.len() > SIDE_BY_SIDE || jobs.iter().any(|job| job.nonce.len() != 16) {
            return Err(RefusedError);
        }
        let mut chains: [Chain<'_>; SIDE_BY_SIDE] = std::array::from_fn(|_| Chain { iv: [0; 16], text: &mut [] });
        for (chain, job) in chains.iter_mut().zip(&mut *jobs) {
            chain.iv.copy_from_slice(job.nonce);
            chain.text = std::mem::take(&mut job.message);
        }
        cbc_many::encrypt(self.0, &self.1, &mut chains);
        Ok(())
    }
}

/// Several messages at once, through the library's `Batch`.
struct Lanes(sealwright::Batch);

impl Batch for Lanes {
    fn seal(&mut self, ad: &[u8], jobs: &mut [Job<'_>]) -> Result<(), RefusedError> {
        let (mut messages, mut ends) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        for Job { key, nonce, message } in jobs {
            let (text, end) = message.split_last_chunk_mut::<16>().ok_or(RefusedError)?;
            let nonce = (*nonce).try_into().map_err(|_| RefusedError)?;
            messages.push(BatchMessage { key, nonce, ad, text, tag: [0; 16] });
            ends.push(end);
        }
        self.0.seal(&mut messages).map_err(|_| RefusedError)?;
        for (end, message) in ends.into_iter().zip(&messages) {
            *end = message.tag;
        }
        Ok(())
    }
}

/// A key, and the function that replaces it in place.
struct Key<A: ?Sized>(Box<A>, fn(&mut A, &[u8]) -> bool);

impl<A: Aead + ?Sized> Sealing for Key<A> {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        if message.len() < self.0.tag_len() {
            return Err(RefusedError);
        }
        self.0.seal_message(nonce, ad, message).map_err(|_| RefusedError)
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.0.open_message(nonce, ad, message).map(drop).map_err(|_| RefusedError)
    }

    fn rekey(&mut self, key: &[u8]) -> bool {
        self.1(&mut self.0, key)
    }
}

/// CBC without authentication, whole blocks only.
struct Cbc<C>(Isa, C);

impl<C: Inverse> Sealing for Cbc<C> {
    fn seal(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        cbc::encrypt(self.0, &self.1, nonce.try_into().map_err(|_| RefusedError)?, message);
        Ok(())
    }

    fn open(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        cbc::decrypt(self.0, &self.1, nonce.try_into().map_err(|_| RefusedError)?, message);
        Ok(())
    }
}

/// Serpent in counter mode without authentication.
struct SerpentCtr(Isa, Serpent);

impl Sealing for SerpentCtr {
    fn seal(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        ctr::apply(self.0, &self.1, nonce.try_into().map_err(|_| RefusedError)?, message);
        Ok(())
    }

    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.seal(nonce, ad, message)
    }
}
