//! Limits on TLS handshakes: how many per second and at once, in total and from one address.
//!
//! The share of an address is checked first, so that one address cannot use up what others need. A failed handshake
//! costs more of the share than a successful one, and a refused attempt costs some too. The last tenth of the total is for
//! sites (IPv4 addresses, or /48 networks of IPv6) that were not admitted lately: those that come all the time let them
//! go first, however many they are. When all places are taken, a newcomer gets the place of a connection that waits for
//! its client, to finish the handshake or to send a request, from the site that holds most of them.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::address::{share_of, site_of};

/// The cost of a failed handshake to its address, in handshakes.
const FAILURE_COST: f64 = 4.0;
/// How long a connection must have waited before it makes room for an address that holds as many places. If others had
/// to go as well, a crowd would begin handshakes all the time and finish none.
const HANDSHAKE_GRACE: Duration = Duration::from_secs(1);
/// The most addresses that are remembered. Those with a full share and no connection need not be.
const MAX_ADDRESSES: usize = 100_000;
/// For how long a site that was admitted leaves the last tenth of the total to others.
const RECENT_ADMISSION: Duration = Duration::from_secs(60);

/// The limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// Handshakes per second; one second's worth may come in one burst.
    pub(crate) per_second: f64,
    /// Handshakes a second from one address.
    pub(crate) per_second_from_one: f64,
    /// Connections at once.
    pub(crate) at_once: usize,
    /// Connections at once from one address.
    pub(crate) at_once_from_one: usize,
}

/// Decides who may begin a handshake. Refusing costs no cryptography.
#[derive(Debug)]
pub(crate) struct RateLimiter(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    rate: Rate,
    all: Bucket,
    /// Connections by the number of their permit.
    inside: BTreeMap<u64, Inside>,
    next: u64,
    by_address: HashMap<IpAddr, Share>,
    /// When each site was last admitted, if that was [lately](RECENT_ADMISSION).
    admitted: HashMap<IpAddr, Instant>,
    /// When older times were last removed from it.
    tidied: Instant,
    /// When another connection last lost its place to a site that returned.
    made_room: Option<Instant>,
}

/// A connection that holds a place.
#[derive(Debug)]
struct Inside {
    address: IpAddr,
    /// Since when it has waited for its client; `None` while a request of it is worked on.
    waits: Option<Instant>,
    /// The means to end it.
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

/// A connection's right to a place, until dropped.
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
            admitted: HashMap::new(),
            tidied: now,
            made_room: None,
        })))
    }

    /// Changes the limits.
    pub(crate) fn set(&self, rate: Rate) {
        lock(&self.0).rate = rate;
    }

    /// A permit for a connection from this address, if the limits allow one. Another connection may lose its place for
    /// it.
    pub(crate) fn admit(&self, address: IpAddr, now: Instant) -> Option<Permit> {
        let address = share_of(address);
        let mut state = lock(&self.0);
        let state = &mut *state;
        let rate = state.rate;
        state.all.refill(rate.per_second, now);
        if state.by_address.len() >= MAX_ADDRESSES && !state.by_address.contains_key(&address) {
            state
                .by_address
                .retain(|_, share| share.inside > 0 || !share.bucket.is_full(rate.per_second_from_one, now));
            if state.by_address.len() >= MAX_ADDRESSES {
                return None;
            }
        }
        let full = || Share { bucket: Bucket::full(rate.per_second_from_one, now), inside: 0 };
        let share = state.by_address.entry(address).or_insert_with(full);
        share.bucket.refill(rate.per_second_from_one, now);
        if share.bucket.tokens < 1.0 {
            return None;
        }
        // Charged even if there is no room: an address that asks all the time must not be the first whenever a place is
        // free
        share.bucket.tokens -= 1.0;
        let mut there = share.inside;
        let returns = state.was_admitted_lately(site_of(address), now);
        let most = rate.per_second.max(1.0);
        let for_others = if returns { (most / 10.0).min(most - 1.0) } else { 0.0 };
        if state.all.tokens < 1.0 + for_others {
            return None;
        }
        // Connections from its own address make room first; those from others only if its share allows one more
        while there >= rate.at_once_from_one {
            if !state.make_room_of_its_own(address, now) {
                return None;
            }
            there -= 1;
        }
        while state.inside.len() >= rate.at_once {
            if !state.make_room(address, returns, now) {
                return None;
            }
        }
        let share = state.by_address.get_mut(&address)?;
        share.inside += 1;
        state.all.tokens -= 1.0;
        if state.admitted.len() < MAX_ADDRESSES {
            state.admitted.insert(site_of(address), now);
        }
        let number = state.next;
        state.next += 1;
        state.inside.insert(number, Inside { address, waits: Some(now), stream: None });
        Some(Permit { state: self.0.clone(), address, number })
    }
}

impl State {
    fn was_admitted_lately(&mut self, site: IpAddr, now: Instant) -> bool {
        let lately = |at: &Instant, within: Duration| now.saturating_duration_since(*at) < within;
        if !lately(&self.tidied, Duration::from_secs(1)) {
            self.admitted.retain(|_, at| lately(at, RECENT_ADMISSION));
            self.tidied = now;
        }
        self.admitted.get(&site).is_some_and(|at| lately(at, RECENT_ADMISSION))
    }

    /// Ends a connection that waits, to make room for `newcomer`: of those from the site that holds most, the one that
    /// has waited for longest. A client alone at its site therefore stays, however slow it is. If the newcomer's site
    /// would then hold as many, one that has waited briefly stays too: its client may be about to answer. Sites that
    /// return (`returns`) get places that slowly only every now and then, so that some are always old enough for others.
    fn make_room(&mut self, newcomer: IpAddr, returns: bool, now: Instant) -> bool {
        let newcomer = site_of(newcomer);
        let mut held = HashMap::from([(newcomer, 1)]);
        for one in self.inside.values().filter(|one| one.waits.is_some()) {
            *held.entry(site_of(one.address)).or_insert(0) += 1;
        }
        let most = held.values().max().copied();
        let of_most = |address: IpAddr| held.get(&site_of(address)).copied() == most;
        if held.get(&newcomer).copied() != most {
            return self.end_oldest(of_most, Duration::ZERO, now);
        }
        let between = 2 * HANDSHAKE_GRACE / self.rate.at_once.max(1) as u32;
        if returns && self.made_room.is_some_and(|at| now.saturating_duration_since(at) < between) {
            return false;
        }
        let made = self.end_oldest(of_most, HANDSHAKE_GRACE, now);
        if made && returns {
            self.made_room = Some(now);
        }
        made
    }

    /// The same where the newcomer's address has all the places that it may have: only its own connections make room.
    fn make_room_of_its_own(&mut self, newcomer: IpAddr, now: Instant) -> bool {
        self.end_oldest(|address| address == newcomer, HANDSHAKE_GRACE, now)
    }

    /// Ends the connection that has waited for longest, from the addresses that `from` accepts, unless that is less
    /// than `least`.
    fn end_oldest(&mut self, from: impl Fn(IpAddr) -> bool, least: Duration, now: Instant) -> bool {
        let waiting = self.inside.iter().filter(|(_, one)| from(one.address));
        let waiting = waiting.filter_map(|(number, one)| Some((one.waits?, *number, one)));
        // Of those that began at the same time, the one that came first
        let oldest = waiting.min_by_key(|(since, number, _)| (*since, *number));
        let oldest = oldest.filter(|(since, ..)| now.saturating_duration_since(*since) >= least);
        let Some((_, number, one)) = oldest else { return false };
        if let Some(stream) = &one.stream {
            // Its thread sees the end of the stream and exits
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.leave(number)
    }

    /// Frees the place of a connection. Returns whether it had one.
    fn leave(&mut self, number: u64) -> bool {
        let Some(left) = self.inside.remove(&number) else { return false };
        if let Some(share) = self.by_address.get_mut(&left.address) {
            share.inside -= 1;
        }
        true
    }
}

impl Permit {
    /// Ties the permit to its connection, which is shut down if another one gets its place.
    pub(crate) fn is_for(&self, stream: &Arc<TcpStream>) {
        if let Some(one) = lock(&self.state).inside.get_mut(&self.number) {
            one.stream = Some(stream.clone());
        }
    }

    /// The client finished the handshake or sent a request: the connection keeps its place while that is worked on.
    /// Returns whether it still has one.
    pub(crate) fn keep(&self) -> bool {
        self.set(None)
    }

    /// The relay waits for the client's next request.
    pub(crate) fn wait(&self, now: Instant) {
        self.set(Some(now));
    }

    fn set(&self, waits: Option<Instant>) -> bool {
        let mut state = lock(&self.state);
        let one = state.inside.get_mut(&self.number);
        let has_place = one.is_some();
        one.into_iter().for_each(|one| one.waits = waits);
        has_place
    }

    /// The handshake failed: charges its address for it.
    pub(crate) fn failed(&self) {
        let mut state = lock(&self.state);
        // Charged even when the share is used up, down to this debt; otherwise an address would get more handshakes by
        // failing
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
