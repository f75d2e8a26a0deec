//! Input to a relay on a connection.

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use sealwright_session::{
    Client,
    frame::{HEADER, Header},
};

use crate::served::{Served, made, served};

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
/// continues to serve. An honest client gets only its own frames and the messages that an insider sealed for it, each
/// at most as often as it was sent.
pub(crate) fn relay_stream(mut bytes: &[u8]) {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let served = served(bytes.last().copied().unwrap_or(0));
    let mut clients = served.clients.lock().unwrap();
    let [honest, insider, ..] = &mut clients[..] else { return };
    let me = honest.session();
    // Leftovers of other runs may come later
    let run = RUNS.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    let text = |text: &[u8]| [&[0; 4][..], &run, text].concat();
    let mut mine = connected(served);
    // From here on, frames for this client arrive here
    mine.write_all(&honest.seal(me, &text(b"here")).unwrap()).unwrap();
    while next(&mut mine, honest) != (me, text(b"here")) {}

    let mut hostile = connected(served);
    let (mut sent, mut total): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
    let mut sealed: HashMap<Vec<u8>, usize> = HashMap::new();
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
        if let Some((_, message)) = message.filter(|(to, _)| *to == me) {
            *sealed.entry(message).or_default() += 1;
        }
        // The relay may have closed the connection already
        let _ = hostile.write_all(&piece);
        sent.push(piece);
    }
    mine.write_all(&honest.seal(me, &text(b"still there")).unwrap()).unwrap();
    loop {
        let (from, data) = next(&mut mine, honest);
        if (from, &data) == (me, &text(b"still there")) {
            break;
        }
        assert!(from == me || from == insider.session(), "from {from}");
        if from != me && data.starts_with(&text(b"")) {
            let left = sealed.get_mut(&data).filter(|left| **left > 0).expect("what the insider sealed, once");
            *left -= 1;
        }
    }
    served.counts_fit();
}
