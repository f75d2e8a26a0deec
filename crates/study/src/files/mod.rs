//! `sealwright-lab study files`: compares CBC with GCM on text and images of 100 kB, 1 MB and 10 MB.

mod figures;
mod grid;
mod library;
mod measured;
mod notes;
mod printed;
mod process;
mod programs;
mod quantities;
mod tables;
mod ticks;

use std::{collections::BTreeMap, io, time::Duration};

use grid::{Direction, Grid, Mode, Point, SIZES};
use library::Lane;
use measured::{ENC, Measured, NO_INSTRUCTIONS, PRINTED, SEAL, TOOLS};
use printed::PAPER;
use process::{Place, Trials};
use programs::{Program, Programs};
use sealwright::Isa;
use sealwright_measure::{FEWEST, Interval, Meter};

use crate::{
    attack_evidence,
    corpus::Content,
    error::StudyError,
    judgement::judge,
    paper::Paper,
    progress::Progress,
    quantity::Quantity,
    study::{Options, Outcome, Study},
};

/// The study of files.
#[derive(Debug)]
pub(crate) struct Files;

impl Study for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn paper(&self) -> &'static Paper {
        &PAPER
    }

    fn printed(&self) -> Vec<Quantity> {
        quantities::printed(&Grid::printed(&PAPER, PRINTED))
    }

    fn attacks(&self) -> &'static [&'static str] {
        &["gcm-nonce-reuse", "cbc-flip"]
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        progress.expect(1 + 5 * SIZES.len() * 2);
        let found = Programs::find(options.binary.as_deref()).map_err(StudyError::io("the folder for trial files"))?;
        let measured = measure(&found, options.quick, progress).map_err(StudyError::io("study files"))?;
        let mut quantities = quantities::quantities(&measured);
        let reduced = attack_evidence::run(self.attacks(), options.quick, &mut quantities)?;
        Ok(Outcome {
            summary: notes::summary(&measured),
            claims: attack_evidence::told(judge(&PAPER.claims, &quantities)?, &reduced)?,
            quantities,
            figures: figures::figures(&measured),
            tables: tables::tables(&measured),
            notes: notes::notes(&measured),
        })
    }
}

fn measure<'a>(programs: &'a Programs, quick: bool, progress: &mut Progress<'_>) -> io::Result<Measured<'a>> {
    let kinds: &[Content] = if quick { &[Content::Text, Content::Png] } else { &Content::ALL };
    progress.step("making text and pictures, and trying every program on them");
    let mut trials = Trials::new(programs, kinds)?;
    let of_every_kind = [Program::OpensslEnc, Program::Enc(Mode::Cbc), Program::Enc(Mode::Gcm), Program::Seal];
    let cms = Mode::ALL
        .into_iter()
        .flat_map(|mode| [true, false].map(|instructions| Program::OpensslCms { mode, instructions }));
    let cms: Vec<Program> = cms.collect();
    let mut missing = Vec::new();
    for &program in of_every_kind.iter().chain(&cms).chain(&TOOLS[2..]) {
        let kinds = if of_every_kind.contains(&program) { kinds } else { &kinds[..1] };
        missing.extend(trials.missing(program, kinds)?);
    }
    let there = |program: &Program| missing.iter().all(|(missing, _)| missing != program);

    let meter = if quick { Meter::quick().rounds(FEWEST, 500) } else { Meter::full().rounds(15, 2000).width(0.01) };
    let at_most = |quick_ms, full_ms| Duration::from_millis(if quick { quick_ms } else { full_ms });
    let (mut enc, mut seal, mut no_instructions) = (Grid::new(ENC), Grid::new(SEAL), Grid::new(NO_INSTRUCTIONS));
    for size in SIZES {
        for direction in Direction::ALL {
            progress.step(&format!("whole processes, {direction} {size}"));
            let places = places(&of_every_kind, kinds, size, direction, there);
            let found = compare(&mut trials, &meter.clone().budget(at_most(1500, 12_000)), &places, progress)?;
            add(&mut enc, found.as_ref(), &places, |program| match program {
                Program::Enc(mode) => Some(mode),
                _ => None,
            });
            add(&mut seal, found.as_ref(), &places, |program| match program {
                Program::Enc(Mode::Cbc) => Some(Mode::Cbc),
                Program::Seal => Some(Mode::Gcm),
                _ => None,
            });
            progress.step(&format!("OpenSSL with and without AES instructions, {direction} {size}"));
            let places = self::places(&cms, &kinds[..1], size, direction, there);
            let found = compare(&mut trials, &meter.clone().budget(at_most(1000, 6000)), &places, progress)?;
            add(&mut no_instructions, found.as_ref(), &places, |program| match program {
                Program::OpensslCms { mode, instructions: false } => Some(mode),
                _ => None,
            });
            progress.step(&format!("other tools, {direction} {size}"));
            let places = self::places(&TOOLS, &kinds[..1], size, direction, there);
            compare(&mut trials, &meter.clone().budget(at_most(700, 5000)), &places, progress)?;
        }
    }

    let (library, wider) = library(quick, kinds, progress)?;
    let printed = Grid::printed(&PAPER, PRINTED);
    Ok(Measured { trials, printed, no_instructions, enc, seal, library, wider, missing })
}

/// The type of [`Measured::wider`].
type Wider = BTreeMap<grid::Size, Interval>;

/// Measures the library at every level. The slow level without special instructions is measured separately, so that it
/// does not take up the time budget of the others.
fn library(quick: bool, kinds: &[Content], progress: &mut Progress<'_>) -> io::Result<(Vec<(Isa, Grid)>, Wider)> {
    let levels = Isa::available();
    let scope = |isa: &Isa| format!("library, {}", isa.name());
    let mut grids: Vec<(Isa, Grid)> = levels.iter().map(|isa| (*isa, Grid::new(scope(isa)))).collect();
    let (slow, fast) = if levels.len() > 1 { levels.split_at(1) } else { levels.split_at(0) };
    let meter = if quick { Meter::quick().rounds(FEWEST, 2000) } else { Meter::full().rounds(11, 2000) };
    let meter = meter.budget(Duration::from_millis(if quick { 300 } else { 4000 }));
    let lanes = |levels: &[Isa]| levels.iter().map(|&isa| Lane { isa, kind: Content::Text }).collect::<Vec<_>>();
    let mut fast_lanes = lanes(fast);
    let images = fast.last().into_iter().flat_map(|&isa| kinds[1..].iter().map(move |&kind| Lane { isa, kind }));
    fast_lanes.extend(images);
    let wider = library::measure(&meter, &fast_lanes, &mut grids, "", progress)?;
    let slow_lanes = lanes(slow);
    if !slow_lanes.is_empty() {
        library::measure(&meter, &slow_lanes, &mut grids, ", portable", progress)?;
    }
    Ok((grids, wider))
}

/// The grid points of those of `programs` that are available.
fn places(
    wanted: &[Program],
    kinds: &[Content],
    size: grid::Size,
    direction: Direction,
    there: impl Fn(&Program) -> bool,
) -> Vec<Place> {
    wanted
        .iter()
        .filter(|program| there(program))
        .flat_map(|&program| kinds.iter().map(move |&kind| (program, kind, size, direction)))
        .collect()
}

/// Measures `places` in one comparison, if there are any.
fn compare(
    trials: &mut Trials<'_>,
    meter: &Meter,
    places: &[Place],
    progress: &mut Progress<'_>,
) -> io::Result<Option<sealwright_measure::Comparison>> {
    if places.is_empty() { Ok(None) } else { trials.compare(meter, places, progress).map(Some) }
}

/// Adds the times of those programs that represent a mode in this circumstance to `grid`.
fn add(
    grid: &mut Grid,
    found: Option<&sealwright_measure::Comparison>,
    places: &[Place],
    mode: impl Fn(Program) -> Option<Mode>,
) {
    let points: Vec<(String, Point)> = places
        .iter()
        .filter_map(|place| mode(place.0).map(|mode| (process::name(place), process::point(place, mode))))
        .collect();
    if let Some(found) = found {
        grid.add(found, &points);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_paper_is_transcribed_whole() {
        let table = |id: &str| -> f64 { PAPER.table(id).unwrap().rows.iter().flat_map(|row| &row.values).sum() };
        assert!((table("cbc") - 510.66).abs() < 1e-6);
        assert!((table("gcm") - 950.67).abs() < 1e-6);
        assert_eq!(PAPER.table("cbc").unwrap().value("1 MB image", 1), Some(21.33));
        assert_eq!(PAPER.table("gcm").unwrap().value("10 MB text", 0), Some(192.0));
        assert_eq!(Grid::printed(&PAPER, "paper").points().count(), 24);
    }

    #[test]
    fn every_printed_mean_is_whole_ticks() {
        let (_, whole, all) = ticks::table(&PAPER);
        assert_eq!((whole, all), (24, 24));
    }

    #[test]
    fn key_and_iv_are_the_papers() {
        assert_eq!(PAPER.printed["key"].as_str(), Some(programs::KEY));
        assert_eq!(PAPER.printed["iv"].as_str(), Some(programs::IV));
    }
}
