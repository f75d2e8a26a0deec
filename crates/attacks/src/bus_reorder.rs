//! Lines of two pairs of nodes that are swapped on the bus. Counters per pair cannot detect reordering between pairs.

use sealwright_smp::{
    Outcome,
    attack::{Attack as Tamper, Attacker},
};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::bus::{Program, no_chance, run as simulate},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "bus-reorder",
    title: "A line is delayed until other pairs of nodes have exchanged lines, and nobody notices",
    knows: "the bus: it can hold a line and let others pass; simulated",
    stopped_by: "binding each line to its place in the bus's order (gcm with commands), or one chain for all (SENSS)",
    page: "bus.md",
    figure: Axes { spent: "lines held back", gained: "exchanges that nobody notices" },
    run,
};

/// Lines of each pair.
const LINES: u64 = 8;

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    let targets: [(Target, &str, &[&str]); 4] = [
        (Target::Weak, "gcm", &["scheme.name=gcm"]),
        (Target::Weak, "cxl-ide", &["scheme.name=cxl-ide"]),
        (Target::Strong, "gcm, commands", &["scheme.name=gcm", "scheme.gcm.commands=true"]),
        (Target::Strong, "senss, a MAC for every 8 lines", &["scheme.name=senss", "scheme.senss.authenticate=8"]),
    ];
    for (target, name, settings) in targets {
        log.trial(target, name, |cost| exchange(name, settings, cost))?;
    }
    Ok(())
}

fn exchange(name: &str, settings: &[&str], cost: &mut Cost) -> Result<(bool, String), AttackError> {
    (cost.step, cost.memory) = ("line held back", 64);
    cost.gained(0.0);
    let (mut unnoticed, mut result) = (0, String::new());
    for at in 1..=4 {
        // Two pairs: 0 to 1, and 2 to 3
        let owner = |first: u64| (0..LINES).fold(Program::default(), |p, i| p.store(first + i, i)).barrier(1, 1);
        let reader = |first: u64| (0..LINES).fold(Program::default().barrier(1, 1), |p, i| p.load(first + i));
        let programs = vec![owner(0), reader(0), owner(100), reader(100)];
        let ran = simulate(settings, programs, Some(Attacker::new(Tamper::ReorderOther, at)))?;
        if !ran.struck() {
            return Err(no_chance(name));
        }
        (cost.queries, cost.steps) = (cost.queries + 1, cost.steps + 1);
        unnoticed += u32::from(ran.outcome == Outcome::Completed);
        cost.gained(unnoticed);
        result = format!("{unnoticed} of {} exchanges pass; {}", cost.queries, ran.ended());
    }
    Ok((unnoticed > 0, result))
}
