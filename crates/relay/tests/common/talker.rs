//! A client that sends and receives frames one at a time: a session and its connection.
#![allow(clippy::unwrap_used)]

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use sealwright_relay::{Address, client::Session};
use sealwright_session::frame::{HEADER, Header};

/// A client that never reconnects.
pub(crate) struct Talker {
    session: Session,
    stream: TcpStream,
    received: Vec<u8>,
    /// Frames that an observer has seen: one that arrived, and one that did not.
    seen: [Vec<u8>; 2],
}

impl Talker {
    /// Connects, and sends a frame so that the relay binds the session to the connection.
    pub(crate) fn new(session: Session) -> Talker {
        let stream = TcpStream::connect(session.frames).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut talker = Talker { session, stream, received: Vec::new(), seen: Default::default() };
        talker.seen = [0, 1].map(|_| talker.sealed(talker.address(), b"hello"));
        talker.stream.write_all(&talker.seen[0]).unwrap();
        assert_eq!(talker.receive(), (talker.address(), b"hello".to_vec()));
        talker
    }

    pub(crate) fn address(&self) -> Address {
        self.session.address
    }

    pub(crate) fn seen(&self) -> [Vec<u8>; 2] {
        self.seen.clone()
    }

    fn sealed(&mut self, to: Address, data: &[u8]) -> Vec<u8> {
        let payload = [&to.generation.to_be_bytes()[..], data].concat();
        self.session.client.seal(to.session, &payload).unwrap()
    }

    pub(crate) fn send(&mut self, to: Address, data: &[u8]) {
        let frame = self.sealed(to, data);
        self.stream.write_all(&frame).unwrap();
    }

    /// Sender and data of the next frame, which must open.
    pub(crate) fn receive(&mut self) -> (Address, Vec<u8>) {
        loop {
            if let Some(header) = self.received.first_chunk::<HEADER>() {
                let length = Header::read(header).unwrap().frame_len();
                if self.received.len() >= length {
                    let mut frame: Vec<u8> = self.received.drain(..length).collect();
                    let (session, data) = self.session.client.open(&mut frame).unwrap();
                    let (generation, data) = data.split_first_chunk().unwrap();
                    return (Address { session, generation: u32::from_be_bytes(*generation) }, data.to_vec());
                }
            }
            let mut buffer = [0; 16 << 10];
            let much = self.stream.read(&mut buffer).expect("nothing came");
            assert!(much > 0, "the relay closed the connection");
            self.received.extend_from_slice(&buffer[..much]);
        }
    }
}
