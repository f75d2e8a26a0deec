//! Counters of the data plane. They need no locks: each worker counts for itself and publishes its counts once per
//! iteration.

use std::sync::atomic::{AtomicU64, Ordering};

/// Something that is counted. Bad frames are dropped and counted by what was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// Frames that arrived whole, good or bad.
    Arrived,
    /// Frames that were opened: authentic, fresh, of a session of this node.
    Opened,
    /// Frames sealed for their destination, and queued on its connection or taken by the system as datagrams.
    Forwarded,
    /// Frames passed on to the node of their destination.
    Remote,
    /// Bytes read from connections.
    BytesIn,
    /// Bytes written to connections.
    BytesOut,
    /// Bad: too short to hold a tag and a destination.
    Short,
    /// Bad: longer than this relay takes.
    Oversize,
    /// Bad: not a header of this wire format; the stream cannot be followed further and is closed.
    Malformed,
    /// Bad: no such session here.
    Unknown,
    /// Bad: a session of another shard; a connection carries sessions of one shard only.
    Misplaced,
    /// Bad: sealed before the session's keys were replaced.
    Stale,
    /// Bad: received before, or older than the replay window.
    Replayed,
    /// Bad: the tag is wrong.
    Forged,
    /// Bad: the destination is unknown, or has no connection now.
    WrongDestination,
    /// Dropped: sender and receiver may not speak.
    Denied,
    /// Dropped: the rules changed while it was under way.
    RulesChanged,
    /// Dropped: the session sent more frames than its share.
    Share,
    /// Dropped: the destination does not read fast enough.
    Slow,
    /// Dropped: the session's key has encrypted as many blocks as it may, and must be replaced.
    Exhausted,
    /// Connections accepted.
    Accepted,
    /// Connections refused and closed, because there is no room or their address has its share.
    Refused,
    /// Times that new connections began to wait, because there were no descriptors or no memory for them.
    Delayed,
    /// Connections closed by the relay: too many bad frames, no authentic frame in time, malformed, stalled.
    Expelled,
    /// Connections that ended, for any reason.
    Closed,
    /// Times that reading a connection was paused because a destination's queue was full.
    Paused,
    /// Iterations of the workers' loops.
    Iterations,
    /// Nanoseconds of CPU time the workers used.
    CpuNanoseconds,
}

impl Count {
    /// All of them, in the order of the declaration.
    pub const ALL: &[Count] = &[
        Count::Arrived,
        Count::Opened,
        Count::Forwarded,
        Count::Remote,
        Count::BytesIn,
        Count::BytesOut,
        Count::Short,
        Count::Oversize,
        Count::Malformed,
        Count::Unknown,
        Count::Misplaced,
        Count::Stale,
        Count::Replayed,
        Count::Forged,
        Count::WrongDestination,
        Count::Denied,
        Count::RulesChanged,
        Count::Share,
        Count::Slow,
        Count::Exhausted,
        Count::Accepted,
        Count::Refused,
        Count::Delayed,
        Count::Expelled,
        Count::Closed,
        Count::Paused,
        Count::Iterations,
        Count::CpuNanoseconds,
    ];

    /// Why a frame was dropped, for those counts that say so.
    pub fn dropped() -> impl Iterator<Item = Count> {
        Count::ALL[Count::Short as usize..=Count::Exhausted as usize].iter().copied()
    }

    /// The name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Count::Arrived => "arrived",
            Count::Opened => "opened",
            Count::Forwarded => "forwarded",
            Count::Remote => "remote",
            Count::BytesIn => "bytes_in",
            Count::BytesOut => "bytes_out",
            Count::Short => "short",
            Count::Oversize => "oversize",
            Count::Malformed => "malformed",
            Count::Unknown => "unknown",
            Count::Misplaced => "misplaced",
            Count::Stale => "stale",
            Count::Replayed => "replayed",
            Count::Forged => "forged",
            Count::WrongDestination => "wrong_destination",
            Count::Denied => "denied",
            Count::RulesChanged => "rules_changed",
            Count::Share => "share",
            Count::Slow => "slow",
            Count::Exhausted => "exhausted",
            Count::Accepted => "accepted",
            Count::Refused => "refused",
            Count::Delayed => "delayed",
            Count::Expelled => "expelled",
            Count::Closed => "closed",
            Count::Paused => "paused",
            Count::Iterations => "iterations",
            Count::CpuNanoseconds => "cpu_nanoseconds",
        }
    }
}

/// Counts as numbers: one worker's own, or the sum of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Count::ALL.len()]);

impl Counts {
    /// How often `what` was counted.
    pub fn of(&self, what: Count) -> u64 {
        self.0[what as usize]
    }

    /// Frames dropped, for any reason.
    pub fn dropped(&self) -> u64 {
        Count::dropped().map(|what| self.of(what)).sum()
    }

    /// What was counted since `earlier`.
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts(std::array::from_fn(|at| self.0[at] - earlier.0[at]))
    }

    pub(crate) fn one(&mut self, what: Count) {
        self.0[what as usize] += 1;
    }

    pub(crate) fn add(&mut self, what: Count, much: u64) {
        self.0[what as usize] += much;
    }

    pub(crate) fn set(&mut self, what: Count, to: u64) {
        self.0[what as usize] = to;
    }
}

/// A worker's counts where other threads read them.
#[derive(Debug, Default)]
pub(crate) struct Published([AtomicU64; Count::ALL.len()]);

impl Published {
    pub(crate) fn publish(&self, counts: &Counts) {
        for (there, here) in self.0.iter().zip(counts.0) {
            there.store(here, Ordering::Relaxed);
        }
    }

    pub(crate) fn add_to(&self, sum: &mut Counts) {
        for (sum, here) in sum.0.iter_mut().zip(&self.0) {
            *sum += here.load(Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_the_declaration() {
        for (at, &what) in Count::ALL.iter().enumerate() {
            assert_eq!(what as usize, at, "{what:?}");
        }
    }

    #[test]
    fn names_are_those_of_the_declaration() {
        for &what in Count::ALL {
            let words = format!("{what:?}").chars().fold(String::new(), |text, letter| match letter {
                'A'..='Z' if !text.is_empty() => text + "_" + &letter.to_ascii_lowercase().to_string(),
                letter => text + &letter.to_ascii_lowercase().to_string(),
            });
            assert_eq!(what.name(), words);
        }
    }

    #[test]
    fn a_number_is_set_and_others_stay() {
        let mut counts = Counts::default();
        counts.one(Count::Paused);
        counts.set(Count::CpuNanoseconds, 7);
        counts.set(Count::CpuNanoseconds, 5);
        assert_eq!((counts.of(Count::CpuNanoseconds), counts.of(Count::Paused), counts.dropped()), (5, 1, 0));
    }

    #[test]
    fn published_counts_add_up_over_workers() {
        let (a, b) = (Published::default(), Published::default());
        let mut counts = Counts::default();
        counts.one(Count::Forged);
        a.publish(&counts);
        counts.add(Count::Forged, 2);
        b.publish(&counts);
        let mut sum = Counts::default();
        a.add_to(&mut sum);
        b.add_to(&mut sum);
        assert_eq!((sum.of(Count::Forged), sum.dropped(), sum.of(Count::Opened)), (4, 4, 0));
        assert_eq!(sum.since(&counts).of(Count::Forged), 1);
    }
}
