//! Three nodes of a mesh, and the NATS servers between them.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "each test program uses a part")]

use std::{
    fs,
    io::{Cursor, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use sealwright_relay::{
    Log,
    client::{Identity, Pipe},
    serve::{Config, Server, init},
};
use sealwright_transcripts::skipped;
pub(crate) use sealwright_transcripts::until;

use crate::output::Shared;

const NATS: &str = "github.com/nats-io/nats-server/v2@v2.12.2";

/// The `nats-server` program, if it is available.
pub(crate) fn nats_server() -> Option<PathBuf> {
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
            skipped(format_args!("`go install {NATS}` failed, and there is no nats-server"));
            None
        }
        Err(_) => {
            skipped("there is neither nats-server nor go to build it with");
            None
        }
    }
}

pub(crate) struct Nats {
    child: Child,
    pub(crate) port: u16,
    program: PathBuf,
    options: Vec<String>,
}

impl Nats {
    fn start(program: &Path) -> Nats {
        Nats::with(program, free_port(), Vec::new())
    }

    /// Starts a server with additional options.
    pub(crate) fn with(program: &Path, port: u16, options: Vec<String>) -> Nats {
        let child = Nats::run(program, port, &options);
        Nats { child, port, program: program.to_owned(), options }
    }

    fn run(program: &Path, port: u16, options: &[String]) -> Child {
        let child = Command::new(program)
            .args(["--addr", "127.0.0.1", "--port", &port.to_string()])
            .args(options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("nats-server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        child
    }

    /// Sends the server a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts the same server again.
    pub(crate) fn restart(&mut self) {
        self.child = Nats::run(&self.program, self.port, &self.options);
    }
}

/// A free port below the range from which the system assigns ports, so that no other test is assigned it meanwhile.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 12_000 + (std::process::id() % 5_000) as u16;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Nodes 1 to 3 of one authority.
pub(crate) struct Mesh {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) nodes: Vec<Option<Server>>,
    pub(crate) log: Shared,
    pub(crate) nats: Vec<Nats>,
}

impl Mesh {
    pub(crate) fn start() -> Option<Mesh> {
        Mesh::with(str::to_owned)
    }

    /// The same, with a changed configuration of every node.
    pub(crate) fn with(change: impl Fn(&str) -> String) -> Option<Mesh> {
        Some(Mesh::made(vec![Nats::start(&nats_server()?)], change))
    }

    /// With several servers: each node uses its own.
    pub(crate) fn over(nats: Vec<Nats>) -> Mesh {
        Mesh::made(nats, str::to_owned)
    }

    pub(crate) fn made(nats: Vec<Nats>, change: impl Fn(&str) -> String) -> Mesh {
        let folder = tempfile::tempdir().unwrap();
        let names = ["alice", "bob", "carol", "dave", "*.load.test"].map(str::to_owned);
        init(&folder.path().join("trial"), &[], &names).unwrap();
        let secret = folder.path().join("trial/mesh.key");
        fs::write(&secret, "5a".repeat(32) + "\n").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let log = Shared::default();
        let mut mesh = Mesh { folder, nodes: vec![None, None, None, None], log, nats };
        let text = fs::read_to_string(mesh.folder.path().join("trial/relay.toml")).unwrap();
        for node in 1..=3 {
            let port = mesh.nats[(node - 1) % mesh.nats.len()].port;
            let text = ["7600", "7601", "7602"].iter().fold(text.clone(), |text, port| text.replace(port, "0"));
            let text = format!(
                "node = {node}\nthreads = 2\n{text}\n[mesh]\nnats = \"nats://127.0.0.1:{port}\"\nsecret = \"mesh.key\"\n[limits]\nhandshakes_per_second = 1000\nhandshakes_per_second_from_one_address = 1000\n"
            );
            fs::write(mesh.folder.path().join(format!("trial/node{node}.toml")), change(&text)).unwrap();
            mesh.begin(node);
        }
        for node in 1..=3 {
            mesh.has_met(node, 2);
        }
        mesh
    }

    pub(crate) fn begin(&mut self, node: usize) {
        let config = Config::read(&self.folder.path().join(format!("trial/node{node}.toml"))).unwrap();
        self.nodes[node] = Some(Server::start(&config, Arc::new(Log::to(self.log.clone()))).unwrap());
    }

    pub(crate) fn node(&self, node: usize) -> &Server {
        self.nodes[node].as_ref().unwrap()
    }

    pub(crate) fn has_met(&self, node: usize, others: usize) {
        let line = format!("sealwright_mesh_nodes {others}\n");
        until(&line, || self.metrics(node).contains(&line));
    }

    pub(crate) fn metrics(&self, node: usize) -> String {
        let mut stream = TcpStream::connect(self.node(node).addresses().metrics.unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// The value of a metric of a node, with its labels.
    pub(crate) fn metric(&self, node: usize, name: &str) -> u64 {
        let (text, start) = (self.metrics(node), format!("sealwright_{name} "));
        text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
    }

    /// A client that tries these nodes in turn.
    pub(crate) fn identity(&self, name: &str, nodes: &[usize]) -> Identity {
        let mut identity = Identity::read(&self.folder.path().join(format!("trial/{name}.toml"))).unwrap();
        let address = |&node: &usize| format!("localhost:{}", self.node(node).addresses().control.port());
        identity.relay = nodes.iter().map(address).collect::<Vec<_>>().join(", ");
        identity
    }
}

/// An input that is slow.
pub(crate) struct Slow(pub(crate) Cursor<Vec<u8>>);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_millis(5));
        self.0.read(buffer)
    }
}

pub(crate) fn bytes(length: usize, salt: usize) -> Vec<u8> {
    (0..length).map(|at| ((at * 2_654_435_761 + salt) >> 11) as u8).collect()
}

pub(crate) fn pipe(me: &Identity, peer: &str, input: impl Read + Send + 'static, output: Shared) {
    let wait = Duration::from_secs(60);
    Pipe::new(me, peer, wait).run(input, output, &|_| ()).unwrap();
}
