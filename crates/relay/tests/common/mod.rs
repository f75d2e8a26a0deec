//! A relay with a few sessions, and clients that can misbehave.
#![allow(clippy::unwrap_used, dead_code)]

use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

use sealwright_relay::{Address, Count, NodeLayout, Relay, Settings};
use sealwright_session::{
    Material, Plan, Secret, Sessions, Side, Spec,
    frame::{HEADER, Header, TAG},
    table,
};
pub(crate) use sealwright_transcripts::until;

/// The scheme of all these tests.
pub(crate) fn spec() -> Spec {
    "gcm-on64".parse().unwrap()
}

pub(crate) fn material(index: u32) -> Material {
    let mut bytes = [0; Material::LEN];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = (index as usize * 31 + at * 7 + 1) as u8;
    }
    Material::from_bytes(&bytes)
}

/// A relay of `workers` workers and `sessions` sessions.
pub(crate) fn relay(workers: u32, sessions: u32, settings: Settings) -> Relay {
    let layout = NodeLayout::new(3, workers);
    let tables = (0..workers).map(|shard| {
        let mut table = table(Plan::new(spec(), layout.slots(sessions, shard))).unwrap();
        for slot in 0..table.slots() {
            let index = slot * workers + shard;
            table.admit(slot, layout.session(index), &material(index)).unwrap();
        }
        table
    });
    Relay::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), 3, settings, tables.collect()).unwrap()
}

/// One client with a connection of its own.
pub(crate) struct Client {
    pub(crate) session: u32,
    pub(crate) stream: TcpStream,
    keys: Box<dyn Sessions>,
    received: Vec<u8>,
}

impl Client {
    /// Connects, and sends a frame so that the relay binds the session to the connection.
    pub(crate) fn new(relay: &Relay, index: u32) -> Client {
        let mut client = Client::stranger(relay, index);
        client.hello();
        client
    }

    /// Connects without sending anything.
    pub(crate) fn stranger(relay: &Relay, index: u32) -> Client {
        let session = relay.layout().session(index);
        let secret = Some(Secret::random().unwrap());
        let mut keys = table(Plan::new(spec(), 1).side(Side::Client).secret(secret)).unwrap();
        keys.admit(0, session, &material(index)).unwrap();
        let stream = TcpStream::connect(relay.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { session, stream, keys, received: Vec::new() }
    }

    /// Derives the keys of the next epoch, as the relay does when it admits the session again.
    pub(crate) fn renew(&mut self, index: u32) {
        self.keys.admit(0, self.session, &material(index)).unwrap();
    }

    pub(crate) fn hello(&mut self) {
        self.send(self.session, b"hello");
        assert_eq!(self.receive(), (self.session, b"hello".to_vec()));
    }

    /// Whether the relay still serves it.
    pub(crate) fn is_served(&mut self) -> bool {
        let frame = self.sealed(self.session, b"hello");
        self.stream.write_all(&frame).is_ok() && self.try_receive().is_some()
    }

    pub(crate) fn sealed(&mut self, to: u32, data: &[u8]) -> Vec<u8> {
        self.sealed_for(Address { session: to, generation: 0 }, data)
    }

    pub(crate) fn sealed_for(&mut self, to: Address, data: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; HEADER];
        frame.extend_from_slice(&to.to_bytes());
        frame.extend_from_slice(data);
        frame.extend_from_slice(&[0; TAG]);
        self.keys.seal(0, self.session, &mut frame).unwrap();
        frame
    }

    pub(crate) fn send(&mut self, to: u32, data: &[u8]) {
        let frame = self.sealed(to, data);
        self.stream.write_all(&frame).unwrap();
    }

    /// The next frame that opens: sender and data.
    pub(crate) fn receive(&mut self) -> (u32, Vec<u8>) {
        self.try_receive().expect("the relay closed the connection")
    }

    /// Sender and data of a frame.
    pub(crate) fn opened(&mut self, mut frame: Vec<u8>) -> (u32, Vec<u8>) {
        self.keys.open(0, &mut frame).unwrap();
        let (from, data) = Address::split(&frame[HEADER..frame.len() - TAG]).unwrap();
        (from.session, data.to_vec())
    }

    /// Like [`Client::receive`]; `None` when the connection has ended.
    pub(crate) fn try_receive(&mut self) -> Option<(u32, Vec<u8>)> {
        loop {
            if let Some(header) = self.received.first_chunk::<HEADER>() {
                let length = Header::read(header).unwrap().frame_len();
                if self.received.len() >= length {
                    let frame = self.received.drain(..length).collect();
                    return Some(self.opened(frame));
                }
            }
            let mut buffer = [0; 16 << 10];
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(much) => self.received.extend_from_slice(&buffer[..much]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing came: {error}"),
            }
        }
    }
}

/// Waits until the relay has counted at least this many.
pub(crate) fn counted(relay: &Relay, what: Count, at_least: u64) {
    until(&format!("{} {at_least}", what.name()), || relay.counts().of(what) >= at_least);
}
