//! One measured point of a curve.

use std::time::Duration;

use sealwright_session::{SchemeKind, Spec};

use crate::{
    local::local,
    measure::{LoadError, Outcome, measure},
    workload::{Mix, Workload},
};

/// No cryptography at all.
const CLEAR: Spec = Spec { kind: SchemeKind::Clear, long: false };

/// Measures one point of a figure: `clients` sessions of a scheme over `connections` loopback connections, packets of
/// `payload` bytes (destination included) from each to random ones, for `seconds` in all. Studies call this function;
/// `sealwright-lab load --local` prints the same.
///
/// Relay and generator run in this process, the relay in one thread of its own. A second relay without cryptography,
/// with as many clients, alternates with it, so that [`Outcome::ratio_to_clear`] and [`Outcome::clear_ns_per_frame`]
/// saw the same machine. One forged frame and one replay are sent in every 1024 packets; [`Outcome::forged_accepted`]
/// counts those that a client accepted. `window` packets are in flight on each connection: 1 is the paper's closed loop,
/// 32 lets the relay batch its work as it does under load.
///
/// # Errors
/// When memory, threads or connections run out, or a payload is below [`Mix::LEAST`]. Lost packets are a result.
///
/// ```no_run
/// let outcome = sealwright_load::point("gcm-on64".parse()?, 100_000, 40, 50, 32, 5.0)?;
/// println!("{:.0} ns a frame, {:?} to clear", outcome.ns_per_frame, outcome.ratio_to_clear);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn point(
    spec: Spec,
    clients: u32,
    payload: usize,
    connections: usize,
    window: usize,
    seconds: f64,
) -> Result<Outcome, LoadError> {
    let workload = Workload {
        clients,
        payload: Mix::of(payload)?,
        connections,
        window,
        rate: None,
        bad_every: Workload::BAD_EVERY,
        seed: 1,
    };
    compare(spec, &workload, 1, Duration::from_secs_f64(seconds))
}

/// Runs a workload against a relay of `workers` threads in this process, beside one without cryptography.
///
/// # Errors
/// As [`point`].
pub fn compare(spec: Spec, workload: &Workload, workers: u32, time: Duration) -> Result<Outcome, LoadError> {
    let is_clear = spec == CLEAR;
    // Without cryptography every forgery would be accepted
    let plain = Workload { bad_every: 0, ..workload.clone() };
    let workload = if is_clear { &plain } else { workload };
    let mut scheme = local(spec, workload, workers)?;
    let mut clear = if is_clear { None } else { Some(local(CLEAR, &plain, workers)?) };
    measure(workload, &mut scheme, clear.as_mut(), time)
}
