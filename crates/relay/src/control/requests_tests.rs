//! What a client may do over a connection that it keeps open.
#![allow(clippy::unwrap_used)]
use std::{
    io::{self, Write},
    path::Path,
    sync::Mutex,
    thread,
};

use sealwright_transcripts::until;

use super::*;
use crate::{
    client::{ClientError, ControlClient, Identity},
    control::{
        Access, ControlServer,
        fuzz::{revoke, trial_files},
        tls::{ServerTls, TlsFiles},
        trial_control::{limits, start, start_with},
    },
    log::Log,
    policy::{Class, Policy},
    serve::init,
};

/// Collects the output of a log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Enough requests for a connection to last minutes.
const REQUESTS: usize = 30_000;

/// The TLS setup of a relay in this folder, with its revocation list.
fn tls(trial: &Path) -> ServerTls {
    let crl = Some(trial.join("authority.crl"));
    TlsFiles { crl, ..trial_files(trial, "relay") }.server().unwrap()
}

fn connect(trial: &Path, control: &ControlServer, name: &str) -> ControlClient {
    let mut identity = Identity::read(&trial.join(format!("{name}.toml"))).unwrap();
    identity.relay = format!("localhost:{}", control.address().port());
    ControlClient::connect(&identity, REQUESTS).unwrap()
}

fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) {
    assert!(matches!(&answer, Err(ClientError::Refused(why)) if why == NOT_VALID), "{answer:?}");
}

#[test]
fn a_connection_that_is_held_opens_and_finds_nothing_once_its_certificate_was_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    init(&trial, &[], &["alice".into(), "bob".into()]).unwrap();
    revoke(&trial, 1, &[]).unwrap();
    let control = start(tls(&trial), &["alice", "bob"]);
    let relay = &control.inner.shared.relay;
    let [mut alice, mut bob] = ["alice", "bob"].map(|name| connect(&trial, &control, name));
    alice.open("alice").unwrap();
    let bobs = bob.open("bob").unwrap().address;
    assert_eq!((alice.find("bob").unwrap(), relay.live()), (Some(bobs), 2));
    revoke(&trial, 2, &["alice"]).unwrap();
    let allowed = vec![(None, vec!["alice".to_owned(), "bob".to_owned()])];
    control.reload(tls(&trial), Access { allowed, revoked: Vec::new(), policy: Policy::open() }, limits(), &|| ());
    for _ in 0..2 {
        refused(alice.open("alice"));
        refused(alice.find("bob"));
    }
    until("the end of her session", || relay.live() == 1);
    // Clients that were not revoked continue over their connections
    assert_eq!(bob.open("bob").unwrap().address, bobs);
    bob.find("alice").unwrap();
    assert_eq!(relay.live(), 1);
    assert_eq!(control.list().iter().map(|listed| &listed.name[..]).collect::<Vec<_>>(), ["bob"]);
}

/// The revocation list changes after alice's certificate was found valid and before her session is open.
#[test]
fn a_certificate_that_is_revoked_while_its_session_is_opened_opens_none() {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    init(&trial, &[], &["alice".into()]).unwrap();
    // With and without an earlier session
    for opened_before in [false, true] {
        revoke(&trial, 1, &[]).unwrap();
        let control = start(tls(&trial), &["alice"]);
        let (inner, mut alice) = (&control.inner, connect(&trial, &control, "alice"));
        if opened_before {
            alice.open("alice").unwrap();
        }
        revoke(&trial, 2, &["alice"]).unwrap();
        let fresh = tls(&trial);
        thread::scope(|scope| {
            // Opening a session waits for the worker
            let busy = inner.shared.relay.occupy_worker();
            let opening = scope.spawn(|| alice.open("alice"));
            until("her request", || inner.current().names.is_being_opened("alice"));
            inner.current().tls = fresh;
            drop(busy);
            refused(opening.join().unwrap());
        });
        until("the end of it", || inner.shared.relay.live() == 0);
        assert!(control.list().is_empty(), "opened before: {opened_before}");
    }
}

/// Refusals must not fill the log, so that events that matter to operators find room.
#[test]
fn refusals_are_counted_and_a_few_of_them_logged() {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    init(&trial, &[], &["alice".into()]).unwrap();
    let lines = Lines::default();
    let control = start_with(trial_files(&trial, "relay").server().unwrap(), &["alice"], Log::to(lines.clone()));
    let begin = std::time::Instant::now();
    for _ in 0..3 {
        let mut alice = connect(&trial, &control, "alice");
        for _ in 0..300 {
            alice.find("nobody").unwrap_err();
        }
    }
    let mut alice = connect(&trial, &control, "alice");
    // This is read as two requests, both of them invalid
    alice.find(&"x".repeat(5000)).unwrap_err();
    control.inner.shared.log.say("said meanwhile", &[]);
    let text = || String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    until("how many were left out", || text().contains("\"more\":"));
    let seconds = 1 + begin.elapsed().as_secs() as usize;
    let denied = text().lines().filter(|line| line.contains("\"denied\"") && !line.contains("\"more\"")).count();
    assert!((1..=8 * (seconds + 1)).contains(&denied), "{denied} lines in {seconds} s");
    assert!(text().contains("said meanwhile"));
    until("a count of each", || control.inner.shared.stats.denied.load(std::sync::atomic::Ordering::Relaxed) == 902);
}

/// A short request from a client with many names must not cause a long line.
#[test]
fn the_log_has_a_few_names_of_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    init(&trial, &[], &[]).unwrap();
    let lines = Lines::default();
    let control = start_with(trial_files(&trial, "relay").server().unwrap(), &["alice"], Log::to(lines.clone()));
    let names: Vec<String> = (0..MAX_LOGGED_NAMES + 12).map(|at| format!("x{at}.example")).collect();
    let certificate = rcgen::generate_simple_self_signed(names.clone()).unwrap().cert;
    let verified = control.inner.current().tls.config.clone();
    let from = "127.0.0.1:1".parse().unwrap();
    let chain = Arc::new(vec![certificate.into()]);
    let mut client = Client { chain, verified, opened: 0, from, class: Class::default() };
    assert!(matches!(control.inner.find("alice", &mut client), Response::Refused(_)));
    let text = || String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    until("a line", || text().ends_with('\n'));
    let line: serde_json::Value = serde_json::from_str(&text()).unwrap();
    let told = [&names[..MAX_LOGGED_NAMES], &["and 12 more".to_owned()]].concat();
    assert_eq!((&line["event"], &line["certificate"]), (&"denied".into(), &told.into()));
}
