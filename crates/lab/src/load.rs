//! `sealwright-lab load`: the load of many clients on a relay, and the cost of each packet.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use sealwright_load::{LoadError, Mix, Outcome, Workload, compare, measure, remote};
use sealwright_measure::Interval;
use sealwright_relay::{Count, client::Identity};
use sealwright_session::{ReplayWindow, SchemeKind, Spec};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, print};
use serde_json::{Value, json};

use crate::status::Status;

const EXAMPLES: &str = "\
The clients take turns. Each sends a packet to a random client; the relay opens it for the sender and seals
it for the receiver. --local starts the relay in this program, in its own threads and over loopback sockets,
and also a second relay without cryptography. The two are measured in alternation; their ratio is the cost
of sealing. ns_per_frame is CPU time of the relay's threads. Forged and replayed frames are sent as well;
they must not arrive.

--window 1 is a closed loop with one packet in flight on each connection. --rate is an open loop; its
latency is measured from the time when a packet was due. Packets for which the windows have no room before
the measurement switches to the other relay are not sent, and are counted as unsent.

--at measures a relay on another machine, in wall-clock time. The configuration of that relay must contain
the clients, and the certificate must name them.

Example:
    sealwright-lab load --scheme gcm-on64 --clients 100000 --payload 40 --connections 50 --seconds 5 --local";

/// Measure a relay under the load of many clients
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadArgs {
    /// Scheme that seals the frames: clear, gcm-on64, gcm-derived, gscm-h, gcm-pre(4k), gcm-on(256)-256, ...
    #[arg(long, value_name = "SCHEME", default_value = "gcm-on64", value_parser = spec)]
    scheme: Spec,
    /// Number of sessions
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    clients: u32,
    /// Packet size in bytes, or a mix such as 40:7,576:4,1500:1
    #[arg(long, value_name = "BYTES", default_value = "40")]
    payload: Mix,
    /// Number of connections that carry the clients
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    connections: u16,
    /// Duration of the measurement in seconds
    #[arg(long, value_name = "T", default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    /// Number of packets in flight on each connection
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    window: u16,
    /// Packets per second in total, instead of as many as possible
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Threads of the relay [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Start the relay in this program
    #[arg(long, conflicts_with = "at")]
    local: bool,
    /// Load a running relay, with this identity, whose name stands for many clients, such as *.load.test
    #[arg(long, value_name = "CLIENT.TOML", conflicts_with_all = ["scheme", "threads", "replay_window"])]
    at: Option<PathBuf>,
    /// With --local: number of packets by which one may be late, 56 or 1080, as `limits.replay_window` of a relay
    #[arg(long, value_name = "N", default_value_t = ReplayWindow::Wide, value_parser = replay_window)]
    replay_window: ReplayWindow,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

fn spec(text: &str) -> Result<Spec, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn replay_window(text: &str) -> Result<ReplayWindow, String> {
    let window = text.parse().ok().and_then(ReplayWindow::of_packets);
    let all = || ReplayWindow::ALL.iter().map(ReplayWindow::to_string).collect::<Vec<_>>().join(" or of ");
    window.ok_or_else(|| format!("a relay has a window of {} packets", all()))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("from 0.1 to 86400 seconds".into()),
    }
}

/// Measures and prints.
pub(crate) fn run(args: &LoadArgs) -> Result<Exit, CommandError> {
    if !args.local && args.at.is_none() {
        let hint = "--local starts one here, --at CLIENT.TOML names one elsewhere";
        return Err(CommandError::usage("there is no relay to load").hint(hint));
    }
    let mut workload = Workload {
        clients: args.clients,
        payload: args.payload.clone(),
        connections: args.connections.into(),
        window: args.window.into(),
        rate: args.rate.map(f64::from),
        bad_every: Workload::BAD_EVERY,
        replay_window: args.replay_window,
        seed: 1,
    };
    let time = Duration::from_secs_f64(args.seconds);
    let status = Status::new(&args.progress);
    let say = |what: &str| status.now(what.to_owned(), || json!({ "now": what }));
    let (scheme, workers, outcome) = if let Some(path) = &args.at {
        say("opening sessions");
        let identity = Identity::read(path).map_err(|error| failed(&error.into()))?;
        let (mut testbed, scheme) = remote(&identity, &mut workload).map_err(|error| failed(&error))?;
        say("measuring");
        (scheme, None, measure(&workload, &mut testbed, None, time))
    } else {
        let workers = args.threads.map_or_else(half_of_the_cores, u32::from).min(args.clients);
        if args.scheme.research_only() && !args.progress.quiet {
            eprintln!("sealwright-lab: warning: {} is for research only (docs/SESSIONS.md)", args.scheme);
        }
        say("making keys and measuring");
        (args.scheme, Some(workers), compare(args.scheme, &workload, workers, time))
    };
    let outcome = outcome.map_err(|error| failed(&error))?;
    drop(status);
    let summary = Summary { args, scheme, workers, outcome: &outcome };
    print(&if args.json { format!("{}\n", summary.json()) } else { summary.text() })?;
    let whole = outcome.lost == 0 && outcome.forged_accepted == 0;
    Ok(if whole { Exit::Done } else { Exit::Failed })
}

fn failed(error: &LoadError) -> CommandError {
    match error {
        LoadError::Client(client) => CommandError::failed(error).hints(client.hint()),
        LoadError::Io(io) if io.raw_os_error() == Some(24) => {
            CommandError::failed(error).hint("`ulimit -n` limits the number of connections; raise it")
        }
        LoadError::Closed(..) => CommandError::failed(error).hint("the relay's log says why, if it still runs"),
        LoadError::Slow(_) => CommandError::usage(error).hint("a higher --rate, or more --seconds"),
        _ => CommandError::failed(error),
    }
}

fn half_of_the_cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() as u32 / 2).max(1))
}

fn micros(outcome: &Outcome, quantile: f64) -> f64 {
    outcome.latency.value_at_quantile(quantile) as f64 / 1e3
}

/// An outcome and how to print it.
struct Summary<'a> {
    args: &'a LoadArgs,
    scheme: Spec,
    workers: Option<u32>,
    outcome: &'a Outcome,
}

impl Summary<'_> {
    fn json(&self) -> Value {
        let Summary { args, outcome, .. } = self;
        let payload = args.payload.only().map_or_else(|| json!(args.payload.to_string()), |bytes| json!(bytes));
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        let ends = |of: Interval| [rounded(of.low), rounded(of.high)];
        // A relay without cryptography is compared with itself
        let is_clear = self.scheme.kind == SchemeKind::Clear && args.local;
        let ratio = outcome.ratio_to_clear.or(is_clear.then(|| Interval::exact(1.0)));
        json!({
            "scheme": self.scheme.to_string(),
            "clients": outcome.workload.clients,
            "payload": payload,
            "connections": outcome.workload.connections,
            "window": args.window,
            "replay_window": args.local.then_some(args.replay_window.packets()),
            "frames": outcome.frames,
            "lost": outcome.lost,
            "unsent": outcome.unsent,
            "bad_sent": outcome.bad,
            "forged_accepted": outcome.forged_accepted,
            "ns_per_frame": rounded(outcome.ns_per_frame.median),
            "ns_per_frame_interval": ends(outcome.ns_per_frame),
            "wall_ns_per_frame": rounded(outcome.wall_ns_per_frame.median),
            "ratio_to_clear": ratio.map(|ratio| rounded(ratio.median)),
            "ratio_to_clear_interval": ratio.map(ends),
            "intervals_cover": outcome.ns_per_frame.covers(),
            "bytes_per_session": outcome.bytes_per_session.map(rounded),
            "p50_us": rounded(micros(outcome, 0.50)),
            "p99_us": rounded(micros(outcome, 0.99)),
        })
    }

    fn text(&self) -> String {
        let Summary { args, outcome, .. } = self;
        let mut lines = vec![
            ("scheme".to_owned(), self.scheme.to_string()),
            (
                "clients".to_owned(),
                format!("{} over {} connections", outcome.workload.clients, outcome.workload.connections),
            ),
            ("payload".to_owned(), format!("{} bytes, {} in flight on each connection", args.payload, args.window)),
            ("frames".to_owned(), format!("{}, {} lost", outcome.frames, outcome.lost)),
            ("bad frames".to_owned(), format!("{} sent, {} accepted", outcome.bad, outcome.forged_accepted)),
        ];
        if outcome.unsent > 0 {
            let late = format!("{} packets were due but not sent: the windows were full", outcome.unsent);
            lines.push(("rate not kept".to_owned(), late));
        }
        if let Some(workers) = self.workers {
            let s = if workers == 1 { "" } else { "s" };
            lines.insert(
                3,
                ("relay".to_owned(), format!("{workers} thread{s}, replay window of {} packets", args.replay_window)),
            );
            lines.push(("CPU".to_owned(), format!("{:.0} ns per frame", outcome.ns_per_frame)));
        }
        lines.push(("wall".to_owned(), format!("{:.0} ns per frame", outcome.wall_ns_per_frame)));
        if let Some(ratio) = outcome.ratio_to_clear {
            lines.push(("to clear".to_owned(), format!("{ratio:.2} times the CPU time without cryptography")));
        }
        if let Some(bytes) = outcome.bytes_per_session {
            lines.push(("memory".to_owned(), format!("{bytes:.1} bytes per session")));
        }
        let latency = format!(
            "p50 {:.0} µs, p99 {:.0} µs, p99.9 {:.0} µs",
            micros(outcome, 0.5),
            micros(outcome, 0.99),
            micros(outcome, 0.999)
        );
        lines.push(("latency".to_owned(), latency));
        if let Some(counts) = outcome.counts {
            for what in Count::dropped().filter(|&what| counts.of(what) > 0) {
                lines.push((format!("dropped, {}", what.name()), counts.of(what).to_string()));
            }
        }
        lines.iter().map(|(name, value)| format!("{name:<18} {value}\n")).collect()
    }
}
