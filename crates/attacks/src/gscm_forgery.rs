//! GSCM as printed: all clients of a cluster share one GHASH key, so an insider can forge messages of another client.

use sealwright_session::frame;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        cluster::{Cluster, Seen},
        ghash::ghash,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gscm-forgery",
    title: "A member of a GSCM cluster changes another client's packet to any text of its choice",
    knows: "its own grant (and so the cluster's main key and GHASH key), one packet of the victim and its plaintext",
    stopped_by: "a GHASH key for each client: gscm-h, or any GCM scheme",
    page: "gscm-forgery.md",
    figure: Axes { spent: "packets seen", gained: "forgeries accepted" },
    run,
};

const SENT: &[u8] = b"pay 10 to bob";
const FORGED: &[u8] = b"pay 99 to eve";

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    for (scheme, target) in [
        ("gscm(clmul)", Target::Weak),
        ("gscm(clmul)-256", Target::Weak),
        ("gscm-h", Target::Strong),
        ("gcm-on64", Target::Strong),
    ] {
        log.trial(target, scheme, |cost| forge(scheme, cost))?;
    }
    Ok(())
}

fn forge(scheme: &str, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let mut cluster = Cluster::new(scheme, 0x51)?;
    let seen = Seen::of(&cluster.victim.seal(9, SENT)?);
    // The tag is GHASH xor a mask that depends on the nonce alone.
    let h = cluster.h();
    let mask = cluster.mask(h, &seen);
    // The plaintext is known, and so the keystream.
    let plain = |data: &[u8]| frame::payload(&frame::unsealed(9, data)).to_vec();
    let change: Vec<u8> = plain(SENT).iter().zip(plain(FORGED)).map(|(old, new)| old ^ new).collect();
    let ciphertext: Vec<u8> = seen.ciphertext.iter().zip(change).map(|(c, change)| c ^ change).collect();
    let tag = (ghash(h, &seen.header, &ciphertext) ^ mask).to_be_bytes();
    (cost.queries, cost.steps, cost.step, cost.memory) = (1, 2, "GHASH of a packet", 64);
    let read = cluster.accepts(&Seen { header: seen.header, ciphertext, tag }.bytes());
    Ok(match read {
        Some(payload) if payload == plain(FORGED) => (true, "the server reads \"pay 99 to eve\"".into()),
        _ => (false, "the server refuses the forged packet".into()),
    })
}
