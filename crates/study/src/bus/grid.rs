//! The grid of simulations: programs × processors × lines × schemes × seeds, run on all cores. Losses are computed
//! from the cycles of runs with and without a scheme.

use std::collections::BTreeMap;

use rayon::prelude::*;
use sealwright_smp::{
    Outcome,
    engine::Units,
    matrix,
    run::{RunError, Simulation},
    scheme::THESIS_LATENCY,
};

use super::{
    error::GridError,
    interconnects::{Connected, connect},
    memory::{Protected, protect},
    processes::{Shared, share},
    programs::{PROCESSORS, PROGRAMS, Suite, workload},
    published::{Beside, beside},
    schemes::{Changed, LATENCIES, Scheme, VARIANTS, Variant},
    seeds::{of_attacks, seeds},
    strikes,
};
use crate::progress::Progress;

/// Sizes of the pad pool, and numbers of masks, for sweeps.
pub(super) const POOL: [usize; 6] = [1, 2, 3, 5, 8, 16];
/// The sizes of the pool that claims compare.
const JUDGED: [usize; 3] = [5, 8, 16];
pub(super) const MASKS: [usize; 4] = [1, 2, 4, 8];
/// The engine variants for recorded programs and for other protocols: those of the thesis in which the engine matters
/// most.
pub(super) const RECORDED_WITH: [Variant; 2] = [VARIANTS[1], VARIANTS[2]];
/// The engine variant for programs whose synchronisation sends lines: the simulator's default.
pub(super) const SYNCHRONISED_WITH: Variant = VARIANTS[1];

/// A cell of the grid, that is a set of runs that differ only in their seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) program: usize,
    pub(super) processors: usize,
    pub(super) line: usize,
    pub(super) align: bool,
    pub(super) changed: Changed,
    pub(super) scheme: Scheme,
}

impl Run {
    /// The number of seeds. Cells that no claim depends on are run once.
    fn seeds(self, quick: bool) -> u64 {
        let once = matches!(self.scheme, Scheme::Senss(_) | Scheme::I2sems | Scheme::CxlIde(_) | Scheme::PcieIde);
        if once { 1 } else { seeds(quick) }
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunResult {
    pub(super) cycles: f64,
    /// Cache-to-cache transfers per thousand cycles and processor.
    pub(super) rate: f64,
    /// The share of lines whose pad or mask was ready at the sender.
    pub(super) ready: f64,
}

/// A finished run: its result, unless a detector ended it, and what the detectors checked.
#[derive(Clone, Copy, Debug)]
struct Simulated {
    run: Run,
    found: Option<RunResult>,
    references: f64,
    /// Number of lines and commands that the detectors checked.
    looked_at: u64,
}

/// The results of all simulations.
pub(super) struct Grid {
    pub(super) quick: bool,
    /// Results of each cell, ordered by seed.
    found: BTreeMap<Run, Vec<RunResult>>,
    /// Strikes of each attack against each scheme, for all victims.
    pub(super) matrix: Vec<matrix::Cell>,
    /// The same on a machine whose nodes request a line again if it does not arrive.
    pub(super) again: Vec<matrix::Cell>,
    /// The same on a machine whose nodes can have several outstanding misses.
    pub(super) side_by_side: Vec<matrix::Cell>,
    /// False alarms of the same detectors without an attacker.
    pub(super) alarms: Vec<matrix::Alarms>,
    /// False alarms in the runs of the grid itself, by name of the scheme.
    pub(super) quiet: BTreeMap<&'static str, matrix::Alarms>,
    /// Results that are compared with other publications.
    pub(super) beside: Beside,
    pub(super) shared: Vec<Shared>,
    pub(super) protected: Vec<Protected>,
    pub(super) connected: Vec<Connected>,
    /// Strikes of each attack on memory against each protection, for all victims.
    pub(super) attacked: Vec<matrix::Cell>,
    pub(super) references: f64,
    pub(super) seconds: f64,
}

impl Grid {
    /// The result of a cell with its first seed.
    pub(super) fn at(&self, run: Run) -> Option<RunResult> {
        self.found.get(&run)?.first().copied()
    }

    /// The loss: the time, in per cent of the time in the clear, that a scheme adds to a program; one value per seed.
    fn losses(&self, run: Run) -> Option<Vec<f64>> {
        let (base, with) = (self.found.get(&Run { scheme: Scheme::Clear, ..run })?, self.found.get(&run)?);
        Some(with.iter().zip(base).map(|(with, base)| (with.cycles / base.cycles - 1.0) * 100.0).collect())
    }

    /// The mean loss over the seeds.
    pub(super) fn loss(&self, run: Run) -> Option<f64> {
        let losses = self.losses(run)?;
        Some(losses.iter().sum::<f64>() / losses.len() as f64)
    }

    /// The mean loss of a suite's programs with unaligned arrays, averaged as in the thesis; one value per seed.
    pub(super) fn means(&self, suite: Suite, processors: usize, line: usize, scheme: Scheme) -> Option<Vec<f64>> {
        self.means_at(suite, processors, line, false, scheme)
    }

    /// The same with arrays that begin after a `malloc` header, or with `align` at a page boundary.
    pub(super) fn means_at(
        &self,
        suite: Suite,
        processors: usize,
        line: usize,
        align: bool,
        scheme: Scheme,
    ) -> Option<Vec<f64>> {
        self.means_of(suite, Run { program: 0, processors, line, align, changed: Changed::Nothing, scheme })
    }

    /// The same on a changed machine.
    pub(super) fn means_on(
        &self,
        suite: Suite,
        processors: usize,
        changed: Changed,
        scheme: Scheme,
    ) -> Option<Vec<f64>> {
        self.means_of(suite, Run { program: 0, processors, line: 64, align: false, changed, scheme })
    }

    /// The same for runs like this one, of each of a suite's programs.
    fn means_of(&self, suite: Suite, like: Run) -> Option<Vec<f64>> {
        mean_by_seed(suite.on(like.processors).map(|program| self.losses(Run { program, ..like })))
    }

    /// The share of lines whose pad or mask was ready at the sender, as a mean over the kernels; one value per seed.
    pub(super) fn ready(&self, processors: usize, changed: Changed, scheme: Scheme) -> Option<Vec<f64>> {
        let run = |program| Run { program, processors, line: 64, align: false, changed, scheme };
        let ready = |program| Some(self.found.get(&run(program))?.iter().map(|found| found.ready).collect());
        mean_by_seed(Suite::Kernels.on(processors).map(ready))
    }

    /// The mean loss over the kernels and the seeds.
    pub(super) fn mean(&self, processors: usize, line: usize, align: bool, scheme: Scheme) -> Option<f64> {
        let losses: Option<Vec<f64>> = Suite::Kernels
            .programs()
            .map(|program| self.loss(Run { program, processors, line, align, changed: Changed::Nothing, scheme }))
            .collect();
        losses.map(|losses| losses.iter().sum::<f64>() / losses.len() as f64)
    }
}

/// The mean over the programs, seed by seed; `None` if a program has no figures.
fn mean_by_seed(programs: impl Iterator<Item = Option<Vec<f64>>>) -> Option<Vec<f64>> {
    let all: Vec<Vec<f64>> = programs.collect::<Option<_>>()?;
    let seeds = all.iter().map(Vec::len).min()?;
    Some((0..seeds).map(|seed| all.iter().map(|of| of[seed]).sum::<f64>() / all.len() as f64).collect())
}

#[cfg(test)]
impl Grid {
    /// A grid with made-up losses, for tests of the judgement.
    pub(super) fn made_up(loss: impl Fn(Run) -> f64) -> Grid {
        let found = |run: Run| RunResult { cycles: 1000.0 * (1.0 + loss(run) / 100.0), rate: 1.0, ready: 0.9 };
        let found = runs().into_iter().map(|run| (run, vec![found(run); run.seeds(true) as usize])).collect();
        Grid {
            quick: true,
            found,
            matrix: Vec::new(),
            again: Vec::new(),
            side_by_side: Vec::new(),
            alarms: Vec::new(),
            quiet: BTreeMap::new(),
            beside: Beside::default(),
            shared: Vec::new(),
            protected: Vec::new(),
            connected: Vec::new(),
            attacked: Vec::new(),
            references: 1e6,
            seconds: 1.0,
        }
    }
}

/// The schemes that the figures show, in these variants.
fn variants(variants: impl IntoIterator<Item = Variant>) -> Vec<Scheme> {
    let mut all = vec![Scheme::Clear];
    for variant in variants {
        for latency in LATENCIES {
            all.extend([Scheme::gcm(variant, latency), Scheme::cbc(variant, latency, 1)]);
            all.push(Scheme::cbc(variant, latency, 10));
        }
    }
    all
}

/// The schemes that the figures show, in all variants with these units.
fn schemes(units: &[Units]) -> Vec<Scheme> {
    variants(VARIANTS.into_iter().filter(|variant| units.contains(&variant.units)))
}

fn runs() -> Vec<Run> {
    let mut runs = Vec::new();
    let mut add_run = |run: Run| {
        if !runs.contains(&run) {
            runs.push(run);
        }
    };
    let mut add = |program, processors, line, align, scheme| {
        add_run(Run { program, processors, line, align, changed: Changed::Nothing, scheme });
    };
    for program in Suite::Kernels.programs() {
        for processors in PROCESSORS {
            for scheme in schemes(&Units::ALL) {
                add(program, processors, 64, false, scheme);
            }
            // Aligned arrays and long lines are simulated with the thesis's units only
            for scheme in schemes(&[Units::Thesis]) {
                add(program, processors, 64, true, scheme);
                add(program, processors, 128, false, scheme);
                // Other schemes are the same, and not simulated twice
                add(program, processors, 64, false, scheme.in_background());
                add(program, processors, 64, false, scheme.with_one_mask_to_receive());
            }
            // The claim about long lines compares GCM with CBC. With equal units GCM is the same as with the thesis's,
            // but CBC is not, so it is also simulated with equal units
            for variant in VARIANTS.into_iter().filter(|variant| variant.units == Units::Equal) {
                for latency in LATENCIES {
                    add(program, processors, 128, false, Scheme::cbc(variant, latency, 1));
                }
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
    for processors in PROCESSORS {
        for program in Suite::Recorded.on(processors) {
            for scheme in variants(RECORDED_WITH) {
                add(program, processors, 64, false, scheme);
            }
        }
    }
    for processors in PROCESSORS {
        for program in [Suite::Kernels, Suite::Recorded].into_iter().flat_map(|suite| suite.on(processors)) {
            for scheme in variants([SYNCHRONISED_WITH]) {
                add_run(Run { program, processors, line: 64, align: false, changed: Changed::SyncLines, scheme });
            }
        }
    }
    for (changed, program) in Changed::PROTOCOLS
        .into_iter()
        .flat_map(|changed| Suite::Kernels.programs().map(move |program| (changed, program)))
    {
        let run = Run { program, processors: 8, line: 64, align: false, changed, scheme: Scheme::Clear };
        for processors in PROCESSORS {
            variants(RECORDED_WITH).into_iter().for_each(|scheme| add_run(Run { processors, scheme, ..run }));
        }
        for (variant, pads) in RECORDED_WITH.into_iter().flat_map(|variant| JUDGED.map(|pads| (variant, pads))) {
            add_run(Run { scheme: Scheme::pads(variant, THESIS_LATENCY, pads), ..run });
        }
    }
    runs
}

/// Runs all simulations, in groups so that progress can be reported.
pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> Result<Grid, GridError> {
    let start = std::time::Instant::now();
    let all: Vec<(Run, u64)> =
        runs().into_iter().flat_map(|run| (1..=run.seeds(quick)).map(move |seed| (run, seed))).collect();
    let stretches: Vec<&[(Run, u64)]> = all.chunks(48).collect();
    progress.expect(stretches.len() + 4);
    let (mut found, mut references) = (BTreeMap::<Run, Vec<RunResult>>::new(), 0.0);
    let (mut quiet, mut alarmed) = (BTreeMap::<&'static str, matrix::Alarms>::new(), Vec::new());
    for (number, stretch) in stretches.iter().enumerate() {
        progress.step(&format!("runs {} to {} of {}", 48 * number + 1, 48 * number + stretch.len(), all.len()));
        let results: Result<Vec<_>, GridError> =
            stretch.par_iter().map(|(run, seed)| simulate(*run, *seed, quick)).collect();
        // Results are in the order of the seeds
        for Simulated { run, found: result, references: count, looked_at } in results? {
            let name = run.scheme.name();
            let none = || matrix::Alarms { scheme: name.to_owned(), runs: 0, alarms: 0, looked_at: 0 };
            let said = quiet.entry(name).or_insert_with(none);
            (said.runs, said.looked_at) = (said.runs + 1, said.looked_at + looked_at);
            said.alarms += u64::from(result.is_none());
            alarmed.extend(result.is_none().then_some(run));
            found.entry(run).or_default().extend(result);
            references += count;
        }
    }
    // If a detector ended a run of a cell, the cell's cycles cannot be compared
    found.retain(|run, _| !alarmed.contains(run));
    progress.step("published figures");
    let beside = beside(quick)?;
    progress.step("processes and memory");
    let (shared, protected) = (share(quick)?, protect(quick)?);
    progress.step("bus, ring and mesh");
    let connected = connect(quick)?;
    progress.step("attacks");
    let seeds = of_attacks(quick);
    let (matrix, attacked) = (strikes::on_bus(seeds)?, strikes::on_memory(seeds)?);
    let (again, side_by_side) = (strikes::asked_again(seeds)?, strikes::side_by_side(seeds)?);
    let alarms = strikes::without_attacker()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Grid {
        quick,
        found,
        matrix,
        again,
        side_by_side,
        alarms,
        quiet,
        beside,
        shared,
        protected,
        connected,
        attacked,
        references,
        seconds,
    })
}

fn simulate(run: Run, seed: u64, quick: bool) -> Result<Simulated, GridError> {
    let mut config = run.scheme.config(run.processors, run.line, seed).map_err(RunError::from)?;
    run.changed.apply(&mut config);
    let workload = workload(run.program, run.processors, run.align, quick);
    let report = Simulation::new(config, workload).run(&mut |_| {})?;
    // A recorded program has no result to check
    let alarm = match (&report.outcome, &report.result) {
        (Outcome::Completed, None | Some(Ok(_))) => false,
        (Outcome::Detected(_), _) => true,
        (outcome, result) => {
            let name = PROGRAMS[run.program];
            return Err(GridError::Wrong(format!("{name}, {run:?}: {outcome:?}, {result:?}")));
        }
    };
    let number = |path| report.stats.number(path);
    let found = RunResult {
        cycles: number("cycles"),
        rate: number("transfers.per_thousand_cycles"),
        ready: number("scheme.send.ready_share"),
    };
    let looked_at = (number("transfers.count") + number("bus.commands")) as u64;
    Ok(Simulated { run, found: (!alarm).then_some(found), references: number("references"), looked_at })
}

#[cfg(test)]
#[path = "grid_tests.rs"]
mod tests;
