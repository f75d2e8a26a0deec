//! A question and a bench report with made-up figures, for tests.

use sealwright_measure::Machine;

use super::*;

pub(crate) const PLAIN: Question =
    Question { bytes: 1500, sessions: 1, hardware: true, ad: false, misuse: false, commit: false };

/// A bench report in which OCB is `ocb` times as fast as GCM, with AES instructions and without.
pub(crate) fn bench(ocb: f64) -> Report {
    let row = |subject: Subject, level: &str, direction, gbps: f64| Row {
        suite: subject.name().into(),
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
            row(Suite::Aes256Gcm.into(), "portable", way, 0.1),
            row(Suite::Aes256Gcm.into(), "avx2", way, 10.0),
            row(Suite::Aes256Ocb.into(), "portable", way, 0.1 * ocb),
            row(Suite::Aes256Ocb.into(), "avx2", way, 10.0 * ocb),
            row(Suite::ChaCha20Poly1305.into(), "portable", way, 0.6),
            row(Suite::ChaCha20Poly1305.into(), "avx2", way, 0.6),
            row(Subject::Aes256GcmSiv, "avx2", way, 5.0),
            row(Subject::Xaes256Gcm, "avx2", way, 7.0),
        ]
    });
    let mut machine = Machine::here(["portable", "avx2"]);
    machine.caches = vec!["L1 Data 48K".into(), "L3 Unified 32768K".into()];
    Report { rows: rows.concat(), seconds: 1.0, ..Report::of(machine) }
}
