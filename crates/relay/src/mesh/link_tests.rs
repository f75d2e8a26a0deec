//! Links between nodes, against forgers, repeaters and nodes that start again.
#![allow(clippy::unwrap_used)]
use super::*;

fn node(me: u32) -> Links {
    Links::new(me, Zeroizing::new([7; 32])).unwrap()
}

/// Both say hello and send probes until both are present. Whether b was new to a.
fn meet(a: &mut Links, b: &mut Links) -> bool {
    a.hear(&b.hello().unwrap()).unwrap();
    b.hear(&a.hello().unwrap()).unwrap();
    let mut new = false;
    for _ in 0..2 {
        for (_, mut probe) in a.probes(Some(b.me)) {
            // Other candidates have other keys
            let _ = b.open(&mut probe);
        }
        let mut answers: Vec<Vec<u8>> = b.probes(Some(a.me)).into_iter().map(|(_, probe)| probe).collect();
        answers.extend(b.seal(a.me, b"answer"));
        for mut answer in answers {
            new |= matches!(a.open(&mut answer), Ok(Opened::Present { is_new: true, .. }));
        }
        if let Ok(mut answer) = a.seal(b.me, b"answer") {
            let _ = b.open(&mut answer);
        }
    }
    new
}

fn opened(links: &mut Links, message: &[u8]) -> Result<(u32, Vec<u8>), SessionError> {
    match links.open(&mut message.to_vec())? {
        Opened::Present { node, text, .. } => Ok((node, text.to_vec())),
        Opened::Candidate { node } => panic!("node {node} is not present"),
    }
}

#[test]
fn messages_open_once_and_for_the_incarnation_they_were_sealed_for() {
    let (mut a, mut b) = (node(1), node(2));
    assert_eq!(a.seal(2, b"nobody there").unwrap_err(), SessionError::Unknown);
    assert!(meet(&mut a, &mut b) && !meet(&mut a, &mut b));
    let first = a.seal(2, b"first").unwrap();
    assert_eq!(opened(&mut b, &first).unwrap(), (1, b"first".to_vec()));
    assert_eq!(opened(&mut b, &first).unwrap_err(), SessionError::Replayed);
    let mut forged = a.seal(2, b"second").unwrap();
    forged[HEAD + HEADER] ^= 1;
    assert_eq!(opened(&mut b, &forged).unwrap_err(), SessionError::Forged);
    // B starts again: neither what was sealed before nor its copy opens
    let mut anew = node(2);
    assert_eq!(opened(&mut anew, &first).unwrap_err(), SessionError::Forged);
    assert!(meet(&mut a, &mut anew));
    let third = a.seal(2, b"third").unwrap();
    assert_eq!(opened(&mut anew, &third).unwrap(), (1, b"third".to_vec()));
    assert_eq!(opened(&mut b, &third).unwrap_err(), SessionError::Forged, "it is not for the old one");
    // And so does a
    let mut other = node(1);
    meet(&mut anew, &mut other);
    let fourth = other.seal(2, b"fourth").unwrap();
    assert_eq!(opened(&mut anew, &fourth).unwrap(), (1, b"fourth".to_vec()));
    let late = a.seal(2, b"of the past").unwrap();
    assert_eq!(opened(&mut anew, &late).unwrap_err(), SessionError::Stale);
}

#[test]
fn a_forged_or_repeated_hello_changes_nothing() {
    let (mut a, mut b) = (node(1), node(2));
    let old = node(2).hello().unwrap();
    meet(&mut a, &mut b);
    let mut forged = old.clone();
    for bit in 0..forged.len() * 8 {
        forged[bit / 8] ^= 1 << (bit % 8);
        assert!(a.hear(&forged).is_err(), "{bit}");
        forged[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(a.hear(&old[..HELLO - 1]).is_err() && a.hear(&[]).is_err());
    // Hellos of incarnations that never prove anything, more than are remembered
    assert_eq!(a.hear(&old), Ok(Hello::Candidate(2)));
    for _ in 0..20 {
        a.hear(&node(2).hello().unwrap()).unwrap();
    }
    let message = a.seal(2, b"still for b").unwrap();
    assert_eq!(opened(&mut b, &message).unwrap().1, b"still for b");
    assert!(a.probes(None).len() <= CANDIDATES);
}

#[test]
fn a_former_incarnation_never_comes_back() {
    let (mut a, mut b, mut c) = (node(1), node(2), node(2));
    meet(&mut a, &mut b);
    let withheld = b.seal(1, b"withheld").unwrap();
    meet(&mut a, &mut c);
    assert_eq!(a.hear(&b.hello().unwrap()), Err(SessionError::Stale));
    assert_eq!(opened(&mut a, &withheld).unwrap_err(), SessionError::Stale);
    assert_eq!(a.hear(&node(1).hello().unwrap()), Ok(Hello::NumberTaken));
    assert_eq!(a.hear(&a.hello().unwrap()), Ok(Hello::Own));
}

#[test]
fn an_answer_that_was_withheld_makes_nobody_present() {
    let (mut a, mut b, mut c) = (node(1), node(2), node(2));
    a.hear(&b.hello().unwrap()).unwrap();
    b.hear(&a.hello().unwrap()).unwrap();
    for (_, mut probe) in a.probes(None) {
        assert_eq!(b.open(&mut probe), Ok(Opened::Candidate { node: 1 }));
    }
    let (_, mut withheld) = b.probes(None).remove(0);
    // Node 2 starts again and is present; then the answer and the hello of its former incarnation are delivered
    assert!(meet(&mut a, &mut c));
    assert_eq!(a.open(&mut withheld.clone()), Ok(Opened::Candidate { node: 2 }));
    let _ = a.hear(&b.hello().unwrap());
    assert!(a.open(&mut withheld).is_err());
    let message = a.seal(2, b"for the present one").unwrap();
    assert_eq!(opened(&mut c, &message).unwrap().1, b"for the present one");
}

#[test]
fn keys_that_are_replaced_never_come_back() {
    let (mut a, mut b) = (node(1), node(2));
    meet(&mut a, &mut b);
    let before = a.seal(2, b"same").unwrap();
    let renewed = a.sending(2, b.incarnation).unwrap();
    a.peers[2].present.as_mut().unwrap().sending = renewed;
    let after = a.seal(2, b"same").unwrap();
    assert_ne!(before[HEAD + HEADER..], after[HEAD + HEADER..]);
    opened(&mut b, &after).unwrap();
    assert_eq!(opened(&mut b, &before).unwrap_err(), SessionError::Stale, "an older epoch");
}

#[test]
fn what_is_not_a_message_is_refused_and_changes_nothing() {
    let (mut a, mut b) = (node(1), node(2));
    meet(&mut a, &mut b);
    let good = a.seal(2, b"good").unwrap();
    for length in 0..good.len() {
        assert!(opened(&mut b, &good[..length]).is_err(), "{length}");
    }
    for bit in 0..good.len() * 8 {
        // The two bytes that say nothing
        if !(16..32).contains(&bit) {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(opened(&mut b, &bad).is_err(), "{bit}");
        }
    }
    assert_eq!(opened(&mut b, &good).unwrap(), (1, b"good".to_vec()));
}
