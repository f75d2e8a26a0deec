//! `sealwright-lab study cores`: AES and Serpent, GCM and OCB in hardware, the paper's four lanes beside those of `rtl/`, and
//! beside software.
//!
//! What the cores take and how they clock was found by synthesis, what they do in a cycle by simulation: both take too long,
//! and are read from `rtl/results/` as they were when this program was built. Only the software is measured now.

mod claims;
mod figures;
mod kept;
mod notes;
mod software;
mod tables;

use std::{fmt, sync::LazyLock, time::Duration};

use kept::Kept;
use sealwright_measure::Interval;

use crate::{
    paper::Paper,
    progress::Progress,
    study::{Failure, Options, Outcome, Study},
};

/// The study of cores.
#[derive(Debug)]
pub(crate) struct Cores;

/// What the paper printed.
static PAPER: LazyLock<Paper> = LazyLock::new(|| Paper::compiled_in(include_str!("../../data/cores.toml")));

/// A block cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cipher {
    Serpent,
    Aes,
}

/// What is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing: the pipelines by themselves.
    Alone,
    Ocb,
    Gcm,
}

/// One of the paper's six architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Design(Cipher, Mode);

/// In the order of the paper's table.
const DESIGNS: [Design; 6] = [
    Design(Cipher::Serpent, Mode::Alone),
    Design(Cipher::Aes, Mode::Alone),
    Design(Cipher::Serpent, Mode::Ocb),
    Design(Cipher::Aes, Mode::Ocb),
    Design(Cipher::Serpent, Mode::Gcm),
    Design(Cipher::Aes, Mode::Gcm),
];

const CIPHERS: [Cipher; 2] = [Cipher::Serpent, Cipher::Aes];

/// Bits that four lanes take and give in a cycle.
const BITS: f64 = 512.0;

impl Design {
    /// With authentication.
    fn seals(self) -> bool {
        self.1 != Mode::Alone
    }

    /// A column of the paper's table.
    fn printed(self, column: Column) -> Option<f64> {
        PAPER.table("cores")?.value(&self.to_string(), column as usize)
    }
}

/// The columns of the paper's table.
#[derive(Clone, Copy, Debug)]
enum Column {
    Alms,
    Memories,
    Clock,
    Gbps,
    Percent,
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cipher = match self.0 {
            Cipher::Serpent => "Serpent",
            Cipher::Aes => "AES",
        };
        f.pad(&match self.1 {
            Mode::Alone => cipher.to_owned(),
            Mode::Ocb => format!("{cipher}-OCB"),
            Mode::Gcm => format!("{cipher}-GCM"),
        })
    }
}

/// Everything known and measured.
struct Measured {
    kept: Kept,
    software: Vec<software::Rate>,
}

impl Measured {
    /// Gbit/s of one processor core.
    fn software_rate(&self, design: Design, bytes: usize) -> Option<Interval> {
        self.software.iter().find(|rate| (rate.design, rate.bytes) == (design, bytes)).map(|rate| rate.gbps)
    }

    /// Gbit/s of our four lanes: what simulation counted in a cycle, at the clock that routing found.
    fn core_rate(&self, design: Design, bytes: usize) -> Option<f64> {
        Some(self.kept.pace(design)?.bits(bytes)? * self.kept.clock(design)? / 1e3)
    }
}

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

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, Failure> {
        let software = software::measure(options.quick, progress).map_err(Failure::io("study cores"))?;
        let measured = Measured { kept: Kept::read(), software };
        Ok(Outcome {
            summary: notes::summary(&measured),
            claims: claims::judge(&measured),
            figures: figures::figures(&measured),
            tables: tables::tables(&measured),
            notes: notes::notes(&measured),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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

    #[test]
    fn every_claim_has_a_verdict_on_the_papers_own_figures() {
        let measured = Measured { kept: Kept::default(), software: Vec::new() };
        let judged = claims::judge(&measured);
        assert_eq!(judged.len(), PAPER.claims.len());
        let holds = judged.iter().filter_map(|claim| claim.verdict(claims::PRINTED));
        let words: Vec<String> = holds.map(|verdict| verdict.to_string()).collect();
        // Serpent-GCM takes one and a half times the area of Serpent-OCB, not more than twice.
        assert_eq!(
            words,
            ["holds", "holds", "does not hold", "holds", "holds", "holds", "holds", "holds"],
            "{judged:#?}"
        );
    }
}
