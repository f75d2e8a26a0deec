//! The kernels that the tests run, by name.

use std::sync::Arc;

use sealwright::{
    Aead, InPieces, Isa, Suite,
    committing::Committing,
    mode::{cbc_hmac, chacha, gcm, gcm_siv, ocb, rkc::RkcHmac, xaes::Xaes256Gcm},
};

/// A key has the length in its subject.
const FITS: &str = "the key has the right length";

/// A way to make an authenticated mode from a key of some length.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// What it is called.
    pub name: &'static str,
    /// Bytes of its key.
    pub key_len: usize,
    /// Whether texts must be whole blocks: modes with padding take them padded.
    pub whole_blocks: bool,
    /// Makes it.
    pub make: fn(Isa, &[u8]) -> Box<dyn Aead>,
}

const fn of(name: &'static str, key_len: usize, make: fn(Isa, &[u8]) -> Box<dyn Aead>) -> Subject {
    Subject { name, key_len, whole_blocks: false, make }
}

/// Every suite that has a number, and every other authenticated mode of the library. Not constants: each program would
/// compile them again.
pub static SUBJECTS: &[Subject] = &[
    of("aes-128-gcm", 16, |isa, key| Suite::Aes128Gcm.aead_at(isa, key).expect(FITS)),
    of("aes-256-gcm", 32, |isa, key| Suite::Aes256Gcm.aead_at(isa, key).expect(FITS)),
    of("aes-128-ocb", 16, |isa, key| Suite::Aes128Ocb.aead_at(isa, key).expect(FITS)),
    of("aes-256-ocb", 32, |isa, key| Suite::Aes256Ocb.aead_at(isa, key).expect(FITS)),
    of("chacha20-poly1305", 32, |isa, key| Suite::ChaCha20Poly1305.aead_at(isa, key).expect(FITS)),
    of("xchacha20-poly1305", 32, |isa, key| Box::new(chacha::XChaCha20Poly1305::at(isa, key.try_into().expect(FITS)))),
    of("serpent-256-gcm", 32, |isa, key| Suite::Serpent256Gcm.aead_at(isa, key).expect(FITS)),
    of("serpent-256-ocb", 32, |isa, key| Suite::Serpent256Ocb.aead_at(isa, key).expect(FITS)),
    of("aes-192-gcm", 24, |isa, key| gcm::by_key(isa, key, gcm::TagLen::T16).expect(FITS)),
    of("aes-192-ocb", 24, |isa, key| ocb::by_key(isa, key, ocb::TagLen::T16).expect(FITS)),
    of("aes-256-gcm across", 32, |isa, key| gcm::across_by_key(isa, key, gcm::TagLen::T16).expect(FITS)),
    of("aes-256-gcm-siv", 32, |isa, key| gcm_siv::by_key(isa, key).expect(FITS)),
    of("xaes-256-gcm", 32, |isa, key| Box::new(Xaes256Gcm::new(isa, key.try_into().expect(FITS)))),
    of("committing aes-128-gcm", 16, |isa, key| Box::new(Committing::at(isa, Suite::Aes128Gcm, key).expect(FITS))),
    Subject { whole_blocks: true, ..of("aes-256-cbc-hmac", 64, |isa, key| cbc_hmac::by_key(isa, key).expect(FITS)) },
];

/// Modes that differ from those only in sizes, and modes for studies: for tests that do not measure.
pub static MORE: &[Subject] = &[
    of("aes-128-gcm-siv", 16, |isa, key| gcm_siv::by_key(isa, key).expect(FITS)),
    of("aes-128-gcm, tags of 15 bytes", 16, |isa, key| gcm::by_key(isa, key, gcm::TagLen::T15).expect(FITS)),
    of("aes-256-gcm, tags of 12 bytes", 32, |isa, key| gcm::by_key(isa, key, gcm::TagLen::T12).expect(FITS)),
    of("aes-256-ocb, tags of 8 bytes", 32, |isa, key| ocb::by_key(isa, key, ocb::TagLen::T8).expect(FITS)),
    Subject { whole_blocks: true, ..of("aes-128-cbc-hs256", 32, |isa, key| cbc_hmac::by_key(isa, key).expect(FITS)) },
    Subject {
        whole_blocks: true,
        ..of("rkc with hmac", 64, |isa, key| {
            let (key, mac_key) = key.split_first_chunk().expect(FITS);
            Box::new(RkcHmac::research_only(isa, key, mac_key.try_into().expect(FITS)))
        })
    },
];

/// A mode whose messages are sealed piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct InPiecesSubject {
    /// What it is called.
    pub name: &'static str,
    /// Bytes of its key.
    pub key_len: usize,
    /// Whether all pieces but the last must be whole blocks.
    pub whole_blocks: bool,
    /// Makes it.
    pub make: fn(Isa, &[u8]) -> Arc<dyn InPieces>,
}

/// Every mode with pieces.
pub static IN_PIECES: &[InPiecesSubject] = &[
    InPiecesSubject {
        name: "aes-256-gcm in pieces",
        key_len: 32,
        whole_blocks: false,
        make: |isa, key| gcm::pieces_by_key(isa, key, gcm::TagLen::T16).expect(FITS),
    },
    InPiecesSubject {
        name: "aes-128-ocb in pieces",
        key_len: 16,
        whole_blocks: true,
        make: |isa, key| ocb::pieces_by_key(isa, key, ocb::TagLen::T16).expect(FITS),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_is_there() {
        for suite in Suite::ALL {
            assert!(SUBJECTS.iter().any(|subject| subject.name == suite.to_string()), "{suite}");
        }
        for subject in SUBJECTS.iter().chain(MORE) {
            let made = (subject.make)(Isa::best(), &vec![7; subject.key_len]);
            assert_eq!(
                made.seal_in_place(&vec![1; made.nonce_len()], b"", &mut [16; 16]).err(),
                None,
                "{}",
                subject.name
            );
        }
    }
}
