//! Input to a relay on a connection.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use sealwright_session::{
    Client,
    frame::{HEADER, Header},
};

use crate::served::{Messages, Served, is_intact, made, mark, served};

/// Most pieces of an input, and most bytes: what the system buffers for a slow reader.
const MOST: usize = 60;
const BYTES: usize = 60_000;
const LATEST: Duration = Duration::from_secs(20);

fn connected(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(served.relay.address()).unwrap();
    stream.set_read_timeout(Some(LATEST)).unwrap();
    stream.set_write_timeout(Some(LATEST)).unwrap();
    stream
}

/// The next frame that the relay sends to `client`: sender and content.
fn next(stream: &mut TcpStream, client: &mut Client) -> (u32, Vec<u8>) {
    let mut frame = vec![0; HEADER];
    stream.read_exact(&mut frame).expect("the relay serves");
    let header = Header::read(frame.first_chunk().unwrap()).expect("a frame");
    frame.resize(header.frame_len(), 0);
    stream.read_exact(&mut frame[HEADER..]).expect("a whole frame");
    let (from, data) = client.open(&mut frame).expect("what the relay seals opens");
    (from, data.to_vec())
}

/// Sends pieces of arbitrary bytes on a connection: five bytes give the kind and length of a piece, then come its
/// bytes; the last byte of the input selects the scheme. The relay counts errors or closes the connection, and
/// continues to serve. An honest client gets its own frames and the messages that an insider sealed for it, each at
/// most as often as it was sent, and all of those that were sent before anything else.
pub(crate) fn relay_stream(mut bytes: &[u8]) {
    let served = served(bytes.last().copied().unwrap_or(0));
    let mut clients = served.clients.lock().unwrap();
    let [honest, insider, ..] = &mut clients[..] else { return };
    let (me, run) = (honest.session(), mark());
    let text = |text: &[u8]| [&[0; 4][..], &run, text].concat();
    let mut mine = connected(served);
    // From here on, frames for this client arrive here
    mine.write_all(&honest.seal(me, &text(b"here")).unwrap()).unwrap();
    while next(&mut mine, honest) != (me, text(b"here")) {}

    let mut hostile = connected(served);
    let (mut sent, mut total): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
    let (mut messages, mut intact) = (Messages::default(), true);
    while let Some((&[what, which, with, high, low], rest)) = bytes.split_first_chunk()
        && sent.len() < MOST
    {
        let (data, rest) = rest.split_at(rest.len().min(usize::from(u16::from_be_bytes([high & 7, low]))));
        bytes = rest;
        let (piece, message) = made([what, which, with], &run, data, insider, &sent);
        total += piece.len();
        if total > BYTES {
            break;
        }
        // What is behind other bytes may be taken for a part of them, and a connection with bad frames is closed
        intact &= is_intact(what);
        if let Some((_, message)) = message.filter(|(to, _)| *to == me) {
            messages.sealed(message, intact);
        }
        // The relay may have closed the connection already
        let _ = hostile.write_all(&piece);
        sent.push(piece);
    }
    mine.write_all(&honest.seal(me, &text(b"still there")).unwrap()).unwrap();
    let mut served_still = false;
    // The relay may read this connection before the other
    while !served_still || messages.missing() > 0 {
        let (from, data) = next(&mut mine, honest);
        if from == me {
            served_still |= data == text(b"still there");
            continue;
        }
        assert_eq!(from, insider.session());
        // Leftovers of former runs may come later
        let of: [u8; 8] = *data[4..].first_chunk().expect("a mark");
        if of >= run {
            messages.came(&data);
        }
    }
    served.counts_fit();
}
