#![allow(clippy::unwrap_used)]
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use sealwright::Suite;
use sealwright_measure::Trial;

use super::{
    super::{
        entrants, peer,
        peer::sealing::{Peer, Sealing},
        row::OURS,
    },
    *,
};

struct Idle;

impl Sealing for Idle {
    fn seal(&self, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), RefusedError> {
        Ok(())
    }
    fn open(&self, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), RefusedError> {
        Err(RefusedError)
    }
}

fn idle(implementation: &str, level: &str) -> Entrant<'static> {
    Entrant { peer: None, implementation: implementation.to_owned(), level: level.to_owned(), sealing: Box::new(Idle) }
}

fn contest<'a>(entrants: &'a [Entrant<'a>], direction: Direction) -> Contest<'a> {
    Contest { subject: Suite::Aes256Gcm.into(), bytes: 1000, direction, way: Way::OneKey, entrants }
}

/// A comparison in which each candidate takes the given number of microseconds in every round, except for a drift that
/// all share.
fn comparison(times: &[(&str, f64)]) -> Comparison {
    let trial = |&(name, micros): &(&str, f64)| {
        let samples = (0..20).map(|round| micros * 1e-6 * (1.0 + f64::from(round) / 100.0)).collect();
        Trial::new(name, 1, samples, 1).unwrap()
    };
    Comparison { trials: times.iter().map(trial).collect(), narrow: true, seconds: 0.0, seed: 1 }
}

#[test]
fn ratios_are_to_the_fastest_peer_and_never_to_ourselves() {
    let entrants = [idle(OURS, "avx2"), idle(OURS, "avx512"), idle("slow", "auto"), idle("fast", "auto")];
    let times = [("sealwright avx2", 1.0), ("sealwright avx512", 0.5), ("slow auto", 4.0), ("fast auto", 2.0)];
    let rows = contest(&entrants, Direction::Seal).rows(&comparison(&times));
    let ratios: Vec<f64> = rows.iter().map(|row| row.ratio_to_best_peer.unwrap()).collect();
    for (ratio, expected) in ratios.iter().zip([2.0, 4.0, 0.5, 1.0]) {
        assert!((ratio - expected).abs() < 1e-9, "{ratios:?}");
    }
    // The drift affects the speeds but not the ratios
    assert!(rows[0].ratio().unwrap().relative_width() < 1e-9 && rows[0].speed().relative_width() > 0.01);
    assert_eq!((rows[1].implementation.as_str(), rows[1].level.as_str()), ("sealwright", "avx512"));
    // 1000 bytes in about 1.1 µs
    assert!((0.9..0.93).contains(&rows[0].gbps), "{}", rows[0].gbps);
}

#[test]
fn a_suite_that_no_peer_knows_has_no_ratio() {
    let entrants = [idle(OURS, "portable")];
    let rows = contest(&entrants, Direction::Seal).rows(&comparison(&[("sealwright portable", 1.0)]));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].ratio(), None);
    let json = serde_json::to_value(&rows[0]).unwrap();
    assert!(json["ratio_to_best_peer"].is_null() && json["gbps"].is_number());
}

#[test]
fn json_has_exactly_these_fields() {
    let entrants = [idle(OURS, "portable")];
    let row = &contest(&entrants, Direction::Open).rows(&comparison(&[("sealwright portable", 1.0)]))[0];
    let json = serde_json::to_value(row).unwrap();
    let mut names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let expected = [
        "bytes",
        "direction",
        "gbps",
        "high",
        "implementation",
        "level",
        "low",
        "of_limit",
        "ratio_high",
        "ratio_low",
        "ratio_to_best_peer",
        "suite",
        "way",
    ];
    assert_eq!(names, expected);
    assert_eq!((&json["direction"], &json["suite"]), (&"open".into(), &"aes-256-gcm".into()));
}

#[test]
fn a_peer_that_refuses_ends_the_contest_by_name() {
    let entrants = [idle("broken", "auto")];
    let pace = Pace { meter: Meter::quick() };
    let error = contest(&entrants, Direction::Open).run(&pace).unwrap_err().to_string();
    assert!(error.contains("broken auto: refused to open"), "{error}");
}

#[test]
fn everybody_is_timed_in_both_directions() {
    let meter = Meter::quick().sample(Duration::from_micros(50)).budget(Duration::from_millis(30)).rounds(3, 5);
    let pace = Pace { meter };
    let (ours, peers) = (sealwright::Isa::available().into_iter().map(peer::Ours).collect::<Vec<_>>(), peer::all());
    let everybody: Vec<&dyn Peer> =
        ours.iter().map(|ours| ours as &dyn Peer).chain(peers.iter().map(Box::as_ref)).collect();
    for subject in Subject::all() {
        let entrants = entrants(subject, &everybody);
        for (bytes, direction) in [(304_usize, Direction::Seal), (304, Direction::Open), (1500, Direction::Open)] {
            if !bytes.is_multiple_of(16) && !matches!(subject, Subject::Suite(_)) {
                continue;
            }
            let contest = Contest { subject, bytes, direction, way: Way::OneKey, entrants: &entrants };
            let (rows, limits) = contest.run(&pace).unwrap();
            assert_eq!(rows.len(), entrants.len());
            assert!(rows.iter().all(|row| 0.0 < row.low && row.low <= row.gbps && row.gbps <= row.high));
            let peers: Vec<&Row> = rows.iter().filter(|row| row.implementation != OURS).collect();
            assert!(!peers.is_empty() || !matches!(subject, Subject::Suite(_)), "{subject} has no peer");
            let best = peers.iter().map(|row| row.gbps).fold(0.0, f64::max);
            // Two peers may take exactly the same time; the ratio is then to one of them
            let mut fastest = peers.iter().filter(|row| row.gbps == best);
            assert!(peers.is_empty() || fastest.any(|row| row.ratio() == Some(Interval::exact(1.0))));
            let copied = limits.iter().any(|limit| limit.what == Limiting::MemoryCopy);
            assert_eq!(copied, direction == Direction::Open);
        }
    }
}

#[test]
fn messages_come_in_every_way() {
    let meter = Meter::quick().sample(Duration::from_micros(50)).budget(Duration::from_millis(30)).rounds(3, 5);
    let pace = Pace { meter };
    let (subject, ours, peers) = (Subject::from(Suite::Aes128Gcm), peer::Ours(sealwright::Isa::best()), peer::all());
    let everybody: Vec<&dyn Peer> = std::iter::once(&ours as &dyn Peer).chain(peers.iter().map(Box::as_ref)).collect();
    let entrants = entrants(subject, &everybody);
    let gbps = |way| {
        let contest = Contest { subject, bytes: 40, direction: Direction::Seal, way, entrants: &entrants };
        let (rows, _) = contest.run(&pace).unwrap();
        assert_eq!(rows.len(), entrants.len(), "{way}");
        assert!(rows.iter().all(|row| row.way == way));
        // Key setup is not part of any limit
        let setup = matches!(way, Way::NewKey | Way::Batch);
        assert!(rows.iter().all(|row| !setup || row.of_limit.is_none()), "{way}");
        rows[0].gbps
    };
    // Setting up a key takes longer than a short message, on any machine
    assert!(gbps(Way::NewKey) < gbps(Way::OneKey));
    assert!(gbps(Way::Waiting) > 0.0 && gbps(Way::ManyKeys) > 0.0 && gbps(Way::Batch) > 0.0);
    assert!(gbps(Way::SideBySide) > 0.0);
}

/// AES-128-GCM whose batch function does nothing.
struct IdleBatches;

impl Peer for IdleBatches {
    fn name(&self) -> &'static str {
        "idle batches"
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        peer::Ours(sealwright::Isa::best()).make(subject, key)
    }

    fn batch(&self, _: Subject) -> Option<Box<dyn peer::sealing::Batch>> {
        Some(Box::new(IdleBatches))
    }
}

impl peer::sealing::Batch for IdleBatches {
    fn seal(&mut self, _: &[u8], _: &mut [peer::sealing::Job<'_>]) -> Result<(), RefusedError> {
        Ok(())
    }
}

#[test]
fn a_batch_that_is_not_its_messages_is_not_timed() {
    let pace = Pace { meter: Meter::quick() };
    let subject = Subject::from(Suite::Aes128Gcm);
    let entrants = entrants(subject, &[&IdleBatches]);
    let (direction, way) = (Direction::Seal, Way::Batch);
    let contest = Contest { subject, bytes: 40, direction, way, entrants: &entrants };
    let error = contest.run(&pace).unwrap_err().to_string();
    assert!(error.contains("idle batches") && error.contains("a batch is not its messages one by one"), "{error}");
}

/// Does nothing to messages, and records the sizes of the batches.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<BTreeSet<usize>>>);

impl Peer for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn make(&self, _: Subject, _: &[u8]) -> Option<Box<dyn Sealing>> {
        Some(Box::new(Idle))
    }

    fn batch(&self, _: Subject) -> Option<Box<dyn peer::sealing::Batch>> {
        Some(Box::new(self.clone()))
    }

    fn side_by_side(&self, _: Subject, _: &[u8]) -> Option<Box<dyn peer::sealing::Batch>> {
        Some(Box::new(self.clone()))
    }
}

impl peer::sealing::Batch for Counting {
    fn seal(&mut self, _: &[u8], jobs: &mut [peer::sealing::Job<'_>]) -> Result<(), RefusedError> {
        self.0.lock().unwrap().insert(jobs.len());
        Ok(())
    }
}

/// A batch is not split at the end of the window or of a sample.
#[test]
fn every_batch_is_whole() {
    let meter = Meter::quick().sample(Duration::from_micros(5)).budget(Duration::from_millis(5)).rounds(3, 3);
    let pace = Pace { meter };
    for (subject, way) in [(Subject::from(Suite::Aes128Gcm), Way::Batch), (Subject::Aes128Cbc, Way::SideBySide)] {
        for bytes in [256, 576, 1504, 1 << 20] {
            let counting = Counting::default();
            let entrants = entrants(subject, &[&counting]);
            let contest = Contest { subject, bytes, direction: Direction::Seal, way, entrants: &entrants };
            contest.run(&pace).unwrap();
            assert_eq!(*counting.0.lock().unwrap(), BTreeSet::from([way.at_once()]), "{way}, {bytes} B");
        }
    }
}

/// A library that claims to replace its key but keeps the old one.
struct Stale;

struct StaleKey(Box<dyn Sealing>);

impl Peer for Stale {
    fn name(&self) -> &'static str {
        "stale"
    }

    fn make(&self, subject: Subject, key: &[u8]) -> Option<Box<dyn Sealing>> {
        Some(Box::new(StaleKey(peer::Ours(sealwright::Isa::best()).make(subject, key)?)))
    }
}

impl Sealing for StaleKey {
    fn seal(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.0.seal(nonce, ad, message)
    }
    fn open(&self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.0.open(nonce, ad, message)
    }
    fn rekey(&mut self, _: &[u8]) -> bool {
        true
    }
}

#[test]
fn a_key_that_is_not_replaced_is_not_timed() {
    let pace = Pace { meter: Meter::quick() };
    let subject = Subject::from(Suite::Aes128Gcm);
    let entrants = entrants(subject, &[&Stale]);
    for way in [Way::NewKey, Way::Batch] {
        let contest = Contest { subject, bytes: 40, direction: Direction::Seal, way, entrants: &entrants };
        let error = contest.run(&pace).unwrap_err().to_string();
        assert!(error.contains("stale") && error.contains("a key that replaces another"), "{error}");
    }
}
