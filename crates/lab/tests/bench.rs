//! The JSON output of `bench`: one object per line, for Sealwright and for other libraries.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::Sandbox;
use serde_json::Value;

#[test]
fn lines_for_programs_name_both_directions_and_a_peer() {
    both_directions_and_a_peer("");
}

#[test]
fn several_processes_give_the_same_lines() {
    both_directions_and_a_peer("--starts 2");
}

fn both_directions_and_a_peer(words: &str) {
    let sandbox = Sandbox::new();
    let said = sandbox.sh(&format!("sealwright-lab bench --quick --json --suite aes-256-gcm --bytes 1KiB -q {words}"));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let rows: Vec<Value> = said
        .out
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    for row in &rows {
        assert_eq!((row["suite"].as_str(), row["bytes"].as_u64()), (Some("aes-256-gcm"), Some(1024)), "{row}");
        let [low, gbps, high] = ["low", "gbps", "high"].map(|field| row[field].as_f64().unwrap());
        assert!(0.0 < low && low <= gbps && gbps <= high, "{row}");
        assert!(row["ratio_to_best_peer"].as_f64().unwrap() > 0.0, "{row}");
    }
    let levels = sealwright::Isa::available();
    for direction in ["seal", "open"] {
        let of = |ours: bool| {
            rows.iter()
                .filter(move |row| row["direction"] == direction && (row["implementation"] == "sealwright") == ours)
        };
        let found: Vec<_> = of(true).map(|row| row["level"].as_str().unwrap()).collect();
        assert!(levels.iter().all(|level| found.contains(&level.name())), "{direction}: {found:?}");
        assert!(of(false).count() >= 1, "{direction}");
    }
}

/// Test builds are not optimised.
#[test]
fn figures_of_a_slow_build_come_with_a_warning() {
    let sandbox = Sandbox::new();
    let said = sandbox.sh("sealwright-lab bench --quick --json --suite aes-256-gcm --bytes 64");
    let level = sealwright_measure::Machine::here(["portable"]).opt_level;
    let warning = format!("sealwright-lab: warning: these are figures of a build at opt-level {level},");
    assert_eq!((said.code, said.err.contains(&warning)), (0, level != "3"), "{}", said.err);
    assert_eq!(said.err.matches("hint: cargo build --release").count(), usize::from(level != "3"), "{}", said.err);
}
