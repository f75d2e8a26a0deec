//! Runs the kernels on secrets that are marked as undefined for valgrind, and prints how many branches and addresses
//! depended on them. Exits with 1 if any did, or if a planted leak was not seen; with 3 outside of valgrind. `cargo
//! xtask constant-time` starts it.
#![allow(clippy::print_stdout)]

use std::{hint::black_box, process::ExitCode};

use sealwright::{
    Aead, Batch, BatchMessage, Isa, Suite,
    block::aes::Aes128,
    ghash::Table4k_vartime,
    mode::gcm::{Gcm, TagLen},
    raw,
};
use sealwright_probes::{
    marks::{errors, hidden, public, watched},
    sessions,
    subjects::{IN_PIECES, InPiecesSubject, SUBJECTS, Subject},
};
use sealwright_session::Spec;

/// Around the ends of blocks, registers and batches.
const LENGTHS: [usize; 12] = [0, 1, 15, 16, 17, 64, 128, 129, 256, 300, 512, 1040];

fn main() -> ExitCode {
    if !watched() {
        eprintln!("constant-time: valgrind does not run this program\nhint: cargo xtask constant-time");
        return ExitCode::from(3);
    }
    let levels = Isa::available();
    let mut wrong = 0;
    for &isa in &levels {
        for subject in SUBJECTS {
            wrong += judge(isa, subject.name, false, || sealed_and_opened(isa, subject));
        }
        for subject in IN_PIECES {
            wrong += judge(isa, subject.name, false, || sealed_in_pieces(isa, subject));
        }
        wrong += judge(isa, "a part of a tag", false, || short_tags(isa));
        wrong += judge(isa, "aes-256 in CBC and CTR", false, || unauthenticated(isa));
        wrong += judge(isa, "a batch of packets, a key each", false, || batch(isa));
        for spec in Spec::all() {
            let by_table = spec.kind.strategy().is_some_and(|strategy| strategy.table_bytes() > 0);
            let name = if by_table { format!("planted: sessions, {spec}") } else { format!("sessions, {spec}") };
            wrong += judge(isa, &name, by_table, || sessions::frames(isa, spec));
        }
        wrong += judge(isa, "planted: GHASH by table", true, || tables(isa));
    }
    wrong += judge(Isa::best(), "planted: a table indexed by a secret", true, look_up);
    wrong += judge(Isa::best(), "planted: a comparison that ends early", true, compare);
    wrong += judge(Isa::best(), "planted: the same where a mode opens", true, compare_when_opening);
    let missing: Vec<&str> =
        Isa::NAMES.iter().copied().filter(|name| levels.iter().all(|level| level.name() != *name)).collect();
    println!("levels that ran: {}; not here: {}", names(&levels), missing.join(", "));
    ExitCode::from(u8::from(wrong > 0))
}

fn names(levels: &[Isa]) -> String {
    levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
}

/// Runs one case; returns 1 if valgrind's findings are not the expected ones.
fn judge(isa: Isa, name: &str, planted: bool, case: impl FnOnce()) -> usize {
    let before = errors();
    case();
    let found = errors() - before;
    let right = (found > 0) == planted;
    println!("{:8} {name:40} {found:>6} {}", isa.name(), if right { "" } else { "WRONG" });
    usize::from(!right)
}

/// Key set-up, sealing, opening, and opening with a wrong tag, under nonces of every kind that the mode takes: where
/// GCM hashes one, the counter is secret too.
fn sealed_and_opened(isa: Isa, subject: &Subject) {
    let aead = (subject.make)(isa, &hidden(subject.key_len, 1));
    let usual = aead.nonce_len();
    with_nonce(&*aead, &vec![9; usual], subject.whole_blocks);
    for nonce in [8, 15, 40].map(|len| vec![9; len]) {
        if nonce.len() != usual && aead.seal_in_place(&nonce, b"", &mut []).is_ok() {
            with_nonce(&*aead, &nonce, subject.whole_blocks);
        }
    }
}

/// Ciphertexts and tags are public once they are made.
fn with_nonce(aead: &dyn Aead, nonce: &[u8], whole_blocks: bool) {
    for len in LENGTHS.into_iter().filter(|len| !whole_blocks || len % 16 == 0) {
        let ad = vec![3; len % 40];
        let mut text = hidden(len, 2);
        if whole_blocks {
            // Padding is checked after the tag, and is public as the length is.
            text.extend([16; 16]);
        }
        let tag = aead.seal_in_place(nonce, &ad, &mut text).expect("the nonce fits");
        public(&text);
        let mut tag = tag.as_ref().to_vec();
        public(&tag);
        let mut again = text.clone();
        // The library's `verdict` declares in one place that the result of opening is public: nothing is declared here.
        assert!(aead.open_in_place(nonce, &ad, &mut again, &tag).is_ok());
        black_box(&again);
        tag[len % 16] ^= 1;
        assert!(aead.open_in_place(nonce, &ad, &mut text, &tag).is_err());
    }
}

/// A part of a tag, as protocols with short tags compare it.
fn short_tags(isa: Isa) {
    let aead = Suite::Aes256Gcm.aead_at(isa, &hidden(32, 1)).expect("32 bytes");
    for len in 4..=16 {
        let tag = aead.seal_in_place(&[9; 12], b"", &mut hidden(40, 2)).expect("the nonce fits");
        let mut theirs = tag.as_ref()[..len].to_vec();
        public(&theirs);
        assert!(tag.begins_with(&theirs));
        theirs[len - 1] ^= 1;
        assert!(!tag.begins_with(&theirs));
    }
}

/// Pieces of every kind, under a nonce that counts from itself and under one that is hashed.
fn sealed_in_pieces(isa: Isa, subject: &InPiecesSubject) {
    let key = (subject.make)(isa, &hidden(subject.key_len, 1));
    for nonce in [12, 15].map(|len| vec![9; len]) {
        for len in LENGTHS {
            let mut message = key.clone().begin(&nonce, &vec![3; len % 40]).expect("the nonce fits");
            for piece in [len, 5, 1040, 11, 33] {
                let mut piece = hidden(if subject.whole_blocks { piece / 16 * 16 } else { piece }, 2);
                message.seal(&mut piece).expect("the piece fits");
                black_box(&piece);
            }
            message.seal(&mut hidden(7, 2)).expect("the piece fits");
            let _ = black_box(message.duplicate().finish());
        }
    }
}

fn unauthenticated(isa: Isa) {
    let cipher = raw::aes(isa, &hidden(32, 1)).expect("32 bytes");
    for len in [16, 128, 272] {
        let mut text = hidden(len, 2);
        cipher.cbc_encrypt(&[7; 16], &mut text);
        cipher.cbc_decrypt(&[7; 16], &mut text);
        cipher.ctr(&[7; 16], &mut text);
        black_box(&text);
    }
}

/// Messages of all lengths in parallel, sealed and opened; every third has a wrong tag.
fn batch(isa: Isa) {
    let mut texts: Vec<Vec<u8>> = (0..48).map(|i| hidden(13 * i, 2)).collect();
    let keys: Vec<Vec<u8>> = (0..48).map(|i| hidden(if i % 5 == 0 { 16 } else { 32 }, i)).collect();
    let mut messages: Vec<_> = texts
        .iter_mut()
        .zip(&keys)
        .zip(0..)
        // Messages with the same nonce would reveal whether they have the same key: such a batch is refused.
        .map(|((text, key), i)| BatchMessage { key, nonce: [i; 12], ad: b"header", text, tag: [0; 16] })
        .collect();
    let mut batch = Batch::new(isa);
    batch.seal(&mut messages).expect("the keys fit");
    for (i, message) in messages.iter_mut().enumerate() {
        public(message.text);
        public(&message.tag);
        message.tag[i % 16] ^= u8::from(i % 3 == 0);
    }
    for (i, opened) in batch.open(&mut messages).into_iter().enumerate() {
        assert_eq!(opened.is_ok(), i % 3 != 0, "message {i}");
    }
    black_box(&messages);
}

/// GHASH by tables: the index is secret, as its name says.
fn tables(isa: Isa) {
    let key: [u8; 16] = hidden(16, 1).try_into().expect("16 bytes");
    let aead: Gcm<Aes128, Table4k_vartime> = Gcm::new(isa, Aes128::new(isa, &key), TagLen::T16);
    let mut text = hidden(64, 2);
    // A tag that is not used would not be computed
    black_box(&Aead::seal_in_place(&aead, &[9; 12], b"", &mut text).ok());
}

fn look_up() {
    let (table, key) = ([black_box(7_u8); 256], hidden(16, 1));
    let sum = key.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(table[usize::from(byte)]));
    public(std::slice::from_ref(&sum));
    black_box(sum);
}

fn compare() {
    let (ours, theirs) = (hidden(16, 1), black_box([4; 16]));
    for (a, b) in ours.iter().zip(theirs) {
        if *a != b {
            break;
        }
        black_box(a);
    }
}

/// Suppressions must not cover functions by name alone: these functions have the same names as modes of the library
/// that branch on the result.
struct PlantedCommitting;
struct PlantedCbcHmac;

impl PlantedCommitting {
    #[inline(never)]
    fn open_in_place(&self, ours: &[u8], theirs: &[u8; 16]) -> bool {
        for (at, theirs) in theirs.iter().enumerate() {
            if ours[at] != *theirs {
                return false;
            }
        }
        true
    }
}

impl PlantedCbcHmac {
    #[inline(never)]
    fn open_in_place(&self, ours: &[u8], theirs: &[u8; 16]) -> bool {
        for (at, theirs) in theirs.iter().enumerate() {
            if ours[15 - at] != *theirs {
                return false;
            }
        }
        true
    }
}

fn compare_when_opening() {
    let (ours, theirs) = (hidden(16, 1), black_box([4; 16]));
    let before = errors();
    black_box(PlantedCommitting.open_in_place(&ours, &theirs));
    let between = errors();
    black_box(PlantedCbcHmac.open_in_place(&ours, &theirs));
    assert!(before < between && between < errors(), "one of the two was passed over");
}
