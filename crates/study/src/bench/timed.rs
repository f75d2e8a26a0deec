//! The loops that are timed.

use std::{cell::RefCell, hint::black_box, io, time::Duration};

use sealwright_measure::{Candidate, Clock, clock::ThreadCpu};

use super::{
    check::Entrant,
    peer::sealing::RefusedError,
    row::Direction,
    window::{Nonces, Window},
};

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
    entrant: &'a Entrant,
    direction: Direction,
    ground: &'a Ground,
}

impl<'a> Timed<'a> {
    /// `entrant` sealing or opening on `ground`.
    pub(super) fn new(entrant: &'a Entrant, direction: Direction, ground: &'a Ground) -> Self {
        Timed { name: entrant.name(), entrant, direction, ground }
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
        let took = match self.direction {
            Direction::Seal => timed(iterations, working, |working, slot, turn| {
                sealing.send(nonces.nonce(turn), ad, black_box(working.message(slot)))
            }),
            // A nonce belongs to its message
            Direction::Open => timed(iterations, working, |working, slot, _| {
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
