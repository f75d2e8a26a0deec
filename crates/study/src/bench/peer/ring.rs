//! ring and aws-lc-rs, which has ring's interface: the same code with the `aead` module of either crate.

use sealwright::Suite;

use super::{
    super::subject::Subject,
    records,
    sealing::{Peer, RefusedError, Sealing, parts},
};

/// Defines a peer with ring's interface.
macro_rules! ring_like {
    ($(#[$doc:meta])* $peer:ident, $name:literal, $library:ident $(, $($more:pat => $algorithm:ident),*)?) => {
        $(#[$doc])*
        pub(super) struct $peer;

        impl Peer for $peer {
            fn name(&self) -> &'static str {
                $name
            }

            fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
                let algorithm = match subject {
                    Subject::Suite(Suite::Aes256Gcm) => &$library::aead::AES_256_GCM,
                    Subject::Suite(Suite::Aes128Gcm) => &$library::aead::AES_128_GCM,
                    Subject::Suite(Suite::ChaCha20Poly1305) => &$library::aead::CHACHA20_POLY1305,
                    $($($more => &$library::aead::$algorithm,)*)?
                    Subject::Tls13Records => {
                        return records::sealing(&rustls::crypto::$library::default_provider(), key);
                    }
                    _ => return None,
                };
                let key = $library::aead::UnboundKey::new(algorithm, key).ok()?;
                Some(Box::new($library::aead::LessSafeKey::new(key)))
            }
        }

        impl Sealing for $library::aead::LessSafeKey {
            fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
                use $library::aead::{Aad, Nonce};
                let (text, end) = parts(message)?;
                let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| RefusedError)?;
                let tag = self.seal_in_place_separate_tag(nonce, Aad::from(ad), text).map_err(|_| RefusedError)?;
                end.copy_from_slice(tag.as_ref());
                Ok(())
            }

            fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
                use $library::aead::{Aad, Nonce};
                let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| RefusedError)?;
                self.open_in_place(nonce, Aad::from(ad), message).map(|_| ()).map_err(|_| RefusedError)
            }
        }
    };
}

ring_like!(
    /// BoringSSL's assembly with a Rust interface.
    Ring, "ring", ring
);
ring_like!(
    /// AWS-LC's C and assembly code.
    AwsLc, "aws-lc-rs", aws_lc_rs,
    Subject::Aes128GcmSiv => AES_128_GCM_SIV, Subject::Aes256GcmSiv => AES_256_GCM_SIV
);
