//! Compares suites with other implementations, and with themselves at other levels.

use std::sync::{Arc, OnceLock};

use aes_gcm::{
    AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
    aead::{array::Array, inout::InOutBuf},
};
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ocb3::{Ocb3, aead::consts::U12};
use sealwright::{
    InPieces, Isa, Suite,
    mode::{gcm, ocb},
};
use sealwright_peers::{AbsentError, Algorithm, Library};
use serpent::Serpent;

use crate::more_modes::cipher;

/// Ciphertext, then tag, by RustCrypto; none if it does not have the suite.
fn by_rustcrypto(suite: Suite, key: &[u8], nonce: &[u8; 12], ad: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let mut out = text.to_vec();
    let buffer = InOutBuf::from(out.as_mut_slice());
    let nonce = Array::from(*nonce);
    let tag = match suite {
        Suite::Aes128Gcm => Aes128Gcm::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, ad, buffer),
        Suite::Aes256Gcm => Aes256Gcm::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, ad, buffer),
        Suite::Aes128Ocb => {
            Ocb3::<aes::Aes128, U12>::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, ad, buffer)
        }
        Suite::Aes256Ocb => {
            Ocb3::<aes::Aes256, U12>::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, ad, buffer)
        }
        Suite::Serpent256Gcm => {
            AesGcm::<Serpent, U12>::from(cipher::<Serpent>(key)).encrypt_inout_detached(&nonce, ad, buffer)
        }
        Suite::Serpent256Ocb => {
            Ocb3::<Serpent, U12>::from(cipher::<Serpent>(key)).encrypt_inout_detached(&nonce, ad, buffer)
        }
        _ => return None,
    };
    out.extend_from_slice(&tag.unwrap());
    Some(out)
}

/// The same by AWS-LC, a descendant of OpenSSL.
fn by_aws_lc(suite: Suite, key: &[u8], nonce: &[u8; 12], ad: &[u8], text: &[u8]) -> Option<Vec<u8>> {
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

/// The same by a C library; none if it does not have the suite.
fn by_c(library: Library, suite: Suite, key: &[u8], nonce: &[u8; 12], ad: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match suite {
        Suite::Aes128Gcm => Algorithm::Aes128Gcm,
        Suite::Aes256Gcm => Algorithm::Aes256Gcm,
        Suite::Aes128Ocb => Algorithm::Aes128Ocb,
        Suite::Aes256Ocb => Algorithm::Aes256Ocb,
        Suite::Serpent256Gcm => Algorithm::Serpent256Gcm,
        Suite::Serpent256Ocb => Algorithm::Serpent256Ocb,
        Suite::ChaCha20Poly1305 => Algorithm::ChaCha20Poly1305,
        _ => return None,
    };
    let mut out = [text, &[0; 16]].concat();
    library.key(algorithm, key)?.seal(nonce, ad, &mut out).unwrap();
    Some(out)
}

/// The suite's mode in pieces, if it has them, and how many bytes they are multiples of.
fn in_pieces(isa: Isa, suite: Suite, key: &[u8]) -> Option<(Arc<dyn InPieces>, usize)> {
    match suite {
        Suite::Aes128Gcm | Suite::Aes256Gcm => Some((gcm::pieces_by_key(isa, key, gcm::TagLen::T16).unwrap(), 1)),
        Suite::Aes128Ocb | Suite::Aes256Ocb => Some((ocb::pieces_by_key(isa, key, ocb::TagLen::T16).unwrap(), 16)),
        _ => None,
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

/// The input names a suite, two levels, a way to cut the text and a fault, and holds nonce, associated data and text.
/// All implementations and both levels agree; the fault is noticed, and leaves no text.
pub(crate) fn modes(bytes: &[u8]) {
    let Some((&[suite, levels, ad_len, cut, fault, fault_at, key], rest)) = bytes.split_first_chunk() else { return };
    let Some((nonce, rest)) = rest.split_first_chunk::<12>() else { return };
    let (ad, text) = rest.split_at(rest.len().min(ad_len.into()));
    let suite = Suite::ALL[usize::from(suite) % Suite::ALL.len()];
    let all: Vec<Isa> = Isa::available();
    let [one, other] = [levels & 15, levels >> 4].map(|level| all[usize::from(level) % all.len()]);
    let key: Vec<u8> = (0..suite.key_len() as u8).map(|i| i.wrapping_mul(key)).collect();
    let (sealing, opening) = (suite.aead_at(one, &key).unwrap(), suite.aead_at(other, &key).unwrap());

    let mut sealed = text.to_vec();
    let tag = sealing.seal_in_place(nonce, ad, &mut sealed).unwrap();
    sealed.extend_from_slice(tag.as_ref());
    let referees = [
        ("RustCrypto", by_rustcrypto(suite, &key, nonce, ad, text)),
        ("AWS-LC", by_aws_lc(suite, &key, nonce, ad, text)),
    ];
    assert!(referees.iter().any(|(_, theirs)| theirs.is_some()), "{suite} has no referee");
    for (who, theirs) in referees {
        assert!(theirs.is_none_or(|theirs| theirs == sealed), "{suite} at {one} is not as {who} has it");
    }
    for &library in named_referees() {
        let theirs = by_c(library, suite, &key, nonce, ad, text);
        assert!(theirs.is_none_or(|theirs| theirs == sealed), "{suite} at {one} is not as {} has it", library.name());
    }

    // In pieces, and from one buffer to another, at the other level
    let mut pieces = text.to_vec();
    let (a, b) = pieces.split_at_mut(text.len().min(cut.into()));
    assert_eq!(opening.seal_scattered(nonce, ad, &mut [a, b]).unwrap(), tag, "{suite} at {other}");
    assert_eq!(pieces, sealed[..text.len()]);
    if let Some((key, unit)) = in_pieces(other, suite, &key) {
        let mut message = key.begin(nonce, ad).unwrap();
        let mut pieces = text.to_vec();
        for piece in pieces.chunks_mut((usize::from(cut) + 1).next_multiple_of(unit)) {
            message.seal(piece).unwrap();
            message = message.duplicate();
        }
        assert_eq!(message.finish(), tag, "{suite} at {other}, in pieces");
        assert_eq!(pieces, sealed[..text.len()], "{suite} at {other}, in pieces");
    }
    let (ciphertext, tag) = sealed.split_at(text.len());
    let mut out = vec![0xa5; text.len()];
    opening.open_to(nonce, ad, ciphertext, tag, &mut out).unwrap();
    assert_eq!(out, text, "{suite} sealed at {one}, opened at {other}");

    if fault != 0 {
        let at = usize::from(fault_at) % sealed.len();
        sealed[at] ^= fault;
        let (ciphertext, tag) = sealed.split_at_mut(text.len());
        assert!(opening.open_in_place(nonce, ad, ciphertext, tag).is_err(), "{suite} at {other}: a fault");
        assert!(ciphertext.iter().all(|&byte| byte == 0), "{suite} at {other}: a refused text stays");
    }
}
