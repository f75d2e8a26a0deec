//! Litmus tests: small programs on two lines, in every order that the protocols allow. What sequential consistency forbids never
//! comes up, and what it allows does.
#![allow(clippy::unwrap_used)]

mod model;

use std::collections::{BTreeSet, HashSet};

use model::World;
use sealwright_smp::{mosi::Event, protocol::Protocol};

/// An access of a program: to line 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Write(usize),
    Read(usize),
}
use Step::{Read, Write};

/// Programs and lines at a moment. Every line is 0 first and 1 once it is written; no program writes a line twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    lines: [World; 2],
    written: [bool; 2],
    /// Steps that each program has done, and whether the next one waits for its line.
    done: Vec<usize>,
    waits: Vec<bool>,
    /// What each program has read, in order.
    read: Vec<Vec<u8>>,
}

impl Moment {
    /// Takes in what became of `line`: accesses that were done.
    fn settle(mut self, programs: &[&[Step]], line: usize) -> Moment {
        let loads = std::mem::take(&mut self.lines[line].loads);
        for (node, program) in programs.iter().enumerate() {
            let Some(step) = program.get(self.done[node]).filter(|_| self.waits[node]) else { continue };
            let mine = matches!(step, Write(at) | Read(at) if *at == line);
            if !mine || !self.lines[line].nodes[node].free() {
                continue;
            }
            match step {
                Write(at) => self.written[*at] = true,
                Read(at) => {
                    let fresh = loads.iter().find(|(by, _)| *by == node).expect("a read that is done").1;
                    self.read[node].push(u8::from(fresh && self.written[*at]));
                }
            }
            self.done[node] += 1;
            self.waits[node] = false;
        }
        self
    }

    fn next(&self, programs: &[&[Step]], evicts: bool) -> Vec<Moment> {
        let mut all = Vec::new();
        let with = |line: usize, world: World| {
            let mut moment = self.clone();
            moment.lines[line] = world;
            moment
        };
        for line in 0..2 {
            all.extend(self.lines[line].steps().into_iter().map(|world| with(line, world).settle(programs, line)));
            for node in (0..programs.len()).filter(|node| evicts && self.lines[line].nodes[*node].free()) {
                all.extend(self.lines[line].access(node, Event::Replace).map(|world| with(line, world)));
            }
        }
        for (node, program) in programs.iter().enumerate() {
            let Some(step) = program.get(self.done[node]).filter(|_| !self.waits[node]) else { continue };
            let (line, event) = match step {
                Write(line) => (*line, Event::Store),
                Read(line) => (*line, Event::Load),
            };
            if self.lines[line].nodes[node].free()
                && let Some(world) = self.lines[line].access(node, event)
            {
                let mut moment = with(line, world);
                moment.waits[node] = true;
                all.push(moment.settle(programs, line));
            }
        }
        all
    }
}

/// Every outcome: what all programs have read, in their order.
fn outcomes(protocol: Protocol, programs: &[&[Step]], evicts: bool) -> BTreeSet<Vec<u8>> {
    let world = || World::new(protocol, programs.len());
    let count = programs.len();
    let first = Moment {
        lines: [world(), world()],
        written: [false; 2],
        done: vec![0; count],
        waits: vec![false; count],
        read: vec![Vec::new(); count],
    };
    let (mut known, mut open, mut found) = (HashSet::from([first.clone()]), vec![first], BTreeSet::new());
    while let Some(moment) = open.pop() {
        if moment.done.iter().zip(programs).all(|(done, program)| *done == program.len()) {
            found.insert(moment.read.concat());
            continue;
        }
        for next in moment.next(programs, evicts) {
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

/// Tries a program under every protocol.
fn litmus(name: &str, programs: &[&[Step]], evicts: bool, forbidden: &[u8], allowed: &[&[u8]]) {
    for protocol in Protocol::ALL {
        let found = outcomes(protocol, programs, evicts);
        assert!(!found.contains(forbidden), "{name} under {protocol:?}: {forbidden:?} came up");
        for outcome in allowed {
            assert!(found.contains(*outcome), "{name} under {protocol:?}: {outcome:?} never came up in {found:?}");
        }
    }
}

#[test]
fn store_buffering_never_reads_two_old_values() {
    let programs: [&[Step]; 2] = [&[Write(0), Read(1)], &[Write(1), Read(0)]];
    litmus("SB", &programs, true, &[0, 0], &[&[0, 1], &[1, 0], &[1, 1]]);
}

#[test]
fn a_message_is_there_when_its_flag_is() {
    let programs: [&[Step]; 2] = [&[Write(0), Write(1)], &[Read(1), Read(0)]];
    litmus("MP", &programs, true, &[1, 0], &[&[0, 0], &[0, 1], &[1, 1]]);
}

#[test]
fn loads_come_before_the_stores_that_follow_them() {
    let programs: [&[Step]; 2] = [&[Read(0), Write(1)], &[Read(1), Write(0)]];
    litmus("LB", &programs, true, &[1, 1], &[&[0, 0], &[0, 1], &[1, 0]]);
}

#[test]
fn a_line_never_goes_back_to_its_old_value() {
    let programs: [&[Step]; 2] = [&[Write(0)], &[Read(0), Read(0)]];
    litmus("CoRR", &programs, true, &[1, 0], &[&[0, 0], &[0, 1], &[1, 1]]);
}

#[test]
fn all_nodes_see_two_writes_in_one_order() {
    let programs: [&[Step]; 4] = [&[Write(0)], &[Write(1)], &[Read(0), Read(1)], &[Read(1), Read(0)]];
    litmus("IRIW", &programs, false, &[1, 0, 1, 0], &[&[1, 1, 1, 1], &[1, 0, 0, 0]]);
}
