//! What the studies measured, as the advice needs it.

use sealwright::Isa;
use sealwright_measure::Interval;
use sealwright_session::{Plan, Spec, table};

use super::Question;
use crate::{bench::Report, results::Results};

/// Everything that was measured; any of it may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured<'a> {
    /// Speed beside other libraries.
    pub bench: Option<&'a Report>,
    /// Schemes for many sessions.
    pub sessions: Option<&'a Results>,
}

/// Time of a packet with stored and with computed keys, at the nearest to the question of the points where both have an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) clients: u64,
    pub(super) bytes: usize,
    /// Nanoseconds with round keys and GHASH keys stored for each session.
    pub(super) stored: Interval,
    /// Nanoseconds with nothing but keys stored.
    pub(super) computed: Interval,
}

/// A table of more sessions than so many times those in question, or of as many times fewer, is no measurement of them.
const NEAR: f64 = 4.0;

/// By how many factors of e two figures differ.
fn far(a: f64, b: f64) -> f64 {
    (a.max(1.0) / b.max(1.0)).ln().abs()
}

/// The schemes that are compared, as the study of sessions calls them.
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

    /// Whether the computed keys are the faster ones; `None` if the intervals cannot tell.
    pub(super) fn computed_is_faster(&self) -> Option<bool> {
        let (computed, stored) = (self.computed.high < self.stored.low, self.stored.high < self.computed.low);
        (computed || stored).then_some(computed)
    }

    /// Whether it says what `sessions` take. Of a number that is not near it tells only if the difference grows on the way there: the
    /// more sessions, the fewer of their prepared keys are in a cache.
    pub(super) fn tells_of(&self, sessions: u64) -> bool {
        let near = far(self.clients as f64, sessions as f64) <= NEAR.ln() + 1e-9;
        let more = sessions > self.clients;
        near || self.computed_is_faster() == Some(more)
    }
}

/// The scheme that keeps nothing but keys, with keys of 256 bits as the suite has them.
pub(super) const KEYS_ONLY: &str = "gcm-on64-256";

/// Bytes of a session in that scheme, both directions.
pub(super) fn keys_only_bytes() -> u64 {
    let bytes = |spec: Spec| Some(table(Plan { isa: Isa::best(), ..Plan::new(spec, 8) }).ok()?.memory().record as u64);
    KEYS_ONLY.parse().ok().and_then(bytes).unwrap_or(0)
}
