//! What an attack is, and what it reports.

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
    pub(crate) run: fn(&mut Log, Size) -> Result<(), AttackError>,
}

/// How much work an attack may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The attack as it is.
    Full,
    /// Reduced for tests: the attacker is told a part of the secret, or the secret is shorter. The report says which.
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
    /// Whether it did.
    pub succeeded: bool,
    /// What came of it, in one sentence.
    pub result: String,
    /// Messages observed, or questions asked to the victim.
    pub queries: u64,
    /// Steps of computation.
    pub steps: u64,
    /// What a step is.
    pub step: &'static str,
    /// Bytes of memory that the attack needs, to a power of two or so.
    pub memory: u64,
    /// CPU seconds of all threads.
    pub cpu_seconds: f64,
    /// Seconds by the wall clock.
    pub seconds: f64,
}

/// What came of an attack.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The attack's name.
    pub name: &'static str,
    /// Each trial, weak targets first.
    pub trials: Vec<Trial>,
    /// What was reduced, if anything was.
    pub reduced: Option<&'static str>,
}

impl Report {
    /// Whether every weak target fell, every strong one held, and there was at least one of each.
    pub fn as_expected(&self) -> bool {
        let count = |target, succeeded| {
            self.trials.iter().filter(|trial| trial.target == target && trial.succeeded == succeeded).count()
        };
        count(Target::Weak, true) > 0
            && count(Target::Weak, false) == 0
            && count(Target::Strong, false) > 0
            && count(Target::Strong, true) == 0
    }
}

/// Why an attack could not be run. That it failed against its target is no error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AttackError {
    /// A session refused something that it must accept.
    #[error("the session under attack: {0}")]
    Session(#[from] SessionError),
    /// A scheme's name is not known.
    #[error(transparent)]
    Scheme(#[from] UnknownSchemeError),
    /// A key has a wrong length.
    #[error(transparent)]
    Key(#[from] KeyLengthError),
    /// The victim could not seal.
    #[error("the victim could not seal: {0}")]
    Seal(#[from] SealError),
    /// The victim's own message was not authentic.
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

/// What the attacker's work cost so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) queries: u64,
    pub(crate) steps: u64,
    pub(crate) step: &'static str,
    pub(crate) memory: u64,
}

/// Takes down trials.
#[derive(Debug, Default)]
pub(crate) struct Log {
    trials: Vec<Trial>,
    pub(crate) reduced: Option<&'static str>,
}

impl Log {
    /// Times one attempt. It returns whether it succeeded, and a sentence.
    pub(crate) fn trial<E>(
        &mut self,
        target: Target,
        against: impl Into<String>,
        attempt: impl FnOnce(&mut Cost) -> Result<(bool, String), E>,
    ) -> Result<(), E> {
        let mut cost = Cost::default();
        let (wall, cpu) = (Instant::now(), ProcessCpu.now());
        let (succeeded, result) = attempt(&mut cost)?;
        let seconds = |time: Duration| time.as_secs_f64();
        self.trials.push(Trial {
            against: against.into(),
            target,
            succeeded,
            result,
            queries: cost.queries,
            steps: cost.steps,
            step: cost.step,
            memory: cost.memory,
            cpu_seconds: seconds(ProcessCpu.now() - cpu),
            seconds: seconds(wall.elapsed()),
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
        Ok(Report { name: self.name, trials: log.trials, reduced: log.reduced })
    }
}
