//! TLS 1.2 records with AES-GCM (RFC 5288): the explicit part of the nonce precedes the text.

use rustls::{
    ConnectionTrafficSecrets, Error,
    crypto::cipher::{
        AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter, MessageEncrypter,
        NONCE_LEN, OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls12AeadAlgorithm,
        UnsupportedOperationError, make_tls12_aad,
    },
};
use sealwright::Suite;
use zeroize::Zeroizing;

use crate::protection::{Protection, TAG};

/// Bytes of the nonce that both ends derive and do not send.
const FIXED: usize = 4;
/// Bytes of the nonce that each record contains.
const EXPLICIT: usize = NONCE_LEN - FIXED;
/// The longest text of a record (RFC 5246, 6.2.1).
const LONGEST: usize = 1 << 14;

/// Record protection with AES-GCM.
pub(crate) struct Records(pub(crate) Suite);

impl Tls12AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, fixed: &[u8], start: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(Sender(Protection::new(self.0, &key, &*iv(fixed, start))))
    }

    fn decrypter(&self, key: AeadKey, fixed: &[u8]) -> Box<dyn MessageDecrypter> {
        Box::new(Receiver(Protection::new(self.0, &key, &*iv(fixed, &[0; EXPLICIT]))))
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape { enc_key_len: self.0.key_len(), fixed_iv_len: FIXED, explicit_nonce_len: EXPLICIT }
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        fixed: &[u8],
        start: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        crate::protection::secrets(self.0, key, Iv::copy(&*iv(fixed, start)))
    }
}

/// An IV assembled from its parts. Both come from the key block; the second one is visible in the first record.
fn iv(fixed: &[u8], rest: &[u8]) -> Zeroizing<[u8; NONCE_LEN]> {
    let mut iv = Zeroizing::new([0; NONCE_LEN]);
    iv[..FIXED].copy_from_slice(fixed);
    iv[FIXED..].copy_from_slice(rest);
    iv
}

/// The sending direction. Explicit nonces are an initial value from the key block xor the record's number: they never
/// repeat, and an observer who has not seen the first one cannot tell how many records came before.
struct Sender(Protection);

impl MessageEncrypter for Sender {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, number: u64) -> Result<OutboundOpaqueMessage, Error> {
        let len = self.encrypted_payload_len(message.payload.len());
        let nonce = self.0.nonce(0, number);
        let mut record = PrefixedPayload::with_capacity(len);
        record.extend_from_slice(&nonce[FIXED..]);
        record.extend_from_chunks(&message.payload);
        let ad = make_tls12_aad(number, message.typ, message.version, message.payload.len());
        record.extend_from_slice(&[0; TAG]);
        self.0.seal_message(&nonce, &ad, &mut record.as_mut()[EXPLICIT..])?;
        Ok(OutboundOpaqueMessage::new(message.typ, message.version, record))
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        EXPLICIT + text + TAG
    }
}

/// The receiving direction: its IV ends in zeros, which are replaced by the explicit nonce of a record.
struct Receiver(Protection);

impl MessageDecrypter for Receiver {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let (explicit, sealed) = message.payload.split_first_chunk_mut::<EXPLICIT>().ok_or(Error::DecryptError)?;
        let len = sealed.len().checked_sub(TAG).ok_or(Error::DecryptError)?;
        let nonce = self.0.nonce(0, u64::from_be_bytes(*explicit));
        self.0.open(&nonce, &make_tls12_aad(number, message.typ, message.version, len), sealed)?;
        if len > LONGEST {
            return Err(Error::PeerSentOversizedRecord);
        }
        Ok(message.into_plain_message_range(EXPLICIT..EXPLICIT + len))
    }
}
