//! Three nodes as separate processes, with traffic, while one is killed repeatedly, nodes are partitioned, one is
//! paused, and strangers forge and replay frames and messages, or subscribe at NATS without reading.
//!
//! Guarantees that are checked here:
//!
//! * Frames between clients of the same live node that read arrive exactly once, unchanged and in order, whatever
//!   happens to other nodes and the lines between them.
//! * Frames between clients of two live nodes arrive at most once and unchanged. Frames in transit during a partition
//!   may be lost, or be delayed and overtaken by later ones sent over another connection to NATS.
//! * A stream (`sealwright client`, also with `--udp`) with a reachable node and enough time is transferred whole and
//!   in order in both directions, even if the node of one or both clients is killed. If one end reports success,
//!   everything was written at the other end.
//! * A stream without enough time ends with an error. What was written is a prefix of it, or of an earlier stream
//!   between the same two clients that did not succeed and whose data arrived late.
//! * The counters of live nodes add up.
//!
//! Not guaranteed: frames to and from a client whose node is killed; that both ends of a stream agree on success if
//! they are partitioned at its very end (one may report an error although everything arrived); counters of a process
//! that was killed.
//!
//! The attacks last eight seconds, or `SEALWRIGHT_FIRE` seconds if that is set.
#![allow(clippy::unwrap_used)]

#[path = "common/eavesdropper.rs"]
mod eavesdropper;
#[path = "common/line.rs"]
mod line;
#[path = "common/nodes.rs"]
mod nodes;
#[path = "common/output.rs"]
mod output;
#[path = "common/processes.rs"]
mod processes;
#[path = "common/streams.rs"]
mod streams;
#[path = "common/talker.rs"]
mod talker;

use std::{
    collections::{BTreeMap, HashSet},
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use eavesdropper::Eavesdropper;
use line::State;
use nodes::until;
use processes::{Metrics, Processes};
use sealwright_measure::random::Random;
use sealwright_session::frame::HEADER;
use streams::{Kind, look_at, streams};
use talker::Talker;

/// The node that is killed.
const VICTIM: usize = 2;
/// The number of the first stream after the attacks.
const LAST: u64 = 10;
/// The number of the first of the consecutive short streams.
const LAPS: u64 = 12;
const NAMES: [&str; 20] = [
    "near0", "near1", "near2", "near3", "cross0", "cross1", "lasting0", "lasting1", "moving0", "moving1", "same0",
    "same1", "loose0", "loose1", "mixed0", "mixed1", "last0", "last1", "lap0", "lap1",
];

#[test]
#[ignore = "not a test: what a process does that the test below starts"]
fn a_node() {
    processes::be_a_node();
}

/// Flags that end threads; set on drop, so also when the test fails.
#[derive(Default)]
struct Ends {
    /// No more kills and partitions.
    attacks_over: Arc<AtomicBool>,
    traffic: Arc<AtomicBool>,
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.attacks_over.store(true, Ordering::Relaxed);
        self.traffic.store(true, Ordering::Relaxed);
    }
}

fn pause(random: &mut Random, from: u64, to: u64) {
    std::thread::sleep(Duration::from_millis(from + random.below((to - from) as usize) as u64));
}

/// Two clients of one node that send each other bursts of frames, and check each frame that arrives. Returns how many
/// arrived.
fn near_pair([a, b]: &mut [Talker; 2], over: &AtomicBool) -> u64 {
    let (mut random, mut arrived) = (Random::new(u64::from(a.address().session)), 0);
    while !over.load(Ordering::Relaxed) {
        let burst: Vec<Vec<u8>> =
            (0..=random.below(15)).map(|_| random.bits().to_be_bytes().repeat(random.below(180))).collect();
        for frame in &burst {
            a.send(b.address(), frame);
            b.send(a.address(), frame);
        }
        for frame in burst {
            assert_eq!(b.receive(), (a.address(), frame.clone()), "after {arrived} frames");
            assert_eq!(a.receive(), (b.address(), frame), "after {arrived} frames");
            arrived += 2;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    arrived
}

/// A client that sends numbered frames to a client of another node. Returns how many were sent, and how many arrived.
fn cross_pair(mut a: Talker, mut b: Talker, over: &AtomicBool) -> (u64, u64) {
    let (to, from) = (b.address(), a.address());
    let sent = &AtomicU64::new(0);
    std::thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            let mut arrived = HashSet::new();
            loop {
                let (sender, data) = b.receive();
                let (number, rest) = data.split_first_chunk().unwrap();
                let number = u64::from_be_bytes(*number);
                assert!(sender == from && rest == number.to_le_bytes().repeat(20), "another frame than {number} was");
                if number == u64::MAX {
                    return arrived.len() as u64;
                }
                assert!(number <= sent.load(Ordering::Relaxed) && arrived.insert(number), "frame {number} again");
            }
        });
        let mut send = |number: u64| {
            a.send(to, &[&number.to_be_bytes()[..], &number.to_le_bytes().repeat(20)].concat());
            std::thread::sleep(Duration::from_millis(1));
        };
        while !over.load(Ordering::Relaxed) && !receiver.is_finished() {
            send(sent.fetch_add(1, Ordering::Relaxed) + 1);
        }
        // The attacks are over by now, so the last frame arrives
        until("the last frame", || {
            send(u64::MAX);
            receiver.is_finished()
        });
        (sent.load(Ordering::Relaxed), receiver.join().unwrap())
    })
}

/// A stream in each direction that lasts as long as the traffic. Returns its bytes, and the number of reconnections.
fn lasting(
    nodes: &Processes,
    number: u64,
    (datagrams, ends): ([bool; 2], [(&str, &[usize]); 2]),
    over: &Arc<AtomicBool>,
) -> (u64, usize) {
    let kind = Kind { number, oldest: number, wait: 120, most: [u64::MAX; 2], datagrams };
    let ends = streams(nodes, &kind, ends, over);
    let outcomes = ends.each_ref().map(|end| &end.outcome);
    assert!(look_at(&ends), "{outcomes:?}");
    let again = ends.iter().flat_map(|end| &end.events).filter(|event| event.contains("again")).count();
    (ends.iter().map(|end| end.sink.length()).sum(), again)
}

/// Kills the victim at random times and restarts it, once the streams' clients are connected. Returns how often.
fn kills(nodes: &Processes, over: &AtomicBool) -> u64 {
    let (mut random, mut kills) = (Random::new(11), 0);
    until("clients at the victim", || nodes.metrics(VICTIM).is_some_and(|victim| victim.of("sessions") >= 5));
    while kills < 2 || !over.load(Ordering::Relaxed) {
        pause(&mut random, 300, 2500);
        nodes.kill(VICTIM);
        kills += 1;
        pause(&mut random, 1, 1000);
        nodes.begin(VICTIM, "a_node");
    }
    kills
}

/// Partitions nodes by cutting or pausing their lines, and pauses one node. Returns how often each was done.
fn partings(nodes: &Processes, over: &AtomicBool) -> BTreeMap<&'static str, u64> {
    let (mut random, mut done) = (Random::new(12), BTreeMap::new());
    for turn in 0.. {
        if done.len() == 3 && over.load(Ordering::Relaxed) {
            break;
        }
        pause(&mut random, 100, 1000);
        let node = [1, 3, 3, VICTIM][turn % 4];
        if turn % 4 == 1 {
            *done.entry("paused").or_default() += 1;
            nodes.signal(node, "STOP");
            pause(&mut random, 50, 1500);
            nodes.signal(node, "CONT");
            continue;
        }
        let (what, state) = [("line paused", State::Paused), ("cut", State::Cut)][turn / 2 % 2];
        *done.entry(what).or_default() += 1;
        nodes.line(node).set(state);
        if node == VICTIM || turn % 8 > 3 {
            pause(&mut random, 50, 2000);
        } else {
            // Until it has lost the others
            nodes.has_met(node, 0);
        }
        nodes.line(node).set(State::Open);
    }
    done
}

/// Repeatedly sends a replay of a frame that arrived, and a forgery of one that did not. Returns how many were sent.
fn forge(nodes: &Processes, node: usize, seen: &[[Vec<u8>; 2]], over: &AtomicBool) -> u64 {
    let (mut random, mut forged) = (Random::new(node as u64), 0);
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
        // The node may be dead at this moment
        let Some(mut stream) = nodes.frames(node) else { continue };
        for _ in 0..50 {
            let [repeated, mut changed] = seen[random.below(seen.len())].clone();
            let at = HEADER + random.below(changed.len() - HEADER);
            changed[at] ^= 1 << random.below(8);
            if stream.write_all(&[repeated, changed].concat()).is_err() {
                break;
            }
            forged += 2;
        }
    }
    forged
}

/// Forges messages between nodes, and replays those that it hears. Returns how many.
fn forge_messages(nodes: &Processes, over: &AtomicBool) -> u64 {
    let (mut random, mut said) = (Random::new(13), 0);
    while !over.load(Ordering::Relaxed) {
        let heard = Eavesdropper::at(nodes.nats.port).listen(Duration::from_millis(100));
        // Over another connection: NATS slows down nodes because of a subscriber that does not read
        let mut eavesdropper = Eavesdropper::at(nodes.nats.port);
        for (subject, message) in heard.iter().take(100) {
            eavesdropper.say(subject, message);
            let mut other = message.clone();
            let at = random.below(other.len());
            other[at] ^= 1 << random.below(8);
            eavesdropper.say(subject, &other);
            said += 2;
        }
    }
    said
}

/// Repeatedly subscribes at NATS without reading. Returns how often.
fn listen_and_sleep(nodes: &Processes, over: &AtomicBool) -> u64 {
    let (mut random, mut slept) = (Random::new(15), 0);
    while !over.load(Ordering::Relaxed) {
        let mut eavesdropper = Eavesdropper::at(nodes.nats.port);
        eavesdropper.ask();
        pause(&mut random, 100, 4000);
        slept += 1;
    }
    slept
}

/// Every frame that arrived was opened or bad. Every frame that was opened here or came from another node was queued,
/// passed on, or dropped and counted by reason. Every frame that was passed on was sent or counted as undelivered.
fn adds_up(metrics: &Metrics) -> bool {
    let sum = |reasons: &[&str]| reasons.iter().map(|reason| metrics.dropped(reason)).sum::<u64>();
    let bad = sum(&["short", "oversize", "unknown", "misplaced", "stale", "replayed", "forged"]);
    let later = sum(&["wrong_destination", "denied", "rules_changed", "share", "slow", "exhausted"]);
    let (opened, remote) = (metrics.of("frames_opened_total"), metrics.of("frames_remote_total"));
    let [sent, received, refused, undelivered] =
        ["sent", "received", "refused", "undelivered"].map(|outcome| metrics.between(outcome));
    metrics.of("frames_received_total") == opened + bad
        && opened + received == metrics.of("frames_forwarded_total") + remote + later + refused
        && remote == sent + undelivered
}

#[test]
fn nothing_that_is_promised_is_lost_when_nodes_are_killed_and_parted() {
    let seconds = std::env::var("SEALWRIGHT_FIRE").map_or(8, |seconds| seconds.parse().unwrap());
    let Some(nodes) = Processes::start(&NAMES, "a_node") else { return };
    let nodes = &nodes;
    let talker = |name: &str, node: usize| Talker::new(nodes.identity(name, &[node]).open(&[]).unwrap());
    let mut near = [[talker("near0", 1), talker("near1", 1)], [talker("near2", 3), talker("near3", 3)]];
    let (cross0, cross1) = (talker("cross0", 1), talker("cross1", 3));
    let seen = near.each_ref().map(|pair| pair.each_ref().map(Talker::seen));
    let ends = Ends::default();
    let (attacks_over, traffic) = (&ends.attacks_over.clone(), &ends.traffic.clone());
    std::thread::scope(|scope| {
        let ends = ends;
        let near = near.each_mut().map(|pair| scope.spawn(move || near_pair(pair, traffic)));
        let cross = scope.spawn(move || cross_pair(cross0, cross1, traffic));
        let streams = [
            ([false; 2], [("lasting0", &[1][..]), ("lasting1", &[3][..])]),
            ([false; 2], [("moving0", &[1][..]), ("moving1", &[VICTIM, 3][..])]),
            ([false; 2], [("same0", &[VICTIM][..]), ("same1", &[VICTIM][..])]),
            ([true; 2], [("loose0", &[1][..]), ("loose1", &[VICTIM, 3][..])]),
            ([true, false], [("mixed0", &[3][..]), ("mixed1", &[VICTIM][..])]),
        ];
        let mut number = 0;
        let streams = streams.map(|ends| {
            number += 2;
            scope.spawn(move || lasting(nodes, number - 2, ends, traffic))
        });
        let laps = scope.spawn(move || laps(nodes, attacks_over));
        // At the victim, these frames belong to no session of the node
        let forged = [(1, 0), (2, 0), (3, 1)].map(|(node, of)| {
            let seen = &seen[of];
            scope.spawn(move || forge(nodes, node, seen, traffic))
        });
        let said = scope.spawn(move || forge_messages(nodes, traffic));
        let slept = scope.spawn(move || listen_and_sleep(nodes, traffic));
        let kills = scope.spawn(move || kills(nodes, attacks_over));
        let partings = scope.spawn(move || partings(nodes, attacks_over));
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds) && !kills.is_finished() && !partings.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        ends.attacks_over.store(true, Ordering::Relaxed);
        let (kills, partings) = (kills.join().unwrap(), partings.join().unwrap());
        nodes.have_met();
        let laps = laps.join().unwrap();
        // After the attacks everything works as before
        let kind = Kind { number: LAST, oldest: LAST, wait: 120, most: [200_000, 100_000], datagrams: [false; 2] };
        let last = streams::streams(nodes, &kind, [("last0", &[VICTIM]), ("last1", &[3])], &Arc::default());
        assert!(look_at(&last), "nothing is in the way any more");
        drop(ends);
        let near = near.map(|pair| pair.join().unwrap());
        let (sent, arrived) = cross.join().unwrap();
        let streams = streams.map(|pair| pair.join().unwrap());
        let (forged, said) = (forged.map(|forged| forged.join().unwrap()), said.join().unwrap());
        let slept = slept.join().unwrap();
        println!(
            "kills: {kills}; partings: {partings:?}; frames within nodes: {near:?}, between nodes: {sent}, {arrived} came; \
             streams: {streams:?} bytes, connected again; laps: {laps:?}; forged: {forged:?} frames, {said} messages; slow listeners: {slept}"
        );
        assert!(kills >= 2 && partings.len() == 3, "the attacks took place");
        assert!(near.iter().all(|arrived| *arrived > 100) && (100..sent).contains(&arrived), "and partings part");
        assert!(streams.iter().all(|(bytes, _)| *bytes > 50_000) && streams[1..].iter().all(|(_, again)| *again > 0));
    });
    drop(near);
    for node in 1..=3 {
        let mut last = nodes.metrics(node).unwrap();
        let mut all_counted = || {
            last = nodes.metrics(node).unwrap_or_else(|| panic!("node {node} does not answer"));
            last.of("connections") == 0 && adds_up(&last)
        };
        until("counters that add up", &mut all_counted);
        let log = nodes.log(node);
        assert!(!log.contains("panicked"), "{log}");
        if node != VICTIM {
            assert!(log.contains("node-lost"), "node {node} lost others for a while");
            let refused = last.of("mesh_messages_total{outcome=\"refused\"}");
            let dropped = ["forged", "replayed"].map(|reason| last.dropped(reason));
            assert!(dropped.iter().all(|dropped| *dropped > 100) && refused > 100, "{}", last.0);
        }
    }
}

/// Consecutive short streams that begin and end during the attacks and have little time. Returns how many succeeded at
/// both ends, and why others failed.
fn laps(nodes: &Processes, over: &AtomicBool) -> (u64, BTreeMap<String, u64>) {
    let (mut random, mut whole, mut failed) = (Random::new(14), 0, BTreeMap::new());
    let never = Arc::default();
    for number in (LAPS..).step_by(2) {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let most = [0, 1].map(|_| random.below(100_000) as u64);
        let datagrams = [0, 1].map(|_| random.below(2) == 0);
        let kind = Kind { number, oldest: LAPS, wait: 8, most, datagrams };
        let ends = streams(nodes, &kind, [("lap0", &[1]), ("lap1", &[VICTIM, 3])], &never);
        whole += u64::from(look_at(&ends));
        for error in ends.iter().filter_map(|end| end.outcome.as_ref().err()) {
            *failed.entry(error.to_string()).or_default() += 1;
        }
    }
    (whole, failed)
}
