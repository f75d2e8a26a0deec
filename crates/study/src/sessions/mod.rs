//! `sealwright-lab study sessions`: GCM-Pre, GCM-On and GSCM for many clients, and what should replace them.

mod capacity;
mod claims;
mod crowd;
mod figures;
mod memory;
mod network;
mod notes;
mod pager;
mod peers;
mod software;
mod speed;
mod tabled;
mod tables;

use std::{io, sync::LazyLock, time::Duration};

use sealwright::Isa;

use crate::{
    paper::Paper,
    study::{Failure, Options, Outcome, Progress, Study},
};

/// The study of many clients.
#[derive(Debug)]
pub(crate) struct Sessions;

/// What the paper printed.
static PAPER: LazyLock<Paper> = LazyLock::new(|| Paper::compiled_in(include_str!("../../data/sessions.toml")));

/// Everything measured.
struct Measured {
    best: Isa,
    memory: Vec<memory::Held>,
    peers: Vec<peers::Peer>,
    speed: speed::Found,
    /// Figure 1; or why there is none.
    network: Result<network::Found, String>,
    /// Figure 2 on software of tables.
    software: Vec<software::Point>,
    /// Table 4; or why there is none.
    served: Result<Vec<capacity::Served>, String>,
    /// The memory that its server had.
    budget: u64,
}

impl Measured {
    /// The levels that were measured, the best first.
    fn levels(&self) -> Vec<Isa> {
        let there = |isa: &Isa| self.speed.points.iter().any(|point| point.isa == *isa);
        Isa::available().into_iter().rev().filter(there).collect()
    }
}

impl Study for Sessions {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn paper(&self) -> &'static Paper {
        &PAPER
    }

    fn lasts(&self, quick: bool) -> Duration {
        Duration::from_secs(if quick { 50 } else { 900 })
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, Failure> {
        let measured = measure(options, progress).map_err(Failure::io("study sessions"))?;
        Ok(Outcome {
            summary: notes::summary(&measured),
            claims: claims::judge(&measured),
            figures: figures::figures(&measured),
            tables: tables::tables(&measured),
            notes: notes::notes(&measured),
        })
    }
}

fn measure(options: &Options, progress: &mut Progress<'_>) -> io::Result<Measured> {
    let quick = options.quick;
    progress.expect(3 + capacity::rows(quick).len() + network::steps(quick) + speed::steps(quick));
    progress.step("what other libraries keep");
    let (peers, kept) = peers::measure(if quick { 500 } else { 2000 })?;
    progress.step("bytes a client");
    let memory = memory::measure(if quick { 24 << 20 } else { 64 << 20 })?;
    drop(kept);
    let budget = options.budget.unwrap_or(if quick { 32 << 20 } else { 256 << 20 });
    let served = capacity::measure(quick, budget, &memory, progress).map_err(|error| error.to_string());
    let network = network::measure(quick, progress).map_err(|error| error.to_string());
    progress.step("software of tables, as in 2009");
    let software = software::measure(quick)?;
    let speed = speed::measure(quick, progress)?;
    Ok(Measured { best: Isa::best(), memory, peers, speed, network, software, served, budget })
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
