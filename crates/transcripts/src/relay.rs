//! Starts a relay for tests.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixDatagram,
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::Sandbox;

/// A relay under test: `sealwright serve` with a trial configuration in a [`Sandbox`], started in the same way as by
/// systemd.
#[derive(Debug)]
pub struct TrialRelay {
    /// The process.
    pub child: Child,
    /// What it says of itself when it starts.
    pub serving: Value,
    log: BufReader<ChildStderr>,
    notify: UnixDatagram,
}

impl TrialRelay {
    /// Starts a relay on ports that the system chooses, and writes those ports into the files of the clients.
    pub fn start(sandbox: &Sandbox) -> TrialRelay {
        TrialRelay::start_with(sandbox, |text| text)
    }

    /// The same with another configuration.
    pub fn start_with(sandbox: &Sandbox, configure: impl Fn(String) -> String) -> TrialRelay {
        TrialRelay::start_in(sandbox, configure, &[])
    }

    /// The same with more variables in its environment.
    pub fn start_in(sandbox: &Sandbox, configure: impl Fn(String) -> String, variables: &[(&str, &str)]) -> TrialRelay {
        sandbox.run("serve --init trial --client alice --client bob --client *.load.test");
        change(sandbox, "relay.toml", |text| {
            ["7600", "7601", "7602"].iter().fold(text, |text, port| text.replace(&format!(":{port}"), ":0"))
        });
        change(sandbox, "relay.toml", configure);
        let notify = UnixDatagram::bind(sandbox.path("notify")).unwrap();
        notify.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut child = sandbox
            .command()
            .args(["serve", "trial/relay.toml"])
            .env("NOTIFY_SOCKET", sandbox.path("notify"))
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut relay = TrialRelay { child, serving: Value::Null, log, notify };
        let serving = relay.event("serving");
        relay.serving = serving.clone();
        let port = serving["control"].as_str().unwrap().rsplit_once(':').unwrap().1.to_owned();
        for name in ["alice", "bob", "load.test"] {
            change(sandbox, &format!("{name}.toml"), |text| text.replace("7601", &port));
        }
        assert_eq!(relay.notification(), "READY=1");
        relay
    }

    /// Reads the next line of the log, which must describe this event.
    pub fn event(&mut self, event: &str) -> Value {
        let mut line = String::new();
        self.log.read_line(&mut line).unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["event"], event, "{line}");
        value
    }

    /// The value of a metric without labels: `resident_bytes`.
    pub fn metric(&self, name: &str) -> f64 {
        let mut stream = TcpStream::connect(self.serving["metrics"].as_str().unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let start = format!("sealwright_{name} ");
        text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
    }

    /// Receives the next notification to systemd.
    pub fn notification(&self) -> String {
        let mut buffer = [0; 256];
        let len = self.notify.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..len].to_vec()).unwrap()
    }

    /// Sends a signal by name: `HUP`.
    pub fn signal(&self, name: &str) {
        assert!(
            Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status().unwrap().success()
        );
    }
}

impl Drop for TrialRelay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Changes a file of the trial configuration.
pub fn change(sandbox: &Sandbox, name: &str, change: impl Fn(String) -> String) {
    let path = sandbox.path("trial").join(name);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}
