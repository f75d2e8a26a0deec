//! TLS 1.3 records through the interface of rustls, with any crypto provider.

use std::{hint::black_box, sync::Mutex};

use rustls::{
    CipherSuite, ContentType, ProtocolVersion, SupportedCipherSuite, Tls13CipherSuite,
    crypto::{
        CryptoProvider,
        cipher::{
            AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter, OutboundOpaqueMessage,
            OutboundPlainMessage,
        },
    },
};

use super::{
    super::subject::RECORD_OVERHEAD,
    sealing::{RefusedError, Sealing},
};

/// AES-256-GCM records of TLS 1.3 with `provider` and `key`; `None` if the key does not have 32 bytes.
pub(super) fn sealing(provider: &CryptoProvider, key: &[u8]) -> Option<Box<dyn Sealing>> {
    let key = key.try_into().ok()?;
    let wanted = |suite: &&SupportedCipherSuite| suite.suite() == CipherSuite::TLS13_AES_256_GCM_SHA384;
    let suite = provider.cipher_suites.iter().find(wanted)?.tls13()?;
    let sending = Mutex::new((encrypter(suite, key), 0));
    let receiving = Mutex::new(suite.aead_alg.decrypter(AeadKey::from(key), iv()));
    Some(Box::new(Records { suite, key, sending, receiving }))
}

struct Records {
    suite: &'static Tls13CipherSuite,
    key: [u8; 32],
    /// The encrypter and the next record number, counted from 0: aws-lc requires increasing numbers.
    sending: Mutex<(Box<dyn MessageEncrypter>, u64)>,
    receiving: Mutex<Box<dyn MessageDecrypter>>,
}

fn iv() -> Iv {
    Iv::from([0x36; 12])
}

fn encrypter(suite: &Tls13CipherSuite, key: [u8; 32]) -> Box<dyn MessageEncrypter> {
    suite.aead_alg.encrypter(AeadKey::from(key), iv())
}

/// The record number in a nonce that is a counter.
fn number(nonce: &[u8]) -> Result<u64, RefusedError> {
    nonce.last_chunk().map(|count| u64::from_be_bytes(*count)).ok_or(RefusedError)
}

fn record(
    encrypter: &mut dyn MessageEncrypter,
    message: &[u8],
    number: u64,
) -> Result<OutboundOpaqueMessage, RefusedError> {
    let text = message.len().checked_sub(RECORD_OVERHEAD).and_then(|len| message.get(..len)).ok_or(RefusedError)?;
    let (typ, version) = (ContentType::ApplicationData, ProtocolVersion::TLSv1_2);
    encrypter.encrypt(OutboundPlainMessage { typ, version, payload: text.into() }, number).map_err(|_| RefusedError)
}

impl Sealing for Records {
    fn seal(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let record = record(&mut *encrypter(self.suite, self.key), message, number(nonce)?)?;
        message.copy_from_slice(record.payload.as_ref());
        Ok(())
    }

    fn send(&self, _: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let (encrypter, number) = &mut *self.sending.lock().map_err(|_| RefusedError)?;
        black_box(record(&mut **encrypter, message, *number)?);
        *number += 1;
        Ok(())
    }

    fn open(&self, nonce: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let decrypter = &mut *self.receiving.lock().map_err(|_| RefusedError)?;
        let message = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, message);
        decrypter.decrypt(message, number(nonce)?).map(|_| ()).map_err(|_| RefusedError)
    }
}
