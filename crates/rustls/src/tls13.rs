//! TLS 1.3 records (RFC 8446, 5.2): the content type is sealed after the content.

use rustls::{
    ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion,
    crypto::cipher::{
        AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
        OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm, UnsupportedOperationError,
        make_tls13_aad,
    },
};
use sealwright::Suite;

use crate::protection::{Protection, TAG};

/// Record protection with AES-GCM.
pub(crate) struct Records(pub(crate) Suite);

impl Tls13AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Direction(Protection::new(self.0, &key, iv.as_ref())))
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Direction(Protection::new(self.0, &key, iv.as_ref())))
    }

    fn key_len(&self) -> usize {
        self.0.key_len()
    }

    fn extract_keys(&self, key: AeadKey, iv: Iv) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        crate::protection::secrets(self.0, key, iv)
    }
}

/// One direction of a connection, until its keys are updated.
struct Direction(Protection);

impl MessageEncrypter for Direction {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, number: u64) -> Result<OutboundOpaqueMessage, Error> {
        let len = self.encrypted_payload_len(message.payload.len());
        let mut record = PrefixedPayload::with_capacity(len);
        record.extend_from_chunks(&message.payload);
        record.extend_from_slice(&message.typ.to_array());
        record.extend_from_slice(&[0; TAG]);
        self.0.seal_message(&self.0.nonce(0, number), &make_tls13_aad(len), record.as_mut())?;
        // Every sealed record is disguised as application data of TLS 1.2.
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, record))
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        text + 1 + TAG
    }
}

impl MessageDecrypter for Direction {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let ad = make_tls13_aad(message.payload.len());
        let len = self.0.open(&self.0.nonce(0, number), &ad, &mut message.payload)?;
        message.payload.truncate(len);
        message.into_tls13_unpadded_message()
    }
}
