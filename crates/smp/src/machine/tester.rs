//! The random tester: processors that read, write and fetch a few lines at random, every value and invariant watched.
//! Any order of requests that the protocol allows should come up; the table's cells are counted.

use super::{End, Machine};
use crate::access::{Access, Kind, Source, SourceError};
use crate::config::{Config, Protect};
use crate::memory::Image;
use crate::mosi::{Event, State, transition};
use crate::scheme::Name;

/// Steps at random among `lines` lines.
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
                0..4 => Kind::Load,
                4..7 => Kind::Store,
                _ => Kind::Fetch,
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

/// Runs `steps` random steps and adds to `coverage` what was used.
fn random(config: &Config, steps: u64, seed: u64, lines: u64, coverage: &mut [[u64; 10]; 22]) {
    let processors = config.machine.processors;
    let sources = (0..processors as u64).map(|i| {
        let state = seed.wrapping_mul(977).wrapping_add(i) << 20;
        let left = steps / processors as u64;
        Box::new(Random { state, left, lines, line: config.machine.line as u64 }) as Box<dyn Source>
    });
    let mut machine = Machine::new(config, Image::default(), sources.collect()).unwrap();
    machine.watch();
    let end = machine.run(u64::MAX).unwrap_or_else(|fault| panic!("{fault} (seed {seed}, {config:?})"));
    assert_eq!(end, Some(End::Done), "seed {seed}");
    machine.check_all().unwrap();
    assert_eq!(machine.wrong_reads(), Some(0));
    for state in State::all() {
        for event in Event::ALL {
            coverage[state as usize][event as usize] += machine.used(state, event);
        }
    }
}

fn config(processors: usize, change: &[&str]) -> Config {
    let mut config = Config::default();
    config.machine.processors = processors;
    // four lines of data, four of instructions, eight behind them
    config.l1.bytes = 256;
    config.l1.ways = 2;
    config.l2.bytes = 512;
    config.l2.ways = 2;
    change.iter().fold(config, |config, setting| config.set(setting).unwrap())
}

#[test]
fn ten_million_random_steps_keep_every_invariant_and_use_every_cell() {
    let mut coverage = [[0; 10]; 22];
    for (processors, seed) in [(2, 1), (3, 2), (4, 3), (8, 4)] {
        random(&config(processors, &[]), 1_500_000, seed, 24, &mut coverage);
        random(
            &config(processors, &["bus.skew=40", "memory.latency=20", "bus.response=3"]),
            800_000,
            seed,
            12,
            &mut coverage,
        );
        random(&config(processors, &["bus.mode=atomic", "memory.jitter=4"]), 200_000, seed, 24, &mut coverage);
    }
    let mut missed = Vec::new();
    for state in State::all() {
        for event in Event::ALL {
            // hits of the first level are not looked up, and a waiting processor neither asks nor makes room
            let asked = matches!(event, Event::Load | Event::Store | Event::Replace) && !state.stable();
            let written_back = matches!(state, State::MI_A | State::OI_A | State::II_A);
            let unseen = transition(state, event).is_none() || asked && !(written_back && event != Event::Replace);
            // a state of another node's line that nobody knows is skipped
            let skipped = state == State::I && !matches!(event, Event::Load | Event::Store);
            let hit = state == State::M && event == Event::Store;
            // ignored in every state, and rare; and an owner's request to write is never answered with data
            let rare = event == Event::OtherPutx || (state, event) == (State::OM_A, Event::Data);
            if !unseen && !skipped && !hit && !rare && coverage[state as usize][event as usize] == 0 {
                missed.push((state, event));
            }
        }
    }
    assert_eq!(missed, [], "cells of the table that never came up");
}

#[test]
fn every_scheme_carries_random_lines() {
    let mut coverage = [[0; 10]; 22];
    for (seed, scheme) in Name::ALL.into_iter().enumerate() {
        for line in ["machine.line=64", "machine.line=128"] {
            let mut config = config(4, &[line, "l1.bytes=512", "l2.bytes=1024"]);
            config.shu.scheme = scheme;
            random(&config, 40_000, seed as u64, 16, &mut coverage);
            config.memory.protect = Protect::Tree;
            config.memory.counter_cache = 1;
            config.machine.chips = 2;
            config.bus.tags = true;
            random(&config, 4_000, seed as u64, 200, &mut coverage);
        }
    }
}
