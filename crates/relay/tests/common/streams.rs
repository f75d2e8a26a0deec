//! Streams between two clients whose bytes identify stream and position, and their outcomes.
#![allow(clippy::unwrap_used)]

use std::{
    io::{self, Read, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sealwright_relay::client::{ClientError, Pipe, Transferred};

use crate::processes::Processes;

/// The byte at a position of a stream. No part of a stream equals another part of it or of another stream.
fn byte_at(stream: u64, at: u64) -> u8 {
    let mixed = (at / 8 + (stream << 40)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 32)).to_be_bytes()[at as usize % 8]
}

/// The bytes of a stream, a few at a time, until its length is reached or it is told to end.
struct Source {
    stream: u64,
    at: u64,
    most: u64,
    over: Arc<AtomicBool>,
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_millis(4));
        let left = if self.over.load(Ordering::Relaxed) { 0 } else { self.most - self.at };
        let much = left.min(buffer.len() as u64).min(4000);
        for byte in &mut buffer[..much as usize] {
            (*byte, self.at) = (byte_at(self.stream, self.at), self.at + 1);
        }
        Ok(much as usize)
    }
}

/// Checks what is written, from the beginning of a stream: it must be the expected stream, or an earlier one of the
/// same peer that had not ended.
#[derive(Clone)]
pub(crate) struct Sink {
    length: Arc<AtomicU64>,
    /// The streams that begin with what was written.
    streams: Arc<Mutex<Vec<u64>>>,
}

impl Sink {
    fn new(streams: Vec<u64>) -> Sink {
        Sink { length: Arc::default(), streams: Arc::new(Mutex::new(streams)) }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    /// The streams that begin with what was written.
    fn streams(&self) -> Vec<u64> {
        self.streams.lock().unwrap().clone()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let from = self.length.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut streams = self.streams.lock().unwrap();
        streams.retain(|stream| (from..).zip(bytes).all(|(at, byte)| *byte == byte_at(*stream, at)));
        if streams.is_empty() {
            return Err(io::Error::other(format!("behind byte {from} are others than were sent")));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The outcome of one end of a stream.
pub(crate) struct End {
    /// The number of the peer's stream.
    pub(crate) expected: u64,
    pub(crate) outcome: Result<Transferred, ClientError>,
    pub(crate) sink: Sink,
    pub(crate) events: Vec<String>,
}

/// Parameters of streams: the number of the first, and of the first ever between the same two clients; how long ends
/// wait; the lengths; which ends use datagrams.
pub(crate) struct Kind {
    pub(crate) number: u64,
    pub(crate) oldest: u64,
    pub(crate) wait: u64,
    pub(crate) most: [u64; 2],
    pub(crate) datagrams: [bool; 2],
}

/// Runs a stream in each direction between two clients.
pub(crate) fn streams(nodes: &Processes, kind: &Kind, ends: [(&str, &[usize]); 2], over: &Arc<AtomicBool>) -> [End; 2] {
    std::thread::scope(|scope| {
        let run = |end: usize| {
            let (identity, peer) = (nodes.identity(ends[end].0, ends[end].1), ends[1 - end].0);
            let (me, other) = (end as u64, 1 - end as u64);
            let source = Source { stream: kind.number + me, at: 0, most: kind.most[end], over: over.clone() };
            let sink = Sink::new((kind.oldest + other..=kind.number + other).step_by(2).collect());
            move || {
                let events = Mutex::default();
                let watch = |event: &str| Mutex::<Vec<String>>::lock(&events).unwrap().push(event.to_owned());
                let (datagrams, wait) = (kind.datagrams[end], Duration::from_secs(kind.wait));
                let outcome = Pipe::new(&identity, peer, wait).datagrams(datagrams).run(source, sink.clone(), &watch);
                End { expected: kind.number + other, outcome, sink, events: events.into_inner().unwrap() }
            }
        };
        [0, 1].map(|end| scope.spawn(run(end))).map(|end| end.join().unwrap())
    })
}

/// Checks that what was written is what was sent, and that an end reports success only if that is true. Returns whether
/// both ends report success.
pub(crate) fn look_at(ends: &[End; 2]) -> bool {
    for (me, peer) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
        assert!(!me.sink.streams().is_empty(), "{:?}", me.outcome);
        match &me.outcome {
            Ok(done) => {
                assert!(me.sink.streams().contains(&me.expected), "success, and a former stream was written");
                assert_eq!(done.received, me.sink.length(), "what was received is what was written");
                assert_eq!(done.sent, peer.sink.length(), "success, and not everything is there: {:?}", peer.outcome);
                assert!(peer.sink.streams().contains(&peer.expected), "success, and something else is there");
                if let Ok(theirs) = &peer.outcome {
                    assert_eq!(done.received, theirs.sent);
                }
            }
            Err(
                ClientError::NoAnswer(_)
                | ClientError::PeerFailed(_)
                | ClientError::PeerRestarted(_)
                | ClientError::Relay { .. }
                | ClientError::Io(_),
            ) => {}
            Err(error) => panic!("not an error that a parted or lost node explains: {error}"),
        }
    }
    ends.iter().all(|end| end.outcome.is_ok())
}
