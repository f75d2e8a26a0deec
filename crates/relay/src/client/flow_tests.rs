//! Two flows over a line that loses, repeats and reorders.

use sealwright_measure::random::Random;

use super::*;

const PIECE: usize = 8 << 10;

struct End {
    flow: Flow,
    input: Vec<u8>,
    at: usize,
    output: Vec<u8>,
}

impl End {
    fn new(me: u64, input: Vec<u8>) -> End {
        End { flow: Flow::new(me, PIECE), input, at: 0, output: Vec::new() }
    }

    fn step(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let much = self.flow.room().min(self.input.len() - self.at);
        self.flow.offer(&self.input[self.at..self.at + much]);
        self.at += much;
        if self.at == self.input.len() {
            self.flow.end();
        }
        std::iter::from_fn(|| self.flow.message(now)).collect()
    }

    fn take(&mut self, message: &[u8], now: Instant) {
        let bytes = self.flow.receive(message, now);
        self.output.extend_from_slice(bytes);
        self.flow.written(self.output.len() as u64);
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
        if ends.iter().all(|end| end.flow.is_complete()) {
            break;
        }
        now += Duration::from_millis(if quiet { 100 } else { 1 });
    }
    ends
}

fn agree(ends: &[End; 2]) {
    assert!(ends[0].output == ends[1].input && ends[1].output == ends[0].input, "other bytes came");
    assert!(ends.iter().all(|end| end.flow.is_complete() && !end.flow.replaced));
}

#[test]
fn everything_arrives_in_order_over_a_good_line() {
    for sizes in [[0, 0], [1, 0], [PIECE, PIECE + 1], [3 * WINDOW + 5, 0], [WINDOW, 2 * WINDOW]] {
        let ends = talk(sizes, || 1);
        agree(&ends);
        assert!(ends.iter().all(|end| end.flow.is_over()), "both know");
    }
}

#[test]
fn everything_arrives_over_a_line_that_loses_and_repeats() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        agree(&talk([300_000, 50_000], move || [0, 0, 1, 1, 1, 1, 1, 2, 3][random.below(9)]));
    }
}

#[test]
fn a_stream_that_begins_anew_is_noticed() {
    let now = Instant::now();
    let mut flow = Flow::new(1, PIECE);
    assert_eq!(flow.receive(&[&head(DATA, 7, 0)[..], b"old"].concat(), now), b"old");
    assert_eq!(flow.receive(&[&head(DATA, 8, 0)[..], b"new"].concat(), now), b"");
    assert!(flow.replaced);
}

#[test]
fn messages_of_nobody_are_nothing() {
    let now = Instant::now();
    let mut flow = Flow::new(1, PIECE);
    flow.offer(b"data");
    for message in [&b""[..], b"\x01short", &head(99, 1, 0), &head(ACK, 2, 4), &head(ACK_END, 2, 4)] {
        assert_eq!(flow.receive(message, now), b"");
    }
    assert!(flow.message(now).is_some(), "nothing was acknowledged");
    // An acknowledgement of more than was sent takes no more than there is
    flow.receive(&head(ACK, 1, u64::MAX), now);
    flow.offer(b"more");
    let message = flow.message(now).expect("bytes");
    assert_eq!((&message[9..17], &message[17..]), (&4u64.to_be_bytes()[..], &b"more"[..]));
}

#[test]
fn no_more_is_taken_in_than_the_window_before_it_is_written() {
    let now = Instant::now();
    let mut flow = Flow::new(1, PIECE);
    let mut taken = 0u64;
    for _ in 0..100 {
        taken += flow.receive(&[&head(DATA, 2, taken)[..], &[0; PIECE]].concat(), now).len() as u64;
    }
    assert!(taken <= (WINDOW + PIECE) as u64, "{taken}");
    flow.written(taken);
    assert_eq!(flow.receive(&[&head(DATA, 2, taken)[..], b"on"].concat(), now), b"on");
}
