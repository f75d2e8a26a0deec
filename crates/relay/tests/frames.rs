//! Frames between clients: good ones are delivered, bad ones are counted and dropped.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;

use common::{Client, counted, relay};
use sealwright_relay::{Count, Settings};
use sealwright_session::frame::{HEADER, TAG};

#[test]
fn frames_travel_between_workers_and_within_one() {
    let relay = relay(2, 4, Settings::default());
    let mut clients: Vec<Client> = (0..4).map(|index| Client::new(&relay, index)).collect();
    for from in 0..4 {
        for to in 0..4 {
            let (sender, receiver) = (clients[from].session, clients[to].session);
            for length in [0, 1, 15, 16, 17, 1500, 9000] {
                let data: Vec<u8> = (0..length).map(|at| (at * 7 + from + to) as u8).collect();
                clients[from].send(receiver, &data);
                assert_eq!(clients[to].receive(), (sender, data));
            }
        }
    }
    drop(clients);
    counted(&relay, Count::Closed, 4);
    let counts = relay.stop();
    assert_eq!(counts.of(Count::Forwarded), 4 + 16 * 7);
    assert_eq!((counts.dropped(), counts.of(Count::Closed)), (0, 4));
}

#[test]
fn frames_cut_anywhere_are_put_together() {
    let relay = relay(1, 2, Settings::default());
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let mut stream = Vec::new();
    for number in 0..40u8 {
        stream.extend(a.sealed(b.session, &[number; 30]));
    }
    for piece in stream.chunks(7) {
        a.stream.write_all(piece).unwrap();
    }
    for number in 0..40 {
        assert_eq!(b.receive(), (a.session, vec![number; 30]));
    }
    assert_eq!(relay.counts().dropped(), 0);
}

#[test]
fn bad_frames_are_counted_by_what_is_wrong_and_good_ones_pass() {
    let relay = relay(2, 4, Settings::default());
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 2));
    let (to_b, stranger) = (b.session, Client::stranger(&relay, 1).sealed(0, b"of another worker"));
    let mut expect = |what: Count, bad: &mut dyn FnMut(&mut Client) -> Vec<u8>| {
        let before = relay.counts();
        let frame = bad(&mut a);
        a.stream.write_all(&frame).unwrap();
        let after = {
            // A good frame after the bad one is delivered
            a.send(to_b, what.name().as_bytes());
            assert_eq!(b.receive().1, what.name().as_bytes());
            counted(&relay, what, before.of(what) + 1);
            relay.counts().since(&before)
        };
        assert_eq!((after.of(what), after.dropped()), (1, 1), "{what:?}: {after:?}");
    };
    let mut twin = Client::stranger(&relay, 0);
    let header = |length: u16, session: u32| {
        let mut frame = vec![0x11, 0];
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(&session.to_be_bytes());
        frame.extend_from_slice(&99u64.to_be_bytes());
        frame.resize(HEADER + usize::from(length) + TAG, 0);
        frame
    };
    expect(Count::Short, &mut |_| header(3, to_b));
    expect(Count::Oversize, &mut |_| header(40_000, to_b));
    expect(Count::Unknown, &mut |_| header(40, relay.layout().session(4)));
    expect(Count::Unknown, &mut |_| header(40, 7));
    expect(Count::Misplaced, &mut |_| stranger.clone());
    expect(Count::Stale, &mut |a| header(40, a.session));
    expect(Count::Forged, &mut |a| {
        let mut frame = a.sealed(to_b, b"changed");
        frame[HEADER + 5] ^= 1;
        frame
    });
    // The twin's first frame has a packet number that `a` has already used
    expect(Count::Replayed, &mut |_| twin.sealed(to_b, b"twice"));
    expect(Count::WrongDestination, &mut |a| a.sealed(relay.layout().session(3), b"who is not connected"));
    expect(Count::WrongDestination, &mut |a| a.sealed(relay.layout().session(9), b"who does not exist"));
    expect(Count::WrongDestination, &mut |a| a.sealed(7, b"of another node"));
}

#[test]
fn every_changed_bit_is_found() {
    let relay = relay(1, 2, Settings::default());
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let before = relay.counts();
    let mut wrong = 0;
    for byte in 0..HEADER + 8 + TAG {
        for bit in 0..8 {
            // A changed length truncates the frame, and another version or flags make it no frame: other tests cover
            // these
            if byte == 0 || (byte == 1 && bit > 3) || (2..4).contains(&byte) {
                continue;
            }
            let mut frame = a.sealed(b.session, b"data");
            frame[byte] ^= 1 << bit;
            a.stream.write_all(&frame).unwrap();
            wrong += 1;
        }
    }
    a.send(b.session, b"good");
    assert_eq!(b.receive(), (a.session, b"good".to_vec()));
    let counts = relay.counts().since(&before);
    assert_eq!((counts.dropped(), counts.of(Count::Opened)), (wrong, 1), "{counts:?}");
}

#[test]
fn what_is_no_frame_ends_the_connection() {
    let relay = relay(1, 2, Settings::default());
    let (mut a, mut b) = (Client::new(&relay, 0), Client::new(&relay, 1));
    let last = a.sealed(b.session, b"before");
    a.stream.write_all(&last).unwrap();
    a.stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(b.receive().1, b"before");
    assert_eq!(a.try_receive(), None);
    counted(&relay, Count::Malformed, 1);
    counted(&relay, Count::Expelled, 1);
    // A session is not tied to a connection: it continues over another one
    let mut again = Client::stranger(&relay, 0);
    for _ in 0..100 {
        let _ = again.sealed(b.session, b"");
    }
    again.hello();
    again.send(b.session, b"after");
    assert_eq!(b.receive().1, b"after");
}
