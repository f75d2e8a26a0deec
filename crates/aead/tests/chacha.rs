//! ChaCha20-Poly1305 and XChaCha20-Poly1305: the vectors of their specifications, lengths, forgeries.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use sealwright::{
    Aead, Isa, Key, RandomNonceKey, SealError, Suite,
    mode::chacha::{ChaCha20Poly1305, XChaCha20Poly1305},
};
use support::bytes;

const TEXT: &[u8] = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
                      sunscreen would be it.";
const AD: [u8; 12] = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];

fn key() -> [u8; 32] {
    std::array::from_fn(|i| 0x80 + i as u8)
}

/// The AEAD, its nonce, the first bytes of the ciphertext, the tag.
type Vector<'a> = (Box<dyn Aead>, &'a [u8], [u8; 8], [u8; 16]);

/// RFC 8439, section 2.8.2, and draft-irtf-cfrg-xchacha-03, appendix A.3.1: the tag, and the first bytes of the
/// ciphertext.
#[test]
fn the_specifications_vectors() {
    let nonce = [7, 0, 0, 0, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47];
    let long: Vec<u8> = (0x40..0x58).collect();
    let cases: [Vector<'_>; 2] = [
        (
            Box::new(ChaCha20Poly1305::new(&key())),
            &nonce,
            [0xd3, 0x1a, 0x8d, 0x34, 0x64, 0x8e, 0x60, 0xdb],
            [0x1a, 0xe1, 0x0b, 0x59, 0x4f, 0x09, 0xe2, 0x6a, 0x7e, 0x90, 0x2e, 0xcb, 0xd0, 0x60, 0x06, 0x91],
        ),
        (
            Box::new(XChaCha20Poly1305::new(&key())),
            &long,
            [0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b],
            [0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79, 0x47, 0xde, 0xaf, 0xd8, 0x78, 0x0a, 0xcf, 0x49],
        ),
    ];
    for (aead, nonce, begin, tag) in cases {
        let mut text = TEXT.to_vec();
        let ours = aead.seal_in_place(nonce, &AD, &mut text).unwrap();
        assert_eq!((&text[..8], ours.as_ref()), (&begin[..], &tag[..]));
        aead.open_in_place(nonce, &AD, &mut text, &tag).unwrap();
        assert_eq!(text, TEXT);
        for bit in 0..128 {
            let (mut forged, mut copy) = (tag, text.clone());
            forged[bit / 8] ^= 1 << (bit % 8);
            assert!(aead.open_in_place(nonce, &AD, &mut copy, &forged).is_err());
            assert!(copy.iter().all(|&byte| byte == 0));
        }
        for len in [0, 8, 11, 13, 16, 23, 25] {
            let mut text = TEXT.to_vec();
            assert_eq!(aead.seal_in_place(&vec![0; len], &AD, &mut text), Err(SealError::NonceLength));
            assert_eq!(text, TEXT);
        }
        assert_eq!(aead.nonce_len(), nonce.len());
    }
}

#[test]
fn as_a_suite_and_with_random_nonces() {
    let mut text = TEXT.to_vec();
    let suite = Suite::ChaCha20Poly1305.aead(&key()).unwrap();
    let tag = suite.seal_in_place(&[1; 12], &AD, &mut text).unwrap();
    ChaCha20Poly1305::new(&key()).open_in_place(&[1; 12], &AD, &mut text, tag.as_ref()).unwrap();
    assert_eq!(text, TEXT);
    let sealing = RandomNonceKey::xchacha20_poly1305(&Key::from(key()));
    let message = sealing.seal(&AD, TEXT).unwrap();
    assert_eq!((message.len(), sealing.open(&AD, &message).unwrap()), (TEXT.len() + 40, TEXT.to_vec()));
}

/// RFC 8439, section 2.8: 2^32 blocks of 64 bytes but one, which makes the key of the tag.
#[test]
fn the_longest_text_is_that_of_the_standard() {
    assert_eq!(sealwright::mode::chacha::MAX_TEXT, 274_877_906_880);
}

/// RustCrypto's crates, at every level: all short lengths, and longer ones.
#[test]
fn agrees_with_an_independent_implementation() {
    let key: [u8; 32] = bytes(32, 1).try_into().unwrap();
    let (theirs, long_theirs) = (
        chacha20poly1305::ChaCha20Poly1305::new((&key).into()),
        chacha20poly1305::XChaCha20Poly1305::new((&key).into()),
    );
    for isa in Isa::available() {
        let (ours, long_ours) = (ChaCha20Poly1305::at(isa, &key), XChaCha20Poly1305::at(isa, &key));
        let every = (0..=720).flat_map(|n| [0, 13, 16, 33].map(|ad| (n, ad)));
        let longer = (721..=1700).chain([2047, 2048, 3000, 4096, 16_384, 70_001]).map(|n| (n, [0, 13, 16, 40][n % 4]));
        for (n, ad) in every.chain(longer) {
            let (ad, text) = (bytes(ad, 3), bytes(n, 2));
            let (nonce, long) = (bytes(12, n as u64), bytes(24, n as u64));
            let mut sealed = text.clone();
            let tag = theirs.encrypt_inout_detached(nonce[..].try_into().unwrap(), &ad, sealed[..].as_mut().into());
            let wanted = (sealed, tag.unwrap().to_vec());
            support::agree(&ours, &nonce, &ad, &text, &wanted, n % 67, &format!("{isa} {n} bytes"));
            let mut sealed = text.clone();
            let tag = long_theirs.encrypt_inout_detached(long[..].try_into().unwrap(), &ad, sealed[..].as_mut().into());
            let wanted = (sealed, tag.unwrap().to_vec());
            support::agree(&long_ours, &long, &ad, &text, &wanted, n % 67, &format!("{isa}, XChaCha20, {n} bytes"));
        }
    }
}
