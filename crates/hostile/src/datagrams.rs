//! Datagrams that arrive at a relay, and at a client.

use std::{
    io,
    net::UdpSocket,
    time::{Duration, Instant},
};

use sealwright_relay::Count;
use sealwright_session::{
    Client,
    frame::{HEADER, TAG},
};

use crate::served::{Messages, Served, is_intact, made, mark, scheme, served};

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

/// Sends a message of `honest` to itself until it comes back, because datagrams may be lost, and judges what comes
/// meanwhile: `here` was sent in the same way before. Returns how many bytes were sent.
fn returned(mine: &UdpSocket, honest: &mut Client, [here, text]: [&[u8]; 2], others: &mut Others) -> usize {
    let (me, start, mut sent) = (honest.session(), Instant::now(), 0);
    loop {
        assert!(start.elapsed() < LATEST, "the relay does not serve");
        let frame = honest.seal(me, text).unwrap();
        mine.send(&frame).unwrap();
        sent += frame.len();
        let mut frame = [0; 4096];
        loop {
            match mine.recv(&mut frame) {
                Ok(len) => {
                    assert!(len >= HEADER + TAG, "a frame of {len} bytes");
                    let (from, data) = honest.open(&mut frame[..len]).expect("what the relay seals opens");
                    if from != me {
                        assert_eq!(from, others.insider);
                        others.messages.came(data);
                    } else if data == text {
                        return sent;
                    } else {
                        assert_eq!(data, here);
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
}

/// Who else may send to the honest client, and what it sealed.
struct Others {
    insider: u32,
    messages: Messages,
}

/// Sends arbitrary bytes as datagrams: five bytes give the kind and length of a datagram, then come its bytes; the last
/// byte selects the scheme. The relay counts errors. An honest client gets its own messages and those that an insider
/// sealed for it: unchanged, at most as often as they were sealed, and all whose frames were sent as they are, unless
/// the system lost datagrams. Nobody gets anything without a genuine frame.
pub(crate) fn datagrams(mut bytes: &[u8]) {
    let served = served(bytes.last().copied().unwrap_or(0));
    let mut clients = served.clients.lock().unwrap();
    let [honest, insider, ..] = &mut clients[..] else { return };
    let (hostile, mine) = (socket(served), socket(served));
    let (me, mark, before) = (honest.session(), mark(), served.relay.counts().of(Count::BytesIn));
    let [here, there] = [&b"here"[..], b"still there"].map(|text| [&[0; 4][..], &mark, text].concat());
    let mut others = Others { insider: insider.session(), messages: Messages::default() };
    // From here on, frames for this client arrive here
    let first = returned(&mine, honest, [&here, &here], &mut others);

    let (mut sent, mut total): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
    while let Some((&[what, which, with, high, low], rest)) = bytes.split_first_chunk()
        && sent.len() < MOST
    {
        let (data, rest) = rest.split_at(rest.len().min(usize::from(u16::from_be_bytes([high & 7, low]))));
        bytes = rest;
        let (frame, message) = made([what, which, with], &mark, data, insider, &sent);
        if total + frame.len() > BYTES {
            break;
        }
        total += frame.len();
        if let Some((_, message)) = message.filter(|(to, _)| *to == me) {
            others.messages.sealed(message, is_intact(what));
        }
        hostile.send(&frame).unwrap();
        sent.push(frame);
    }

    // The relay still serves. It reads datagrams in the order in which they were sent.
    let last = returned(&mine, honest, [&here, &there], &mut others);
    let missing = others.messages.missing();
    assert!(missing == 0 || !all_read(served, before, first + total + last), "the relay lost {missing} messages");
    served.counts_fit();
}

/// Whether the relay reads so many bytes more than `before`: otherwise the system lost datagrams on the way to it.
fn all_read(served: &Served, before: u64, sent: usize) -> bool {
    let start = Instant::now();
    while served.relay.counts().of(Count::BytesIn) < before + sent as u64 {
        if start.elapsed() > Duration::from_secs(5) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Takes arbitrary bytes as what arrives at the socket of a client whose frames are datagrams; the last byte selects
/// the scheme. The client delivers only messages of its peer that the relay sealed for its session, each once and in
/// order.
pub(crate) fn client_datagrams(bytes: &[u8]) {
    let spec = scheme(bytes.last().copied().unwrap_or(0));
    sealwright_relay::client::datagrams_fuzz::client_datagrams(spec, bytes);
}
