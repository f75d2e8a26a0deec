//! Fuzz target: streams between clients. Two honest ends over a path that drops, duplicates and reorders; and one
//! honest end whose peer sends anything.

use std::time::{Duration, Instant};

use super::reliable::{ReliableStream, WINDOW};

/// The most bytes of data in a message.
const PIECE: usize = 600;
/// A message: a kind, the number of a stream, an offset.
const HEAD: usize = 17;
/// The most messages in transit, and the most steps of an input.
const QUEUE: usize = 64;
const STEPS: usize = 400;

struct End {
    stream: ReliableStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// What it sent and the other end has not received yet.
    sent: Vec<Vec<u8>>,
}

impl End {
    fn new(id: u64) -> End {
        let (us, peer) = if id == 1 { ("alice", "bob") } else { ("bob", "alice") };
        let stream = ReliableStream::new(id, us, peer, PIECE);
        End { stream, input: Vec::new(), output: Vec::new(), sent: Vec::new() }
    }

    /// Offers bytes that differ from their neighbours.
    fn offer(&mut self, len: usize) {
        let from = self.input.len();
        self.input.extend((from..from + len.min(self.stream.room())).map(|at| ((at * 31) >> 3) as u8 ^ at as u8));
        self.stream.offer(&self.input[from..]);
    }

    fn send(&mut self, now: Instant) -> bool {
        let Some(message) = self.stream.message(now) else { return false };
        assert!(message.len() <= HEAD + PIECE.max(1100), "a message of {} bytes", message.len());
        if self.sent.len() < QUEUE {
            self.sent.push(message);
        }
        true
    }

    fn take(&mut self, message: &[u8], now: Instant) {
        let bytes = self.stream.receive(message, now);
        self.output.extend(bytes);
        assert!(self.stream.room() <= WINDOW);
        self.stream.written(self.output.len() as u64);
    }
}

/// The first byte says whether the peer is honest; the rest are steps of three bytes.
pub fn transfer(bytes: &[u8]) {
    let Some((&peer, steps)) = bytes.split_first() else { return };
    let (mut ends, mut now) = ([End::new(1), End::new(2)], Instant::now());
    if peer & 1 == 1 {
        return lies(&mut ends[0], steps, now);
    }
    for &[what, which, how] in steps.as_chunks::<3>().0.iter().take(STEPS) {
        let side = usize::from(what >> 7);
        match what % 5 {
            0 => ends[side].offer(usize::from(which) * 16 + usize::from(how)),
            1 => drop(ends[side].send(now)),
            2 | 3 if !ends[side].sent.is_empty() => {
                let at = usize::from(which) % ends[side].sent.len();
                // Delivered, delivered and kept for another delivery, or lost
                let message = if how % 3 == 1 { ends[side].sent[at].clone() } else { ends[side].sent.swap_remove(at) };
                if how % 3 != 2 {
                    ends[1 - side].take(&message, now);
                }
            }
            4 => now += Duration::from_millis(u64::from(which) * 4),
            _ => {}
        }
        prefixes(&ends);
    }
    ends.iter_mut().for_each(|end| end.stream.end());
    // From here on, every message is delivered.
    for _ in 0..4000 {
        let mut quiet = true;
        for side in 0..2 {
            while ends[side].sent.len() < QUEUE && ends[side].send(now) {
                quiet = false;
            }
            for message in std::mem::take(&mut ends[side].sent) {
                ends[1 - side].take(&message, now);
            }
        }
        prefixes(&ends);
        if ends.iter().all(|end| end.stream.is_complete()) {
            assert!(ends[0].output == ends[1].input && ends[1].output == ends[0].input, "something is missing");
            return;
        }
        now += Duration::from_millis(if quiet { 300 } else { 1 });
    }
    panic!("two honest ends over a good path do not come to an end");
}

fn prefixes(ends: &[End; 2]) {
    for side in 0..2 {
        assert!(ends[1 - side].input.starts_with(&ends[side].output), "other bytes came");
        assert!(!ends[side].stream.replaced && !ends[side].stream.failed);
    }
}

/// A peer that sends anything must cause neither a panic nor messages over their limit. A step selects a kind, the
/// stream and how much of the input belongs to the message, and an offset: near the beginning of the stream, or near
/// the number in the last bytes of the message.
fn lies(end: &mut End, mut steps: &[u8], mut now: Instant) {
    let open = [&[6][..], &2_u64.to_be_bytes(), &[0; 8], b"bob\nalice"].concat();
    end.take(&open, now);
    for _ in 0..STEPS {
        let Some((&[what, which, at], rest)) = steps.split_first_chunk() else { return };
        let (text, rest) = rest.split_at(rest.len().min(usize::from(which >> 2)));
        steps = rest;
        match what % 10 {
            0 => end.offer(usize::from(which) * 16),
            8 => now += Duration::from_millis(u64::from(which) * 4),
            9 => end.stream.end(),
            kind => {
                let far = text.last_chunk().map_or(0, |far| u64::from_be_bytes(*far));
                let offset = if which & 2 == 0 { u64::from(at) * 8 } else { far.wrapping_add(at.into()) };
                let stream = 1 + u64::from(which & 1);
                end.take(&[&[kind][..], &stream.to_be_bytes(), &offset.to_be_bytes(), text].concat(), now);
            }
        }
        for _ in 0..4 {
            end.send(now);
        }
        end.sent.clear();
    }
}
