//! Three relays as one service over a real `nats-server`: frames between them, a name that moves, a node that is lost.
//!
//! The server is the one in the path, or is built once with `go install`; where neither is there, the tests say that they
//! were skipped.
#![allow(clippy::unwrap_used)]

#[path = "common/output.rs"]
mod output;

use std::{
    fs,
    io::{Cursor, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use output::Shared;
use sealwright_relay::{
    Count, Log,
    client::{Identity, Pipe},
    serve::{Config, Server, init},
};

const NATS: &str = "github.com/nats-io/nats-server/v2@v2.12.2";

/// The program, if it can be had.
fn nats_server() -> Option<PathBuf> {
    let works = |path: &Path| {
        let version = Command::new(path).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
    let kept = built.join("nats-server");
    for path in [PathBuf::from("nats-server"), kept.clone()] {
        if works(&path) {
            return Some(path);
        }
    }
    let install = Command::new("go").args(["install", NATS]).env("GOBIN", &built).status();
    match install {
        Ok(status) if status.success() && works(&kept) => Some(kept),
        Ok(_) => {
            eprintln!("skipped: `go install {NATS}` failed, and there is no nats-server");
            None
        }
        Err(_) => {
            eprintln!("skipped: there is neither nats-server nor go to build it with");
            None
        }
    }
}

struct Nats {
    child: Child,
    port: u16,
}

impl Nats {
    fn start(program: &Path) -> Nats {
        // A port that was free a moment ago
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new(program)
            .args(["--addr", "127.0.0.1", "--port", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let nats = Nats { child, port };
        until("nats-server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        nats
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Nodes 1 to 3 of one authority.
struct Mesh {
    folder: tempfile::TempDir,
    nodes: Vec<Option<Server>>,
    log: Shared,
    _nats: Nats,
}

impl Mesh {
    fn start() -> Option<Mesh> {
        let nats = Nats::start(&nats_server()?);
        let folder = tempfile::tempdir().unwrap();
        let names = ["alice", "bob", "carol", "dave"].map(str::to_owned);
        init(&folder.path().join("trial"), &[], &names).unwrap();
        let secret = folder.path().join("trial/mesh.key");
        fs::write(&secret, "5a".repeat(32) + "\n").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let log = Shared::default();
        let mut mesh = Mesh { folder, nodes: vec![None, None, None, None], log, _nats: nats };
        let port = mesh._nats.port;
        let text = fs::read_to_string(mesh.folder.path().join("trial/relay.toml")).unwrap();
        for node in 1..=3 {
            let text = ["7600", "7601", "7602"].iter().fold(text.clone(), |text, port| text.replace(port, "0"));
            let text = format!(
                "node = {node}\nthreads = 2\n{text}\n[mesh]\nnats = \"nats://127.0.0.1:{port}\"\nsecret = \"mesh.key\"\n[limits]\nhandshakes_per_second = 1000\nhandshakes_per_second_from_one_address = 1000\n"
            );
            fs::write(mesh.folder.path().join(format!("trial/node{node}.toml")), text).unwrap();
            mesh.begin(node);
        }
        for node in 1..=3 {
            mesh.has_met(node, 2);
        }
        Some(mesh)
    }

    fn begin(&mut self, node: usize) {
        let config = Config::read(&self.folder.path().join(format!("trial/node{node}.toml"))).unwrap();
        self.nodes[node] = Some(Server::start(&config, Arc::new(Log::to(self.log.clone()))).unwrap());
    }

    fn node(&self, node: usize) -> &Server {
        self.nodes[node].as_ref().unwrap()
    }

    fn has_met(&self, node: usize, others: usize) {
        let line = format!("sealwright_mesh_nodes {others}\n");
        until(&line, || self.metrics(node).contains(&line));
    }

    fn metrics(&self, node: usize) -> String {
        let mut stream = TcpStream::connect(self.node(node).addresses().metrics.unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// A client that tries these nodes in turn.
    fn identity(&self, name: &str, nodes: &[usize]) -> Identity {
        let mut identity = Identity::read(&self.folder.path().join(format!("trial/{name}.toml"))).unwrap();
        let address = |&node: &usize| format!("localhost:{}", self.node(node).addresses().control.port());
        identity.relay = nodes.iter().map(address).collect::<Vec<_>>().join(", ");
        identity
    }
}

/// An input that takes its time.
struct Slow(Cursor<Vec<u8>>);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_millis(5));
        self.0.read(buffer)
    }
}

fn bytes(length: usize, salt: usize) -> Vec<u8> {
    (0..length).map(|at| ((at * 2_654_435_761 + salt) >> 11) as u8).collect()
}

fn pipe(me: &Identity, peer: &str, input: impl Read + Send + 'static, output: Shared) {
    let wait = Duration::from_secs(60);
    Pipe { identity: me, peer, datagrams: false, wait }.run(input, output, &|_| ()).unwrap();
}

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
    // Alice opens at another node: she is found there, and her former session ends
    let former = alice.open(&[]).unwrap().address;
    let now = mesh.identity("alice", &[3]).open(&[]).unwrap().address;
    assert_ne!(former.session >> 28, now.session >> 28);
    until("news of alice", || {
        [1, 2, 3].iter().all(|&node| mesh.identity("bob", &[node]).find(&["alice"]).unwrap() == [Some(now)])
    });
    assert!(String::from_utf8(mesh.log.bytes()).unwrap().contains("\"event\":\"moved\""));
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
    // The lost one comes back and is one of them again
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
    assert!(mesh.metrics(3).contains("sealwright_mesh_nodes 0\n"), "it meets nobody");
    let bob = mesh.identity("bob", &[1]).open(&[]).unwrap().address;
    let stranger = mesh.identity("bob", &[3]).open(&[]).unwrap().address;
    until("refusals", || !mesh.metrics(1).contains("sealwright_mesh_messages_total{outcome=\"refused\"} 0\n"));
    until("news", || mesh.identity("alice", &[2]).find(&["bob"]).unwrap() == [Some(bob)]);
    assert_ne!(bob, stranger);
    assert_eq!(mesh.identity("alice", &[1]).find(&["bob"]).unwrap(), [Some(bob)]);
}

/// Somebody at NATS who listens and speaks, without the secret.
struct Eavesdropper {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Eavesdropper {
    fn at(port: u16) -> Eavesdropper {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        stream.write_all(b"CONNECT {\"verbose\":false,\"echo\":false}\r\nSUB sealwright.> 1\r\n").unwrap();
        Eavesdropper { stream, received: Vec::new() }
    }

    /// What nodes say within this time: subjects and messages.
    fn listen(&mut self, time: Duration) -> Vec<(String, Vec<u8>)> {
        let start = Instant::now();
        let mut buffer = [0; 4096];
        while start.elapsed() < time {
            if let Ok(length) = self.stream.read(&mut buffer) {
                self.received.extend_from_slice(&buffer[..length]);
            }
        }
        let (mut rest, mut messages) = (&self.received[..], Vec::new());
        while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let line = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 2..];
            let Some(line) = line.strip_prefix("MSG ") else { continue };
            let words: Vec<&str> = line.split(' ').collect();
            let length: usize = words.last().unwrap().parse().unwrap();
            let Some(message) = rest.get(..length) else { break };
            messages.push((words[0].to_owned(), message.to_vec()));
            rest = &rest[length + 2..];
        }
        messages
    }

    fn say(&mut self, subject: &str, message: &[u8]) {
        self.stream.write_all(format!("PUB {subject} {}\r\n", message.len()).as_bytes()).unwrap();
        self.stream.write_all(&[message, b"\r\n"].concat()).unwrap();
    }
}

#[test]
fn forged_and_repeated_messages_change_nothing() {
    let Some(mesh) = Mesh::start() else { return };
    let bob = mesh.identity("bob", &[2]).open(&[]).unwrap().address;
    let alice = mesh.identity("alice", &[1]);
    until("news of bob", || alice.find(&["bob"]).unwrap() == [Some(bob)]);
    let mut eavesdropper = Eavesdropper::at(mesh._nats.port);
    let heard = eavesdropper.listen(Duration::from_secs(2));
    assert!(heard.len() > 12, "hellos and heartbeats of three nodes");
    assert!(!heard.iter().any(|(_, message)| message.windows(3).any(|three| three == b"bob")), "names are sealed");
    let lines = mesh.log.bytes().len();
    for round in 0..50u8 {
        // The review's message that cut a node off, forged hellos, and everything that was heard
        eavesdropper.say("sealwright.hello", &[&[2][..], &[round; 16]].concat());
        eavesdropper.say("sealwright.hello", &[&[2][..], &[round; 32]].concat());
        eavesdropper.say("sealwright.node.1", &[round; 80]);
        for (subject, message) in &heard {
            eavesdropper.say(subject, message);
        }
        assert_eq!(alice.find(&["bob"]).unwrap(), [Some(bob)]);
        std::thread::sleep(Duration::from_millis(50));
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
    let log = String::from_utf8(mesh.log.bytes()[lines..].to_vec()).unwrap();
    assert!(!log.contains("node-met") && !log.contains("node-lost") && !log.contains("moved"), "{log}");
}
