//! Other implementations of the suites.

use std::sync::OnceLock;

use aes_gcm::{
    AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
    aead::{array::Array, inout::InOutBuf},
};
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use chacha20poly1305::ChaCha20Poly1305;
use ocb3::{Ocb3, aead::consts::U12};
use sealwright::Suite;
use sealwright_peers::{AbsentError, Algorithm, Library};
use serpent::Serpent;

/// Ciphertext and tag by one of RustCrypto's types.
pub(crate) fn by<A: AeadInOut>(aead: A, nonce: &[u8], ad: &[u8], text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let nonce = Array::try_from(nonce).unwrap();
    let tag = aead.encrypt_inout_detached(&nonce, ad, InOutBuf::from(out.as_mut_slice())).unwrap();
    out.extend_from_slice(&tag);
    out
}

/// RustCrypto's Serpent takes several lengths of key, its modes take but one.
pub(crate) fn cipher<C: KeyInit>(key: &[u8]) -> C {
    C::new_from_slice(key).unwrap()
}

/// Ciphertext, then tag, by RustCrypto; none if it does not have the suite.
pub(crate) fn by_rustcrypto(suite: Suite, key: &[u8], nonce: &[u8; 12], ad: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    Some(match suite {
        Suite::Aes128Gcm => by(cipher::<Aes128Gcm>(key), nonce, ad, text),
        Suite::Aes256Gcm => by(cipher::<Aes256Gcm>(key), nonce, ad, text),
        Suite::Aes128Ocb => by(cipher::<Ocb3<aes::Aes128, U12>>(key), nonce, ad, text),
        Suite::Aes256Ocb => by(cipher::<Ocb3<aes::Aes256, U12>>(key), nonce, ad, text),
        Suite::Serpent256Gcm => by(AesGcm::<Serpent, U12>::from(cipher::<Serpent>(key)), nonce, ad, text),
        Suite::Serpent256Ocb => by(Ocb3::<Serpent, U12>::from(cipher::<Serpent>(key)), nonce, ad, text),
        Suite::ChaCha20Poly1305 => by(cipher::<ChaCha20Poly1305>(key), nonce, ad, text),
        _ => return None,
    })
}

/// The same by AWS-LC, a descendant of OpenSSL.
pub(crate) fn by_aws_lc(suite: Suite, key: &[u8], nonce: &[u8; 12], ad: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match suite {
        Suite::Aes128Gcm => &AES_128_GCM,
        Suite::Aes256Gcm => &AES_256_GCM,
        Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        _ => return None,
    };
    let key = LessSafeKey::new(UnboundKey::new(algorithm, key).unwrap());
    let mut out = text.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let tag = key.seal_in_place_separate_tag(nonce, Aad::from(ad), &mut out).unwrap();
    out.extend_from_slice(tag.as_ref());
    Some(out)
}

/// A suite as the libraries in C have it.
pub(crate) fn in_c(suite: Suite) -> Option<Algorithm> {
    Some(match suite {
        Suite::Aes128Gcm => Algorithm::Aes128Gcm,
        Suite::Aes256Gcm => Algorithm::Aes256Gcm,
        Suite::Aes128Ocb => Algorithm::Aes128Ocb,
        Suite::Aes256Ocb => Algorithm::Aes256Ocb,
        Suite::Serpent256Gcm => Algorithm::Serpent256Gcm,
        Suite::Serpent256Ocb => Algorithm::Serpent256Ocb,
        Suite::ChaCha20Poly1305 => Algorithm::ChaCha20Poly1305,
        _ => return None,
    })
}

/// Each library in C that has the algorithm gives `sealed`: the ciphertext, and the tag if there is one.
pub(crate) fn agree_in_c(algorithm: Algorithm, key: &[u8], nonce: &[u8], ad: &[u8], text: &[u8], sealed: &[u8]) {
    for library in named_referees() {
        let Some(mut key) = library.key(algorithm, key) else { continue };
        let mut out = [text, &[0; 16][..algorithm.tag_len()]].concat();
        key.seal(nonce, ad, &mut out).unwrap();
        assert!(out == sealed, "{algorithm:?} is not as {} has it, {} bytes", library.name(), text.len());
    }
}

/// The libraries in C that are referees here, each with its version, and those that are not installed, each with the
/// reason.
pub fn referees() -> (Vec<Library>, Vec<AbsentError>) {
    sealwright_peers::found()
}

/// The referees, which are named once.
fn named_referees() -> &'static [Library] {
    static REFEREES: OnceLock<Vec<Library>> = OnceLock::new();
    REFEREES.get_or_init(|| {
        let (here, absent) = referees();
        here.iter().for_each(|library| eprintln!("referee: {} {}", library.name(), library.version()));
        absent.iter().for_each(|absent| eprintln!("no referee: {}: {}", absent.name, absent.why));
        here
    })
}
