//! Every kernel between guard pages: texts of every length to 1100 bytes that end where the upper guard begins, texts
//! that begin where the lower one ends, and texts at every alignment. A kernel that reads or writes a byte too far ends
//! the process.
//!
//! `SEALWRIGHT_GUARDS=all` runs every length in every place, and `SEALWRIGHT_GUARDS=2/8` the second of eight parts of
//! that; else each length is at the upper guard and in one place of the others in turn.
#![allow(clippy::unwrap_used)]

use std::{env, os::unix::process::ExitStatusExt, process::Command};

use sealwright::{
    Batch, BatchMessage, Isa,
    raw::{self, Chain, Raw},
};
use sealwright_probes::{
    guarded::Guarded,
    subjects::{IN_PIECES, MORE, SUBJECTS, Subject},
};
use sealwright_session::{FrameJob, Material, Plan, Side, Spec, frame, table};

const LONGEST: usize = 1100;
/// Places of a text: at the end, at the start, and so many bytes behind the start.
const PLACES: usize = 66;

/// How much is run.
#[derive(Clone, Copy)]
enum Run {
    Short,
    /// A part of everything, and how many parts there are.
    Part(usize, usize),
}

fn wanted() -> Run {
    let Ok(words) = env::var("SEALWRIGHT_GUARDS") else { return Run::Short };
    part_of(&words)
        .unwrap_or_else(|| panic!("SEALWRIGHT_GUARDS is {words:?}: it must be all, or as 2/8 from 1/8 to 8/8"))
}

fn part_of(words: &str) -> Option<Run> {
    if words == "all" {
        return Some(Run::Part(0, 1));
    }
    let (part, of) = words.split_once('/')?;
    let (part, of): (usize, usize) = (part.parse().ok()?, of.parse().ok()?);
    (1..=of).contains(&part).then(|| Run::Part(part - 1, of))
}

/// The places in which a text of this length is tried.
fn places(len: usize) -> Vec<usize> {
    match wanted() {
        Run::Short => vec![0, 1 + len % (PLACES - 1)],
        // Each part has every length, and over the lengths every place.
        Run::Part(part, of) => (0..PLACES).filter(|place| (place + len) % of == part).collect(),
    }
}

/// Lengths for cases without places: every one to `longest`, those of the part, or as the short run has them.
fn lengths(longest: usize, short: impl Fn(usize) -> bool) -> Vec<usize> {
    let run = wanted();
    let runs = |len: &usize| match run {
        Run::Short => short(*len),
        Run::Part(part, of) => len % of == part,
    };
    (0..=longest).filter(runs).collect()
}

/// The memory of a text in one of the places.
fn part(memory: &mut Guarded, place: usize, len: usize) -> &mut [u8] {
    if place == 0 { memory.at_end(len) } else { memory.at(place - 1, len) }
}

fn fill(bytes: &mut [u8], seed: usize) {
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = (i * 37 + seed * 11 + (i >> 8)) as u8;
    }
}

/// Memory for each buffer that a mode is given.
struct Memory {
    key: Guarded,
    nonce: Guarded,
    ad: Guarded,
    text: Guarded,
    other: Guarded,
    tag: Guarded,
}

impl Memory {
    fn new() -> Memory {
        let make = |len| Guarded::new(len).unwrap();
        let room = LONGEST + PLACES;
        Memory { key: make(64), nonce: make(64), ad: make(room), text: make(room), other: make(room), tag: make(64) }
    }
}

fn authenticated(isa: Isa, subject: &Subject, memory: &mut Memory) {
    let Memory { key, nonce, ad, text, other, tag } = memory;
    let key = key.at_end(subject.key_len);
    fill(key, 1);
    let aead = (subject.make)(isa, key);
    let nonce = nonce.at_end(aead.nonce_len());
    fill(nonce, 2);
    for len in (0..=LONGEST).filter(|len| !subject.whole_blocks || (*len > 0 && len % 16 == 0)) {
        for place in places(len) {
            // Associated data is as long as the text was, but stands at the other end.
            let ad = part(ad, (place + 1) % 2, (len * 7) % 300);
            fill(ad, 3);
            let text = part(text, place, len);
            fill(text, len);
            let padding = if subject.whole_blocks { 16.min(len) } else { 0 };
            text[len - padding..].fill(16);
            let plain = text.to_vec();
            let what = format!("{} {isa}, {len} bytes in place {place}", subject.name);

            let made = aead.seal_in_place(nonce, ad, text).unwrap();
            let tag = tag.at_end(made.as_ref().len());
            tag.copy_from_slice(made.as_ref());
            // From here to there, in the other place
            let there = part(other, (place + 1) % PLACES, len);
            aead.open_to(nonce, ad, text, tag, there).unwrap();
            assert!(there == plain, "{what}: opened into another buffer");
            let again = aead.seal_to(nonce, ad, &plain, there).unwrap();
            assert!(again.matches(tag) && there == text, "{what}: sealed into another buffer");
            aead.open_in_place(nonce, ad, text, tag).unwrap();
            assert!(text == plain, "{what}: opened");
            tag[len % tag.len()] ^= 1;
            assert!(aead.open_in_place(nonce, ad, there, tag).is_err(), "{what}: a wrong tag");
            assert!(there.iter().all(|&byte| byte == 0), "{what}: text after a wrong tag");
        }
    }
}

#[test]
fn every_authenticated_mode_at_every_length() {
    let mut memory = Memory::new();
    for isa in Isa::available() {
        for subject in SUBJECTS.iter().chain(MORE) {
            authenticated(isa, subject, &mut memory);
        }
    }
}

/// Pieces after a first one that is not a multiple of a register, and before a last one.
#[test]
fn pieces_of_every_length() {
    let mut memory = Memory::new();
    for isa in Isa::available() {
        for subject in IN_PIECES {
            let Memory { key, nonce, ad, text, tag, .. } = &mut memory;
            let key = key.at_end(subject.key_len);
            fill(key, 1);
            let key = (subject.make)(isa, key);
            let nonce = nonce.at_end(12);
            fill(nonce, 2);
            for len in 0..=LONGEST {
                for place in places(len) {
                    let ad = part(ad, (place + 1) % 2, (len * 7) % 300);
                    fill(ad, 3);
                    let text = part(text, place, len);
                    fill(text, len);
                    let plain = text.to_vec();
                    let mut message = key.clone().begin(nonce, ad).unwrap();
                    let first = (len % 97).min(len);
                    let (front, end) = text.split_at_mut(if subject.whole_blocks { first / 16 * 16 } else { first });
                    message.seal(front).unwrap();
                    message.seal(end).unwrap();
                    let made = message.finish();
                    let tag = tag.at_end(made.as_ref().len());
                    tag.copy_from_slice(made.as_ref());
                    key.open_in_place(nonce, ad, text, tag).unwrap();
                    assert!(text == plain, "{} {isa}, {len} bytes in place {place}", subject.name);
                }
            }
        }
    }
}

#[test]
fn every_raw_mode_at_every_length() {
    let mut memory = Memory::new();
    for isa in Isa::available() {
        for key_len in if matches!(wanted(), Run::Short) { vec![32] } else { vec![16, 24, 32] } {
            let key = memory.key.at_end(key_len);
            fill(key, 1);
            for cipher in [raw::aes(isa, key).unwrap(), raw::serpent(isa, key).unwrap()] {
                for len in 0..=LONGEST {
                    for place in places(len) {
                        raw_modes(&*cipher, part(&mut memory.text, place, len));
                    }
                }
            }
        }
    }
}

fn raw_modes(cipher: &dyn Raw, text: &mut [u8]) {
    fill(text, 5);
    let plain = text.to_vec();
    let len = text.len();
    cipher.ctr(&[0xff; 16], text);
    cipher.ctr(&[0xff; 16], text);
    assert!(text == plain, "{len} bytes, CTR");
    if len.is_multiple_of(16) {
        cipher.ecb_encrypt(text);
        cipher.ecb_decrypt(text);
        assert!(text == plain, "{len} bytes, ECB");
        cipher.cbc_encrypt(&[7; 16], text);
        cipher.cbc_decrypt(&[7; 16], text);
        assert!(text == plain, "{len} bytes, CBC");
        // The last chain is the shortest.
        let mut chains: Vec<_> = text.chunks_mut(48).map(|text| Chain { iv: [7; 16], text }).collect();
        cipher.cbc_encrypt_many(&mut chains);
        for chain in text.chunks_mut(48) {
            cipher.cbc_decrypt(&[7; 16], chain);
        }
        assert!(text == plain, "{len} bytes, CBC of many");
    }
}

/// Messages side by side, of which the first begins at the lower guard and the last ends at the upper one: each length
/// in each lane.
#[test]
fn messages_side_by_side() {
    for isa in Isa::available() {
        let mut batch = Batch::new(isa);
        for len in lengths(LONGEST, |len| len <= 300 || len.is_multiple_of(50)) {
            // Lengths that differ by little go side by side.
            let sizes: [usize; 32] = std::array::from_fn(|lane| len + lane % 3);
            let room = sizes.iter().sum();
            let mut memory = Guarded::new(room).unwrap();
            for start in [0, memory.room() - room] {
                let all = memory.at(start, room);
                fill(all, len);
                let plain = all.to_vec();
                let (mut rest, mut texts) = (all, Vec::new());
                for size in sizes {
                    let (text, behind) = rest.split_at_mut(size);
                    texts.push(text);
                    rest = behind;
                }
                let keys: Vec<Vec<u8>> = (0..32).map(|lane| vec![lane; if lane < 16 { 16 } else { 32 }]).collect();
                let mut messages: Vec<_> = texts
                    .into_iter()
                    .zip(&keys)
                    .map(|(text, key)| BatchMessage { key, nonce: [1; 12], ad: b"header", text, tag: [0; 16] })
                    .collect();
                batch.seal(&mut messages).unwrap();
                assert!(batch.open(&mut messages).iter().all(Result::is_ok), "{isa} {len}");
                drop(messages);
                assert!(memory.at(start, room) == plain, "{isa} {len}");
            }
        }
    }
}

/// Frames of a relay: the first begins at the lower guard, the last ends at the upper one.
#[test]
fn frames_of_sessions() {
    for isa in Isa::available() {
        for spec in Spec::all() {
            let scheme = spec.to_string();
            let often = ["gcm-on64", "gcm-derived", "gscm-h"].contains(&scheme.as_str());
            let [mut client, mut server] = [Side::Client, Side::Server].map(|side| {
                let secret = Some(sealwright_session::Secret::from_bytes([3; 32]));
                let mut table = table(Plan::new(spec, 4).isa(isa).side(side).secret(secret)).unwrap();
                for slot in 0..4 {
                    table.admit(slot, slot, &Material::from_bytes(&[slot as u8; Material::LEN])).unwrap();
                }
                table
            });
            for len in lengths(LONGEST, |len| len.is_multiple_of(if often { 13 } else { 211 })) {
                let frames: Vec<Vec<u8>> = (0..6).map(|i| frame::unsealed(i, &vec![i as u8; len + 3])).collect();
                let each = frames[0].len();
                let mut memory = Guarded::new(6 * each).unwrap();
                for start in [0, memory.room() - 6 * each] {
                    let buffer = memory.at(start, 6 * each);
                    buffer.copy_from_slice(&frames.concat());
                    let job = |i: usize| FrameJob::new(i * each..(i + 1) * each, i as u32 % 4, i as u32 % 4);
                    let [mut sealing, mut opening]: [Vec<_>; 2] = [(); 2].map(|()| (0..6).map(job).collect());
                    client.seal_all(buffer, &mut sealing);
                    assert!(sealing.iter().all(FrameJob::done), "{scheme} {isa} {len}: {sealing:?}");
                    server.open_all(buffer, &mut opening);
                    assert!(opening.iter().all(FrameJob::done), "{scheme} {isa} {len}: {opening:?}");
                    for (i, frame) in frames.iter().enumerate() {
                        assert!(frame::payload(&buffer[i * each..(i + 1) * each]) == frame::payload(frame));
                    }
                }
            }
        }
    }
}

/// The parts of a run are disjoint, and together they are the whole.
#[test]
fn parts_make_up_the_whole() {
    for (words, wanted) in [("all", Some((0, 1))), ("1/8", Some((0, 8))), ("8/8", Some((7, 8)))] {
        assert!(matches!(part_of(words), Some(Run::Part(part, of)) if Some((part, of)) == wanted), "{words}");
    }
    for wrong in ["", "0/8", "9/8", "every", "1/", "/8", "-1/8", "0/0"] {
        assert!(part_of(wrong).is_none(), "{wrong}");
    }
}

const TOUCH: &str = "SEALWRIGHT_TOUCH";

/// Touches one byte.
#[test]
#[ignore = "run as a child by a_byte_too_far_ends_the_process"]
fn touching_child() {
    let distance = env::var(TOUCH).unwrap();
    Guarded::new(100).unwrap().touch(distance.parse().unwrap());
}

#[test]
fn a_byte_too_far_ends_the_process() {
    let touches = |distance: isize| {
        let mut child = Command::new(env::current_exe().unwrap());
        let child = child.args(["--exact", "touching_child", "--ignored"]).env(TOUCH, distance.to_string());
        child.output().unwrap()
    };
    for inside in [0, 4095] {
        let child = touches(inside);
        let said = String::from_utf8(child.stdout).unwrap();
        assert!(child.status.success() && said.contains("1 passed"), "{inside}: {said}");
    }
    for outside in [-1, 4096] {
        assert_eq!(touches(outside).status.signal(), Some(libc::SIGSEGV), "{outside}");
    }
}
