//! Observations on the results and on the paper. Every figure in these sentences is computed.

use sealwright_measure::Interval;
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::{measured::Measured, speed::Point};
use crate::study::Note;

/// A scheme with keys of 128 bits at the best level, with packets of 40 bytes and the largest measured number of
/// clients.
fn most(measured: &Measured, kind: SchemeKind) -> Option<Point> {
    let at = |clients: &u32| measured.speed.at(measured.best, Spec { kind, long: false }, *clients, 40);
    measured.speed.clients().iter().rev().find_map(at)
}

/// The result on this machine, in a few sentences.
pub(super) fn summary(measured: &Measured) -> String {
    let mut text =
        "The paper saves memory by sharing a key schedule among clients. Most of the memory that it saves was scratch space: \
        GCM needs 64 bytes per client, or 32, which is half or a quarter of the 128 bytes of GSCM."
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
        text += &format!(
            " On this machine, it takes this long to open and seal a packet of 40 bytes: {}.",
            says.join(", ")
        );
    }
    text
}

pub(super) fn notes(measured: &Measured) -> Vec<Note> {
    let mut notes = vec![
        Note::new(
            "GSCM as published is broken",
            "Members of a cluster know the main keys. With these keys they can forge packets to other members, and \
             with 128-bit keys they can find the keys of other members from 256 packets. docs/GSCM.md describes the \
             attacks. gscm-h is the hardened form. GSCM is measured because the paper measured it.",
        ),
        Note::new(
            "All of table 2 follows from two formulas",
            "Every cell for GCM is the sum of 200 bytes, the keys, and two tables: 200 + 32 (r + 1) + 2 x with key schedules of r \
             rounds, and 200 + 4 |k| + 2 x with each key of |k| bytes stored twice. The 200 bytes are two contexts of Gladman's \
             code: counters and hashes of the current packet, which are not needed between packets. This scratch space is the \
             factor of 2 between GCM-On(0) and GSCM.",
        ),
        Note::new(
            "What the paper's figures leave open",
            "Figures 1 and 2 have no numbers. The text gives percentages, which are the claims that are judged here. The text \
             compares with GCM(64k)-Pre, but figure 2 shows GCM(4k)-Pre. \"Faster by 49 %\" is interpreted as: the other scheme \
             takes 1.49 times as long.",
        ),
        Note::new(
            "What is not measured here",
            "The connections of OpenSSL are not measured, because that needs OpenSSL's headers, which a minimal system does not \
             have. The line of figure 1 is one between two network namespaces of this machine with a token bucket of 100 Mbit/s at \
             either end, without cables and other machines; all 50 computers share it, as they share the server's line.",
        ),
    ];
    notes.extend(pre(measured));
    match &measured.network {
        Ok(found) => notes.push(hostile(found)),
        Err(why) => notes.push(Note::new(
            "Figure 1 was skipped",
            format!("None of its points could be measured on this machine: {why}."),
        )),
    }
    if let Some(why) = measured.network.as_ref().ok().and_then(|found| found.unshaped.as_ref()) {
        let text = format!(
            "{why}. The line's part of figure 1 is therefore computed from the length of frames, which does not tell how \
             far the relay works while the line does: a circumstance of its own, with wide intervals."
        );
        notes.push(Note::new("Figure 1 was not measured whole over a shaped line", text));
    }
    notes.extend(measured.network.as_ref().ok().and_then(failed));
    if let Err(why) = &measured.served {
        notes.push(Note::new("Table 4 was skipped", format!("Its server could not run on this machine: {why}.")));
    }
    notes
}

/// What of figure 1 could not be measured.
fn failed(found: &super::network::NetworkPoints) -> Option<Note> {
    let text = format!("The rest was measured. What failed: {}.", found.failed.join("; "));
    (!found.failed.is_empty()).then(|| Note::new("Some points of figure 1 are missing", text))
}

/// Whether forged or replayed frames were accepted.
fn hostile(found: &super::network::NetworkPoints) -> Note {
    let sum = |count: fn(&super::network::Point) -> u64| found.points.iter().map(count).sum::<u64>();
    Note::new(
        "Forged and replayed frames",
        format!(
            "While figure 1 was measured, {} forged or replayed frames were sent; {} of them were accepted, and {} good frames were lost.",
            sum(|point| point.bad),
            sum(|point| point.accepted),
            sum(|point| point.lost)
        ),
    )
}

/// What the time with stored round keys divided by that with computed ones says.
fn storing(stored_over_computed: Interval) -> &'static str {
    match stored_over_computed {
        Interval { low, .. } if low > 1.0 => "It costs more to store round keys than to compute them",
        Interval { high, .. } if high < 1.0 => "It costs less to store round keys than to compute them",
        _ => "Storing round keys or computing them: neither clearly costs less",
    }
}

/// Stored round keys compared with computed ones.
fn pre(measured: &Measured) -> Option<Note> {
    let (pre, on) = (most(measured, SchemeKind::GcmPre(Strategy::Clmul))?, most(measured, SchemeKind::GcmOn64)?);
    if pre.clients != on.clients {
        return None;
    }
    // Each was measured in the same rounds with the same work without encryption
    let stored_over_computed = pre.ratio.over(on.ratio)?;
    Some(Note::new(
        storing(stored_over_computed),
        format!(
            "With {} clients, GCM with 448 bytes per client takes {:.0} ns for a packet of 40 bytes. With 64 bytes per client, it takes \
             {:.0} ns, although it computes round keys and GHASH key for each packet.",
            pre.clients, pre.forward.median, on.forward.median
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::{super::network::NetworkPoints, *};

    #[test]
    fn missing_points_are_named() {
        let found = NetworkPoints { failed: vec!["gscm(64k): it stalled".to_owned()], ..NetworkPoints::default() };
        assert!(failed(&found).is_some_and(|note| format!("{note:?}").contains("gscm(64k): it stalled")));
        assert!(failed(&NetworkPoints::default()).is_none());
    }

    #[test]
    fn the_title_follows_from_the_interval() {
        let said = |low, high| storing(Interval::new(f64::midpoint(low, high), low, high));
        assert!(said(1.1, 1.3).contains("costs more to store"));
        assert!(said(0.7, 0.9).contains("costs less to store"));
        assert!(said(0.9, 1.3).contains("neither"));
    }
}
