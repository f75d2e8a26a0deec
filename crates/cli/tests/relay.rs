//! Two people talk through a relay: the programs as a user starts them, the signals, and what systemd hears.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixDatagram,
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};

use common::{Desk, text};
use serde_json::Value;

struct Relay {
    child: Child,
    log: BufReader<ChildStderr>,
    notify: UnixDatagram,
}

impl Relay {
    /// A trial relay on ports that the system chooses; the clients' files then name them.
    fn start(desk: &Desk) -> Relay {
        desk.run("serve --init trial --client alice --client bob --client *.load.test");
        change(desk, "relay.toml", |text| {
            ["7600", "7601", "7602"].iter().fold(text, |text, port| text.replace(&format!(":{port}"), ":0"))
        });
        let notify = UnixDatagram::bind(desk.path("notify")).unwrap();
        notify.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut child = desk
            .command()
            .args(["serve", "trial/relay.toml"])
            .env("NOTIFY_SOCKET", desk.path("notify"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut relay = Relay { child, log, notify };
        let serving = relay.event("serving");
        let port = serving["control"].as_str().unwrap().rsplit_once(':').unwrap().1.to_owned();
        for name in ["alice", "bob", "load.test"] {
            change(desk, &format!("{name}.toml"), |text| text.replace("7601", &port));
        }
        assert_eq!(relay.heard(), "READY=1");
        relay
    }

    /// The next line of the log, which must be of this event.
    fn event(&mut self, event: &str) -> Value {
        let mut line = String::new();
        self.log.read_line(&mut line).unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["event"], event, "{line}");
        value
    }

    fn heard(&self) -> String {
        let mut buffer = [0; 256];
        let much = self.notify.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..much].to_vec()).unwrap()
    }

    fn signal(&self, name: &str) {
        assert!(
            Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status().unwrap().success()
        );
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn change(desk: &Desk, name: &str, change: impl Fn(String) -> String) {
    let path = desk.path("trial").join(name);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}

#[test]
fn two_people_talk_through_a_relay_that_heeds_signals() {
    let desk = Desk::new();
    let mut relay = Relay::start(&desk);
    let there = text(3_000_000);
    let back = b"thank you".to_vec();
    let client = |name: &str, peer: &str, input: Vec<u8>| {
        let mut child = desk
            .command()
            .args(["client", &format!("trial/{name}.toml"), "--to", peer])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::spawn(move || stdin.write_all(&input).unwrap());
        child
    };
    let alice = client("alice", "bob", there.clone());
    let bob = client("bob", "alice", back.clone());
    let bobs = std::thread::spawn(move || bob.wait_with_output().unwrap());
    let (alice, bob) = (alice.wait_with_output().unwrap(), bobs.join().unwrap());
    assert!(alice.status.success(), "{}", String::from_utf8_lossy(&alice.stderr));
    assert!(bob.status.success(), "{}", String::from_utf8_lossy(&bob.stderr));
    assert!(bob.stdout == there && alice.stdout == back, "other bytes came");
    relay.event("opened");
    relay.event("opened");

    let said = desk.run("load --at trial/load.test.toml --clients 300 --connections 5 --seconds 0.5 --json");
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

    change(&desk, "relay.toml", |text| text.replace(", \"bob\"", ""));
    relay.signal("HUP");
    assert!(relay.heard().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(relay.heard(), "READY=1");
    assert_eq!(relay.event("removed")["name"], "bob");
    relay.event("reloaded");
    desk.fails("client trial/bob.toml --to alice", 1, "the relay refused: this relay does not know that name");
    desk.fails("client trial/alice.toml --to bob", 1, "the relay refused: this relay does not know that name");
    relay.event("opened");

    change(&desk, "relay.toml", |text| format!("colour = 'red'\n{text}"));
    relay.signal("HUP");
    assert!(relay.event("reload-failed")["why"].as_str().unwrap().contains("line 1: unknown field `colour`"));
    assert!(relay.heard().starts_with("RELOADING=1\n"));
    assert_eq!(relay.heard(), "READY=1");

    relay.signal("TERM");
    assert_eq!(relay.heard(), "STOPPING=1");
    relay.event("draining");
    assert_eq!(relay.event("stopped")["all_left"], true);
    assert_eq!(relay.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_load_is_measured_and_nothing_bad_is_accepted() {
    let desk = Desk::new();
    for (scheme, payload) in [("gcm-on64", "40"), ("clear", "1500"), ("gscm-h-256", "40:3,576:1")] {
        let line = format!(
            "load --scheme {scheme} --clients 500 --payload {payload} --connections 7 --seconds 0.5 --threads 2 --local --json"
        );
        let said = desk.run(&line);
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
