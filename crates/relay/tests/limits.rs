//! Misbehaving clients are limited, without effect on others.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use common::{Client, counted, material, relay, until};
use sealwright_relay::{Count, Settings};

#[test]
fn a_flood_of_forgeries_does_not_stop_the_others() {
    // Neither the limit of bad frames nor that of the first frame ends the connection
    let first_frame = Duration::from_secs(3600);
    let relay = relay(1, 3, Settings::default().max_bad(u32::MAX).first_frame(first_frame));
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let mut hostile = Client::stranger(&relay, 2);
    let mut flood = Vec::new();
    for _ in 0..500 {
        let mut frame = hostile.sealed(b.session, &[0; 40]);
        frame[20] ^= 1;
        flood.extend(frame);
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                hostile.stream.write_all(&flood).unwrap();
            }
        });
        counted(&relay, Count::Forged, 100);
        let before = relay.counts().of(Count::Forged);
        for number in 0..200u32 {
            a.send(b.session, &number.to_be_bytes());
            assert_eq!(b.receive().1, number.to_be_bytes());
        }
        assert!(relay.counts().of(Count::Forged) > before, "the flood went on meanwhile");
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn too_many_bad_frames_end_a_connection() {
    let relay = relay(1, 2, Settings::default().max_bad(10));
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    for _ in 0..11 {
        let mut frame = a.sealed(b.session, b"forged");
        *frame.last_mut().unwrap() ^= 1;
        a.stream.write_all(&frame).unwrap();
    }
    assert_eq!(a.try_receive(), None);
    b.hello();
    counted(&relay, Count::Expelled, 1);
    assert_eq!(relay.counts().of(Count::Forged), 11);
}

#[test]
fn who_does_not_read_loses_frames_and_nobody_else_does() {
    let queue = 64 << 10;
    let sender_wait = Duration::from_millis(20);
    let relay = relay(2, 4, Settings::default().queue(queue).sender_wait(sender_wait));
    let (mut a, mut b, deaf) = (Client::new(&relay, 0), Client::new(&relay, 1), Client::new(&relay, 2));
    // Far more than socket buffers and queue hold
    let mut sent = 0;
    while relay.counts().of(Count::Slow) == 0 {
        a.send(deaf.session, &[0; 8000]);
        sent += 1;
        assert!(sent < 20_000, "never slow");
    }
    assert!(relay.counts().of(Count::Paused) > 0, "its sender had to wait first");
    for number in 0..1000u32 {
        a.send(b.session, &number.to_be_bytes());
        assert_eq!(b.receive().1, number.to_be_bytes());
    }
}

#[test]
fn who_takes_nothing_for_too_long_is_sent_away() {
    let (queue, sender_wait, stall) = (64 << 10, Duration::from_millis(20), Duration::from_secs(1));
    let relay = relay(1, 3, Settings::default().queue(queue).sender_wait(sender_wait).stall(stall));
    let (mut a, mut b, deaf) = (Client::new(&relay, 0), Client::new(&relay, 1), Client::new(&relay, 2));
    // At first the system accepts more and more
    until("its end", || {
        (0..8).for_each(|_| a.send(deaf.session, &[0; 8000]));
        relay.counts().of(Count::Expelled) > 0
    });
    until("the memory is given back", || relay.queue_bytes() == 0 && relay.connections() == 2);
    a.send(b.session, b"still here");
    assert_eq!(b.receive().1, b"still here");
    assert_eq!(relay.counts().of(Count::Expelled), 1);
}

#[test]
fn who_reads_late_loses_nothing_because_senders_wait() {
    // Senders wait when the queue is half full. The other half has room for what one read of a sender brings: 64 KiB
    // and an incomplete frame.
    let relay = relay(1, 2, Settings::default().queue(160 << 10).sender_wait(Duration::from_secs(60)));
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let (total, to) = (3000u32, b.session);
    let mut send = move || (0..total).for_each(|number| a.send(to, &number.to_be_bytes().repeat(1000)));
    std::thread::scope(|scope| {
        scope.spawn(&mut send);
        counted(&relay, Count::Paused, 1);
        for number in 0..total {
            assert_eq!(b.receive().1[..4], number.to_be_bytes(), "{:?}", relay.counts());
        }
    });
    assert_eq!(relay.counts().dropped(), 0);
}

#[test]
fn who_waits_for_one_that_leaves_waits_no_longer() {
    for workers in [1, 2] {
        let settings = Settings::default().queue(64 << 10).sender_wait(Duration::from_secs(60));
        let relay = relay(workers, 3, settings);
        let (mut a, deaf, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1), Client::new(&relay, 2));
        a.stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        let (to_deaf, to_b, gone) = (deaf.session, b.session, AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !gone.load(Ordering::Relaxed) {
                    a.send(to_deaf, &[0; 8000]);
                }
                a.send(to_b, b"afterwards");
            });
            // Wait until reading has stopped, and what the sockets still held has been taken
            counted(&relay, Count::Paused, 1);
            let mut before = 0;
            until("a sender that waits", || {
                std::thread::sleep(Duration::from_millis(200));
                std::mem::replace(&mut before, relay.counts().of(Count::BytesIn)) == before
            });
            drop(deaf);
            gone.store(true, Ordering::Relaxed);
            assert_eq!(b.receive().1, b"afterwards", "{workers} workers");
        });
    }
}

#[test]
fn a_full_house_refuses_newcomers_and_serves_those_inside() {
    let relay = relay(1, 3, Settings::default().max_connections(2));
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let mut late = Client::stranger(&relay, 2);
    let frame = late.sealed(a.session, b"let me in");
    // The refusal may arrive before or after the write
    let _ = late.stream.write_all(&frame);
    assert_eq!(late.try_receive(), None);
    counted(&relay, Count::Refused, 1);
    a.send(b.session, b"still here");
    assert_eq!(b.receive().1, b"still here");
    drop(a);
    until("a free place", || relay.connections() == 1);
    Client::new(&relay, 2).send(b.session, b"now");
    assert_eq!(b.receive().1, b"now");
}

#[test]
fn memory_bears_so_many_connections_and_no_more() {
    let settings = Settings::default().queue(1 << 20).max_frame(16 << 10).max_connections(1000);
    let one = settings.connection_bytes() as u64;
    assert!((32 << 10..34 << 10).contains(&one), "a cut frame and a queue of one");
    assert_eq!(settings.connections_within(20 * one), 10, "half is for longer queues");
    assert_eq!(settings.connections_within(2 * one - 1), 0);
    assert_eq!(settings.connections_within(u64::MAX), 1000);
}

#[test]
fn queues_share_their_memory_and_none_takes_it_all() {
    let (queue, queues) = (1 << 20, 1 << 20);
    let settings = Settings::default().queue(queue).queues(queues).sender_wait(Duration::from_millis(20));
    let relay = relay(1, 4, settings.clone());
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let (mut c, deaf) = (Client::new(&relay, 2), Client::new(&relay, 3));
    let mut sent = 0;
    while relay.counts().of(Count::Slow) == 0 {
        c.send(deaf.session, &[0; 8000]);
        sent += 1;
        assert!(sent < 20_000, "never slow");
    }
    // The others get their frames, of any length, in order
    for length in [8, 1000, 16_000].into_iter().cycle().take(90) {
        a.send(b.session, &vec![7; length]);
        assert_eq!(b.receive().1, vec![7; length]);
    }
    let held = relay.queue_bytes();
    assert!((queue / 2..queues as usize + 2 * settings.max_frame).contains(&held), "{held}");
    drop(deaf);
    until("the memory is given back", || relay.queue_bytes() == 0);
}

#[test]
fn who_never_proves_itself_is_sent_away() {
    let relay = relay(2, 2, Settings::default().first_frame(Duration::from_secs(2)));
    let mut honest = Client::new(&relay, 0);
    let mut silent = Client::stranger(&relay, 1);
    let mut babbling = Client::stranger(&relay, 1);
    let mut frame = babbling.sealed(honest.session, b"forged");
    *frame.last_mut().unwrap() ^= 1;
    babbling.stream.write_all(&frame).unwrap();
    assert_eq!(silent.try_receive(), None);
    assert_eq!(babbling.try_receive(), None);
    honest.hello();
    counted(&relay, Count::Expelled, 2);
}

#[test]
fn draining_takes_no_newcomers_and_ends_when_all_have_left() {
    let relay = relay(2, 3, Settings::default());
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    relay.drain();
    until("a closed door", || match TcpStream::connect(relay.address()) {
        Err(error) => error.kind() == ErrorKind::ConnectionRefused,
        Ok(_) => false,
    });
    a.send(b.session, b"while draining");
    assert_eq!(b.receive().1, b"while draining");
    assert!(!relay.drained_within(Duration::from_millis(50)));
    // What was accepted before the end is delivered before the end
    for number in 0..500u32 {
        a.send(b.session, &number.to_be_bytes());
    }
    counted(&relay, Count::Opened, 503);
    let counts = relay.stop();
    for number in 0..500u32 {
        assert_eq!(b.receive().1, number.to_be_bytes());
    }
    assert_eq!(b.try_receive(), None);
    assert_eq!(counts.dropped(), 0);
}

#[test]
fn sessions_come_and_go_while_others_talk() {
    let relay = relay(2, 4, Settings::default());
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let (shard, slot) = relay.layout().locate(b.session).unwrap();
    relay.change(shard, slot..slot + 1, move |sessions| sessions.remove(slot)).unwrap();
    a.send(b.session, b"to nobody");
    counted(&relay, Count::WrongDestination, 1);
    b.send(a.session, b"by nobody");
    counted(&relay, Count::Unknown, 1);
    let session = b.session;
    relay
        .change(shard, slot..slot + 1, move |sessions| sessions.admit(slot, session, &material(1)).map(drop))
        .unwrap()
        .unwrap();
    b.send(a.session, b"under the old keys");
    counted(&relay, Count::Stale, 1);
    let mut anew = Client::stranger(&relay, 1);
    anew.renew(1);
    anew.hello();
    a.send(anew.session, b"to somebody");
    assert_eq!(anew.receive().1, b"to somebody");
}
