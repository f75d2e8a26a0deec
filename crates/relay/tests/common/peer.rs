//! A client that sends and receives single frames.
#![allow(clippy::unwrap_used)]

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use sealwright_relay::{Address, client::Session};
use sealwright_session::frame::{HEADER, Header};

/// A session with its connection.
pub(crate) struct Peer {
    pub(crate) session: Session,
    pub(crate) stream: TcpStream,
}

impl Peer {
    /// Connects, and sends a frame so that the relay binds the session to the connection.
    pub(crate) fn new(session: Session) -> Peer {
        let stream = TcpStream::connect(session.frames).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut peer = Peer { session, stream };
        let me = peer.session.address;
        peer.send(me, b"hello");
        assert_eq!(peer.receive(), (me, b"hello".to_vec()));
        peer
    }

    pub(crate) fn send(&mut self, to: Address, data: &[u8]) {
        let data = [&to.generation.to_be_bytes(), data].concat();
        let frame = self.session.client.seal(to.session, &data).unwrap();
        self.stream.write_all(&frame).unwrap();
    }

    pub(crate) fn receive(&mut self) -> (Address, Vec<u8>) {
        let mut frame = vec![0; HEADER];
        self.stream.read_exact(&mut frame).unwrap();
        let length = Header::read(frame.first_chunk().unwrap()).unwrap().frame_len();
        frame.resize(length, 0);
        self.stream.read_exact(&mut frame[HEADER..]).unwrap();
        let (session, data) = self.session.client.open(&mut frame).unwrap();
        let (generation, data) = data.split_first_chunk().unwrap();
        (Address { session, generation: u32::from_be_bytes(*generation) }, data.to_vec())
    }
}
