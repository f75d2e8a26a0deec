//! Who may begin a handshake: so many a second and so many at once, in all and from one address.
//!
//! The share of an address is checked first, so that one address never uses up what others need. Handshakes that fail
//! cost more of the share than those that succeed, and attempts that are refused cost some of it too. When all places are
//! taken, a newcomer gets one of those that have no finished handshake, from the address that holds most of them.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::address::share_of;

/// What a failed handshake costs of its address's share, in handshakes.
const FAILURE_COST: f64 = 4.0;
/// Who has been without a finished handshake for so long makes room for others who hold as many places when there is
/// none. If those who are younger did too, handshakes of a crowd would be begun all the time, and none be finished.
const GRACE: Duration = Duration::from_secs(1);
/// Addresses that are remembered at once. Those with a full share need not be.
const ADDRESSES: usize = 100_000;

/// The limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// Handshakes a second; as many as a second allows may come at once.
    pub(crate) per_second: f64,
    /// Handshakes a second from one address.
    pub(crate) per_second_from_one: f64,
    /// Connections at once.
    pub(crate) at_once: usize,
    /// Connections at once from one address.
    pub(crate) at_once_from_one: usize,
}

/// Decides who may begin a handshake. A refusal costs no cryptography.
#[derive(Debug)]
pub(crate) struct RateLimiter(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    rate: Rate,
    all: Bucket,
    /// Connections by the number of their permit: the oldest first.
    inside: BTreeMap<u64, Inside>,
    next: u64,
    by_address: HashMap<IpAddr, Share>,
}

/// A connection that has a place.
#[derive(Debug)]
struct Inside {
    address: IpAddr,
    since: Instant,
    /// Its handshake has not ended yet.
    is_new: bool,
    /// What ends it, until its handshake has ended.
    stream: Option<Arc<TcpStream>>,
}

/// The share of one address.
#[derive(Debug)]
struct Share {
    bucket: Bucket,
    inside: usize,
}

/// A token bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn full(per_second: f64, now: Instant) -> Bucket {
        Bucket { tokens: per_second.max(1.0), at: now }
    }

    fn refill(&mut self, per_second: f64, now: Instant) {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = now;
        self.tokens = (self.tokens + since * per_second).min(per_second.max(1.0));
    }

    fn is_full(&self, per_second: f64, now: Instant) -> bool {
        let mut copy = *self;
        copy.refill(per_second, now);
        copy.tokens >= per_second.max(1.0)
    }
}

/// The right to one connection, until dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    state: Arc<Mutex<State>>,
    address: IpAddr,
    number: u64,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RateLimiter {
    pub(crate) fn new(rate: Rate, now: Instant) -> RateLimiter {
        let all = Bucket::full(rate.per_second, now);
        RateLimiter(Arc::new(Mutex::new(State {
            rate,
            all,
            inside: BTreeMap::new(),
            next: 0,
            by_address: HashMap::new(),
        })))
    }

    /// Other limits from now on.
    pub(crate) fn set(&self, rate: Rate) {
        lock(&self.0).rate = rate;
    }

    /// A permit for a connection from this address, if the limits allow one. For it another one may lose its place.
    pub(crate) fn admit(&self, address: IpAddr, now: Instant) -> Option<Permit> {
        let address = share_of(address);
        let mut state = lock(&self.0);
        let state = &mut *state;
        let rate = state.rate;
        state.all.refill(rate.per_second, now);
        if state.by_address.len() >= ADDRESSES && !state.by_address.contains_key(&address) {
            state
                .by_address
                .retain(|_, share| share.inside > 0 || !share.bucket.is_full(rate.per_second_from_one, now));
            if state.by_address.len() >= ADDRESSES {
                return None;
            }
        }
        let full = || Share { bucket: Bucket::full(rate.per_second_from_one, now), inside: 0 };
        let share = state.by_address.entry(address).or_insert_with(full);
        share.bucket.refill(rate.per_second_from_one, now);
        if share.bucket.tokens < 1.0 {
            return None;
        }
        // Whether there is room or not: who asks all the time must not be there first whenever there is some
        share.bucket.tokens -= 1.0;
        if state.all.tokens < 1.0 {
            return None;
        }
        // Its own connections make room for it first, and those of others only where it has a share left
        let mut there = share.inside;
        while there >= rate.at_once_from_one {
            if !state.make_room_of_its_own(address, now) {
                return None;
            }
            there -= 1;
        }
        while state.inside.len() >= rate.at_once {
            if !state.make_room(address, now) {
                return None;
            }
        }
        let share = state.by_address.get_mut(&address)?;
        share.inside += 1;
        state.all.tokens -= 1.0;
        let number = state.next;
        state.next += 1;
        state.inside.insert(number, Inside { address, since: now, is_new: true, stream: None });
        Some(Permit { state: self.0.clone(), address, number })
    }
}

impl State {
    /// Ends a connection without a finished handshake, for one from `newcomer`: the oldest of the address that holds
    /// most of them, so that one that is alone at its address stays, however slow it is. Where the newcomer's address
    /// would hold no fewer then, a young one stays too: its client may be about to answer.
    fn make_room(&mut self, newcomer: IpAddr, now: Instant) -> bool {
        let mut held = HashMap::from([(newcomer, 1)]);
        for one in self.inside.values().filter(|one| one.is_new) {
            *held.entry(one.address).or_insert(0) += 1;
        }
        let most = held.values().max().copied();
        let of_most = |address: &IpAddr| held.get(address).copied() == most;
        let least = if of_most(&newcomer) { GRACE } else { Duration::ZERO };
        self.end_oldest(of_most, least, now)
    }

    /// The same where the newcomer's address has all the places that it may have.
    fn make_room_of_its_own(&mut self, newcomer: IpAddr, now: Instant) -> bool {
        self.end_oldest(|address| *address == newcomer, GRACE, now)
    }

    /// Ends the connection that has been without a finished handshake for longest, of those from such addresses, unless
    /// it is younger than `least`.
    fn end_oldest(&mut self, from: impl Fn(&IpAddr) -> bool, least: Duration, now: Instant) -> bool {
        let oldest = self.inside.iter().find(|(_, one)| one.is_new && from(&one.address));
        let oldest = oldest.filter(|(_, one)| now.saturating_duration_since(one.since) >= least);
        let Some((&number, one)) = oldest else { return false };
        if let Some(stream) = &one.stream {
            // Its thread reads that it has ended, if it has not yet
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.leave(number)
    }

    /// Takes the place of a connection away. Whether it had one.
    fn leave(&mut self, number: u64) -> bool {
        let Some(left) = self.inside.remove(&number) else { return false };
        if let Some(share) = self.by_address.get_mut(&left.address) {
            share.inside -= 1;
        }
        true
    }
}

impl Permit {
    /// It is for this connection, which ends if another one gets its place.
    pub(crate) fn is_for(&self, stream: &Arc<TcpStream>) {
        if let Some(one) = lock(&self.state).inside.get_mut(&self.number) {
            one.stream = Some(stream.clone());
        }
    }

    /// The handshake is done: from now on it keeps its place. Whether it still has it.
    pub(crate) fn shaken(&self) -> bool {
        let mut state = lock(&self.state);
        let one = state.inside.get_mut(&self.number);
        let has_place = one.is_some();
        one.into_iter().for_each(|one| (one.is_new, one.stream) = (false, None));
        has_place
    }

    /// The handshake failed.
    pub(crate) fn failed(&self) {
        let mut state = lock(&self.state);
        // Failures of one who has nothing left cost as much, or an address would have more of the handshakes by failing
        let most = state.rate.per_second_from_one.max(1.0);
        if let Some(share) = state.by_address.get_mut(&self.address) {
            share.bucket.tokens = (share.bucket.tokens + 1.0 - FAILURE_COST).max(-most);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.state).leave(self.number);
    }
}

#[cfg(test)]
#[path = "rate_limiter_tests.rs"]
mod tests;
