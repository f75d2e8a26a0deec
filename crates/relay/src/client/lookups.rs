//! When a client looks its peer up. Each look-up costs the relay a handshake, which clients need to return after a
//! restart, so look-ups back off while the peer is absent. That loses little: a peer that comes back looks us up and
//! sends frames, which trigger a look-up.

use std::{
    io,
    time::{Duration, Instant},
};

use crate::client::backoff::{grown, less, random};

/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The schedule of look-ups of one peer.
#[derive(Debug)]
pub(super) struct Lookups {
    last: Instant,
    /// How many look-ups found nothing: made because the peer was silent, and because others sent something.
    silent: u32,
    strangers: u32,
    /// Whether others have sent something since the last look-up.
    others_sent: bool,
    random: u32,
}

impl Lookups {
    /// The schedule after a look-up at this time.
    pub(super) fn new(at: Instant) -> io::Result<Lookups> {
        Ok(Lookups { last: at, silent: 0, strangers: 0, others_sent: false, random: random()? })
    }

    /// Whether to look the peer up now; if so, the look-up counts as made. It is due when the peer is `missing` (or
    /// silent), or when `strangers` sent something, one of whom may be the peer. The first wait is `soon`.
    pub(super) fn is_due(&mut self, missing: bool, strangers: bool, soon: Duration, now: Instant) -> io::Result<bool> {
        self.others_sent |= strangers;
        let over =
            |times| now.saturating_duration_since(self.last) >= less(grown(soon, LONGEST_WAIT, times), self.random);
        let (for_silence, for_strangers) = (missing && over(self.silent), self.others_sent && over(self.strangers));
        if !for_silence && !for_strangers {
            return Ok(false);
        }
        self.strangers += u32::from(self.others_sent);
        self.silent += u32::from(missing);
        (self.last, self.others_sent, self.random) = (now, false, random()?);
        Ok(true)
    }

    /// The peer was found or heard.
    pub(super) fn found(&mut self) {
        (self.silent, self.strangers) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(2);

    /// The number of look-ups in so many seconds, given what happens in each second.
    fn count(seconds: u64, mut what: impl FnMut(u64) -> (bool, bool)) -> usize {
        let start = Instant::now();
        let mut lookups = Lookups::new(start).expect("the system is random");
        let mut due = |at| {
            let (missing, strangers) = what(at);
            lookups.is_due(missing, strangers, SOON, start + Duration::from_secs(at)).expect("random")
        };
        (1..=seconds).filter(|at| due(*at)).count()
    }

    #[test]
    fn who_waits_for_a_peer_that_does_not_come_asks_less_and_less() {
        for _ in 0..20 {
            let minute = count(60, |_| (true, false));
            assert!((3..=7).contains(&minute), "{minute} in a minute");
            let hour = count(3600, |_| (true, false));
            assert!((100..260).contains(&hour), "{hour} in an hour");
            // Strangers who send all the time cause no more look-ups
            assert!(count(60, |_| (false, true)) <= 7 && count(60, |_| (true, true)) <= 7);
            assert_eq!(count(60, |_| (false, false)), 0);
        }
    }

    #[test]
    fn a_peer_that_comes_late_is_noticed_at_once() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut lookups = Lookups::new(start).expect("the system is random");
        let mut last = 0;
        for second in 1..=50 {
            if lookups.is_due(true, false, SOON, at(second)).expect("random") {
                last = second;
            }
        }
        // The peer was looked up recently; what it sends then still triggers a look-up
        assert!(lookups.is_due(true, true, SOON, at(last + 2)).expect("random"));
        lookups.found();
        assert!(lookups.is_due(true, false, SOON, at(last + 4)).expect("random"), "from the beginning");
    }
}
