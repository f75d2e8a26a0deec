//! The schedule of an open loop: when each packet is due.

use std::{
    io,
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

use mio::{Interest, Registry, Token, unix::SourceFd};
use nix::sys::{
    time::TimeSpec,
    timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
};

/// Packets per second, evenly spaced. The first packet is due after one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace(f64);

impl Pace {
    pub(crate) fn new(rate: f64) -> Pace {
        Pace(rate)
    }

    /// The number of packets that are due within `since` of the beginning.
    pub(crate) fn due(self, since: Duration) -> u64 {
        (since.as_secs_f64() * self.0) as u64
    }

    /// Seconds from the beginning until the packet after `sent` others is due.
    fn at(self, sent: u64) -> f64 {
        (sent + 1) as f64 / self.0
    }

    /// How many nanoseconds ago the packet after `sent` others was due; 0 if it is not due yet.
    pub(crate) fn late(self, since: Duration, sent: u64) -> u64 {
        ((since.as_secs_f64() - self.at(sent)).max(0.0) * 1e9) as u64
    }

    /// Time until the packet after `sent` others is due, at most `most`.
    pub(crate) fn wait(self, since: Duration, sent: u64, most: Duration) -> Duration {
        Duration::from_secs_f64((self.at(sent) - since.as_secs_f64()).clamp(0.0, most.as_secs_f64()))
    }
}

/// A timer that ends a poll when a packet is due. The timeout of a poll has a resolution of milliseconds and rounds
/// up.
pub(crate) struct Alarm(TimerFd);

impl Alarm {
    /// A timer that is registered with `registry` as `token`.
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Alarm> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        registry.register(&mut SourceFd(&timer.as_fd().as_raw_fd()), token, Interest::READABLE)?;
        Ok(Alarm(timer))
    }

    /// Makes the timer fire once, after `wait`.
    pub(crate) fn set(&self, wait: Duration) -> io::Result<()> {
        // A time of zero would disarm the timer
        let once = Expiration::OneShot(TimeSpec::from_duration(wait.max(Duration::from_nanos(1))));
        self.0.set(once, TimerSetTimeFlags::empty()).map_err(io::Error::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_late_from_when_it_is_due_and_no_sooner() {
        let pace = Pace::new(20.0);
        let ms = Duration::from_millis;
        assert_eq!((pace.due(ms(49)), pace.due(ms(51)), pace.due(ms(1001))), (0, 1, 20));
        for (since, sent, late) in [(51, 0, 1), (49, 0, 0), (103, 1, 3), (1051, 0, 1001)] {
            let found = pace.late(ms(since), sent).abs_diff(late * 1_000_000);
            assert!(found < 1000, "{since} ms, {sent} sent: {found} ns off");
        }
    }

    #[test]
    fn a_wait_ends_when_the_next_packet_is_due() {
        let (pace, most) = (Pace::new(100.0), Duration::from_millis(20));
        for us in (0..60_000).step_by(37) {
            let since = Duration::from_micros(us);
            let sent = pace.due(since);
            let (wait, little) = (pace.wait(since, sent, most), Duration::from_micros(1));
            assert_eq!(
                (pace.due(since + wait + little), pace.late(since + wait, sent) < 1000),
                (sent + 1, true),
                "{us} µs"
            );
        }
        assert_eq!(Pace::new(0.01).wait(Duration::ZERO, 0, most), most);
        assert_eq!(pace.wait(Duration::from_secs(1), 0, most), Duration::ZERO, "it is late already");
    }

    #[test]
    fn an_alarm_ends_a_wait_for_connections() {
        let mut poll = mio::Poll::new().expect("a poll");
        let alarm = Alarm::new(poll.registry(), Token(7)).expect("an alarm");
        let mut events = mio::Events::with_capacity(4);
        let start = std::time::Instant::now();
        for wait in [Duration::ZERO, Duration::from_micros(300), Duration::from_micros(300)] {
            alarm.set(wait).expect("set");
            poll.poll(&mut events, Some(Duration::from_secs(60))).expect("a wait");
            assert_eq!(events.iter().map(|event| event.token()).collect::<Vec<_>>(), [Token(7)]);
        }
        assert!(start.elapsed() >= Duration::from_micros(600) && start.elapsed() < Duration::from_secs(50));
    }
}
