//! `sealwright-lab study bus`: a thesis on sealed cache-to-cache transfers, its figures run anew in our simulator.

mod claims;
mod figures;
mod grid;
mod notes;
mod printed;
mod tables;

use printed::PAPER;

use crate::{
    error::StudyError,
    paper::Paper,
    progress::Progress,
    study::{Options, Outcome, Study},
};

/// The study of sealed buses.
#[derive(Debug)]
pub(crate) struct Bus;

impl Study for Bus {
    fn name(&self) -> &'static str {
        "bus"
    }

    fn paper(&self) -> &'static Paper {
        &PAPER
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        let failed = |error: grid::GridError| StudyError::io("study bus")(std::io::Error::other(error));
        let grid = grid::measure(options.quick, progress).map_err(failed)?;
        Ok(Outcome {
            summary: notes::summary(&grid),
            claims: claims::judge(&PAPER, &grid),
            figures: figures::figures(&grid),
            tables: tables::tables(&grid),
            notes: notes::notes(&grid),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use grid::{Grid, Scheme};
    use sealwright_measure::Verdict;

    use super::*;

    #[test]
    fn the_thesis_is_transcribed_whole() {
        let table = PAPER.table("figure 5.1").unwrap();
        let sum: f64 = table.rows.iter().flat_map(|row| &row.values).sum();
        assert_eq!((table.rows.len(), (sum * 100.0).round()), (3, 14759.0));
    }

    /// Verdicts of a claim on a grid, its readings in order.
    fn verdicts(id: &str, loss: impl Fn(Scheme) -> f64) -> Vec<Verdict> {
        let judged = claims::judge(&PAPER, &Grid::made_up(|run| loss(run.scheme)));
        let place = PAPER.claims.iter().position(|claim| claim.id == id).unwrap();
        judged[place].verdicts.iter().map(|scoped| scoped.claim.verdict).collect()
    }

    #[test]
    fn every_claim_is_judged_and_by_what_was_measured() {
        // GCM loses a fifth of what CBC does, a MAC in ten a tenth of a MAC a line, longer lines nothing less
        let loss = |scheme| match scheme {
            Scheme::Gcm(_, _, pads) => 2.0 + 5.0 / pads as f64,
            Scheme::Cbc(_, _, 1) => 15.0,
            Scheme::Cbc(..) => 1.5,
            _ => 0.0,
        };
        for claim in &PAPER.claims {
            assert!(!verdicts(&claim.id, loss).is_empty(), "{}", claim.id);
        }
        let (yes, no) = (Verdict::known(true), Verdict::known(false));
        let own_and_ours = [[yes, no].as_slice(), &[yes; 14]].concat();
        assert_eq!(
            verdicts("gain", loss),
            own_and_ours,
            "the thesis's own figure, then each variant: direction, magnitude"
        );
        assert_eq!(verdicts("better", loss), [yes; 8]);
        assert_eq!(verdicts("interval-gcm", loss), [no; 7]);
        assert_eq!(verdicts("interval", loss), [yes; 7]);
        assert_eq!(verdicts("pads", loss), [yes; 2]);
        assert_eq!(verdicts("pads", |scheme| if matches!(scheme, Scheme::Gcm(_, _, 5)) { 9.0 } else { 1.0 }), [no; 2]);
        assert_eq!(verdicts("line", loss), [no; 2], "equal is not smaller");
        assert_eq!(verdicts("storage", loss), [yes]);
    }
}
