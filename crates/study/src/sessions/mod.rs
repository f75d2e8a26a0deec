//! `sealwright-lab study sessions`: compares GCM-Pre, GCM-On and GSCM for many clients with each other, and with the
//! schemes that should replace them.

mod capacity;
mod crowd;
mod families;
mod figures;
mod measured;
mod memory;
mod network;
mod notes;
mod pager;
mod peers;
mod printed;
mod quantities;
mod room;
mod set_up;
mod software;
mod speed;
mod tabled;
mod tables;

use std::{io, time::Duration};

use measured::Measured;
use printed::PAPER;
use room::Room;
use sealwright::Isa;

use crate::{
    attack_evidence,
    error::StudyError,
    judgement::judge,
    paper::Paper,
    progress::Progress,
    quantity::Quantity,
    study::{Options, Outcome, Study},
};

/// The study of many sessions.
#[derive(Debug)]
pub(crate) struct Sessions;

impl Study for Sessions {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn paper(&self) -> &'static Paper {
        &PAPER
    }

    fn lasts(&self, quick: bool) -> Duration {
        Duration::from_secs(if quick { 70 } else { 1020 })
    }

    fn printed(&self) -> Vec<Quantity> {
        quantities::printed()
    }

    fn attacks(&self) -> &'static [&'static str] {
        &["gscm-forgery", "gscm-keys", "gscm-second-key"]
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        let measured = measure(options, progress).map_err(StudyError::io("study sessions"))?;
        let mut quantities = quantities::quantities(&measured);
        progress.step("attacks of a member of the cluster");
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

fn measure(options: &Options, progress: &mut Progress<'_>) -> io::Result<Measured> {
    let quick = options.quick;
    progress.expect(7 + capacity::rows(quick).len() + network::steps(quick) + speed::steps(quick));
    progress.step("what other libraries keep");
    let (peers, kept) = peers::measure(if quick { 500 } else { 2000 })?;
    progress.step("bytes a client");
    let memory = memory::measure(if quick { 24 << 20 } else { 64 << 20 }, Room::now(false))?;
    drop(kept);
    let budget = options.budget.unwrap_or(if quick { 32 << 20 } else { 256 << 20 });
    let served = capacity::measure(quick, budget, &memory, progress);
    let network = network::measure(quick, progress);
    progress.step("software of tables, as in 2009");
    let software = software::measure(quick, progress)?;
    progress.step("tables of every size");
    let families = families::measure(quick, progress)?;
    progress.step("admitting clients");
    let set_up = set_up::measure(quick, progress)?;
    progress.step("reading pages");
    let page = pager::time_of_a_page(&std::env::temp_dir());
    let speed = speed::measure(quick, progress)?;
    Ok(Measured { best: Isa::best(), memory, peers, families, set_up, page, speed, network, software, served, budget })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_session::{Spec, paper_bytes};

    use super::*;

    #[test]
    fn the_paper_is_transcribed_whole() {
        let memory = PAPER.table("memory").unwrap();
        let sum: f64 = memory.rows.iter().flat_map(|row| &row.values).sum();
        assert_eq!((memory.rows.len(), sum), (11, 634_016.0));
        let clients = PAPER.table("clients").unwrap();
        let sum: f64 = clients.rows.iter().flat_map(|row| &row.values).sum();
        assert_eq!((clients.rows.len(), sum), (9, 2240.0));
        for spec in Spec::all() {
            if let (Some(printed), Some(formula)) = (tables::printed(spec), paper_bytes(spec)) {
                assert_eq!(printed, formula as f64, "{spec}");
            }
        }
    }
}
