//! The answers for Prometheus and for health checks.
#![allow(clippy::unwrap_used)]
use std::{
    fs,
    path::Path,
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use sealwright_session::{Plan, Sessions, table};
use sealwright_transcripts::until;

use super::*;
use crate::{
    data::Settings,
    log::Log,
    serve::{config::Config, init, server::Server},
};

fn serve(trial: &Path) -> Server {
    init(trial, &[], &[]).unwrap();
    let text = fs::read_to_string(trial.join("relay.toml")).unwrap();
    let text = ["7600", "7601", "7602"].iter().fold(text, |text, port| text.replace(port, "0"));
    let config = Config::parse(&format!("threads = 2\n{text}"), trial).unwrap();
    Server::start(&config, Arc::new(Log::to(io::sink()))).unwrap()
}

fn source(relay: Relay, control: ControlStats) -> Metrics {
    Metrics {
        relay: Arc::new(relay),
        #[cfg(feature = "nats")]
        mesh: None,
        control: Arc::new(control),
        draining: Arc::default(),
        sessions: 77,
        record_bytes_reserved: 88,
        names: NamesGauge::default(),
        scheme: "gcm-on64".into(),
    }
}

/// The response; empty if it takes longer than a reader may.
fn get(address: SocketAddr, path: &str) -> String {
    let mut text = String::new();
    let mut stream = TcpStream::connect(address).unwrap();
    let asked = stream.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
    let _ = asked.and_then(|()| stream.read_to_string(&mut text));
    text
}

#[test]
fn a_relay_that_drains_or_hangs_is_not_healthy() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = serve(&folder.path().join("trial"));
    let address = server.addresses().metrics.unwrap();
    let is = |status: &str, body: &str| {
        let text = get(address, "/health");
        text.starts_with(&format!("HTTP/1.1 {status}\r\n")) && text.ends_with(&format!("\r\n\r\n{body}\n"))
    };
    until("health", || is("200 OK", "ok") && server.trouble().is_none());
    let (unhealthy, (held, holding), (go_on, may)) = ("503 Service Unavailable", channel(), channel::<()>());
    thread::scope(|scope| {
        // Dropped if anything here panics, so that the worker continues
        let go_on = go_on;
        scope.spawn(|| {
            let hang = move |_: &mut dyn Sessions| {
                held.send(()).unwrap();
                let _ = may.recv();
            };
            server.relay().change(1, 0..0, hang).unwrap();
        });
        holding.recv().unwrap();
        // The watchdog uses the same check
        assert_eq!(server.trouble(), Some("a worker does not answer"));
        until("a worker that hangs", || is(unhealthy, "a worker does not answer"));
        go_on.send(()).unwrap();
    });
    until("health again", || is("200 OK", "ok"));
    let draining = |value: u32| get(address, "/metrics").contains(&format!("sealwright_draining {value}\n"));
    until("no end", || draining(0));
    let guest = TcpStream::connect(server.addresses().frames).unwrap();
    until("a guest", || server.relay().connections() == 1);
    let gone = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| server.drain_unless(Duration::from_secs(300), || gone.load(Ordering::Relaxed)));
        until("its end", || is(unhealthy, "draining") && draining(1));
        gone.store(true, Ordering::Relaxed);
    });
    assert_eq!(server.trouble(), Some("draining"));
    drop(guest);
}

/// With the most readers, and no descriptor for another one, the server does not retry in a busy loop.
#[test]
fn who_listens_for_readers_waits_for_a_descriptor() {
    let sessions = table(Plan::new("gcm-on64".parse().unwrap(), 4)).unwrap();
    let relay = Relay::start("127.0.0.1:0".parse().unwrap(), 0, Settings::default(), vec![sessions]).unwrap();
    let metrics = Arc::new(source(relay, ControlStats::default()));
    let inside = Arc::new(());
    for readers in [0, MAX_READERS] {
        let _inside = vec![inside.clone(); readers];
        let start = Instant::now();
        let none = (0..5).map(|_| Err(io::Error::other("no descriptors")));
        listen(none, &AtomicBool::new(false), &inside, &metrics);
        assert!(start.elapsed() >= 5 * ACCEPT_RETRY_WAIT, "{readers} readers");
    }
}

/// Each counter has its own name, labels included.
#[test]
fn metrics_have_the_values_of_their_counts() {
    let sessions = table(Plan::new("gcm-on64".parse().unwrap(), 4)).unwrap();
    let relay = Relay::start("127.0.0.1:0".parse().unwrap(), 0, Settings::default(), vec![sessions]).unwrap();
    let control = ControlStats::default();
    let mut next = 1000;
    let stats = [
        ("handshakes_total{outcome=\"done\"}", &control.handshakes),
        ("handshakes_total{outcome=\"failed\"}", &control.failed),
        ("handshakes_total{outcome=\"refused\"}", &control.refused),
        ("sessions_opened_total", &control.opened),
        ("sessions_denied_total", &control.denied),
    ];
    let mut distinct = |of: &[(&str, &AtomicU64)]| {
        let lines = of.iter().map(|(name, count)| {
            next += 1;
            count.store(next, Ordering::Relaxed);
            format!("{name} {next}")
        });
        lines.collect::<Vec<_>>()
    };
    let mut wanted = distinct(&stats);
    #[cfg(feature = "nats")]
    let mesh = {
        let state = crate::mesh::MeshState::default();
        let stats = &state.stats;
        wanted.extend(distinct(&[
            ("mesh_messages_total{outcome=\"sent\"}", &stats.sent),
            ("mesh_messages_total{outcome=\"received\"}", &stats.received),
            ("mesh_messages_total{outcome=\"refused\"}", &stats.refused),
            ("mesh_messages_total{outcome=\"undelivered\"}", &stats.undelivered),
            ("mesh_messages_total{outcome=\"lost\"}", &stats.lost),
            ("mesh_frames_total{outcome=\"sent\"}", &stats.frames_sent),
            ("mesh_frames_total{outcome=\"received\"}", &stats.frames_received),
            ("mesh_frames_total{outcome=\"refused\"}", &stats.frames_refused),
            ("mesh_frames_total{outcome=\"undelivered\"}", &stats.frames_undelivered),
            ("mesh_nodes", &stats.nodes),
        ]));
        wanted.push(format!("frames_remote_total {}", 1 + Count::Remote as u64));
        Some(Arc::new(state))
    };
    let mut counts = Counts::default();
    Count::ALL.iter().for_each(|&what| counts.set(what, 1 + what as u64));
    for (name, what) in [
        ("frames_received_total", Count::Arrived),
        ("frames_opened_total", Count::Opened),
        ("frames_forwarded_total", Count::Forwarded),
        ("bytes_total{direction=\"in\"}", Count::BytesIn),
        ("bytes_total{direction=\"out\"}", Count::BytesOut),
        ("connections_total{event=\"accepted\"}", Count::Accepted),
        ("connections_total{event=\"refused\"}", Count::Refused),
        ("connections_total{event=\"delayed\"}", Count::Delayed),
        ("connections_total{event=\"expelled\"}", Count::Expelled),
        ("connections_total{event=\"closed\"}", Count::Closed),
        ("pauses_total", Count::Paused),
    ] {
        wanted.push(format!("{name} {}", 1 + what as u64));
    }
    wanted.extend(Count::dropped().map(|what| {
        let value = 1 + what as u64;
        format!("frames_dropped_total{{reason=\"{}\"}} {value}", what.name())
    }));
    counts.set(Count::CpuNanoseconds, 2_500_000_000);
    let source = Metrics {
        #[cfg(feature = "nats")]
        mesh,
        ..source(relay, control)
    };
    wanted.extend(
        ["worker_cpu_seconds_total 2.5", "session_slots 77", "record_bytes_reserved 88", "draining 0"]
            .map(str::to_owned),
    );
    let text = source.text(&counts);
    for line in wanted {
        assert!(text.contains(&format!("\nsealwright_{line}\n")), "{line} is not in {text}");
    }
}
