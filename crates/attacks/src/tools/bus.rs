//! Small programs on the simulated machine with an attacker on its bus, and their results.

use sealwright_smp::{
    Config, Image, Machine, MachineError, Outcome, Stats,
    access::{Access, Operation, Source, Steps},
    attack::{Attacker, ObservedLine},
};

use crate::attack::AttackError;

/// Bytes of a line.
pub(crate) const LINE: usize = 64;

/// The error for a trial in which the attacker had no chance to strike.
pub(crate) fn no_chance(target: &str) -> AttackError {
    AttackError::Simulation(format!("{target}: the attacker found nothing to strike at").into())
}

/// One processor's program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program(Vec<Access>);

impl Program {
    fn step(mut self, kind: Operation, address: u64, value: u64, gap: u32) -> Program {
        let size = if kind.synchronises() { 0 } else { 8 };
        self.0.push(Access { address, value, gap, kind, size });
        self
    }

    /// Loads the first word of a line.
    pub(crate) fn load(self, line: u64) -> Program {
        self.step(Operation::Load, line * LINE as u64, 0, 1)
    }

    /// Stores a word into a line.
    pub(crate) fn store(self, line: u64, value: u64) -> Program {
        self.step(Operation::Store, line * LINE as u64, value, 1)
    }

    /// Stores all words of a line.
    pub(crate) fn fill(self, line: u64, text: &[u8; LINE]) -> Program {
        (0..).zip(text.as_chunks().0).fold(self, |program, (word, bytes)| {
            program.step(Operation::Store, line * LINE as u64 + 8 * word, u64::from_le_bytes(*bytes), 1)
        })
    }

    /// Computes for `instructions` instructions, then waits at a barrier for all processors.
    pub(crate) fn barrier(self, number: u64, instructions: u32) -> Program {
        self.step(Operation::Barrier, number, 0, instructions)
    }
}

/// The results of a run.
pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) outcome: Outcome,
}

impl Run {
    /// Lines that one processor sent to another, in the bus's order.
    pub(crate) fn between(&self, from: usize, to: usize) -> impl Iterator<Item = &ObservedLine> {
        self.machine.heard().iter().filter(move |heard| (heard.from, heard.to) == (Some(from), to))
    }

    /// The cycles that a processor waited for lines.
    pub(crate) fn waited(&self, node: usize) -> u64 {
        let stats: Stats = self.machine.stats();
        let nodes = stats.at("nodes").and_then(|nodes| nodes.get(node));
        nodes.and_then(|node| node.get("waited")).and_then(|waited| waited.as_u64()).unwrap_or(0)
    }

    /// The first word of a line, as a processor loads it.
    pub(crate) fn word(&self, node: usize, line: u64) -> u64 {
        let mut bytes = [0; 8];
        self.machine.read(node, line * LINE as u64, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Whether the attacker struck.
    pub(crate) fn struck(&self) -> bool {
        self.machine.strikes().iter().any(|strike| strike.struck.is_some())
    }

    /// How it ended, in words.
    pub(crate) fn ended(&self) -> String {
        match &self.outcome {
            Outcome::Completed => "nothing is noticed".into(),
            Outcome::Detected(found) => format!("noticed by a {}", found.detector),
            Outcome::Deadlock(_) => "a processor waits for ever".into(),
        }
    }
}

/// Runs one program a processor, with these settings on top of the defaults, to the end.
pub(crate) fn run(settings: &[&str], programs: Vec<Program>, attacker: Option<Attacker>) -> Result<Run, AttackError> {
    let simulation = |error: Box<dyn core::error::Error + Send + Sync>| AttackError::Simulation(error);
    let processors = format!("machine.processors={}", programs.len());
    let mut config = Config::for_line(LINE);
    for setting in settings.iter().copied().chain([&processors[..]]) {
        config = config.set(setting).map_err(|error| simulation(error.into()))?;
    }
    let sources = programs.into_iter().map(|program| Box::new(Steps(program.0)) as Box<dyn Source>);
    let machine = Machine::new(&config, Image::default(), sources.collect());
    let mut machine = machine.map_err(|error| simulation(error.into()))?;
    machine.check_values();
    machine.listen();
    if let Some(attacker) = attacker {
        machine.attack(attacker);
    }
    loop {
        let ran: Result<Option<Outcome>, MachineError> = machine.run(1 << 20);
        if let Some(outcome) = ran.map_err(|error| simulation(error.into()))? {
            return Ok(Run { machine, outcome });
        }
    }
}
