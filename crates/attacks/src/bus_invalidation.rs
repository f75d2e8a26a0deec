//! An invalidation that is suppressed for one processor, which then continues to read a stale copy.

use sealwright_smp::attack::{Attack as Tamper, Attacker};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::bus::{Program, no_chance, run as simulate},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "bus-invalidation",
    title: "A processor keeps using a revoked right, because the attacker suppressed the invalidation on the bus",
    knows: "the bus: it can suppress a command for one node; simulated",
    stopped_by: "commands that are counted and authenticated like lines (gcm with commands, CXL IDE)",
    page: "bus.md",
    figure: Axes { spent: "loads after the revocation", gained: "loads that still see the right" },
    run,
};

/// The line that holds an access right, and its value while the right is granted.
const RIGHT: u64 = 7;
const GRANTED: u64 = 1;

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    let targets: [(Target, &str, &[&str]); 5] = [
        (Target::Weak, "gcm", &["scheme.name=gcm"]),
        (Target::Weak, "senss", &["scheme.name=senss"]),
        (Target::Strong, "gcm, commands", &["scheme.name=gcm", "scheme.gcm.commands=true"]),
        (Target::Strong, "cxl-ide", &["scheme.name=cxl-ide"]),
        (Target::Strong, "gcm, nobody on the bus", &["scheme.name=gcm"]),
    ];
    for (target, name, settings) in targets {
        let attacked = !name.ends_with("nobody on the bus");
        log.trial(target, name, |cost| revoke(name, settings, attacked, cost))?;
    }
    Ok(())
}

fn revoke(name: &str, settings: &[&str], attacked: bool, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    (cost.queries, cost.step, cost.memory) = (1, "command kept from a node", 64);
    cost.point(0.0, 0.0);
    let (mut harm, mut result) = (false, String::new());
    for loads in [1u32, 2, 4, 8, 16] {
        // Processor 0 grants the right, the victim reads it; processor 0 revokes it, the victim reads it again
        let grants = Program::default().store(RIGHT, GRANTED).barrier(1, 1).barrier(2, 1).store(RIGHT, 0).barrier(3, 1);
        let victim = Program::default().barrier(1, 1).load(RIGHT).barrier(2, 1).barrier(3, 1);
        // Further traffic, so that a unit that counts commands can notice the gap
        let victim = (0..u64::from(loads)).fold(victim, |program, at| program.load(RIGHT).load(50 + at));
        let other = Program::default().barrier(1, 1).barrier(2, 1).barrier(3, 1);
        let attacker = attacked.then(|| Attacker::new(Tamper::DropInvalidation, 3));
        let ran = simulate(settings, vec![grants, victim, other], attacker)?;
        let stale = ran.machine.wrong_reads().unwrap_or(0);
        if attacked && !ran.struck() {
            return Err(no_chance(name));
        }
        cost.steps += u64::from(ran.struck());
        cost.point(loads, stale as f64);
        let unnoticed = ran.outcome == sealwright_smp::Outcome::Completed;
        harm |= unnoticed && stale > 0 && ran.word(1, RIGHT) == GRANTED;
        result = match stale {
            0 => format!("no load sees the old value; {}", ran.ended()),
            _ => format!("{stale} of {loads} loads still see the right; {}", ran.ended()),
        };
    }
    Ok((harm, result))
}
