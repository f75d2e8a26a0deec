//! A stream of bytes over frames that may be lost or delayed: numbered bytes, acknowledgements, retransmission.
//! No sockets and no clock here: the time is an argument.
//!
//! A message is the data of one frame: a kind (1 byte), the number of a stream (8), an offset (8), then what the kind
//! says. Numbers are big endian.
//!
//! | kind | stream | offset | then |
//! |---|---|---|---|
//! | 1 data | sender's | of the first byte | bytes |
//! | 2 end | sender's | after the last byte | nothing |
//! | 3 acknowledgement | receiver's | bytes written so far | the longest data that the sender of this takes (2 bytes) |
//! | 4 acknowledgement of the end | receiver's | bytes written | likewise |
//! | 5 goodbye | sender's | any | nothing |
//! | 6 open | sender's | 0 | the sender's name, a line feed, the receiver's name |
//!
//! A stream begins with an open, and so does every retransmission. A client that is not the one named in it, or expects
//! another sender, takes nothing of the stream and acknowledges nothing.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Bytes in flight at most; the other side never keeps more.
pub(crate) const WINDOW: usize = 256 << 10;
/// Bytes in one message until the receiver says what it takes: they fit into a datagram on any path.
pub(crate) const SAFE_PIECE: usize = 1100;

const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

const DATA: u8 = 1;
const END: u8 = 2;
const ACK: u8 = 3;
const ACK_END: u8 = 4;
const BYE: u8 = 5;
const OPEN: u8 = 6;
const HEAD: usize = 1 + 8 + 8;

/// Both directions with one peer.
#[derive(Debug)]
pub(crate) struct ReliableStream {
    id: u64,
    /// What we say and expect in an open.
    our_open: Vec<u8>,
    peer_open: Vec<u8>,
    /// Bytes in one message at most, as our route takes them, and as the peer does.
    piece: usize,
    peer_piece: usize,
    /// The number of the peer's stream.
    peer: Option<u64>,
    // What is sent
    out: VecDeque<u8>,
    base: u64,
    next: u64,
    open_due: bool,
    ended: bool,
    end_sent: bool,
    end_taken: bool,
    wait: Duration,
    again: Option<Instant>,
    // What is received
    expected: u64,
    written: u64,
    peer_end: Option<u64>,
    ack_due: bool,
    bye_due: bool,
    bye_heard: bool,
    /// The peer began another stream: the one that we knew is gone.
    pub(crate) replaced: bool,
}

impl ReliableStream {
    /// A stream with a number that no other stream has, from us to a peer, in messages of at most `piece` bytes.
    pub(crate) fn new(id: u64, us: &str, peer: &str, piece: usize) -> ReliableStream {
        let (us, peer) = (us.to_ascii_lowercase(), peer.to_ascii_lowercase());
        ReliableStream {
            id,
            our_open: format!("{us}\n{peer}").into_bytes(),
            peer_open: format!("{peer}\n{us}").into_bytes(),
            piece,
            peer_piece: SAFE_PIECE,
            peer: None,
            out: VecDeque::new(),
            base: 0,
            next: 0,
            open_due: true,
            ended: false,
            end_sent: false,
            end_taken: false,
            wait: FIRST_WAIT,
            again: None,
            expected: 0,
            written: 0,
            peer_end: None,
            ack_due: false,
            bye_due: false,
            bye_heard: false,
            replaced: false,
        }
    }

    /// How many bytes may be offered now.
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

    /// The bytes received so far are written: so many in all.
    pub(crate) fn written(&mut self, all: u64) {
        if all > self.written {
            self.written = all;
            self.ack_due = true;
        }
    }

    /// Everything is sent and received, and both sides know it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_complete() && self.bye_heard
    }

    /// Everything is sent and received. The peer may not know yet that we know.
    pub(crate) fn is_complete(&self) -> bool {
        self.end_taken && self.has_all() && !self.bye_due && !self.ack_due
    }

    fn has_all(&self) -> bool {
        self.peer_end == Some(self.written)
    }

    /// Takes a message. Returns the bytes in it that come next.
    pub(crate) fn receive<'a>(&mut self, message: &'a [u8], now: Instant) -> &'a [u8] {
        let Some((head, rest)) = message.split_first_chunk::<HEAD>() else { return &[] };
        let number = |at: usize| head[at..at + 8].iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
        let (kind, stream, offset) = (head[0], number(1), number(9));
        match kind {
            ACK | ACK_END if stream == self.id => {
                if let Some((piece, _)) = rest.split_first_chunk() {
                    self.peer_piece = usize::from(u16::from_be_bytes(*piece)).max(1);
                }
                self.acknowledged(offset, kind == ACK_END, now);
            }
            OPEN if rest == self.peer_open => {
                if *self.peer.get_or_insert(stream) == stream {
                    self.ack_due = true;
                } else {
                    self.replaced = true;
                }
            }
            DATA | END | BYE if self.peer == Some(stream) => {
                self.ack_due = kind != BYE;
                match kind {
                    DATA if offset == self.expected && self.expected - self.written <= WINDOW as u64 => {
                        self.expected += rest.len() as u64;
                        return rest;
                    }
                    END if offset == self.expected => self.peer_end = Some(offset),
                    BYE => self.bye_heard = true,
                    _ => {}
                }
            }
            _ => {}
        }
        &[]
    }

    fn acknowledged(&mut self, offset: u64, with_end: bool, now: Instant) {
        let news = offset.saturating_sub(self.base).min(self.out.len() as u64);
        if news > 0 {
            self.out.drain(..news as usize);
            self.base += news;
            self.next = self.next.max(self.base);
            self.wait = FIRST_WAIT;
            self.again = Some(now + self.wait);
        }
        if with_end && self.ended && self.out.is_empty() && !self.end_taken {
            self.end_taken = true;
            self.bye_due = true;
        }
        if self.end_taken || (self.out.is_empty() && !self.ended) {
            self.again = None;
        }
    }

    /// Whether there is something to send that the peer has not acknowledged.
    pub(crate) fn has_pending(&self) -> bool {
        !self.end_taken && (!self.out.is_empty() || self.ended)
    }

    /// When something is to be sent again.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.again
    }

    /// Sends everything again that is not acknowledged: the connection is a new one.
    pub(crate) fn send_again(&mut self) {
        self.next = self.base;
        self.open_due = true;
        self.end_sent = false;
        self.ack_due |= self.peer.is_some();
    }

    /// The next message to send, if there is one.
    pub(crate) fn message(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.again.is_some_and(|again| again <= now) {
            self.send_again();
            self.wait = (self.wait * 2).min(LONGEST_WAIT);
            self.again = Some(now + self.wait);
        }
        if std::mem::take(&mut self.ack_due)
            && let Some(peer) = self.peer
        {
            // A goodbye is only true once everything is written
            self.bye_due |= self.has_all() && self.end_taken;
            let mut message = head(if self.has_all() { ACK_END } else { ACK }, peer, self.written);
            message.extend_from_slice(&u16::try_from(self.piece).unwrap_or(u16::MAX).to_be_bytes());
            return Some(message);
        }
        let start = (self.next - self.base) as usize;
        let has_data = start < self.out.len();
        let has_end = self.ended && !self.end_sent && !self.end_taken;
        if (has_data || has_end) && std::mem::take(&mut self.open_due) {
            self.again.get_or_insert(now + self.wait);
            return Some([head(OPEN, self.id, 0), self.our_open.clone()].concat());
        }
        if has_data {
            let piece = self.piece.min(self.peer_piece).min(self.out.len() - start);
            let mut message = head(DATA, self.id, self.next);
            message.extend(self.out.range(start..start + piece));
            self.next += piece as u64;
            self.again.get_or_insert(now + self.wait);
            return Some(message);
        }
        if has_end {
            self.end_sent = true;
            self.again.get_or_insert(now + self.wait);
            return Some(head(END, self.id, self.next));
        }
        if self.bye_due && self.has_all() && self.end_taken {
            self.bye_due = false;
            return Some(head(BYE, self.id, self.next));
        }
        None
    }
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
