//! The idle connections of one worker (those that no session is bound to) by age, so that the oldest is found without a
//! search: accepting must not cost more the more connections there are.

use std::{collections::BTreeMap, net::IpAddr};

/// Idle connections by handle. Each has a number; higher ones are younger.
#[derive(Debug)]
pub(crate) struct Idle<Handle> {
    next: u64,
    all: BTreeMap<u64, Handle>,
    of: BTreeMap<(IpAddr, u64), Handle>,
}

impl<Handle> Default for Idle<Handle> {
    fn default() -> Idle<Handle> {
        Idle { next: 0, all: BTreeMap::new(), of: BTreeMap::new() }
    }
}

impl<Handle: Copy> Idle<Handle> {
    /// Adds a connection from this address, the youngest, and returns its number.
    pub(crate) fn push(&mut self, address: IpAddr, handle: Handle) -> u64 {
        let number = self.next;
        self.next += 1;
        self.all.insert(number, handle);
        self.of.insert((address, number), handle);
        number
    }

    pub(crate) fn remove(&mut self, address: IpAddr, number: u64) {
        self.all.remove(&number);
        self.of.remove(&(address, number));
    }

    pub(crate) fn oldest(&self) -> Option<Handle> {
        self.all.values().next().copied()
    }

    /// The oldest idle connection from this address.
    pub(crate) fn oldest_from(&self, address: IpAddr) -> Option<Handle> {
        self.of.range((address, 0)..=(address, u64::MAX)).next().map(|(_, handle)| *handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_of_all_and_of_its_address() {
        let mut idle = Idle::default();
        let [a, b, c] = [1, 2, 3].map(|last| IpAddr::from([127, 0, 0, last]));
        let handles = ["0", "1", "2", "3", "4", "5"];
        let numbers: Vec<u64> =
            handles.iter().zip([b, a, b, a, b, a]).map(|(one, from)| idle.push(from, *one)).collect();
        let oldest = |idle: &Idle<_>| (idle.oldest(), [a, b, c].map(|from| idle.oldest_from(from)));
        let at = |slot: usize| Some(handles[slot]);
        assert_eq!(oldest(&idle), (at(0), [at(1), at(0), None]));
        idle.remove(b, numbers[0]);
        idle.remove(a, numbers[3]);
        assert_eq!(oldest(&idle), (at(1), [at(1), at(2), None]));
        // It was bound to a session for a while
        idle.remove(a, numbers[1]);
        idle.push(a, handles[1]);
        assert_eq!(oldest(&idle), (at(2), [at(5), at(2), None]));
        idle.remove(b, numbers[2]);
        idle.remove(b, numbers[4]);
        assert_eq!(oldest(&idle), (at(5), [at(5), None, None]));
        idle.remove(a, numbers[5]);
        assert_eq!(oldest(&idle), (at(1), [at(1), None, None]));
    }
}
