//! Three relays as one service over a real `nats-server`: frames between them, a client that moves, a node that is
//! lost.
//!
//! The server is the one in the path, or is built once with `go install`. Without either, the tests report that they
//! were skipped.
#![allow(clippy::unwrap_used)]

#[path = "common/eavesdropper.rs"]
mod eavesdropper;
#[path = "common/nodes.rs"]
mod nodes;
#[path = "common/output.rs"]
mod output;

use std::{
    fs,
    io::{Cursor, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use eavesdropper::Eavesdropper;
use nodes::{Mesh, Nats, Slow, bytes, free_port, nats_server, pipe, until};
use output::Shared;
use sealwright_relay::{
    Address, Count, Log,
    client::{ClientError, Session},
    serve::{Config, Server},
};
use sealwright_transcripts::skipped;

/// If a round of a test took this long, nodes may have been delayed for three seconds and so have lost each other.
const HELD_UP: Duration = Duration::from_secs(2);

#[test]
fn frames_cross_nodes_and_names_are_found_wherever_they_were_opened() {
    let Some(mesh) = Mesh::start() else { return };
    let (alice, bob) = (mesh.identity("alice", &[1]), mesh.identity("bob", &[2]));
    let (there, back) = (bytes(600_000, 1), bytes(50_000, 2));
    let (at_alice, at_bob) = (Shared::default(), Shared::default());
    std::thread::scope(|scope| {
        let (there, back) = (Cursor::new(there.clone()), Cursor::new(back.clone()));
        let (out_alice, out_bob) = (at_alice.clone(), at_bob.clone());
        scope.spawn(|| pipe(&alice, "bob", there, out_alice));
        scope.spawn(|| pipe(&bob, "alice", back, out_bob));
    });
    assert!(at_bob.bytes() == there && at_alice.bytes() == back, "other bytes came");
    for node in [1, 2] {
        assert!(mesh.node(node).relay().counts().of(Count::Remote) > 10);
        assert!(mesh.metrics(node).contains("sealwright_mesh_messages_total{outcome=\"refused\"} 0\n"));
    }
    // Alice opens her session on another node: she is found there, and her former session ends
    let (former, mut left) = connected(&mesh, "alice", 1);
    let former = former.address;
    assert_eq!(mesh.node(1).relay().live(), 1);
    let now = mesh.identity("alice", &[3]).open(&[]).unwrap().address;
    assert_ne!(former.session >> 28, now.session >> 28);
    until("news of alice", || {
        [1, 2, 3].iter().all(|&node| mesh.identity("bob", &[node]).find(&["alice"]).unwrap() == [Some(now)])
    });
    assert!(String::from_utf8(mesh.log.bytes()).unwrap().contains("\"event\":\"moved\""));
    until("the end of her former session", || mesh.node(1).relay().live() == 0);
    left.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert!(matches!(left.read(&mut [0]), Ok(0)), "her former connection is closed");
}

/// A client whose session has ended, for any reason, is not found on other nodes.
#[test]
fn a_session_that_a_node_ends_is_found_at_no_node() {
    let Some(mesh) = Mesh::start() else { return };
    let (alice, path) = (mesh.identity("alice", &[1]), mesh.folder.path().join("trial/node2.toml"));
    let found = || alice.find(&["1.load.test", "2.load.test"]).unwrap();
    let open = |name: &str| mesh.identity("load.test", &[2]).open_many(&[name.to_owned()]).unwrap().remove(0).address;
    let reload = || mesh.node(2).reload(&Config::read(&path).unwrap()).unwrap();
    let (first, second) = (open("1.load.test"), open("2.load.test"));
    until("news", || found() == [Some(first), Some(second)]);
    // One name is revoked, on this node only
    let revoked = mesh.folder.path().join("trial/revoked.txt");
    fs::write(&revoked, "1.load.test\n").unwrap();
    reload();
    fs::write(&revoked, "").unwrap();
    until("the end of one", || found() == [None, Some(second)]);
    // And the lifetime of the others ends
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "session_hours = 0.000001\n").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    reload();
    until("the end of the other", || found() == [None, None]);
}

/// A name allowed only by a wildcard releases its number and its certificate's share also when it moves to another
/// node.
#[test]
fn a_session_that_moves_makes_room_where_it_was() {
    let Some(mesh) = Mesh::with(|text| text.replace("[limits]", "[limits]\nsessions_of_one_certificate = 1")) else {
        return;
    };
    let at = |name: &str, node: usize| {
        let mut identity = mesh.identity("load.test", &[node]);
        identity.name = name.to_owned();
        identity.open(&[])
    };
    at("1.load.test", 1).unwrap();
    assert!(matches!(at("2.load.test", 1), Err(ClientError::Refused(why)) if why.contains("all the sessions")));
    at("1.load.test", 3).unwrap();
    until("room", || at("2.load.test", 1).is_ok());
    // Five names are spelled out and have their own numbers
    until("its number", || mesh.metric(1, "session_numbers") == 5);
}

/// Anybody at NATS can replay what a node sent before its restart. That is counted, and logged at intervals.
#[test]
fn the_hello_of_a_former_start_changes_nothing() {
    let Some(mut mesh) = Mesh::start() else { return };
    let mut eavesdropper = Eavesdropper::at(mesh.nats[0].port);
    let heard = eavesdropper.listen(Duration::from_secs(2));
    let (subject, hello) = heard.iter().find(|(subject, hello)| subject.ends_with(".hello") && hello[0] == 2).unwrap();
    drop(mesh.nodes[2].take());
    mesh.begin(2);
    mesh.has_met(2, 2);
    for _ in 0..1000 {
        eavesdropper.say(subject, hello);
    }
    until("a count", || mesh.metric(2, "mesh_messages_total{outcome=\"refused\"}") >= 1000);
    mesh.has_met(2, 2);
    let log = String::from_utf8(mesh.log.bytes()).unwrap();
    let logged = log.matches("node-number-taken").count();
    assert!((1..10).contains(&logged), "{logged} times");
}

#[test]
fn a_mesh_of_three_survives_the_loss_of_one() {
    let Some(mut mesh) = Mesh::start() else { return };
    let alice = mesh.identity("alice", &[1]);
    let bob = mesh.identity("bob", &[2, 3]);
    let (carol, dave) = (mesh.identity("carol", &[3]), mesh.identity("dave", &[1]));
    let (file, other) = (bytes(1_500_000, 3), bytes(1_000_000, 4));
    let (at_bob, at_dave) = (Shared::default(), Shared::default());
    std::thread::scope(|scope| {
        let (input, undisturbed) = (Slow(Cursor::new(file.clone())), Slow(Cursor::new(other.clone())));
        let (out_bob, out_dave) = (at_bob.clone(), at_dave.clone());
        let (alice, bob, carol, dave) = (&alice, &bob, &carol, &dave);
        scope.spawn(move || pipe(alice, "bob", input, Shared::default()));
        scope.spawn(move || pipe(bob, "alice", std::io::empty(), out_bob));
        scope.spawn(move || pipe(carol, "dave", undisturbed, Shared::default()));
        scope.spawn(move || pipe(dave, "carol", std::io::empty(), out_dave));
        until("some bytes", || at_bob.len() > 200_000 && at_dave.len() > 100_000);
        assert!(mesh.node(3).relay().counts().of(Count::Opened) > 0);
        drop(mesh.nodes[2].take());
    });
    assert!(at_bob.bytes() == file, "what came through two relays is not what was sent");
    assert!(at_dave.bytes() == other, "those who were elsewhere were disturbed");
    mesh.has_met(1, 1);
    // The lost node returns and is present again
    mesh.begin(2);
    mesh.has_met(1, 2);
    let bob = mesh.identity("bob", &[2]).open(&[]).unwrap().address;
    until("news of bob", || alice.find(&["bob"]).unwrap() == [Some(bob)]);
}

#[test]
fn a_node_with_another_secret_is_not_heard() {
    let Some(mut mesh) = Mesh::start() else { return };
    fs::write(mesh.folder.path().join("trial/mesh.key"), "00".repeat(32)).unwrap();
    drop(mesh.nodes[3].take());
    mesh.begin(3);
    until("refusals at node 3", || {
        !mesh.metrics(3).contains("sealwright_mesh_messages_total{outcome=\"refused\"} 0\n")
    });
    // Longer than two nodes with the same secret need
    std::thread::sleep(Duration::from_secs(2));
    assert!(mesh.metrics(3).contains("sealwright_mesh_nodes 0\n"), "it meets nobody");
    let bob = mesh.identity("bob", &[1]).open(&[]).unwrap().address;
    let stranger = mesh.identity("bob", &[3]).open(&[]).unwrap().address;
    until("refusals", || !mesh.metrics(1).contains("sealwright_mesh_messages_total{outcome=\"refused\"} 0\n"));
    until("news", || mesh.identity("alice", &[2]).find(&["bob"]).unwrap() == [Some(bob)]);
    assert_eq!(mesh.identity("alice", &[3]).find(&["bob"]).unwrap(), [Some(stranger)]);
    assert_eq!(mesh.identity("alice", &[1]).find(&["bob"]).unwrap(), [Some(bob)]);
}

/// The NATS client takes no password from an address.
#[test]
fn nodes_are_let_in_by_the_password_of_their_addresses() {
    let Some(program) = nats_server() else { return };
    let options = ["--user", "node", "--pass", "p,word@"].map(str::to_owned);
    let nats = Nats::with(&program, free_port(), options.to_vec());
    let mesh = Mesh::made(vec![nats], |text| text.replace("nats://", "nats://node:p%2Cword%40@"));
    let file = mesh.folder.path().join("trial/node1.toml");
    let wrong = std::fs::read_to_string(&file).unwrap().replace("p%2Cword%40", "p%2Cword");
    std::fs::write(&file, wrong).unwrap();
    let refused = Server::start(&Config::read(&file).unwrap(), Arc::new(Log::to(std::io::sink()))).err().unwrap();
    assert!(refused.to_string().starts_with("mesh: nats://127.0.0.1"), "{refused}");
    assert!(!format!("{refused} {refused:?}").contains("word"), "{refused:?}");
}

#[test]
fn forged_and_repeated_messages_change_nothing() {
    let Some(mesh) = Mesh::start() else { return };
    let bob = mesh.identity("bob", &[2]).open(&[]).unwrap().address;
    let alice = mesh.identity("alice", &[1]);
    until("news of bob", || alice.find(&["bob"]).unwrap() == [Some(bob)]);
    let mut eavesdropper = Eavesdropper::at(mesh.nats[0].port);
    let heard = eavesdropper.listen(Duration::from_secs(2));
    assert!(heard.len() > 12, "hellos and heartbeats of three nodes");
    assert!(!heard.iter().any(|(_, message)| message.windows(3).any(|three| three == b"bob")), "names are sealed");
    let (lines, mut before, mut longest) = (mesh.log.bytes().len(), Instant::now(), Duration::ZERO);
    for round in 0..50u8 {
        // Endless hellos, forged ones, and replays of everything that was heard
        eavesdropper.say("sealwright.hello", &[&[2][..], &[round; 16]].concat());
        eavesdropper.say("sealwright.hello", &[&[2][..], &[round; 32]].concat());
        eavesdropper.say("sealwright.node.1", &[round; 80]);
        for (subject, message) in &heard {
            eavesdropper.say(subject, message);
        }
        assert_eq!(alice.find(&["bob"]).unwrap(), [Some(bob)]);
        std::thread::sleep(Duration::from_millis(50));
        longest = longest.max(before.elapsed());
        before = Instant::now();
    }
    let refused = |node: usize| {
        let text = mesh.metrics(node);
        let line = text.lines().find_map(|line| {
            line.strip_prefix("sealwright_mesh_messages_total{outcome=\"refused\"} ").map(str::to_owned)
        });
        line.unwrap().parse::<u64>().unwrap()
    };
    until("refusals", || refused(1) >= 150);
    for node in 1..=3 {
        assert!(mesh.metrics(node).contains("sealwright_mesh_nodes 2\n"));
    }
    longest = longest.max(before.elapsed());
    if longest > HELD_UP {
        skipped("the machine was so busy that nodes may have lost each other");
        return;
    }
    let log = String::from_utf8(mesh.log.bytes()[lines..].to_vec()).unwrap();
    assert!(!log.contains("node-met") && !log.contains("node-lost") && !log.contains("moved"), "{log}");
}

/// A client's session and its connection, to which the relay has bound it.
fn connected(mesh: &Mesh, name: &str, node: usize) -> (Session, TcpStream) {
    let mut session = mesh.identity(name, &[node]).open(&[]).unwrap();
    let mut stream = TcpStream::connect(session.frames).unwrap();
    let me = session.address;
    stream.write_all(&frame(&mut session, me)).unwrap();
    // A frame to oneself comes back
    stream.read_exact(&mut [0; 40]).unwrap();
    (session, stream)
}

fn frame(session: &mut Session, to: Address) -> Vec<u8> {
    session.client.seal(to.session, &to.generation.to_be_bytes()).unwrap()
}

#[test]
fn tenants_are_kept_apart_between_nodes_too() {
    let Some(mesh) = Mesh::start() else { return };
    let ((bob, _bobs), (mut alice, mut at_alice)) = (connected(&mesh, "bob", 2), connected(&mesh, "alice", 1));
    let find = || mesh.identity("alice", &[1]).find(&["bob"]);
    until("news of bob", || find().is_ok_and(|found| found == [Some(bob.address)]));
    let of = |what: Count| mesh.node(2).relay().counts().of(what);
    let before = of(Count::Forwarded);
    let mut send = || at_alice.write_all(&frame(&mut alice, bob.address)).unwrap();
    let reload = |more: &str| {
        for node in 1..=3 {
            let path = mesh.folder.path().join(format!("trial/node{node}.toml"));
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text + more).unwrap();
            mesh.node(node).reload(&Config::read(&path).unwrap()).unwrap();
        }
    };
    send();
    until("a frame of alice", || of(Count::Forwarded) == before + 1);
    reload("[tenants]\nacme = [\"alice\"]\nbolt = [\"bob\"]\n");
    // Alice already knows bob's address
    send();
    until("a denial", || of(Count::Denied) == 1);
    assert!(matches!(find(), Err(ClientError::Refused(_))));
    assert_eq!(of(Count::Forwarded), before + 1);
    reload("[[rules]]\nfrom = [\"alice\"]\nto = [\"bob\"]\none_way = true\n");
    send();
    until("another frame of alice", || of(Count::Forwarded) == before + 2);
    assert_eq!(find().unwrap(), [Some(bob.address)]);
}
