//! What Prometheus scrapes: counts of the whole relay, nothing by client, over the smallest HTTP there is.

use std::{
    fmt::Write as _,
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crate::{
    control::{Deadline, Heard},
    data::{Count, Relay},
    fleet::{Known, Traffic},
};

/// The endpoint, running.
pub(crate) struct Metrics {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What is told.
pub(crate) struct Told {
    pub(crate) relay: Arc<Relay>,
    pub(crate) fleet: Option<Arc<Known>>,
    pub(crate) heard: Arc<Heard>,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) sessions: u32,
    pub(crate) session_bytes: u64,
}

impl Metrics {
    pub(crate) fn start(address: SocketAddr, told: Told) -> io::Result<Metrics> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let listen = move || {
            for visitor in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                // Who asks wrongly, or leaves, gets nothing
                let _ = visitor.and_then(|stream| answer(stream, &told));
            }
        };
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(listen)?;
        Ok(Metrics { address, stop, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(stream: TcpStream, told: &Told) -> io::Result<()> {
    let mut stream = Deadline::new(stream, Duration::from_secs(2));
    let (mut request, mut buffer) = (Vec::new(), [0; 1024]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < 8192 {
        match stream.read(&mut buffer)? {
            0 => break,
            much => request.extend_from_slice(&buffer[..much]),
        }
    }
    let (status, body) = if request.starts_with(b"GET /metrics ") {
        ("200 OK", told.text())
    } else {
        ("404 Not Found", "try /metrics\n".to_owned())
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// One metric and its lines of labels and value.
fn metric(text: &mut String, name: &str, kind: &str, help: &str, lines: &[(&str, f64)]) {
    // Writing to a string cannot fail
    let _ = write!(text, "# HELP sealwright_{name} {help}\n# TYPE sealwright_{name} {kind}\n");
    for (labels, value) in lines {
        let _ = writeln!(text, "sealwright_{name}{labels} {value}");
    }
}

impl Told {
    fn text(&self) -> String {
        let counts = self.relay.counts();
        let of = |what: Count| counts.of(what) as f64;
        let heard = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed) as f64;
        let mut text = String::new();
        let mut say = |name, kind, help, lines: &[(&str, f64)]| metric(&mut text, name, kind, help, lines);
        say("frames_received_total", "counter", "Frames that arrived whole.", &[("", of(Count::Arrived))]);
        say("frames_opened_total", "counter", "Frames that were authentic and fresh.", &[("", of(Count::Opened))]);
        say("frames_forwarded_total", "counter", "Frames queued for a client.", &[("", of(Count::Forwarded))]);
        let dropped: Vec<(String, f64)> =
            Count::dropped().map(|what| (format!("{{reason=\"{}\"}}", what.name()), of(what))).collect();
        let dropped: Vec<(&str, f64)> = dropped.iter().map(|(labels, value)| (labels.as_str(), *value)).collect();
        say("frames_dropped_total", "counter", "Frames dropped, by what was wrong.", &dropped);
        let bytes = [("{direction=\"in\"}", of(Count::BytesIn)), ("{direction=\"out\"}", of(Count::BytesOut))];
        say("bytes_total", "counter", "Bytes of frames on connections.", &bytes);
        let connections = [
            ("{event=\"accepted\"}", of(Count::Accepted)),
            ("{event=\"refused\"}", of(Count::Refused)),
            ("{event=\"expelled\"}", of(Count::Expelled)),
            ("{event=\"closed\"}", of(Count::Closed)),
        ];
        say("connections_total", "counter", "What happened to connections.", &connections);
        say("connections", "gauge", "Connections now.", &[("", self.relay.connections() as f64)]);
        say("pauses_total", "counter", "Times a sender waited for a full queue.", &[("", of(Count::Paused))]);
        let handshakes = [
            ("{outcome=\"done\"}", heard(&self.heard.handshakes)),
            ("{outcome=\"failed\"}", heard(&self.heard.failed)),
            ("{outcome=\"refused\"}", heard(&self.heard.refused)),
        ];
        say("handshakes_total", "counter", "Control connections, by how they went.", &handshakes);
        say("sessions_opened_total", "counter", "Sessions given keys.", &[("", heard(&self.heard.opened))]);
        say("sessions_denied_total", "counter", "Names refused.", &[("", heard(&self.heard.denied))]);
        say("session_slots", "gauge", "Sessions that fit.", &[("", f64::from(self.sessions))]);
        say("session_bytes", "gauge", "Memory of all session records.", &[("", self.session_bytes as f64)]);
        let cpu = of(Count::CpuNanoseconds) / 1e9;
        say("worker_cpu_seconds_total", "counter", "CPU time of the workers.", &[("", cpu)]);
        if let Some(fleet) = &self.fleet {
            let Traffic { sent, received, refused, undelivered, nodes } = &fleet.traffic;
            say("frames_abroad_total", "counter", "Frames for clients of other nodes.", &[("", of(Count::Abroad))]);
            let messages = [
                ("{outcome=\"sent\"}", heard(sent)),
                ("{outcome=\"received\"}", heard(received)),
                ("{outcome=\"refused\"}", heard(refused)),
                ("{outcome=\"undelivered\"}", heard(undelivered)),
            ];
            say("fleet_messages_total", "counter", "Messages between nodes, by how they went.", &messages);
            say("fleet_nodes", "gauge", "Other nodes that live.", &[("", heard(nodes))]);
        }
        let draining = f64::from(u8::from(self.draining.load(Ordering::Relaxed)));
        say("draining", "gauge", "1 while the relay takes no newcomers.", &[("", draining)]);
        text
    }
}
