//! An AES-GCM key, and the IV from which its nonces are made.

use rustls::{
    ConnectionTrafficSecrets, Error,
    crypto::cipher::{AeadKey, Iv, NONCE_LEN, UnsupportedOperationError},
};
use sealwright::{Aead, Suite, Tag};
use zeroize::Zeroizing;

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;

/// Protects the messages of one direction under one key.
pub(crate) struct Protection {
    aead: Box<dyn Aead>,
    iv: Zeroizing<[u8; NONCE_LEN]>,
}

impl Protection {
    /// rustls passes keys and IVs of the lengths that the suite states.
    pub(crate) fn new(suite: Suite, key: &AeadKey, iv: &[u8]) -> Self {
        let mut own = Zeroizing::new([0; NONCE_LEN]);
        own.copy_from_slice(iv);
        Protection { aead: suite.aead(key.as_ref()).expect("a key of the length that rustls was told"), iv: own }
    }

    /// The nonce of message `number`: the IV xor the number (RFC 8446, 5.3; RFC 9001, 5.3). In multipath QUIC, the
    /// path's number precedes it (draft-ietf-quic-multipath, 2.4).
    pub(crate) fn nonce(&self, path: u32, number: u64) -> [u8; NONCE_LEN] {
        let mut nonce = *self.iv;
        let count = path.to_be_bytes().into_iter().chain(number.to_be_bytes());
        nonce.iter_mut().zip(count).for_each(|(byte, count)| *byte ^= count);
        nonce
    }

    /// Seals the text at the start of `message` and writes the tag into the rest.
    pub(crate) fn seal_message(&self, nonce: &[u8; NONCE_LEN], ad: &[u8], message: &mut [u8]) -> Result<(), Error> {
        self.aead.seal_message(nonce, ad, message).map_err(|_| Error::EncryptError)
    }

    pub(crate) fn seal(&self, nonce: &[u8; NONCE_LEN], ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        self.aead.seal_in_place(nonce, ad, text).map_err(|_| Error::EncryptError)
    }

    /// Opens `message`, ciphertext followed by the tag, in place; returns the length of the text.
    pub(crate) fn open(&self, nonce: &[u8; NONCE_LEN], ad: &[u8], message: &mut [u8]) -> Result<usize, Error> {
        let (text, tag) = message.split_last_chunk_mut::<TAG>().ok_or(Error::DecryptError)?;
        self.aead.open_in_place(nonce, ad, text, tag).map_err(|_| Error::DecryptError)?;
        Ok(text.len())
    }
}

/// The keys, for a kernel that takes over the records.
pub(crate) fn secrets(
    suite: Suite,
    key: AeadKey,
    iv: Iv,
) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
    match suite {
        Suite::Aes128Gcm => Ok(ConnectionTrafficSecrets::Aes128Gcm { key, iv }),
        Suite::Aes256Gcm => Ok(ConnectionTrafficSecrets::Aes256Gcm { key, iv }),
        _ => Err(UnsupportedOperationError),
    }
}
