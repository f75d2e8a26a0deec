//! A scheme and no cryptography at all, by turns, over relays that differ in nothing else.

use std::{io, time::Duration};

use hdrhistogram::Histogram;
use sealwright_measure::Interval;
use sealwright_session::SessionError;
use thiserror::Error;

use crate::{
    client::ClientError,
    data::{Count, Counts, Relay},
    load::{
        generator::{Generator, Slice},
        order::{MixError, Order},
    },
    sentence::plain,
};

/// Why a load was not measured.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The system refused something.
    #[error("{}", plain(.0))]
    Io(#[from] io::Error),
    /// The keys of so many clients do not fit.
    #[error("{0}")]
    Refused(#[from] SessionError),
    /// Certificates, or a relay that refuses.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// No such packets.
    #[error("{0}")]
    Mix(#[from] MixError),
    /// Fewer clients than workers.
    #[error("the relay has {0} workers: a load needs a client for each")]
    TooFew(u32),
    /// Clients that could not even send to themselves.
    #[error("{0} of {1} clients could not be introduced to the relay")]
    NotIntroduced(u64, u32),
    /// Nothing came through.
    #[error("no packet came through in {0:?}")]
    Silent(Duration),
}

/// A relay, if it is ours, and the clients at it.
#[derive(Debug)]
pub struct Rig {
    /// The relay in this process; none when it is another's.
    pub relay: Option<Relay>,
    /// The clients.
    pub generator: Generator,
    /// Bytes that the relay holds for a client, if it is ours.
    pub bytes_per_client: f64,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was asked.
    pub order: Order,
    /// Packets relayed with the scheme.
    pub frames: u64,
    /// Packets that never came.
    pub lost: u64,
    /// Forged and replayed frames put in.
    pub bad: u64,
    /// Those that a client received as good.
    pub forged_accepted: u64,
    /// CPU time of the relay's threads for a packet; wall time for one where the relay is another's.
    pub ns_per_frame: Interval,
    /// Wall time for a packet.
    pub wall_ns_per_frame: Interval,
    /// The same without cryptography, if it was measured beside.
    pub clear_ns_per_frame: Option<Interval>,
    /// That time over the time without cryptography, pairs of neighbouring slices.
    pub ratio_to_clear: Option<Interval>,
    /// Memory of the relay for a client.
    pub bytes_per_client: Option<f64>,
    /// Microseconds from when a packet was due until it was received.
    pub latency: Histogram<u64>,
    /// What the relay counted meanwhile.
    pub counts: Option<Counts>,
}

/// One slice of one rig: nanoseconds for a packet by CPU time, or wall time, and by wall time.
struct Figure {
    ns: f64,
    wall_ns: f64,
    slice: Slice,
}

impl Rig {
    /// Lets the relay know where every client is.
    ///
    /// # Errors
    /// When some could not be introduced.
    pub fn introduce(&mut self, order: &Order) -> Result<(), LoadError> {
        let slice = self.generator.introduce()?;
        let missing = u64::from(order.clients) - slice.frames.min(u64::from(order.clients));
        if missing > 0 { Err(LoadError::NotIntroduced(missing, order.clients)) } else { Ok(()) }
    }

    fn slice(&mut self, time: Duration) -> Result<Figure, LoadError> {
        let before = self.relay.as_ref().map(Relay::counts);
        let slice = self.generator.run(time)?;
        if slice.frames == 0 {
            return Err(LoadError::Silent(time));
        }
        let frames = slice.frames as f64;
        let wall_ns = slice.wall.as_nanos() as f64 / frames;
        let ns = match (&self.relay, before) {
            (Some(relay), Some(before)) => {
                // The workers publish the time they used after their next turn at the latest
                std::thread::sleep(Duration::from_millis(60));
                relay.counts().since(&before).of(Count::CpuNanoseconds) as f64 / frames
            }
            _ => wall_ns,
        };
        Ok(Figure { ns, wall_ns, slice })
    }
}

/// Runs `scheme` for `time` in all, in slices between which `clear` has its turn.
///
/// # Errors
/// When a rig fails as a whole; lost packets are a result, not an error.
pub fn measure(
    order: &Order,
    scheme: &mut Rig,
    mut clear: Option<&mut Rig>,
    time: Duration,
) -> Result<Outcome, LoadError> {
    scheme.introduce(order)?;
    if let Some(clear) = &mut clear {
        clear.introduce(order)?;
    }
    let rounds = (time.as_secs_f64() / 0.5).round().clamp(5.0, 41.0);
    let slice_time = time.div_f64(rounds * if clear.is_some() { 2.0 } else { 1.0 });
    let before = scheme.relay.as_ref().map(Relay::counts);
    let mut latency = Histogram::new(3).map_err(io::Error::other)?;
    let (mut ns, mut wall_ns, mut clear_ns, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut frames, mut lost, mut bad, mut forged_accepted) = (0, 0, 0, 0);
    for round in 0..rounds as u32 {
        // Who goes first changes, so that neither has the warmer machine
        let first =
            if round % 2 == 1 { clear.as_mut().map(|clear| clear.slice(slice_time)).transpose()? } else { None };
        let figure = scheme.slice(slice_time)?;
        let beside = match (first, &mut clear) {
            (None, Some(clear)) => Some(clear.slice(slice_time)?),
            (first, _) => first,
        };
        ratios.extend(beside.as_ref().map(|beside| figure.ns / beside.ns));
        clear_ns.extend(beside.map(|beside| beside.ns));
        ns.push(figure.ns);
        wall_ns.push(figure.wall_ns);
        frames += figure.slice.frames;
        lost += figure.slice.lost;
        bad += figure.slice.bad;
        forged_accepted += figure.slice.forged_accepted;
        latency.add(&figure.slice.latency).map_err(io::Error::other)?;
    }
    let interval = |samples: &[f64]| Interval::of(samples, 1).ok_or(LoadError::Silent(time));
    Ok(Outcome {
        order: order.clone(),
        frames,
        lost,
        bad,
        forged_accepted,
        ns_per_frame: interval(&ns)?,
        wall_ns_per_frame: interval(&wall_ns)?,
        clear_ns_per_frame: Interval::of(&clear_ns, 1),
        ratio_to_clear: Interval::of(&ratios, 1),
        bytes_per_client: scheme.relay.is_some().then_some(scheme.bytes_per_client),
        latency,
        counts: scheme.relay.as_ref().zip(before).map(|(relay, before)| relay.counts().since(&before)),
    })
}
