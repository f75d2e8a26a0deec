//! A reliable stream of bytes over frames that may be lost or delayed: offsets, acknowledgements, retransmission. It
//! has neither sockets nor a clock: the time is an argument.
//!
//! A message is the data of one frame: a kind (1 byte), the number of a stream (8), an offset (8), then what the table
//! says. Numbers are big endian.
//!
//! | kind | stream | offset | then |
//! |---|---|---|---|
//! | 1 data | sender's | of the first byte | bytes |
//! | 2 end | sender's | after the last byte | nothing |
//! | 3 acknowledgement | receiver's | bytes written so far | the most data in a message that its sender accepts (2 bytes; at least 512); how many bytes from the offset on it keeps (4); ranges that it has beyond the offset: first byte, byte after the last (8 each); the number of its sender's own stream (8) |
//! | 4 acknowledgement of the end | receiver's | bytes written | likewise |
//! | 5 goodbye | sender's | any | nothing |
//! | 6 open | sender's | 0 | the sender's name, a line feed, the receiver's name |
//! | 7 failure | sender's | any | nothing: the sender gives up |
//!
//! A stream begins with an open, which is repeated when no answer comes. A client that is not the receiver named in it,
//! or expects another sender, ignores the stream and acknowledges nothing. Data that arrives out of order is kept;
//! [`Recovery`] decides what is sent again, and when.
//!
//! Messages of a peer's earlier stream may arrive late. An acknowledgement therefore also names the current stream of
//! its sender: without that, a client that receives one stream while another one acknowledges its own could take the
//! end of the first for the answer to its data.

use std::{collections::VecDeque, ops::Range, time::Instant};

use crate::client::{arrived::Arrived, recovery::Recovery};

/// The most bytes that a receiver keeps, and that are in flight.
pub(crate) const WINDOW: usize = 1 << 20;
/// How much the peer is assumed to keep until it says so.
const SMALL_WINDOW: usize = 256 << 10;
/// The most bytes in a message until the receiver announces its limit: they fit into a datagram on any path.
pub(crate) const SAFE_PIECE: usize = 1100;
/// The least limit that a receiver can announce; lower ones are raised to this. With pieces of one byte, a peer could
/// make us search through a million of them at each acknowledgement.
const LEAST_PIECE: usize = 512;

/// The most ranges in an acknowledgement, so that it fits into a datagram.
const MAX_RANGES: usize = 64;

const DATA: u8 = 1;
const END: u8 = 2;
const ACK: u8 = 3;
const ACK_END: u8 = 4;
const BYE: u8 = 5;
const OPEN: u8 = 6;
const FAILURE: u8 = 7;
const HEAD_BYTES: usize = 1 + 8 + 8;

/// The streams to and from one peer.
#[derive(Debug)]
pub(crate) struct ReliableStream {
    id: u64,
    /// The content of our open, and the one expected from the peer.
    our_open: Vec<u8>,
    peer_open: Vec<u8>,
    /// The most bytes in one message: as our route takes them, and as the peer announces.
    piece: usize,
    peer_piece: usize,
    /// The number of the peer's stream: from its open, and from its acknowledgements.
    peer: Option<u64>,
    acknowledges: Option<u64>,
    // The sending half
    out: VecDeque<u8>,
    base: u64,
    next: u64,
    open_due: bool,
    ended: bool,
    end_sent: bool,
    end_taken: bool,
    /// How many bytes beyond `base` the peer keeps.
    peer_window: u64,
    recovery: Recovery,
    // The receiving half
    arrived: Arrived,
    written: u64,
    ack_due: bool,
    bye_due: bool,
    bye_heard: bool,
    /// The peer began a new stream: the one that we knew is gone.
    pub(crate) replaced: bool,
    /// The peer gave up.
    pub(crate) failed: bool,
}

impl ReliableStream {
    /// A pair of streams: `id` is the random number of ours, `piece` the most bytes in a message on our route.
    pub(crate) fn new(id: u64, us: &str, peer: &str, piece: usize) -> ReliableStream {
        let (us, peer) = (us.to_ascii_lowercase(), peer.to_ascii_lowercase());
        ReliableStream {
            id,
            our_open: format!("{us}\n{peer}").into_bytes(),
            peer_open: format!("{peer}\n{us}").into_bytes(),
            piece,
            peer_piece: SAFE_PIECE,
            peer: None,
            acknowledges: None,
            out: VecDeque::new(),
            base: 0,
            next: 0,
            open_due: true,
            ended: false,
            end_sent: false,
            end_taken: false,
            peer_window: SMALL_WINDOW as u64,
            recovery: Recovery::new(piece, WINDOW),
            arrived: Arrived::default(),
            written: 0,
            ack_due: false,
            bye_due: false,
            bye_heard: false,
            replaced: false,
            failed: false,
        }
    }

    /// How many bytes `offer` may add now.
    pub(crate) fn room(&self) -> usize {
        WINDOW.saturating_sub(self.out.len())
    }

    /// Adds bytes to send.
    pub(crate) fn offer(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
    }

    /// There are no more bytes to send.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// The output has written `all` bytes of the stream so far.
    pub(crate) fn written(&mut self, all: u64) {
        if all > self.written {
            self.written = all;
            self.ack_due = true;
        }
    }

    /// Both directions are complete, and both sides know it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_complete() && self.bye_heard
    }

    /// Both directions are complete. The peer may not know yet that we know.
    pub(crate) fn is_complete(&self) -> bool {
        self.end_taken && self.has_all() && !self.bye_due && !self.ack_due
    }

    /// Everything that the peer sent, to its end, is written.
    pub(crate) fn has_all(&self) -> bool {
        self.arrived.end == Some(self.written)
    }

    /// Processes a message. Returns the bytes that can now be delivered in order.
    pub(crate) fn receive(&mut self, message: &[u8], now: Instant) -> Vec<u8> {
        let Some((head, rest)) = message.split_first_chunk::<HEAD_BYTES>() else { return Vec::new() };
        let (kind, stream, offset) = (head[0], number(&head[1..9]), number(&head[9..]));
        match kind {
            ACK | ACK_END if stream == self.id => self.acknowledged(offset, rest, kind == ACK_END, now),
            OPEN if rest == self.peer_open => {
                if *self.peer.get_or_insert(stream) == stream && self.acknowledges.is_none_or(|known| known == stream) {
                    self.ack_due = true;
                } else {
                    self.replaced = true;
                }
            }
            FAILURE if self.peer == Some(stream) => self.failed = true,
            DATA | END | BYE if self.peer == Some(stream) => {
                self.ack_due |= kind != BYE;
                match kind {
                    DATA => return self.arrived.take(offset, rest, self.written + WINDOW as u64),
                    END => self.arrived.end = Some(offset),
                    _ => self.bye_heard = true,
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn acknowledged(&mut self, offset: u64, rest: &[u8], with_end: bool, now: Instant) {
        let mut rest = rest;
        if let Some((piece, more)) = rest.split_first_chunk::<2>() {
            self.peer_piece = usize::from(u16::from_be_bytes(*piece)).max(LEAST_PIECE);
            rest = more;
        }
        if let Some((window, more)) = rest.split_first_chunk::<4>() {
            self.peer_window = u64::from(u32::from_be_bytes(*window));
            rest = more;
        }
        let pairs = rest.chunks_exact(16);
        // Earlier versions do not send this number
        if let Ok(theirs) = <[u8; 8]>::try_from(pairs.remainder()) {
            let theirs = u64::from_be_bytes(theirs);
            let same = *self.acknowledges.get_or_insert(theirs) == theirs;
            if !same || self.peer.is_some_and(|peer| peer != theirs) {
                self.replaced = true;
                return;
            }
        }
        let ranges = pairs.take(MAX_RANGES).map(|range| number(&range[..8])..number(&range[8..]));
        let ranges: Vec<Range<u64>> = ranges.collect();
        let news = offset.saturating_sub(self.base).min(self.next - self.base);
        self.out.drain(..news as usize);
        self.base += news;
        let last = ranges.last().filter(|_| ranges.len() == MAX_RANGES);
        self.recovery.acknowledged(self.base, &ranges, last.map_or(u64::MAX, |range| range.end), now);
        if with_end && self.ended && self.out.is_empty() && !self.end_taken {
            self.end_taken = true;
            self.bye_due = true;
        }
        if self.has_pending() { self.recovery.asked(now) } else { self.recovery.nothing_due() }
    }

    /// Whether the input has ended and the peer has acknowledged all bytes.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.ended && self.out.is_empty()
    }

    /// Whether data or the end still lacks an acknowledgement.
    pub(crate) fn has_pending(&self) -> bool {
        !self.end_taken && (!self.out.is_empty() || self.ended)
    }

    /// When `message` must be called again although nothing arrives: an answer is due, or a piece counts as lost.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.recovery.due()
    }

    /// After a reconnection: sends again everything that is not acknowledged.
    pub(crate) fn send_again(&mut self) {
        self.recovery.all_lost();
        self.open_due = true;
        self.end_sent = false;
        self.ack_due |= self.peer.is_some();
    }

    /// The messages that tell the peer that we give up: an open, so that it knows the stream, and the failure.
    pub(crate) fn failure(&self) -> [Vec<u8>; 2] {
        [[head(OPEN, self.id, 0), self.our_open.clone()].concat(), head(FAILURE, self.id, self.next)]
    }

    /// The next message to send now, if any.
    pub(crate) fn message(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.recovery.tick(now) {
            self.open_due = true;
            self.end_sent = false;
        }
        if std::mem::take(&mut self.ack_due)
            && let Some(peer) = self.peer
        {
            // The goodbye says that everything is written
            self.bye_due |= self.has_all() && self.end_taken;
            return Some(self.acknowledgement(peer));
        }
        let starts = !self.end_taken && (!self.out.is_empty() || self.ended);
        if starts && std::mem::take(&mut self.open_due) {
            self.recovery.asked(now);
            return Some([head(OPEN, self.id, 0), self.our_open.clone()].concat());
        }
        let most = self.piece.min(self.peer_piece);
        let again = self.recovery.lost().map(|(offset, len)| (offset, len.min(most)));
        let unsent = self.out.len() - (self.next - self.base) as usize;
        let fresh = || {
            let within = (self.base + self.peer_window).saturating_sub(self.next);
            let len = most.min(unsent).min(usize::try_from(within).unwrap_or(most));
            (len > 0).then_some((self.next, len))
        };
        if let Some((offset, len)) = again.or_else(fresh)
            && self.recovery.has_room(len)
        {
            self.recovery.sent(offset, len, now);
            self.next = self.next.max(offset + len as u64);
            let start = (offset - self.base) as usize;
            let mut message = head(DATA, self.id, offset);
            message.extend(self.out.range(start..start + len));
            return Some(message);
        }
        if self.ended && unsent == 0 && !self.end_sent && !self.end_taken {
            self.end_sent = true;
            self.recovery.asked(now);
            return Some(head(END, self.id, self.next));
        }
        if self.bye_due && self.has_all() && self.end_taken {
            self.bye_due = false;
            return Some(head(BYE, self.id, self.next));
        }
        None
    }

    fn acknowledgement(&self, peer: u64) -> Vec<u8> {
        let mut message = head(if self.has_all() { ACK_END } else { ACK }, peer, self.written);
        message.extend_from_slice(&u16::try_from(self.piece).unwrap_or(u16::MAX).to_be_bytes());
        message.extend_from_slice(&(WINDOW as u32).to_be_bytes());
        for range in self.arrived.ranges(self.written).take(MAX_RANGES) {
            message.extend_from_slice(&range.start.to_be_bytes());
            message.extend_from_slice(&range.end.to_be_bytes());
        }
        message.extend_from_slice(&self.id.to_be_bytes());
        message
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte))
}

fn head(kind: u8, stream: u64, offset: u64) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend_from_slice(&stream.to_be_bytes());
    message.extend_from_slice(&offset.to_be_bytes());
    message
}

#[cfg(test)]
#[path = "reliable_tests.rs"]
mod tests;
