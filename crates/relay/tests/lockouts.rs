//! Whatever strangers and single clients do, every honest client gets in. Each test repeats an attack that once locked
//! honest clients out, with its numbers.
#![allow(clippy::unwrap_used)]

mod common;

#[path = "common/output.rs"]
mod output;
#[path = "common/pauses.rs"]
mod pauses;
#[path = "common/trial.rs"]
mod trial;

use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::{
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use common::{Client, counted, relay, until};
use pauses::holds_without_pause;
use sealwright_relay::{Count, Relay, Settings, client::ClientError};
use trial::{config, edit, folder, identity, serve};

/// Connects a client for the first time. Returns whether it was served.
fn newcomer(relay: &Relay, index: u32) -> bool {
    Client::stranger(relay, index).is_served()
}

/// Connects from an address of this machine that no client uses.
fn from_elsewhere(to: SocketAddr, last: u8) -> Option<TcpStream> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};
    let there = match to {
        SocketAddr::V4(there) => there,
        SocketAddr::V6(_) => return None,
    };
    let stream = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).ok()?;
    use std::os::fd::AsRawFd;
    bind(stream.as_raw_fd(), &SockaddrIn::new(127, 0, 0, last, 0)).ok()?;
    connect(stream.as_raw_fd(), &SockaddrIn::from(there)).ok()?;
    Some(TcpStream::from(stream))
}

#[test]
fn strangers_who_fill_the_relay_keep_nobody_out() {
    let first_frame = Duration::from_secs(3600);
    for workers in [1, 2] {
        let relay = relay(workers, 220, Settings::default().max_connections(160).first_frame(first_frame));
        let strangers: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(relay.address()).unwrap()).collect();
        counted(&relay, Count::Accepted, 400);
        assert!(relay.connections() <= 160);
        let honest = (0..100).filter(|index| newcomer(&relay, *index)).count();
        assert_eq!(honest, 100, "of 100, {workers} workers, {} strangers", strangers.len());
    }
}

#[test]
fn newcomers_keep_one_another_in_while_there_is_room() {
    for workers in [1, 2] {
        let first_frame = Duration::from_secs(3600);
        let relay = relay(workers, 160, Settings::default().max_connections(160).first_frame(first_frame));
        let inside: Vec<Client> = (0..150).map(|index| Client::new(&relay, index)).collect();
        // Their first frames arrive only after all of them have connected
        let mut newcomers: Vec<Client> = (150..155).map(|index| Client::stranger(&relay, index)).collect();
        counted(&relay, Count::Accepted, 155);
        newcomers.iter_mut().for_each(Client::hello);
        assert_eq!((relay.connections(), relay.counts().of(Count::Expelled)), (155, 0), "{workers} workers");
        drop(inside);
    }
}

#[test]
fn a_newcomer_whose_frame_came_with_it_is_read_before_it_makes_room() {
    for (workers, who) in [(1, 155), (2, 156), (2, 157)] {
        let first_frame = Duration::from_secs(3600);
        let relay = relay(workers, 160, Settings::default().max_connections(160).first_frame(first_frame));
        let inside: Vec<Client> = (0..155).map(|index| Client::new(&relay, index)).collect();
        std::thread::scope(|scope| {
            // Meanwhile they wait at the listener, and are then accepted together
            let (goes_on, until_then) = mpsc::channel();
            let (begins, begun) = mpsc::channel();
            let busy = scope.spawn(|| {
                relay.change(0, 0..0, move |_| {
                    begins.send(()).unwrap();
                    until_then.recv().unwrap();
                })
            });
            begun.recv().unwrap();
            let mut honest = Client::stranger(&relay, who);
            honest.send(honest.session, b"at once");
            let strangers: Vec<_> = (0..20).map(|_| TcpStream::connect(relay.address()).unwrap()).collect();
            goes_on.send(()).unwrap();
            busy.join().unwrap().unwrap();
            assert_eq!(honest.receive().1, b"at once", "{workers} workers, {who}");
            counted(&relay, Count::Accepted, 176);
            honest.hello();
            drop(strangers);
        });
        drop(inside);
    }
}

#[test]
fn strangers_who_come_anew_whenever_they_are_sent_away_keep_nobody_out() {
    for workers in [1, 2] {
        let first_frame = Duration::from_secs(3600);
        let relay = relay(workers, 160, Settings::default().max_connections(160).first_frame(first_frame));
        let inside: Vec<Client> = (0..140).map(|index| Client::new(&relay, index)).collect();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut strangers = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    strangers.push(from_elsewhere(relay.address(), 66));
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            counted(&relay, Count::Expelled, 1);
            // The relay is full of young strangers' connections: the oldest makes room
            let honest = (140..150).filter(|index| newcomer(&relay, *index)).count();
            over.store(true, Ordering::Relaxed);
            assert_eq!(honest, 10, "of 10, {workers} workers");
        });
        drop(inside);
    }
}

#[test]
fn a_client_on_every_connection_keeps_nobody_out() {
    // On the worker that accepts, and on another one
    for (workers, who) in [(1, 0), (2, 0), (2, 1)] {
        let relay = relay(workers, 220, Settings::default().max_connections(160));
        let mut greedy = Client::new(&relay, who);
        let mut kept = Vec::new();
        for _ in 0..400 {
            let mut stream = TcpStream::connect(relay.address()).unwrap();
            let frame = greedy.sealed(greedy.session, b"mine");
            // It may be closed to make room for the next one
            let _ = stream.write_all(&frame);
            kept.push(stream);
            // The listener's backlog is limited
            if kept.len() % 50 == 0 {
                until("an answer to each", || {
                    let counts = relay.counts();
                    counts.of(Count::Accepted) + counts.of(Count::Refused) > kept.len() as u64
                });
            }
        }
        // Another worker makes room in its next iteration, which on a busy machine may be some time after the last
        // connection
        until("room", || relay.connections() < 160);
        let honest = (2..102).filter(|index| newcomer(&relay, *index)).count();
        assert_eq!(honest, 100, "of 100, {workers} workers, {who}");
    }
}

#[test]
fn an_address_has_its_share_of_the_connections_and_no_more() {
    let relay = relay(1, 40, Settings::default().max_connections(40).max_from_one(10));
    let inside: Vec<Client> = (0..10).map(|index| Client::new(&relay, index)).collect();
    // A connection of no use yet, from another address
    let elsewhere = from_elsewhere(relay.address(), 2).unwrap();
    until("a place elsewhere", || relay.connections() == 11);
    assert!(!newcomer(&relay, 10), "an eleventh of use");
    counted(&relay, Count::Refused, 1);
    assert_eq!((relay.connections(), relay.counts().of(Count::Expelled)), (11, 0), "nobody else made room for it");
    drop(inside);
    until("their end", || relay.connections() == 1);
    assert!(newcomer(&relay, 10));
    drop(elsewhere);
}

/// Also where connections that are of no use are all at another worker than the one that accepts.
#[test]
fn a_client_on_every_connection_of_its_address_keeps_nobody_there_out() {
    for who in [0, 1] {
        let relay = relay(2, 40, Settings::default().max_connections(40).max_from_one(10));
        let mut greedy = Client::new(&relay, who);
        let mut kept = Vec::new();
        for _ in 0..9 {
            let mut stream = TcpStream::connect(relay.address()).unwrap();
            stream.write_all(&greedy.sealed(greedy.session, b"mine")).unwrap();
            kept.push(stream);
        }
        until("ten connections", || relay.connections() == 10);
        until("room", || newcomer(&relay, 2));
    }
}

/// Memory limits connections to fewer than the configuration allows.
#[test]
fn an_address_has_its_share_of_the_connections_that_there_is_room_for() {
    let directory = folder(&[], "");
    let small = "sessions = 1000\nthreads = 1";
    edit(directory.path(), |text| {
        text.replace("sessions = 100000", small).replace("memory_mib = 1024", "memory_mib = 10")
    });
    let room = config(directory.path()).check().unwrap().connections;
    assert!((4..200).contains(&room), "{room} of 4096");
    let (server, _) = serve(directory.path());
    let relay = server.relay();
    let share = room.div_ceil(2);
    let mut strangers: Vec<_> = (0..share).map(|_| TcpStream::connect(relay.address()).unwrap()).collect();
    counted(relay, Count::Accepted, share as u64);
    assert_eq!(relay.counts().of(Count::Expelled), 0);
    strangers.push(TcpStream::connect(relay.address()).unwrap());
    counted(relay, Count::Expelled, 1);
    // Its own oldest connection makes room, and nobody else's
    assert_eq!(strangers[0].read(&mut [0]).unwrap(), 0);
    assert_eq!((relay.connections(), relay.counts().of(Count::Refused)), (share, 0));
}

#[test]
fn a_stranger_who_connects_without_end_delays_no_handshake() {
    let directory = folder(&["alice"], "\"alice\"");
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let control = SocketAddr::from((Ipv4Addr::LOCALHOST, server.addresses().control.port()));
    let (over, attempts) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                attempts.fetch_add(from_elsewhere(control, 66).map_or(0, |_| 1), Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        until("a flood", || attempts.load(Ordering::Relaxed) > 200);
        let honest = (0..20).filter(|_| alice.open(&[]).is_ok()).count();
        over.store(true, Ordering::Relaxed);
        assert_eq!(honest, 20, "of 20, among {} attempts", attempts.load(Ordering::Relaxed));
    });
}

/// Four addresses hold all places of the control plane silently, and reconnect every few milliseconds.
#[test]
fn strangers_who_take_every_place_for_handshakes_and_say_nothing_keep_nobody_out() {
    let directory = folder(&["alice"], "\"alice\"");
    // No handshake times out meanwhile
    edit(directory.path(), |text| format!("{text}[limits]\nhandshake_seconds = 3600\n"));
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let control = SocketAddr::from((Ipv4Addr::LOCALHOST, server.addresses().control.port()));
    let (over, taken) = (AtomicBool::new(false), AtomicU32::new(0));
    let hold = |last: u8| {
        let connect = || {
            let stream = from_elsewhere(control, last)?;
            stream.set_nonblocking(true).ok()?;
            taken.fetch_add(1, Ordering::Relaxed);
            Some(stream)
        };
        let mut places: Vec<Option<TcpStream>> = (0..16).map(|_| connect()).collect();
        let waits = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
        let is_held = |mut stream: &TcpStream| stream.read(&mut [0]).is_err_and(waits);
        while !over.load(Ordering::Relaxed) {
            // One at a time: more would keep the system itself from accepting connections
            let lost = places.iter_mut().find(|place| !place.as_ref().is_some_and(is_held));
            lost.into_iter().for_each(|place| *place = connect());
            std::thread::sleep(Duration::from_millis(4));
        }
    };
    let mut honest = 0;
    std::thread::scope(|scope| {
        (66..70).for_each(|last| drop(scope.spawn(move || hold(last))));
        until("all places to be taken", || taken.load(Ordering::Relaxed) >= 64);
        // Long enough that places change hands, and with them their age
        for _ in 0..40 {
            honest += u32::from(alice.open(&[]).is_ok());
            std::thread::sleep(Duration::from_millis(75));
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(honest, 40, "of 40, among {} connections of strangers", taken.load(Ordering::Relaxed));
}

/// A failed handshake costs its address as much as four successful ones.
#[test]
fn handshakes_that_fail_use_up_the_share_of_their_address_and_are_counted() {
    let directory = folder(&[], "");
    let limits = "[limits]\nhandshakes_per_second = 1000\nhandshakes_per_second_from_one_address = 40\n\
                  handshakes_at_once = 1000\nhandshakes_from_one_address = 1000\n";
    edit(directory.path(), |text| format!("{text}{limits}"));
    let (server, _) = serve(directory.path());
    let outcome = |name: &str| {
        let (mut text, start) = (String::new(), format!("sealwright_handshakes_total{{outcome=\"{name}\"}} "));
        let mut stream = TcpStream::connect(server.addresses().metrics.unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        stream.read_to_string(&mut text).unwrap();
        text.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |value| value.parse::<u64>().unwrap())
    };
    let mut made = 0;
    until("a refusal", || {
        // Each forty handshakes get a whole share, which would suffice if failures cost nothing extra
        std::thread::sleep(Duration::from_millis(1100));
        for _ in 0..40 {
            let mut stranger = TcpStream::connect(server.addresses().control).unwrap();
            let _ = stranger.write_all(b"no TLS at all");
            made += 1;
        }
        until("the outcome of each", || outcome("failed") + outcome("refused") == made);
        outcome("refused") > 0
    });
    assert_eq!(outcome("done"), 0);
}

#[test]
fn one_certificate_takes_no_numbers_from_others() {
    let directory = folder(&["*.load.test", "*.sensors.test"], "\"*.load.test\", \"*.sensors.test\"");
    edit(directory.path(), |text| text.replace("sessions = 100000", "sessions = 40\nthreads = 1"));
    let (server, log) = serve(directory.path());
    let names = |domain: &str, count: u32| (0..count).map(|at| format!("{at}.{domain}.test")).collect::<Vec<_>>();
    let greedy = identity(directory.path(), &server, "load.test");
    let refused = greedy.open_many(&names("load", 40)).unwrap_err();
    assert!(matches!(&refused, ClientError::Refused(why) if why.contains("all the sessions")), "{refused}");
    assert_eq!(server.relay().live(), 20);
    until("the reason in the log", || log.text().contains("\"denied\"") && log.text().contains("20.load.test"));
    let honest = identity(directory.path(), &server, "sensors.test");
    assert_eq!(honest.open_many(&names("sensors", 20)).unwrap().len(), 20, "of 20");
}

#[test]
fn opening_again_and_again_uses_up_nobodys_number() {
    let directory = folder(&["alice", "bob"], "\"alice\", \"bob\"");
    edit(directory.path(), |text| format!("{text}[limits]\nopenings_per_minute_of_one_session = 30\n"));
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let opened = alice.open_many(&vec!["alice".to_owned(); 30]).unwrap();
    assert!(opened.iter().all(|session| session.address == opened[0].address));
    let refused = (0..3).find_map(|_| alice.open(&[]).err()).expect("too many");
    assert!(matches!(&refused, ClientError::Refused(why) if why.contains("too often")), "{refused}");
    identity(directory.path(), &server, "bob").open(&[]).unwrap();
}

/// The client may return in a minute, so it waits.
#[test]
fn a_certificate_that_opened_too_often_is_told_to_wait() {
    let directory = folder(&["alice"], "\"alice\"");
    edit(directory.path(), |text| format!("{text}[limits]\nopenings_per_minute_with_one_certificate = 3\n"));
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let refused = (0..8).find_map(|_| alice.open(&[]).err()).expect("too many");
    assert!(matches!(&refused, ClientError::Refused(why) if why.contains("too often")), "{refused}");
}

#[test]
fn a_session_sends_no_more_frames_than_its_share() {
    for workers in [1, 2] {
        let relay = relay(workers, 4, Settings::default().session_rate(50));
        let (mut flood, mut honest, mut there) =
            (Client::new(&relay, 0), Client::new(&relay, 1), Client::new(&relay, 3));
        let frames: Vec<u8> = (0..2000).flat_map(|_| flood.sealed(there.session, b"flood")).collect();
        let begun = Instant::now();
        flood.stream.write_all(&frames).unwrap();
        counted(&relay, Count::Share, 1500);
        for _ in 0..40 {
            honest.send(there.session, b"honest");
        }
        let (mut from_honest, mut from_flood) = (0, 0);
        while from_honest < 40 {
            match &there.receive().1[..] {
                b"honest" => from_honest += 1,
                _ => from_flood += 1,
            }
        }
        // One second's frames in a burst, and as many for each second that passed
        let most = 50 * (2 + begun.elapsed().as_secs());
        assert!((1..most).contains(&from_flood), "{from_flood} frames, {workers} workers");
    }
}

#[test]
fn a_connection_without_authentic_frames_is_closed_when_it_was_idle_for_long() {
    let relay = relay(1, 2, Settings::default().idle(Duration::from_secs(3)));
    let (mut silent, mut speaking) = (Client::new(&relay, 0), Client::new(&relay, 1));
    silent.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    holds_without_pause("one that speaks every second stays", Duration::from_millis(500), || {
        let spoke = (0..4).all(|_| {
            std::thread::sleep(Duration::from_secs(1));
            speaking.is_served()
        });
        match silent.stream.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("it is still open: {other:?}"),
        }
        spoke && speaking.is_served()
    });
}
