//! GSCM as the paper has it, and hardened. Vectors of an independent implementation are in `vectors/`; here: every
//! length, what is shared, and what is broken.
#![allow(clippy::unwrap_used)]

mod support;

use sealwright::{
    Isa, SealError,
    block::{
        aes::{Aes128, Aes256},
        aes2s::SecondaryKeys,
    },
    ghash::{Clmul, Table4k_vartime},
    mode::{
        gcm::{self, TagLen},
        gscm::{self, Cluster, GscmH, ResearchOnlyCluster, ResearchOnlyGscm},
    },
};
use support::{aes_block, agree, bytes, hashed, slow_gcm, slow_ghash};

/// FIPS 197, appendix A.1: a key, and round key 5 of its schedule.
const KEY: u128 = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c;
const ROUND_5: u128 = 0xd4d1_c6f8_7c83_9d87_caf2_b8bc_11f9_15bc;

fn secondary(seed: u64) -> SecondaryKeys {
    let block = |seed| bytes(16, seed).try_into().unwrap();
    SecondaryKeys { k1: block(seed), k2: block(seed + 1) }
}

fn xor(x: [u8; 16], y: [u8; 16]) -> [u8; 16] {
    (u128::from_ne_bytes(x) ^ u128::from_ne_bytes(y)).to_ne_bytes()
}

/// AES with 256-bit keys between two more keys, which the hardened AES2S is: `a` = K1 xor round key 0, `b` = K2 xor
/// round key 14.
fn between(key: &[u8], a: [u8; 16], b: [u8; 16]) -> impl Fn([u8; 16]) -> [u8; 16] {
    let aes = aes_block(key);
    move |block| xor(aes(xor(block, a)), b)
}

#[test]
fn with_the_schedules_own_round_keys_it_is_gcm() {
    let own = SecondaryKeys { k1: KEY.to_be_bytes(), k2: ROUND_5.to_be_bytes() };
    for isa in Isa::available() {
        let gcm = gcm::by_key(isa, &KEY.to_be_bytes(), TagLen::T16).unwrap();
        let cluster: ResearchOnlyCluster<11, Clmul> =
            ResearchOnlyCluster::new(isa, Aes128::new(isa, &KEY.to_be_bytes()));
        for n in (0..=300).chain([1024, 1100, 5000]) {
            let (nonce, ad, text) = (bytes(12, n as u64), bytes(n % 50, 3), bytes(n, 2));
            let mut theirs = text.clone();
            let tag = gcm.seal_in_place(&nonce, &ad, &mut theirs).unwrap().as_ref().to_vec();
            agree(&cluster.client(&own), &nonce, &ad, &text, &(theirs, tag), n % 67, &format!("{isa}, {n} bytes"));
        }
    }
}

#[test]
fn hardened_it_is_gcm_over_aes_between_two_keys() {
    // FIPS 197, appendix A.3: a key and the last round key of its schedule.
    let key: Vec<u8> = [0x603d_eb10_15ca_71be_2b73_aef0_857d_7781, 0x1f35_2c07_3b61_08d7_2d98_10a3_0914_dff4_u128]
        .map(u128::to_be_bytes)
        .concat();
    let last = 0xfe48_90d1_e618_8d0b_046d_f344_706c_631e_u128.to_be_bytes();
    for isa in Isa::available() {
        let cluster = Cluster::new(isa, Aes256::new(isa, key[..].try_into().unwrap()));
        for client in 0..3 {
            let keys = secondary(10 * client);
            let ghash: Clmul = cluster.hash_key(&keys);
            let alone = gscm::by_key(isa, &key, &keys).unwrap();
            let cipher = between(&key, xor(keys.k1, key[..16].try_into().unwrap()), xor(keys.k2, last));
            for n in (0..=300).step_by(if client == 0 { 1 } else { 37 }).chain([1024, 1100, 5000]) {
                let (nonce, ad, text) = (bytes(12, n as u64), bytes(n % 50, 3), bytes(n, 2));
                let theirs = slow_gcm(&cipher, cipher([0; 16]), &nonce, &ad, &text);
                let what = format!("{isa}, client {client}, {n} bytes");
                agree(&cluster.client(&keys, &ghash), &nonce, &ad, &text, &theirs, n % 67, &what);
                agree(&*alone, &nonce, &ad, &text, &theirs, n % 5, &what);
            }
        }
    }
}

#[test]
fn strategies_and_ways_to_keep_keys_agree() {
    for isa in Isa::available() {
        let cluster: ResearchOnlyCluster<11, Table4k_vartime> =
            ResearchOnlyCluster::new(isa, Aes128::new(isa, &[9; 16]));
        let keys = secondary(5);
        let alone = gscm::research_only_by_key(isa, &[9; 16], &keys).unwrap();
        for n in (0..=130).chain([300, 1100]) {
            let (nonce, ad, text) = (bytes(12, n as u64), bytes(n % 50, 3), bytes(n, 2));
            let mut theirs = text.clone();
            let tag = alone.seal_in_place(&nonce, &ad, &mut theirs).unwrap().as_ref().to_vec();
            agree(&cluster.client(&keys), &nonce, &ad, &text, &(theirs, tag), n % 67, &format!("{isa}, {n} bytes"));
        }
    }
}

/// The form for packets, the tag behind the text.
#[test]
fn a_message_with_its_tag_is_text_and_tag() {
    for isa in Isa::available() {
        let client = gscm::by_key(isa, &[9; 16], &secondary(5)).unwrap();
        assert_eq!((client.tag_len(), client.nonce_len()), (16, 12));
        for n in [0, 1, 16, 300] {
            let mut message = [&bytes(n, 1)[..], &[0; 16]].concat();
            client.seal_message(&[3; 12], b"ad", &mut message).unwrap();
            let mut text = bytes(n, 1);
            let tag = client.seal_in_place(&[3; 12], b"ad", &mut text).unwrap();
            assert_eq!(message, [&text[..], tag.as_ref()].concat(), "{isa}, {n} bytes");
            assert_eq!(client.open_message(&[3; 12], b"ad", &mut message).unwrap(), bytes(n, 1));
        }
    }
}

/// What a member of the cluster, who knows its key but not the client's, does with one packet of the client's.
fn forge(key: &[u8], ad: &[u8], ciphertext: &[u8], tag: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let h = aes_block(key)([0; 16]);
    let mask = u128::from_be_bytes(tag.try_into().unwrap()) ^ slow_ghash(h, &hashed(ad, ciphertext));
    let mut forged = ciphertext.to_vec();
    forged[0] ^= 1;
    let tag = slow_ghash(h, &hashed(b"other", &forged)) ^ mask;
    (forged, tag.to_be_bytes())
}

#[test]
fn a_member_forges_as_printed_and_not_hardened() {
    let (key, keys, nonce) = ([9; 16], secondary(5), [3; 12]);
    let as_printed = gscm::research_only_by_key(Isa::best(), &key, &keys).unwrap();
    let hardened = gscm::by_key(Isa::best(), &key, &keys).unwrap();
    for (client, broken) in [(as_printed, true), (hardened, false)] {
        let mut text = *b"pay 100 to Bob";
        let tag = client.seal_in_place(&nonce, b"ad", &mut text).unwrap();
        let (mut forged, tag) = forge(&key, b"ad", &text, tag.as_ref());
        assert_eq!(client.open_in_place(&nonce, b"other", &mut forged, &tag).is_ok(), broken);
        assert_eq!(forged, if broken { *b"qay 100 to Bob" } else { [0; 14] });
    }
}

#[test]
fn refuses_what_was_not_sealed() {
    for isa in Isa::available() {
        for client in [
            gscm::research_only_by_key(isa, &[9; 24], &secondary(5)).unwrap(),
            gscm::by_key(isa, &[9; 24], &secondary(5)).unwrap(),
        ] {
            let (mut text, nonce) = (bytes(100, 1), bytes(12, 2));
            let tag = client.seal_in_place(&nonce, b"ad", &mut text).unwrap();
            let refuse = |nonce: &[u8], ad: &[u8], text: &[u8], tag: &[u8]| {
                let mut text = text.to_vec();
                assert!(client.open_in_place(nonce, ad, &mut text, tag).is_err(), "{isa}");
                assert!(text.iter().all(|&b| b == 0), "{isa}: text after a refusal");
            };
            for at in 0..16 {
                let mut wrong: [u8; 16] = tag.as_ref().try_into().unwrap();
                wrong[at] ^= 1 << (at % 8);
                refuse(&nonce, b"ad", &text, &wrong);
            }
            for at in (0..100).step_by(9) {
                let mut wrong = text.clone();
                wrong[at] ^= 0x40;
                refuse(&nonce, b"ad", &wrong, tag.as_ref());
            }
            refuse(&nonce, b"aD", &text, tag.as_ref());
            refuse(&nonce, b"ad", &text[..99], tag.as_ref());
            refuse(&nonce, b"ad", &text, &tag.as_ref()[..12]);
            refuse(&bytes(12, 3), b"ad", &text, tag.as_ref());
            refuse(&bytes(16, 2), b"ad", &text, tag.as_ref());
            client.open_in_place(&nonce, b"ad", &mut text, tag.as_ref()).unwrap();
            assert_eq!(text, bytes(100, 1));
        }
    }
}

#[test]
fn refuses_lengths_it_cannot_take() {
    let client = gscm::by_key(Isa::best(), &[9; 32], &secondary(5)).unwrap();
    for n in (0..=64).filter(|&n| n != 12) {
        let mut text = *b"as it was";
        assert_eq!(client.seal_in_place(&vec![1; n], b"", &mut text), Err(SealError::NonceLength));
        assert_eq!(&text, b"as it was");
    }
    for n in (0..=64).filter(|n| ![16, 24, 32].contains(n)) {
        assert_eq!(gscm::by_key(Isa::best(), &vec![1; n], &secondary(5)).err().unwrap().given(), n);
        assert_eq!(gscm::research_only_by_key(Isa::best(), &vec![1; n], &secondary(5)).err().unwrap().given(), n);
    }
}

#[test]
fn a_client_keeps_32_bytes_and_shows_none() {
    assert_eq!(size_of::<SecondaryKeys>(), 32);
    assert!(size_of::<ResearchOnlyGscm<'_, 11, Clmul>>() <= 4 * size_of::<usize>());
    assert!(size_of::<GscmH<'_, 15, Clmul>>() <= 4 * size_of::<usize>());
    assert_eq!(Cluster::<11>::STATE_BYTES, 176);
    assert_eq!(ResearchOnlyCluster::<15, Table4k_vartime>::STATE_BYTES, 240 + 4096);
    let keys = SecondaryKeys { k1: [0xe5; 16], k2: [0xcd; 16] };
    let shown = format!("{keys:?} {:?}", Cluster::new(Isa::best(), Aes128::new(Isa::best(), &[0xef; 16])));
    for secret in ["229", "205", "239", "e5", "cd", "ef"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
