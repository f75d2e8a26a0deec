//! What is left of secrets in memory once their owners are dropped: a child process uses a mode and drops it, and this
//! process reads the child's memory (`/proc/PID/mem`) and searches it for round keys, powers of h and texts. Nothing
//! that is searched for is computed in the child, except by the library.
//!
//! The stack is counted by itself: compilers leave copies of registers in dead frames. While a key is in use they are
//! there, and must be gone with it.
//!
//! Round keys 0 and 1 of AES-256 are the key itself, which is the caller's; the search begins with round key 2.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod search;
#[path = "../support/mod.rs"]
mod support;
mod vectors;
mod wanted;

use std::{env, hint::black_box, process::ExitCode, sync::Arc};

use sealwright::{
    Aead, Batch, BatchMessage, InPieces, Isa, Opener, Sealer, Suite,
    block::{CleanStack, aes::Aes256, aes2s::SecondaryKeys},
    committing::Committing,
    drbg::HashDrbg,
    mode::{
        cbc_hmac::Aes256CbcHmac,
        chacha::XChaCha20Poly1305,
        ctr,
        gcm::{self, Aes256Gcm, TagLen},
        gcm_siv, gscm, ocb,
        rkc::{Rkc, SEED_BYTES},
        xaes::Xaes256Gcm,
    },
    raw,
};
use search::{Stopping, fill, stop};
use wanted::Wanted;

/// What a child does, and what is searched for in it.
const CASES: [&str; 28] = [
    "aes-256-gcm",
    "aes-256-ocb",
    "aes-256-gcm-siv",
    "xaes-256-gcm",
    "chacha20-poly1305",
    "xchacha20-poly1305",
    "serpent-256-gcm",
    "serpent-256-ocb",
    "gscm-h by key",
    "committing",
    "scattered",
    "scattered, opened",
    "refused",
    "a forgery",
    "into another buffer",
    "a vector that grows",
    "one after the other",
    "a vector that is used again",
    "counted",
    "gcm in pieces",
    "ocb in pieces",
    "batch",
    "a replaced key",
    "hash-drbg",
    "cbc-hmac",
    "cbc-hmac, padded",
    "raw",
    "a mode of one's own",
];

/// Set in a child: its case.
const CHILD: &str = "SEALWRIGHT_WIPING_CASE";
const LEN: usize = 1000;
/// Bytes of the whole blocks of that.
const BLOCKS: usize = LEN / 16 * 16;

fn main() -> ExitCode {
    if let Ok(case) = env::var(CHILD) {
        child(&case);
        return ExitCode::SUCCESS;
    }
    let mut wrong = 0;
    for case in CASES {
        wrong += usize::from(!judge(case));
    }
    println!("wiping: {} of {} cases leave nothing", CASES.len() - wrong, CASES.len());
    ExitCode::from(u8::from(wrong > 0))
}

fn key() -> [u8; 32] {
    let mut key = [0; 32];
    fill(&mut key, 1);
    key
}

fn text() -> Vec<u8> {
    let mut text = vec![0; LEN];
    fill(&mut text, 2);
    text
}

/// Uses a mode, stops, drops it, stops.
fn child(case: &str) {
    let mut text = text();
    match case {
        "scattered" => {
            let aead = aead(case);
            stop("alive");
            let (a, b) = text.split_at_mut(333);
            let _ = aead.seal_scattered(&[1; 12], b"ad", &mut [a, b]).unwrap();
        }
        "scattered, opened" => {
            let aead = aead(case);
            let tag = aead.seal_in_place(&[1; 12], b"ad", &mut text).unwrap();
            stop("alive");
            let (a, b) = text.split_at_mut(333);
            aead.open_scattered(&[1; 12], b"ad", &mut [a, b], tag.as_ref()).unwrap();
            text.fill(0);
        }
        "refused" => {
            let aead = aead(case);
            stop("alive");
            let (a, b) = text.split_at_mut(333);
            assert!(aead.seal_scattered(&[1; 5], b"ad", &mut [a, b]).is_err());
            assert!(aead.seal_into(&[1; 5], b"ad", &text, &mut Vec::new()).is_err());
            let rkc = Rkc::research_only(Isa::best(), &[3; 32]);
            assert!(rkc.seal_wire(&[1; SEED_BYTES], &text).is_err(), "not whole blocks");
            text.fill(0);
        }
        "a forgery" => {
            // What the text would be under the key is never to be seen.
            let aead = aead(case);
            let _ = aead.seal_in_place(&[1; 12], b"ad", &mut text).unwrap();
            stop("alive");
            assert!(aead.open_in_place(&[1; 12], b"ad", &mut text, &[0; 16]).is_err());
        }
        "into another buffer" => {
            let aead = aead(case);
            let _ = aead.seal_in_place(&[1; 12], b"ad", &mut text).unwrap();
            let mut out = vec![0; LEN];
            stop("alive");
            assert!(aead.open_to(&[1; 12], b"ad", &text, &[0; 16], &mut out).is_err());
        }
        "a vector that grows" | "one after the other" | "a vector that is used again" => {
            vectors::child(case, &mut text)
        }
        "counted" => {
            text.fill(0);
            let _ends = below(counted);
            stop("alive");
        }
        "gcm in pieces" | "ocb in pieces" => {
            let mut message = in_pieces(case).begin(&[1; 12], b"ad").unwrap();
            let (a, b) = text.split_at_mut(333 / 16 * 16);
            message.seal(a).unwrap();
            let mut other = message.duplicate();
            message.seal(b).unwrap();
            stop("alive");
            other.seal(&mut [0; 21]).unwrap();
            let _ = message.finish();
        }
        "batch" => {
            let mut key = key();
            let mut batch = Batch::new(Isa::best());
            // Side by side, and one that is too long for it; with one nonce, for which keys are compared.
            let (short, long) = text.split_at_mut(400);
            let parts = short.chunks_mut(200).chain([long]).zip([1, 2, 2]);
            let other = [7; 32];
            let mut messages: Vec<_> = parts
                .map(|(text, i)| BatchMessage { key: &key, nonce: [i; 12], ad: b"ad", text, tag: [0; 16] })
                .collect();
            messages[1].key = &other;
            batch.seal(&mut messages).unwrap();
            assert!(batch.open(&mut messages).iter().all(Result::is_ok));
            drop(messages);
            // It goes on, but has nothing of what it was given.
            text.fill(0);
            key.fill(0);
            black_box((&text, &key));
            stop("alive");
            drop(batch);
        }
        "hash-drbg" => {
            let mut drbg = generator();
            stop("alive");
            drbg.generate(&mut text, b"").unwrap();
            drbg.generate(&mut text[..40], b"additional").unwrap();
            text.fill(0);
        }
        "cbc-hmac" => {
            let aead = cbc_hmac();
            stop("alive");
            let _ = aead.seal_in_place(&[1; 16], b"ad", &mut text[..BLOCKS]).unwrap();
            text[BLOCKS..].fill(0);
        }
        "cbc-hmac, padded" => {
            // Something behind the text, so that it cannot grow where it is.
            let (aead, behind) = (cbc_hmac(), black_box(vec![1_u8; LEN]));
            stop("alive");
            assert_eq!(text.capacity(), LEN);
            let _ = aead.seal(&[1; 16], b"ad", &mut text).unwrap();
            black_box(&behind);
        }
        "raw" => {
            let cipher = raw();
            stop("alive");
            cipher.ctr(&[1; 16], &mut text[..500]);
            cipher.cbc_encrypt(&[1; 16], &mut text[..BLOCKS]);
            text[BLOCKS..].fill(0);
        }
        "a mode of one's own" => {
            let cipher = own();
            stop("alive");
            ctr::apply(Isa::best(), &cipher.0, &[1; 16], &mut text);
        }
        "a replaced key" => {
            // Dropped before the search: until then kernels' copies of the key before are on the stack.
            let mut aead = replaceable();
            let _ = aead.seal_in_place(&[1; 12], b"ad", &mut text).unwrap();
            stop("alive");
            aead.rekey(&[7; 32]);
            let _ = aead.seal_in_place(&[1; 12], b"ad", &mut text).unwrap();
        }
        _ => {
            // The short messages last, so that what their kernels leave is not overwritten
            let aead = aead(case);
            let (few, rest) = text.split_at_mut(60);
            let (some, many) = rest.split_at_mut(240);
            for part in [many, some, few] {
                let _ = aead.seal_in_place(&vec![1; aead.nonce_len()], b"ad", part).unwrap();
            }
            stop("alive");
        }
    }
    stop("dropped");
    black_box(&text);
}

/// The mode of a case.
#[inline(never)]
fn aead(case: &str) -> Box<dyn Aead> {
    let mut key = key();
    let aead: Box<dyn Aead> = match case {
        "aes-256-ocb" => Suite::Aes256Ocb.aead(&key).unwrap(),
        "aes-256-gcm-siv" => gcm_siv::by_key(Isa::best(), &key).unwrap(),
        "xaes-256-gcm" => Box::new(Xaes256Gcm::new(Isa::best(), &key)),
        "chacha20-poly1305" => Suite::ChaCha20Poly1305.aead(&key).unwrap(),
        "xchacha20-poly1305" => Box::new(XChaCha20Poly1305::new(&key)),
        "serpent-256-gcm" => Suite::Serpent256Gcm.aead(&key).unwrap(),
        "serpent-256-ocb" => Suite::Serpent256Ocb.aead(&key).unwrap(),
        "gscm-h by key" => {
            let mut keys = SecondaryKeys::default();
            fill(&mut keys.k1, 4);
            fill(&mut keys.k2, 5);
            gscm::by_key(Isa::best(), &key, &keys).unwrap()
        }
        "committing" => Box::new(Committing::new(Suite::Aes256Gcm, &key).unwrap()),
        _ => Suite::Aes256Gcm.aead(&key).unwrap(),
    };
    key.fill(0);
    black_box(&key);
    aead
}

/// Both ends of a connection, after a message. Their keys are another.
#[inline(never)]
fn counted() -> Box<(Sealer, Opener)> {
    let (mut iv, mut message) = ([0; 12], [7; 56]);
    fill(&mut iv, 6);
    let mut ends = Box::new((
        Sealer::with_iv(Suite::Aes256Gcm, &[3; 32], &iv).unwrap(),
        Opener::with_iv(Suite::Aes256Gcm, &[3; 32], &iv).unwrap(),
    ));
    ends.0.seal_message(b"ad", &mut message).unwrap();
    ends.1.open_message(b"ad", &mut message).unwrap();
    iv.fill(0);
    black_box(&iv);
    ends
}

/// Further down the stack than the frames of what drops a key, which it does not overwrite.
#[inline(never)]
fn below<T>(work: fn() -> T) -> T {
    let room = [0_u8; 2048];
    let done = work();
    black_box(&room);
    done
}

/// A key for messages in pieces.
#[inline(never)]
fn in_pieces(case: &str) -> Arc<dyn InPieces> {
    let (mut key, isa) = (key(), Isa::best());
    let made = match case {
        "gcm in pieces" => gcm::pieces_by_key(isa, &key, TagLen::T16).unwrap(),
        _ => ocb::pieces_by_key(isa, &key, ocb::TagLen::T16).unwrap(),
    };
    key.fill(0);
    black_box(&key);
    made
}

/// CBC with HMAC. The key of the latter is another.
#[inline(never)]
fn cbc_hmac() -> Box<Aes256CbcHmac> {
    let mut keys = [0; 64];
    fill(&mut keys[..32], 3);
    fill(&mut keys[32..], 1);
    let aead = Box::new(Aes256CbcHmac::new(Isa::best(), &keys));
    keys.fill(0);
    black_box(&keys);
    aead
}

/// A cipher without a mode.
#[inline(never)]
fn raw() -> Box<dyn raw::Raw> {
    let mut key = key();
    let cipher = raw::aes(Isa::best(), &key).unwrap();
    key.fill(0);
    black_box(&key);
    cipher
}

/// A block cipher in a mode of one's own.
#[inline(never)]
fn own() -> Box<(Aes256, CleanStack)> {
    let mut key = key();
    let cipher = Box::new((Aes256::new(Isa::best(), &key), CleanStack));
    key.fill(0);
    black_box(&key);
    cipher
}

/// A generator. Boxed: who moves one by value leaves a copy behind.
#[inline(never)]
fn generator() -> Box<HashDrbg> {
    Box::new(HashDrbg::instantiate(&key(), &[2; 16], b"").unwrap())
}

/// A key that can be replaced.
#[inline(never)]
fn replaceable() -> Box<Aes256Gcm> {
    let mut key = key();
    let isa = Isa::best();
    let aead = Box::new(Aes256Gcm::new(isa, Aes256::new(isa, &key), TagLen::T16));
    key.fill(0);
    black_box(&key);
    aead
}

/// Runs a child, and says what was found in it at both stops.
fn judge(case: &str) -> bool {
    let mut child = Stopping::start(CHILD, case);
    let wanted = Wanted::of(case);
    let [alive, dropped] = ["alive", "dropped"].map(|stage| child.search_at(stage, &wanted.keys, &wanted.texts));
    child.end();
    // What has no key schedule to search for is found by its text, and only the search for plain round keys needs them
    // in memory as they are: in bit slices they are not.
    let visible = alive.keys > 0 || !wanted.must_be_seen;
    let clean = dropped.keys == 0 && dropped.texts == 0 && dropped.stack == 0;
    let clean_in_use = !wanted.only_on_stack || alive.keys == 0 && alive.texts == 0;
    println!("{case:20} in use: {alive}; dropped: {dropped}");
    if !visible {
        println!("  FAILED: the search does not see keys in use, so that it proves nothing");
    }
    if !clean {
        println!("  FAILED: secrets are left, the first: {:?}", dropped.places.iter().take(8).collect::<Vec<_>>());
    }
    if !clean_in_use {
        println!("  FAILED: secrets stay in use, the first: {:?}", alive.places.iter().take(8).collect::<Vec<_>>());
    }
    visible && clean && clean_in_use
}
