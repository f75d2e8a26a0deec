//! Keys that count their own nonces.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use sealwright::{Isa, KeyLengthError, OpenError, Opener, RandomNonceKey, SealError, Sealer, Suite};

fn pair(suite: Suite) -> (Sealer, Opener) {
    let key = vec![5; suite.key_len()];
    (Sealer::new(suite, &key).unwrap(), Opener::new(suite, &key).unwrap())
}

#[test]
fn nonces_are_numbers_from_zero() {
    for &suite in Suite::ALL {
        let (mut sealer, mut opener) = pair(suite);
        let plain = suite.aead(&vec![5; suite.key_len()]).unwrap();
        for i in 0..300_u64 {
            let mut text = format!("message {i}").into_bytes();
            let mut theirs = text.clone();
            let tag = sealer.seal_in_place(b"ad", &mut text).unwrap();
            let nonce = [&[0; 4], &i.to_be_bytes()[..]].concat();
            let their_tag = plain.seal_in_place(&nonce, b"ad", &mut theirs).unwrap();
            assert_eq!((&text, tag), (&theirs, their_tag), "{suite}: message {i}");
            opener.open_in_place(b"ad", &mut text, tag.as_ref()).unwrap();
            assert_eq!(text, format!("message {i}").into_bytes());
        }
    }
}

/// Out of order, twice or changed: refused and wiped, and the next one opens all the same.
#[test]
fn only_the_next_message_opens() {
    let (mut sealer, mut opener) = pair(Suite::Aes256Gcm);
    let sealed: Vec<_> = (0..4)
        .map(|i| {
            let mut text = vec![i; 20];
            let tag = sealer.seal_in_place(b"", &mut text).unwrap();
            (text, tag)
        })
        .collect();
    let mut open = |i: usize, flip: u8| {
        let (mut text, tag) = sealed[i].clone();
        text[0] ^= flip;
        let opened = opener.open_in_place(b"", &mut text, tag.as_ref()).is_ok();
        assert_eq!(text, if opened { vec![i as u8; 20] } else { vec![0; 20] });
        opened
    };
    let story = [(1, 0, false), (0, 1, false), (0, 0, true), (0, 0, false), (2, 0, false), (1, 0, true), (2, 0, true)];
    for (i, flip, opens) in story {
        assert_eq!(open(i, flip), opens, "message {i}, flip {flip}");
    }
}

#[test]
fn messages_with_their_tags_count_too() {
    for suite in Suite::ALL.iter().copied() {
        let (mut sealer, mut opener) = pair(suite);
        let (mut message, mut text) = ([5; 36], [5; 20]);
        sealer.seal_message(b"ad", &mut message).unwrap();
        let tag = pair(suite).0.seal_in_place(b"ad", &mut text).unwrap();
        assert_eq!(message, [&text[..], tag.as_ref()].concat()[..], "{suite}");
        let mut again = message;
        assert_eq!(opener.open_message(b"ad", &mut message).unwrap(), [5; 20], "{suite}");
        assert!(opener.open_message(b"ad", &mut again).is_err() && opener.open_message(b"ad", &mut [0; 15]).is_err());
        assert_eq!((sealer.count(), opener.count()), (1, 1));
    }
}

#[test]
fn keys_of_other_suites_are_refused() {
    let told = |error: KeyLengthError| (error.allowed(), error.given());
    assert_eq!(Sealer::new(Suite::Aes256Gcm, &[1; 16]).map_err(told).err(), Some((&[32][..], 16)));
    assert_eq!(Opener::new(Suite::Aes256Gcm, &[1; 16]).map_err(told).err(), Some((&[32][..], 16)));
}

#[test]
fn debug_shows_the_count_and_no_key() {
    let (mut sealer, opener) = pair(Suite::Aes128Gcm);
    let _ = sealer.seal_in_place(b"", &mut []).unwrap();
    assert_eq!(format!("{sealer:?} {opener:?}"), "Sealer { count: 1, .. } Opener { count: 0, .. }");
}

/// Run as a child of [`the_environment_only_lowers_the_level`]: tells the best level.
#[test]
#[ignore = "tells its level to the test that starts it"]
fn level_child() {
    println!("best={} of {}", Isa::best(), Isa::available().len());
}

#[test]
fn the_environment_only_lowers_the_level() {
    let told = |asked: Option<&str>| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "level_child", "--ignored", "--nocapture"]).env_remove("SEALWRIGHT_ISA");
        let output = child.envs(asked.map(|asked| ("SEALWRIGHT_ISA", asked))).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, told) = text.split_once("best=").unwrap_or_else(|| panic!("nothing told: {text}"));
        told.lines().next().unwrap().to_owned()
    };
    let all = told(None);
    let (best, count) = all.split_once(" of ").unwrap();
    let orders: [&[&str]; 2] = [&["portable", "sse", "avx2", "avx512"], &["portable", "neon"]];
    let levels = orders.into_iter().find(|levels| levels.contains(&best)).unwrap();
    let top = levels.iter().position(|level| *level == best).unwrap();
    for (i, &level) in levels.iter().enumerate() {
        let lowered = if i < top { format!("{level} of {}", i + 1) } else { format!("{best} of {count}") };
        assert_eq!(told(Some(level)), lowered, "asked for {level} where {best} is the best");
    }
    assert_eq!(told(Some("altivec")), all);
}

#[test]
fn no_nonce_comes_twice_at_the_end() {
    let mut sealer = Sealer::new(Suite::Aes256Gcm, &[1; 32]).unwrap().starting_at(u64::MAX - 1);
    let mut opener = Opener::new(Suite::Aes256Gcm, &[1; 32]).unwrap().starting_at(u64::MAX - 1);
    let mut text = *b"the last";
    let tag = sealer.seal_in_place(b"", &mut text).unwrap();
    opener.open_in_place(b"", &mut text, tag.as_ref()).unwrap();
    assert_eq!(&text, b"the last");
    assert_eq!(sealer.seal_in_place(b"", &mut text), Err(SealError::KeyExhausted));
    assert_eq!((&text, sealer.count()), (b"the last", u64::MAX));
    assert!(opener.open_in_place(b"", &mut text, tag.as_ref()).is_err());
    assert_eq!(text, [0; 8]);
}

#[test]
#[should_panic(expected = "a counter must not be set back")]
fn a_counter_is_not_set_back() {
    let mut sealer = Sealer::new(Suite::Aes256Gcm, &[1; 32]).unwrap().starting_at(5).starting_at(5);
    let _tag = sealer.seal_in_place(b"", &mut [0; 8]).unwrap();
    assert_eq!(sealer.count(), 6);
    let _ = sealer.starting_at(5);
}

/// A mistake of the program costs no nonce: both ends still count alike.
#[test]
fn a_message_without_room_for_a_tag_uses_up_no_nonce() {
    for &suite in Suite::ALL {
        let (mut sealer, mut opener) = pair(suite);
        let panicked = catch_unwind(AssertUnwindSafe(|| sealer.seal_message(b"", &mut [0; 15])));
        assert!(panicked.is_err(), "{suite}");
        assert_eq!(sealer.count(), 0, "{suite}");
        let mut message = [7; 20];
        sealer.seal_message(b"", &mut message).unwrap();
        assert_eq!(opener.open_message(b"", &mut message).unwrap(), [7; 4], "{suite}");
    }
}

#[test]
fn random_nonces_differ_and_travel_with_the_message() {
    let key = RandomNonceKey::new(Suite::Aes256Gcm, &[3; 32]).unwrap();
    let (a, b) = (key.seal(b"ad", b"text").unwrap(), key.seal(b"ad", b"text").unwrap());
    assert_ne!(a[..12], b[..12]);
    assert_eq!((key.open(b"ad", &a).unwrap(), a.len()), (b"text".to_vec(), 4 + key.overhead()));
    for end in 0..a.len() {
        assert!(key.open(b"ad", &a[..end]).is_err(), "cut to {end} bytes");
    }
}

#[test]
fn a_message_of_another_length_leaves_nothing_of_an_earlier_text() {
    let key = RandomNonceKey::new(Suite::Aes256Gcm, &[7; 32]).unwrap();
    let message = key.seal(b"ad", b"attack").unwrap();
    for (len, room) in [(0, 6), (5, 6), (27, 6), (33, 6), (34, 5), (34, 7), (34, 0)] {
        let mut text = vec![7; room];
        assert_eq!(key.open_to(b"ad", &message[..len], &mut text), Err(OpenError), "{len} bytes into {room}");
        assert_eq!(text, vec![0; room]);
    }
    let mut text = [7; 6];
    key.open_to(b"ad", &message, &mut text).unwrap();
    assert_eq!(&text, b"attack");
}
