//! Three nodes of a mesh as separate processes, which can be killed, paused and partitioned.
#![allow(clippy::unwrap_used)]

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use sealwright_relay::{
    Log,
    client::Identity,
    serve::{Signals, init, run},
};

use crate::{
    line::Line,
    nodes::{Nats, free_port, nats_server, until},
};

/// Tells a child process which node it is: the path of its configuration.
const NODE: &str = "SEALWRIGHT_TEST_NODE";
/// Ports outside the range from which the system assigns ports, so that nobody gets a node's ports while it is dead.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

/// The main function of a child process: serves like `sealwright serve`, until the test that started it has ended.
pub(crate) fn be_a_node() {
    let Some(config) = std::env::var_os(NODE) else { return };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let signals = Signals::take().unwrap();
    if let Err(error) = run(&PathBuf::from(config), &signals, Arc::new(Log::to(std::io::stderr()))) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Ports of a node.
#[derive(Clone, Copy)]
struct Ports {
    frames: u16,
    control: u16,
    metrics: u16,
}

pub(crate) struct Processes {
    folder: tempfile::TempDir,
    pub(crate) nats: Nats,
    ports: Vec<Ports>,
    /// The lines between each node and NATS.
    lines: Vec<Line>,
    running: Vec<Mutex<Option<Child>>>,
}

impl Processes {
    /// Starts nodes 1 to 3 of one authority; `test` is the name of the test that calls [`be_a_node`] in the child
    /// processes.
    pub(crate) fn start(names: &[&str], test: &'static str) -> Option<Processes> {
        let nats = Nats::with(&nats_server()?, free_port(), Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        init(&folder.path().join("trial"), &[], &names).unwrap();
        let secret = folder.path().join("trial/mesh.key");
        fs::write(&secret, "5a".repeat(32) + "\n").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let trial = fs::read_to_string(folder.path().join("trial/relay.toml")).unwrap();
        let mut ports = PORTS.skip(std::process::id() as usize % 10_000);
        // The first of two consecutive ports: each of two workers needs one for datagrams
        let free =
            |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok() && UdpSocket::bind(("127.0.0.1", port)).is_ok();
        let mut port = || ports.by_ref().step_by(2).find(|&port| free(port) && free(port + 1)).unwrap();
        let (mut all, mut lines) = (Vec::new(), Vec::new());
        for node in 1..=3 {
            let (line, to_nats) = Line::to(nats.port);
            let ports = Ports { frames: port(), control: port(), metrics: port() };
            let text = trial
                .replace("7600", &ports.frames.to_string())
                .replace("7601", &ports.control.to_string())
                .replace("7602", &ports.metrics.to_string())
                .replace("relay.sock", &format!("node{node}.sock"))
                .replace("sessions = 100000", "sessions = 1000");
            let text = format!(
                "node = {node}\nthreads = 2\nudp = \"127.0.0.1:{}\"\n{text}\n[mesh]\nnats = \"nats://127.0.0.1:{to_nats}\"\nsecret = \"mesh.key\"\n[limits]\nhandshakes_per_second = 1000\nhandshakes_per_second_from_one_address = 1000\n",
                ports.frames
            );
            fs::write(folder.path().join(format!("trial/node{node}.toml")), text).unwrap();
            all.push(ports);
            lines.push(line);
        }
        let running = (1..=3).map(|_| Mutex::default()).collect();
        let nodes = Processes { folder, nats, ports: all, lines, running };
        (1..=3).for_each(|node| nodes.begin(node, test));
        nodes.have_met();
        Some(nodes)
    }

    /// Starts a node, repeatedly like systemd while it cannot reach NATS, until it serves.
    pub(crate) fn begin(&self, node: usize, test: &str) {
        let mut running = self.running[node - 1].lock().unwrap();
        until("a node that serves", || {
            if running.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some()) {
                let log = File::options().create(true).append(true).open(self.log_path(node)).unwrap();
                let config = self.folder.path().join(format!("trial/node{node}.toml"));
                let child = Command::new(std::env::current_exe().unwrap())
                    .args([test, "--exact", "--ignored", "--nocapture"])
                    .env(NODE, config)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::null())
                    .stderr(log)
                    .spawn();
                *running = Some(child.unwrap());
            }
            self.metrics(node).is_some()
        });
    }

    /// Kills a node, as a crash would.
    pub(crate) fn kill(&self, node: usize) {
        let mut child = self.running[node - 1].lock().unwrap().take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sends a node a signal by name.
    pub(crate) fn signal(&self, node: usize, name: &str) {
        let pid = self.running[node - 1].lock().unwrap().as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([format!("-{name}"), pid]).status().unwrap().success());
    }

    /// The line between a node and NATS.
    pub(crate) fn line(&self, node: usize) -> &Line {
        &self.lines[node - 1]
    }

    /// A connection for frames; `None` while the node is dead.
    pub(crate) fn frames(&self, node: usize) -> Option<TcpStream> {
        TcpStream::connect(("127.0.0.1", self.ports[node - 1].frames)).ok()
    }

    fn log_path(&self, node: usize) -> PathBuf {
        self.folder.path().join(format!("node{node}.log"))
    }

    /// The log of a node since its first start.
    pub(crate) fn log(&self, node: usize) -> String {
        fs::read_to_string(self.log_path(node)).unwrap()
    }

    /// A node's metrics; `None` while it does not answer.
    pub(crate) fn metrics(&self, node: usize) -> Option<Metrics> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.ports[node - 1].metrics)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        text.starts_with("HTTP/1.1 200").then_some(Metrics(text))
    }

    /// Waits until a node has this many other nodes present.
    pub(crate) fn has_met(&self, node: usize, others: u64) {
        let what = format!("{others} others at node {node}");
        until(&what, || self.metrics(node).is_some_and(|metrics| metrics.of("mesh_nodes") == others));
    }

    /// Waits until all nodes are present to each other.
    pub(crate) fn have_met(&self) {
        (1..=3).for_each(|node| self.has_met(node, 2));
    }

    /// A client that tries these nodes in turn.
    pub(crate) fn identity(&self, name: &str, nodes: &[usize]) -> Identity {
        let mut identity = Identity::read(&self.folder.path().join(format!("trial/{name}.toml"))).unwrap();
        let address = |&node: &usize| format!("localhost:{}", self.ports[node - 1].control);
        identity.relay = nodes.iter().map(address).collect::<Vec<_>>().join(", ");
        identity
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for node in 1..=3 {
                let log = fs::read_to_string(self.log_path(node)).unwrap_or_default();
                let metrics = self.metrics(node).map_or_else(String::new, |metrics| metrics.0);
                let metrics: Vec<&str> = metrics.lines().filter(|line| line.starts_with("sealwright_")).collect();
                eprintln!("node {node}: {}\n{log}", metrics.join(", "));
            }
        }
        for child in &self.running {
            if let Some(mut child) = child.lock().ok().and_then(|mut child| child.take()) {
                let _ = (child.kill(), child.wait());
            }
        }
    }
}

/// The text of a node's metrics.
pub(crate) struct Metrics(pub(crate) String);

impl Metrics {
    /// The value of a metric, with its labels.
    pub(crate) fn of(&self, name: &str) -> u64 {
        let start = format!("sealwright_{name} ");
        let value = self.0.lines().find_map(|line| line.strip_prefix(&start));
        value.unwrap_or_else(|| panic!("no {name} in {}", self.0)).parse().unwrap()
    }

    pub(crate) fn dropped(&self, reason: &str) -> u64 {
        self.of(&format!("frames_dropped_total{{reason=\"{reason}\"}}"))
    }

    pub(crate) fn between(&self, outcome: &str) -> u64 {
        self.of(&format!("mesh_frames_total{{outcome=\"{outcome}\"}}"))
    }
}
