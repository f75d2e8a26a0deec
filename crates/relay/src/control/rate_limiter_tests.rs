//! Tests of who gets a place for a handshake, and who loses one.
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
    let limiter = RateLimiter::new(Rate { per_second: 20.0, ..rate(10.0, 1000, 1000) }, start);
    let admitted = |at: Instant| (0..100).filter(|_| limiter.admit(from(1), at).is_some()).count();
    assert_eq!(admitted(start), 10);
    assert_eq!(admitted(start + Duration::from_millis(500)), 5);
    assert_eq!(admitted(start + Duration::from_secs(60)), 10, "at most one second's worth at once");
    let later = start + Duration::from_secs(120);
    let from_all = (0..100).filter(|&last| limiter.admit(from(last), later).is_some()).count();
    assert_eq!(from_all, 20, "from all addresses together");
}

#[test]
fn permits_are_limited_and_returned() {
    let now = Instant::now();
    let limiter = RateLimiter::new(rate(1000.0, 3, 2), now);
    let inside: Vec<_> = (0..3).filter_map(|_| limiter.admit(from(1), now)).collect();
    assert_eq!(inside.len(), 2, "from one address");
    assert!(inside.iter().all(Permit::keep), "they keep their places");
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
    // A flood: 448 connections per second from one stranger, beside 20 honest clients
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

/// Places held by clients without credentials keep nobody out, neither from their own address nor from others.
#[test]
fn a_newcomer_gets_the_place_of_who_has_been_longest_without_a_handshake() {
    let start = Instant::now();
    let after = |milliseconds| start + Duration::from_millis(milliseconds);
    let limiter = RateLimiter::new(rate(1e6, 4, 2), start);
    let admit = |last: u8, milliseconds| limiter.admit(from(last), after(milliseconds));
    let known = admit(1, 0).unwrap();
    assert!(known.keep());
    let [first, second, third] = [(2, 10), (3, 20), (4, 30)].map(|(last, at)| admit(last, at).unwrap());
    assert!(admit(5, 1009).is_none(), "the oldest one is young, and no address holds more than one");
    let fourth = admit(5, 1010).unwrap();
    assert_eq!([&known, &first, &second, &third, &fourth].map(Permit::has_place), [true, false, true, true, true]);
    // A place that was lost is not given back a second time
    drop(first);
    assert!(admit(6, 1015).is_none());
    // An address that would hold more than all others makes room for itself
    let fifth = admit(4, 1030).unwrap();
    assert_eq!([&second, &third, &fifth].map(Permit::has_place), [true, false, true], "its own");
    assert!(admit(4, 1050).is_none() && second.has_place(), "its own is young");
    // So does one that has all its places
    drop(second);
    let sixth = admit(4, 1060).unwrap();
    assert!(admit(4, 2029).is_none());
    let seventh = admit(4, 2030).unwrap();
    assert_eq!([&fourth, &fifth, &sixth, &seventh].map(Permit::has_place), [true, false, true, true]);
    assert!(!fifth.keep(), "too late");
    // Who is being answered keeps its place
    assert!([&fourth, &sixth, &seventh].into_iter().all(Permit::keep) && admit(5, 100_000).is_none());
}

/// Clients with certificates, even revoked ones, that ask for nothing keep nobody out.
#[test]
fn who_has_finished_the_handshake_and_waits_makes_room() {
    let start = Instant::now();
    let after = |milliseconds| start + Duration::from_millis(milliseconds);
    let limiter = RateLimiter::new(rate(1e6, 64, 16), start);
    let held: Vec<Permit> = (0..64).map(|at| limiter.admit(from(at / 16), start).unwrap()).collect();
    for (at, permit) in held.iter().enumerate() {
        assert!(permit.keep());
        if at != 5 {
            permit.wait(after(100 - at as u64));
        }
    }
    let next = limiter.admit(from(9), after(200)).unwrap();
    let gone: Vec<usize> = (0..64).filter(|&at| !held[at].has_place()).collect();
    assert_eq!(gone, [63], "who has waited for longest, however young");
    assert!(next.has_place() && !held[63].keep() && held[5].keep());
}

/// If one address holds most of the places, young handshakes from it make room as well, but nobody else's.
#[test]
fn the_address_that_holds_most_makes_room_first() {
    let start = Instant::now();
    let after = |milliseconds| start + Duration::from_millis(milliseconds);
    let limiter = RateLimiter::new(rate(1e6, 5, 4), start);
    let admit = |last: u8, milliseconds| limiter.admit(from(last), after(milliseconds));
    let slow = admit(1, 0).unwrap();
    let many: Vec<Permit> = (0..4).map(|at| admit(2, 5000 + at).unwrap()).collect();
    let held = || many.iter().map(Permit::has_place).collect::<Vec<_>>();
    let third = admit(3, 5010).unwrap();
    assert_eq!(held(), [false, true, true, true], "the oldest of theirs, young as it is");
    let other = admit(3, 5020).unwrap();
    assert_eq!(held(), [false, false, true, true]);
    // Two addresses hold two places each: now only old handshakes make room, and none of addresses that hold fewer
    assert!(admit(2, 5030).is_none() && admit(3, 5030).is_none());
    let more = admit(2, 6002).unwrap();
    assert_eq!(held(), [false, false, false, true]);
    assert!([&slow, &third, &other, &more].into_iter().all(Permit::has_place));
    assert!(slow.keep());
}

/// Strangers at four addresses take every place, reconnect every few milliseconds, and end each connection before it is
/// old enough to have to make room.
#[test]
fn strangers_who_connect_all_the_time_keep_nobody_out() {
    let start = Instant::now();
    let limiter = RateLimiter::new(rate(1e6, 64, 16), start);
    let mut strangers: Vec<(Permit, Instant)> = Vec::new();
    let mut honest: Vec<(Permit, Instant)> = Vec::new();
    let (mut came, mut served) = (0, 0);
    for step in 0..2000 {
        let now = start + Duration::from_millis(5 * step);
        strangers.retain(|(permit, since)| {
            let stays = permit.has_place() && now - *since < HANDSHAKE_GRACE - Duration::from_millis(10);
            if !stays {
                permit.failed();
            }
            stays
        });
        for last in (66..70).cycle().take(32) {
            strangers.extend(limiter.admit(from(last), now).map(|permit| (permit, now)));
        }
        // A slow client now and then, alone at its address, and many quick ones
        for (last, every, time) in [(1, 400, 1500), (2, 20, 50)] {
            if step % every == 7 {
                came += 1;
                honest.extend(limiter.admit(from(last), now).map(|permit| (permit, now + Duration::from_millis(time))));
            }
        }
        honest.retain(|(permit, until)| {
            let done = now >= *until;
            served += u32::from(done && permit.keep());
            !done
        });
    }
    assert_eq!(served, came, "all that came");
}

/// Strangers at many addresses connect as often as each may, and do nothing. Once all of them have been admitted, those
/// who come anew go first.
#[test]
fn strangers_at_many_addresses_let_others_go_first() {
    let network = |at: u32| IpAddr::from([0x2001, 0xdb8, 1, at as u16, 0, 0, 0, 1]);
    let host = |at: u32| IpAddr::from(Ipv4Addr::from(0x0a00_0000 + at));
    let limits = Rate { per_second: 100.0, per_second_from_one: 50.0, at_once: 64, at_once_from_one: 16 };
    let strangers: [(&dyn Fn(u32) -> IpAddr, u32); 4] =
        [(&network, 256), (&network, 65_000), (&host, 32), (&host, 300)];
    for (stranger, number) in strangers {
        let start = Instant::now();
        let limiter = RateLimiter::new(limits, start);
        // In an order that has nothing to do with time, as that of packets
        let mut random = 1_u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        let (mut held, mut came, mut served) = (Vec::new(), 0, 0);
        for millisecond in 0..12_000 {
            let now = start + Duration::from_millis(millisecond);
            let (turns, turn) = (4, next(4));
            for at in 0..turns {
                if at == turn && millisecond > 6000 && millisecond % 100 == 50 {
                    came += 1;
                    let client = host(0x00ff_0000 + millisecond as u32);
                    served += usize::from(limiter.admit(client, now).is_some_and(|permit| permit.keep()));
                }
                held.extend(limiter.admit(stranger(next(number)), now));
            }
            held.retain(Permit::has_place);
        }
        assert!(served * 10 >= came * 9 && came > 50, "{served} of {came}, beside {number} strangers");
    }
}

/// Of one connection a second there is no tenth to leave.
#[test]
fn who_returns_leaves_a_tenth_to_others() {
    let now = Instant::now();
    let limiter = RateLimiter::new(rate(100.0, 1000, 1000), now);
    let admitted = |address: IpAddr| limiter.admit(address, now).is_some();
    assert_eq!((0..200).filter(|_| admitted(from(1))).count(), 90);
    assert_eq!((2..200).filter(|&last| admitted(from(last))).count(), 10);

    let slow = RateLimiter::new(rate(1.0, 1000, 1000), now);
    let returns = (0..5).filter(|&second| slow.admit(from(1), now + Duration::from_secs(second)).is_some());
    assert_eq!(returns.count(), 5);
}

/// Otherwise those who ask more often than others get whatever becomes free.
#[test]
fn attempts_that_are_refused_cost_some_of_the_share() {
    let now = Instant::now();
    let limits = Rate { per_second: 100.0, per_second_from_one: 4.0, at_once: 1, at_once_from_one: 1 };
    let limiter = RateLimiter::new(limits, now);
    let inside = limiter.admit(from(1), now).unwrap();
    assert!((0..4).all(|_| limiter.admit(from(2), now).is_none()));
    drop(inside);
    assert!(limiter.admit(from(2), now).is_none(), "nothing is left");
    assert!(limiter.admit(from(3), now).is_some() && limiter.admit(from(2), now + HANDSHAKE_GRACE).is_some());
}

/// Four strangers who fail as often as they can must not use up the total.
#[test]
fn who_has_nothing_left_of_its_share_pays_for_failures_too() {
    let start = Instant::now();
    let after = |milliseconds| start + Duration::from_millis(milliseconds);
    let limits = Rate { per_second: 100.0, per_second_from_one: 4.0, at_once: 9, at_once_from_one: 9 };
    let limiter = RateLimiter::new(limits, start);
    let all: Vec<Permit> = (0..4).map(|_| limiter.admit(from(1), start).unwrap()).collect();
    all.iter().for_each(Permit::failed);
    drop(all);
    assert!(limiter.admit(from(1), after(1200)).is_none(), "a second's worth is owed, and no more");
    assert!(limiter.admit(from(1), after(1300)).is_some());
}

/// A connection that loses its place is ended.
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
    let next = limiter.admit(from(2), now + HANDSHAKE_GRACE).unwrap();
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

/// When there are too many addresses, those with a full share and no connection are forgotten.
#[test]
fn so_many_addresses_are_remembered_and_no_more() {
    let start = Instant::now();
    let limits = Rate { per_second: 1e9, per_second_from_one: 2.0, at_once: 10, at_once_from_one: 1 };
    let limiter = RateLimiter::new(limits, start);
    let known = || lock(&limiter.0).by_address.len();
    let address = |number: usize| IpAddr::from(Ipv4Addr::from(0x0a00_0000 + number as u32));
    let inside = limiter.admit(address(0), start);
    for number in 1..MAX_ADDRESSES {
        assert!(limiter.admit(address(number), start).is_some(), "{number}");
    }
    assert_eq!(known(), MAX_ADDRESSES);
    assert!(limiter.admit(address(MAX_ADDRESSES), start).is_none(), "there is no room to remember it");
    assert!(limiter.admit(address(5), start).is_some(), "one that is remembered");
    let later = start + Duration::from_secs(1);
    assert!(limiter.admit(address(MAX_ADDRESSES), later).is_some());
    assert_eq!(known(), 2, "the new one, and the one with a connection");
    assert!(
        inside.as_ref().is_some_and(Permit::keep) && limiter.admit(address(0), later).is_none(),
        "which has no more than it may"
    );
}
