//! The measurements that the advice is based on.

use sealwright::Isa;
use sealwright_measure::{Interval, Machine};
use sealwright_session::{Plan, Spec, table};

use super::Question;
use crate::{
    bench::Report,
    provenance::Provenance,
    report::{day, program},
    results::{BENCH, Results},
};

/// All measurements that advice can use; each may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured<'a> {
    /// Speed compared with other libraries.
    pub bench: Option<&'a Report>,
    /// Results of the study of many sessions.
    pub sessions: Option<&'a Results>,
}

impl Measured<'_> {
    /// Each document with its name, machine, version and provenance.
    fn documents(&self) -> impl Iterator<Item = (&'static str, &Machine, &str, &Provenance)> {
        let bench = self.bench.map(|of| (BENCH, &of.machine, &of.version[..], &of.provenance));
        let sessions = self.sessions.map(|of| ("sessions", &of.machine, &of.version[..], &of.provenance));
        bench.into_iter().chain(sessions)
    }

    /// Where, when and by which program each document was measured.
    pub fn sources(&self) -> Vec<String> {
        let source = |(name, machine, version, by): (_, &Machine, _, _)| {
            format!("{name}: {}, {}, by {}", machine.identity(), day(&machine.date), program(version, by))
        };
        self.documents().map(source).collect()
    }

    /// Why the figures may not apply to programs on the machine `here` ([`Machine::identity`]).
    pub fn warnings(&self, here: &str) -> Vec<String> {
        let warning = |(name, machine, ..): (&str, &Machine, _, _)| {
            let other = machine.identity() != here;
            let other = other.then(|| format!("{name} was measured on another machine or system than this one"));
            let level = &machine.opt_level;
            let slow = machine.unoptimised().then(|| format!("{name} was measured by a build at opt-level {level}"));
            [other, slow]
        };
        self.documents().flat_map(warning).flatten().collect()
    }
}

/// Time of a packet with stored and with computed keys. Of the measured points at which both have an interval, it is
/// the one nearest to the question: first by packet size, then by number of sessions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) clients: u64,
    pub(super) bytes: usize,
    /// Nanoseconds if round keys and GHASH keys are stored for each session.
    pub(super) stored: Interval,
    /// Nanoseconds if only keys are stored.
    pub(super) computed: Interval,
}

/// The largest factor by which the measured number of sessions may differ from the number in question for the
/// measurement to decide by itself.
const NEAR: f64 = 4.0;

/// The distance of two figures: the absolute logarithm of their ratio.
fn far(a: f64, b: f64) -> f64 {
    (a.max(1.0) / b.max(1.0)).ln().abs()
}

/// Names of the compared schemes in the study of sessions.
const STORED: &str = "gcm-pre(clmul)";
const COMPUTED: &str = "gcm-on64";

impl Packet {
    pub(super) fn find(question: &Question, measured: Measured<'_>) -> Option<Packet> {
        let quantities = &measured.sessions?.outcome.quantities;
        let levels = &measured.sessions?.machine.levels;
        let level =
            if question.hardware { levels.last() } else { levels.first().filter(|level| *level == "portable") }?;
        let scope = format!("every scheme, {level}");
        let of = |scheme: &str| {
            let prefix = format!("nanoseconds of a packet/{scheme}/");
            let here = quantities.iter().filter(|quantity| quantity.scope == scope && quantity.tells());
            let found = here.filter_map(|quantity| {
                let (bytes, clients) = quantity.name.strip_prefix(&prefix)?.split_once('/')?;
                Some((bytes.parse::<usize>().ok()?, clients.parse::<u64>().ok()?, quantity.figure))
            });
            found.collect::<Vec<_>>()
        };
        let (stored, computed) = (of(STORED), of(COMPUTED));
        let distance = |point: &(usize, u64, Interval)| {
            (far(point.0 as f64, question.bytes as f64), far(point.1 as f64, question.sessions as f64))
        };
        let both = stored.iter().filter_map(|one| {
            let other = computed.iter().find(|other| (other.0, other.1) == (one.0, one.1))?;
            Some((distance(one), Packet { bytes: one.0, clients: one.1, stored: one.2, computed: other.2 }))
        });
        let nearest = both.min_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        nearest.map(|(_, packet)| packet)
    }

    /// Whether computed keys are faster; `None` if the intervals overlap.
    pub(super) fn computed_is_faster(&self) -> Option<bool> {
        let (computed, stored) = (self.computed.high < self.stored.low, self.stored.high < self.computed.low);
        (computed || stored).then_some(computed)
    }

    /// Whether the measurement decides for this number of `sessions`. If the measured number is not near, it does only
    /// if the difference grows towards `sessions`: with more sessions, fewer of their prepared keys are in a cache,
    /// which favours computed keys; with fewer sessions, stored keys gain.
    pub(super) fn tells_of(&self, sessions: u64) -> bool {
        let near = far(self.clients as f64, sessions as f64) <= NEAR.ln() + 1e-9;
        let more = sessions > self.clients;
        near || self.computed_is_faster() == Some(more)
    }
}

/// The scheme that stores only keys, with keys of 256 bits like the suite.
pub(super) const KEYS_ONLY: &str = "gcm-on64-256";

/// Bytes per session in that scheme, for both directions.
pub(super) fn keys_only_bytes() -> u64 {
    let bytes = |spec: Spec| Some(table(Plan::new(spec, 8).isa(Isa::best())).ok()?.memory().record as u64);
    KEYS_ONLY.parse().ok().and_then(bytes).unwrap_or(0)
}
