//! Loads of a relay: one that runs by itself, and one inside the laboratory's program.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Finished, Sandbox, TrialRelay};
use serde_json::Value;

fn lab(sandbox: &Sandbox, line: &str) -> Finished {
    sandbox.sh(&format!("sealwright-lab {line}"))
}

#[test]
fn a_relay_is_loaded_through_its_sockets() {
    let sandbox = Sandbox::new();
    let mut relay = TrialRelay::start(&sandbox);
    let said = lab(&sandbox, "load --at trial/load.test.toml --clients 300 --connections 5 --seconds 0.5 --json");
    assert_eq!(said.code, 0, "{}", said.err);
    let object: Value = serde_json::from_slice(&said.out).unwrap();
    assert_eq!(
        (&object["scheme"], &object["lost"], &object["forged_accepted"]),
        (&"gcm-on64".into(), &0.into(), &0.into())
    );
    assert!(object["clients"].as_u64().unwrap() > 250 && object["frames"].as_u64().unwrap() > 300, "{object}");
    for _ in 0..300 {
        relay.event("opened");
    }
}

#[test]
fn a_load_is_measured_and_nothing_bad_is_accepted() {
    let sandbox = Sandbox::new();
    for (scheme, payload) in [("gcm-on64", "40"), ("clear", "1500"), ("gscm-h-256", "40:3,576:1")] {
        let line = format!(
            "load --scheme {scheme} --clients 500 --payload {payload} --connections 7 --seconds 0.5 --threads 2 --local --json"
        );
        let said = lab(&sandbox, &line);
        assert_eq!(said.code, 0, "{line}: {}", said.err);
        let object: Value = serde_json::from_slice(&said.out).unwrap();
        for (field, expected) in [("clients", 500), ("lost", 0), ("forged_accepted", 0)] {
            assert_eq!(object[field], expected, "{object}");
        }
        assert_eq!(object["scheme"], scheme);
        for field in ["frames", "ns_per_frame", "ratio_to_clear", "bytes_per_client", "p50_us", "p99_us"] {
            assert!(object[field].as_f64().unwrap() > 0.0, "{field}: {object}");
        }
    }
}
