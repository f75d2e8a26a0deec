//! Both signatures must be valid, and for this message only.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use sealwright::{Isa, Suite};
use sealwright_stream::{ChunkCipher, chunk::SALT};
use sha2::{Digest, Sha512};

use super::*;
use crate::{
    Input, Key, KeySource, Opening, Output, Preamble, Progress, Sealing, Shared, Work,
    body::Body,
    layout::Layout,
    span::{CHUNKS, PLAIN},
};

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

/// Texts that end at, just after and within a piece that is read: the last byte is always covered.
#[test]
fn the_last_byte_of_a_file_is_signed() {
    let (key, work) = (SigningKey::generate().unwrap(), crate::Work::default());
    let keys = [key.verifying_key().clone()];
    for len in [256 * 1024, 256 * 1024 + 1, 600 * 1024] {
        let mut text = vec![7; len];
        let input = |text: &[u8]| crate::Input::bytes(text.to_vec(), "text");
        let signature = crate::sign_file(&key, input(&text), "", &work).unwrap();
        crate::verify_file(&keys, &signature, input(&text), &work).unwrap();
        text[len - 1] ^= 1;
        let error = crate::verify_file(&keys, &signature, input(&text), &work).unwrap_err();
        assert!(matches!(error, Error::NotAuthentic(Flaw::Signature)), "{len}: {error}");
    }
}

#[test]
fn nothing_follows_a_signature_in_its_file() {
    let key = SigningKey::generate().unwrap();
    let sign = crate::sign_file(&key, crate::Input::bytes(b"text", "text"), "", &crate::Work::default());
    let text = sign.unwrap().to_text();
    for spaces in [0, 1024, 1025, 16_384 - text.len(), 16_384].map(|n| " ".repeat(n)) {
        let read = crate::Signature::read(format!("{text}{spaces}more").as_bytes());
        assert!(matches!(read, Err(Error::NotAuthentic(Flaw::SignatureFile))), "{}", spaces.len());
    }
    crate::Signature::read(format!("{text}\n \n").as_bytes()).unwrap();
}

/// A signature composed of one key's ed25519 signature and another key's ML-DSA-65 signature is refused, although both
/// sign the same content.
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

/// Under a key of small order, forged signatures can be valid; and a key of the wrong length is refused.
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

/// The key for the seed 00, 01, ... 31 and its signatures, as in docs/FORMAT.md. The key id and the ed25519 signatures
/// were computed with Python's `cryptography`.
#[test]
fn keys_and_signatures_are_what_the_format_says() {
    let seed: Vec<u8> = (0..32).collect();
    let key: SigningKey = crate::key::text::encode("seal-signing-key-", &seed).parse().unwrap();
    let public = key.verifying_key();
    assert_eq!((public.id_text().as_str(), hex(&public.id())), ("fbb0e6768ed7c352194aacf57292538d", public.id_text()));
    let (fixed, commitment) = ([b'x'; 12], [b'y'; 32]);
    let context = ["x".repeat(12), "y".repeat(32)].concat();
    let cases = [
        (Signed::Detached { comment: "comment" }, 2, "comment", DETACHED),
        (Signed::Text { fixed: &fixed, commitment: &commitment }, 1, &context, TEXT),
    ];
    let content: [u8; HASH] = Sha512::digest(b"content").into();
    for (what, kind, context, wanted) in cases {
        let signature = key.sign(what, &content);
        assert_eq!(base16ct::lower::encode_string(&signature[..64]), wanted);
        let of_key = Sha512::digest(public.to_bytes());
        let message = [b"SEALWRIGHT signature v1", &[kind][..], &of_key, &content, context.as_bytes()].concat();
        let encoded = ml_dsa::EncodedVerifyingKey::<ml_dsa::MlDsa65>::try_from(&public.to_bytes()[32..]).unwrap();
        let post_quantum = ml_dsa::Signature::<ml_dsa::MlDsa65>::try_from(&signature[64..]).unwrap();
        let theirs = ml_dsa::VerifyingKey::<ml_dsa::MlDsa65>::decode(&encoded);
        assert!(theirs.verify_with_context(&message, b"", &post_quantum));
    }
}

const DETACHED: &str = "71cfbb8d9ecdfdc9b1eb9d09320c1226ac2f1246f929a108032c1694a4f2439cab7d1a8b1b04e6f8ad1edbb0f64ca8bc717b6bf6e4cc3b2b2e91f92142353602";
const TEXT: &str = "1685c5cc5f355ac1dd567c5a27236fdc3b7d7e8a27c3a290eec2bad7cf2b073729c4290005ce3eb75256caa56c90d1b8c3aa0cc8c2313a7d36011bb1c225c609";

#[test]
fn a_key_file_holds_both_keys() {
    let key = SigningKey::generate().unwrap();
    let text = key.to_text();
    let [comment, secret] = text.lines().collect::<Vec<_>>()[..] else { panic!("two lines") };
    assert_eq!(comment, format!("# Verification key: {}", key.verifying_key()));
    assert!(secret.starts_with("SEAL-SIGNING-KEY-1") && secret == secret.to_uppercase());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("signing-key");
    key.write_file(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), *text);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(key.write_file(&path), Err(Error::Exists(of)) if of == path));
}

#[test]
fn the_key_that_a_signature_names_is_found() {
    let [one, other] = [0, 1].map(|_| SigningKey::generate().unwrap().verifying_key().clone());
    let keys = [one.clone(), other.clone()];
    assert_eq!((find(&keys, &one.id()).unwrap().id(), find(&keys, &other.id()).unwrap().id()), (one.id(), other.id()));
    assert!(matches!(find(&keys[..1], &other.id()), Err(Error::OtherSigner(id)) if id == other.id_text()));
}

/// A writer that counts flushes.
#[derive(Default)]
struct Flushed(Vec<u8>, usize);

impl Write for Flushed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.1 += 1;
        Ok(())
    }
}

/// The key id and the signature follow the text; the verifier removes them, whatever the sizes of the pieces.
#[test]
fn a_text_is_signed_at_its_end() {
    let (key, ..) = signed();
    let (public, other) = (key.verifying_key().clone(), signed().0.verifying_key().clone());
    let what = Signed::Text { fixed: &[b'x'; 12], commitment: &[b'y'; 32] };
    for len in [0, 1, 3388, 3389, 3390, 20_000] {
        let text: Vec<u8> = (0..len).map(|i| (i * 7 % 251) as u8).collect();
        let read = |piece: usize| {
            let (mut signer, mut out) = (TextSigner::new(&text[..], &key, what), Vec::new());
            loop {
                assert_eq!(signer.read(&mut []).unwrap(), 0);
                let mut some = vec![0; piece];
                match signer.read(&mut some).unwrap() {
                    0 => break,
                    got => out.extend_from_slice(&some[..got]),
                }
                assert_eq!(signer.text(), (out.len().min(len)) as u64);
            }
            assert_eq!(signer.read(&mut [0; 9]).unwrap(), 0, "it has ended");
            out
        };
        let whole = read(1000);
        let signature = key.sign(what, &Sha512::digest(&text).into());
        assert_eq!(whole, [&text[..], &public.id(), &signature].concat());
        assert_eq!(read(7), whole);
        let verified = |bytes: &[u8], piece: usize, keys: &[VerifyingKey]| {
            let mut verifier = TextVerifier::new(Flushed::default());
            bytes.chunks(piece).for_each(|bytes| verifier.write_all(bytes).unwrap());
            verifier.flush().unwrap();
            verifier.finish(keys, what).map(|(Flushed(text, flushed), len, id)| {
                assert_eq!((text.len() as u64, flushed), (len, 1));
                (text, id)
            })
        };
        for piece in [1, 1000, 100_000] {
            let (out, id) = verified(&whole, piece, std::slice::from_ref(&public)).unwrap();
            assert!(out == text && id == public.id(), "{len} in {piece}");
        }
        let named = verified(&whole, 1000, std::slice::from_ref(&other));
        assert!(matches!(named, Err(Error::OtherSigner(id)) if id == public.id_text()));
        // Without accepted signers, the signature is removed but not verified.
        let mut forged = whole.clone();
        *forged.last_mut().unwrap() ^= 1;
        assert!(verified(&forged, 1000, &[]).is_ok_and(|(out, id)| out == text && id == public.id()));
        for wrong in [&forged[..], &whole[..3388]] {
            let done = verified(wrong, 1000, std::slice::from_ref(&public));
            assert!(matches!(done, Err(Error::NotAuthentic(Flaw::Signature))), "{len}");
        }
        assert!(matches!(verified(&whole[..3388], 1000, &[]), Err(Error::NotAuthentic(Flaw::Signature))));
    }
}

/// Overwrites the file that is opened as soon as it is opened a second time.
struct Replacing {
    opened: AtomicU32,
    path: PathBuf,
    with: Vec<u8>,
}

impl Progress for Replacing {
    fn begin(&self, _: Option<u64>) {
        if self.opened.fetch_add(1, Ordering::Relaxed) == 1 {
            fs::write(&self.path, &self.with).unwrap();
        }
    }

    fn advance(&self, _: u64) {}
}

/// An attack: a fellow recipient, who knows the file key, replaces chunks between the verification of a signature and
/// the opening to a pipe.
#[test]
fn what_is_replaced_after_its_verification_is_not_written() {
    let (key, directory) = (Key::raw(vec![7; 32]), tempfile::tempdir().unwrap());
    let [signer, other] = [0, 1].map(|_| SigningKey::generate().unwrap());
    let signers = [signer.verifying_key().clone()];
    let [text, forged] = [1, 2].map(|byte| vec![byte; 3 * PLAIN]);
    let layout = Layout { signed: true, ..Layout::default() };
    let preamble = Preamble { suite: Suite::Aes256Gcm, layout, source: KeySource::Raw };
    let mut header = preamble.to_bytes();
    let (cipher, begin) =
        ChunkCipher::create_with_salt(preamble.suite, Isa::best(), &[7; 32], &[9; SALT], &[&header]).unwrap();
    let body = Body::new(cipher, &begin, header.len() as u64);
    header.extend(begin);
    for (armor, same) in [(false, 0), (true, 0), (false, 1), (false, 2)] {
        let seal = |signer, text: &[u8]| {
            let mut sealed = Shared::default();
            let sealing = Sealing::new(&key).sign(Some(signer)).armor(armor);
            let to = Output::writer(sealed.clone(), "sealed");
            sealing.seal_body(&body, &header, Input::bytes(text.to_vec(), "text"), to).unwrap();
            sealed.take()
        };
        let path = directory.path().join(format!("{armor} {same}"));
        let mut with = seal(&other, &forged);
        let sealed = seal(&signer, &text);
        let start = body.offset((same * CHUNKS) as u64) as usize;
        if same > 0 {
            with[..start].copy_from_slice(&sealed[..start]);
        }
        fs::write(&path, sealed).unwrap();
        let progress = Arc::new(Replacing { opened: AtomicU32::new(0), path: path.clone(), with });
        let work = Work::default().threads(1).progress(progress.clone());
        let mut out = Shared::default();
        let opening = Opening::new(&key).signers(&signers).work(work);
        let done = opening.open(Input::open(&path).unwrap(), Output::writer(out.clone(), "pipe"));
        let out = out.take();
        // The last bytes so far could be the signature.
        let written = (same * PLAIN).saturating_sub(TRAILER);
        assert!(out == text[..written], "{armor} {same}: {} bytes, {:?}", out.len(), out.last());
        // The beginning of armor was in a buffer already, so that a chunk of it is half of each file.
        assert!(matches!(done, Err(Error::NotAuthentic(flaw)) if armor || flaw == Flaw::Signature), "{armor} {same}");
        assert_eq!(progress.opened.load(Ordering::Relaxed), 2);
        // Unchanged, it is written.
        let mut out = Shared::default();
        fs::write(&path, seal(&signer, &text)).unwrap();
        let opening = Opening::new(&key).signers(&signers);
        opening.open(Input::open(&path).unwrap(), Output::writer(out.clone(), "pipe")).unwrap();
        assert!(out.take() == text, "{armor}");
    }
}
