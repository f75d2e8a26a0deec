//! Our vectors and Wycheproof's, at every level.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use sealwright_vectors::Report;
use support::{check, every_level, ours, wycheproofs};

/// Prints the number of cases; `cargo xtask aarch64` shows it.
fn tell(whose: &str, passed: usize) {
    let levels: Vec<_> = every_level().isas.iter().map(|isa| isa.name()).collect();
    println!("vectors: {passed} of {whose} at {}", levels.join(" and "));
}

/// All of `text` must pass at every level.
fn all_pass(name: &str, text: &str) -> Report {
    let (report, failures) = check(name, text, &every_level());
    assert_eq!(report.failed, 0, "{}", failures.iter().map(|failure| format!("{failure}\n")).collect::<String>());
    assert!(report.passed > 0, "{name} checked nothing");
    report
}

#[test]
fn our_own() {
    let documents = ours();
    assert!(documents.len() >= 4, "only {} documents of vectors", documents.len());
    let mut passed = 0;
    for (name, text) in documents {
        let report = all_pass(&name, &text);
        assert_eq!(report.skipped, 0, "{name} has cases that nothing runs: {:?}", report.reasons);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["numberOfTests"].as_u64(), Some(report.passed as u64), "{name}: numberOfTests");
        let origin = document["header"][0].as_str().unwrap_or_default();
        assert!(origin.starts_with("Origin: "), "{name} does not name its origin");
        passed += report.passed;
    }
    tell("ours", passed);
}

#[test]
fn wycheproof() {
    let mut passed = 0;
    for (name, text) in wycheproofs() {
        let report = all_pass(&name, &text);
        assert!(report.passed > 90 && report.skipped == 0, "{name}: {report}, {:?}", report.reasons);
        passed += report.passed;
    }
    tell("Wycheproof's", passed);
}

/// Documents for other algorithms are read completely and counted as skipped, whatever their fields.
#[test]
fn others_are_skipped_and_counted() {
    let aeads = wycheproof::aead::TestName::all().into_iter().map(|test| (format!("{test:?}"), test.json_data()));
    let ciphers = wycheproof::cipher::TestName::all().into_iter().map(|test| (format!("{test:?}"), test.json_data()));
    let mut skipped = 0;
    for (name, text) in aeads.chain(ciphers) {
        let (report, failures) = check(&name, text, &every_level());
        assert_eq!(failures.iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0], "{name}");
        assert_eq!(report.reasons.values().sum::<usize>(), report.skipped, "{name}");
        skipped += report.skipped;
    }
    assert!(skipped > 1000, "only {skipped} were skipped");
}
