//! The relay as a service: sessions over TLS, file transfers over hostile paths, reloads, metrics.
#![allow(clippy::unwrap_used)]

#[path = "common/output.rs"]
mod output;
#[path = "common/pauses.rs"]
mod pauses;
#[path = "common/proxy.rs"]
mod proxy;
#[path = "common/trial.rs"]
mod trial;

use std::{
    io::{Cursor, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use output::{Shared, bytes};
use pauses::holds_without_pause;
use proxy::Proxy;
use sealwright_relay::{
    Address, Count, Log, Relay,
    client::{ClientError, Identity, Pipe, Session},
    serve::{ServeError, Server},
};
use sealwright_transcripts::until;
use trial::{config, edit, identity, named};

/// A folder for these clients, all of which the configuration allows.
fn folder(clients: &[&str]) -> tempfile::TempDir {
    let names: Vec<String> = clients.iter().map(|name| format!("\"{name}\"")).collect();
    trial::folder(clients, &names.join(", "))
}

fn serve(directory: &Path) -> Server {
    trial::serve(directory).0
}

/// Pipes between two clients until both are done. Returns what each received.
fn exchange(a: &Identity, b: &Identity, files: [Vec<u8>; 2]) -> [Vec<u8>; 2] {
    exchange_by(a, b, files, false)
}

/// The same, over datagrams or not.
fn exchange_by(a: &Identity, b: &Identity, files: [Vec<u8>; 2], datagrams: bool) -> [Vec<u8>; 2] {
    let run = |me: &Identity, peer: &str, file: Vec<u8>| {
        let out = Shared::default();
        let pipe = Pipe::new(me, peer, Duration::from_secs(60)).datagrams(datagrams);
        let length = file.len() as u64;
        let moved = pipe.run(Cursor::new(file), out.clone(), &|_| ()).unwrap();
        let received = out.0.lock().unwrap().clone();
        assert_eq!((moved.sent, moved.received), (length, received.len() as u64));
        received
    };
    let [to_b, to_a] = files;
    std::thread::scope(|scope| {
        let there = scope.spawn(|| run(a, &b.name, to_b));
        let here = run(b, &a.name, to_a);
        [here, there.join().unwrap()]
    })
}

/// A frame of a client for itself.
fn seal(session: &mut Session, data: &[u8]) -> Vec<u8> {
    let Address { session: to, generation } = session.address;
    session.client.seal(to, &[&generation.to_be_bytes(), data].concat()).unwrap()
}

/// Sender and data of a frame.
fn opened(session: &mut Session, frame: &mut [u8]) -> (Address, Vec<u8>) {
    let (session, data) = session.client.open(frame).unwrap();
    let (generation, data) = data.split_first_chunk().unwrap();
    (Address { session, generation: u32::from_be_bytes(*generation) }, data.to_vec())
}

fn of(relay: &Relay, what: Count) -> u64 {
    relay.counts().of(what)
}

#[test]
fn a_file_arrives_though_frames_are_forged_replayed_and_cut() {
    let directory = folder(&["alice", "bob"]);
    let proxy = Proxy::bind();
    let public = format!("public = \"127.0.0.1:{}\"\nscheme", proxy.address().port());
    edit(directory.path(), |text| text.replacen("scheme", &public, 1));
    let server = serve(directory.path());
    proxy.towards(server.addresses().frames);
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    let files = [bytes(3_000_000, 1), bytes(700_000, 2)];
    let received = exchange(&alice, &bob, files.clone());
    assert!(received == files, "other bytes came");
    let done = proxy.done();
    assert!(done.forged > 10 && done.replayed > 10 && done.cut > 0, "{done:?}");
    for what in [Count::Forged, Count::Replayed] {
        assert!(of(server.relay(), what) > 0, "{what:?}: {:?}", server.relay().counts());
    }
}

#[test]
fn a_file_arrives_though_the_relay_is_started_anew() {
    let directory = folder(&["alice", "bob"]);
    let server = serve(directory.path());
    let at = server.addresses();
    edit(directory.path(), |text| {
        text.replace("frames = \"127.0.0.1:0", &format!("frames = \"{}", at.frames))
            .replace("control = \"127.0.0.1:0", &format!("control = \"{}", at.control))
    });
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    // The relay stops after part of the data has arrived
    struct Slow(Cursor<Vec<u8>>);
    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            std::thread::sleep(Duration::from_millis(2));
            self.0.read(buffer)
        }
    }
    let file = bytes(2_000_000, 3);
    let out = Shared::default();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let pipe = Pipe::new(&alice, "bob", Duration::from_secs(60));
            pipe.run(Slow(Cursor::new(file.clone())), std::io::sink(), &|_| ()).unwrap()
        });
        let receiver = scope.spawn(|| {
            let pipe = Pipe::new(&bob, "alice", Duration::from_secs(60));
            pipe.run(std::io::empty(), out.clone(), &|_| ()).unwrap()
        });
        until("some bytes", || out.0.lock().unwrap().len() >= 300_000);
        drop(server);
        let _second = serve(directory.path());
        assert_eq!(sender.join().unwrap().sent, file.len() as u64);
        receiver.join().unwrap();
    });
    assert!(*out.0.lock().unwrap() == file, "other bytes came");
}

#[test]
fn a_file_arrives_as_datagrams_among_forged_and_replayed_ones() {
    let directory = folder(&["alice", "bob"]);
    let server = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    assert!(alice.open(&[]).unwrap().udp.is_none(), "none are taken unless the configuration says so");
    let pipe = Pipe::new(&alice, "bob", Duration::from_secs(60)).datagrams(true);
    let refused = pipe.run(std::io::empty(), std::io::sink(), &|_| ());
    assert!(matches!(refused, Err(ClientError::NoDatagrams)), "{refused:?}");
    drop(server);
    edit(directory.path(), |text| format!("udp = \"127.0.0.1:0\"\n{text}"));
    let server = serve(directory.path());
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    let mut hostile = bob.open(&[]).unwrap();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = hostile.udp.unwrap();
    let good = seal(&mut hostile, b"once");
    for _ in 0..2 {
        socket.send_to(&good, to).unwrap();
    }
    let mut forged = seal(&mut hostile, b"never");
    forged[30] ^= 1;
    for bad in [&forged[..], &forged[..20], &forged[..3], b"no frame at all!", &[]] {
        socket.send_to(bad, to).unwrap();
    }
    let counted = |what: Count, least: u64| until(what.name(), || of(server.relay(), what) >= least);
    counted(Count::Replayed, 1);
    counted(Count::Forged, 1);
    counted(Count::Malformed, 1);
    counted(Count::Short, 2);
    let files = [bytes(400_000, 5), bytes(100_000, 6)];
    assert!(exchange_by(&alice, &bob, files.clone(), true) == files, "other bytes came");
    let [there, back] = [bytes(9_000, 7), bytes(7_000, 8)];
    // One over datagrams, the other over TCP
    let run = |me: &Identity, peer: &str, datagrams: bool, file: Vec<u8>| {
        let out = Shared::default();
        let pipe = Pipe::new(me, peer, Duration::from_secs(60)).datagrams(datagrams);
        pipe.run(Cursor::new(file), out.clone(), &|_| ()).unwrap();
        out.0.lock().unwrap().clone()
    };
    let received = std::thread::scope(|scope| {
        let one = scope.spawn(|| run(&alice, "bob", true, there.clone()));
        let other = scope.spawn(|| run(&bob, "alice", false, back.clone()));
        [other.join().unwrap(), one.join().unwrap()]
    });
    assert!(received == [there, back], "other bytes came");
}

#[test]
fn a_certificate_opens_what_it_names_and_nothing_else() {
    let directory = folder(&["alice", "bob"]);
    let server = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let session = alice.open(&["bob", "alice"]).unwrap();
    assert_eq!(session.found[1], Some(session.address));
    assert_ne!(session.found[0], session.found[1]);
    let refused = |identity: &Identity, others: &[&str]| match identity.open(others) {
        Err(ClientError::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    };
    assert!(refused(&alice, &["carol"]).contains("does not know"));
    let thief = named("bob", &alice);
    assert!(refused(&thief, &[]).contains("certificate does not name"));
    // A certificate of another authority, even for the right name
    let elsewhere = folder(&["alice"]);
    let mut stranger = identity(elsewhere.path(), &server, "alice");
    stranger.tls.authority = alice.tls.authority.clone();
    assert!(matches!(stranger.open(&[]), Err(ClientError::Relay { .. })));
    // A relay whose certificate is of an authority that the client does not trust
    let mut wary = alice.clone();
    wary.tls.authority = elsewhere.path().join("trial/authority.pem");
    assert!(matches!(wary.open(&[]), Err(ClientError::Relay { .. })));
    // A client that does not speak TLS
    let mut plain = TcpStream::connect(server.addresses().control).unwrap();
    plain.write_all(b"{\"open\":\"alice\"}\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.windows(6).any(|window| window == b"opened"));
}

#[test]
fn clients_come_and_go_with_a_reload() {
    let directory = folder(&["alice", "bob", "carol"]);
    edit(directory.path(), |text| text.replace(", \"carol\"", ""));
    let server = serve(directory.path());
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| identity(directory.path(), &server, name));
    assert!(matches!(carol.open(&[]), Err(ClientError::Refused(_))));
    exchange(&alice, &bob, [b"before".to_vec(), Vec::new()]);
    let bobs = bob.open(&[]).unwrap().client.session();
    edit(directory.path(), |text| text.replace("\"bob\"", "\"carol\""));
    server.reload(&config(directory.path())).unwrap();
    assert!(matches!(bob.open(&[]), Err(ClientError::Refused(_))));
    let mut gone = TcpStream::connect(server.addresses().frames).unwrap();
    let header = sealwright_session::frame::Header {
        kind: sealwright_session::frame::FrameKind::Data,
        phase: 0,
        len: 40,
        session: bobs,
        seq: 1,
    };
    gone.write_all(&[&header.write()[..], &[0; 56]].concat()).unwrap();
    until("an unknown session", || of(server.relay(), Count::Unknown) > 0);
    let received = exchange(&alice, &carol, [b"after".to_vec(), b"back".to_vec()]);
    assert_eq!(received, [b"after".to_vec(), b"back".to_vec()]);
    // Certificates that cannot be read change nothing
    edit(directory.path(), |text| text.replace("relay.pem", "missing.pem").replace("\"carol\"", "\"bob\""));
    assert!(matches!(server.reload(&config(directory.path())), Err(ServeError::Tls(_))));
    carol.open(&[]).unwrap();
}

#[test]
fn clusters_come_and_go_and_a_revoked_client_takes_its_clusters_keys_along() {
    let directory = folder(&["alice", "bob", "x.one", "y.one"]);
    let names = "clients = [\"alice\", \"bob\", \"x.one\", \"y.one\"]";
    let rest = "clients = [\"alice\", \"bob\"]";
    edit(directory.path(), |text| {
        text.replace(names, rest)
            .replace("\"gcm-on64\"", "\"gscm-h\"\nresearch = true\ncluster_sessions = 8\nthreads = 1")
    });
    let server = serve(directory.path());
    let open = |name: &str| identity(directory.path(), &server, name).open(&[]);
    let [mut alice, bob] = ["alice", "bob"].map(|name| open(name).unwrap());
    assert!(matches!(open("x.one"), Err(ClientError::Refused(_))));
    let with = |names: &str| {
        edit(directory.path(), |text| {
            let (before, tls) = text.split_once("[tls]").unwrap();
            let before = before.split_once("[clusters]").map_or(before, |(before, _)| before);
            format!("{before}[clusters]\n{names}\n[tls]{tls}")
        });
        server.reload(&config(directory.path())).unwrap();
    };
    with("one = [\"*.one\"]");
    let [x, mut y] = ["x.one", "y.one"].map(|name| open(name).unwrap());
    let cluster = |session: u32| session / 8;
    assert_eq!(cluster(alice.client.session()), cluster(bob.client.session()));
    assert_eq!(cluster(x.client.session()), cluster(y.client.session()));
    assert_ne!(cluster(x.client.session()), cluster(bob.client.session()));
    // Y shared keys with x: when x is removed, both must open again; alice need not
    with("one = [\"y.one\"]");
    assert!(matches!(open("x.one"), Err(ClientError::Refused(_))));
    let speak = |session: &mut Session| {
        let mut stream = TcpStream::connect(session.frames).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let frame = seal(session, b"to myself");
        stream.write_all(&frame).unwrap();
        stream
    };
    let mut stream = speak(&mut alice);
    let mut frame = vec![0; 16 + Address::LEN + 9 + 16];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(opened(&mut alice, &mut frame), (alice.address, b"to myself".to_vec()));
    let _stream = speak(&mut y);
    until("an unknown session", || of(server.relay(), Count::Unknown) > 0);
    let mut y = open("y.one").unwrap();
    let mut stream = speak(&mut y);
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(opened(&mut y, &mut frame).1, b"to myself");
    with("");
    assert!(matches!(open("y.one"), Err(ClientError::Refused(_))));
}

#[test]
fn handshakes_are_limited_and_counted() {
    let directory = folder(&["alice"]);
    edit(directory.path(), |text| format!("{text}\n[limits]\nhandshakes_per_second = 0.001\n"));
    let server = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    alice.open(&[]).unwrap();
    assert!(matches!(alice.open(&[]), Err(ClientError::Relay { .. })));
    let text = get(&server, "/metrics");
    assert!(text.contains("sealwright_handshakes_total{outcome=\"done\"} 1\n"), "{text}");
    assert!(text.contains("sealwright_handshakes_total{outcome=\"refused\"} 1\n"), "{text}");
}

fn get(server: &Server, path: &str) -> String {
    let mut stream = TcpStream::connect(server.addresses().metrics.unwrap()).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn metrics_count_what_happened() {
    let directory = folder(&["alice", "bob"]);
    let server = serve(directory.path());
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    exchange(&alice, &bob, [b"a few bytes".to_vec(), Vec::new()]);
    let text = get(&server, "/metrics");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("sealwright_sessions_opened_total 2\n"), "{text}");
    let forwarded = text.lines().find_map(|line| line.strip_prefix("sealwright_frames_forwarded_total ")).unwrap();
    assert!(forwarded.parse::<u64>().unwrap() >= 4, "{text}");
    let text = get(&server, "/secrets");
    assert!(text.starts_with("HTTP/1.1 404"), "{text}");
}

#[test]
fn logs_tell_what_happened_and_no_secrets() {
    let directory = folder(&["alice", "bob"]);
    let (mut server, lines) = trial::serve(directory.path());
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    exchange(&alice, &bob, [b"the text itself".to_vec(), Vec::new()]);
    server.drain(Duration::from_secs(10));
    let text = lines.text();
    let events: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(events, ["serving", "opened", "opened", "draining", "stopped"], "{text}");
    assert!(!text.contains("the text itself") && !text.contains("grant"), "{text}");
}

#[test]
fn sessions_that_do_not_fit_the_budget_are_refused_at_the_start() {
    let directory = folder(&[]);
    edit(directory.path(), |text| text.replace("memory_mib = 1024", "memory_mib = 1"));
    let error = Server::start(&config(directory.path()), Arc::new(Log::to(std::io::sink()))).unwrap_err();
    let ServeError::Budget { sessions: 100_000, budget: 1, least, all, .. } = error else { panic!("{error}") };
    // What the error says is enough.
    let check = |before: u64, mib: u64| {
        edit(directory.path(), |text| {
            text.replace(&format!("memory_mib = {before}\n"), &format!("memory_mib = {mib}\n"))
        });
        config(directory.path()).check()
    };
    assert!(matches!(check(1, least - 1), Err(ServeError::Budget { .. })));
    assert!(check(least - 1, least).unwrap().connections >= 1);
    let room = check(least, all).unwrap();
    assert!(room.hint.as_ref().is_none_or(|hint| !hint.contains("memory_mib")), "{room:?}");
}

/// A node lost like a machine that loses power: connections are neither answered nor reset.
#[test]
fn a_relay_that_says_nothing_keeps_nobody_from_the_next_one() {
    let directory = folder(&["alice"]);
    let server = serve(directory.path());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let mut alice = identity(directory.path(), &server, "alice");
    alice.relay = format!("127.0.0.1:{}, {}", silent.local_addr().unwrap().port(), alice.relay);
    holds_without_pause("a silent relay gets less time than one that is alone", Duration::from_secs(1), || {
        let start = Instant::now();
        alice.open(&[]).unwrap();
        start.elapsed() < Duration::from_secs(9)
    });
    let tried = || std::iter::from_fn(|| silent.accept().ok()).count();
    assert_eq!(tried(), 1);
    // The node that answered is asked first from now on, also by a copy of the identity
    alice.clone().find(&["alice"]).unwrap();
    alice.open(&[]).unwrap();
    assert_eq!(tried(), 0);
}
