//! Two streams over a path that drops and duplicates messages.

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

use sealwright_measure::random::Random;

use super::*;

const PIECE: usize = 8 << 10;

struct End {
    stream: ReliableStream,
    input: Vec<u8>,
    at: usize,
    output: Vec<u8>,
}

impl End {
    fn new(me: u64, input: Vec<u8>) -> End {
        let (us, peer) = if me == 1 { ("Alice", "bob") } else { ("bob", "alice") };
        End { stream: ReliableStream::new(me, us, peer, PIECE), input, at: 0, output: Vec::new() }
    }

    fn step(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let much = self.stream.room().min(self.input.len() - self.at);
        self.stream.offer(&self.input[self.at..self.at + much]);
        self.at += much;
        if self.at == self.input.len() {
            self.stream.end();
        }
        std::iter::from_fn(|| self.stream.message(now)).collect()
    }

    fn take(&mut self, message: &[u8], now: Instant) {
        let bytes = self.stream.receive(message, now);
        self.output.extend(bytes);
        self.stream.written(self.output.len() as u64);
    }
}

/// Runs two ends until both are done; `fate` gives for each message how often it arrives.
fn talk(sizes: [usize; 2], mut fate: impl FnMut() -> usize) -> [End; 2] {
    let bytes = |size: usize, salt: usize| (0..size).map(|at| ((at * 31 + salt) >> 3) as u8).collect::<Vec<u8>>();
    let mut ends = [End::new(1, bytes(sizes[0], 1)), End::new(2, bytes(sizes[1], 2))];
    let mut now = Instant::now();
    for _ in 0..20_000 {
        let mut quiet = true;
        for side in 0..2 {
            for message in ends[side].step(now) {
                quiet = false;
                for _ in 0..fate() {
                    ends[1 - side].take(&message, now);
                }
            }
        }
        if ends.iter().all(|end| end.stream.is_complete()) {
            break;
        }
        now += Duration::from_millis(if quiet { 100 } else { 1 });
    }
    ends
}

fn agree(ends: &[End; 2]) {
    assert!(ends[0].output == ends[1].input && ends[1].output == ends[0].input, "other bytes came");
    assert!(ends.iter().all(|end| end.stream.is_complete() && !end.stream.replaced));
}

#[test]
fn everything_arrives_in_order_over_a_good_line() {
    for sizes in [[0, 0], [1, 0], [PIECE, PIECE + 1], [3 * WINDOW + 5, 0], [WINDOW, 2 * WINDOW]] {
        let ends = talk(sizes, || 1);
        agree(&ends);
        assert!(ends.iter().all(|end| end.stream.is_over()), "both know");
    }
}

#[test]
fn everything_arrives_over_a_line_that_loses_and_repeats() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        agree(&talk([300_000, 50_000], move || [0, 0, 1, 1, 1, 1, 1, 2, 3][random.below(9)]));
    }
}

/// Bob opens a stream to alice.
fn open(stream: &mut ReliableStream, id: u64, now: Instant) {
    assert_eq!(stream.receive(&[&head(OPEN, id, 0)[..], b"bob\nalice"].concat(), now), b"");
}

#[test]
fn a_stream_for_somebody_else_is_neither_received_nor_acknowledged() {
    let now = Instant::now();
    let mut stream = ReliableStream::new(1, "alice", "bob", PIECE);
    // From bob to carol, from carol to alice, and malformed ones
    for names in ["bob\ncarol", "carol\nalice", "alice\nbob", ""] {
        stream.receive(&[&head(OPEN, 7, 0)[..], names.as_bytes()].concat(), now);
        assert_eq!(stream.receive(&[&head(DATA, 7, 0)[..], b"not for alice"].concat(), now), b"");
        stream.receive(&head(END, 7, 0), now);
        assert_eq!(stream.message(now), None, "{names}");
    }
    open(&mut stream, 7, now);
    assert_eq!(stream.receive(&[&head(DATA, 7, 0)[..], b"for alice"].concat(), now), b"for alice");
}

#[test]
fn pieces_are_as_long_as_both_routes_take_them() {
    let now = Instant::now();
    let mut stream = ReliableStream::new(1, "alice", "bob", PIECE);
    stream.offer(&[0; 3 * PIECE]);
    let length = |stream: &mut ReliableStream| stream.message(now).expect("a message").len() - HEAD_BYTES;
    assert_eq!((length(&mut stream), length(&mut stream)), ("alice\nbob".len(), SAFE_PIECE));
    stream.receive(&[&head(ACK, 1, 0)[..], &9000u16.to_be_bytes()].concat(), now);
    assert_eq!(length(&mut stream), PIECE);
    stream.receive(&[&head(ACK, 1, 0)[..], &600u16.to_be_bytes()].concat(), now);
    assert_eq!(length(&mut stream), 600);
    // A peer cannot make us send pieces of a few bytes
    for little in [0u16, 1, 511] {
        stream.receive(&[&head(ACK, 1, 0)[..], &little.to_be_bytes()].concat(), now);
        assert_eq!(length(&mut stream), 512);
    }
}

#[test]
fn a_stream_that_begins_anew_is_noticed() {
    let now = Instant::now();
    let mut stream = ReliableStream::new(1, "alice", "bob", PIECE);
    open(&mut stream, 7, now);
    assert_eq!(stream.receive(&[&head(DATA, 7, 0)[..], b"old"].concat(), now), b"old");
    assert_eq!(stream.receive(&[&head(DATA, 8, 0)[..], b"new"].concat(), now), b"");
    assert!(!stream.replaced);
    open(&mut stream, 8, now);
    assert!(stream.replaced);
}

/// Delivers all that one end has to send to the other.
fn pass(from: &mut ReliableStream, to: &mut ReliableStream, now: Instant) {
    while let Some(message) = from.message(now) {
        let bytes = to.receive(&message, now).len() as u64;
        to.written(to.written + bytes);
    }
}

#[test]
fn what_a_former_stream_of_the_peer_said_is_not_the_answer_of_the_present_one() {
    let now = Instant::now();
    for late_first in [true, false] {
        let mut alice = ReliableStream::new(1, "alice", "bob", PIECE);
        let [mut former, mut present] = [7, 8].map(|id| ReliableStream::new(id, "bob", "alice", PIECE));
        // Bob had nothing to send and gave up before anything arrived; then he begins a new stream, without an answer
        // yet
        former.end();
        alice.offer(b"a question");
        alice.end();
        if late_first {
            pass(&mut former, &mut alice, now);
        }
        pass(&mut alice, &mut present, now);
        assert!(present.has_all(), "the question is there");
        pass(&mut present, &mut alice, now);
        if !late_first {
            pass(&mut former, &mut alice, now);
        }
        assert!(alice.replaced, "a success without an answer: {alice:?}");
    }
}

#[test]
fn a_peer_that_gives_up_is_noticed_and_nobody_else_can_say_so() {
    let now = Instant::now();
    let mut alice = ReliableStream::new(1, "alice", "bob", PIECE);
    let carol = ReliableStream::new(3, "carol", "alice", PIECE);
    for message in carol.failure() {
        alice.receive(&message, now);
    }
    assert!(!alice.failed);
    for message in ReliableStream::new(2, "bob", "alice", PIECE).failure() {
        alice.receive(&message, now);
    }
    assert!(alice.failed);
}

#[test]
fn messages_of_nobody_are_nothing() {
    let now = Instant::now();
    let mut stream = ReliableStream::new(1, "alice", "bob", PIECE);
    stream.offer(b"data");
    for message in [&b""[..], b"\x01short", &head(99, 1, 0), &head(ACK, 2, 4), &head(ACK_END, 2, 4)] {
        assert_eq!(stream.receive(message, now), b"");
    }
    let message = stream.message(now).expect("an open");
    assert_eq!((message[0], &message[HEAD_BYTES..]), (OPEN, &b"alice\nbob"[..]));
    assert!(stream.message(now).is_some(), "nothing was acknowledged");
    // An acknowledgement beyond what was sent counts as one of all that was sent
    stream.receive(&head(ACK, 1, u64::MAX), now);
    stream.offer(b"more");
    let message = stream.message(now).expect("bytes");
    assert_eq!((&message[9..17], &message[17..]), (&4u64.to_be_bytes()[..], &b"more"[..]));
}

#[test]
fn no_more_is_taken_in_than_the_window_before_it_is_written() {
    let now = Instant::now();
    let mut stream = ReliableStream::new(1, "alice", "bob", PIECE);
    let mut taken = 0u64;
    open(&mut stream, 2, now);
    for _ in 0..300 {
        taken += stream.receive(&[&head(DATA, 2, taken)[..], &[0; PIECE]].concat(), now).len() as u64;
    }
    assert_eq!(taken, WINDOW as u64);
    stream.written(taken);
    assert_eq!(stream.receive(&[&head(DATA, 2, taken)[..], b"on"].concat(), now), b"on");
}

/// A message in transit: when it arrives, its number, its destination, and its content.
type Carried = (Instant, u64, usize, Vec<u8>);

/// A link with a given rate and a queue before it, which drops and delays some messages.
struct Line {
    random: Random,
    /// Bytes per second, and the most bytes in the queue.
    rate: f64,
    queue: f64,
    /// Of a thousand messages, so many are lost, and so many arrive 5 ms late.
    lost: usize,
    late: usize,
    free: Instant,
    carried: BinaryHeap<Reverse<Carried>>,
    count: u64,
    dropped: u64,
}

impl Line {
    fn carry(&mut self, to: usize, message: Vec<u8>, now: Instant) {
        // The message with the header, address and tag of a frame, and the headers of IP and UDP
        let size = (message.len() + 68) as f64;
        let waits = self.free.saturating_duration_since(now).as_secs_f64() * self.rate;
        self.count += 1;
        if waits > self.queue || self.random.below(1000) < self.lost {
            self.dropped += 1;
            return;
        }
        self.free = self.free.max(now) + Duration::from_secs_f64(size / self.rate);
        let late = Duration::from_millis(if self.random.below(1000) < self.late { 10 } else { 5 });
        self.carried.push(Reverse((self.free + late, self.count, to, message)));
    }
}

/// Sends `len` bytes over a link. Returns bytes per second, and the share of messages that the link dropped.
fn over(len: usize, rate: f64, queue: f64, (lost, late): (usize, usize)) -> (f64, f64) {
    let start = Instant::now();
    let (random, carried) = (Random::new(7), BinaryHeap::new());
    let mut line = Line { random, rate, queue, lost, late, free: start, carried, count: 0, dropped: 0 };
    let input: Vec<u8> = (0..len).map(|at| ((at * 31) >> 3) as u8).collect();
    let mut ends = [End::new(1, input), End::new(2, Vec::new())];
    for end in &mut ends {
        end.stream = ReliableStream::new(end.stream.id, "x", "x", SAFE_PIECE);
    }
    let mut now = start;
    while ends[1].output.len() < len {
        for (side, end) in ends.iter_mut().enumerate() {
            for message in end.step(now) {
                line.carry(1 - side, message, now);
            }
        }
        let next = line.carried.peek().map(|Reverse((at, ..))| *at);
        let due = ends.iter().filter_map(|end| end.stream.due());
        now = next.into_iter().chain(due).min().expect("something is due").max(now + Duration::from_micros(10));
        assert!(now - start < Duration::from_secs(60), "it never ends");
        while line.carried.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Some(Reverse((_, _, to, message))) = line.carried.pop() else { break };
            ends[to].take(&message, now);
        }
    }
    assert!(ends[1].output == ends[0].input);
    (len as f64 / (now - start).as_secs_f64(), line.dropped as f64 / line.count as f64)
}

#[test]
fn a_line_is_filled_although_it_loses_and_reorders() {
    const LEN: usize = 8_000_000;
    // 100 Mbit/s, 10 ms round trip; headers take 6 % of it
    let rate = 12.5e6;
    let (clean, _) = over(LEN, rate, 1e6, (0, 0));
    assert!(clean > 0.7 * rate, "{clean} bytes a second");
    let (bad, _) = over(LEN, rate, 1e6, (10, 50));
    assert!(bad > 0.5 * rate, "{bad} bytes a second with 1 % loss and 5 % late");
    let (worse, _) = over(LEN, rate, 1e6, (50, 0));
    assert!(worse > 0.15 * rate, "{worse} bytes a second with 5 % loss");
    // A short queue: the window adapts to what the link carries
    let (short, dropped) = over(LEN, rate, 40e3, (0, 0));
    assert!(short > 0.4 * rate && dropped < 0.1, "{short} bytes a second, {dropped} dropped");
}
