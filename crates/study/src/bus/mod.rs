//! `sealwright-lab study bus`: repeats, in our simulator, the figures of a thesis on encrypted cache-to-cache
//! transfers.

mod error;
mod figures;
mod grid;
mod interconnects;
mod memory;
mod notes;
mod printed;
mod processes;
mod programs;
mod published;
mod quantities;
mod schemes;
mod seeds;
mod strikes;
mod tables;

use printed::PAPER;

use crate::{
    error::StudyError,
    judgement::judge,
    paper::Paper,
    progress::Progress,
    quantity::Quantity,
    study::{Options, Outcome, Study},
};

/// The study of encrypted buses.
#[derive(Debug)]
pub(crate) struct Bus;

impl Study for Bus {
    fn name(&self) -> &'static str {
        "bus"
    }

    fn paper(&self) -> &'static Paper {
        &PAPER
    }

    fn printed(&self) -> Vec<Quantity> {
        quantities::printed()
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        let failed = |error: error::GridError| StudyError::io("study bus")(std::io::Error::other(error));
        let grid = grid::measure(options.quick, progress).map_err(failed)?;
        let quantities = quantities::quantities(&grid);
        let claims = judge(&PAPER.claims, &quantities)?;
        Ok(Outcome {
            summary: notes::summary(&grid),
            notes: notes::notes(&grid, &claims),
            claims,
            quantities,
            figures: figures::figures(&grid),
            tables: tables::tables(&grid),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use grid::Grid;
    use schemes::Scheme;
    use sealwright_measure::Verdict;

    use super::*;
    use crate::quantity::QuantityKind;

    #[test]
    fn the_thesis_is_transcribed_whole() {
        let table = PAPER.table("figure 5.1").unwrap();
        let sum: f64 = table.rows.iter().flat_map(|row| &row.values).sum();
        assert_eq!((table.rows.len(), (sum * 100.0).round()), (3, 14759.0));
    }

    /// `docs/PAPERS.md` must place each claim about attacks in the paragraph that matches its verdicts: "Right" if it
    /// holds in every circumstance, "Not right" if it holds in none, otherwise "Depends".
    #[test]
    fn the_page_says_of_attacks_what_the_strikes_say() {
        let mut grid = Grid::made_up(|_| 0.0);
        grid.matrix = strikes::against(&["gcm", "senss"], &[], 1).unwrap();
        (grid.again, grid.side_by_side) = (strikes::asked_again(1).unwrap(), strikes::side_by_side(1).unwrap());
        grid.attacked = strikes::on_memory(1).unwrap();
        let judged = judge(&PAPER.claims, &quantities::quantities(&grid)).unwrap();
        let page = include_str!("../../../../docs/PAPERS.md");
        let mut wrong = Vec::new();
        for id in ["blocked", "reordered", "spoofed", "same-security", "modchips"] {
            let claim = judged.iter().find(|claim| claim.id == id).unwrap();
            let holds =
                |scoped: &crate::judgement::Scoped| scoped.direction.as_ref().unwrap().verdict == Verdict::Holds;
            let heading = match claim.verdicts.iter().filter(|scoped| holds(scoped)).count() {
                0 => "**Not right",
                held if held == claim.verdicts.len() => "**Right",
                _ => "**Depends",
            };
            let paragraph = page.split("\n\n").find(|paragraph| paragraph.contains(&format!("[`bus/{id}`]"))).unwrap();
            if claim.verdicts.is_empty() || !paragraph.starts_with(heading) {
                wrong.push(format!("{id} belongs under {heading}**: {:?}", claim.verdicts));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// The verdicts of a claim on a grid with made-up losses, without the circumstance of the thesis's own figures.
    fn verdicts(id: &str, loss: impl Fn(Scheme) -> f64) -> Vec<Verdict> {
        let quantities = quantities::quantities(&Grid::made_up(|run| loss(run.scheme)));
        let judged = judge(&PAPER.claims, &quantities).unwrap();
        let claim = judged.iter().find(|claim| claim.id == id).unwrap();
        let ours = claim.verdicts.iter().filter(|scoped| scoped.kind == QuantityKind::Simulated);
        ours.filter_map(|scoped| scoped.direction.as_ref().map(|found| found.verdict)).collect()
    }

    #[test]
    fn claims_are_judged_by_what_was_simulated() {
        // GCM loses a fifth of what CBC loses, a MAC for ten lines a tenth of a MAC for each line, and
        // longer lines change nothing
        let loss = |scheme| match scheme {
            Scheme::Gcm(_, _, pads) => 2.0 + 5.0 / pads as f64,
            Scheme::Cbc(_, _, 1, _) => 15.0,
            Scheme::Cbc(..) => 1.5,
            _ => 0.0,
        };
        let (yes, no) = (Verdict::Holds, Verdict::DoesNotHold);
        for id in ["gain", "better", "low-throughput", "interval"] {
            // Seven variants for kernels, three of which also with aligned arrays and with the MAC in the background,
            // with a mask to receive for each sender and with one for all; two variants for each of two other
            // protocols and for recorded programs; and both kinds of programs with one variant where synchronisation
            // sends lines
            assert_eq!(verdicts(id, loss), [yes; 24], "{id}");
        }
        assert_eq!(verdicts("interval-gcm", loss), [no; 24]);
        assert_eq!(verdicts("throughput", loss), [no; 24], "both lose nothing by more cycles");
        // With equal units, GCM is the same as with the thesis's units
        assert_eq!(verdicts("pads", loss), [yes; 8], "two variants with either units, and with two other protocols");
        assert_eq!(verdicts("pads", |scheme| if matches!(scheme, Scheme::Gcm(_, _, 5)) { 9.0 } else { 1.0 }), [no; 8]);
        assert_eq!(verdicts("line", loss), [no; 6], "equal is not smaller");
        assert_eq!(verdicts("storage", loss), [yes, no], "a key for all processes, and one for each");
        assert!(verdicts("blocked", loss).is_empty(), "no attack was simulated");
    }
}
