//! A question and a report, made up for tests.

use sealwright_measure::Machine;

use super::*;

pub(crate) const PLAIN: Question =
    Question { bytes: 1500, sessions: 1, hardware: true, ad: false, misuse: false, commit: false };

/// What a bench might find: OCB as fast as GCM with instructions, `portable` times as fast without.
pub(crate) fn bench(portable: f64) -> Report {
    let row = |suite: Suite, level: &str, direction, gbps: f64| Row {
        suite: suite.name().into(),
        bytes: 1500,
        direction,
        way: crate::bench::Way::OneKey,
        implementation: "sealwright".into(),
        level: level.into(),
        gbps,
        low: gbps * 0.99,
        high: gbps * 1.01,
        ratio_to_best_peer: None,
        ratio_low: None,
        ratio_high: None,
        of_limit: None,
    };
    let rows = Direction::BOTH.map(|way| {
        [
            row(Suite::Aes256Gcm, "portable", way, 0.1),
            row(Suite::Aes256Gcm, "avx2", way, 10.0),
            row(Suite::Aes256Ocb, "portable", way, 0.1 * portable),
            row(Suite::Aes256Ocb, "avx2", way, 10.0),
        ]
    });
    let mut machine = Machine::here(["portable", "avx2"]);
    machine.caches = vec!["L1 Data 48K".into(), "L3 Unified 32768K".into()];
    Report { machine, peers: vec![], absent: vec![], rows: rows.concat(), limits: vec![], seconds: 1.0, starts: 1 }
}
