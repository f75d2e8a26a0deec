//! Cases that public vectors lack, for every authenticated mode at every level: empty messages, truncated and extended
//! tags, nonces of other lengths. Also, for GCM at the best level, a nonce whose length in bits needs more than 32
//! bits, and texts that are too long for the modes whose limit fits in memory.
#![allow(clippy::unwrap_used)]

use sealwright::{
    Aead, Isa, SealError, Suite,
    mode::{chacha, gcm, gcm_siv, xaes::Xaes256Gcm},
    raw,
};
use sealwright_probes::{
    guarded::Guarded,
    subjects::{MORE, SUBJECTS, Subject},
};

/// Runs a check on every mode at every level.
fn each(check: impl Fn(&Subject, Isa, &dyn Aead, &str)) {
    for isa in Isa::available() {
        for subject in SUBJECTS.iter().chain(MORE) {
            let key: Vec<u8> = (0..subject.key_len as u8).collect();
            check(subject, isa, &*(subject.make)(isa, &key), &format!("{} {isa}", subject.name));
        }
    }
}

/// The shortest text that a mode takes: nothing, or a block of padding.
fn shortest(subject: &Subject) -> Vec<u8> {
    if subject.whole_blocks { vec![16; 16] } else { Vec::new() }
}

/// An empty ciphertext is checked like any other: no tag but its own opens it, with and without associated data.
#[test]
fn empty_messages_are_checked() {
    each(|subject, _, aead, what| {
        let nonce = vec![1; aead.nonce_len()];
        for ad in [&b""[..], b"a"] {
            let mut text = shortest(subject);
            let tag = aead.seal_in_place(&nonce, ad, &mut text).unwrap();
            let tag = tag.as_ref();
            for bit in 0..8 * tag.len() {
                let mut wrong = tag.to_vec();
                wrong[bit / 8] ^= 1 << (bit % 8);
                assert!(aead.open_in_place(&nonce, ad, &mut text.clone(), &wrong).is_err(), "{what}: bit {bit}");
            }
            let other = if ad.is_empty() { &b"a"[..] } else { b"" };
            assert!(aead.open_in_place(&nonce, other, &mut text.clone(), tag).is_err(), "{what}: other data");
            assert!(aead.open_in_place(&vec![2; nonce.len()], ad, &mut text.clone(), tag).is_err(), "{what}: nonce");
            assert!(aead.open_in_place(&nonce, ad, &mut vec![0; text.len() + 1], tag).is_err(), "{what}: longer");
            assert!(aead.open_in_place(&nonce, ad, &mut text, tag).is_ok(), "{what}");
            assert!(text == shortest(subject), "{what}");
        }
    });
}

/// A tag that was truncated, even to nothing, or extended opens nothing.
#[test]
fn tags_of_other_lengths_open_nothing() {
    each(|_, _, aead, what| {
        let nonce = vec![1; aead.nonce_len()];
        let mut text = vec![16; 48];
        let tag = aead.seal_in_place(&nonce, b"ad", &mut text).unwrap().as_ref().to_vec();
        for len in (0..tag.len()).chain([tag.len() + 1, tag.len() + 16]) {
            let mut other = tag.clone();
            other.resize(len, 0);
            let mut text = text.clone();
            assert!(aead.open_in_place(&nonce, b"ad", &mut text, &other).is_err(), "{what}: {len} bytes of tag");
            assert!(text.iter().all(|&byte| byte == 0), "{what}: {len} bytes of tag leave a text");
        }
        aead.open_in_place(&nonce, b"ad", &mut text, &tag).unwrap();
    });
}

/// A nonce of another length is refused, or is another nonce: it is never truncated or padded to the usual length.
#[test]
fn nonces_of_other_lengths_are_other_nonces() {
    each(|_, _, aead, what| {
        let right = vec![0; aead.nonce_len()];
        let mut wanted = vec![16; 48];
        let tag = aead.seal_in_place(&right, b"ad", &mut wanted).unwrap();
        for len in (0..=40).filter(|&len| len != right.len()) {
            let mut text = vec![16; 48];
            match aead.seal_in_place(&vec![0; len], b"ad", &mut text) {
                Ok(other) => {
                    assert!(len > 0, "{what}: an empty nonce");
                    assert!(text != wanted && other != tag, "{what}: a nonce of {len} bytes as one of {}", right.len());
                }
                Err(_) => assert!(text == [16; 48], "{what}: a nonce of {len} bytes is refused after it was used"),
            }
            assert!(
                aead.open_in_place(&vec![0; len], b"ad", &mut wanted.clone(), tag.as_ref()).is_err(),
                "{what}: {len}"
            );
        }
    });
}

/// Of a nonce of 2^29 bytes GHASH takes the length in bits, 2^32, as 64 bits. All its bytes are zero, so that the
/// counter begins at that length times h, which needs no other GHASH to know.
#[test]
fn the_length_of_a_nonce_has_64_bits() {
    let key = [7; 16];
    let cipher = raw::aes(Isa::best(), &key).unwrap();
    let mut h = [0; 16];
    cipher.ecb_encrypt(&mut h);
    // 2^32 as the bits of an element: bit 0 is the first; times x, x times.
    let mut first = 0_u128;
    let (length, mut power) = (1_u128 << 32, u128::from_be_bytes(h));
    for bit in (0..128).rev() {
        first ^= if length >> bit & 1 == 1 { power } else { 0 };
        power = (power >> 1) ^ if power & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    let next = (first >> 32 << 32) | u128::from((first as u32).wrapping_add(1));
    let mut pad = next.to_be_bytes();
    cipher.ecb_encrypt(&mut pad);
    let mut text = [0; 16];
    let nonce = vec![0; 1 << 29];
    let _ = gcm::by_key(Isa::best(), &key, gcm::TagLen::T16).unwrap().seal_in_place(&nonce, b"", &mut text).unwrap();
    assert_eq!(text, pad);
}

/// A text that is a byte too long is refused before a byte of it is accessed: this one has no memory.
#[test]
fn longer_texts_are_refused_unread() {
    let mut memory = Guarded::new(chacha::MAX_TEXT as usize + 1).unwrap();
    let isa = Isa::best();
    let key = [7; 32];
    let modes: [(Box<dyn Aead>, u64); 5] = [
        (Suite::Aes256Gcm.aead(&key).unwrap(), gcm::MAX_TEXT),
        (Box::new(Xaes256Gcm::new(isa, &key)), gcm::MAX_TEXT),
        (gcm_siv::by_key(isa, &key).unwrap(), gcm_siv::MAX_BYTES),
        (Box::new(chacha::ChaCha20Poly1305::new(&key)), chacha::MAX_TEXT),
        (Box::new(chacha::XChaCha20Poly1305::new(&key)), chacha::MAX_TEXT),
    ];
    for (aead, limit) in modes {
        let nonce = vec![1; aead.nonce_len()];
        let text = memory.at(0, limit as usize + 1);
        assert_eq!(aead.seal_in_place(&nonce, b"", text), Err(SealError::TextTooLong));
    }
    let ad = memory.at(0, gcm_siv::MAX_BYTES as usize + 1);
    let siv = gcm_siv::by_key(isa, &key).unwrap();
    assert_eq!(siv.seal_in_place(&[1; 12], ad, &mut []), Err(SealError::AdTooLong));
    assert_eq!(siv.open_in_place(&[1; 12], ad, &mut [], &[0; 16]), Err(sealwright::OpenError));
}
