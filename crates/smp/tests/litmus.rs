//! Litmus tests: small programs on two lines, in every order that the protocols allow. What sequential consistency
//! forbids never comes up where a processor waits for each line, or for all of them at a fence, and what is allowed
//! does. Where misses overlap without a fence, what weak ordering allows comes up.
#![allow(clippy::unwrap_used)]

mod model;

use std::collections::{BTreeSet, HashSet};

use model::World;
use sealwright_smp::{mosi::Event, protocol::Protocol};

/// An access of a program to line 0 or 1, or a wait for all that are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Write(usize),
    Read(usize),
    Fence,
}
use Step::{Fence, Read, Write};

/// Programs and lines at a moment. Every line is 0 first and 1 once it is written; no line is written twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    lines: [World; 2],
    written: [bool; 2],
    /// Steps that each program has begun, and those of them that wait for their line.
    begun: Vec<usize>,
    waiting: Vec<Vec<usize>>,
    /// What each step of each program has read.
    read: Vec<Vec<Option<u8>>>,
}

impl Step {
    fn line(self) -> Option<usize> {
        match self {
            Write(line) | Read(line) => Some(line),
            Fence => None,
        }
    }
}

impl Moment {
    /// Takes in what became of `line`: accesses that were done. Those that joined follow in the program's order, on the
    /// same data; a store may have to ask anew.
    fn settle(mut self, programs: &[&[Step]], line: usize) -> Moment {
        let mut loads = std::mem::take(&mut self.lines[line].loads);
        for (node, program) in programs.iter().enumerate() {
            let mut value = None;
            while self.lines[line].nodes[node].free()
                && let Some(at) = self.waiting[node].iter().position(|step| program[*step].line() == Some(line))
            {
                let step = self.waiting[node][at];
                let first = value.is_none();
                match program[step] {
                    Write(_) if first => value = Some(1),
                    Write(_) => {
                        self.lines[line] = self.lines[line].access(node, Event::Store).expect("a line that is there");
                        if !self.lines[line].nodes[node].free() {
                            break;
                        }
                        value = Some(1);
                    }
                    _ if first => {
                        let place = loads.iter().position(|(by, _)| *by == node).expect("a read that is done");
                        value = Some(u8::from(loads.remove(place).1 && self.written[line]));
                    }
                    _ => {}
                }
                if let Write(_) = program[step] {
                    self.written[line] = true;
                } else {
                    self.read[node][step] = value;
                }
                self.waiting[node].remove(at);
            }
        }
        self
    }

    /// What may come next, where each processor has so many registers.
    fn next(&self, programs: &[&[Step]], evicts: bool, mshrs: usize) -> Vec<Moment> {
        let mut all = Vec::new();
        let with = |line: usize, world: World| {
            let mut moment = self.clone();
            moment.lines[line] = world;
            moment
        };
        for line in 0..2 {
            all.extend(self.lines[line].steps().into_iter().map(|world| with(line, world).settle(programs, line)));
            for node in (0..programs.len()).filter(|_| evicts) {
                all.extend(self.lines[line].access(node, Event::Replace).map(|world| with(line, world)));
            }
        }
        for (node, program) in programs.iter().enumerate() {
            let Some(step) = program.get(self.begun[node]) else { continue };
            let waiting = &self.waiting[node];
            if (*step == Fence || mshrs == 1) && !waiting.is_empty() {
                continue;
            }
            let mut moment = self.clone();
            moment.begun[node] += 1;
            let (line, event) = match step {
                Write(line) => (*line, Event::Store),
                Read(line) => (*line, Event::Load),
                Fence => {
                    all.push(moment);
                    continue;
                }
            };
            moment.waiting[node].push(self.begun[node]);
            let under_way: BTreeSet<_> = waiting.iter().map(|step| program[*step].line()).collect();
            if under_way.contains(&Some(line)) {
                all.push(moment);
            } else if self.lines[line].nodes[node].free()
                && under_way.len() < mshrs
                && let Some(world) = self.lines[line].access(node, event)
            {
                moment.lines[line] = world;
                all.push(moment.settle(programs, line));
            }
        }
        all
    }
}

/// Every outcome: what all programs have read, in their order.
fn outcomes(protocol: Protocol, programs: &[&[Step]], evicts: bool, mshrs: usize) -> BTreeSet<Vec<u8>> {
    let world = || World::new(protocol, programs.len());
    let count = programs.len();
    let first = Moment {
        lines: [world(), world()],
        written: [false; 2],
        begun: vec![0; count],
        waiting: vec![Vec::new(); count],
        read: programs.iter().map(|program| vec![None; program.len()]).collect(),
    };
    let (mut known, mut open, mut found) = (HashSet::from([first.clone()]), vec![first], BTreeSet::new());
    while let Some(moment) = open.pop() {
        let ended = |(begun, program): (&usize, &&[Step])| *begun == program.len();
        if moment.begun.iter().zip(programs).all(ended) && moment.waiting.iter().all(Vec::is_empty) {
            found.insert(moment.read.concat().into_iter().flatten().collect());
            continue;
        }
        for next in moment.next(programs, evicts, mshrs) {
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

/// Tries a program under every protocol: as it is where a processor waits for each line, and with a fence between all
/// steps where misses overlap. Neither gives `forbidden`, both give what is allowed. Misses that overlap without a
/// fence give both, if `weak`.
fn litmus(name: &str, programs: &[&[Step]], evicts: bool, forbidden: &[u8], allowed: &[&[u8]], weak: bool) {
    let fenced = |program: &&[Step]| program.iter().flat_map(|step| [Fence, *step]).collect::<Vec<_>>();
    let fenced: Vec<Vec<Step>> = programs.iter().map(fenced).collect();
    let fenced: Vec<&[Step]> = fenced.iter().map(Vec::as_slice).collect();
    for protocol in Protocol::ALL {
        for (what, programs, mshrs, weak) in
            [("waiting", programs, 1, false), ("with fences", &fenced, 2, false), ("without fences", programs, 2, weak)]
        {
            let found = outcomes(protocol, programs, evicts, mshrs);
            assert_eq!(found.contains(forbidden), weak, "{name} {what} under {protocol:?}: {forbidden:?} in {found:?}");
            for outcome in allowed {
                let comes = found.contains(*outcome);
                assert!(comes, "{name} {what} under {protocol:?}: {outcome:?} never came up in {found:?}");
            }
        }
    }
}

#[test]
fn store_buffering_never_reads_two_old_values() {
    let programs: [&[Step]; 2] = [&[Write(0), Read(1)], &[Write(1), Read(0)]];
    litmus("SB", &programs, true, &[0, 0], &[&[0, 1], &[1, 0], &[1, 1]], true);
}

#[test]
fn a_message_is_there_when_its_flag_is() {
    let programs: [&[Step]; 2] = [&[Write(0), Write(1)], &[Read(1), Read(0)]];
    litmus("MP", &programs, true, &[1, 0], &[&[0, 0], &[0, 1], &[1, 1]], true);
}

#[test]
fn loads_come_before_the_stores_that_follow_them() {
    let programs: [&[Step]; 2] = [&[Read(0), Write(1)], &[Read(1), Write(0)]];
    litmus("LB", &programs, true, &[1, 1], &[&[0, 0], &[0, 1], &[1, 0]], true);
}

#[test]
fn a_line_never_goes_back_to_its_old_value() {
    let programs: [&[Step]; 2] = [&[Write(0)], &[Read(0), Read(0)]];
    litmus("CoRR", &programs, true, &[1, 0], &[&[0, 0], &[0, 1], &[1, 1]], false);
}

#[test]
fn a_processor_reads_what_it_wrote() {
    let programs: [&[Step]; 2] = [&[Read(0), Write(0), Read(0), Read(1)], &[Read(0), Write(1), Read(0)]];
    for (protocol, mshrs) in Protocol::ALL.into_iter().flat_map(|protocol| [1, 2].map(|mshrs| (protocol, mshrs))) {
        let found = outcomes(protocol, &programs, true, mshrs);
        assert!(found.iter().all(|read| read[..2] == [0, 1]), "{protocol:?} {mshrs}: {found:?}");
        assert!(found.len() > 4, "{protocol:?} {mshrs}: {found:?}");
    }
}

#[test]
fn all_nodes_see_two_writes_in_one_order() {
    let programs: [&[Step]; 4] = [&[Write(0)], &[Write(1)], &[Read(0), Read(1)], &[Read(1), Read(0)]];
    litmus("IRIW", &programs, false, &[1, 0, 1, 0], &[&[1, 1, 1, 1], &[1, 0, 0, 0]], true);
}
