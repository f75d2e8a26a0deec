//! Both halves of a signature must hold, and only for the message.
#![allow(clippy::unwrap_used)]

use super::*;

fn signed() -> (SigningKey, [u8; HASH], [u8; SIGNATURE]) {
    let key: SigningKey = SigningKey::generate().unwrap().to_text().lines().nth(1).unwrap().parse().unwrap();
    let content = [7; HASH];
    let signature = key.sign(Signed::Detached { comment: "c" }, &content);
    (key, content, signature)
}

fn holds(key: &VerifyingKey, what: Signed<'_>, content: &[u8; HASH], signature: &[u8; SIGNATURE]) -> bool {
    verify(std::slice::from_ref(key), &key.id(), what, content, signature).is_ok()
}

#[test]
fn every_part_is_covered() {
    let (key, content, signature) = signed();
    let (key, what) = (key.verifying_key(), Signed::Detached { comment: "c" });
    assert!(holds(key, what, &content, &signature));
    assert!(!holds(key, Signed::Detached { comment: "d" }, &content, &signature));
    assert!(!holds(key, what, &[8; HASH], &signature));
    for at in [0, 31, 32, 63, 64, 100, 2000, SIGNATURE - 1] {
        let mut other = signature;
        other[at] ^= 1;
        assert!(!holds(key, what, &content, &other), "{at}");
    }
    let (other, ..) = signed();
    assert!(!holds(other.verifying_key(), what, &content, &signature));
    assert!(matches!(
        verify(std::slice::from_ref(other.verifying_key()), &key.id(), what, &content, &signature),
        Err(Error::OtherSigner(id)) if id == key.id_text()
    ));
}

/// A half of one key's signature does not go with a half of another's, although both are over one content.
#[test]
fn halves_of_two_keys_do_not_mix() {
    let (one, content, first) = signed();
    let (_, _, second) = signed();
    let mut mixed = first;
    mixed[64..].copy_from_slice(&second[64..]);
    assert!(!holds(one.verifying_key(), Signed::Detached { comment: "c" }, &content, &mixed));
    let mut mixed = second;
    mixed[64..].copy_from_slice(&first[64..]);
    assert!(!holds(one.verifying_key(), Signed::Detached { comment: "c" }, &content, &mixed));
}

#[test]
fn kinds_do_not_mix() {
    let (key, content, _) = signed();
    let (fixed, commitment) = ([b'x'; 12], [b'y'; 32]);
    let signature = key.sign(Signed::Text { fixed: &fixed, commitment: &commitment }, &content);
    let comment = "x".repeat(12) + &"y".repeat(32);
    assert!(!holds(key.verifying_key(), Signed::Detached { comment: &comment }, &content, &signature));
    let what = Signed::Text { fixed: &fixed, commitment: &commitment };
    assert!(holds(key.verifying_key(), what, &content, &signature));
    assert!(!holds(key.verifying_key(), Signed::Text { fixed: &fixed, commitment: &[0; 32] }, &content, &signature));
}

#[test]
fn keys_go_both_ways_as_text() {
    let (key, ..) = signed();
    let public: VerifyingKey = key.verifying_key().to_string().parse().unwrap();
    assert_eq!(public.to_bytes(), key.verifying_key().to_bytes());
    assert_eq!((public.to_bytes().len(), key.verifying_key().to_string().len()), (1984, 3193));
    for wrong in ["", "seal1abc", "seal-verify1qqqq"] {
        assert!(wrong.parse::<VerifyingKey>().is_err() && wrong.parse::<SigningKey>().is_err(), "{wrong}");
    }
}

/// Under a key of small order signatures verify that nobody made; a key with a byte more or less is no key.
#[test]
fn keys_that_prove_nothing_are_refused() {
    let bytes = signed().0.verifying_key().to_bytes();
    let parsed = |bytes: &[u8]| crate::key::text::encode("seal-verify", bytes).parse::<VerifyingKey>();
    assert!(parsed(&bytes).is_ok());
    let neutral = [&[1][..], &[0; 31], &bytes[32..]].concat();
    assert!(parsed(&neutral).is_err());
    assert!(parsed(&bytes[..bytes.len() - 1]).is_err() && parsed(&[&bytes[..], &[0]].concat()).is_err());
    let signing = |bytes: &[u8]| crate::key::text::encode("seal-signing-key-", bytes).parse::<SigningKey>();
    assert!(signing(&[7; 32]).is_ok() && signing(&[7; 31]).is_err() && signing(&[7; 33]).is_err());
}
