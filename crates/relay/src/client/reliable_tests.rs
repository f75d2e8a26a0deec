//! Two streams over a path that loses and repeats messages.

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
        self.output.extend_from_slice(bytes);
        self.stream.written(self.output.len() as u64);
    }
}

/// Lets two ends talk; `fate` says what becomes of a message: how often it arrives.
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
    // From bob to carol, from carol to alice, and without names
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
    let length = |stream: &mut ReliableStream| stream.message(now).expect("a message").len() - HEAD;
    assert_eq!((length(&mut stream), length(&mut stream)), ("alice\nbob".len(), SAFE_PIECE));
    stream.receive(&[&head(ACK, 1, 0)[..], &9000u16.to_be_bytes()].concat(), now);
    assert_eq!(length(&mut stream), PIECE);
    stream.receive(&[&head(ACK, 1, 0)[..], &600u16.to_be_bytes()].concat(), now);
    assert_eq!(length(&mut stream), 600);
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

#[test]
fn messages_of_nobody_are_nothing() {
    let now = Instant::now();
    let mut stream = ReliableStream::new(1, "alice", "bob", PIECE);
    stream.offer(b"data");
    for message in [&b""[..], b"\x01short", &head(99, 1, 0), &head(ACK, 2, 4), &head(ACK_END, 2, 4)] {
        assert_eq!(stream.receive(message, now), b"");
    }
    let message = stream.message(now).expect("an open");
    assert_eq!((message[0], &message[HEAD..]), (OPEN, &b"alice\nbob"[..]));
    assert!(stream.message(now).is_some(), "nothing was acknowledged");
    // An acknowledgement of more than was sent takes no more than there is
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
    for _ in 0..100 {
        taken += stream.receive(&[&head(DATA, 2, taken)[..], &[0; PIECE]].concat(), now).len() as u64;
    }
    assert!(taken <= (WINDOW + PIECE) as u64, "{taken}");
    stream.written(taken);
    assert_eq!(stream.receive(&[&head(DATA, 2, taken)[..], b"on"].concat(), now), b"on");
}
