//! QUIC packets (RFC 9001, 5.3): the header is authenticated, the payload sealed.

use rustls::{
    Error,
    crypto::cipher::{AeadKey, Iv, NONCE_LEN},
    quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag},
};
use sealwright::Suite;

use crate::{
    header::HeaderKey,
    protection::{Protection, TAG},
};

/// The most packets that one AES-GCM key may seal (RFC 9001, 6.6, for packets of any size).
const CONFIDENTIALITY: u64 = 1 << 23;
/// The number of forgeries after which an AES-GCM key must no longer be used (RFC 9001, 6.6).
const INTEGRITY: u64 = 1 << 52;

/// Packet protection with AES-GCM.
pub(crate) struct Packets(pub(crate) Suite);

impl Algorithm for Packets {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        Box::new(Direction(Protection::new(self.0, &key, iv.as_ref())))
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        Box::new(HeaderKey::new(&key))
    }

    fn aead_key_len(&self) -> usize {
        self.0.key_len()
    }
}

/// One direction of a connection, until its keys are updated.
struct Direction(Protection);

impl Direction {
    fn seal(&self, nonce: &[u8; NONCE_LEN], header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        self.0.seal(nonce, header, payload).map(|tag| Tag::from(tag.as_ref()))
    }

    fn open<'a>(&self, nonce: &[u8; NONCE_LEN], header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        let len = self.0.open(nonce, header, payload)?;
        Ok(&payload[..len])
    }
}

impl PacketKey for Direction {
    fn encrypt_in_place(&self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        self.seal(&self.0.nonce(0, number), header, payload)
    }

    fn encrypt_in_place_for_path(
        &self,
        path: u32,
        number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        self.seal(&self.0.nonce(path, number), header, payload)
    }

    fn decrypt_in_place<'a>(&self, number: u64, header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        self.open(&self.0.nonce(0, number), header, payload)
    }

    fn decrypt_in_place_for_path<'a>(
        &self,
        path: u32,
        number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        self.open(&self.0.nonce(path, number), header, payload)
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        CONFIDENTIALITY
    }

    fn integrity_limit(&self) -> u64 {
        INTEGRITY
    }
}
