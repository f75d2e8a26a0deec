//! Where clients connect: to an address other than the control plane's, and again to a relay that is full.
#![allow(clippy::unwrap_used)]

#[path = "common/output.rs"]
mod output;
#[path = "common/trial.rs"]
mod trial;

use std::{
    io::{self, Cursor, Read},
    net::TcpListener,
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use output::Shared;
use sealwright_relay::client::{ClientError, Identity, Pipe};
use trial::{edit, folder, identity, serve};

/// A full relay accepts and closes connections. Its clients neither use up their names' rate limits nor give up early.
#[test]
fn clients_of_a_relay_that_is_full_wait() {
    let directory = folder(&["alice", "bob"], "\"alice\", \"bob\"");
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = full.local_addr().unwrap().port();
    let closing = std::thread::spawn(move || full.incoming().take_while(|one| one.is_ok()).for_each(drop));
    edit(directory.path(), |text| {
        let text = text.replacen("scheme", &format!("public = \"127.0.0.1:{port}\"\nscheme"), 1);
        text + "\n[limits]\nopenings_per_minute_of_one_session = 10\n"
    });
    let (server, _log) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    identity(directory.path(), &server, "bob").open(&[]).unwrap();
    let pipe = Pipe::new(&alice, "bob", Duration::from_secs(6));
    let start = Instant::now();
    let outcome = pipe.run(Cursor::new(vec![1; 1000]), Shared::default(), &|_| ());
    assert!(matches!(outcome, Err(ClientError::NoAnswer(_))), "{outcome:?}");
    assert!(start.elapsed() >= Duration::from_secs(6));
    drop(closing);
}

/// If nobody listens for frames, a client retries until its time is over, and reports the address.
#[test]
fn a_client_waits_for_who_takes_its_frames() {
    let directory = folder(&["alice"], "\"alice\", \"bob\"");
    let nobody = free_address();
    edit(directory.path(), |text| text.replacen("scheme", &format!("public = \"{nobody}\"\nscheme"), 1));
    let (server, _log) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let pipe = Pipe::new(&alice, "bob", Duration::from_secs(1));
    let start = Instant::now();
    let outcome = pipe.run(Cursor::new(vec![1; 1000]), Shared::default(), &|_| ());
    assert!(matches!(&outcome, Err(ClientError::Relay { relay, .. }) if *relay == nobody), "{outcome:?}");
    assert!(start.elapsed() >= Duration::from_secs(1));
}

/// Clients may start before their relay.
#[test]
fn clients_wait_for_a_relay_that_does_not_listen_yet() {
    let directory = folder(&["alice", "bob"], "\"alice\", \"bob\"");
    let control = free_address();
    edit(directory.path(), |text| text.replacen("control = \"127.0.0.1:0", &format!("control = \"{control}"), 1));
    let outputs = [Shared::default(), Shared::default()];
    std::thread::scope(|scope| {
        let clients = [("alice", "bob", 1, &outputs[0]), ("bob", "alice", 2, &outputs[1])];
        let clients = clients.map(|(me, peer, byte, output)| {
            let mut identity = Identity::read(&directory.path().join(format!("trial/{me}.toml"))).unwrap();
            identity.relay = control.replace("127.0.0.1", "localhost");
            scope.spawn(move || {
                let pipe = Pipe::new(&identity, peer, Duration::from_secs(60));
                pipe.run(Cursor::new(vec![byte; 1000]), output.clone(), &|_| ()).unwrap();
            })
        });
        std::thread::sleep(Duration::from_millis(300));
        assert!(clients.iter().all(|client| !client.is_finished()));
        let _serving = serve(directory.path());
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
    assert!(outputs[0].bytes() == [2; 1000] && outputs[1].bytes() == [1; 1000]);
}

/// An input that ends when the sender of this channel is dropped.
struct Open(Receiver<()>);

impl Read for Open {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(0)
    }
}

/// The relay can forge acknowledgements: a client that waits for more than these gives up when its time is over, and
/// not before.
#[test]
fn what_the_peer_owes_beyond_acknowledgements_is_not_waited_for_without_end() {
    let directory = folder(&["alice", "bob"], "\"alice\", \"bob\"");
    let (server, _log) = serve(directory.path());
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    let at_bob = Shared::default();
    let (ending, input) = channel();
    std::thread::scope(|scope| {
        let output = at_bob.clone();
        let bob = &bob;
        scope.spawn(move || {
            let pipe = Pipe::new(bob, "alice", Duration::from_secs(3));
            // Alice is gone when bob ends
            let _ = pipe.run(Open(input), output, &|_| ());
        });
        let pipe = Pipe::new(&alice, "bob", Duration::from_secs(3));
        let missing = || (at_bob.bytes().len() == 1000).then(|| io::Error::other("a receipt"));
        let start = Instant::now();
        let outcome = pipe.run_until(Cursor::new(vec![1; 1000]), Shared::default(), &|_| (), &missing);
        assert!(matches!(&outcome, Err(ClientError::Io(error)) if error.to_string() == "a receipt"), "{outcome:?}");
        assert!(start.elapsed() >= Duration::from_secs(3));
        drop(ending);
    });
}

/// However long a client waited for the relay, it then waits for its peer for the full time.
#[test]
fn a_peer_has_as_long_as_if_the_relay_had_been_there() {
    let directory = folder(&["alice"], "\"alice\", \"bob\"");
    let control = free_address();
    edit(directory.path(), |text| text.replacen("control = \"127.0.0.1:0", &format!("control = \"{control}"), 1));
    let mut alice = Identity::read(&directory.path().join("trial/alice.toml")).unwrap();
    alice.relay = control.replace("127.0.0.1", "localhost");
    let waiting = std::thread::spawn(move || {
        let pipe = Pipe::new(&alice, "bob", Duration::from_secs(3));
        let start = Instant::now();
        (pipe.run(Cursor::new(vec![1; 1000]), Shared::default(), &|_| ()), start.elapsed())
    });
    std::thread::sleep(Duration::from_secs(2));
    let _serving = serve(directory.path());
    let (outcome, time) = waiting.join().unwrap();
    assert!(matches!(outcome, Err(ClientError::NoAnswer(_))), "{outcome:?}");
    assert!(time >= Duration::from_secs(5), "{time:?}");
}

/// An address at which nobody listens.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Frames may have an address of their own, which clients are told.
#[test]
fn frames_may_go_to_another_address_than_requests() {
    let directory = folder(&["alice", "bob"], "\"alice\", \"bob\"");
    edit(directory.path(), |text| text.replacen("frames = \"127.0.0.1", "frames = \"127.0.0.2", 1));
    let (server, _log) = serve(directory.path());
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    let (at_alice, at_bob) = (Shared::default(), Shared::default());
    let run = |me: &Identity, peer: &str, byte: u8, output: &Shared| {
        let pipe = Pipe::new(me, peer, Duration::from_secs(60));
        pipe.run(Cursor::new(vec![byte; 1000]), output.clone(), &|_| ()).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| run(&alice, "bob", 1, &at_alice));
        run(&bob, "alice", 2, &at_bob);
    });
    assert!(at_alice.bytes() == [2; 1000] && at_bob.bytes() == [1; 1000]);
}
