//! Frames as datagrams, one in each. Many are read at a time, and runs of one length are sent together and cut up by the
//! system.
//!
//! A peer is an address that an authentic frame came from, as long as a session is bound to it: strangers take no
//! memory. Nothing is queued beyond an iteration and nobody waits: what the system does not take is dropped, as it may
//! be on the way.

use std::{
    collections::HashMap,
    io::{self, IoSliceMut},
    net::SocketAddr,
};

use mio::net::UdpSocket;
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState, is_msg_size_err};

use crate::data::count::{Count, Counts};

/// The longest run that one call may carry.
const RUN: usize = 65_000;
/// Room for a run that the system coalesced.
const CHUNK: usize = 64 << 10;
/// The size of the socket's buffers, if the system allows it.
const SOCKET: usize = 4 << 20;

/// One worker's socket and its peers.
pub(crate) struct Udp {
    pub(crate) socket: UdpSocket,
    state: UdpSocketState,
    peers: Vec<Peer>,
    free: Vec<u32>,
    of: HashMap<SocketAddr, u32>,
    dirty: Vec<u32>,
    /// Frames whose peers were gone before they were sent.
    left_behind: u64,
    buffer: Vec<u8>,
    /// Datagrams may be waiting.
    pub(crate) readable: bool,
}

#[derive(Debug)]
struct Peer {
    address: SocketAddr,
    /// Sessions that are bound to it.
    sessions: u32,
    out: Vec<u8>,
    /// Frames in `out`: length and number of each run.
    runs: Vec<(usize, usize)>,
}

/// Datagrams of one sender, of one length except for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) stride: usize,
    pub(crate) from: SocketAddr,
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Udp> {
        let state = UdpSocketState::new((&socket).into())?;
        // As much as the system allows; smaller buffers only mean more loss
        let _ = state.set_recv_buffer_size((&socket).into(), SOCKET);
        let _ = state.set_send_buffer_size((&socket).into(), SOCKET);
        let buffer = vec![0; BATCH_SIZE * CHUNK];
        Ok(Udp {
            socket,
            state,
            peers: Vec::new(),
            free: Vec::new(),
            of: HashMap::new(),
            dirty: Vec::new(),
            left_behind: 0,
            buffer,
            readable: true,
        })
    }

    /// Memory of one worker's socket without its peers.
    pub(crate) const BYTES: usize = BATCH_SIZE * CHUNK;
    /// Memory of a peer between iterations.
    pub(crate) const PEER: usize = size_of::<Peer>() + 2 * size_of::<(SocketAddr, u32)>();

    /// Takes the buffer out while frames in it are forwarded.
    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    pub(crate) fn give_buffer(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }

    /// Reads once.
    pub(crate) fn read(&mut self, buffer: &mut [u8], arrived: &mut Vec<Arrived>) {
        arrived.clear();
        let mut meta = [RecvMeta::default(); BATCH_SIZE];
        let mut chunks: Vec<IoSliceMut<'_>> = buffer.chunks_mut(CHUNK).map(IoSliceMut::new).collect();
        match self.state.recv((&self.socket).into(), &mut chunks, &mut meta) {
            Ok(count) => {
                for (at, meta) in meta[..count].iter().enumerate() {
                    let (start, end) = (at * CHUNK, at * CHUNK + meta.len.min(CHUNK));
                    arrived.push(Arrived { start, end, stride: meta.stride.max(1), from: meta.addr });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            // The network's answer to an earlier datagram: more may be waiting behind it
            Err(_) => {}
        }
    }

    /// The peer at an address, for one more session.
    pub(crate) fn acquire(&mut self, address: SocketAddr) -> u32 {
        let at = *self.of.entry(address).or_insert_with(|| {
            let peer = Peer { address, sessions: 0, out: Vec::new(), runs: Vec::new() };
            match self.free.pop() {
                Some(at) => {
                    self.peers[at as usize] = peer;
                    at
                }
                None => {
                    self.peers.push(peer);
                    self.peers.len() as u32 - 1
                }
            }
        });
        self.peers[at as usize].sessions += 1;
        at
    }

    /// Whether a peer is at this address.
    pub(crate) fn is_at(&self, peer: u32, address: SocketAddr) -> bool {
        self.peers[peer as usize].address == address
    }

    /// One session of the peer is bound elsewhere.
    pub(crate) fn release(&mut self, peer: u32) {
        let gone = &mut self.peers[peer as usize];
        gone.sessions -= 1;
        if gone.sessions == 0 {
            self.of.remove(&gone.address);
            self.left_behind += gone.runs.iter().map(|(_, count)| *count as u64).sum::<u64>();
            (gone.out, gone.runs) = (Vec::new(), Vec::new());
            self.free.push(peer);
        }
    }

    /// Queues a frame until the end of the iteration. Returns whether there was room.
    pub(crate) fn queue(&mut self, peer: u32, frame: &[u8], limit: usize) -> bool {
        let there = &mut self.peers[peer as usize];
        if there.out.len() + frame.len() > limit {
            return false;
        }
        if there.out.is_empty() {
            self.dirty.push(peer);
        }
        there.out.extend_from_slice(frame);
        match there.runs.last_mut() {
            Some((length, count)) if *length == frame.len() => *count += 1,
            _ => there.runs.push((frame.len(), 1)),
        }
        true
    }

    /// Sends what was queued, and counts what became of each frame.
    pub(crate) fn flush(&mut self, counts: &mut Counts) {
        counts.add(Count::WrongDestination, std::mem::take(&mut self.left_behind));
        let most = self.state.max_gso_segments();
        for peer in self.dirty.drain(..) {
            let Peer { address, out, runs, .. } = &mut self.peers[peer as usize];
            let mut rest = &out[..];
            for (length, count) in runs.drain(..) {
                let (run, behind) = rest.split_at(length * count);
                rest = behind;
                for contents in run.chunks(length * most.min(RUN / length).max(1)) {
                    let segment_size = (contents.len() > length).then_some(length);
                    let transmit = Transmit { destination: *address, ecn: None, contents, segment_size, src_ip: None };
                    let outcome = match self.state.try_send((&self.socket).into(), &transmit) {
                        Ok(()) => {
                            counts.add(Count::BytesOut, contents.len() as u64);
                            Count::Forwarded
                        }
                        Err(error) if is_msg_size_err(&error) => Count::Oversize,
                        Err(_) => Count::Slow,
                    };
                    counts.add(outcome, (contents.len() / length) as u64);
                }
            }
            out.clear();
            if out.capacity() > CHUNK {
                *out = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_frame_is_counted_once_as_forwarded_or_as_dropped() {
        let mut here = Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
        // The system sends nothing to port 0; and one whose last session leaves before its frames do
        let [good, bad, leaves] =
            ["127.0.0.1:9", "127.0.0.1:0", "127.0.0.1:10"].map(|to| here.acquire(to.parse().unwrap()));
        for peer in [good, bad, bad, leaves, leaves, leaves] {
            assert!(here.queue(peer, &[1; 72], 1 << 16));
        }
        here.release(leaves);
        let mut counts = Counts::default();
        here.flush(&mut counts);
        let of = [Count::Forwarded, Count::Slow, Count::WrongDestination].map(|what| counts.of(what));
        assert_eq!(of, [1, 2, 3]);
    }

    #[test]
    fn runs_arrive_as_single_datagrams_and_peers_go_with_their_last_session() {
        let here = || Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
        let (mut a, mut b) = (here(), here());
        let there = b.socket.local_addr().unwrap();
        let peer = a.acquire(there);
        assert_eq!((a.acquire(there), a.is_at(peer, there)), (peer, true));
        let lengths = [72, 72, 72, 100, 72, 72, 1500, 1500];
        for (at, length) in lengths.iter().enumerate() {
            assert!(a.queue(peer, &vec![at as u8; *length], 1 << 16));
        }
        assert!(!a.queue(peer, &[0; 70_000], 1 << 16), "no room");
        let mut counts = Counts::default();
        a.flush(&mut counts);
        assert_eq!(counts.of(Count::BytesOut), lengths.iter().sum::<usize>() as u64);
        let (mut buffer, mut arrived, mut got) = (b.take_buffer(), Vec::new(), Vec::new());
        for _ in 0..1000 {
            b.read(&mut buffer, &mut arrived);
            for run in &arrived {
                assert_eq!(run.from, a.socket.local_addr().unwrap());
                got.extend(buffer[run.start..run.end].chunks(run.stride).map(<[u8]>::to_vec));
            }
            if got.len() == lengths.len() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let sent: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(at, length)| vec![at as u8; *length]).collect();
        assert!(got == sent);
        a.release(peer);
        assert_eq!(a.of.len(), 1);
        a.release(peer);
        assert_eq!((a.of.len(), a.acquire("127.0.0.1:9".parse().unwrap())), (0, peer), "its slot is used again");
    }
}
