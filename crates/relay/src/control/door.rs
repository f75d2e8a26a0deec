//! Who may begin a handshake: so many a second, so many at once, so many from one address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// The limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// Handshakes a second; a burst of one second's worth may come at once.
    pub(crate) per_second: f64,
    /// At once.
    pub(crate) at_once: usize,
    /// At once from one address.
    pub(crate) from_one: usize,
}

/// The door. Cheap to ask: who is refused costs no cryptography.
#[derive(Debug)]
pub(crate) struct Door(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    rate: Rate,
    left: f64,
    at: Instant,
    inside: usize,
    from: HashMap<IpAddr, usize>,
}

/// One who is inside, until dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    door: Arc<Mutex<State>>,
    address: IpAddr,
}

impl Door {
    pub(crate) fn new(rate: Rate, now: Instant) -> Door {
        let state = State { rate, left: rate.per_second.max(1.0), at: now, inside: 0, from: HashMap::new() };
        Door(Arc::new(Mutex::new(state)))
    }

    /// Other limits from now on.
    pub(crate) fn set(&self, rate: Rate) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).rate = rate;
    }

    /// Lets one in, or not.
    pub(crate) fn admit(&self, address: IpAddr, now: Instant) -> Option<Guest> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(state.at).as_secs_f64();
        state.at = now;
        state.left = (state.left + since * state.rate.per_second).min(state.rate.per_second.max(1.0));
        let here = state.from.get(&address).copied().unwrap_or(0);
        if state.left < 1.0 || state.inside >= state.rate.at_once || here >= state.rate.from_one {
            return None;
        }
        state.left -= 1.0;
        state.inside += 1;
        state.from.insert(address, here + 1);
        Some(Guest { door: self.0.clone(), address })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut state = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        state.inside -= 1;
        match state.from.get_mut(&self.address) {
            Some(here) if *here > 1 => *here -= 1,
            _ => drop(state.from.remove(&self.address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, time::Duration};

    use super::*;

    fn from(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    #[test]
    fn a_second_brings_so_many_and_no_more() {
        let start = Instant::now();
        let door = Door::new(Rate { per_second: 10.0, at_once: 1000, from_one: 1000 }, start);
        let let_in = |at: Instant| (0..100).filter(|_| door.admit(from(1), at).is_some()).count();
        assert_eq!(let_in(start), 10);
        assert_eq!(let_in(start + Duration::from_millis(500)), 5);
        assert_eq!(let_in(start + Duration::from_secs(60)), 10, "a burst is one second's worth");
    }

    #[test]
    fn places_are_few_and_free_again() {
        let now = Instant::now();
        let door = Door::new(Rate { per_second: 1000.0, at_once: 3, from_one: 2 }, now);
        let inside: Vec<_> = (0..3).filter_map(|_| door.admit(from(1), now)).collect();
        assert_eq!(inside.len(), 2, "from one address");
        let other = door.admit(from(2), now);
        assert!(other.is_some() && door.admit(from(3), now).is_none(), "in all");
        drop(inside);
        assert!(door.admit(from(1), now).is_some());
    }
}
