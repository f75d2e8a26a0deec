//! The schemes against other code: RustCrypto's GCM, and the modes of GSCM.
#![allow(clippy::unwrap_used)]

use aes_gcm::{
    Aes128Gcm, Aes256Gcm, KeyInit,
    aead::{AeadInOut, inout::InOutBuf},
};
use sealwright::{Isa, block::aes2s::SecondaryKeys, mode::gscm};
use sealwright_session::{Grant, Material, Plan, SchemeKind, Spec, Strategy, frame, table};

/// The ends of a direction, read from a grant's bytes as `Grant` documents them.
struct Flow {
    key: Vec<u8>,
    secondary: SecondaryKeys,
    prefix: [u8; 4],
    base: u64,
}

fn down(spec: Spec, grant: &Grant) -> Flow {
    let bytes = &grant.to_bytes()[8 + 76..];
    Flow {
        key: bytes[..spec.key_len()].to_vec(),
        secondary: SecondaryKeys { k1: bytes[32..48].try_into().unwrap(), k2: bytes[48..64].try_into().unwrap() },
        prefix: bytes[64..68].try_into().unwrap(),
        base: u64::from_be_bytes(bytes[68..76].try_into().unwrap()),
    }
}

fn expected(spec: Spec, flow: &Flow, nonce: &[u8; 12], ad: &[u8], text: &mut [u8]) -> [u8; 16] {
    let nonce_of = nonce.into();
    match spec.kind {
        #[cfg(feature = "research")]
        SchemeKind::Gscm(_) => {
            let aead = gscm::research_only_by_key(Isa::best(), &flow.key, &flow.secondary).unwrap();
            aead.seal_in_place(nonce, ad, text).unwrap().as_ref().try_into().unwrap()
        }
        SchemeKind::GscmH => {
            let aead = gscm::by_key(Isa::best(), &flow.key, &flow.secondary).unwrap();
            aead.seal_in_place(nonce, ad, text).unwrap().as_ref().try_into().unwrap()
        }
        _ if spec.long => {
            let aead = Aes256Gcm::new_from_slice(&flow.key).unwrap();
            aead.encrypt_inout_detached(nonce_of, ad, InOutBuf::from(text)).unwrap().into()
        }
        _ => {
            let aead = Aes128Gcm::new_from_slice(&flow.key).unwrap();
            aead.encrypt_inout_detached(nonce_of, ad, InOutBuf::from(text)).unwrap().into()
        }
    }
}

#[test]
fn sealed_packets_are_what_others_make_of_the_same_keys() {
    for spec in Spec::all() {
        if spec.kind == SchemeKind::Clear {
            continue;
        }
        let tables = spec.kind.strategy().is_some_and(|x| x != Strategy::Clmul);
        for isa in Isa::available() {
            if tables && isa != Isa::best() {
                continue;
            }
            let mut relay = table(Plan::new(spec, 3).isa(isa)).unwrap();
            let grant = relay.admit(2, 9, &Material::random().unwrap()).unwrap();
            let flow = down(spec, &grant);
            for (n, len) in [0, 1, 12, 36, 100, 600].into_iter().enumerate() {
                let data: Vec<u8> = (0..len).map(|i| i as u8).collect();
                let mut sealed = frame::unsealed(5, &data);
                let mut text = frame::payload(&sealed).to_vec();
                relay.seal(2, 9, &mut sealed).unwrap();
                let seq = flow.base + 1 + n as u64;
                assert_eq!(sealed[8..16], seq.to_be_bytes());
                let nonce = [&flow.prefix[..], &seq.to_be_bytes()].concat().try_into().unwrap();
                let tag = expected(spec, &flow, &nonce, &sealed[..16], &mut text);
                assert_eq!(frame::payload(&sealed), text, "{spec} {isa} {len}");
                assert_eq!(sealed[sealed.len() - 16..], tag, "{spec} {isa} {len}");
            }
        }
    }
}
