//! `sealwright-lab study messages`: compares RKC with GCM on messages of 128 bytes to 10 KB as in the paper, and from
//! 16 bytes to 1 MiB.

mod crossing;
mod figures;
mod grid;
mod measured;
mod notes;
mod parts;
mod printed;
mod quantities;
mod tables;
mod timed;

use std::{io, time::Duration};

use grid::{Grid, SIZES, Size};
use measured::{Measured, PRINTED};
use printed::PAPER;
use sealwright::Isa;
use sealwright_measure::{Candidate, Comparison, FEWEST, Meter};
use timed::Way;

use crate::{
    attack_evidence,
    error::StudyError,
    judgement::judge,
    paper::Paper,
    progress::Progress,
    quantity::Quantity,
    study::{Options, Outcome, Study},
};

/// The study of single messages.
#[derive(Debug)]
pub(crate) struct Messages;

impl Study for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn paper(&self) -> &'static Paper {
        &PAPER
    }

    fn printed(&self) -> Vec<Quantity> {
        quantities::printed(&Grid::printed(&PAPER, PRINTED))
    }

    fn attacks(&self) -> &'static [&'static str] {
        &["rkc-truncation", "rkc-guess", "rkc-splice", "gcm-nonce-reuse", "gcm-short-tag"]
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        let measured = measure(options.quick, progress).map_err(StudyError::io("study messages"))?;
        let mut quantities = quantities::quantities(&measured);
        progress.step("attacks");
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

fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<Measured> {
    let levels = Isa::available();
    let (Some(&lowest), Some(&best)) = (levels.first(), levels.last()) else {
        return Err(io::Error::other("no instruction-set level"));
    };
    progress.expect(SIZES.len() + 2 * parts::SIZES.len() + 1);
    let meter = if quick { Meter::quick().rounds(FEWEST, 500) } else { Meter::full().rounds(15, 2000).width(0.01) };
    let meter = meter.budget(Duration::from_millis(if quick { 170 } else { 2000 }));
    let prepared_bytes = timed::prepared_bytes(best, grid::LARGEST_PRINTED);
    let mut measured = Measured::new(&levels, best, prepared_bytes);
    for size in SIZES {
        progress.step(&format!("messages of {size}"));
        timed::check(&levels, size)?;
        let extra = [Way::RkcPrepared, Way::GcmPrepared, Way::GcmNewKey, Way::GcmRekeyed, Way::RkcPlain];
        let extra = extra.map(|way| (way, best));
        let ocb = size == grid::LARGEST_PRINTED;
        let both = |isa: &Isa| {
            let isa = *isa;
            [(Way::Rkc, isa), (Way::Gcm, isa)].into_iter().chain(ocb.then_some((Way::Ocb, isa)))
        };
        // The slow level without special instructions is measured separately, so that it does not take up the time
        // budget of the others
        let (slow, fast) = levels.split_at(usize::from(levels.len() > 1));
        let mut found = Vec::new();
        for ways in [fast.iter().flat_map(both).chain(extra).collect(), slow.iter().flat_map(both).collect::<Vec<_>>()]
        {
            if !ways.is_empty() {
                found.push(compare(&meter, &ways, size, progress)?);
            }
        }
        measured.take(size, &found, best);
        if size.printed() {
            readings(&meter.clone().budget(budget_of_readings(quick)), [fast, slow], size, progress, &mut measured)?;
        }
    }
    for size in parts::SIZES {
        progress.step(&format!("the parts of RKC, {size}"));
        let (parts, lanes) = parts::measure(&meter.clone().budget(budget(quick)), &levels, size, progress)?;
        measured.parts.extend(parts);
        measured.lanes = lanes;
        progress.step(&format!("opening, {size}"));
        for isa in if levels.len() > 1 { vec![lowest, best] } else { vec![best] } {
            measured.opening.push(parts::opening(&meter, isa, size, progress)?);
        }
    }
    Ok(measured)
}

/// Measures what the paper leaves open: how RKC draws its keys, and how GHASH multiplies, at the paper's sizes.
fn readings(
    meter: &Meter,
    levels: [&[Isa]; 2],
    size: Size,
    progress: &mut Progress<'_>,
    measured: &mut Measured,
) -> io::Result<()> {
    for levels in levels.into_iter().filter(|levels| !levels.is_empty()) {
        let of = |&isa: &Isa| [Way::Rkc, Way::RkcDrawAll, Way::Gcm, Way::GcmBitwise].map(|way| (way, isa));
        let found = compare(meter, &levels.iter().flat_map(of).collect::<Vec<_>>(), size, progress)?;
        for isa in levels {
            let name = |way| timed::name(way, *isa);
            for (grids, rkc, gcm) in [
                (&mut measured.bitwise, Way::Rkc, Way::GcmBitwise),
                (&mut measured.draw_all, Way::RkcDrawAll, Way::Gcm),
            ] {
                let grid = grids.iter_mut().find(|(level, _)| level == isa);
                grid.into_iter().for_each(|(_, grid)| grid.add(size, &found, &name(rkc), &name(gcm)));
            }
        }
    }
    Ok(())
}

/// The time budget for each comparison of [`readings`].
fn budget_of_readings(quick: bool) -> Duration {
    Duration::from_millis(if quick { 100 } else { 1000 })
}

/// The time budget for comparisons of parts, whose small differences need narrow intervals.
fn budget(quick: bool) -> Duration {
    Duration::from_millis(if quick { 700 } else { 6000 })
}

fn compare(meter: &Meter, ways: &[(Way, Isa)], size: Size, progress: &mut Progress<'_>) -> io::Result<Comparison> {
    let mut candidates: Vec<Box<dyn Candidate>> =
        ways.iter().map(|&(way, isa)| timed::candidate(way, isa, size)).collect::<io::Result<_>>()?;
    let mut refs: Vec<&mut dyn Candidate> = candidates.iter_mut().map(|c| &mut **c as &mut dyn Candidate).collect();
    progress.compare(meter, &mut refs)
}

impl Measured {
    /// Adds the comparisons at `size`.
    fn take(&mut self, size: Size, found: &[Comparison], best: Isa) {
        let add = |grid: &mut Grid, rkc: (Way, Isa), gcm: (Way, Isa)| {
            let (rkc, gcm) = (timed::name(rkc.0, rkc.1), timed::name(gcm.0, gcm.1));
            found.iter().for_each(|found| grid.add(size, found, &rkc, &gcm));
        };
        for (isa, grid) in &mut self.levels {
            add(grid, (Way::Rkc, *isa), (Way::Gcm, *isa));
        }
        add(&mut self.new_key, (Way::Rkc, best), (Way::GcmNewKey, best));
        add(&mut self.rekeyed, (Way::Rkc, best), (Way::GcmRekeyed, best));
        add(&mut self.prepared, (Way::RkcPrepared, best), (Way::Gcm, best));
        let ratio = |a: (Way, Isa), b: (Way, Isa)| {
            found.iter().find_map(|found| found.ratio(&timed::name(a.0, a.1), &timed::name(b.0, b.1)))
        };
        let ahead = [(Way::RkcPrepared, Way::Rkc), (Way::GcmPrepared, Way::Gcm)];
        if let [Some(rkc), Some(gcm)] = ahead.map(|(ahead, whole)| ratio((ahead, best), (whole, best))) {
            self.ahead.insert(size, [rkc, gcm]);
        }
        if size == grid::LARGEST_PRINTED {
            for &(isa, _) in &self.levels {
                self.ocb.extend(ratio((Way::Ocb, isa), (Way::Gcm, isa)).map(|ratio| (isa, ratio)));
            }
            let sse = self.levels.iter().find(|(isa, _)| isa.name() == "sse").map(|(isa, _)| *isa);
            self.wider = sse.filter(|sse| *sse != best).and_then(|sse| ratio((Way::Gcm, best), (Way::Gcm, sse)));
        }
        let plain = timed::name(Way::RkcPlain, best);
        let ratios = [Way::Rkc, Way::RkcPrepared]
            .map(|way| found.iter().find_map(|found| found.ratio(&plain, &timed::name(way, best))));
        if let [Some(ours), Some(prepared)] = ratios {
            self.plain.insert(size, [ours, prepared]);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_paper_is_transcribed_whole() {
        let times = PAPER.table("times").unwrap();
        let sum = |column: usize| -> f64 { times.rows.iter().map(|row| row.values[column]).sum() };
        assert!((sum(0) - 3042.1).abs() < 1e-6, "{}", sum(0));
        assert!((sum(1) - 1883.59).abs() < 1e-6, "{}", sum(1));
        assert_eq!(times.rows.len(), 13);
        for row in &times.rows {
            let [rkc, gcm, difference] = row.values[..] else { panic!("{}", row.label) };
            // The paper computed 466.75 - 304.25 as 161.75
            let slip = if row.label == "8 KiB" { 0.75 } else { 0.0 };
            assert!((rkc - gcm - difference - slip).abs() < 0.006, "{}", row.label);
        }
        let printed = Grid::printed(&PAPER, PRINTED);
        let sizes: Vec<Size> = printed.points().map(|(size, _)| size).collect();
        assert_eq!(sizes, SIZES.into_iter().filter(|size| size.printed()).collect::<Vec<_>>());
    }
}
