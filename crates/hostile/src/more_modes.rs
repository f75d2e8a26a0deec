//! Compares modes that are not suites with other implementations: raw modes, other lengths of tags and nonces, AES-192,
//! CBC-HMAC, AES-GCM-SIV, XAES, committing suites, XChaCha20-Poly1305, batches, Hash_DRBG.

use aes::cipher::consts::{U1, U6, U8, U12, U13, U15, U16, U32};
use aes_gcm::{Aes256Gcm, AesGcm};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use hmac::{Hmac, Mac};
use ocb3::Ocb3;
use sealwright::{
    Aead, Block, Isa,
    mode::{cbc_hmac, gcm, gcm_siv, ocb, xaes::Xaes256Gcm},
};
use sealwright_peers::Algorithm;
use sha2::Sha256;

use crate::{
    batches::batches,
    case::{Case, agree},
    composed::{committing, xchacha},
    message::{Fault, More, grown, take},
    random_bits::random_bits,
    raw_modes::{Cipher, raw_modes, xor},
    referees::{agree_in_c, by, cipher},
};

/// Any length of key, of nonce and of tag. A short tag is the beginning of the whole one.
fn any_gcm(case: &Case, serpent: bool) {
    macro_rules! theirs {
        ($cipher:ty, $nonce:expr, $key:expr; $($n:literal $size:ident),*) => {
            match $nonce.len() {
                $($n => by(AesGcm::<_, $size>::from(cipher::<$cipher>($key)), $nonce, &case.ad, &case.text),)*
                n => unreachable!("no nonce of {n} bytes"),
            }
        };
        ($cipher:ty, $nonce:expr, $key:expr) => {
            theirs!($cipher, $nonce, $key; 1 U1, 8 U8, 12 U12, 13 U13, 16 U16, 32 U32)
        };
    }
    let key = if serpent { &case.key[..32] } else { case.key(case.tag) };
    let nonce = &case.nonce[..[12, 1, 8, 13, 16, 32][usize::from(case.nonce_len) % 6]];
    let mut theirs = match (serpent, key.len()) {
        (true, _) => theirs!(serpent::Serpent, nonce, key),
        (false, 16) => theirs!(aes::Aes128, nonce, key),
        (false, 24) => theirs!(aes::Aes192, nonce, key),
        (false, _) => theirs!(aes::Aes256, nonce, key),
    };
    use gcm::{ShortTagLen as Short, TagLen::*};
    let (tags, short) = ([T16, T15, T14, T13, T12], [Short::T8, Short::T4]);
    let choice = usize::from(case.tag / 3) % (tags.len() + short.len());
    let aeads = [case.one, case.other].map(|isa| match (serpent, tags.get(choice)) {
        (true, tag) => gcm::serpent_by_key(isa, key, tag.copied().unwrap_or_default()).unwrap(),
        (false, Some(&tag)) => gcm::by_key(isa, key, tag).unwrap(),
        (false, None) => gcm::short_tag_by_key(isa, key, short[choice - tags.len()]).unwrap(),
    });
    theirs.truncate(case.text.len() + aeads[0].tag_len());
    let what = format!("GCM, key of {}, nonce of {}, tag of {}", key.len(), nonce.len(), aeads[0].tag_len());
    agree(case, aeads, nonce, &case.text, &theirs, &what);
}

/// The length of a tag is part of what OCB makes a nonce of.
fn any_ocb(case: &Case, serpent: bool) {
    macro_rules! theirs {
        ($cipher:ty, $key:expr; $($at:literal $nonce:ident $tag:ident $n:literal $len:ident),*) => {
            match usize::from(case.nonce_len) % 6 {
                $($at => {
                    let nonce = &case.nonce[..$n];
                    let aead = Ocb3::<_, $nonce, $tag>::from(cipher::<$cipher>($key));
                    (nonce, ocb::TagLen::$len, by(aead, nonce, &case.ad, &case.text))
                })*
                _ => unreachable!(),
            }
        };
        ($cipher:ty, $key:expr) => {
            theirs!($cipher, $key; 0 U12 U16 12 T16, 1 U6 U16 6 T16, 2 U15 U16 15 T16,
                3 U12 U12 12 T12, 4 U12 U8 12 T8, 5 U8 U12 8 T12)
        };
    }
    let key = if serpent { &case.key[..32] } else { case.key(case.tag) };
    let (nonce, tag, theirs) = match (serpent, key.len()) {
        (true, _) => theirs!(serpent::Serpent, key),
        (false, 16) => theirs!(aes::Aes128, key),
        (false, 24) => theirs!(aes::Aes192, key),
        (false, _) => theirs!(aes::Aes256, key),
    };
    let by_key = if serpent { ocb::serpent_by_key } else { ocb::by_key };
    let aeads = [case.one, case.other].map(|isa| by_key(isa, key, tag).unwrap());
    let what = format!("OCB, key of {}, nonce of {}, tag of {}", key.len(), nonce.len(), tag as usize);
    agree(case, aeads, nonce, &case.text, &theirs, &what);
}

fn siv(case: &Case) {
    let key = if case.tag & 1 == 0 { &case.key[..16] } else { &case.key[..32] };
    let nonce = &case.nonce[..12];
    let (theirs, in_c) = match key.len() {
        16 => (by(cipher::<Aes128GcmSiv>(key), nonce, &case.ad, &case.text), Algorithm::Aes128GcmSiv),
        _ => (by(cipher::<Aes256GcmSiv>(key), nonce, &case.ad, &case.text), Algorithm::Aes256GcmSiv),
    };
    agree_in_c(in_c, key, nonce, &case.ad, &case.text, &theirs);
    let aeads = [case.one, case.other].map(|isa| gcm_siv::by_key(isa, key).unwrap());
    agree(case, aeads, nonce, &case.text, &theirs, "GCM-SIV");
}

/// Written from the specification, with RustCrypto's AES and AES-GCM.
fn xaes(case: &Case) {
    let (key, nonce) = (&case.key[..32], &case.nonce[..24]);
    let aes = Cipher::new(false, key);
    let l = u128::from_be_bytes((aes.encrypt)([0; 16]));
    let subkey = l << 1 ^ if l >> 127 == 1 { 0x87 } else { 0 };
    let derived = [1, 2].map(|number| {
        let mut message = [0, number, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        message[4..].copy_from_slice(&nonce[..12]);
        (aes.encrypt)(xor(message, subkey.to_be_bytes()))
    });
    let theirs = by(cipher::<Aes256Gcm>(&derived.concat()), &nonce[12..], &case.ad, &case.text);
    let aeads =
        [case.one, case.other].map(|isa| Box::new(Xaes256Gcm::new(isa, key.try_into().unwrap())) as Box<dyn Aead>);
    agree(case, aeads, nonce, &case.text, &theirs, "XAES");
}

/// Written from RFC 7518, 5.2.2.1, with RustCrypto's AES and HMAC.
fn chained_and_hashed(case: &Case) {
    let key = if case.tag & 1 == 0 { &case.key[..32] } else { &case.key[..64] };
    let iv: Block = *case.nonce.first_chunk().unwrap();
    let (mac_key, cipher_key) = key.split_at(key.len() / 2);
    let blocks = case.blocks();
    let mut theirs = Cipher::new(false, cipher_key).chain(&iv, &blocks);
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(mac_key).unwrap();
    for part in [&case.ad[..], &iv, &theirs, &(8 * case.ad.len() as u64).to_be_bytes()] {
        mac.update(part);
    }
    let aeads = [case.one, case.other].map(|isa| cbc_hmac::by_key(isa, key).unwrap());
    theirs.extend_from_slice(&mac.finalize().into_bytes()[..aeads[0].tag_len()]);
    agree(case, aeads, &iv, &blocks, &theirs, "CBC-HMAC");
}

/// The input selects a mode, its lengths, two levels, a way to split the text and a fault, and contains key, nonce,
/// associated data and text. All other implementations of the mode agree, and so do both levels.
///
/// If the first byte is 128 or more, the length to which the text is repeated and the part with the fault follow the
/// nonce; otherwise the fault is in text or tag.
pub(crate) fn more_modes(bytes: &[u8]) {
    let Some((&[mode, levels, tag, nonce_len, cut, fault, fault_at], mut rest)) = bytes.split_first_chunk() else {
        return;
    };
    let all = Isa::available();
    let [one, other] = [levels & 15, levels >> 4].map(|level| all[usize::from(level) % all.len()]);
    let ad_len = usize::from(u16::from_be_bytes(take(&mut rest)));
    let (key, nonce) = (take(&mut rest), take(&mut rest));
    let more = (mode & 128 != 0).then(|| More::take(&mut rest));
    let (ad, text) = rest.split_at(rest.len().min(ad_len));
    let text = grown(text, more.as_ref().map_or(0, |more| more.len));
    let fault = Fault::new(fault, fault_at, more.as_ref());
    let case = Case { one, other, tag, nonce_len, cut, fault, key, nonce, ad: ad.to_vec(), text };
    match (mode & 127) % 13 {
        0 => raw_modes(&case, false),
        1 => raw_modes(&case, true),
        2 => any_gcm(&case, false),
        3 => any_gcm(&case, true),
        4 => any_ocb(&case, false),
        5 => any_ocb(&case, true),
        6 => siv(&case),
        7 => xaes(&case),
        8 => chained_and_hashed(&case),
        9 => committing(&case),
        10 => xchacha(&case),
        11 => batches(&case),
        _ => random_bits(&case),
    }
}
