//! Limits on what one address and one session may take of a relay.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::address::share_of;

/// The number of connections of each address.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<HashMap<IpAddr, usize>>);

/// One connection's place in the share of its address; released on drop.
#[derive(Debug)]
pub(crate) struct Place {
    addresses: Arc<Addresses>,
    pub(crate) address: IpAddr,
}

impl Addresses {
    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for one more connection. Also returns how many connections the address now has.
    pub(crate) fn place(self: &Arc<Self>, address: IpAddr) -> (Place, usize) {
        let address = share_of(address);
        let mut counts = self.counts();
        let count = counts.entry(address).or_default();
        *count += 1;
        (Place { addresses: self.clone(), address }, *count)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.addresses.counts();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// A rate limit on the frames of each session; one second's worth may come in one burst.
#[derive(Debug)]
pub(crate) struct FrameShares {
    start: Instant,
    /// Nanoseconds per frame.
    each: u64,
    /// By slot: the time until which the session has used its share, in nanoseconds since the start (GCRA).
    used: Vec<u64>,
}

impl FrameShares {
    /// Limits for so many sessions; `None` if there is no limit.
    pub(crate) fn new(per_second: u32, sessions: usize, now: Instant) -> Option<FrameShares> {
        (per_second > 0).then(|| FrameShares {
            start: now,
            each: 1_000_000_000 / u64::from(per_second),
            used: vec![0; sessions],
        })
    }

    /// Whether a session may send one more frame now; if so, takes it from its share.
    pub(crate) fn take(&mut self, slot: u32, now: Instant) -> bool {
        let Some(used) = self.used.get_mut(slot as usize) else { return false };
        let now = now.saturating_duration_since(self.start).as_nanos() as u64;
        let begin = (*used).max(now);
        let there = begin - now < Duration::from_secs(1).as_nanos() as u64;
        if there {
            *used = begin + self.each;
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_sends_what_its_share_allows_and_the_others_do_not_notice() {
        let start = Instant::now();
        let mut shares = FrameShares::new(100, 2, start).expect("a limit");
        let mut sent = |slot, at: Duration| (0..1000).filter(|_| shares.take(slot, start + at)).count();
        assert_eq!(sent(0, Duration::ZERO), 100);
        assert_eq!(sent(0, Duration::from_millis(500)), 50);
        assert_eq!(sent(1, Duration::from_millis(500)), 100);
        assert_eq!(sent(0, Duration::from_secs(60)), 100, "at most one second's worth");
        assert_eq!(sent(2, Duration::from_secs(60)), 0, "no such session");
        assert!(FrameShares::new(0, 2, start).is_none());
    }

    #[test]
    fn places_are_counted_by_address_and_given_back() {
        let addresses = Arc::<Addresses>::default();
        let [a, b] = [[127, 0, 0, 1], [127, 0, 0, 2]].map(IpAddr::from);
        let (first, count) = addresses.place(a);
        let (second, more) = addresses.place(a);
        assert_eq!((count, more, addresses.place(b).1), (1, 2, 1));
        drop((first, second));
        assert!(addresses.counts().is_empty());
    }
}
