//! Frames as datagrams, one in each. Many are read at a time, and runs of one length are sent together and cut up by the
//! system.
//!
//! A peer is an address that an authentic frame came from, as long as a session is bound to it: strangers take no
//! memory. Nothing is queued beyond an iteration and nobody waits: what the system does not take is dropped, as it may
//! be on the way.

use std::{
    collections::HashMap,
    io::{self, IoSliceMut},
    net::{IpAddr, SocketAddr},
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

/// Room for queues that is kept for the next iteration.
const AT_ONCE: usize = 4096;
/// Addresses of this machine that are remembered.
const OURS: usize = 64;

/// One worker's socket and its peers.
pub(crate) struct Udp {
    pub(crate) socket: UdpSocket,
    state: UdpSocketState,
    /// The socket has every address of this machine.
    wildcard: bool,
    /// Whether answers can be sent from an address.
    ours: HashMap<IpAddr, bool>,
    peers: Vec<Peer>,
    free: Vec<u32>,
    of: HashMap<Ends, u32>,
    /// What this iteration sends, by peer.
    queues: Vec<Queue>,
    /// Empty queues, so that steady traffic allocates nothing, and the memory they take.
    spare: Vec<Queue>,
    kept: usize,
    /// Frames whose peers were gone before they were sent.
    left_behind: u64,
    buffer: Vec<u8>,
    /// Datagrams may be waiting.
    pub(crate) readable: bool,
}

/// The two ends of a datagram's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ends {
    pub(crate) there: SocketAddr,
    /// The address here that it was sent to, if the socket has several: a client takes answers from no other.
    pub(crate) here: Option<IpAddr>,
}

#[derive(Debug)]
struct Peer {
    ends: Ends,
    /// The address here to send from, unless the system may choose.
    source: Option<IpAddr>,
    /// Sessions that are bound to it.
    sessions: u32,
    /// Its queue, in this iteration.
    queue: Option<u32>,
}

/// Frames for a peer. A peer has one only within an iteration.
#[derive(Debug, Default)]
struct Queue {
    peer: u32,
    out: Vec<u8>,
    /// Frames in `out`: length and number of each run.
    runs: Vec<(usize, usize)>,
}

impl Queue {
    /// Memory it takes, whatever is in it.
    fn held(&self) -> usize {
        size_of::<Queue>() + self.out.capacity() + self.runs.capacity() * size_of::<(usize, usize)>()
    }
}

/// Datagrams of one sender, of one length except for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) stride: usize,
    pub(crate) from: Ends,
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Udp> {
        let state = UdpSocketState::new((&socket).into())?;
        // As much as the system allows; smaller buffers only mean more loss
        let _ = state.set_recv_buffer_size((&socket).into(), SOCKET);
        let _ = state.set_send_buffer_size((&socket).into(), SOCKET);
        let buffer = vec![0; BATCH_SIZE * CHUNK];
        Ok(Udp {
            wildcard: socket.local_addr()?.ip().is_unspecified(),
            socket,
            state,
            ours: HashMap::new(),
            peers: Vec::new(),
            free: Vec::new(),
            of: HashMap::new(),
            queues: Vec::new(),
            spare: Vec::new(),
            kept: 0,
            left_behind: 0,
            buffer,
            readable: true,
        })
    }

    /// Memory of one worker's buffer, and the most that its empty queues keep.
    pub(crate) const BYTES: usize = BATCH_SIZE * CHUNK;
    /// Memory of a peer between iterations.
    pub(crate) const PEER: usize = size_of::<Peer>() + 2 * size_of::<(Ends, u32)>();

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
                    let from = Ends { there: meta.addr, here: meta.dst_ip.filter(|_| self.wildcard) };
                    arrived.push(Arrived { start, end, stride: meta.stride.max(1), from });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            // The network's answer to an earlier datagram: more may be waiting behind it
            Err(_) => {}
        }
    }

    /// The peer of these ends, for one more session.
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

    /// Whether answers can be sent from an address that datagrams came to. To send from one for many hosts is an error
    /// after which quinn-udp sends every datagram by itself.
    fn is_ours(&mut self, here: IpAddr) -> bool {
        if self.ours.len() >= OURS {
            self.ours.clear();
        }
        *self.ours.entry(here).or_insert_with(|| is_for_one_host(here.to_canonical()))
    }

    /// Whether a peer has these ends.
    pub(crate) fn is_at(&self, peer: u32, ends: Ends) -> bool {
        self.peers[peer as usize].ends == ends
    }

    /// One session of the peer is bound elsewhere.
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

    /// Queues a frame until the end of the iteration. Returns whether there was room.
    pub(crate) fn queue(&mut self, peer: u32, frame: &[u8], limit: usize) -> bool {
        let there = &mut self.peers[peer as usize];
        let at = there.queue.map_or(self.queues.len(), |at| at as usize);
        // Nobody is at port 0, and to send there is the same error as in `is_ours`
        if there.ends.there.port() == 0 || self.queues.get(at).map_or(0, |queue| queue.out.len()) + frame.len() > limit
        {
            return false;
        }
        if at == self.queues.len() {
            there.queue = Some(at as u32);
            let spare = self.spare.pop();
            self.kept -= spare.as_ref().map_or(0, Queue::held);
            self.queues.push(Queue { peer, ..spare.unwrap_or_default() });
        }
        let Queue { out, runs, .. } = &mut self.queues[at];
        out.extend_from_slice(frame);
        match runs.last_mut() {
            Some((length, count)) if *length == frame.len() => *count += 1,
            _ => runs.push((frame.len(), 1)),
        }
        true
    }

    /// Sends what was queued, and counts what became of each frame.
    pub(crate) fn flush(&mut self, counts: &mut Counts) {
        counts.add(Count::WrongDestination, std::mem::take(&mut self.left_behind));
        let most = self.state.max_gso_segments();
        // The first queue is spare last, so that a peer finds the one that it had in the last iteration
        while let Some(mut queue) = self.queues.pop() {
            let Peer { ends, source, queue: its_queue, .. } = &mut self.peers[queue.peer as usize];
            *its_queue = None;
            let mut rest = &queue.out[..];
            for (length, count) in queue.runs.drain(..) {
                let (run, behind) = rest.split_at(length * count);
                rest = behind;
                for contents in run.chunks(length * most.min(RUN / length).max(1)) {
                    let segment_size = (contents.len() > length).then_some(length);
                    let transmit =
                        Transmit { destination: ends.there, ecn: None, contents, segment_size, src_ip: *source };
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
            queue.out.clear();
            if self.kept + queue.held() <= Udp::BYTES {
                self.kept += queue.held();
                self.spare.push(queue);
            }
        }
        if self.queues.capacity() > AT_ONCE {
            self.queues = Vec::new();
        }
    }
}

/// Whether an address is one of this machine's own, and no broadcast or multicast address.
fn is_for_one_host(address: IpAddr) -> bool {
    // A socket may be bound to a broadcast address, but connected to one only if it says so first
    let connected = || std::net::UdpSocket::bind((address, 0))?.connect((address, 9));
    !address.is_multicast() && connected().is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn at(there: SocketAddr) -> Ends {
        Ends { there, here: None }
    }

    #[test]
    fn every_frame_is_counted_once_as_forwarded_or_as_dropped() {
        let mut here = Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
        // The system sends nothing to everybody; and one whose last session leaves before its frames do
        let [good, bad, leaves] =
            ["127.0.0.1:9", "255.255.255.255:9", "127.0.0.1:10"].map(|to| here.acquire(at(to.parse().unwrap())));
        for peer in [good, bad, bad, leaves, leaves, leaves] {
            assert!(here.queue(peer, &[1; 72], 1 << 16));
        }
        let nobody = here.acquire(at("127.0.0.1:0".parse().unwrap()));
        assert!(!here.queue(nobody, &[1; 72], 1 << 16), "an error that would end runs of all");
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
        let there = at(b.socket.local_addr().unwrap());
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
                assert_eq!(run.from, at(a.socket.local_addr().unwrap()));
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
        assert_eq!((a.of.len(), a.acquire(at("127.0.0.1:9".parse().unwrap()))), (0, peer), "its slot is used again");
    }
    #[test]
    fn peers_keep_no_memory_of_what_was_sent_and_steady_traffic_allocates_none() {
        let mut here = Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
        let peers: Vec<u32> = (1..=60).map(|last| here.acquire(at(SocketAddr::from(([127, 0, 9, last], 9))))).collect();
        let mut iteration = |frames: usize| {
            for (peer, number) in peers.iter().flat_map(|peer| (0..frames).map(move |number| (*peer, number))) {
                assert!(here.queue(peer, &[0; 41][..40 + number % 2], 1 << 16));
            }
            here.flush(&mut Counts::default());
            assert!(here.queues.is_empty() && here.peers.iter().all(|peer| peer.queue.is_none()));
            let held = here.spare.iter().map(Queue::held).sum::<usize>();
            assert_eq!(held, here.kept);
            (held, here.spare.iter().map(|queue| queue.out.as_ptr() as usize).collect::<Vec<_>>())
        };
        // More than three megabytes in sixty queues
        let (held, _) = iteration(1000);
        assert!(held <= Udp::BYTES, "{held}");
        // One of those that were not kept is made anew
        iteration(10);
        let few = iteration(10);
        assert!(few.1.len() == 60 && few == iteration(10), "others than in the last iteration");
    }

    #[test]
    fn answers_are_sent_from_addresses_of_one_host_only() {
        for (address, ours) in
            [("127.0.0.2", true), ("127.255.255.255", false), ("224.0.0.1", false), ("192.0.2.1", false)]
        {
            assert_eq!(is_for_one_host(address.parse().unwrap()), ours, "{address}");
        }
    }
}
