//! Miss status holding registers (MSHRs): the lines that a node has asked for, and the accesses that wait for each.

use crate::{access::Access, engine::Cycle, message::LONGEST_LINE, mosi::State, stats::NodeCounters};

/// A register: a line that its node has asked for.
#[derive(Clone, Debug)]
pub(super) struct Mshr {
    pub(super) line: u64,
    pub(super) state: State,
    /// The access that missed.
    pub(super) access: Access,
    /// Accesses to the same line since, in the order of the program.
    pub(super) joined: Vec<Access>,
    /// Whether the processor waits for the access; else it has gone on.
    pub(super) waits: bool,
    /// The request's number among the node's requests.
    pub(super) request: u64,
    pub(super) since: Cycle,
    /// How often it has waited for the bus's timeout.
    pub(super) timeouts: u32,
    /// Data that arrived before the node's own request was ordered.
    pub(super) saved: Option<Box<[u8; LONGEST_LINE]>>,
    /// The owner's copy, where another line has taken its place while the request to write is under way.
    pub(super) kept: Option<Box<[u8; LONGEST_LINE]>>,
    /// Nodes that asked for the line meanwhile, with their requests' numbers.
    pub(super) forwards: Vec<(usize, u64)>,
    /// When all copies that its request makes invalid are known to be so, where that takes messages.
    pub(super) acknowledged: Cycle,
}

/// What a processor with lines under way waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stall {
    /// A register: all are taken.
    Full,
    /// A line that was asked for as data, and is to be fetched.
    Line(u64),
    /// All lines, because it synchronises.
    Synchronises,
    /// All lines, because its program has ended.
    Ends,
}

/// The registers of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Mshrs {
    taken: Vec<Mshr>,
    /// Registers whose line may be used, but not all nodes have acknowledged that yet.
    acknowledging: usize,
    /// A bit for each line that is under way, by its number's last six bits: mostly it answers alone.
    filter: u64,
    /// Until when it has been counted how many are taken.
    counted: Cycle,
}

fn bit(line: u64) -> u64 {
    1 << (line % 64)
}

impl Mshrs {
    /// The register of a line, if it is under way.
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

    /// Since when the processor has waited for lines.
    pub(super) fn waits(&self) -> impl Iterator<Item = Cycle> {
        self.taken.iter().filter(|mshr| mshr.waits).map(|mshr| mshr.since)
    }

    /// Whether a line is under way, for a look at many lines: see [`of`](Self::of).
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

    /// A register that was freed stays taken until all nodes have acknowledged.
    pub(super) fn hold(&mut self) {
        self.acknowledging += 1;
    }

    /// All nodes have acknowledged.
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
