//! Miss status holding registers (MSHRs): the lines that a node has asked for, and the accesses that wait for each.

use crate::{access::Access, engine::Cycle, message::LONGEST_LINE, mosi::State, stats::NodeCounters};

/// A register: a line that its node has requested.
#[derive(Clone, Debug)]
pub(super) struct Mshr {
    pub(super) line: u64,
    pub(super) state: State,
    /// The access that missed.
    pub(super) access: Access,
    /// Later accesses to the same line, in program order.
    pub(super) joined: Vec<Access>,
    /// Whether the miss is blocking: the processor waits for it.
    pub(super) waits: bool,
    /// The request's number among the node's requests.
    pub(super) request: u64,
    pub(super) since: Cycle,
    /// How often the request has timed out.
    pub(super) timeouts: u32,
    /// Data that arrived before the node's own request was ordered.
    pub(super) saved: Option<Box<[u8; LONGEST_LINE]>>,
    /// The owner's copy, if it was evicted from the caches while its upgrade was outstanding.
    pub(super) kept: Option<Box<[u8; LONGEST_LINE]>>,
    /// Requests to be answered with the line once it is here, ordered after this one: node and request number.
    pub(super) forwards: Vec<(usize, u64)>,
    /// Over links: when all invalidations of its request will have been acknowledged.
    pub(super) acknowledged: Cycle,
}

/// Why a processor with outstanding lines is stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stall {
    /// It needs a register, and all are taken.
    Full,
    /// It fetches instructions from this line, which is outstanding as data.
    Line(u64),
    /// It synchronises, once all lines have arrived.
    Synchronises,
    /// Its program has ended, and it finishes once all lines have arrived.
    Ends,
}

/// The registers of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Mshrs {
    taken: Vec<Mshr>,
    /// Registers whose line has arrived, but whose invalidations are not all acknowledged yet.
    acknowledging: usize,
    /// A bit for the low six bits of each outstanding line's number: a clear bit answers most look-ups at once.
    filter: u64,
    /// The cycle up to which occupancy has been counted.
    counted: Cycle,
}

fn bit(line: u64) -> u64 {
    1 << (line % 64)
}

impl Mshrs {
    /// The register of a line, if it is outstanding.
    #[inline]
    pub(super) fn of(&self, line: u64) -> Option<&Mshr> {
        if self.filter & bit(line) == 0 {
            return None;
        }
        self.taken.iter().find(|mshr| mshr.line == line)
    }

    pub(super) fn of_mut(&mut self, line: u64) -> Option<&mut Mshr> {
        self.taken.iter_mut().find(|mshr| mshr.line == line)
    }

    /// The register of the node's request of that number.
    pub(super) fn asked(&self, request: u64) -> Option<&Mshr> {
        self.taken.iter().find(|mshr| mshr.request == request)
    }

    pub(super) fn asked_mut(&mut self, request: u64) -> Option<&mut Mshr> {
        self.taken.iter_mut().find(|mshr| mshr.request == request)
    }

    /// The start of each of the processor's waits for a line.
    pub(super) fn waits(&self) -> impl Iterator<Item = Cycle> {
        self.taken.iter().filter(|mshr| mshr.waits).map(|mshr| mshr.since)
    }

    /// Whether any line is outstanding: if not, [`of`](Self::of) finds none.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.filter != 0
    }

    /// How many are taken.
    pub(super) fn held(&self) -> usize {
        self.taken.len() + self.acknowledging
    }

    /// Takes a register.
    pub(super) fn take(&mut self, mshr: Mshr, counters: &mut NodeCounters, now: Cycle) {
        self.count(counters, now);
        self.filter |= bit(mshr.line);
        self.taken.push(mshr);
        counters.most_held = counters.most_held.max(self.held() as u64);
    }

    /// Frees the register of a line.
    pub(super) fn free(&mut self, line: u64, counters: &mut NodeCounters, now: Cycle) -> Option<Mshr> {
        let place = self.taken.iter().position(|mshr| mshr.line == line)?;
        self.count(counters, now);
        let mshr = self.taken.remove(place);
        self.filter = self.taken.iter().fold(0, |filter, mshr| filter | bit(mshr.line));
        Some(mshr)
    }

    /// Keeps a freed register counted as taken until its invalidations are acknowledged.
    pub(super) fn hold(&mut self) {
        self.acknowledging += 1;
    }

    /// All invalidations of such a register are acknowledged.
    pub(super) fn acknowledged(&mut self, counters: &mut NodeCounters, now: Cycle) {
        self.count(counters, now);
        self.acknowledging -= 1;
    }

    /// Counts the cycles until `now` in which registers were taken.
    pub(super) fn count(&mut self, counters: &mut NodeCounters, now: Cycle) {
        let cycles = now.saturating_sub(self.counted);
        let held = self.held() as u64;
        counters.held += held * cycles;
        counters.missing += if held > 0 { cycles } else { 0 };
        self.counted = self.counted.max(now);
    }
}
