//! The timed loops.

use std::{array, cell::RefCell, hint::black_box, io, time::Duration};

use sealwright_measure::{Candidate, Clock, clock::ThreadCpu, random::Random};

use super::{
    check::Entrant,
    peer::sealing::{BATCH, Batch, Job, Peer, RefusedError, SIDE_BY_SIDE, Sealing},
    row::Direction,
    subject::Subject,
    way::Way,
    window::{Nonces, Several, Window},
};

/// The number of keys in [`Way::ManyKeys`].
const KEYS: usize = 1000;

/// Data that all candidates of a comparison share, so that caches are equally warm for each: the messages to work on,
/// the sealed messages to restore, and the nonces.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) working: RefCell<Window>,
    /// Only where messages are opened.
    pub(super) sealed: Option<Window>,
    pub(super) nonces: Nonces,
    pub(super) ad: &'static [u8],
}

/// One implementation that seals or opens the messages of the ground.
pub(super) struct Timed<'a> {
    name: String,
    entrant: &'a Entrant<'a>,
    direction: Direction,
    ground: &'a Ground,
    way: Way,
    keys: Keys<'a>,
}

/// How the keys of messages are provided in each way.
enum Keys<'a> {
    One,
    Waiting,
    Many(Vec<Box<dyn Sealing>>),
    New { keys: Vec<Vec<u8>>, now: OneByOne<'a> },
    Together { keys: Vec<Vec<u8>>, batch: Box<dyn Batch + 'a> },
}

/// The number of keys that [`Way::NewKey`] and [`Way::Batch`] use in turn.
const NEW: usize = 256;

/// Sets up a new key for each message, in place if the library can replace keys.
struct OneByOne<'a> {
    peer: &'a dyn Peer,
    subject: Subject,
    now: Box<dyn Sealing>,
}

impl<'a> OneByOne<'a> {
    fn new(peer: &'a dyn Peer, subject: Subject, key: &[u8]) -> Option<Self> {
        Some(OneByOne { peer, subject, now: peer.make(subject, key)? })
    }

    fn seal(&mut self, ad: &[u8], job: Job<'_>) -> Result<(), RefusedError> {
        if !self.now.rekey(job.key) {
            self.now = self.peer.make(self.subject, job.key).ok_or(RefusedError)?;
        }
        self.now.send(job.nonce, ad, job.message)
    }
}

impl Batch for OneByOne<'_> {
    fn seal(&mut self, ad: &[u8], jobs: &mut [Job<'_>]) -> Result<(), RefusedError> {
        jobs.iter_mut().try_for_each(|job| OneByOne::seal(self, ad, std::mem::take(job)))
    }
}

/// Seals each message under the same key.
struct OneKey(Box<dyn Sealing>);

impl Batch for OneKey {
    fn seal(&mut self, ad: &[u8], jobs: &mut [Job<'_>]) -> Result<(), RefusedError> {
        jobs.iter_mut().try_for_each(|job| self.0.send(job.nonce, ad, job.message))
    }
}

impl<'a> Timed<'a> {
    /// A candidate with one key ([`Way::OneKey`]) that seals or opens on `ground`.
    pub(super) fn new(entrant: &'a Entrant<'a>, direction: Direction, ground: &'a Ground) -> Self {
        Timed { name: entrant.name(), entrant, direction, ground, way: Way::OneKey, keys: Keys::One }
    }

    /// Sets the way: prepares the keys, and checks replaced keys and batches first.
    pub(super) fn come(&mut self, way: Way, subject: Subject) -> io::Result<()> {
        let mut random = Random::new(2);
        let mut key = || -> Vec<u8> { (0..subject.key_len()).map(|_| random.bits() as u8).collect() };
        let refused = || io::Error::other(format!("{}: makes no further key", self.name));
        let peer = || self.entrant.peer.ok_or_else(refused);
        self.way = way;
        self.keys = match way {
            Way::OneKey => Keys::One,
            Way::Waiting => Keys::Waiting,
            Way::ManyKeys => {
                let peer = peer()?;
                Keys::Many((0..KEYS).map(|_| peer.make(subject, &key()).ok_or_else(refused)).collect::<Result<_, _>>()?)
            }
            Way::NewKey | Way::Batch => {
                let (peer, keys) = (peer()?, (0..NEW).map(|_| key()).collect::<Vec<_>>());
                let mut now = OneByOne::new(peer, subject, &keys[0]).ok_or_else(refused)?;
                self.replaces(&mut now, &keys[..3])?;
                match peer.batch(subject).filter(|_| way == Way::Batch) {
                    Some(mut batch) => {
                        self.agree(&mut *batch, now, &keys[..BATCH])?;
                        Keys::Together { keys, batch }
                    }
                    None if way == Way::Batch => Keys::Together { keys, batch: Box::new(now) },
                    None => Keys::New { keys, now },
                }
            }
            Way::SideBySide => {
                let (peer, keys) = (peer()?, vec![key(); NEW]);
                let batch = match peer.side_by_side(subject, &keys[0]) {
                    Some(mut batch) => {
                        let alone = OneByOne::new(peer, subject, &keys[0]).ok_or_else(refused)?;
                        self.agree(&mut *batch, alone, &keys[..SIDE_BY_SIDE])?;
                        batch
                    }
                    None => Box::new(OneKey(peer.make(subject, &keys[0]).ok_or_else(refused)?)),
                };
                Keys::Together { keys, batch }
            }
        };
        Ok(())
    }

    /// Checks that a replaced key gives the same message as a fresh key. All messages have the same nonce, so that
    /// state of an earlier message would show.
    fn replaces(&self, now: &mut OneByOne<'_>, keys: &[Vec<u8>]) -> io::Result<()> {
        let Ground { working, nonces, ad, .. } = self.ground;
        let (length, nonce) = (working.borrow_mut().message(0).len(), nonces.nonce(0));
        for key in keys {
            let (mut after, mut alone) = (vec![0; length], vec![0; length]);
            let fresh = now.peer.make(now.subject, key);
            let sealed = fresh.is_some_and(|fresh| fresh.send(nonce, ad, &mut alone).is_ok());
            if !sealed || now.seal(ad, Job { key, nonce, message: &mut after }).is_err() || after != alone {
                return Err(io::Error::other(format!("{}: a key that replaces another is not as if alone", self.name)));
            }
        }
        Ok(())
    }

    /// Checks that a batch with a message for each key gives the same result as sealing the messages one by one.
    fn agree(&self, batch: &mut dyn Batch, mut alone: OneByOne<'_>, keys: &[Vec<u8>]) -> io::Result<()> {
        let Ground { working, nonces, ad, .. } = self.ground;
        let length = working.borrow_mut().message(0).len();
        let mut random = Random::new(3);
        let mut plain = vec![vec![0; length]; keys.len()];
        plain.iter_mut().flatten().for_each(|byte| *byte = random.bits() as u8);
        let mut other = plain.clone();
        let sealed = batch.seal(ad, &mut jobs(keys, nonces, &mut plain));
        let sealed = sealed.and_then(|()| Batch::seal(&mut alone, ad, &mut jobs(keys, nonces, &mut other)));
        if sealed.is_err() || plain != other {
            return Err(io::Error::other(format!("{}: a batch is not its messages one by one", self.name)));
        }
        Ok(())
    }
}

impl Candidate for Timed<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let Ground { working, sealed, nonces, ad } = self.ground;
        let working = &mut *working.borrow_mut();
        let sealing = &*self.entrant.sealing;
        let took = match (self.direction, &mut self.keys) {
            (Direction::Seal, Keys::One) => timed(iterations, working, |working, slot, turn| {
                sealing.send(nonces.nonce(turn), ad, black_box(working.message(slot)))
            }),
            (Direction::Seal, Keys::Waiting) => {
                // `nothing` is always zero, but neither compiler nor processor knows that. So the nonce depends on the
                // previous tag
                let (nothing, mut tag) = (black_box(0), 0);
                timed(iterations, working, |working, slot, turn| {
                    let message = black_box(working.message(slot));
                    sealing.send(nonces.nonce(turn + (tag & nothing)), ad, message)?;
                    tag = message.last_chunk().map_or(0, |end| usize::from_ne_bytes(*end));
                    Ok(())
                })
            }
            (Direction::Seal, Keys::Many(keys)) => timed(iterations, working, |working, slot, turn| {
                // The order is one that prefetchers do not predict
                let sealing = &keys[turn * 617 % KEYS];
                sealing.send(nonces.nonce(turn), ad, black_box(working.message(slot)))
            }),
            (Direction::Seal, Keys::New { keys, now }) => timed(iterations, working, |working, slot, turn| {
                let (key, nonce) = (&keys[turn % keys.len()], nonces.nonce(turn));
                now.seal(ad, Job { key, nonce, message: black_box(working.message(slot)) })
            }),
            (Direction::Seal, Keys::Together { keys, batch }) => {
                together(iterations, working, self.way.at_once(), |first, messages| {
                    let mut jobs = (first..).zip(messages).map(|(turn, message)| {
                        let (key, nonce) = (&keys[turn % keys.len()], nonces.nonce(turn));
                        Job { key, nonce, message }
                    });
                    let mut jobs: [_; BATCH] = array::from_fn(|_| jobs.next().unwrap_or_default());
                    let count = jobs.iter().take_while(|job| !job.key.is_empty()).count();
                    batch.seal(ad, black_box(&mut jobs[..count]))
                })
            }
            // A message can only be opened with the nonce that it was sealed with
            (Direction::Open, _) => {
                let sealed = sealed.as_ref().ok_or_else(nothing_sealed)?;
                timed(iterations, working, |working, slot, _| {
                    sealing.open(nonces.nonce(slot), ad, black_box(working.restore(slot, sealed)))
                })
            }
        };
        took.map_err(|RefusedError| io::Error::other(format!("{}: refused to {}", self.name, self.direction)))
    }

    fn together(&self) -> u64 {
        self.way.at_once() as u64
    }
}

/// Jobs for messages with their keys; message i has nonce i.
fn jobs<'a>(keys: &'a [Vec<u8>], nonces: &'a Nonces, messages: &'a mut [Vec<u8>]) -> Vec<Job<'a>> {
    let messages = messages.iter_mut().zip(keys).enumerate();
    messages.map(|(i, (message, key))| Job { key, nonce: nonces.nonce(i), message }).collect()
}

fn nothing_sealed() -> io::Error {
    io::Error::other("there are no sealed messages to open")
}

/// Only the copy that is part of every opening.
pub(super) struct Copy<'a>(pub(super) &'a Ground);

impl Copy<'_> {
    /// Its name as a candidate of a comparison.
    pub(super) const NAME: &'static str = "copy";
}

impl Candidate for Copy<'_> {
    fn name(&self) -> &str {
        Copy::NAME
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let sealed = self.0.sealed.as_ref().ok_or_else(nothing_sealed)?;
        let working = &mut *self.0.working.borrow_mut();
        let took = timed(iterations, working, |working, slot, _| {
            black_box(working.restore(slot, sealed));
            Ok(())
        });
        took.map_err(io::Error::other)
    }
}

/// The thread's CPU time for `iterations` calls of `each`, which receives the message's slot and the number of the
/// call. It is CPU time, so that time in which another process uses the core does not count.
#[inline]
fn timed(
    iterations: u64,
    working: &mut Window,
    mut each: impl FnMut(&mut Window, usize, usize) -> Result<(), RefusedError>,
) -> Result<Duration, RefusedError> {
    let messages = working.messages();
    let start = ThreadCpu.now();
    let mut slot = 0;
    for turn in 0..iterations {
        each(working, slot, turn as usize)?;
        slot += 1;
        if slot == messages {
            slot = 0;
        }
    }
    Ok(ThreadCpu.now() - start)
}

/// The same for batches: `each` receives the number of the first message and `at_once` messages. Window and sample
/// consist of whole batches ([`Candidate::together`]).
#[inline]
fn together(
    iterations: u64,
    working: &mut Window,
    at_once: usize,
    mut each: impl FnMut(usize, Several<'_>) -> Result<(), RefusedError>,
) -> Result<Duration, RefusedError> {
    let start = ThreadCpu.now();
    for turn in (0..iterations as usize).step_by(at_once) {
        each(turn, working.some(turn % working.messages(), at_once))?;
    }
    Ok(ThreadCpu.now() - start)
}
