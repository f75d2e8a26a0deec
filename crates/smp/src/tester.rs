//! The random tester: processors read, write and fetch a few lines at random, while every value and invariant is
//! checked. It should produce every order of requests that the protocol allows; uses of the protocol's transitions are
//! counted.

use rayon::prelude::*;
use serde::Serialize;

use crate::{
    access::{Access, Operation, Source, SourceError},
    config::Config,
    error::ConfigError,
    machine::{Machine, MachineError, Outcome},
    memory::Image,
    mosi::{Action, EVENTS, Event, STATES, State},
    protocol::Protocol,
};

/// The results of a successful random test: no value read was wrong and no invariant was violated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TestReport {
    /// Number of machines.
    pub machines: usize,
    /// Total number of steps.
    pub steps: u64,
    /// Number of transitions of the protocol's table that can occur.
    pub cells: usize,
    /// The transitions that never occurred, as state and event.
    pub missed: Vec<String>,
}

/// A random test that failed: on which machine, and how.
#[derive(Debug, thiserror::Error)]
#[error("{processors} processors, {settings}: {cause}")]
pub struct TestError {
    processors: usize,
    settings: String,
    #[source]
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("ended as {0:?}")]
    Outcome(Option<Outcome>),
    #[error("{0} wrong reads")]
    WrongReads(u64),
}

/// The machines: share of the steps in per cent, number of lines, settings.
const MACHINES: [(u64, u64, &[&str]); 9] = [
    (32, 24, &[]),
    (30, 12, &["bus.skew=40", "memory.latency=20", "bus.response=3"]),
    (4, 24, &["bus.mode=atomic", "memory.jitter=4"]),
    (8, 24, &["bus.protocol=mesi"]),
    (8, 24, &["bus.protocol=moesi"]),
    // Misses overlap
    (6, 12, &["machine.mshrs=4", "bus.skew=40", "memory.latency=20", "bus.response=3"]),
    (4, 24, &["machine.mshrs=3", "memory.jitter=9"]),
    (4, 24, &["machine.mshrs=4", "bus.protocol=mesi"]),
    (4, 24, &["machine.mshrs=8", "bus.protocol=moesi"]),
];

/// The numbers of processors.
const PROCESSORS: [usize; 4] = [2, 3, 4, 8];

/// Runs about `steps` random steps on small machines of several kinds, on all cores, and calls `tell` with the number
/// of steps of each completed machine. The same seed gives the same steps.
///
/// # Errors
/// The first invariant that broke, and the machine.
pub fn run(steps: u64, seed: u64, tell: &(dyn Fn(u64) + Sync)) -> Result<TestReport, TestError> {
    let kinds = || MACHINES.iter().enumerate();
    let machines: Vec<_> =
        PROCESSORS.iter().flat_map(|p| kinds().map(move |(kind, machine)| (*p, kind, machine))).collect();
    let ran = machines.par_iter().map(|&(processors, kind, (share, lines, settings))| {
        let steps = steps * share / 100 / PROCESSORS.len() as u64;
        let seed = seed.wrapping_mul(31).wrapping_add((processors * MACHINES.len() + kind) as u64);
        let config = small(processors, settings);
        let (steps, coverage) = random(&config, steps, seed, *lines).map_err(|cause| TestError {
            processors,
            settings: settings.join(" "),
            cause,
        })?;
        tell(steps);
        Ok((config.bus.protocol, steps, coverage))
    });
    let ran: Vec<(Protocol, u64, Coverage)> = ran.collect::<Result<_, TestError>>()?;
    let used = |(protocol, state, event): &(Protocol, State, Event)| {
        let same = ran.iter().filter(|(other, ..)| other == protocol);
        same.into_iter().any(|(.., coverage)| coverage[*state as usize][*event as usize] > 0)
    };
    let of = |protocol: Protocol| {
        let cells = protocol.states().into_iter().flat_map(|state| Event::ALL.map(|event| (state, event)));
        cells.map(move |(state, event)| (protocol, state, event)).collect::<Vec<_>>()
    };
    let cells: Vec<_> = Protocol::ALL.into_iter().flat_map(of).filter(possible).collect();
    let missed = cells.iter().filter(|cell| !used(cell));
    let name = |(protocol, state, event): &(Protocol, State, Event)| format!("{} {state:?} {event:?}", protocol.name());
    Ok(TestReport {
        machines: machines.len(),
        steps: ran.iter().map(|(_, steps, _)| steps).sum(),
        cells: cells.len(),
        missed: missed.map(name).collect(),
    })
}

/// How often each cell was used.
type Coverage = [[u64; EVENTS]; STATES];

/// Whether a cell of the table can occur in these machines, and often enough to be required.
fn possible((protocol, state, event): &(Protocol, State, Event)) -> bool {
    let (protocol, state, event) = (*protocol, *state, *event);
    // First-level hits are not looked up, an access to an outstanding line joins its MSHR, and a line that is not in a
    // cache is not replaced
    let asked = matches!(event, Event::Load | Event::Store | Event::Replace) && !state.stable();
    let written_back = matches!(state, State::MI_A | State::OI_A | State::II_A);
    let makes_room =
        event == Event::Replace && protocol.transition(state, event).is_some_and(|it| it.actions != [Action::Recycle]);
    let unseen = protocol.transition(state, event).is_none()
        || asked && !(written_back && event != Event::Replace || makes_room);
    // Commands for lines of which a node has no copy are not looked up
    let skipped = state == State::I && !matches!(event, Event::Load | Event::Store);
    let hit = state == State::M && event == Event::Store;
    // Rare, and ignored in every state; and an owner's upgrade is never answered with data
    let rare = event == Event::OtherPutx
        || matches!((state, event), (State::OM_A, Event::Data) | (State::SM_A, Event::Replace));
    // Data arrives before its request is ordered only with snoop skew, which MOSI alone supports
    let late = matches!(state, State::IS_A | State::IM_A | State::SM_A)
        || state == State::IS_AD && event == Event::Data
        || matches!(state, State::IM_AD | State::SM_AD) && event == Event::Data;
    // These need too many concurrent requests to occur reliably; the exhaustive test of the tables covers them
    let crowded = matches!(state, State::II_A | State::IE_D_SI | State::IE_D_OI | State::IM_D_SI);
    let early = protocol.has_exclusive() && (late || crowded);
    !early && !unseen && !skipped && !hit && !rare
}

/// A machine with first-level caches of four lines each, and a second level of eight.
fn small(processors: usize, settings: &[&str]) -> Config {
    let mut config = Config::default();
    config.machine.processors = processors;
    config.l1.bytes = 256;
    config.l1.ways = 2;
    config.l2.bytes = 512;
    config.l2.ways = 2;
    settings.iter().fold(config, |config, setting| config.set(setting).expect("settings of this file are right"))
}

/// Takes about `steps` random steps; returns their exact number, and the coverage.
fn random(config: &Config, steps: u64, seed: u64, lines: u64) -> Result<(u64, Coverage), Cause> {
    let processors = config.machine.processors as u64;
    let sources = (0..processors).map(|i| {
        let state = seed.wrapping_mul(977).wrapping_add(i) << 20;
        Box::new(Random { state, left: steps / processors, lines, line: config.machine.line as u64 }) as Box<dyn Source>
    });
    let mut machine = Machine::new(config, Image::default(), sources.collect())?;
    machine.check_values();
    let outcome = machine.run(u64::MAX)?;
    if outcome != Some(Outcome::Completed) {
        return Err(Cause::Outcome(outcome));
    }
    machine.check_all()?;
    if machine.wrong_reads() != Some(0) {
        return Err(Cause::WrongReads(machine.wrong_reads().unwrap_or_default()));
    }
    let mut coverage = [[0; EVENTS]; STATES];
    for state in config.bus.protocol.states() {
        for event in Event::ALL {
            coverage[state as usize][event as usize] = machine.used(state, event);
        }
    }
    Ok((steps / processors * processors, coverage))
}

/// A source of random accesses to `lines` lines.
struct Random {
    state: u64,
    left: u64,
    lines: u64,
    line: u64,
}

impl Source for Random {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        for _ in 0..self.left.min(1024) {
            self.left -= 1;
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let x = self.state >> 16;
            let kind = match x % 8 {
                0..4 => Operation::Load,
                4..7 => Operation::Store,
                _ => Operation::Fetch,
            };
            let size = 1 << (x >> 3 & 3);
            let offset = ((x >> 5) % self.line) & !(size - 1);
            let address = ((x >> 13) % self.lines) * self.line + offset;
            let gap = if x >> 30 & 7 == 0 { (x >> 33 & 63) as u32 } else { 0 };
            steps.push(Access { address, value: self.state, gap, kind, size: size as u8 });
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{config::Protect, scheme::SchemeName, topology::TopologyKind};

    #[test]
    fn random_steps_keep_every_invariant_and_use_every_cell() {
        // Ten million take ten times as long and find no more: `sealwright-lab smp check --steps 10M`
        let tested = run(1_000_000, 1, &|_| {}).unwrap();
        assert_eq!(tested.missed, [""; 0], "cells of the table that never came up");
        assert!(tested.machines == 36 && tested.steps > 999_000 && tested.cells > 200, "{tested:?}");
    }

    #[test]
    fn rings_and_meshes_keep_every_invariant_with_any_number_of_nodes() {
        let mut used = [[0; EVENTS]; STATES];
        for (seed, processors) in [2, 3, 4, 16, 64].into_iter().enumerate() {
            for kind in ["interconnect.kind=ring", "interconnect.kind=mesh"] {
                for protocol in ["bus.protocol=mosi", "bus.protocol=mesi", "bus.protocol=moesi"] {
                    for scheme in ["scheme.name=clear", "scheme.name=pcie-ide", "scheme.name=cxl-ide"] {
                        let config = small(processors, &[kind, protocol, scheme, "memory.jitter=30"]);
                        let (_, coverage) = random(&config, 12_000, seed as u64, 24).unwrap();
                        used.iter_mut().flatten().zip(coverage.iter().flatten()).for_each(|(used, n)| *used += n);
                    }
                }
            }
        }
        // Requests overtake each other: a copy is invalidated before it arrives, and a new owner has a queue of
        // requests
        for state in [State::IS_D_I, State::IM_D_O, State::IM_D_OI, State::II_A, State::IE_D_S, State::IE_D_O] {
            assert!(used[state as usize].iter().sum::<u64>() > 0, "{state:?} never came up");
        }
    }

    #[test]
    fn misses_that_overlap_keep_every_invariant_on_every_interconnect() {
        let mut seed = 0;
        for (kind, protocol) in
            TopologyKind::ALL.into_iter().flat_map(|kind| Protocol::ALL.map(|protocol| (kind, protocol)))
        {
            for (processors, mshrs) in [(2, 64), (3, 2), (4, 4), (16, 8), (64, 3)] {
                for scheme in ["scheme.name=clear", "scheme.name=gcm", "scheme.name=cxl-ide"] {
                    seed += 1;
                    let mut config = small(processors, &[scheme, "memory.jitter=30"]);
                    (config.machine.mshrs, config.interconnect.kind, config.bus.protocol) = (mshrs, kind, protocol);
                    let said = |cause| panic!("{kind:?} {protocol:?} {processors} {mshrs} {scheme}: {cause}");
                    random(&config, 6_000, seed, 24).unwrap_or_else(said);
                }
            }
        }
    }

    #[test]
    fn every_scheme_carries_random_lines() {
        for (seed, scheme) in SchemeName::all().enumerate() {
            for line in ["machine.line=64", "machine.line=128"] {
                let mut config = small(4, &[line, "l1.bytes=512", "l2.bytes=1024"]);
                config.scheme.name = scheme;
                random(&config, 20_000, seed as u64, 16).unwrap();
                config.memory.counter_cache = 1;
                config.machine.chips = 2;
                config.bus.tags = true;
                for protect in Protect::ALL {
                    config.memory.protect = protect;
                    random(&config, 1_000, seed as u64, 200).unwrap();
                }
            }
        }
    }
}
