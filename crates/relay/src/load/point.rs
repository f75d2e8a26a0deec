//! One measured point, for whoever draws a curve.

use std::time::Duration;

use sealwright_session::{SchemeKind, Spec};

use crate::load::{
    local::local,
    order::{Mix, Order},
    run::{LoadError, Outcome, measure},
};

/// No cryptography at all.
const CLEAR: Spec = Spec { kind: SchemeKind::Clear, long: false };

/// Measures one point of a figure: `clients` sessions of a scheme over `connections` loopback connections, packets of
/// `payload` bytes (destination included) from each to random ones, for `seconds` in all. This is the plain function
/// that studies and figures call; `sealwright-lab load --local` prints the same.
///
/// Relay and generator run in this process, the relay in one thread of its own. A second relay without cryptography,
/// with as many clients, takes turns with it, so that [`Outcome::ratio_to_clear`] and [`Outcome::clear_ns_per_frame`]
/// saw the same machine. In every 1024 packets a forged frame and a replay are put in; [`Outcome::forged_accepted`] says
/// how many came through. `window` packets are under way on each connection: 1 is the paper's closed loop, 32 lets the
/// relay work as it does under load.
///
/// # Errors
/// When memory, threads or connections run out, or a payload is below [`Mix::LEAST`]. Lost packets are a result.
///
/// ```no_run
/// let outcome = sealwright_relay::load::point("gcm-on64".parse()?, 100_000, 40, 50, 32, 5.0)?;
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
    let order = Order {
        clients,
        payload: Mix::of(payload)?,
        connections,
        window,
        rate: None,
        bad_every: Order::BAD_EVERY,
        seed: 1,
    };
    compare(spec, &order, 1, Duration::from_secs_f64(seconds))
}

/// Runs an order against a relay of `workers` threads in this process, beside one without cryptography.
///
/// # Errors
/// As [`point`].
pub fn compare(spec: Spec, order: &Order, workers: u32, time: Duration) -> Result<Outcome, LoadError> {
    let is_clear = spec == CLEAR;
    // Without cryptography every forgery would be accepted
    let plain = Order { bad_every: 0, ..order.clone() };
    let order = if is_clear { &plain } else { order };
    let mut scheme = local(spec, order, workers)?;
    let mut beside = if is_clear { None } else { Some(local(CLEAR, &plain, workers)?) };
    measure(order, &mut scheme, beside.as_mut(), time)
}
