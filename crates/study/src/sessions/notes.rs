//! What surprised here, and what is odd in the paper; every figure in these sentences is computed.

use sealwright_session::{SchemeKind, Spec, Strategy};

use super::{measured::Measured, speed::Point};
use crate::study::Note;

/// A scheme with keys of 128 bits at the best level, 40 bytes, and as many clients as were measured.
fn most(measured: &Measured, kind: SchemeKind) -> Option<Point> {
    let at = |clients: &u32| measured.speed.at(measured.best, Spec { kind, long: false }, *clients, 40);
    measured.speed.clients().iter().rev().find_map(at)
}

/// What this machine says, in a few sentences.
pub(super) fn summary(measured: &Measured) -> String {
    let mut text =
        "The paper saves memory by sharing a key schedule among clients. Most of what it saves was scratch: GCM \
        needs 64 bytes a client, or 32, half or a quarter of GSCM's 128."
            .to_owned();
    let kinds = [
        SchemeKind::GcmPre(Strategy::Clmul),
        SchemeKind::Gscm(Strategy::Clmul),
        SchemeKind::GscmH,
        SchemeKind::GcmOn64,
        SchemeKind::GcmDerived,
    ];
    let says = |kind| {
        let point = most(measured, kind)?;
        Some(format!("{} {:.0} ns for {} clients", point.spec, point.forward.median, point.clients))
    };
    let says: Vec<String> = kinds.into_iter().filter_map(says).collect();
    if !says.is_empty() {
        text += &format!(" To open and seal a packet of 40 bytes takes here: {}.", says.join(", "));
    }
    text
}

pub(super) fn notes(measured: &Measured) -> Vec<Note> {
    let mut notes = vec![
        Note::new(
            "GSCM as printed is broken",
            "Members of a cluster know the main keys, and with them forge what others are sent; with 128-bit keys they find the \
             others' keys from 256 packets. docs/GSCM.md says how. gscm-h is the hardened form. It is measured because the \
             paper did.",
        ),
        Note::new(
            "All of table 2 follows from two formulas",
            "Every cell for GCM is 200 bytes, the keys, and two tables: 200 + 32 (r + 1) + 2 x with the schedules of r rounds, \
             200 + 4 |k| + 2 x with each key of |k| bytes kept twice. The 200 are two contexts of Gladman's code, counters and \
             hashes of the packet at hand, which nobody needs between packets. The factor of 2 between GCM-On(0) and GSCM is \
             this scratch.",
        ),
        Note::new(
            "What the paper's figures do not say",
            "Figures 1 and 2 are drawn without numbers; the text gives percentages, which are the claims judged here. The text \
             compares with GCM(64k)-Pre where figure 2 has GCM(4k)-Pre. \"Faster by 49 %\" is read as the other taking 1.49 \
             times the time.",
        ),
        Note::new(
            "What is not measured here",
            "OpenSSL's connections, because its headers are needed to build against it and a bare system has none. The \
             network of figure 1 is this machine's loopback: no cables, no other machines.",
        ),
    ];
    notes.extend(pre(measured));
    match &measured.network {
        Ok(found) => notes.push(hostile(found)),
        Err(why) => notes.push(Note::new("Figure 1 was skipped", format!("Its relay could not be run here: {why}."))),
    }
    if let Err(why) = &measured.served {
        notes.push(Note::new("Table 4 was skipped", format!("Its server could not be run here: {why}.")));
    }
    notes
}

/// What became of the frames that were put in among the good ones.
fn hostile(found: &super::network::NetworkPoints) -> Note {
    let sum = |count: fn(&super::network::Point) -> u64| found.0.iter().map(count).sum::<u64>();
    Note::new(
        "Forged and replayed frames came among the good ones",
        format!(
            "While figure 1 was measured, {} forged or replayed frames were put in; {} were accepted, and {} good ones were lost.",
            sum(|point| point.bad),
            sum(|point| point.accepted),
            sum(|point| point.lost)
        ),
    )
}

/// Keeping against making anew.
fn pre(measured: &Measured) -> Option<Note> {
    let (pre, on) = (most(measured, SchemeKind::GcmPre(Strategy::Clmul))?, most(measured, SchemeKind::GcmOn64)?);
    if pre.clients != on.clients {
        return None;
    }
    Some(Note::new(
        "To keep round keys costs more than to make them",
        format!(
            "With {} clients, GCM with 448 bytes a client takes {:.0} ns for a packet of 40 bytes and with 64 bytes a client {:.0} ns, \
             round keys and GHASH key made for each packet.",
            pre.clients, pre.forward.median, on.forward.median
        ),
    ))
}
