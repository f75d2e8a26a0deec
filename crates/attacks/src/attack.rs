//! Attacks and their reports.

use std::time::{Duration, Instant};

use sealwright::{KeyLengthError, OpenError, SealError};
use sealwright_measure::{Clock, clock::ProcessCpu};
use sealwright_session::{SessionError, UnknownSchemeError};
use serde::Serialize;
use thiserror::Error;

/// One attack: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it achieves, in one sentence.
    pub title: &'static str,
    /// What the attacker has and can do before it begins.
    pub knows: &'static str,
    /// What stops it.
    pub stopped_by: &'static str,
    /// The page in `docs/attacks/` that explains it.
    pub page: &'static str,
    /// What its figure shows: the attacker's progress against its cost.
    pub figure: Axes,
    pub(crate) run: fn(&mut Log, Size) -> Result<(), AttackError>,
}

/// What the figure of an attack shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// What the attacker spends: messages, queries, samples.
    pub spent: &'static str,
    /// What it gains: bits known, forgeries accepted.
    pub gained: &'static str,
}

/// How much work an attack may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The full attack.
    Full,
    /// Reduced for tests: the attacker is given part of the secret, or the secret is shorter. The report says which.
    Small,
}

/// Which kind of target a trial attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// The attack must succeed.
    Weak,
    /// The attack must fail.
    Strong,
}

/// One attempt against one target.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// What was attacked.
    pub against: String,
    /// Whether the attack should succeed.
    pub target: Target,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The result, in one sentence.
    pub result: String,
    /// Number of messages observed or queries to the victim.
    pub queries: u64,
    /// Number of computation steps.
    pub steps: u64,
    /// What counts as a step.
    pub step: &'static str,
    /// Memory that the attack needs in bytes, to within about a factor of two.
    pub memory: u64,
    /// CPU time of all threads in seconds.
    pub cpu_seconds: f64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// How it was reduced, if it was: part of the secret was given, or the secret was shorter.
    pub reduced: Option<&'static str>,
    /// The attacker's progress: pairs of what was spent and what was gained.
    pub curve: Vec<[f64; 2]>,
}

/// The outcome of an attack.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The attack's name.
    pub name: &'static str,
    /// Each trial, weak targets first.
    pub trials: Vec<Trial>,
    /// How all trials were reduced, if they were.
    pub reduced: Option<&'static str>,
    /// Why the attack cannot run on this machine, if so; then nothing was tried.
    pub not_here: Option<&'static str>,
}

impl Report {
    /// Whether every weak target fell, every strong one held, and there was at least one of each; or whether the attack
    /// cannot run on this machine, and nothing was tried.
    pub fn as_expected(&self) -> bool {
        let count = |target, succeeded| {
            self.trials.iter().filter(|trial| trial.target == target && trial.succeeded == succeeded).count()
        };
        let none = self.not_here.is_some() && self.trials.is_empty();
        none || count(Target::Weak, true) > 0
            && count(Target::Weak, false) == 0
            && count(Target::Strong, false) > 0
            && count(Target::Strong, true) == 0
    }
}

/// Why an attack could not be run. Failing against a target is not an error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AttackError {
    /// A session refused something that it must accept.
    #[error("the session under attack: {0}")]
    Session(#[from] SessionError),
    /// The name of a scheme is unknown.
    #[error(transparent)]
    Scheme(#[from] UnknownSchemeError),
    /// A key has the wrong length.
    #[error(transparent)]
    Key(#[from] KeyLengthError),
    /// The victim could not seal.
    #[error("the victim could not seal: {0}")]
    Seal(#[from] SealError),
    /// The victim rejected its own genuine message.
    #[error("the victim refused a genuine message")]
    Genuine(#[from] OpenError),
    /// A file could not be sealed.
    #[error("the file under attack: {0}")]
    File(#[from] sealwright_file::Error),
    /// The simulator could not run.
    #[error("the simulator: {0}")]
    Simulation(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The relay could not run, or refused an honest client.
    #[error("the relay: {0}")]
    Relay(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// `enc` could not work.
    #[error("the file under attack: {0}")]
    Enc(#[from] sealwright_file::enc::EncError),
}

/// The cost of the attacker's work so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) queries: u64,
    pub(crate) steps: u64,
    pub(crate) step: &'static str,
    pub(crate) memory: u64,
    /// How this trial was reduced, if trials differ in that.
    pub(crate) reduced: Option<&'static str>,
    curve: Vec<[f64; 2]>,
    before: Spent,
}

/// Wall time and CPU time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    wall: Duration,
    cpu: Duration,
}

impl Spent {
    /// Runs a function and measures its time; returns its result and the time.
    pub(crate) fn by<T>(work: impl FnOnce() -> T) -> (T, Spent) {
        let (wall, cpu) = (Instant::now(), ProcessCpu.now());
        let done = work();
        (done, Spent { wall: wall.elapsed(), cpu: ProcessCpu.now() - cpu })
    }
}

impl Cost {
    /// Adds this trial's share of work that was done once for `trials` trials.
    pub(crate) fn share(&mut self, spent: Spent, trials: u32) {
        self.before = Spent { wall: spent.wall / trials, cpu: spent.cpu / trials };
    }

    /// Adds a point to the curve: the gain after a cost.
    pub(crate) fn point(&mut self, spent: impl Into<f64>, gained: impl Into<f64>) {
        self.curve.push([spent.into(), gained.into()]);
    }

    /// The same, with the queries so far as the cost.
    pub(crate) fn gained(&mut self, gained: impl Into<f64>) {
        self.point(self.queries as f64, gained);
    }
}

/// Records trials.
#[derive(Debug, Default)]
pub(crate) struct Log {
    trials: Vec<Trial>,
    pub(crate) reduced: Option<&'static str>,
    pub(crate) not_here: Option<&'static str>,
}

impl Log {
    /// Withdraws a failed first trial that noise on this machine explains, and records why. Returns whether it had
    /// failed.
    pub(crate) fn give_up_on_weak(&mut self, why: &'static str) -> bool {
        let failed = self.trials.pop_if(|trial| trial.target == Target::Weak && !trial.succeeded).is_some();
        if failed {
            self.not_here = Some(why);
        }
        failed
    }

    /// Measures one attempt, which returns whether it succeeded, and a sentence.
    pub(crate) fn trial<E>(
        &mut self,
        target: Target,
        against: impl Into<String>,
        attempt: impl FnOnce(&mut Cost) -> Result<(bool, String), E>,
    ) -> Result<(), E> {
        let mut cost = Cost::default();
        let (tried, spent) = Spent::by(|| attempt(&mut cost));
        let (succeeded, result) = tried?;
        if cost.curve.is_empty() {
            // A single attempt has a curve from 0 to its success, 0 or 1
            cost.point(0.0, 0.0);
            cost.point(cost.queries.max(1) as f64, u8::from(succeeded));
        }
        self.trials.push(Trial {
            against: against.into(),
            target,
            succeeded,
            result,
            queries: cost.queries,
            steps: cost.steps,
            step: cost.step,
            memory: cost.memory,
            cpu_seconds: (cost.before.cpu + spent.cpu).as_secs_f64(),
            seconds: (cost.before.wall + spent.wall).as_secs_f64(),
            reduced: cost.reduced.or(self.reduced),
            curve: cost.curve,
        });
        Ok(())
    }
}

impl Attack {
    /// Runs it.
    ///
    /// # Errors
    /// [`AttackError`] if the victim does not work as it must without an attack.
    pub fn run(&self, size: Size) -> Result<Report, AttackError> {
        let mut log = Log::default();
        (self.run)(&mut log, size)?;
        Ok(Report { name: self.name, trials: log.trials, reduced: log.reduced, not_here: log.not_here })
    }
}
