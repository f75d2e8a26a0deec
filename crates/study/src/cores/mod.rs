//! `sealwright-lab study cores`: compares the paper's hardware for AES and Serpent in GCM and OCB (four lanes) with
//! the cores in `rtl/` and with software.
//!
//! Area and clock rates come from synthesis, rates per cycle from simulation. Both take too long to run here, so they
//! are read from `rtl/results/` as it was when this program was built. Only the software is measured.

mod design;
mod figures;
mod kept;
mod measured;
mod notes;
#[cfg(test)]
mod pages;
mod printed;
mod quantities;
mod software;
mod tables;

use std::time::Duration;

use kept::Kept;
use measured::Measured;
use printed::PAPER;

use crate::{
    error::StudyError,
    judgement::judge,
    paper::Paper,
    progress::Progress,
    quantity::Quantity,
    study::{Options, Outcome, Study},
};

/// The study of hardware cores.
#[derive(Debug)]
pub(crate) struct Cores;

impl Study for Cores {
    fn name(&self) -> &'static str {
        "cores"
    }

    fn paper(&self) -> &'static Paper {
        &PAPER
    }

    fn lasts(&self, quick: bool) -> Duration {
        Duration::from_secs(if quick { 4 } else { 40 })
    }

    fn printed(&self) -> Vec<Quantity> {
        quantities::printed()
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        let software = software::measure(options.quick, progress).map_err(StudyError::io("study cores"))?;
        let measured = Measured { kept: Kept::read(), software };
        let quantities = quantities::quantities(&measured);
        Ok(Outcome {
            summary: notes::summary(&measured),
            claims: judge(&PAPER.claims, &quantities)?,
            quantities,
            figures: figures::figures(&measured),
            tables: tables::tables(&measured),
            notes: notes::notes(&measured),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::design::{BITS, Cipher, Column, DESIGNS, Design, Mode};

    #[test]
    fn the_paper_is_transcribed_whole() {
        let reference = Design(Cipher::Aes, Mode::Gcm).printed(Column::Clock).unwrap();
        for design in DESIGNS {
            let [clock, gbps, percent] =
                [Column::Clock, Column::Gbps, Column::Percent].map(|column| design.printed(column).unwrap());
            assert!((clock * BITS / 1e3 - gbps).abs() < 0.9, "{design}: {clock} MHz, {gbps} Gbit/s");
            assert!((100.0 * clock / reference - percent).abs() < 1.1, "{design}: {percent} %");
        }
        let alms: f64 = DESIGNS.iter().map(|design| design.printed(Column::Alms).unwrap()).sum();
        let memories: f64 = DESIGNS.iter().map(|design| design.printed(Column::Memories).unwrap()).sum();
        assert_eq!((alms, memories), (167_107.0, 942.0));
    }
}
