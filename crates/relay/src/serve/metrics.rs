//! Metrics for Prometheus over a minimal HTTP server: totals of the relay, nothing per client.

use std::{
    fmt::Write as _,
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

#[cfg(feature = "nats")]
use crate::mesh::MeshStats;
use crate::{
    control::{ACCEPT_RETRY_WAIT, ControlStats, Deadline, Gauged, NamesGauge},
    data::{Count, Counts, Relay},
    listening::wake,
};

/// The most readers at once.
pub(super) const MAX_READERS: usize = 64;

/// The running HTTP server.
pub(crate) struct MetricsServer {
    address: SocketAddr,
    listener: TcpListener,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The sources of the metrics.
pub(crate) struct Metrics {
    pub(crate) relay: Arc<Relay>,
    #[cfg(feature = "nats")]
    pub(crate) mesh: Option<Arc<crate::mesh::MeshState>>,
    pub(crate) control: Arc<ControlStats>,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) sessions: u32,
    pub(crate) record_bytes_reserved: u64,
    pub(crate) names: NamesGauge,
    pub(crate) scheme: String,
}

/// How long a worker may take to answer before the relay is unhealthy.
const WORKER_ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

impl MetricsServer {
    pub(crate) fn start(address: SocketAddr, metrics: Metrics) -> io::Result<MetricsServer> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let waits = listener.try_clone()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let metrics = Arc::new(metrics);
        let listen = move || listen(waits.incoming(), &stopped, &Arc::default(), &metrics);
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(listen)?;
        Ok(MetricsServer { address, listener, stop, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        wake(&self.listener);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Accepts readers; each holds a reference to `inside` while it is served, which counts them.
fn listen(
    readers: impl Iterator<Item = io::Result<TcpStream>>,
    stopped: &AtomicBool,
    inside: &Arc<()>,
    metrics: &Arc<Metrics>,
) {
    for stream in readers {
        if stopped.load(Ordering::Relaxed) {
            break;
        }
        let Ok(stream) = stream else {
            // No descriptors: readers wait, also when there are many of them
            std::thread::sleep(ACCEPT_RETRY_WAIT);
            continue;
        };
        // Idle readers must not hold up others, and their number is bounded
        if Arc::strong_count(inside) > MAX_READERS {
            continue;
        }
        let (metrics, permit) = (metrics.clone(), inside.clone());
        let answer = move || {
            // A reader that leaves or sends an invalid request gets no answer
            let _ = answer(stream, &metrics);
            drop(permit);
        };
        // Without a thread for it, the connection is dropped and the reader asks again
        let _ = std::thread::Builder::new().name("metrics".into()).spawn(answer);
    }
}

fn answer(stream: TcpStream, metrics: &Metrics) -> io::Result<()> {
    let mut stream = Deadline::new(stream, Duration::from_secs(2));
    let (mut request, mut buffer) = (Vec::new(), [0; 1024]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < 8192 {
        match stream.read(&mut buffer)? {
            0 => break,
            much => request.extend_from_slice(&buffer[..much]),
        }
    }
    let (status, body) = if request.starts_with(b"GET /metrics ") {
        ("200 OK", metrics.text(&metrics.relay.counts()))
    } else if request.starts_with(b"GET /health ") {
        match trouble(&metrics.relay, &metrics.draining) {
            None => ("200 OK", "ok\n".to_owned()),
            Some(why) => ("503 Service Unavailable", format!("{why}\n")),
        }
    } else {
        ("404 Not Found", "try /metrics or /health\n".to_owned())
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// Appends one metric, with a line for each of its label sets.
fn metric(text: &mut String, name: &str, kind: &str, help: &str, lines: &[(&str, f64)]) {
    // Writing to a string cannot fail
    let _ = write!(text, "# HELP sealwright_{name} {help}\n# TYPE sealwright_{name} {kind}\n");
    for (labels, value) in lines {
        let _ = writeln!(text, "sealwright_{name}{labels} {value}");
    }
}

/// The resident memory of this process, as the system counts it.
pub(crate) fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// Why clients should not be sent to this relay now; the answer for `/health`, operators and the watchdog.
pub(super) fn trouble(relay: &Relay, draining: &AtomicBool) -> Option<&'static str> {
    if draining.load(Ordering::Relaxed) {
        Some("draining")
    } else if !relay.responds(WORKER_ANSWER_TIMEOUT) {
        Some("a worker does not answer")
    } else {
        None
    }
}

impl Metrics {
    fn text(&self, counts: &Counts) -> String {
        let of = |what: Count| counts.of(what) as f64;
        let value = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
        let mut text = String::new();
        let mut add = |name, kind, help, lines: &[(&str, f64)]| metric(&mut text, name, kind, help, lines);
        add("frames_received_total", "counter", "Complete frames received.", &[("", of(Count::Arrived))]);
        add("frames_opened_total", "counter", "Frames that were authentic and fresh.", &[("", of(Count::Opened))]);
        add("frames_forwarded_total", "counter", "Frames queued for a client.", &[("", of(Count::Forwarded))]);
        let dropped: Vec<(String, f64)> =
            Count::dropped().map(|what| (format!("{{reason=\"{}\"}}", what.name()), of(what))).collect();
        let dropped: Vec<(&str, f64)> = dropped.iter().map(|(labels, value)| (labels.as_str(), *value)).collect();
        add("frames_dropped_total", "counter", "Frames dropped, by reason.", &dropped);
        let bytes = [("{direction=\"in\"}", of(Count::BytesIn)), ("{direction=\"out\"}", of(Count::BytesOut))];
        add("bytes_total", "counter", "Bytes of frames on connections.", &bytes);
        let connections = [
            ("{event=\"accepted\"}", of(Count::Accepted)),
            ("{event=\"refused\"}", of(Count::Refused)),
            ("{event=\"delayed\"}", of(Count::Delayed)),
            ("{event=\"expelled\"}", of(Count::Expelled)),
            ("{event=\"closed\"}", of(Count::Closed)),
        ];
        add("connections_total", "counter", "Connections, by event.", &connections);
        add("connections", "gauge", "Open connections.", &[("", self.relay.connections() as f64)]);
        add("queue_bytes", "gauge", "Memory of the queues of connections.", &[("", self.relay.queue_bytes() as f64)]);
        add(
            "pauses_total",
            "counter",
            "Times that a sender was paused because a queue was more than half full.",
            &[("", of(Count::Paused))],
        );
        let handshakes = [
            ("{outcome=\"done\"}", value(&self.control.handshakes)),
            ("{outcome=\"failed\"}", value(&self.control.failed)),
            ("{outcome=\"refused\"}", value(&self.control.refused)),
        ];
        add("handshakes_total", "counter", "Control connections, by outcome.", &handshakes);
        add("sessions_opened_total", "counter", "Sessions opened.", &[("", value(&self.control.opened))]);
        add(
            "sessions_denied_total",
            "counter",
            "Client requests that were refused.",
            &[("", value(&self.control.denied))],
        );
        let Gauged { numbers, bytes: name_bytes, certificate_until, revocations_until } = self.names.read();
        add("sessions", "gauge", "Sessions that have keys.", &[("", f64::from(self.relay.live()))]);
        add(
            "session_numbers",
            "gauge",
            "Session numbers that are assigned to names or used up.",
            &[("", f64::from(numbers))],
        );
        add("session_slots", "gauge", "Maximum number of sessions.", &[("", f64::from(self.sessions))]);
        add(
            "record_bytes_reserved",
            "gauge",
            "Memory reserved for all session records.",
            &[("", self.record_bytes_reserved as f64)],
        );
        add("name_bytes", "gauge", "Approximate memory of names and certificates.", &[("", name_bytes as f64)]);
        let mut until = |name, help, at: Option<u64>| {
            at.into_iter().for_each(|at| add(name, "gauge", help, &[("", at as f64)]));
        };
        until("certificate_expiry_timestamp_seconds", "When the relay's certificate expires.", certificate_until);
        until(
            "revocations_next_update_timestamp_seconds",
            "When the first list of revoked certificates is out of date.",
            revocations_until,
        );
        if let Some(bytes) = resident_bytes() {
            add("resident_bytes", "gauge", "Resident memory of the process.", &[("", bytes as f64)]);
        }
        let build = format!("{{version=\"{}\",scheme=\"{}\"}}", env!("CARGO_PKG_VERSION"), self.scheme);
        add("build_info", "gauge", "1, with the version and the scheme.", &[(&build, 1.0)]);
        let cpu = of(Count::CpuNanoseconds) / 1e9;
        add("worker_cpu_seconds_total", "counter", "CPU time of the workers.", &[("", cpu)]);
        #[cfg(feature = "nats")]
        if let Some(mesh) = &self.mesh {
            let MeshStats { sent, received, refused, undelivered, lost, nodes, .. } = &mesh.stats;
            add("frames_remote_total", "counter", "Frames for clients of other nodes.", &[("", of(Count::Remote))]);
            let messages = [
                ("{outcome=\"sent\"}", value(sent)),
                ("{outcome=\"received\"}", value(received)),
                ("{outcome=\"refused\"}", value(refused)),
                ("{outcome=\"undelivered\"}", value(undelivered)),
                ("{outcome=\"lost\"}", value(lost)),
            ];
            add("mesh_messages_total", "counter", "Messages between nodes, by outcome.", &messages);
            let frames = [
                ("{outcome=\"sent\"}", value(&mesh.stats.frames_sent)),
                ("{outcome=\"received\"}", value(&mesh.stats.frames_received)),
                ("{outcome=\"refused\"}", value(&mesh.stats.frames_refused)),
                ("{outcome=\"undelivered\"}", value(&mesh.stats.frames_undelivered)),
            ];
            add("mesh_frames_total", "counter", "Frames between nodes, by outcome.", &frames);
            add("mesh_nodes", "gauge", "Other nodes that are present.", &[("", value(nodes))]);
        }
        let draining = f64::from(u8::from(self.draining.load(Ordering::Relaxed)));
        add("draining", "gauge", "1 while the relay accepts no connections.", &[("", draining)]);
        text
    }
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
