//! The library alone, within this process: CBC and GCM in place, at one or several instruction-set levels.

use std::{collections::BTreeMap, io, time::Duration};

use sealwright::{Isa, Suite, raw};
use sealwright_measure::{Candidate, Clock, Comparison, Interval, Meter, Placed, clock::ThreadCpu, random::Random};

use super::grid::{Direction, Grid, Mode, Point, SIZES, Size};
use crate::{
    corpus::{self, Content},
    progress::Progress,
};

/// Key, IV and nonce for measurements only.
const KEY: [u8; 32] = [0x42; 32];
const IV: [u8; 16] = [0x17; 16];
const NONCE: [u8; 12] = [0x29; 12];

/// Bytes processed between two readings of the clock. A reading takes about a microsecond.
const SPAN: usize = 1_000_000;

/// Work on fresh copies of `source`, without timing the copying. It is timed by the thread's CPU time, which other
/// processes do not affect.
struct InPlace<F> {
    name: String,
    source: Vec<u8>,
    /// As many copies as fit into a span.
    texts: Placed,
    work: F,
}

impl<F: FnMut(&mut [u8]) -> io::Result<()>> Candidate for InPlace<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let (mut total, mut left) = (Duration::ZERO, iterations);
        while left > 0 {
            let many = left.min((self.texts.len() / self.source.len()) as u64);
            let texts = &mut self.texts[..self.source.len() * many as usize];
            texts.chunks_exact_mut(self.source.len()).for_each(|text| text.copy_from_slice(&self.source));
            let start = ThreadCpu.now();
            for text in texts.chunks_exact_mut(self.source.len()) {
                (self.work)(text)?;
            }
            total += ThreadCpu.now() - start;
            left -= many;
        }
        Ok(total)
    }

    fn renew(&mut self, random: &mut Random) -> io::Result<bool> {
        self.texts.renew(random);
        Ok(true)
    }

    /// A text longer than a span is a sample by itself, as it can take a second without AES instructions.
    fn iterations(&self) -> Option<u64> {
        (self.source.len() > SPAN).then_some(1)
    }
}

type Boxed = Box<dyn FnMut(&mut [u8]) -> io::Result<()>>;

/// A level and a kind of data; each lane has a set of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) isa: Isa,
    pub(super) kind: Content,
}

fn candidate(lane: Lane, point: Point) -> io::Result<InPlace<Boxed>> {
    let Lane { isa, kind } = lane;
    let plain = corpus::file(kind, point.size.0 as usize, 1);
    let no_key = |_| io::Error::other("AES-256 takes 32 bytes of key");
    let mut source = plain.clone();
    let name = name(lane, point);
    let work: Boxed = match (point.mode, point.direction) {
        (Mode::Cbc, Direction::Encrypt) => {
            let aes = raw::aes(isa, &KEY).map_err(no_key)?;
            Box::new(move |text| {
                aes.cbc_encrypt(&IV, text);
                Ok(())
            })
        }
        (Mode::Cbc, Direction::Decrypt) => {
            let aes = raw::aes(isa, &KEY).map_err(no_key)?;
            aes.cbc_encrypt(&IV, &mut source);
            Box::new(move |text| {
                aes.cbc_decrypt(&IV, text);
                Ok(())
            })
        }
        (Mode::Gcm, direction) => {
            let gcm = Suite::Aes256Gcm.aead_at(isa, &KEY).map_err(no_key)?;
            let cannot = |_| io::Error::other("10 MB are within the limits of GCM");
            if direction == Direction::Encrypt {
                Box::new(move |text| gcm.seal_in_place(&NONCE, &[], text).map(drop).map_err(cannot))
            } else {
                let tag = gcm.seal_in_place(&NONCE, &[], &mut source).map_err(cannot)?;
                let forged = |_| io::Error::other("the library refused what it sealed itself");
                Box::new(move |text| gcm.open_in_place(&NONCE, &[], text, tag.as_ref()).map_err(forged))
            }
        }
    };
    let mut texts = Placed::new(source.len() * (SPAN / source.len()).max(1), 0, &mut Random::new(1));
    texts.chunks_exact_mut(source.len()).for_each(|text| text.copy_from_slice(&source));
    let mut made = InPlace { name, source, texts, work };
    if point.direction == Direction::Decrypt {
        // Check that the work succeeds before it is timed
        made.run(1)?;
        if made.texts[..plain.len()] != plain {
            return Err(io::Error::other(format!("{}: the text did not come back", made.name)));
        }
    }
    Ok(made)
}

fn name(lane: Lane, point: Point) -> String {
    format!("{} {} {} {} {}", lane.isa, point.mode, point.direction, point.size, lane.kind)
}

/// Measures both modes in the same rounds, for every size, direction and lane, and adds the times to the grid of the
/// lane's level. `note` is called after each step. Returns [`wider`] for each size that has it.
pub(super) fn measure(
    meter: &Meter,
    lanes: &[Lane],
    grids: &mut [(Isa, Grid)],
    note: &str,
    progress: &mut Progress<'_>,
) -> io::Result<BTreeMap<Size, Interval>> {
    let mut levels = BTreeMap::new();
    for size in SIZES {
        for direction in Direction::ALL {
            progress.step(&format!("library, {direction} {size}{note}"));
            let mut candidates = Vec::new();
            let mut points: Vec<(Isa, String, Point)> = Vec::new();
            for &lane in lanes {
                for mode in Mode::ALL {
                    let point = Point { kind: lane.kind, size, mode, direction };
                    points.push((lane.isa, name(lane, point), point));
                    candidates.push(candidate(lane, point)?);
                }
            }
            let mut refs: Vec<&mut dyn Candidate> = candidates.iter_mut().map(|c| c as &mut dyn Candidate).collect();
            let found = progress.compare(meter, &mut refs)?;
            for (isa, grid) in &mut *grids {
                let here = points.iter().filter(|(level, ..)| level == isa);
                let here: Vec<(String, Point)> = here.map(|(_, name, point)| (name.clone(), *point)).collect();
                grid.add(&found, &here);
            }
            if direction == Direction::Encrypt {
                levels.extend(wider(&found, lanes, size).map(|ratio| (size, ratio)));
            }
        }
    }
    Ok(levels)
}

/// Time to encrypt text with CBC at the best level divided by its time at the level with one block per register, from
/// the same rounds.
fn wider(found: &Comparison, lanes: &[Lane], size: Size) -> Option<Interval> {
    let texts = || lanes.iter().copied().filter(|lane| lane.kind == Content::Text);
    let (best, one) = (texts().next_back()?, texts().find(|lane| lane.isa.name() == "sse")?);
    let point = Point { kind: Content::Text, size, mode: Mode::Cbc, direction: Direction::Encrypt };
    (best != one).then(|| found.ratio(&name(best, point), &name(one, point)))?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::Trial;

    use super::*;

    /// A disturbance of a round affects both levels, so the ratio must be computed round by round.
    #[test]
    fn levels_are_compared_round_by_round() {
        let point = Point { kind: Content::Text, size: SIZES[0], mode: Mode::Cbc, direction: Direction::Encrypt };
        let lanes: Vec<Lane> = Isa::available().into_iter().map(|isa| Lane { isa, kind: Content::Text }).collect();
        let slow = [1.0, 2.0, 1.5, 3.0, 1.2, 2.5, 1.1, 1.7];
        let trial = |lane: &Lane| {
            let time = if lane.isa.name() == "sse" { 2.0 } else { 1.0 };
            Trial::new(name(*lane, point), 1, slow.iter().map(|slow| slow * time).collect(), 1).unwrap()
        };
        let found = Comparison { trials: lanes.iter().map(trial).collect(), narrow: true, seconds: 1.0, seed: 1 };
        let known = lanes.last().is_some_and(|best| best.isa.name() != "sse")
            && lanes.iter().any(|lane| lane.isa.name() == "sse");
        let ends = wider(&found, &lanes, SIZES[0]).map(|ratio| [ratio.low, ratio.high]);
        assert_eq!(ends, known.then_some([0.5; 2]));
    }
}
