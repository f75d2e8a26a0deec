//! What arrives at a relay, and at a client, as datagrams.

use std::{
    io,
    net::UdpSocket,
    time::{Duration, Instant},
};

use sealwright_session::frame::{HEADER, TAG};

use crate::served::{Served, made, scheme, served};

/// Datagrams of an input at most, and bytes: what the system keeps for a reader that is slow.
const MOST: usize = 60;
const BYTES: usize = 60_000;
const LATEST: Duration = Duration::from_secs(20);

/// A client's socket at the relay, which takes what comes from nobody else.
fn socket(served: &Served) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(served.relay.udp(0).unwrap()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    socket
}

/// Any bytes as datagrams: five bytes say what a datagram is and how long, then come its bytes; the last byte chooses the scheme.
/// The relay counts what is wrong, an honest client gets what an insider sealed for it, and its own frames, and nothing else, and
/// nobody gets anything without a genuine frame.
pub(crate) fn datagrams(mut bytes: &[u8]) {
    let served = served(bytes.last().copied().unwrap_or(0));
    let mut clients = served.clients.lock().unwrap();
    let [honest, insider, ..] = &mut clients[..] else { return };
    let (hostile, mine) = (socket(served), socket(served));
    let (mut sent, mut total): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
    while let Some((&[what, which, with, high, low], rest)) = bytes.split_first_chunk()
        && sent.len() < MOST
    {
        let (data, rest) = rest.split_at(rest.len().min(usize::from(u16::from_be_bytes([high & 7, low]))));
        bytes = rest;
        let (frame, _) = made([what, which, with], &[], data, insider, &sent);
        total += frame.len();
        if total > BYTES {
            break;
        }
        hostile.send(&frame).unwrap();
        sent.push(frame);
    }

    // The relay still serves. Datagrams may be lost, so more than one is sent.
    let (me, start) = (honest.session(), Instant::now());
    let text = [&[0; 4], &b"still there"[..]].concat();
    'served: loop {
        assert!(start.elapsed() < LATEST, "the relay does not serve");
        mine.send(&honest.seal(me, &text).unwrap()).unwrap();
        let mut frame = [0; 4096];
        loop {
            match mine.recv(&mut frame) {
                Ok(len) => {
                    assert!(len >= HEADER + TAG, "a frame of {len} bytes");
                    // To whoever is let in the relay gives what an insider sent, and never what is forged
                    let (from, data) = honest.open(&mut frame[..len]).expect("what the relay seals opens");
                    assert!(from == me || from == insider.session(), "from {from}");
                    if from == me && data == text {
                        break 'served;
                    }
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => break,
                // The system tells of a datagram that nobody took
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                // The engine's timer
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    served.counts_fit();
}

/// Any bytes as what comes to the socket of a client whose frames are datagrams; the last byte chooses the scheme. Out of it come the
/// messages of its peer, each that the relay sealed for its session, once and in their order.
pub(crate) fn client_datagrams(bytes: &[u8]) {
    let spec = scheme(bytes.last().copied().unwrap_or(0));
    sealwright_relay::client::datagrams_fuzz::client_datagrams(spec, bytes);
}
