//! Measures a scheme and the same relay without cryptography in alternating slices.

use std::{io, time::Duration};

use hdrhistogram::Histogram;
use sealwright_measure::Interval;
use sealwright_relay::{Count, Counts, Relay, client::ClientError, os_error_text};
use sealwright_session::SessionError;
use thiserror::Error;

use crate::{
    generator::{Generator, Slice},
    pace::Pace,
    workload::{MixError, Workload},
};

/// Why a workload could not be measured.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The system refused something.
    #[error("{}", os_error_text(.0))]
    Io(#[from] io::Error),
    /// The keys of all clients do not fit into memory.
    #[error("{0}")]
    Session(#[from] SessionError),
    /// The certificates are wrong, or the relay refused.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// The identity is for one client.
    #[error("{0}: a load needs a name for many clients, such as *.load.test")]
    OneClient(String),
    /// Packets of this size cannot be sent.
    #[error("{0}")]
    Mix(#[from] MixError),
    /// There are fewer clients than shards.
    #[error("the relay has {0} workers; the load needs at least one client for each")]
    TooFew(u32),
    /// The relay closed connections.
    #[error("the relay closed {0} of {1} connections")]
    Closed(usize, usize),
    /// In an open loop, no packet is due while one of the relays is measured.
    #[error("at this rate no packet is due within {0:?}, after which the relays change")]
    Slow(Duration),
    /// Some clients could not even send a packet to themselves.
    #[error("{0} of {1} clients could not exchange a packet with the relay")]
    NotBound(u64, u32),
    /// Nothing arrived.
    #[error("no packet arrived within {0:?}")]
    NoTraffic(Duration),
}

/// A relay (if it runs in this process) and its clients.
#[derive(Debug)]
pub struct Testbed {
    /// The relay, if it runs in this process.
    pub relay: Option<Relay>,
    /// The clients.
    pub generator: Generator,
    /// Memory of the relay per session in bytes ([`sealwright_relay::serve::bytes_per_session`]), if it runs in this process.
    pub bytes_per_session: f64,
}

/// The results of a measurement.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The workload that ran.
    pub workload: Workload,
    /// Packets relayed with the scheme.
    pub frames: u64,
    /// Number of packets that did not arrive.
    pub lost: u64,
    /// Number of packets that were due in an open loop but not sent, because the windows were full; they are not in
    /// `latency`.
    pub unsent: u64,
    /// Forged and replayed frames that were sent.
    pub bad: u64,
    /// Number of these that a client accepted.
    pub forged_accepted: u64,
    /// CPU time of the relay's threads per packet; wall time if the relay runs elsewhere.
    pub ns_per_frame: Interval,
    /// Wall time per packet.
    pub wall_ns_per_frame: Interval,
    /// CPU time without cryptography, if that was measured too.
    pub clear_ns_per_frame: Option<Interval>,
    /// Ratio of CPU time with the scheme to CPU time without cryptography, in pairs of consecutive slices.
    pub ratio_to_clear: Option<Interval>,
    /// Ratio of wall time with the scheme to wall time without cryptography, in the same pairs.
    pub wall_ratio_to_clear: Option<Interval>,
    /// Memory of the relay per session in bytes, if it runs in this process.
    pub bytes_per_session: Option<f64>,
    /// Latency in nanoseconds, from when a packet was due until it was received.
    pub latency: Histogram<u64>,
    /// What the relay counted during the measurement.
    pub counts: Option<Counts>,
}

/// The result of one slice: nanoseconds per packet in CPU time (wall time if the relay runs elsewhere) and in wall
/// time.
struct Figure {
    ns: f64,
    wall_ns: f64,
    slice: Slice,
}

impl Testbed {
    /// Sends a packet from every client, so that the relay learns its connection.
    ///
    /// # Errors
    /// When some clients could not exchange a packet with it.
    pub fn bind_clients(&mut self, workload: &Workload) -> Result<(), LoadError> {
        let slice = self.generator.bind_clients()?;
        self.whole()?;
        let missing = u64::from(workload.clients) - slice.frames.min(u64::from(workload.clients));
        if missing > 0 { Err(LoadError::NotBound(missing, workload.clients)) } else { Ok(()) }
    }

    /// Fails if the relay closed any connection: the rest would carry a different workload.
    fn whole(&self) -> Result<(), LoadError> {
        match self.generator.closed() {
            0 => Ok(()),
            closed => Err(LoadError::Closed(closed, self.generator.connections())),
        }
    }

    fn slice(&mut self, time: Duration) -> Result<Figure, LoadError> {
        let before = self.relay.as_ref().map(Relay::counts);
        let slice = self.generator.run(time)?;
        self.whole()?;
        if slice.frames == 0 {
            return Err(LoadError::NoTraffic(time));
        }
        let frames = slice.frames as f64;
        let wall_ns = slice.wall.as_nanos() as f64 / frames;
        let ns = match (&self.relay, before) {
            (Some(relay), Some(before)) => {
                // The relay's workers publish their CPU time at the latest after their next iteration
                std::thread::sleep(Duration::from_millis(60));
                relay.counts().since(&before).of(Count::CpuNanoseconds) as f64 / frames
            }
            _ => wall_ns,
        };
        Ok(Figure { ns, wall_ns, slice })
    }
}

/// Runs `scheme` for `time` in total, in slices that alternate with slices of `clear`.
///
/// # Errors
/// When a testbed fails as a whole; lost packets are a result, not an error.
pub fn measure(
    workload: &Workload,
    scheme: &mut Testbed,
    mut clear: Option<&mut Testbed>,
    time: Duration,
) -> Result<Outcome, LoadError> {
    let rounds = (time.as_secs_f64() / 0.5).round().clamp(6.0, 41.0);
    let slice_time = time.div_f64(rounds * if clear.is_some() { 2.0 } else { 1.0 });
    if workload.rate.is_some_and(|rate| Pace::new(rate).due(slice_time) == 0) {
        return Err(LoadError::Slow(slice_time));
    }
    scheme.bind_clients(workload)?;
    if let Some(clear) = &mut clear {
        clear.bind_clients(workload)?;
    }
    let before = scheme.relay.as_ref().map(Relay::counts);
    let mut latency = Histogram::new(3).map_err(io::Error::other)?;
    let (mut ns, mut wall_ns, mut clear_ns, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut wall_ratios = Vec::new();
    let (mut frames, mut lost, mut unsent, mut bad, mut forged_accepted) = (0, 0, 0, 0, 0);
    for round in 0..rounds as u32 {
        // The order alternates, so that drift of the machine affects both equally
        let first =
            if round % 2 == 1 { clear.as_mut().map(|clear| clear.slice(slice_time)).transpose()? } else { None };
        let figure = scheme.slice(slice_time)?;
        let beside = match (first, &mut clear) {
            (None, Some(clear)) => Some(clear.slice(slice_time)?),
            (first, _) => first,
        };
        ratios.extend(beside.as_ref().map(|beside| figure.ns / beside.ns));
        wall_ratios.extend(beside.as_ref().map(|beside| figure.wall_ns / beside.wall_ns));
        clear_ns.extend(beside.map(|beside| beside.ns));
        ns.push(figure.ns);
        wall_ns.push(figure.wall_ns);
        frames += figure.slice.frames;
        lost += figure.slice.lost;
        unsent += figure.slice.unsent;
        bad += figure.slice.bad;
        forged_accepted += figure.slice.forged_accepted;
        latency.add(&figure.slice.latency).map_err(io::Error::other)?;
    }
    let interval = |samples: &[f64]| Interval::of(samples, 1).ok_or(LoadError::NoTraffic(time));
    Ok(Outcome {
        workload: Workload { connections: scheme.generator.connections(), ..workload.clone() },
        frames,
        lost,
        unsent,
        bad,
        forged_accepted,
        ns_per_frame: interval(&ns)?,
        wall_ns_per_frame: interval(&wall_ns)?,
        clear_ns_per_frame: Interval::of(&clear_ns, 1),
        ratio_to_clear: Interval::of(&ratios, 1),
        wall_ratio_to_clear: Interval::of(&wall_ratios, 1),
        bytes_per_session: scheme.relay.is_some().then_some(scheme.bytes_per_session),
        latency,
        counts: scheme.relay.as_ref().zip(before).map(|(relay, before)| relay.counts().since(&before)),
    })
}
