//! Who may begin a handshake: so many a second and so many at once, in all and from one address.
//!
//! The share of an address is checked first, so that one address never uses up what others need. Handshakes that fail
//! cost more of the share than those that succeed. When all places are taken, a newcomer gets that of who has been
//! longest without a finished handshake.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::address::share_of;

/// What a failed handshake costs of its address's share, in handshakes.
const FAILURE_COST: f64 = 4.0;
/// Who has been without a finished handshake for so long makes room for others when there is none.
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
        if share.bucket.tokens < 1.0 || state.all.tokens < 1.0 {
            return None;
        }
        // Its own connections make room for it first, and those of others only where it has a share left
        let mut there = share.inside;
        while there >= rate.at_once_from_one {
            if !state.make_room(Some(address), now) {
                return None;
            }
            there -= 1;
        }
        while state.inside.len() >= rate.at_once {
            if !state.make_room(None, now) {
                return None;
            }
        }
        let share = state.by_address.get_mut(&address)?;
        share.bucket.tokens -= 1.0;
        share.inside += 1;
        state.all.tokens -= 1.0;
        let number = state.next;
        state.next += 1;
        state.inside.insert(number, Inside { address, since: now, is_new: true, stream: None });
        Some(Permit { state: self.0.clone(), address, number })
    }
}

impl State {
    /// Ends the connection that has been without a finished handshake for longest, with `from` of those from that
    /// address, unless it is young: its client may be about to answer.
    fn make_room(&mut self, from: Option<IpAddr>, now: Instant) -> bool {
        let mut new = self.inside.iter().filter(|(_, one)| one.is_new && from.is_none_or(|from| one.address == from));
        let oldest = new.next().filter(|(_, one)| now.saturating_duration_since(one.since) >= GRACE);
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
        if let Some(share) = lock(&self.state).by_address.get_mut(&self.address) {
            share.bucket.tokens = (share.bucket.tokens + 1.0 - FAILURE_COST).max(0.0);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.state).leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::net::Ipv4Addr;

    use super::*;

    impl Permit {
        fn has_place(&self) -> bool {
            lock(&self.state).inside.contains_key(&self.number)
        }
    }

    fn from(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn rate(per_second: f64, at_once: usize, at_once_from_one: usize) -> Rate {
        Rate { per_second, per_second_from_one: per_second, at_once, at_once_from_one }
    }

    #[test]
    fn a_second_brings_so_many_and_no_more() {
        let start = Instant::now();
        let limiter = RateLimiter::new(rate(10.0, 1000, 1000), start);
        let admitted = |at: Instant| (0..100).filter(|_| limiter.admit(from(1), at).is_some()).count();
        assert_eq!(admitted(start), 10);
        assert_eq!(admitted(start + Duration::from_millis(500)), 5);
        assert_eq!(admitted(start + Duration::from_secs(60)), 10, "at most one second's worth at once");
        let later = start + Duration::from_secs(120);
        let from_all = (0..100).filter(|&last| limiter.admit(from(last), later).is_some()).count();
        assert_eq!(from_all, 10, "from all addresses together");
    }

    #[test]
    fn permits_are_limited_and_returned() {
        let now = Instant::now();
        let limiter = RateLimiter::new(rate(1000.0, 3, 2), now);
        let inside: Vec<_> = (0..3).filter_map(|_| limiter.admit(from(1), now)).collect();
        assert_eq!(inside.len(), 2, "from one address");
        let other = limiter.admit(from(2), now);
        assert!(other.is_some() && limiter.admit(from(3), now).is_none(), "in all");
        drop(inside);
        assert!(limiter.admit(from(1), now).is_some());
    }

    #[test]
    fn one_address_cannot_lock_out_the_others() {
        let start = Instant::now();
        let limits = Rate { per_second: 100.0, per_second_from_one: 25.0, at_once: 64, at_once_from_one: 16 };
        let limiter = RateLimiter::new(limits, start);
        let mut honest = 0;
        // The flood of the review: 448 connections a second from one stranger, beside 20 honest ones
        for step in 0..448 * 5u32 {
            let now = start + Duration::from_secs_f64(f64::from(step) / 448.0);
            limiter.admit(from(66), now);
            if step % 112 == 0 {
                honest += u32::from(limiter.admit(from(1), now).is_some());
            }
        }
        assert_eq!(honest, 20);
    }

    #[test]
    fn failed_handshakes_cost_more_and_a_network_of_ipv6_shares_one_limit() {
        let now = Instant::now();
        let limiter = RateLimiter::new(Rate { per_second: 100.0, ..rate(8.0, 100, 100) }, now);
        for _ in 0..2 {
            limiter.admit(from(1), now).expect("within the share").failed();
        }
        assert!(limiter.admit(from(1), now).is_none());
        limiter.admit(from(2), now).expect("within the share").failed();
        let left = (0..9).filter(|_| limiter.admit(from(2), now).is_some()).count();
        assert_eq!(left, 4, "of eight; the one that failed cost four");
        let limiter = RateLimiter::new(Rate { per_second: 100.0, per_second_from_one: 1.0, ..rate(1.0, 9, 9) }, now);
        let at = |text: &str| text.parse().expect("an address");
        assert!(limiter.admit(at("2001:db8::1"), now).is_some() && limiter.admit(at("2001:db8::2"), now).is_none());
        assert!(limiter.admit(at("2001:db8:0:1::1"), now).is_some());
        assert!(limiter.admit(at("192.0.2.1"), now).is_some() && limiter.admit(at("::ffff:192.0.2.1"), now).is_none());
    }

    /// Whoever holds places without a credential keeps nobody out, from its own address or others.
    #[test]
    fn a_newcomer_gets_the_place_of_who_has_been_longest_without_a_handshake() {
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let limits = Rate { per_second: 1e6, per_second_from_one: 1e6, at_once: 4, at_once_from_one: 2 };
        let limiter = RateLimiter::new(limits, start);
        let admit = |last: u8, milliseconds| limiter.admit(from(last), after(milliseconds));
        let known = admit(1, 0).unwrap();
        assert!(known.shaken());
        let [first, second, third] = [(2, 10), (3, 20), (2, 30)].map(|(last, at)| admit(last, at).unwrap());
        assert!(admit(4, 1009).is_none(), "the oldest one is young");
        let fourth = admit(4, 1010).unwrap();
        assert_eq!([&known, &first, &second, &third, &fourth].map(Permit::has_place), [true, false, true, true, true]);
        // A place that was lost is not given back once more
        drop(first);
        assert!(admit(5, 1015).is_none());
        // Who uses up its own share makes room for itself
        let fifth = admit(2, 1025).unwrap();
        assert_eq!(
            [&second, &third, &fifth].map(Permit::has_place),
            [false, true, true],
            "one in all, as it had but one"
        );
        let sixth = admit(2, 1030).unwrap();
        assert_eq!([&third, &sixth].map(Permit::has_place), [false, true], "its own, as it had two");
        assert!(admit(2, 1100).is_none() && !third.shaken(), "too late");
        // Whose handshake is done stays
        assert!([&fourth, &fifth, &sixth].into_iter().all(Permit::shaken) && admit(5, 100_000).is_none());
    }

    /// The connection of who loses its place ends.
    #[test]
    fn who_makes_room_is_sent_away() {
        use std::{io::Read, net::TcpListener};
        let now = Instant::now();
        let limiter = RateLimiter::new(rate(1e6, 1, 1), now);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let accepted = Arc::new(accepted);
        let permit = limiter.admit(from(1), now).unwrap();
        permit.is_for(&accepted);
        let next = limiter.admit(from(2), now + GRACE).unwrap();
        assert_eq!((&*accepted).read(&mut [0]).unwrap(), 0, "its thread ends");
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        assert!(next.has_place() && !permit.has_place());
    }

    #[test]
    fn other_limits_hold_from_now_on() {
        let now = Instant::now();
        let limiter = RateLimiter::new(rate(100.0, 9, 9), now);
        let inside: Vec<_> = (0..3).filter_map(|_| limiter.admit(from(1), now)).collect();
        limiter.set(rate(100.0, 4, 4));
        let more: Vec<_> = (0..3).filter_map(|_| limiter.admit(from(1), now)).collect();
        assert_eq!((inside.len(), more.len()), (3, 1));
    }

    /// Addresses whose share is full again are forgotten when there are too many, unless they have a connection.
    #[test]
    fn so_many_addresses_are_remembered_and_no_more() {
        let start = Instant::now();
        let limits = Rate { per_second: 1e9, per_second_from_one: 2.0, at_once: 10, at_once_from_one: 1 };
        let limiter = RateLimiter::new(limits, start);
        let known = || lock(&limiter.0).by_address.len();
        let address = |number: usize| IpAddr::from(Ipv4Addr::from(0x0a00_0000 + number as u32));
        let inside = limiter.admit(address(0), start);
        for number in 1..ADDRESSES {
            assert!(limiter.admit(address(number), start).is_some(), "{number}");
        }
        assert_eq!(known(), ADDRESSES);
        assert!(limiter.admit(address(ADDRESSES), start).is_none(), "there is no room to remember it");
        assert!(limiter.admit(address(5), start).is_some(), "one that is remembered");
        let later = start + Duration::from_secs(1);
        assert!(limiter.admit(address(ADDRESSES), later).is_some());
        assert_eq!(known(), 2, "the new one, and the one with a connection");
        assert!(
            inside.as_ref().is_some_and(Permit::shaken) && limiter.admit(address(0), later).is_none(),
            "which has no more than it may"
        );
    }
}
