//! `load` against a separate relay process and against one within the laboratory's program.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Finished, Sandbox, TrialRelay, change};
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

/// The relay closes every connection, as one does whose handshake slots are all in use.
#[test]
fn who_finds_no_place_at_a_relay_is_told_so() {
    let sandbox = Sandbox::new();
    sandbox.ok("serve --init trial --client *.load.test");
    let relay = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = relay.local_addr().unwrap().to_string();
    std::thread::spawn(move || relay.incoming().for_each(drop));
    change(&sandbox, "load.test.toml", |text| text.replace("localhost:7601", &address));
    let said = lab(&sandbox, "load --at trial/load.test.toml --clients 3 --connections 1 --seconds 0.5");
    let told = "perhaps it is too busy\nhint: is this the relay's control port?";
    assert!(said.code == 1 && said.err.contains(told), "{} {}", said.code, said.err);
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
        for field in ["frames", "ns_per_frame", "ratio_to_clear", "bytes_per_session", "p50_us", "p99_us"] {
            assert!(object[field].as_f64().unwrap() > 0.0, "{field}: {object}");
        }
    }
}

#[test]
fn a_rate_that_is_not_kept_is_told_and_connections_are_those_that_there_were() {
    let sandbox = Sandbox::new();
    let of = |rate: u32| lab(&sandbox, &format!("load --local --clients 30 --seconds 0.6 --rate {rate} --json"));
    for (rate, keeps) in [(200, true), (1_000_000_000, false)] {
        let said = of(rate);
        assert_eq!(said.code, 0, "{}", said.err);
        let object: Value = serde_json::from_slice(&said.out).unwrap();
        assert_eq!((object["unsent"] == 0, &object["connections"]), (keeps, &30.into()), "{object}");
    }
}

#[test]
fn a_load_and_a_relay_tell_the_memory_that_a_client_takes() {
    const CLIENTS: u32 = 1 << 15;
    // Alice and Bob occupy two sessions
    let all = CLIENTS + 2;
    let sandbox = Sandbox::new();
    let relay = TrialRelay::start_with(&sandbox, |text| {
        let text = text.replace("sessions = 100000", &format!("sessions = {all}"));
        format!("{text}\n[limits]\nsessions_of_one_certificate = {all}\n")
    });
    let told = relay.serving["bytes_per_session"].as_f64().unwrap();
    let resident = |clients: u32| {
        let said = lab(
            &sandbox,
            &format!("load --at trial/load.test.toml --clients {clients} --connections 4 --seconds 0.5 --json"),
        );
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(relay.metric("sessions"), f64::from(clients));
        relay.metric("resident_bytes")
    };
    // Allocates the buffers and threads of the connections before the memory is compared
    resident(256);
    let few = resident(CLIENTS / 8);
    let taken = (resident(CLIENTS) - few) / f64::from(CLIENTS - CLIENTS / 8);
    let said = lab(&sandbox, &format!("load --clients {CLIENTS} --seconds 0.1 --local --json"));
    let object: Value = serde_json::from_slice(&said.out).unwrap();
    let load = object["bytes_per_session"].as_f64().unwrap();
    assert!((load / told - 1.0).abs() < 0.1, "load says {load}, the relay {told}");
    // The relay states an upper bound: here no tenants are configured, and freed memory is used again
    assert!(taken < 1.1 * told && taken > 0.4 * told, "the relay says {told} and takes {taken}");
}
