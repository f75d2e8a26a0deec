#![allow(clippy::unwrap_used)]
use std::{net::TcpListener, sync::mpsc};

use sealwright_relay::NodeLayout;
use sealwright_session::{Client, Material, Plan, ReplayWindow, table};
use sealwright_transcripts::{skipped, until};

use super::*;
use crate::{LoadError, Testbed, compare, local};

fn workload(rate: Option<f64>) -> Workload {
    let payload = Mix::of(40).unwrap();
    Workload {
        clients: 1000,
        payload,
        connections: 10,
        window: 32,
        rate,
        bad_every: 0,
        replay_window: ReplayWindow::Narrow,
        seed: 1,
    }
}

fn bound(workload: &Workload) -> Testbed {
    let mut testbed = local("gcm-on64".parse().unwrap(), workload, 1).unwrap();
    testbed.bind_clients(workload).unwrap();
    testbed
}

#[test]
fn latency_in_an_open_loop_is_the_relays_and_not_the_time_between_packets() {
    let mut testbed = bound(&workload(Some(10.0)));
    let slice = testbed.generator.run(Duration::from_millis(1050)).unwrap();
    assert_eq!((slice.sent, slice.lost, slice.unsent), (10, 0, 0));
    // The least of ten, which a busy machine does not delay
    let least = Duration::from_nanos(slice.latency.min());
    assert!(least < Duration::from_millis(50), "{least:?} of 100 ms between packets");
}

#[test]
fn clients_of_every_connection_take_turns_in_an_open_loop() {
    let mut testbed = bound(&workload(Some(1000.0)));
    let slice = testbed.generator.run(Duration::from_millis(255)).unwrap();
    assert_eq!((slice.sent, slice.lost), (255, 0));
    for link in &testbed.generator.links {
        let sent = (link.next - link.first) / link.step;
        assert!((25..=26).contains(&sent), "{sent} of 255 by clients of one connection of ten");
    }
}

#[test]
fn what_is_due_and_finds_no_room_is_told() {
    let mut testbed = bound(&Workload { window: 1, ..workload(Some(1e9)) });
    let slice = testbed.generator.run(Duration::from_millis(100)).unwrap();
    assert_eq!(slice.sent + slice.unsent, 100_000_000);
    assert!(slice.unsent > slice.sent && slice.sent > 0, "{}", slice.sent);
    let why = compare("clear".parse().unwrap(), &workload(Some(1.0)), 1, Duration::from_secs(3)).unwrap_err();
    assert!(matches!(why, LoadError::Slow(time) if time == Duration::from_millis(500)), "{why}");
}

#[test]
fn a_relay_that_is_silent_is_not_waited_for_without_end() {
    let layout = NodeLayout::new(0, 1);
    let mut table = table(Plan::new("gcm-on64".parse().unwrap(), 10)).unwrap();
    let clients = (0..10).map(|index| {
        let session = layout.session(index);
        let admitted = table.admit(index, session, &Material::random().unwrap()).unwrap();
        (Address { session, generation: 1 }, Client::new(admitted))
    });
    let keys = Keys::opened(clients.collect(), layout);
    // The kernel accepts connections, but nobody reads from them
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let workload = Workload { clients: 10, connections: 2, window: 1, ..workload(None) };
    let mut generator = Generator::connect(relay.local_addr().unwrap(), keys, workload).unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(generator.bind_clients().unwrap()).is_ok());
    let slice = told.recv_timeout(12 * DRAIN_TIMEOUT).expect("it waits for ever");
    assert_eq!((slice.sent, slice.frames, slice.lost), (2, 0, 2));
}

#[test]
fn a_relay_that_ends_is_told_and_its_time_is_that_of_what_arrived() {
    let mut testbed = bound(&workload(None));
    let relay = testbed.relay.take();
    let time = Duration::from_secs(2);
    let (slice, ended) = std::thread::scope(|scope| {
        let begin = Instant::now();
        let ending = scope.spawn(move || {
            std::thread::sleep(time / 10);
            drop(relay);
            begin.elapsed()
        });
        (testbed.generator.run(time).unwrap(), ending.join().unwrap())
    });
    assert!(slice.frames > 0 && slice.lost > 0, "{slice:?}");
    if ended < time / 2 {
        assert!(slice.wall < time, "{slice:?}");
    } else {
        skipped("the machine was so busy that the relay ended late");
    }
    assert_eq!((testbed.generator.closed(), testbed.generator.connections()), (10, 10));
    let why = testbed.bind_clients(&workload(None)).unwrap_err();
    assert_eq!(why.to_string(), "the relay closed 10 of 10 connections");
}

/// Otherwise its cost would be compared with that of a relay that still reads in full-sized pieces.
#[test]
fn bad_frames_stop_before_a_relay_takes_a_connection_for_suspicious() {
    let mut testbed = bound(&Workload { connections: 2, bad_every: 1, ..workload(None) });
    let mut bad_of_slice = || {
        let slice = testbed.generator.run(Duration::from_millis(200)).unwrap();
        assert_eq!(slice.forged_accepted, 0);
        slice.bad
    };
    let mut bad = 0;
    // One slice, unless the machine is busy
    until("as many bad frames as there are", || {
        bad += bad_of_slice();
        bad >= 2 * 98
    });
    assert_eq!((bad, bad_of_slice()), (2 * 98, 0));
    let counts = testbed.relay.as_ref().unwrap().counts();
    assert_eq!(sealwright_relay::Count::dropped().map(|what| counts.of(what)).sum::<u64>(), 2 * 98);
}

#[test]
fn connections_are_those_that_there_were() {
    let few = Workload { clients: 3, connections: 50, ..workload(None) };
    let outcome = compare("clear".parse().unwrap(), &few, 1, Duration::from_millis(100)).unwrap();
    assert_eq!(outcome.workload.connections, 3);
}
