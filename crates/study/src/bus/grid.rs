//! What is run: programs, processors, lines and schemes crossed, all cores at work; cycles of each, losses between them.

use std::collections::BTreeMap;

use rayon::prelude::*;
use sealwright_smp::{
    Config, ConfigError, Outcome,
    engine::{Model, Units},
    kernel::Kernel,
    matrix,
    run::{RunError, Simulation, Workload},
};

use crate::progress::Progress;

/// Numbers of processors, as the thesis has them.
pub(super) const PROCESSORS: [usize; 3] = [2, 4, 8];
/// Cycles of the AES unit a line: what the thesis calls 1.6 and 0.8 GB/s with 64-byte lines.
pub(super) const LATENCIES: [u64; 2] = [160, 320];
/// Sizes of the pool of pads, and numbers of masks, that are swept.
pub(super) const POOL: [usize; 6] = [1, 2, 3, 5, 8, 16];
pub(super) const MASKS: [usize; 4] = [1, 2, 4, 8];
/// Strikes of each attack, in runs of their own.
pub(super) const STRIKES: u64 = 8;
/// The programs.
pub(super) const PROGRAMS: [&str; 4] = ["fft", "luc", "lunc", "radix"];

/// What engines a node has, and how often its AES engine may begin a line. With as many engines as needed, the second
/// makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) units: Units,
    pub(super) model: Model,
}

/// Every variant, the thesis's first.
pub(super) const VARIANTS: [Variant; 7] = [
    Variant { units: Units::Thesis, model: Model::Window },
    Variant { units: Units::Thesis, model: Model::Pipelined },
    Variant { units: Units::Thesis, model: Model::Iterative },
    Variant { units: Units::Equal, model: Model::Window },
    Variant { units: Units::Equal, model: Model::Pipelined },
    Variant { units: Units::Equal, model: Model::Iterative },
    Variant { units: Units::Generous, model: Model::Window },
];

impl Variant {
    /// The name that every result carries.
    pub(super) fn name(self) -> String {
        match self.units {
            Units::Generous => "units generous".to_owned(),
            units => format!("units {}, AES {}", units.name(), self.model.name()),
        }
    }

    fn place(self) -> usize {
        VARIANTS.iter().position(|variant| *variant == self).unwrap_or(0)
    }
}

/// A scheme of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scheme {
    Clear,
    /// By variant (a place in [`VARIANTS`]), latency and pads.
    Gcm(usize, u64, usize),
    /// By variant, latency and lines to a MAC.
    Cbc(usize, u64, u64),
    /// SENSS as published, with that many masks.
    Senss(usize),
    I2sems,
    /// Skid or containment.
    CxlIde(bool),
    PcieIde,
}

impl Scheme {
    /// GCM with five pads. The thesis gives it what `equal` gives everybody, so these are one run.
    pub(super) fn gcm(variant: Variant, latency: u64) -> Scheme {
        Scheme::pads(variant, latency, 5)
    }

    pub(super) fn pads(variant: Variant, latency: u64, pads: usize) -> Scheme {
        let units = if variant.units == Units::Equal { Units::Thesis } else { variant.units };
        Scheme::Gcm(Variant { units, ..variant }.place(), latency, pads)
    }

    pub(super) fn cbc(variant: Variant, latency: u64, authenticate: u64) -> Scheme {
        Scheme::Cbc(variant.place(), latency, authenticate)
    }

    fn config(self, processors: usize, line: usize) -> Result<Config, ConfigError> {
        let mut config = Config::for_line(line);
        config.machine.processors = processors;
        // Only time is asked for; the attack matrix and the tests really encrypt
        config.scheme.functional = false;
        let engines = |variant: usize, latency: u64| {
            let Variant { units, model } = VARIANTS[variant];
            let (units, model) = (units.name(), model.name());
            [
                ("engines.units", units.to_owned()),
                ("engines.model", model.to_owned()),
                ("engines.latency", latency.to_string()),
            ]
        };
        let (name, settings): (&str, Vec<(&str, String)>) = match self {
            Scheme::Clear => ("clear", Vec::new()),
            Scheme::Gcm(variant, latency, pads) => {
                ("gcm", [&engines(variant, latency)[..], &[("scheme.gcm.pads", pads.to_string())]].concat())
            }
            Scheme::Cbc(variant, latency, lines) => {
                ("cbc", [&engines(variant, latency)[..], &[("scheme.cbc.authenticate", lines.to_string())]].concat())
            }
            Scheme::Senss(masks) => ("senss", vec![("scheme.senss.masks", masks.to_string())]),
            Scheme::I2sems => ("i2sems", Vec::new()),
            Scheme::CxlIde(skid) => {
                ("cxl-ide", vec![("scheme.cxl-ide.release", if skid { "skid" } else { "containment" }.to_owned())])
            }
            Scheme::PcieIde => ("pcie-ide", Vec::new()),
        };
        config = config.set(&format!("scheme.name={name}"))?;
        settings.iter().try_fold(config, |config, (name, value)| config.set(&format!("{name}={value}")))
    }
}

/// A run of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) program: usize,
    pub(super) processors: usize,
    pub(super) line: usize,
    pub(super) align: bool,
    pub(super) scheme: Scheme,
}

/// What a run gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunResult {
    pub(super) cycles: f64,
    /// Cache-to-cache transfers a thousand cycles and processor.
    pub(super) rate: f64,
}

/// Why the grid could not be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum GridError {
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run that did not finish, or whose result is wrong.
    #[error("a run ended wrong: {0}")]
    Wrong(String),
}

/// Everything that was run.
pub(super) struct Grid {
    pub(super) quick: bool,
    found: BTreeMap<Run, RunResult>,
    pub(super) matrix: Vec<matrix::Cell>,
    pub(super) references: f64,
    pub(super) seconds: f64,
}

impl Grid {
    pub(super) fn at(&self, run: Run) -> Option<RunResult> {
        self.found.get(&run).copied()
    }

    /// Per cent of the time in the clear that a scheme costs a program.
    pub(super) fn loss(&self, run: Run) -> Option<f64> {
        let base = self.at(Run { scheme: Scheme::Clear, ..run })?;
        Some((self.at(run)?.cycles / base.cycles - 1.0) * 100.0)
    }

    /// The mean over all programs, not aligned, as the thesis averages.
    pub(super) fn mean(&self, processors: usize, line: usize, align: bool, scheme: Scheme) -> Option<f64> {
        let losses: Option<Vec<f64>> =
            (0..PROGRAMS.len()).map(|program| self.loss(Run { program, processors, line, align, scheme })).collect();
        losses.map(|losses| losses.iter().sum::<f64>() / losses.len() as f64)
    }
}

#[cfg(test)]
impl Grid {
    /// A grid of losses that nobody measured, to try judgements on.
    pub(super) fn made_up(loss: impl Fn(Run) -> f64) -> Grid {
        let found = |run: Run| RunResult { cycles: 1000.0 * (1.0 + loss(run) / 100.0), rate: 1.0 };
        let found = runs().into_iter().map(|run| (run, found(run))).collect();
        Grid { quick: true, found, matrix: Vec::new(), references: 1e6, seconds: 1.0 }
    }
}

/// Sizes of the programs.
pub(super) fn kernel(program: usize, quick: bool) -> Kernel {
    let lu = if quick { 128 } else { 256 };
    match PROGRAMS[program] {
        "fft" => Kernel::Fft { m: if quick { 12 } else { 16 } },
        "radix" => Kernel::Radix { m: if quick { 16 } else { 18 } },
        name => Kernel::Lu { n: lu, contiguous: name == "luc" },
    }
}

/// Schemes of the figures, in the variants of these units.
fn schemes(units: &[Units]) -> Vec<Scheme> {
    let mut all = vec![Scheme::Clear];
    let variants = VARIANTS.into_iter().filter(|variant| units.contains(&variant.units));
    for variant in variants {
        for latency in LATENCIES {
            all.extend([Scheme::gcm(variant, latency), Scheme::cbc(variant, latency, 1)]);
            all.push(Scheme::cbc(variant, latency, 10));
        }
    }
    all
}

fn runs() -> Vec<Run> {
    let mut runs = Vec::new();
    let mut add = |program, processors, line, align, scheme| {
        let run = Run { program, processors, line, align, scheme };
        if !runs.contains(&run) {
            runs.push(run);
        }
    };
    for program in 0..PROGRAMS.len() {
        for processors in PROCESSORS {
            for scheme in schemes(&Units::ALL) {
                add(program, processors, 64, false, scheme);
            }
            // Aligned arrays and long lines with the thesis's units alone
            for scheme in schemes(&[Units::Thesis]) {
                add(program, processors, 64, true, scheme);
                add(program, processors, 128, false, scheme);
            }
            for scheme in
                [Scheme::Senss(8), Scheme::I2sems, Scheme::CxlIde(false), Scheme::CxlIde(true), Scheme::PcieIde]
            {
                add(program, processors, 64, false, scheme);
            }
        }
        for pads in POOL {
            for variant in &VARIANTS[1..3] {
                add(program, 8, 64, false, Scheme::pads(*variant, 320, pads));
            }
        }
        for masks in MASKS {
            add(program, 8, 64, false, Scheme::Senss(masks));
        }
    }
    runs
}

/// Runs everything, some runs at a time so that progress shows.
pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> Result<Grid, GridError> {
    let start = std::time::Instant::now();
    let runs = runs();
    let stretches: Vec<&[Run]> = runs.chunks(24).collect();
    progress.expect(stretches.len() + 1);
    let (mut found, mut references) = (BTreeMap::new(), 0.0);
    for (number, stretch) in stretches.iter().enumerate() {
        progress.step(&format!("runs {} to {} of {}", 24 * number + 1, 24 * number + stretch.len(), runs.len()));
        let results: Result<Vec<_>, GridError> = stretch.par_iter().map(|run| simulate(*run, quick)).collect();
        for (run, result, count) in results? {
            found.insert(run, result);
            references += count;
        }
    }
    progress.step("attacks");
    let matrix = matrix::run(&Config::default(), Kernel::Fft { m: 8 }, 50, STRIKES)?;
    Ok(Grid { quick, found, matrix, references, seconds: start.elapsed().as_secs_f64() })
}

fn simulate(run: Run, quick: bool) -> Result<(Run, RunResult, f64), GridError> {
    let config = run.scheme.config(run.processors, run.line).map_err(RunError::from)?;
    let report = Simulation::new(config, Workload::Kernel(kernel(run.program, quick), run.align)).run(&mut |_| {})?;
    match (&report.outcome, &report.result) {
        (Outcome::Completed, Some(Ok(_))) => {}
        (outcome, result) => return Err(GridError::Wrong(format!("{run:?}: {outcome:?}, {result:?}"))),
    }
    let number = |path| report.stats.number(path);
    let found = RunResult { cycles: number("cycles"), rate: number("transfers.per_thousand_cycles") };
    Ok((run, found, number("references")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_right_and_the_masks_cost_time() {
        let run = |scheme| simulate(Run { program: 0, processors: 2, line: 64, align: false, scheme }, true).unwrap().1;
        assert!(run(Scheme::cbc(VARIANTS[1], 320, 1)).cycles > 1.05 * run(Scheme::Clear).cycles);
    }

    #[test]
    fn the_grid_holds_each_run_once_and_a_clear_one_for_each() {
        let runs = runs();
        let once: std::collections::BTreeSet<_> = runs.iter().collect();
        assert_eq!(once.len(), runs.len());
        assert!(runs.iter().all(|run| once.contains(&Run { scheme: Scheme::Clear, ..*run })));
    }
}
