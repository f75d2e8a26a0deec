//! Loss recovery and congestion control of a stream: when a piece in flight counts as lost, and how much may be in
//! flight.
//!
//! A piece counts as lost once a piece sent after it was acknowledged and it has had time to arrive, reordering
//! included. If no acknowledgement comes at all, the first piece is sent again. The window at first grows with each
//! acknowledged byte; later, per round trip, by a quarter if at most a fiftieth of the pieces was lost. It shrinks if
//! more than a twentieth was lost. Losses that do not come from a full queue therefore do not slow the stream down.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
    time::{Duration, Instant},
};

/// Time limits of an acknowledgement: of the first, and the least and the longest of later ones.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LEAST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The least allowance for reordering: how much later than later pieces a piece may arrive.
const LEAST_REORDERING: Duration = Duration::from_millis(2);
/// Pieces in the first window, and in the smallest one.
const FIRST_PIECES: usize = 10;
const LEAST_PIECES: usize = 4;

/// A piece that was sent and is not acknowledged.
#[derive(Debug)]
struct Piece {
    len: usize,
    /// Position of its last transmission in the order of all transmissions, and the time of it.
    order: u64,
    at: Instant,
    lost: bool,
    /// It was sent more than once, so its acknowledgement is no sample of the round trip time.
    again: bool,
}

/// Recovery state of one direction.
#[derive(Debug)]
pub(crate) struct Recovery {
    pieces: BTreeMap<u64, Piece>,
    lost: BTreeSet<u64>,
    /// Order and offset of transmissions, the oldest first. Entries of pieces that were since acknowledged or sent
    /// again are stale and skipped.
    sent: VecDeque<(u64, u64)>,
    in_flight: usize,
    order: u64,
    /// The highest order that was acknowledged.
    newest: u64,
    /// The last acknowledgement does not cover what lies at or beyond this offset.
    told: u64,
    /// Smoothed round trip time, and its variation.
    rtt: Option<(Duration, Duration)>,
    window: usize,
    largest_window: usize,
    piece: usize,
    growing_fast: bool,
    round: Round,
    /// Since when an answer is due, and how many time limits have passed without one.
    waiting: Option<Instant>,
    in_vain: u32,
}

/// Counts of one round trip: from the first piece sent in it to the acknowledgement of a piece sent after that.
#[derive(Debug, Default)]
struct Round {
    end: u64,
    sent: u32,
    lost: u32,
    /// The window was exhausted.
    limited: bool,
}

impl Recovery {
    /// For pieces of this length, of which at most `largest_window` bytes are in flight.
    pub(crate) fn new(piece: usize, largest_window: usize) -> Recovery {
        Recovery {
            pieces: BTreeMap::new(),
            lost: BTreeSet::new(),
            sent: VecDeque::new(),
            in_flight: 0,
            order: 0,
            newest: 0,
            told: u64::MAX,
            rtt: None,
            window: (FIRST_PIECES * piece).min(largest_window),
            largest_window,
            piece,
            growing_fast: true,
            round: Round::default(),
            waiting: None,
            in_vain: 0,
        }
    }

    /// Whether `len` more bytes may be in flight.
    pub(crate) fn has_room(&mut self, len: usize) -> bool {
        let room = self.in_flight == 0 || self.in_flight + len <= self.window;
        self.round.limited |= !room;
        room
    }

    /// Something was sent that requires an answer.
    pub(crate) fn asked(&mut self, now: Instant) {
        self.waiting.get_or_insert(now);
    }

    /// A piece was sent, for the first time or again.
    pub(crate) fn sent(&mut self, offset: u64, len: usize, now: Instant) {
        self.order += 1;
        let piece = Piece { len, order: self.order, at: now, lost: false, again: false };
        if let Some(before) = self.pieces.insert(offset, piece) {
            self.lost.remove(&offset);
            if !before.lost {
                self.in_flight -= before.len;
            }
            if let Some(piece) = self.pieces.get_mut(&offset) {
                piece.again = true;
            }
            // What did not fit into the shorter piece remains lost
            if before.len > len {
                let rest = Piece { len: before.len - len, lost: true, again: true, ..before };
                self.lost.insert(offset + len as u64);
                self.pieces.insert(offset + len as u64, rest);
            }
        }
        self.sent.push_back((self.order, offset));
        self.in_flight += len;
        self.round.sent += 1;
        self.asked(now);
    }

    /// Offset and length of the first piece to be sent again.
    pub(crate) fn lost(&self) -> Option<(u64, usize)> {
        let offset = *self.lost.first()?;
        Some((offset, self.pieces.get(&offset)?.len))
    }

    /// The peer has everything before `base`, and these ranges. Its acknowledgement says nothing of offsets from `told`
    /// on.
    pub(crate) fn acknowledged(&mut self, base: u64, ranges: &[Range<u64>], told: u64, now: Instant) {
        let asked_in_vain = std::mem::take(&mut self.in_vain) > 0;
        self.told = told;
        let (mut bytes, mut sample) = (0, None::<(u64, Instant)>);
        let before = std::iter::once(0..base);
        for range in before.chain(ranges.iter().cloned()) {
            let covered: Vec<u64> = self
                .pieces
                .range(range.start..range.end.max(range.start))
                .filter(|(offset, piece)| *offset + piece.len as u64 <= range.end)
                .map(|(offset, _)| *offset)
                .collect();
            for offset in covered {
                let Some(piece) = self.pieces.remove(&offset) else { continue };
                self.lost.remove(&offset);
                bytes += piece.len;
                if !piece.lost {
                    self.in_flight -= piece.len;
                }
                // For a piece sent twice, the acknowledgement may be of the first transmission, and then proves nothing
                // about the order of the second
                if !piece.again || asked_in_vain || self.rtt.is_none_or(|(smooth, _)| now >= piece.at + smooth / 2) {
                    self.newest = self.newest.max(piece.order);
                }
                if !piece.again && sample.is_none_or(|(order, _)| order < piece.order) {
                    sample = Some((piece.order, piece.at));
                }
            }
        }
        self.cut(base);
        if let Some((_, at)) = sample {
            self.measured(now.saturating_duration_since(at));
        }
        if self.growing_fast && self.round.limited {
            self.window = (self.window + bytes).min(self.largest_window);
        }
        self.detect(now);
        if self.newest >= self.round.end && bytes > 0 {
            self.end_round();
        }
        self.waiting = (!self.pieces.is_empty()).then_some(now);
    }

    /// Shortens a piece whose beginning the peer acknowledged. Our pieces are acknowledged whole, but a peer may do
    /// this, and nothing before `base` can be sent again.
    fn cut(&mut self, base: u64) {
        let Some((&offset, _)) = self.pieces.range(..base).next_back() else { return };
        let Some(mut piece) = self.pieces.remove(&offset) else { return };
        let gone = (base - offset) as usize;
        piece.len -= gone;
        if self.lost.remove(&offset) {
            self.lost.insert(base);
        } else {
            // Its entry in `sent` is stale now, so it is sent again only when a time limit passes
            self.in_flight -= gone;
        }
        self.pieces.insert(base, piece);
    }

    fn measured(&mut self, sample: Duration) {
        self.rtt = Some(match self.rtt {
            None => (sample, sample / 2),
            Some((smooth, varies)) => ((smooth * 7 + sample) / 8, (varies * 3 + smooth.abs_diff(sample)) / 4),
        });
    }

    /// Ends a round trip: adapts the window, unless the loss is in between.
    fn end_round(&mut self) {
        let Round { sent, lost, limited, .. } = std::mem::take(&mut self.round);
        self.round.end = self.order + 1;
        if lost >= 3 && lost * 20 > sent {
            let share = if lost * 3 > sent { 5 } else { 7 };
            self.window = (self.window * share / 10).max(LEAST_PIECES * self.piece);
            self.growing_fast = false;
        } else if lost >= 2 && lost * 50 > sent {
            self.growing_fast &= lost * 20 <= sent;
        } else if limited && !self.growing_fast {
            self.window = (self.window + self.window / 4).min(self.largest_window);
        }
    }

    /// How long after its transmission a piece counts as lost, provided that a later one was acknowledged.
    fn patience(&self) -> Duration {
        let (smooth, varies) = self.rtt.unwrap_or((FIRST_WAIT, Duration::ZERO));
        smooth + (smooth / 2).max(varies * 4).max(LEAST_REORDERING)
    }

    /// Marks pieces that count as lost by now.
    fn detect(&mut self, now: Instant) {
        let patience = self.patience();
        let mut unknown = Vec::new();
        while let Some((order, offset)) = self.sent.front().copied() {
            match self.pieces.get_mut(&offset) {
                Some(piece) if piece.order == order && !piece.lost => {
                    if order > self.newest || now < piece.at + patience {
                        break;
                    }
                    if offset >= self.told {
                        unknown.push((order, offset));
                        self.sent.pop_front();
                        continue;
                    }
                    piece.lost = true;
                    self.in_flight -= piece.len;
                    self.lost.insert(offset);
                    self.round.lost += 1;
                }
                _ => {}
            }
            self.sent.pop_front();
        }
        unknown.into_iter().rev().for_each(|piece| self.sent.push_front(piece));
    }

    /// Marks everything in flight as lost.
    pub(crate) fn all_lost(&mut self) {
        for (offset, piece) in &mut self.pieces {
            piece.lost = true;
            self.lost.insert(*offset);
        }
        (self.in_flight, self.round) = (0, Round { end: self.order + 1, ..Round::default() });
        self.sent.clear();
    }

    /// Handles time limits. Returns whether the peer must be asked again.
    pub(crate) fn tick(&mut self, now: Instant) -> bool {
        self.detect(now);
        if self.answer_due().is_none_or(|due| due > now) {
            return false;
        }
        self.waiting = Some(now);
        self.in_vain += 1;
        if self.rtt.is_none() || self.in_vain > 1 {
            self.window = (LEAST_PIECES * self.piece).max(self.window / 2);
            self.all_lost();
        } else if let Some((offset, piece)) = self.pieces.iter_mut().find(|(_, piece)| !piece.lost) {
            piece.lost = true;
            self.in_flight -= piece.len;
            self.lost.insert(*offset);
        }
        true
    }

    /// No answer is due any more.
    pub(crate) fn nothing_due(&mut self) {
        self.waiting = None;
    }

    fn answer_due(&self) -> Option<Instant> {
        let wait = self.rtt.map_or(FIRST_WAIT, |(smooth, varies)| (smooth + 4 * varies).max(LEAST_WAIT));
        Some(self.waiting? + (wait * (1 << self.in_vain.min(6))).min(LONGEST_WAIT))
    }

    /// When to call `tick` next; `None` if no answer is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        let answer = self.answer_due()?;
        let loss = self.sent.front().filter(|(order, offset)| *order <= self.newest && *offset < self.told);
        let loss = loss.and_then(|(_, offset)| self.pieces.get(offset)).map(|piece| piece.at + self.patience());
        Some(loss.map_or(answer, |loss| loss.min(answer)))
    }
}
