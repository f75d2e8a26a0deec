//! Fuzz target: a client whose frames are datagrams. Whatever arrives at its socket, it delivers exactly the messages
//! of its peer that the relay sealed for this session, each once.

use std::{
    collections::HashMap,
    io,
    net::{SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use mio::Poll;
use quinn_udp::{Transmit, UdpSocketState};
use sealwright_session::{
    Client, Grant, Material, Plan, Sessions, Spec,
    frame::{self, FrameKind, Header, TAG},
    table,
};

use super::{channel::Channel, identity::Session, transport::Route};
use crate::address::Address;

/// The sessions of the relay: ours, our peer's, and two others.
const SESSIONS: u32 = 4;
const ME: Address = Address { session: 0, generation: 7 };
const PEER: Address = Address { session: 1, generation: 1 };
/// Possible senders of frames; the third owned our peer's number before.
const SENDERS: [Address; 4] =
    [PEER, ME, Address { session: 1, generation: 0 }, Address { session: 2, generation: u32::MAX }];
/// Steps of an input.
const STEPS: usize = 60;
/// The most datagrams of a step; what the kernel accounts for one beside its data; and the most that it keeps for a
/// reader.
const MAX_DATAGRAMS: usize = 9;
const KERNEL_OVERHEAD_BYTES: usize = 512;
const KERNEL_BUFFER_BYTES: usize = 100_000;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// A frame that the relay sealed for our session, and what the client must make of it the first time.
struct Sealed {
    from: Address,
    message: Vec<u8>,
}

struct Run {
    relay: Box<dyn Sessions>,
    /// The relay's socket, to which the client's is bound, and that of a stranger.
    socket: UdpSocket,
    state: UdpSocketState,
    stranger: UdpSocket,
    client: SocketAddr,
    channel: Channel,
    poll: Poll,
    /// A client of the same session that is given only the frames that must open.
    model: Client,
    /// Frames for us that have not been delivered to the client yet, by their bytes.
    sealed: HashMap<Vec<u8>, Sealed>,
    /// Every datagram so far.
    sent: Vec<Vec<u8>>,
    /// Messages that the client must deliver and has not yet, and those that it delivered.
    expected: Vec<Vec<u8>>,
    came: Vec<Vec<u8>>,
    authentic: bool,
    others: bool,
}

impl Run {
    fn new(spec: Spec) -> Run {
        let mut relay = table(Plan::new(spec, SESSIONS).cluster(2)).expect("a small table");
        let grants = (0..SESSIONS).map(|slot| {
            relay.admit(slot, slot, &Material::random().expect("the system's random bytes")).expect("a free slot")
        });
        let grants: Vec<_> = grants.collect();
        let bound = || UdpSocket::bind("127.0.0.1:0").expect("a port of this machine");
        let (socket, stranger) = (bound(), bound());
        socket.set_read_timeout(Some(ANSWER_TIMEOUT)).expect("a time");
        let frames = socket.local_addr().expect("it is bound");
        let session = Session {
            client: Client::new(again(&grants[0])),
            address: ME,
            spec,
            frames,
            mesh: false,
            udp: Some(frames),
            workers: 1,
            found: vec![Some(PEER)],
        };
        let poll = Poll::new().expect("readiness");
        let mut channel = Channel::connect(session, Route::Udp(frames), poll.registry()).expect("a socket");
        assert!(channel.flush().is_ok());
        let state = UdpSocketState::new((&socket).into()).expect("a socket");
        socket.set_nonblocking(false).expect("a socket that waits");
        let mut model = Client::new(again(&grants[0]));
        // As the channel does at its start.
        model.seal(ME.session, &ME.generation.to_be_bytes()).expect("a new key");
        let client = frames;
        let (sealed, sent, expected, came) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
        let (authentic, others) = (false, false);
        let mut run = Run {
            relay,
            socket,
            state,
            stranger,
            client,
            channel,
            poll,
            model,
            sealed,
            sent,
            expected,
            came,
            authentic,
            others,
        };
        run.heard_by_relay(&[]);
        run
    }

    /// The relay receives the next frame of the client and so learns its port. The frame is for the client itself if
    /// the message is empty, else for the peer.
    fn heard_by_relay(&mut self, message: &[u8]) {
        let mut frame = vec![0; 4096];
        let (len, from) = retried(|| self.socket.recv_from(&mut frame)).expect("the client's frame");
        frame.truncate(len);
        self.relay.open(ME.session, &mut frame).expect("what the client seals opens");
        let to = if message.is_empty() { ME } else { PEER };
        assert_eq!(Address::split(frame::payload(&frame)), Some((to, message)));
        self.client = from;
    }

    /// A frame for a session, as the relay seals it.
    fn seal(&mut self, from: Address, to: u32, message: &[u8]) -> Vec<u8> {
        let data = [&from.generation.to_be_bytes(), message].concat();
        let mut frame = frame::unsealed(from.session, &data);
        self.relay.seal(to, to, &mut frame).expect("a live session");
        if to == ME.session {
            self.sealed.insert(frame.clone(), Sealed { from, message: message.to_vec() });
        }
        frame
    }

    /// Sends datagrams from the relay's socket in one call; all but the last have the same length.
    fn send(&mut self, datagrams: &[Vec<u8>]) {
        let contents = datagrams.concat();
        let segment_size = (datagrams.len() > 1).then(|| datagrams[0].len());
        let transmit =
            Transmit { destination: self.client, ecn: None, contents: &contents, segment_size, src_ip: None };
        let at_once = datagrams.len() <= self.state.max_gso_segments()
            && retried(|| self.state.try_send((&self.socket).into(), &transmit)).is_ok();
        for datagram in datagrams.iter().filter(|_| !at_once) {
            retried(|| self.socket.send_to(datagram, self.client)).expect("the system takes it");
        }
        for datagram in datagrams {
            if let Some(Sealed { from, message }) = self.sealed.remove(datagram) {
                self.model.open(&mut datagram.clone()).expect("what the relay seals opens once");
                self.authentic = true;
                match from {
                    PEER => self.expected.push(message),
                    ME => {}
                    _ => self.others = true,
                }
            }
            self.sent.push(datagram.clone());
        }
    }

    /// Lets the client read until it has delivered all that it must.
    fn read(&mut self) {
        let before = self.channel.heard;
        // The first authentic frame answers the probe.
        let quiet = !std::mem::take(&mut self.authentic);
        let start = Instant::now();
        loop {
            let read = self.channel.receive(Some(PEER), |message| self.came.push(message.to_vec()));
            assert!(read.is_ok(), "nothing breaks the connection");
            let (blocks, due) = (self.channel.blocks_left(), self.model.blocks_left());
            assert!(blocks >= due, "a block for what was not opened");
            let Channel { heard, other_senders, probe_sent, .. } = &self.channel;
            assert!(self.expected.starts_with(&self.came), "{:?}, not {:?}", self.came, self.expected);
            assert!(self.others || !other_senders, "nobody else sent anything");
            assert!(!quiet || *heard == before, "nothing authentic came");
            let all = blocks == due && self.came.len() == self.expected.len() && *other_senders == self.others;
            if all && (quiet || probe_sent.is_none()) {
                break;
            }
            assert!(start.elapsed() < ANSWER_TIMEOUT, "{:?} came of {:?}, {blocks}, {due}", self.came, self.expected);
            std::thread::sleep(Duration::from_micros(100));
        }
        self.came.clear();
        self.expected.clear();
    }

    /// One step: three bytes that select it, and its data.
    fn step(&mut self, [what, which, with]: [u8; 3], data: &[u8]) {
        let from = SENDERS[usize::from(with & 3)];
        let again = || self.sent.get(usize::from(which) % self.sent.len().max(1)).cloned().unwrap_or_default();
        match what % 10 {
            0 => self.send(&[data.to_vec()]),
            1 => {
                let (session, seq) = (u32::from(with % 3), u64::from(which));
                let len = data.len().saturating_sub(TAG) as u16;
                let header = Header { kind: FrameKind::Data, phase: with >> 4, len, session, seq };
                self.send(&[[&header.write()[..], data].concat()]);
            }
            2 => {
                let frame = self.seal(from, ME.session, data);
                self.send(&[frame]);
            }
            3 => {
                let frame = changed(self.seal(from, ME.session, data), which, with, data);
                self.send(&[frame]);
            }
            4 => {
                let frame = again();
                self.send(&[frame]);
            }
            // A frame for another session
            5 => {
                let frame = self.seal(from, 1 + u32::from(which) % (SESSIONS - 1), data);
                self.send(&[frame]);
            }
            // From a stranger's address: a frame that was delivered before, or one that the relay is yet to send
            6 => {
                let frame = if with & 128 == 0 { again() } else { self.seal(PEER, ME.session, data) };
                retried(|| self.stranger.send_to(&frame, self.client)).expect("the system takes it");
                self.sent.push(frame);
            }
            // Several datagrams in one call: the last is shorter, and one of them is changed
            7 => {
                let count = 1 + usize::from(which >> 5);
                let mut run: Vec<Vec<u8>> = (0..count).map(|_| self.seal(PEER, ME.session, data)).collect();
                run.push(self.seal(from, ME.session, &data[..data.len() / 2]));
                let (at, bit) = (usize::from(which) % run.len(), usize::from(with >> 2));
                let len = run[at].len();
                run[at][bit % len] ^= with & 4;
                self.send(&run);
            }
            // Two frames in one datagram
            8 => {
                let both = [again(), self.seal(PEER, ME.session, data)].concat();
                self.send(&[both]);
            }
            _ if with & 1 == 0 => {
                self.read();
                assert!(self.channel.reconnect(self.poll.registry()).is_ok() && self.channel.flush().is_ok());
                self.model.seal(ME.session, &ME.generation.to_be_bytes()).expect("a key that lasts");
                self.heard_by_relay(&[]);
            }
            _ => self.say(data),
        }
    }

    /// The client sends to its peer.
    fn say(&mut self, data: &[u8]) {
        let message = [b"x", data].concat();
        self.channel.send(PEER, &message).expect("a key that lasts");
        assert!(self.channel.flush().is_ok());
        self.model
            .seal(PEER.session, &[&PEER.generation.to_be_bytes(), &message[..]].concat())
            .expect("a key that lasts");
        self.heard_by_relay(&message);
    }
}

/// A copy of the client's grant, for the model.
fn again(grant: &Grant) -> Grant {
    Grant::from_bytes(&mut grant.to_bytes()).expect("the same grant")
}

/// A frame that is truncated, extended, or has a byte changed.
fn changed(mut frame: Vec<u8>, which: u8, with: u8, data: &[u8]) -> Vec<u8> {
    let at = (usize::from(which) << 4 | usize::from(with & 15)) % frame.len();
    match with >> 4 {
        0 => frame.truncate(at),
        1 => frame.extend_from_slice(data),
        with => frame[at] ^= with,
    }
    frame
}

/// Retries a call that a signal interrupts, such as the timer of a fuzzing engine.
fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Input: steps of five bytes (what arrives, two that select, and the length of the data that follows). The client
/// reads after each step whose first byte has its highest bit set, and at the end.
pub fn client_datagrams(spec: Spec, mut bytes: &[u8]) {
    let mut run = Run::new(spec);
    let mut total = 0;
    for _ in 0..STEPS {
        let Some((&[what, which, with, high, low], rest)) = bytes.split_first_chunk() else { break };
        let (data, rest) = rest.split_at(rest.len().min(usize::from(u16::from_be_bytes([high & 3, low]))));
        bytes = rest;
        total += MAX_DATAGRAMS * (KERNEL_OVERHEAD_BYTES + data.len());
        if total > KERNEL_BUFFER_BYTES {
            run.read();
            total = 0;
        }
        run.step([what, which, with], data);
        if what & 128 != 0 {
            run.read();
        }
    }
    run.read();
    // Afterwards both directions must still work.
    let last = run.seal(PEER, ME.session, b"still there");
    run.send(&[last]);
    assert_eq!(run.expected, [b"still there"]);
    run.read();
    run.say(b"too");
    let counted = run.relay.blocks_left(ME.session).expect("a live session");
    assert!(counted <= run.channel.blocks_left(), "the client counts what the relay never sealed");
}
