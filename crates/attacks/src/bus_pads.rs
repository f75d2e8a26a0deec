//! Two lines under one pad: the thesis's counters repeat a GCM nonce, and an attacker on the bus decrypts a line.
//!
//! Every node sends all its peers the same first counter, and counts separately for each peer. So its first lines to
//! two peers are encrypted with the same keystream, and the XOR of the ciphertexts is that of the plaintexts. An
//! attacker who knows one plaintext learns the other.

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        bus::{LINE, Program, run as simulate},
        xor,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "bus-pads",
    title: "A cache line with a secret is read from the bus, because the thesis's counters use a pad of GCM twice",
    knows: "the lines on the bus; what its own process on another processor received; simulated",
    stopped_by: "a nonce that contains sender and receiver, which is the simulator's default",
    page: "bus.md",
    figure: Axes { spent: "pairs of lines heard", gained: "bytes of the secret read" },
    run,
};

/// The data that the victim transfers from processor 0 to processor 2, line by line.
const SECRET: &[u8; 4 * LINE] =
    b"The password of the vault is correct horse battery staple, that of the door is 4711. Both change in \
    May, when the keys of all nodes are made anew and the old lines are worth nothing to anybody who lis\
    tens; until then nobody may know them, least of all Eve.";

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    let targets: [(Target, &str, &[&str]); 4] = [
        (
            Target::Weak,
            "gcm, the thesis's IV with the sender's number",
            &["scheme.name=gcm", "scheme.gcm.iv=faithful-sender"],
        ),
        (Target::Strong, "gcm", &["scheme.name=gcm"]),
        (Target::Strong, "cxl-ide", &["scheme.name=cxl-ide"]),
        (Target::Strong, "i2sems", &["scheme.name=i2sems"]),
    ];
    for (target, name, settings) in targets {
        log.trial(target, name, |cost| read(settings, cost))?;
    }
    Ok(())
}

fn read(settings: &[&str], cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let lines = SECRET.as_chunks::<LINE>().0;
    let known = [0x20; LINE];
    // Processor 0 serves all others. Processor 1 belongs to the attacker, and requests lines whose contents it knows.
    let serves = (0..)
        .zip(lines)
        .fold(Program::default(), |program, (number, line)| program.fill(number, &known).fill(100 + number, line));
    let asks = |first: u64| {
        (0..lines.len() as u64).fold(Program::default().barrier(1, 1), |program, number| program.load(first + number))
    };
    let ran = simulate(settings, vec![serves.barrier(1, 1), asks(0), asks(100)], None)?;
    (cost.queries, cost.step, cost.memory) = (0, "sums of two lines", 2 * SECRET.len() as u64);
    cost.gained(0.0);
    let mut read = Vec::new();
    for (ours, theirs) in ran.between(0, 1).zip(ran.between(0, 2)) {
        read.extend(xor(&xor(&ours.text, &theirs.text), &known));
        cost.queries += 1;
        cost.steps += 1;
        let right = read.chunks(LINE).zip(lines).filter(|(read, line)| read == line).count();
        cost.gained((LINE * right) as f64);
    }
    let right = read == SECRET;
    let shown = String::from_utf8_lossy(read.get(..67).unwrap_or_default()).into_owned();
    Ok((
        right,
        if right { format!("read from the bus: \"{shown}\" and what follows") } else { "what is read is noise".into() },
    ))
}
