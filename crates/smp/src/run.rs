//! A whole run: settings and a workload in, numbers out.

use std::time::Instant;

use crate::{
    attack::Attacker,
    config::{BadConfig, Config},
    kernel::{Kernel, Program},
    machine::{End, Fault, Machine},
    memory::Image,
    stats::Stats,
    trace::Trace,
};

/// What the processors run.
#[derive(Clone, Debug)]
pub enum Workload {
    /// A kernel, and whether its arrays begin at pages.
    Kernel(Kernel, bool),
    /// A recorded program, one thread a processor.
    Trace(Trace),
}

impl Workload {
    /// A kernel by name, with its size.
    pub fn kernel(name: &str, size: u32, align: bool) -> Option<Workload> {
        Kernel::by_name(name, Some(size)).map(|kernel| Workload::Kernel(kernel, align))
    }

    /// A word for tables.
    pub fn name(&self) -> String {
        match self {
            Workload::Kernel(kernel, _) => kernel.name().to_owned(),
            Workload::Trace(_) => "trace".to_owned(),
        }
    }

    fn program(&self, config: &Config) -> Result<Program, String> {
        match self {
            Workload::Kernel(kernel, align) => kernel.program(config.machine.processors, *align, config.machine.seed),
            Workload::Trace(trace) => {
                let sources = trace.open(config.machine.line)?;
                // A trace holds no values, so there is no result to look at
                Ok(Program { image: Image::default(), sources, check: None })
            }
        }
    }
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// The machine.
    pub config: Config,
    /// What it runs.
    pub workload: Workload,
    /// Whether every value and invariant is watched.
    pub watch: bool,
    /// Somebody on the bus.
    pub attacker: Option<Attacker>,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// Everything counted.
    pub stats: Stats,
    /// What the workload's check said of the result, where it has one and the run came to its end.
    pub check: Option<Result<String, String>>,
    /// Loads that gave a wrong value, where that was watched.
    pub wrong_reads: Option<u64>,
    /// The transfer or command that the attacker tampered with.
    pub struck: Option<u64>,
    /// Wall seconds of the simulation.
    pub seconds: f64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct SoFar {
    /// References done.
    pub references: u64,
    /// Simulated cycles.
    pub cycles: u64,
    /// Wall seconds.
    pub seconds: f64,
}

/// Why a run gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The settings make no machine.
    #[error("{0}")]
    Config(#[from] BadConfig),
    /// The workload cannot run on it.
    #[error("{0}")]
    Workload(String),
    /// The run itself failed.
    #[error("{0}")]
    Fault(#[from] Fault),
}

/// References between two looks at the clock.
const STRETCH: u64 = 1 << 20;

impl Job {
    /// A run with nobody watching and nobody on the bus.
    pub fn new(config: Config, workload: Workload) -> Job {
        Job { config, workload, watch: false, attacker: None }
    }

    /// Runs it to its end, telling now and then how far it is.
    ///
    /// # Errors
    /// When the settings or the workload make no sense, or a trace or the machine itself fails.
    pub fn run(&self, tell: &mut dyn FnMut(SoFar)) -> Result<Report, Failure> {
        self.config.check()?;
        let Program { image, sources, check } = self.workload.program(&self.config).map_err(Failure::Workload)?;
        let mut machine = Machine::new(&self.config, image, sources)?;
        if self.watch {
            machine.watch();
        }
        if let Some(attacker) = &self.attacker {
            machine.attack(attacker.clone());
        }
        let start = Instant::now();
        let end = loop {
            if let Some(end) = machine.run(STRETCH)? {
                break end;
            }
            let (references, cycles) = machine.so_far();
            tell(SoFar { references, cycles, seconds: start.elapsed().as_secs_f64() });
        };
        let seconds = start.elapsed().as_secs_f64();
        let check = check.filter(|_| end == End::Done).map(|check| check(&machine));
        if self.watch && self.attacker.is_none() && end == End::Done {
            machine.check_all()?;
        }
        Ok(Report {
            end,
            stats: machine.stats(),
            check,
            wrong_reads: machine.wrong_reads(),
            struck: machine.struck(),
            seconds,
        })
    }
}
