//! Datagrams that arrive at a relay, and at a client.

use std::{
    io,
    net::UdpSocket,
    time::{Duration, Instant},
};

use sealwright_session::frame::{HEADER, TAG};

use crate::served::{Served, made, scheme, served};

/// Most datagrams of an input, and most bytes: what the system buffers for a slow reader.
const MOST: usize = 60;
const BYTES: usize = 60_000;
const LATEST: Duration = Duration::from_secs(20);

/// A client's socket, which accepts datagrams only from the relay.
fn socket(served: &Served) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(served.relay.udp(0).unwrap()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    socket
}

/// Sends arbitrary bytes as datagrams: five bytes give the kind and length of a datagram, then come its bytes; the last
/// byte selects the scheme. The relay counts errors. An honest client gets only its own frames and what an insider
/// sealed for it, and nobody gets anything without a genuine frame.
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

/// Takes arbitrary bytes as what arrives at the socket of a client whose frames are datagrams; the last byte selects
/// the scheme. The client delivers only messages of its peer that the relay sealed for its session, each once and in
/// order.
pub(crate) fn client_datagrams(bytes: &[u8]) {
    let spec = scheme(bytes.last().copied().unwrap_or(0));
    sealwright_relay::client::datagrams_fuzz::client_datagrams(spec, bytes);
}
