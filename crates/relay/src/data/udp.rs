//! Frames as datagrams, one in each. Many are received per call (GRO), and runs of equal length are sent in one call
//! and split by the system (GSO).
//!
//! A peer is an address that an authentic frame came from, and exists while a session is bound to it, so strangers take
//! no memory. Nothing is queued beyond an iteration or beyond a memory limit, and nobody waits: what the system does
//! not take is dropped, as it may be in transit.

use std::{
    collections::HashMap,
    io::{self, IoSliceMut},
    net::{IpAddr, SocketAddr},
};

use mio::net::UdpSocket;
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, is_msg_size_err};

use crate::{
    data::count::{Count, Counts},
    udp_socket::BatchingSocket,
};

/// Room for one run of datagrams that the system coalesced.
const RUN_BYTES: usize = 64 << 10;
/// The most queues whose list is kept for the next iteration.
const KEPT_QUEUES: usize = 4096;
/// The most local addresses that are remembered.
const LOCAL_ADDRESSES: usize = 64;

/// One worker's socket and its peers.
pub(crate) struct Udp {
    socket: BatchingSocket,
    /// Whether the socket is bound to the wildcard address, and so receives on every address of this machine.
    wildcard: bool,
    /// Whether answers can be sent from a local address.
    ours: HashMap<IpAddr, bool>,
    peers: Vec<Peer>,
    free: Vec<u32>,
    of: HashMap<Ends, u32>,
    /// The queues of this iteration by peer, and the memory that they take beyond that of spare queues.
    queues: Vec<Queue>,
    held: usize,
    /// Empty queues, kept so that steady traffic allocates nothing, and the memory that they take.
    spare: Vec<Queue>,
    kept: usize,
    /// How many frames were queued for peers that were gone before they could be sent.
    left_behind: u64,
    buffer: Vec<u8>,
    /// Whether datagrams may be waiting.
    pub(crate) readable: bool,
}

/// Both ends of the path of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ends {
    pub(crate) there: SocketAddr,
    /// The local address that it was sent to, if the socket has several: clients accept answers from no other address.
    pub(crate) here: Option<IpAddr>,
}

#[derive(Debug)]
struct Peer {
    ends: Ends,
    /// The local address to send from, unless the system may choose.
    source: Option<IpAddr>,
    /// Sessions that are bound to it.
    sessions: u32,
    /// Its queue in this iteration.
    queue: Option<u32>,
}

/// Frames for a peer in this iteration.
#[derive(Debug, Default)]
struct Queue {
    peer: u32,
    out: Vec<u8>,
    /// The runs of frames in `out`: length of each frame, and their number.
    runs: Vec<(usize, usize)>,
}

impl Queue {
    /// The memory that it takes, used or not.
    fn held(&self) -> usize {
        size_of::<Queue>() + self.out.capacity() + self.runs.capacity() * size_of::<(usize, usize)>()
    }
}

/// A run of datagrams from one sender, all of one length but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) stride: usize,
    pub(crate) from: Ends,
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Udp> {
        let (socket, buffer) = (BatchingSocket::new(socket)?, vec![0; BATCH_SIZE * RUN_BYTES]);
        Ok(Udp {
            wildcard: socket.local_addr()?.ip().is_unspecified(),
            socket,
            ours: HashMap::new(),
            peers: Vec::new(),
            free: Vec::new(),
            of: HashMap::new(),
            queues: Vec::new(),
            held: 0,
            spare: Vec::new(),
            kept: 0,
            left_behind: 0,
            buffer,
            readable: true,
        })
    }

    /// Memory of a worker's receive buffer; also the most that its empty queues keep, and that its queues take before
    /// they are sent early.
    pub(crate) const BUFFER_BYTES: usize = BATCH_SIZE * RUN_BYTES;
    /// Memory of a peer between iterations.
    pub(crate) const PEER_BYTES: usize = size_of::<Peer>() + 2 * size_of::<(Ends, u32)>();

    /// Takes the buffer out while frames in it are forwarded.
    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    pub(crate) fn give_buffer(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }

    /// Reads once, as many datagrams as one call returns.
    pub(crate) fn read(&mut self, buffer: &mut [u8], arrived: &mut Vec<Arrived>) {
        arrived.clear();
        let mut meta = [RecvMeta::default(); BATCH_SIZE];
        let mut chunks: Vec<IoSliceMut<'_>> = buffer.chunks_mut(RUN_BYTES).map(IoSliceMut::new).collect();
        match self.socket.receive(&mut chunks, &mut meta) {
            Ok(count) => {
                for (at, meta) in meta[..count].iter().enumerate() {
                    let (start, end) = (at * RUN_BYTES, at * RUN_BYTES + meta.len.min(RUN_BYTES));
                    let from = Ends { there: meta.addr, here: meta.dst_ip.filter(|_| self.wildcard) };
                    arrived.push(Arrived { start, end, stride: meta.stride.max(1), from });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            // An ICMP error about an earlier datagram: more datagrams may be waiting
            Err(_) => {}
        }
    }

    /// The peer with these ends, for one more session.
    pub(crate) fn acquire(&mut self, ends: Ends) -> u32 {
        let at = match self.of.get(&ends) {
            Some(at) => *at,
            None => {
                let source = ends.here.filter(|here| self.is_ours(*here));
                let peer = Peer { ends, source, sessions: 0, queue: None };
                let at = match self.free.pop() {
                    Some(at) => {
                        self.peers[at as usize] = peer;
                        at
                    }
                    None => {
                        self.peers.push(peer);
                        self.peers.len() as u32 - 1
                    }
                };
                self.of.insert(ends, at);
                at
            }
        };
        self.peers[at as usize].sessions += 1;
        at
    }

    /// Whether answers can be sent from the local address that datagrams were sent to. Sending from a broadcast or
    /// multicast address fails, and after such an error quinn-udp sends every datagram by itself.
    fn is_ours(&mut self, here: IpAddr) -> bool {
        if self.ours.len() >= LOCAL_ADDRESSES {
            self.ours.clear();
        }
        *self.ours.entry(here).or_insert_with(|| is_for_one_host(here.to_canonical()))
    }

    /// Whether a peer has these ends.
    pub(crate) fn is_at(&self, peer: u32, ends: Ends) -> bool {
        self.peers[peer as usize].ends == ends
    }

    /// Releases a peer for one session that is now bound elsewhere.
    pub(crate) fn release(&mut self, peer: u32) {
        let gone = &mut self.peers[peer as usize];
        gone.sessions -= 1;
        if gone.sessions == 0 {
            self.of.remove(&gone.ends);
            if let Some(at) = gone.queue.take() {
                let Queue { out, runs, .. } = &mut self.queues[at as usize];
                self.left_behind += runs.drain(..).map(|(_, count)| count as u64).sum::<u64>();
                out.clear();
            }
            self.free.push(peer);
        }
    }

    /// How many peers there are.
    pub(crate) fn peers(&self) -> usize {
        self.of.len()
    }

    /// Sends the queues early if they take too much memory to wait for the end of the iteration.
    pub(crate) fn make_room(&mut self, counts: &mut Counts) {
        if self.held > Udp::BUFFER_BYTES {
            self.flush(counts);
        }
    }

    /// Queues a frame until the end of the iteration. Returns whether there was room.
    pub(crate) fn queue(&mut self, peer: u32, frame: &[u8], limit: usize) -> bool {
        let there = &mut self.peers[peer as usize];
        let at = there.queue.map_or(self.queues.len(), |at| at as usize);
        // Port 0 is no destination; sending there causes the same error as described at `is_ours`
        if there.ends.there.port() == 0 || self.queues.get(at).map_or(0, |queue| queue.out.len()) + frame.len() > limit
        {
            return false;
        }
        if at == self.queues.len() {
            there.queue = Some(at as u32);
            let spare = self.spare.pop();
            match &spare {
                // The memory of a spare queue does not count in `held`, however much another peer had in it
                Some(spare) => self.kept -= spare.held(),
                None => self.held += size_of::<Queue>(),
            }
            self.queues.push(Queue { peer, ..spare.unwrap_or_default() });
        }
        let queue = &mut self.queues[at];
        let before = queue.held();
        queue.out.extend_from_slice(frame);
        match queue.runs.last_mut() {
            Some((length, count)) if *length == frame.len() => *count += 1,
            _ => queue.runs.push((frame.len(), 1)),
        }
        self.held = self.held + queue.held() - before;
        true
    }

    /// Sends the queues, and counts for each frame whether it was sent.
    pub(crate) fn flush(&mut self, counts: &mut Counts) {
        counts.add(Count::WrongDestination, std::mem::take(&mut self.left_behind));
        self.held = 0;
        // In reverse, so that each peer gets the queue again that it had in the last iteration
        while let Some(mut queue) = self.queues.pop() {
            let Peer { ends, source, queue: its_queue, .. } = &mut self.peers[queue.peer as usize];
            *its_queue = None;
            let mut rest = &queue.out[..];
            for (length, count) in queue.runs.drain(..) {
                let (run, behind) = rest.split_at(length * count);
                rest = behind;
                for contents in run.chunks(length * self.socket.max_batch(length)) {
                    let segment_size = (contents.len() > length).then_some(length);
                    let transmit =
                        Transmit { destination: ends.there, ecn: None, contents, segment_size, src_ip: *source };
                    let outcome = match self.socket.send(&transmit) {
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
            queue.out.clear();
            if self.kept + queue.held() <= Udp::BUFFER_BYTES {
                self.kept += queue.held();
                self.spare.push(queue);
            }
        }
        if self.queues.capacity() > KEPT_QUEUES {
            self.queues = Vec::new();
        }
    }
}

/// Whether an address is one of this machine's own, and neither broadcast nor multicast.
fn is_for_one_host(address: IpAddr) -> bool {
    // Binding to a broadcast address works, but connecting to one fails without SO_BROADCAST
    let connected = || std::net::UdpSocket::bind((address, 0))?.connect((address, 9));
    !address.is_multicast() && connected().is_ok()
}

#[cfg(test)]
#[path = "udp_tests.rs"]
mod tests;
