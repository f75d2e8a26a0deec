//! Streams over datagrams on a path that drops, reorders, and has a small MTU.
#![allow(clippy::unwrap_used)]

mod common;

#[path = "common/output.rs"]
mod output;
#[path = "common/trial.rs"]
mod trial;

use std::{
    collections::HashMap,
    io::Cursor,
    net::{Shutdown, SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use common::{Client, relay, until};
use output::{Shared, bytes};
use sealwright_relay::{
    Settings,
    client::{Identity, Pipe},
};
use sealwright_transcripts::skipped;
use trial::{edit, folder, identity, serve};

/// The minimum IPv6 MTU, without the headers of IP and UDP.
const SHORTEST_MTU: usize = 1280 - 48;
/// By how many others a late datagram is overtaken.
const LATE: usize = 8;

/// Counts of what was done to datagrams.
#[derive(Default)]
struct Done {
    lost: AtomicUsize,
    late: AtomicUsize,
    longest: AtomicUsize,
}

/// Forwards datagrams from one socket: drops one in a hundred, delays one in twenty. Ends after two minutes of silence.
fn pass(from: &UdpSocket, done: &Done, mut to: impl FnMut(&[u8], SocketAddr)) {
    from.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let (mut buffer, mut late, mut number, mut quiet) = ([0; 65_536], Vec::<(usize, Vec<u8>, SocketAddr)>::new(), 0, 0);
    while quiet < 24_000 {
        match from.recv_from(&mut buffer) {
            Ok((length, sender)) => {
                (number, quiet) = (number + 1, 0);
                done.longest.fetch_max(length, Ordering::Relaxed);
                match (number * 2_654_435_761 % (1 << 32) * 100) >> 32 {
                    _ if length > SHORTEST_MTU => {}
                    0 => drop(done.lost.fetch_add(1, Ordering::Relaxed)),
                    1..=5 => {
                        done.late.fetch_add(1, Ordering::Relaxed);
                        late.push((number + LATE, buffer[..length].to_vec(), sender));
                    }
                    _ => to(&buffer[..length], sender),
                }
            }
            // No more datagrams come that could overtake the delayed ones
            Err(_) => (number, quiet) = (number + LATE, quiet + 1),
        }
        late.retain(|(due, datagram, sender)| {
            if number >= *due {
                to(datagram, *sender);
            }
            number < *due
        });
    }
}

/// Stands in for the relay's UDP socket, on the same port of another address.
fn path(listener: UdpSocket, relay: SocketAddr) -> Arc<Done> {
    let done = Arc::new(Done::default());
    let all = done.clone();
    std::thread::spawn(move || {
        let mut clients = HashMap::<SocketAddr, UdpSocket>::new();
        let there = listener.try_clone().unwrap();
        pass(&listener, &all, |datagram, client| {
            let upstream = clients.entry(client).or_insert_with(|| {
                let upstream = UdpSocket::bind("127.0.0.2:0").unwrap();
                upstream.connect(relay).unwrap();
                let (back, listener, done) = (upstream.try_clone().unwrap(), there.try_clone().unwrap(), all.clone());
                // Datagrams for a receiver that is gone are dropped
                std::thread::spawn(move || pass(&back, &done, |datagram, _| drop(listener.send_to(datagram, client))));
                upstream
            });
            let _ = upstream.send(datagram);
        });
    });
    done
}

#[test]
fn streams_arrive_over_a_path_that_loses_reorders_and_takes_no_long_datagrams() {
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let directory = folder(&["alice", "bob"], "\"alice\", \"bob\"");
    edit(directory.path(), |text| format!("udp = \"127.0.0.2:{port}\"\nthreads = 1\n{text}"));
    let (server, _log) = serve(directory.path());
    let done = path(listener, SocketAddr::from(([127, 0, 0, 2], port)));
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    let run = |me: &Identity, peer: &str, datagrams: bool, file: Vec<u8>| {
        let out = Shared::default();
        let pipe = Pipe::new(me, peer, Duration::from_secs(60)).datagrams(datagrams);
        pipe.run(Cursor::new(file), out.clone(), &|_| ()).unwrap();
        out.bytes()
    };
    // Alice uses datagrams, then a TCP stream: bob must then announce the limit of his path
    for by_alice in [true, false] {
        let files = [bytes(3_000_000, 1), bytes(100_000, 2)];
        let received = std::thread::scope(|scope| {
            let at_alice = scope.spawn(|| run(&alice, "bob", by_alice, files[0].clone()));
            let at_bob = scope.spawn(|| run(&bob, "alice", true, files[1].clone()));
            [at_bob.join().unwrap(), at_alice.join().unwrap()]
        });
        assert!(received == files, "other bytes came");
    }
    let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    assert!(of(&done.lost) > 40 && of(&done.late) > 200, "{} lost, {} late", of(&done.lost), of(&done.late));
    assert!(of(&done.longest) <= SHORTEST_MTU, "{} bytes", of(&done.longest));
}

#[test]
fn a_client_is_answered_from_the_address_that_it_spoke_to() {
    for wildcard in ["0.0.0.0:0", "[::]:0"] {
        if wildcard.starts_with('[') && UdpSocket::bind(wildcard).is_err() {
            skipped("there is no IPv6");
            continue;
        }
        let relay = relay(1, 2, Settings::default().udp(wildcard.parse().unwrap()));
        let port = relay.udp(0).unwrap().port();
        let mut client = Client::stranger(&relay, 0);
        let mut answered = |socket: &UdpSocket, to: [u8; 4]| {
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let frame = client.sealed(client.session, &to);
            socket.send_to(&frame, SocketAddr::from((to, port))).unwrap();
            let mut buffer = [0; 2048];
            let (length, from) = socket.recv_from(&mut buffer).expect("an answer");
            assert_eq!(client.opened(buffer[..length].to_vec()), (client.session, to.to_vec()));
            from
        };
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        // The same client may change its path
        for last in [2, 3, 1, 2] {
            assert_eq!(answered(&socket, [127, 0, 0, last]), SocketAddr::from(([127, 0, 0, last], port)));
        }
        // A client that sends to the broadcast address is answered from an address that the system chooses
        socket.set_broadcast(true).unwrap();
        assert_ne!(answered(&socket, [127, 255, 255, 255]), SocketAddr::from(([127, 255, 255, 255], port)));
        // A connected socket accepts answers from no other address
        let connected = UdpSocket::bind("127.0.0.1:0").unwrap();
        connected.connect(("127.0.0.2", port)).unwrap();
        connected.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        connected.send(&client.sealed(client.session, b"connected")).unwrap();
        connected.recv(&mut [0; 2048]).expect("an answer");
    }
}

#[test]
fn a_relay_that_drains_waits_for_those_who_still_send_datagrams() {
    let relay = relay(1, 2, Settings::default().udp("127.0.0.1:0".parse().unwrap()));
    let mut client = Client::stranger(&relay, 0);
    client.stream.shutdown(Shutdown::Both).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(relay.udp(0).unwrap()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut exchange = || {
        socket.send(&client.sealed(client.session, b"still here")).unwrap();
        socket.recv(&mut [0; 2048]).expect("an answer");
    };
    exchange();
    until("no connection", || relay.connections() == 0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            for _ in 0..10 {
                let before = Instant::now();
                exchange();
                std::thread::sleep(Duration::from_millis(100));
                longest = longest.max(before.elapsed());
            }
            done.store(true, Ordering::Relaxed);
            longest
        });
        assert!(!relay.drained_within(Duration::from_millis(200)), "it is there");
        assert!(relay.drained_within(Duration::from_secs(60)));
        let was_done = done.load(Ordering::Relaxed);
        // A client that was silent for two seconds counts as gone
        if sender.join().unwrap() > Duration::from_millis(1500) {
            skipped("the machine was so busy that the client paused for long");
        } else {
            assert!(was_done, "it was still there");
        }
    });
}
