//! Links between nodes, with forged and replayed messages and restarted nodes.
#![allow(clippy::unwrap_used)]
use super::*;

fn node(me: u32) -> Links {
    Links::new(me, Zeroizing::new([7; 32])).unwrap()
}

/// Exchanges hellos and probes until both nodes are present to each other. Returns whether b was new to a.
fn meet(a: &mut Links, b: &mut Links) -> bool {
    a.hear(&b.hello().unwrap(), Instant::now()).unwrap();
    b.hear(&a.hello().unwrap(), Instant::now()).unwrap();
    let mut new = false;
    for _ in 0..2 {
        for (_, mut probe) in a.probes(Some(b.me)) {
            // Other candidates have other keys
            let _ = b.open(&mut probe, Instant::now());
        }
        let mut answers: Vec<Vec<u8>> = b.probes(Some(a.me)).into_iter().map(|(_, probe)| probe).collect();
        answers.extend(b.seal(a.me, b"answer"));
        for mut answer in answers {
            new |= matches!(a.open(&mut answer, Instant::now()), Ok(Opened::Present { is_new: true, .. }));
        }
        if let Ok(mut answer) = a.seal(b.me, b"answer") {
            let _ = b.open(&mut answer, Instant::now());
        }
    }
    new
}

fn opened(links: &mut Links, message: &[u8]) -> Result<(u32, Vec<u8>), SessionError> {
    match links.open(&mut message.to_vec(), Instant::now())? {
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
    forged[HEAD_BYTES + HEADER] ^= 1;
    assert_eq!(opened(&mut b, &forged).unwrap_err(), SessionError::Forged);
    // B restarts: no message sealed before opens, nor does a copy of one
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
        assert!(a.hear(&forged, Instant::now()).is_err(), "{bit}");
        forged[bit / 8] ^= 1 << (bit % 8);
    }
    assert!([&old[..HELLO_BYTES - 1], &[]].iter().all(|short| a.hear(short, Instant::now()).is_err()));
    // More hellos of dead incarnations than there are candidates
    assert_eq!(a.hear(&old, Instant::now()), Ok(Hello::Candidate(2)));
    let now = Instant::now();
    let heard = (0..20).filter(|_| a.hear(&node(2).hello().unwrap(), now).is_ok()).count();
    assert_eq!(heard, MAX_CANDIDATES - 1);
    let message = a.seal(2, b"still for b").unwrap();
    assert_eq!(opened(&mut b, &message).unwrap().1, b"still for b");
    assert!(a.probes(None).len() <= MAX_CANDIDATES);
}

#[test]
fn a_former_incarnation_never_comes_back() {
    let (mut a, mut b, mut c) = (node(1), node(2), node(2));
    meet(&mut a, &mut b);
    let withheld = b.seal(1, b"withheld").unwrap();
    meet(&mut a, &mut c);
    assert_eq!(a.hear(&b.hello().unwrap(), Instant::now()), Err(SessionError::Stale));
    assert_eq!(opened(&mut a, &withheld).unwrap_err(), SessionError::Stale);
    assert_eq!(a.hear(&node(1).hello().unwrap(), Instant::now()), Ok(Hello::NumberTaken));
    assert_eq!(a.hear(&a.hello().unwrap(), Instant::now()), Ok(Hello::Own));
}

#[test]
fn an_answer_that_was_withheld_makes_nobody_present() {
    let (mut a, mut b, mut c) = (node(1), node(2), node(2));
    a.hear(&b.hello().unwrap(), Instant::now()).unwrap();
    b.hear(&a.hello().unwrap(), Instant::now()).unwrap();
    for (_, mut probe) in a.probes(None) {
        assert_eq!(b.open(&mut probe, Instant::now()), Ok(Opened::Candidate { node: 1 }));
    }
    let (_, mut withheld) = b.probes(None).remove(0);
    // Node 2 restarts and is present; then the answer and the hello of its former incarnation are delivered
    assert!(meet(&mut a, &mut c));
    assert_eq!(a.open(&mut withheld.clone(), Instant::now()), Ok(Opened::Candidate { node: 2 }));
    let _ = a.hear(&b.hello().unwrap(), Instant::now());
    assert!(a.open(&mut withheld, Instant::now()).is_err());
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
    assert_ne!(before[HEAD_BYTES + HEADER..], after[HEAD_BYTES + HEADER..]);
    opened(&mut b, &after).unwrap();
    assert_eq!(opened(&mut b, &before).unwrap_err(), SessionError::Stale, "an older epoch");
}

#[test]
fn keys_are_replaced_before_they_are_used_up() {
    let (mut a, mut b) = (node(1), node(2));
    meet(&mut a, &mut b);
    let epoch = |a: &Links| a.peers[2].present.as_ref().unwrap().sending.epoch;
    let before = epoch(&a);
    let first = a.seal(2, b"same").unwrap();
    assert_eq!((opened(&mut b, &first).unwrap().1, epoch(&a)), (b"same".to_vec(), before), "most are left");
    a.rekey_below = u64::MAX;
    for round in 1..=3 {
        let message = a.seal(2, b"same").unwrap();
        assert_eq!((opened(&mut b, &message).unwrap().1, epoch(&a)), (b"same".to_vec(), before + round));
    }
    let answer = b.seal(1, b"answer").unwrap();
    assert_eq!(opened(&mut a, &answer).unwrap().1, b"answer");
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
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(opened(&mut b, &bad).is_err(), "{bit}");
    }
    assert_eq!(opened(&mut b, &good).unwrap(), (1, b"good".to_vec()));
}

/// Hellos of former incarnations are replayed all the time, at both ends, while messages take a tenth of a second.
#[test]
fn repeated_hellos_keep_no_two_nodes_apart() {
    // With many former incarnations, each has some turns first
    for (former, step, within) in [(4, 10, 10), (5, 10, 10), (40, 10, 10), (150, 50, 60), (500, 50, 240)] {
        let (mut a, mut b) = (node(1), node(2));
        let recorded = |me: u32| (0..former).map(|_| node(me).hello().unwrap()).collect::<Vec<_>>();
        let (of_a, of_b) = (recorded(1), recorded(2));
        let start = Instant::now();
        let (mut under_way, mut refused, mut met) = (Vec::new(), [0; 2], [None; 2]);
        let rounds = (within + 2) * 1000 / step;
        for round in 0..rounds {
            if step > 10 && met.iter().all(Option::is_some) {
                break;
            }
            let now = start + round * Duration::from_millis(step.into());
            for (at, hello) in of_b.iter().enumerate() {
                refused[0] += u32::from(a.hear(hello, now).is_err());
                refused[1] += u32::from(b.hear(&of_a[at], now).is_err());
            }
            if round * step % 500 == 250 {
                under_way.push((now, 2, true, a.hello().unwrap()));
                under_way.push((now, 1, true, b.hello().unwrap()));
                under_way.extend(a.probes(None).into_iter().map(|(to, probe)| (now, to, false, probe)));
                under_way.extend(b.probes(None).into_iter().map(|(to, probe)| (now, to, false, probe)));
            }
            let arrived = under_way.extract_if(.., |(sent, ..)| now - *sent >= Duration::from_millis(100));
            for (_, to, is_hello, mut message) in arrived.collect::<Vec<_>>() {
                let (node, from) = if to == 1 { (&mut a, 2) } else { (&mut b, 1) };
                let answers = if is_hello {
                    matches!(node.hear(&message, now), Ok(Hello::Candidate(_)))
                } else {
                    match node.open(&mut message, now) {
                        Ok(Opened::Present { is_new, .. }) => {
                            if is_new {
                                met[to as usize - 1].get_or_insert(round * step);
                                // As a node does once it has met another one
                                under_way.push((now, from, false, node.seal(from, b"heartbeat").unwrap()));
                            }
                            false
                        }
                        Ok(Opened::Candidate { .. }) => true,
                        Err(_) => false,
                    }
                };
                if answers {
                    under_way.extend(node.probes(Some(from)).into_iter().map(|(to, probe)| (now, to, false, probe)));
                }
            }
        }
        assert!(met.iter().all(|met| met.is_some_and(|time| time < within * 1000)), "of {former}: {met:?}");
        // Keys are made for four candidates at once and for ten per second, whichever node is present
        let keys = [a.peers[2].next_epoch, b.peers[1].next_epoch];
        assert!(keys.iter().all(|keys| *keys < 4 + 4 + 10 * (within + 2) + 4), "of {former}: {keys:?}");
        assert!(former == 4 || refused.iter().all(|refused| *refused > 1000), "of {former}: {refused:?}");
    }
}

/// A candidate that sent a message under its keys keeps its place, whatever hellos arrive.
#[test]
fn a_hello_drives_out_nobody_who_sent_a_message() {
    let (mut a, start) = (node(1), Instant::now());
    let mut proved: Vec<Links> = (0..MAX_CANDIDATES + 1).map(|_| node(2)).collect();
    let later = |milliseconds| start + Duration::from_millis(milliseconds);
    let probe = |b: &mut Links, a: &mut Links, now| {
        b.hear(&a.hello().unwrap(), now).unwrap();
        let (_, mut probe) = b.probes(None).remove(0);
        a.open(&mut probe, now).map(drop)
    };
    for b in &mut proved[..MAX_CANDIDATES] {
        probe(b, &mut a, start).unwrap();
    }
    let hello = node(2).hello().unwrap();
    assert_eq!(a.hear(&hello, later(60_000)), Err(SessionError::Replayed));
    // Another message displaces it, once its time is over
    let b = &mut proved[MAX_CANDIDATES];
    assert_eq!(probe(b, &mut a, later(2_900)), Err(SessionError::Replayed));
    assert_eq!(probe(b, &mut a, later(3_000)), Ok(()));
    assert_eq!(a.peers[2].candidates.last().map(|link| link.with), Some(b.incarnation));
    // Candidates that sent only a hello make room for a message at once
    let mut a = node(1);
    for b in &proved[..MAX_CANDIDATES] {
        a.hear(&b.hello().unwrap(), start).unwrap();
    }
    assert_eq!(a.hear(&hello, later(399)), Err(SessionError::Replayed));
    assert_eq!(probe(&mut node(2), &mut a, start), Ok(()));
    assert_eq!(a.hear(&hello, later(400)), Ok(Hello::Candidate(2)));
    // And a displaced one must wait
    let lost = proved[0].hello().unwrap();
    assert_eq!(a.hear(&lost, later(5_000)), Err(SessionError::Replayed));
    assert_eq!(a.hear(&lost, later(10_000)), Ok(Hello::Candidate(2)));
}

#[test]
fn who_loses_its_place_waits_twice_as_long_each_time() {
    let waits = [1, 2, 3, 9, 10, 11, 40, u32::MAX].map(|times| next_turn(times).as_secs());
    assert_eq!(waits, [10, 20, 40, 2560, 3600, 3600, 3600, 3600]);
    let (mut peer, mut now) = (Peer::default(), Instant::now());
    let link = |with: usize, since: Instant| {
        let mut incarnation = Incarnation::default();
        incarnation[..8].copy_from_slice(&with.to_be_bytes());
        let material = material(&[7; 32], (1, incarnation), (2, incarnation), 0).unwrap();
        let sending = Keys { epoch: 0, table: keys(Side::Client, &material).unwrap() };
        Link { with: incarnation, since, sending, receiving: None }
    };
    peer.candidates = (0..MAX_CANDIDATES).map(|at| link(at, now)).collect();
    // Each is displaced in turn
    for round in 0..3 * MAX_CANDIDATES {
        now += CANDIDATE_TURN;
        peer.make_room(false, now).unwrap();
        peer.candidates.push(link(round % MAX_CANDIDATES, now));
    }
    assert!(peer.in_vain.len() == MAX_CANDIDATES && peer.in_vain.values().all(|(_, times)| *times == 3));
    // The list is bounded, and its bound excludes no node that has the secret
    let mut many = 0_u64;
    peer.in_vain.clear();
    while peer.in_vain.len() < MAX_DISPLACED {
        many += 1;
        peer.in_vain.insert([many.to_be_bytes(), [1; 8]].concat().try_into().unwrap(), (now, 1));
    }
    now += CANDIDATE_TURN;
    assert_eq!(peer.make_room(false, now), Err(SessionError::Replayed));
    assert_eq!((peer.make_room(true, now), peer.candidates.len()), (Ok(()), MAX_CANDIDATES - 1));
    peer.candidates.push(link(MAX_CANDIDATES, now));
    assert_eq!(peer.make_room(false, now + LONGEST_EXCLUSION), Ok(()));
    assert_eq!(peer.in_vain.len(), 1);
}

/// Whoever can publish at NATS need not know any key.
#[test]
fn forged_messages_make_few_keys_and_break_no_link() {
    let (mut a, mut b) = (node(1), node(2));
    meet(&mut a, &mut b);
    let start = Instant::now();
    let genuine = b.seal(1, b"text").unwrap();
    let mut forged = genuine.clone();
    let tried = |a: &Links| a.peers[2].trials.map_or(0, |(_, tried)| tried);
    let before = tried(&a);
    let flood = |a: &mut Links, forged: &mut [u8], now: Instant| {
        for at in 0..1000_u32 {
            let part = if at % 2 == 0 { 4..8 } else { 8..12 }; // a later epoch, or another incarnation
            forged[part].copy_from_slice(&(0x4000_0000 + at).to_be_bytes());
            assert!(a.open(&mut forged.to_vec(), now).is_err());
        }
        tried(a)
    };
    assert_eq!(flood(&mut a, &mut genuine[..HEAD_BYTES + 3].to_vec(), start), before, "too short for any text");
    assert_eq!(flood(&mut a, &mut forged, start), TRIALS_PER_SECOND);
    assert_eq!(opened(&mut a, &genuine).unwrap(), (2, b"text".to_vec()), "under keys that are there");
    // A node that restarts is met again as soon as its message is tried
    let mut anew = node(2);
    a.hear(&anew.hello().unwrap(), start).unwrap();
    anew.hear(&a.hello().unwrap(), start).unwrap();
    let (_, mut probe) = anew.probes(Some(1)).remove(0);
    assert_eq!(a.open(&mut probe.clone(), start), Err(SessionError::Forged));
    let later = start + Duration::from_secs(1);
    assert_eq!(a.open(&mut probe, later), Ok(Opened::Candidate { node: 2 }));
}
