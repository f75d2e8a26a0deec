//! Which refused requests are logged: a few per second, so that other events find room in the log. The rest is counted.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::address::share_of;

/// The most lines per second about requests from one address, and from all.
const LINES_PER_SECOND_FROM_ONE: u32 = 8;
pub(super) const LINES_PER_SECOND: usize = 64;
const SECOND: Duration = Duration::from_secs(1);

/// Refusals logged in the current second.
#[derive(Debug, Default)]
pub(super) struct DenialLog(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    /// When the current second began.
    since: Option<Instant>,
    /// Lines logged in it, by address.
    from: HashMap<IpAddr, u32>,
    lines: usize,
    left_out: u64,
}

impl DenialLog {
    /// Whether a refusal of a request from this address is logged.
    pub(super) fn take(&self, from: IpAddr, now: Instant) -> bool {
        let recent = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.since.is_none_or(|since| now.saturating_duration_since(since) >= SECOND) {
            recent.since = Some(now);
            recent.from.clear();
            recent.lines = 0;
        }
        // Once all lines of a second are used, no more addresses are stored
        if recent.lines < LINES_PER_SECOND {
            let lines = recent.from.entry(share_of(from)).or_default();
            if *lines < LINES_PER_SECOND_FROM_ONE {
                *lines += 1;
                recent.lines += 1;
                return true;
            }
        }
        recent.left_out += 1;
        false
    }

    /// Returns, and resets, the number of refusals that were not logged.
    pub(super) fn left_out(&self) -> u64 {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_a_few_lines_a_second_and_the_rest_is_counted() {
        let (log, start) = (DenialLog::default(), Instant::now());
        let [one, other] = [[127, 0, 0, 1], [127, 0, 0, 2]].map(IpAddr::from);
        let lines = |from, at| (0..1000).filter(|_| log.take(from, start + at)).count();
        assert_eq!([lines(one, Duration::ZERO), lines(other, Duration::ZERO)], [8, 8]);
        assert_eq!((log.left_out(), log.left_out()), (1984, 0));
        assert_eq!((lines(one, SECOND / 2), lines(one, SECOND)), (0, 8));
        let many = (0..200).filter(|at| log.take([10, 0, 0, *at].into(), start + 2 * SECOND)).count();
        assert_eq!(many, LINES_PER_SECOND, "from all addresses");
    }
}
