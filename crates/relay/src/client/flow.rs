//! A stream of bytes over frames that may be lost or come late: numbered bytes, acknowledgements, sending again.
//! No sockets and no clock here: time is told.
//!
//! A message is the data of one frame: a kind, the number of the stream it is about, an offset, bytes.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Bytes under way at most; the other side never keeps more.
pub(crate) const WINDOW: usize = 256 << 10;

const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

const DATA: u8 = 1;
const END: u8 = 2;
const ACK: u8 = 3;
const ACK_END: u8 = 4;
const BYE: u8 = 5;
const HEAD: usize = 1 + 8 + 8;

/// Both directions with one peer.
#[derive(Debug)]
pub(crate) struct Flow {
    me: u64,
    /// Bytes in one message at most.
    piece: usize,
    peer: Option<u64>,
    // What goes out
    out: VecDeque<u8>,
    base: u64,
    next: u64,
    ended: bool,
    end_sent: bool,
    end_taken: bool,
    wait: Duration,
    again: Option<Instant>,
    // What comes in
    expected: u64,
    written: u64,
    peer_end: Option<u64>,
    ack_due: bool,
    bye_due: bool,
    bye_heard: bool,
    /// The peer began another stream: the one we knew is gone.
    pub(crate) replaced: bool,
}

impl Flow {
    /// A stream of a number that no other has, in messages of at most so many bytes.
    pub(crate) fn new(me: u64, piece: usize) -> Flow {
        Flow {
            me,
            piece,
            peer: None,
            out: VecDeque::new(),
            base: 0,
            next: 0,
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

    /// Bytes to send.
    pub(crate) fn offer(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
    }

    /// There are no more.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// What was received is written: so many bytes in all.
    pub(crate) fn written(&mut self, all: u64) {
        if all > self.written {
            self.written = all;
            self.ack_due = true;
        }
    }

    /// All is said, on both sides, and both know.
    pub(crate) fn is_over(&self) -> bool {
        self.is_complete() && self.bye_heard
    }

    /// All is said and taken; the peer may not know yet that we know.
    pub(crate) fn is_complete(&self) -> bool {
        self.end_taken && self.has_all() && !self.bye_due && !self.ack_due
    }

    fn has_all(&self) -> bool {
        self.peer_end == Some(self.written)
    }

    /// Takes in a message; the bytes in it that are next.
    pub(crate) fn receive<'a>(&mut self, message: &'a [u8], now: Instant) -> &'a [u8] {
        let Some((head, bytes)) = message.split_first_chunk::<HEAD>() else { return &[] };
        let number = |at: usize| head[at..at + 8].iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
        let (kind, stream, offset) = (head[0], number(1), number(9));
        match kind {
            ACK | ACK_END if stream == self.me => {
                self.taken(offset, kind == ACK_END, now);
                &[]
            }
            DATA | END | BYE => {
                if *self.peer.get_or_insert(stream) != stream {
                    self.replaced = true;
                    return &[];
                }
                self.ack_due = true;
                match kind {
                    DATA if offset == self.expected && self.expected - self.written <= WINDOW as u64 => {
                        self.expected += bytes.len() as u64;
                        return bytes;
                    }
                    END if offset == self.expected => self.peer_end = Some(offset),
                    BYE => {
                        self.bye_heard = true;
                        self.ack_due = false;
                    }
                    _ => {}
                }
                &[]
            }
            _ => &[],
        }
    }

    fn taken(&mut self, offset: u64, with_end: bool, now: Instant) {
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

    /// When something must be sent again.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.again
    }

    /// Waits no longer for what is under way: the connection is a new one.
    pub(crate) fn send_again(&mut self) {
        self.next = self.base;
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
            // A goodbye is only true once all is written
            self.bye_due |= self.has_all() && self.end_taken;
            return Some(head(if self.has_all() { ACK_END } else { ACK }, peer, self.written));
        }
        let start = (self.next - self.base) as usize;
        if start < self.out.len() {
            let piece = self.piece.min(self.out.len() - start);
            let mut message = head(DATA, self.me, self.next);
            message.extend(self.out.range(start..start + piece));
            self.next += piece as u64;
            self.again.get_or_insert(now + self.wait);
            return Some(message);
        }
        if self.ended && !self.end_sent && !self.end_taken {
            self.end_sent = true;
            self.again.get_or_insert(now + self.wait);
            return Some(head(END, self.me, self.next));
        }
        if self.bye_due && self.has_all() && self.end_taken {
            self.bye_due = false;
            return Some(head(BYE, self.me, self.next));
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
#[path = "flow_tests.rs"]
mod tests;
