//! Every way to call an `Aead` gives what sealing in place gives: from one buffer to another, scattered, attached.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use sealwright::{
    Aead, Isa, Key, Suite,
    block::{aes::BothWays, serpent::Serpent},
    committing::Committing,
    ghash::Clmul,
    mode::{gcm, gcm_siv, ocb, xaes::Xaes256Gcm},
};
use support::bytes;
use zeroize::ZeroizeOnDrop;

/// Modes with kernels that read from another buffer, and modes that copy first.
fn aeads(isa: Isa) -> Vec<(String, Box<dyn Aead>)> {
    let mut all: Vec<(String, Box<dyn Aead>)> = Vec::new();
    for suite in Suite::ALL {
        all.push((suite.to_string(), suite.aead_at(isa, &bytes(suite.key_len(), 1)).unwrap()));
    }
    all.push(("aes-192-gcm".into(), gcm::by_key(isa, &bytes(24, 1), gcm::TagLen::T12).unwrap()));
    for len in [16, 24, 32] {
        all.push((
            format!("aes-{} across", 8 * len),
            gcm::across_by_key(isa, &bytes(len, 1), gcm::TagLen::T16).unwrap(),
        ));
    }
    all.push(("aes-192-ocb".into(), ocb::by_key(isa, &bytes(24, 1), ocb::TagLen::T8).unwrap()));
    all.push(("aes-256-gcm-siv".into(), gcm_siv::by_key(isa, &bytes(32, 1)).unwrap()));
    all.push(("xaes-256-gcm".into(), Box::new(Xaes256Gcm::new(isa, &[1; 32]))));
    all.push(("committing".into(), Box::new(Committing::at(isa, Suite::Aes128Gcm, &[1; 16]).unwrap())));
    all
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..100).chain([127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1500, 2048, 2061, 4096, 5000])
}

#[test]
fn from_one_buffer_to_another() {
    for isa in Isa::available() {
        for (name, aead) in aeads(isa) {
            let nonce = bytes(aead.nonce_len(), 2);
            for len in lengths() {
                let (ad, text) = (bytes(len % 50, 3), bytes(len, 4));
                let mut wanted = text.clone();
                let tag = aead.seal_in_place(&nonce, &ad, &mut wanted).unwrap();
                let mut out = bytes(len, 5);
                assert_eq!(aead.seal_to(&nonce, &ad, &text, &mut out).unwrap(), tag, "{name} {isa} {len}");
                assert_eq!(out, wanted, "{name} {isa} {len}");
                let mut back = bytes(len, 6);
                aead.open_to(&nonce, &ad, &out, tag.as_ref(), &mut back).unwrap();
                assert_eq!(back, text, "{name} {isa} {len}");
                let mut forged = tag.as_ref().to_vec();
                forged[len % tag.as_ref().len()] ^= 4;
                assert!(aead.open_to(&nonce, &ad, &out, &forged, &mut back).is_err());
                assert!(back.iter().all(|&byte| byte == 0), "{name} {isa} {len}: a refused text stays");
                assert_eq!(out, wanted, "the message survives");
            }
        }
    }
}

#[test]
fn text_and_tag_in_one_buffer() {
    for isa in Isa::available() {
        for (name, aead) in aeads(isa) {
            let nonce = bytes(aead.nonce_len(), 2);
            for len in lengths() {
                let (ad, text) = (bytes(len % 50, 3), bytes(len, 4));
                let mut wanted = text.clone();
                aead.seal_vec(&nonce, &ad, &mut wanted).unwrap();
                let mut message = [&text[..], &bytes(aead.tag_len(), 5)].concat();
                aead.seal_message(&nonce, &ad, &mut message).unwrap();
                assert_eq!(message, wanted, "{name} {isa} {len}");
                // In a vector that has room for the tag.
                let mut roomy = Vec::with_capacity(len + 100);
                roomy.extend_from_slice(&text);
                assert!(aead.seal_vec(&[], &ad, &mut roomy).is_err() && roomy == text, "{name} {isa} {len}");
                aead.seal_vec(&nonce, &ad, &mut roomy).unwrap();
                assert_eq!(roomy, wanted, "{name} {isa} {len}");
                let mut forged = forged(&message, len * 7);
                assert!(aead.open_message(&nonce, &ad, &mut forged).is_err(), "{name} {isa} {len}");
                assert!(forged[..len].iter().all(|&byte| byte == 0), "{name} {isa} {len}: a refused text stays");
                assert_eq!(aead.open_message(&nonce, &ad, &mut message).unwrap(), text, "{name} {isa} {len}");
            }
            let mut short = vec![7; aead.tag_len() - 1];
            assert!(aead.open_message(&nonce, b"", &mut short).is_err());
        }
    }
}

#[test]
#[should_panic(expected = "a message of 15 bytes has no room for a tag of 16")]
fn a_message_without_room_for_its_tag() {
    let _ = Suite::Aes256Gcm.aead(&[7; 32]).unwrap().seal_message(&[1; 12], b"", &mut [0; 15]);
}

#[test]
fn a_refused_message_stays_as_it_was() {
    let aead = Suite::Aes256Gcm.aead(&[7; 32]).unwrap();
    let mut message = [5; 40];
    assert!(aead.seal_message(&[1; 13], b"", &mut message).is_err());
    assert_eq!(message, [5; 40]);
}

/// Lengths around the one from which a text is not copied first, whole batches of every level, and long texts.
#[test]
fn long_texts_from_one_buffer_to_another() {
    const LONG: usize = 1024;
    for isa in Isa::available() {
        for key in [16, 24, 32] {
            let by_key = gcm::by_key(isa, &bytes(key, 1), gcm::TagLen::T13).unwrap();
            let across = gcm::across_by_key(isa, &bytes(key, 1), gcm::TagLen::T13).unwrap();
            for (len, nonce) in [
                (LONG - 1, 12),
                (LONG, 12),
                (LONG + 1, 8),
                (LONG + 1039, 12),
                (5 * LONG, 16),
                (127 * LONG + 1040, 12),
                (128 * LONG + 1023, 8),
            ] {
                let (nonce, text) = (bytes(nonce, 2), bytes(len, 4));
                let (mut wanted, mut out) = (text.clone(), bytes(len, 5));
                let tag = by_key.seal_in_place(&nonce, b"header", &mut wanted).unwrap();
                assert_eq!(across.seal_to(&nonce, b"header", &text, &mut out).unwrap(), tag, "{isa} {key} {len}");
                assert!(out == wanted, "{isa} {key} {len}");
                across.open_to(&nonce, b"header", &wanted, tag.as_ref(), &mut out).unwrap();
                assert!(out == text, "{isa} {key} {len}");
                wanted[len / 2] ^= 1;
                assert!(across.open_to(&nonce, b"header", &wanted, tag.as_ref(), &mut out).is_err());
                assert!(out.iter().all(|&byte| byte == 0), "{isa} {key} {len}: a refused text stays");
            }
        }
    }
}

#[test]
fn scattered_over_buffers() {
    for isa in Isa::available() {
        for (name, aead) in aeads(isa) {
            let nonce = bytes(aead.nonce_len(), 2);
            for len in lengths().step_by(3) {
                let text = bytes(len, 4);
                let mut wanted = text.clone();
                let tag = aead.seal_in_place(&nonce, b"ad", &mut wanted).unwrap();
                for pieces in [vec![], vec![0, 0], vec![len / 2], vec![1, len / 3, len / 3, len / 2], vec![len]] {
                    let mut scattered = text.clone();
                    let sealed = aead.seal_scattered(&nonce, b"ad", &mut cut(&mut scattered, &pieces)).unwrap();
                    assert_eq!((sealed, &scattered), (tag, &wanted), "{name} {isa} {len} {pieces:?}");
                    let mut forged = scattered.clone();
                    let refused = aead.open_scattered(&nonce, b"another", &mut cut(&mut forged, &pieces), tag.as_ref());
                    assert!(refused.is_err() && forged.iter().all(|&byte| byte == 0), "{name} {isa} {len}");
                    aead.open_scattered(&nonce, b"ad", &mut cut(&mut scattered, &pieces), tag.as_ref()).unwrap();
                    assert_eq!(scattered, text);
                }
            }
        }
    }
}

/// `text` in pieces of these lengths, as far as it goes, and what is left.
fn cut<'a>(text: &'a mut [u8], pieces: &[usize]) -> Vec<&'a mut [u8]> {
    let (mut rest, mut cut) = (text, Vec::new());
    for &piece in pieces {
        let (now, later) = rest.split_at_mut(piece.min(rest.len()));
        cut.push(now);
        rest = later;
    }
    cut.push(rest);
    cut
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    for (name, aead) in aeads(Isa::best()) {
        let mut out = [7; 20];
        assert!(aead.seal_to(&[], b"", &[1; 20], &mut out).is_err(), "{name}");
        assert_eq!(out, [0; 20], "{name}: a refused text");
        let (mut a, mut b) = ([1; 9], [2; 9]);
        assert!(aead.seal_scattered(&[], b"", &mut [&mut a, &mut b]).is_err());
        assert_eq!((a, b), ([1; 9], [2; 9]), "{name}: refused buffers");
        let mut out = [7; 20];
        assert!(aead.open_to(&[], b"", &[1; 20], &[0; 16], &mut out).is_err());
        assert_eq!(out, [0; 20], "{name}");
    }
}

#[test]
#[should_panic(expected = "as long as the text")]
fn another_length_is_a_mistake_of_the_program() {
    let aead = Suite::Aes128Gcm.aead(&[1; 16]).unwrap();
    let _ = aead.seal_to(&[0; 12], b"", &[0; 3], &mut [0; 4]);
}

#[test]
fn appended() {
    for (name, aead) in aeads(Isa::best()) {
        let nonce = bytes(aead.nonce_len(), 2);
        for len in [0, 1, 15, 16, 300] {
            let text = bytes(len, 4);
            let mut wanted = text.clone();
            aead.seal_vec(&nonce, b"ad", &mut wanted).unwrap();
            let mut out = Vec::new();
            aead.seal_into(&nonce, b"ad", &text, &mut out).unwrap();
            assert_eq!(out, wanted, "{name} {len}");
            let (head, mut out) = (bytes(100, 5), bytes(100, 5));
            aead.seal_into(&nonce, b"ad", &text, &mut out).unwrap();
            assert_eq!(out, [&head[..], &wanted].concat(), "{name} {len}");
            assert!(aead.seal_into(&[], b"ad", &text, &mut out).is_err());
            assert_eq!(out, [&head[..], &wanted].concat(), "{name} {len}: a refused text stays");
            let mut opened = head.clone();
            aead.open_into(&nonce, b"ad", &wanted, &mut opened).unwrap();
            assert_eq!(opened, [&head[..], &text].concat(), "{name} {len}");
            for forged in [forged(&wanted, len * 7), bytes(aead.tag_len() - 1, 5), Vec::new()] {
                assert!(aead.open_into(&nonce, b"ad", &forged, &mut opened).is_err(), "{name} {len}");
                assert_eq!(opened, [&head[..], &text].concat(), "{name} {len}: a refused text stays");
                let mut emptied = forged.clone();
                assert!(aead.open_vec(&nonce, b"ad", &mut emptied).is_err() && emptied.is_empty(), "{name} {len}");
            }
            aead.open_vec(&nonce, b"ad", &mut wanted).unwrap();
            assert_eq!(wanted, text, "{name} {len}");
        }
    }
}

/// `message` with a bit changed.
fn forged(message: &[u8], at: usize) -> Vec<u8> {
    let mut message = message.to_vec();
    let at = at % message.len();
    message[at] ^= 4;
    message
}

/// Room for all of it from the start: a buffer that grew would leave text where it was.
#[test]
fn appending_allocates_once() {
    let aead = Suite::Aes256Gcm.aead(&[7; 32]).unwrap();
    let mut out = Vec::new();
    aead.seal_into(&[1; 12], b"ad", &[5; 1000], &mut out).unwrap();
    assert_eq!(out.capacity(), 1016);
}

#[test]
fn a_longer_tag_is_another() {
    for isa in Isa::available() {
        let [short, whole] = [gcm::TagLen::T12, gcm::TagLen::T16].map(|len| gcm::by_key(isa, &[7; 16], len).unwrap());
        for len in lengths() {
            let mut text = bytes(len, 4);
            let tag = whole.seal_in_place(&[1; 12], b"ad", &mut text).unwrap();
            let sealed = text.clone();
            assert_ne!(tag, short.seal_in_place(&[1; 12], b"ad", &mut bytes(len, 4)).unwrap());
            assert_ne!(tag, whole.seal_in_place(&[2; 12], b"ad", &mut bytes(len, 4)).unwrap());
            assert!(short.open_in_place(&[1; 12], b"ad", &mut text, tag.as_ref()).is_err(), "{isa} {len}");
            text.copy_from_slice(&sealed);
            assert!(whole.open_in_place(&[1; 12], b"ad", &mut text, &tag.as_ref()[..12]).is_err(), "{isa} {len}");
            text.copy_from_slice(&sealed);
            short.open_in_place(&[1; 12], b"ad", &mut text, &tag.as_ref()[..12]).unwrap();
            assert_eq!(text, bytes(len, 4), "{isa} {len}");
        }
    }
}

/// For containers that take only what wipes itself.
#[test]
fn every_mode_says_by_its_type_that_it_wipes_itself() {
    fn wipes<T: ZeroizeOnDrop>() {}
    wipes::<Key>();
    wipes::<gcm::Aes128Gcm>();
    wipes::<gcm::Aes256Gcm>();
    wipes::<gcm::Gcm<Serpent, Clmul>>();
    wipes::<gcm_siv::Aes256GcmSiv>();
    wipes::<ocb::Ocb<BothWays<11>>>();
    wipes::<ocb::Ocb<BothWays<15>>>();
    wipes::<ocb::Ocb<Serpent>>();
    wipes::<Xaes256Gcm>();
    wipes::<Committing>();
    #[cfg(feature = "chacha")]
    {
        wipes::<sealwright::mode::chacha::ChaCha20Poly1305>();
        wipes::<sealwright::mode::chacha::XChaCha20Poly1305>();
    }
    #[cfg(feature = "cbc")]
    {
        wipes::<sealwright::mode::cbc_hmac::A128CbcHs256>();
        wipes::<sealwright::mode::cbc_hmac::Aes256CbcHmac>();
    }
    #[cfg(feature = "sessions")]
    {
        wipes::<sealwright::mode::gscm::Cluster<11>>();
        wipes::<sealwright::mode::multi_buffer::MultiBuffer>();
        wipes::<sealwright::mode::multi_key::Schedule>();
    }
    #[cfg(feature = "drbg")]
    wipes::<sealwright::drbg::HashDrbg>();
    #[cfg(feature = "research")]
    {
        wipes::<sealwright::mode::gscm::ResearchOnlyCluster<11, Clmul>>();
        wipes::<sealwright::mode::rkc::Rkc>();
        wipes::<sealwright::mode::rkc::RkcHmac>();
    }
}
