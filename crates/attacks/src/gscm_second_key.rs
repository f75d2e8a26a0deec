//! GSCM: with K1, one known block and the cluster's main key give K2. So a client has 128 secret bits, not 256.

use sealwright::Block;
use sealwright_session::frame;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        aes::Rounds,
        cluster::{Cluster, Seen},
        xor,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gscm-second-key",
    title: "An insider who learns a client's K1 computes its K2 from one known block",
    knows: "K1 of the victim, the cluster's main key, one packet of the victim and its plaintext",
    stopped_by: "nothing in GSCM or GSCM-H except secrecy of the cluster's key: here an outsider fails",
    page: "gscm-keys.md",
    figure: Axes { spent: "packets seen", gained: "further packets read" },
    run,
};

const FIRST: &[u8] = b"a text that is known";
const SECOND: &[u8] = b"a text that nobody has told";

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    for (scheme, x) in [("gscm(clmul)", 5), ("gscm(clmul)-256", 9), ("gscm-h", 10), ("gscm-h-256", 14)] {
        log.trial(Target::Weak, format!("{scheme}, by an insider"), |cost| recover(scheme, x, true, cost))?;
        log.trial(Target::Strong, format!("{scheme}, by an outsider"), |cost| recover(scheme, x, false, cost))?;
    }
    Ok(())
}

fn recover(scheme: &str, x: usize, insider: bool, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let mut cluster = Cluster::new(scheme, 0x13)?;
    let [seen, next] = [Seen::of(&cluster.victim.seal(9, FIRST)?), Seen::of(&cluster.victim.seal(9, SECOND)?)];
    let mut rounds = if insider { cluster.rounds() } else { Rounds::expand(&vec![0; scheme_key_len(scheme)]) };
    // K1 is given, combined with the nonce.
    rounds.0[0] = cluster.leaked_first_key();
    let plain = |data: &[u8]| frame::payload(&frame::unsealed(9, data)).to_vec();
    let keystream: Block = xor(&seen.ciphertext, &plain(FIRST))[..16].try_into().expect("a block");
    // The state of round x without its key, computed forwards and backwards: the difference is K2.
    rounds.0[x] = [0; 16];
    let front = rounds.forward_to(&seen.counter(2), x);
    let back = rounds.back_to(&keystream, x);
    rounds.0[x] = core::array::from_fn(|i| front[i] ^ back[i]);
    (cost.queries, cost.steps, cost.step, cost.memory) = (1, 1, "encryption of a block", 256);
    let read = next.decrypt(&rounds);
    let right = read == plain(SECOND);
    Ok((right, if right { "the next packet is read" } else { "the next packet is not read" }.into()))
}

fn scheme_key_len(scheme: &str) -> usize {
    if scheme.ends_with("-256") { 32 } else { 16 }
}
