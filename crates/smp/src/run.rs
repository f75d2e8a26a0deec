//! Complete runs: from settings and a workload to results.

use std::{
    io::BufWriter,
    path::{Path, PathBuf},
    time::Instant,
};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::{
    attack::Attacker,
    config::{Config, PROCESS_BIT},
    error::ConfigError,
    kernel::{Check, Kernel, KernelError, Program, Reader, ResultError},
    machine::{Detection, Machine, MachineError, Outcome, StrikeReport},
    memory::Image,
    output::{ForAWhile, beside},
    stats::Stats,
    trace::{Trace, TraceError, Windows},
};

/// What the processors run.
#[derive(Clone, Debug)]
pub enum Workload {
    /// A kernel, and whether its arrays are aligned to pages.
    Kernel(Kernel, bool),
    /// A recorded program, with one thread for each processor.
    Trace(Trace),
}

/// The workload as settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadSettings {
    /// A kernel's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Its size: log2 of points or keys, or rows of the matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// Whether its arrays are aligned to pages.
    pub align: bool,
    /// Alternatively a trace: the names of its files up to the thread number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// The windows of the trace that are its region of interest: 3, or "2..4".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<Windows>,
}

impl Workload {
    /// A kernel by name, with its size.
    pub fn kernel(name: &str, size: u32, align: bool) -> Option<Workload> {
        Kernel::by_name(name, Some(size)).map(|kernel| Workload::Kernel(kernel, align))
    }

    /// A short name for tables.
    pub fn name(&self) -> String {
        match self {
            Workload::Kernel(kernel, _) => kernel.name().to_owned(),
            Workload::Trace(_) => "trace".to_owned(),
        }
    }

    /// The workload as settings, which identify the program; a trace is identified by the path of its files.
    pub fn settings(&self) -> WorkloadSettings {
        match self {
            Workload::Kernel(kernel, align) => WorkloadSettings {
                kernel: Some(kernel.name().to_owned()),
                size: Some(kernel.size()),
                align: *align,
                ..WorkloadSettings::default()
            },
            Workload::Trace(trace) => WorkloadSettings {
                // JSON cannot represent a path that is not valid UTF-8
                trace: Some(trace.prefix().to_string_lossy().into_owned().into()),
                windows: trace.windows,
                ..WorkloadSettings::default()
            },
        }
    }

    /// Its settings as a tree, with the digest of a trace, because another recording may have the same name.
    fn json(&self) -> Result<serde_json::Value, serde_json::Error> {
        let mut tree = serde_json::to_value(self.settings())?;
        if let Workload::Trace(trace) = self {
            tree["digest"] = json!(trace.digest().ok());
        }
        Ok(tree)
    }

    fn program(&self, config: &Config) -> Result<Program, RunError> {
        match self {
            Workload::Kernel(kernel, align) => {
                Ok(kernel.program(config.machine.processors, *align, config.machine.seed)?)
            }
            Workload::Trace(trace) => {
                let sources = trace.open(config.machine.line)?;
                // A trace holds no values, so there is no result to check
                Ok(Program { image: Image::default(), sources, check: None })
            }
        }
    }
}

/// A simulation: a machine and what it runs.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The machine.
    pub config: Config,
    /// What it runs.
    pub workload: Workload,
    /// Whether every value read and every invariant of the protocol is checked.
    pub check: bool,
    /// Attackers on the bus and in memory. The first alarm ends the run, even if some have not struck yet.
    pub attackers: Vec<Attacker>,
    /// A file for the events on the bus (JSON Lines). It appears when the run has ended.
    pub dump: Option<PathBuf>,
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// The statistics.
    pub stats: Stats,
    /// Whether the workload's result is right, if it has one and every processor finished.
    pub result: Option<Result<String, ResultError>>,
    /// Number of loads that returned a wrong value, if values were checked.
    pub wrong_reads: Option<u64>,
    /// Number of lines whose last written value is lost at the end, if values were checked and every processor
    /// finished.
    pub lost_lines: Option<u64>,
    /// The outcome of each attacker's strike.
    pub strikes: Vec<StrikeReport>,
    /// Number of references of the whole run, if it ended before `machine.warm_up` of them.
    pub cold: Option<u64>,
    /// Wall time of the simulation in seconds.
    pub seconds: f64,
}

impl Report {
    /// The transfer, command or answer that was tampered with; with several attackers, that of the first in order who
    /// struck.
    pub fn struck(&self) -> Option<u64> {
        self.strikes.iter().find_map(|strike| strike.struck)
    }

    /// Why the statistics are not those of a completed run with the right result, if so.
    pub fn failure(&self) -> Option<SimulationError> {
        let (wrong, lost) = (self.wrong_reads.unwrap_or(0), self.lost_lines.unwrap_or(0));
        match (&self.outcome, &self.result) {
            (Outcome::Detected(detection), _) => Some(SimulationError::Detected(detection.clone())),
            (Outcome::Deadlock(nodes), _) => Some(SimulationError::Deadlock(nodes.clone())),
            (Outcome::Completed, Some(Err(why))) => Some(SimulationError::Wrong(why.clone())),
            // A trace has no result to check, but its loads are checked
            (Outcome::Completed, _) if wrong > 0 => Some(SimulationError::Wrong(wrong_loads(wrong))),
            (Outcome::Completed, _) if lost > 0 => Some(SimulationError::Lost(lost)),
            (Outcome::Completed, _) => self.cold.map(SimulationError::Cold),
        }
    }
}

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// A node raised an alarm, which ends the run.
    #[error("node {} raised the alarm at cycle {}, by {}", .0.node, .0.cycle, .0.detector)]
    Detected(Detection),
    /// These nodes wait for something that will never come.
    #[error("nodes {0:?} wait for ever")]
    Deadlock(Vec<usize>),
    /// The result, or what it was computed from, is wrong.
    #[error("the result is wrong: {0}")]
    Wrong(ResultError),
    /// The last written values of this many lines are lost.
    #[error("lines whose last written value is lost: {0}")]
    Lost(u64),
    /// It ended after this many references, before the warm-up was complete.
    #[error(
        "the program ended after {0} references, before the end of machine.warm_up: statistics cover the whole run"
    )]
    Cold(u64),
}

fn wrong_loads(wrong: u64) -> ResultError {
    ResultError(if wrong == 1 {
        "1 load gave a wrong value".into()
    } else {
        format!("{wrong} loads gave wrong values")
    })
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of references done.
    pub references: u64,
    /// Simulated cycles.
    pub cycles: u64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// Why a run gave no results.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The settings do not describe a machine.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The kernel does not fit the machine.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The trace cannot be opened.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The run itself failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The file of bus events cannot be written.
    #[error("{}: {error}", .file.display())]
    Dump {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
}

/// Accesses between two reports of progress.
const STRETCH: u64 = 1 << 20;

impl Simulation {
    /// A simulation without checks and without an attacker.
    pub fn new(config: Config, workload: Workload) -> Simulation {
        Simulation { config, workload, check: false, attackers: Vec::new(), dump: None }
    }

    /// Runs the simulation to its end, and calls `progress` from time to time.
    ///
    /// # Errors
    /// When the settings or the workload cannot be run, or a trace or the machine itself fails.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Result<Report, RunError> {
        self.config.check()?;
        let Program { image, sources, check } = self.programs()?;
        let mut machine = Machine::new(&self.config, image, sources)?;
        if self.check {
            machine.check_values();
        }
        self.attackers.iter().cloned().for_each(|attacker| machine.attack(attacker));
        let dump = self.dump.as_deref().map(|path| start_dump(path, &mut machine)).transpose()?;
        let start = Instant::now();
        let outcome = loop {
            if let Some(outcome) = machine.run(STRETCH)? {
                break outcome;
            }
            let (references, cycles) = machine.progress();
            progress(Progress { references, cycles, seconds: start.elapsed().as_secs_f64() });
        };
        let seconds = start.elapsed().as_secs_f64();
        if let (Some(file), Some(path)) = (dump, &self.dump) {
            let failed = |error| RunError::Dump { file: path.clone(), error };
            machine.end_dump().map_err(failed)?;
            file.end(|file| file.persist(path)).map_err(|error| failed(error.error))?;
        }
        let result = check.filter(|_| outcome == Outcome::Completed).map(|check| self.result(&machine, &check));
        let whole = outcome == Outcome::Completed;
        if self.check && self.attackers.is_empty() && whole {
            machine.check_all()?;
        }
        Ok(Report {
            outcome,
            cold: machine.cold().then(|| machine.progress().0),
            stats: machine.stats(),
            result,
            wrong_reads: machine.wrong_reads(),
            lost_lines: if whole { machine.lost_lines() } else { None },
            strikes: machine.strikes(),
            seconds,
        })
    }

    /// This run as a JSON tree: settings (machine, workload and attackers), outcome, and statistics.
    ///
    /// # Errors
    /// If a setting has no form in JSON.
    pub fn json(&self, report: &Report) -> Result<serde_json::Value, serde_json::Error> {
        let mut config = serde_json::to_value(&self.config)?;
        config["workload"] = self.workload.json()?;
        let attacks = self.attackers.iter().map(|attacker| format!("{}@{}", attacker.attack(), attacker.at()));
        config["attacks"] = attacks.collect();
        Ok(json!({
            "workload": self.workload.name(),
            "config": config,
            "outcome": report.outcome,
            "failure": report.failure().map(|failure| failure.to_string()),
            "result": report.result.as_ref().map(|result| match result {
                Ok(text) => json!({ "right": true, "text": text }),
                Err(error) => json!({ "right": false, "text": error.to_string() }),
            }),
            "wrong_reads": report.wrong_reads,
            "struck": report.struck(),
            "lost_lines": report.lost_lines,
            "strikes": report.strikes,
            "seconds": report.seconds,
            "stats": report.stats.json(),
        }))
    }

    /// What each process runs: the same program, in an address space of its own.
    fn programs(&self) -> Result<Program, RunError> {
        let mut all = self.workload.program(&self.config)?;
        for process in 1..self.config.processes.count {
            let Program { image, sources, .. } = self.workload.program(&self.config)?;
            all.image.add(&image, (process as u64) << PROCESS_BIT);
            all.sources.extend(sources);
        }
        Ok(all)
    }

    /// Whether every processor loads the right result. The kernel computes with correct values and not with those
    /// loaded, so its result is meaningless once a load was wrong.
    fn result(&self, machine: &Machine, check: &Check) -> Result<String, ResultError> {
        if let Some(wrong) = machine.wrong_reads().filter(|wrong| *wrong > 0) {
            return Err(wrong_loads(wrong));
        }
        let nodes = self.config.machine.processors;
        let results = (0..nodes * self.config.processes.count).map(|reader| {
            let (node, process) = (reader % nodes, reader / nodes);
            check(&Reader { machine, node, space: (process as u64) << PROCESS_BIT })
                .map_err(|why| ResultError(format!("as processor {node} loads it in process {process}: {why}")))
        });
        results.collect::<Result<Vec<_>, _>>().map(|mut said| said.swap_remove(0))
    }
}

/// Starts writing bus events to a temporary file in the folder of `path`.
fn start_dump(path: &Path, machine: &mut Machine) -> Result<ForAWhile<NamedTempFile>, RunError> {
    let failed = |error| RunError::Dump { file: path.to_owned(), error };
    let file = beside(path).map_err(failed)?;
    machine.dump(Box::new(BufWriter::new(file.reopen().map_err(failed)?)));
    Ok(file)
}
