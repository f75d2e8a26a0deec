//! Modes that are composed of others: committing suites, XChaCha20-Poly1305.

use chacha20poly1305::XChaCha20Poly1305 as Theirs;
use hmac::{Hmac, KeyInit, Mac};
use sealwright::{
    Aead, Suite,
    committing::{COMMITMENT, Committing},
    mode::chacha::XChaCha20Poly1305,
};
use sha2::Sha512;

use crate::{
    case::{Case, agree},
    referees::{by, by_rustcrypto, cipher},
};

/// Any suite, written from the documentation of the construction with RustCrypto's HMAC and AEADs.
pub(crate) fn committing(case: &Case) {
    let suite = Suite::ALL[usize::from(case.tag) % Suite::ALL.len()];
    let (key, nonce) = (&case.key[..suite.key_len()], &case.nonce[..24]);
    let mut mac = <Hmac<Sha512> as KeyInit>::new_from_slice(key).unwrap();
    for part in [b"SEALWRIGHT committing AEAD v1+", suite.aead_name().as_bytes(), &[0], nonce, &case.ad, &[1]] {
        mac.update(part);
    }
    let derived = mac.finalize().into_bytes();
    let (commitment, message_key) = (&derived[..COMMITMENT], &derived[COMMITMENT..][..suite.key_len()]);
    let plain = by_rustcrypto(suite, message_key, nonce[12..].try_into().unwrap(), &[], &case.text);
    let mut theirs = plain.expect("RustCrypto has every suite");
    theirs.splice(case.text.len()..case.text.len(), commitment.iter().copied());

    let aeads = [case.one, case.other].map(|isa| Committing::at(isa, suite, key).unwrap());
    let tag = theirs[case.text.len()..].to_vec();
    assert!(aeads[0].is_key_of(nonce, &case.ad, &tag), "a key of {suite}");
    let mut other = key.to_vec();
    other[usize::from(case.cut) % key.len()] ^= case.nonce_len | 1;
    let other = Committing::at(case.one, suite, &other).unwrap();
    assert!(!other.is_key_of(nonce, &case.ad, &tag), "another key of {suite}");
    agree(case, aeads.map(|aead| Box::new(aead) as Box<dyn Aead>), nonce, &case.text, &theirs, "a committing suite");
}

pub(crate) fn xchacha(case: &Case) {
    let (key, nonce) = (case.key.first_chunk::<32>().unwrap(), &case.nonce[..24]);
    let theirs = by(cipher::<Theirs>(key), nonce, &case.ad, &case.text);
    let aeads = [case.one, case.other].map(|isa| Box::new(XChaCha20Poly1305::at(isa, key)) as Box<dyn Aead>);
    agree(case, aeads, nonce, &case.text, &theirs, "XChaCha20-Poly1305");
}
