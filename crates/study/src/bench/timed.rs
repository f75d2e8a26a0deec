//! The loops that are timed.

use std::{cell::RefCell, hint::black_box, io, time::Duration};

use sealwright_measure::{Candidate, Clock, clock::ThreadCpu, random::Random};

use super::{
    check::Entrant,
    peer::sealing::{Peer, RefusedError, Sealing},
    row::Direction,
    subject::Subject,
    way::Way,
    window::{Nonces, Window},
};

/// How many keys [`Way::ManyKeys`] means.
const KEYS: usize = 1000;

/// What all candidates of one comparison share, so that none finds the caches warmer than another: the messages
/// worked on, the sealed ones to restore from, the nonces.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) working: RefCell<Window>,
    pub(super) sealed: Window,
    pub(super) nonces: Nonces,
    pub(super) ad: &'static [u8],
}

/// One implementation at work on the ground.
pub(super) struct Timed<'a> {
    name: String,
    entrant: &'a Entrant<'a>,
    direction: Direction,
    ground: &'a Ground,
    keys: Keys<'a>,
}

/// The keys of messages.
enum Keys<'a> {
    One,
    Waiting,
    Many(Vec<Box<dyn Sealing>>),
    New { peer: &'a dyn Peer, subject: Subject, keys: Vec<Vec<u8>>, now: Box<dyn Sealing> },
}

impl<'a> Timed<'a> {
    /// `entrant` sealing or opening on `ground`.
    pub(super) fn new(entrant: &'a Entrant<'a>, direction: Direction, ground: &'a Ground) -> Self {
        Timed { name: entrant.name(), entrant, direction, ground, keys: Keys::One }
    }

    /// Lets messages come in a certain way.
    pub(super) fn come(&mut self, way: Way, subject: Subject) -> io::Result<()> {
        let mut random = Random::new(2);
        let mut key = || -> Vec<u8> { (0..subject.key_len()).map(|_| random.bits() as u8).collect() };
        let refused = || io::Error::other(format!("{}: makes no further key", self.name));
        let peer = || self.entrant.peer.ok_or_else(refused);
        self.keys = match way {
            Way::OneKey => Keys::One,
            Way::Waiting => Keys::Waiting,
            Way::ManyKeys => {
                let peer = peer()?;
                Keys::Many((0..KEYS).map(|_| peer.make(subject, &key()).ok_or_else(refused)).collect::<Result<_, _>>()?)
            }
            Way::NewKey => {
                let (peer, keys) = (peer()?, (0..256).map(|_| key()).collect::<Vec<_>>());
                let now = peer.make(subject, &keys[0]).ok_or_else(refused)?;
                Keys::New { peer, subject, keys, now }
            }
        };
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
                // Always zero, which the processor learns when the tag is there: so the nonce is found only then.
                let (nothing, mut tag) = (black_box(0), 0);
                timed(iterations, working, |working, slot, turn| {
                    let message = black_box(working.message(slot));
                    sealing.send(nonces.nonce(turn + (tag & nothing)), ad, message)?;
                    tag = message.last_chunk().map_or(0, |end| usize::from_ne_bytes(*end));
                    Ok(())
                })
            }
            (Direction::Seal, Keys::Many(keys)) => timed(iterations, working, |working, slot, turn| {
                // In an order that no prefetcher knows.
                let sealing = &keys[turn * 617 % KEYS];
                sealing.send(nonces.nonce(turn), ad, black_box(working.message(slot)))
            }),
            (Direction::Seal, Keys::New { peer, subject, keys, now }) => {
                timed(iterations, working, |working, slot, turn| {
                    let key = &keys[turn % keys.len()];
                    if !now.rekey(key) {
                        *now = peer.make(*subject, key).ok_or(RefusedError)?;
                    }
                    now.send(nonces.nonce(turn), ad, black_box(working.message(slot)))
                })
            }
            // A nonce belongs to its message
            (Direction::Open, _) => timed(iterations, working, |working, slot, _| {
                sealing.open(nonces.nonce(slot), ad, black_box(working.restore(slot, sealed)))
            }),
        };
        took.map_err(|RefusedError| io::Error::other(format!("{}: refused to {}", self.name, self.direction)))
    }
}

/// The copying alone that opening includes.
pub(super) struct Copy<'a>(pub(super) &'a Ground);

impl Copy<'_> {
    /// Its name in a comparison.
    pub(super) const NAME: &'static str = "copy";
}

impl Candidate for Copy<'_> {
    fn name(&self) -> &str {
        Copy::NAME
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let sealed = &self.0.sealed;
        let working = &mut *self.0.working.borrow_mut();
        let took = timed(iterations, working, |working, slot, _| {
            black_box(working.restore(slot, sealed));
            Ok(())
        });
        took.map_err(io::Error::other)
    }
}

/// The thread's CPU time for `iterations` turns of `each`, which gets the message's slot and the number of the turn.
/// CPU time and not wall time, so that another process taking the core in between does not count.
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
