//! Measures one point of a curve: a scheme with a number of clients and a packet size.

use std::time::Duration;

use sealwright_session::{ReplayWindow, SchemeKind, Spec};

use crate::{
    link::Link,
    local::started,
    measure::{LoadError, Outcome, measure},
    workload::{Mix, Workload},
};

/// No cryptography at all.
const CLEAR: Spec = Spec { kind: SchemeKind::Clear, long: false };

/// Measures one point of a figure: `clients` sessions of a scheme over `connections` loopback connections, packets of
/// `payload` bytes (destination included) from each to random ones, for `seconds` in all. Studies call this function;
/// `sealwright-lab load --local` prints the same.
///
/// Relay and generator run in this process, the relay in one thread of its own. It alternates with a second relay
/// without cryptography that has as many clients, so that [`Outcome::ratio_to_clear`] and
/// [`Outcome::clear_ns_per_frame`] refer to the same state of the machine. One forged frame and one replay are sent in
/// every 1024 packets, at most 49 of each on a connection; [`Outcome::forged_accepted`] counts those that a client
/// accepted. `window` packets are in flight on each connection: 1 is the paper's closed loop, 32 lets the relay batch
/// its work as it does under load.
///
/// # Errors
/// When memory, threads or connections run out, or a payload is below [`Mix::MIN_BYTES`]. Lost packets are a result.
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
    let workload = workload(clients, payload, connections, window)?;
    compare(spec, &workload, 1, Duration::from_secs_f64(seconds))
}

/// The same over a link, called on the thread that [`over_link`](crate::over_link) gives.
///
/// # Errors
/// As [`point`].
pub fn point_over(
    link: &Link,
    spec: Spec,
    clients: u32,
    payload: usize,
    connections: usize,
    window: usize,
    seconds: f64,
) -> Result<Outcome, LoadError> {
    let workload = workload(clients, payload, connections, window)?;
    beside_clear(spec, &workload, 1, Duration::from_secs_f64(seconds), Some(link))
}

pub(crate) fn workload(clients: u32, payload: usize, connections: usize, window: usize) -> Result<Workload, LoadError> {
    let (payload, bad_every) = (Mix::of(payload)?, Workload::BAD_EVERY);
    Ok(Workload {
        clients,
        payload,
        connections,
        window,
        rate: None,
        bad_every,
        replay_window: ReplayWindow::Narrow,
        seed: 1,
    })
}

/// Runs a workload against a relay of `workers` threads in this process, alternating with one without cryptography.
///
/// # Errors
/// As [`point`].
pub fn compare(spec: Spec, workload: &Workload, workers: u32, time: Duration) -> Result<Outcome, LoadError> {
    beside_clear(spec, workload, workers, time, None)
}

fn beside_clear(
    spec: Spec,
    workload: &Workload,
    workers: u32,
    time: Duration,
    link: Option<&Link>,
) -> Result<Outcome, LoadError> {
    let is_clear = spec == CLEAR;
    // A relay without cryptography would accept every forgery
    let plain = Workload { bad_every: 0, ..workload.clone() };
    let workload = if is_clear { &plain } else { workload };
    let mut scheme = started(spec, workload, workers, link)?;
    let mut clear = if is_clear { None } else { Some(started(CLEAR, &plain, workers, link)?) };
    measure(workload, &mut scheme, clear.as_mut(), time)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::over_link;

    #[test]
    fn a_link_of_ten_megabits_carries_no_more() {
        let spec = "gcm-on64".parse().unwrap();
        let ran = over_link(10, |link| point_over(link, spec, 40, 1000, 4, 4, 0.6).unwrap());
        match ran {
            Ok(outcome) => {
                let megabits = 1000.0 * 8.0 / outcome.wall_ns_per_frame.median * 1e3;
                assert!((0.05..12.0).contains(&megabits), "{megabits} Mbit/s");
                assert_eq!((outcome.lost, outcome.forged_accepted), (0, 0));
                let free = point(spec, 40, 1000, 4, 4, 0.3).unwrap().wall_ns_per_frame.median;
                assert!(free < outcome.wall_ns_per_frame.median, "the thread of the test is outside: {free}");
            }
            Err(why) => sealwright_transcripts::skipped(format_args!("{why}; {}", why.hint())),
        }
    }
}
