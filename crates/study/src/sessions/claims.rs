//! The paper's claims as predicates.

use sealwright::Isa;
use sealwright_measure::{Interval, Verdict};
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::{capacity::Served, measured::Measured, memory::Held, printed::PAPER, speed::Point, tables::printed};
use crate::{
    judgement::{Case, Judged, Judgement, every},
    paper::Sentence,
};

/// Differences smaller than this share do not count as slower.
const MATTERS: f64 = 0.02;

/// The circumstance of the paper's own figures.
const PRINTED: &str = "the paper's own table 2";

/// Every claim of the paper with all its verdicts.
pub(super) fn judge(measured: &Measured) -> Vec<Judged> {
    PAPER.claims.iter().map(|sentence| judged(sentence, measured)).collect()
}

/// A GHASH strategy for each family.
struct Trio {
    name: &'static str,
    gscm: Strategy,
    pre: Strategy,
    on: Strategy,
}

const TRIOS: [Trio; 2] = [
    Trio { name: "the paper's tables", gscm: Strategy::T64k, pre: Strategy::T4k, on: Strategy::T4k },
    Trio { name: "carry-less multiplication", gscm: Strategy::Clmul, pre: Strategy::Clmul, on: Strategy::Clmul },
];

fn judged(sentence: &Sentence, measured: &Measured) -> Judged {
    let mut judged = Judged::new(sentence);
    let ours = |held: &Held| Some(held.accounted);
    let record = |held: &Held| Some(held.record as f64);
    match sentence.id.as_str() {
        "lowest" | "twice" => {
            let predicate = if sentence.id == "lowest" { lowest } else { twice };
            let circumstances: [(&str, Bytes); 3] = [
                (PRINTED, |held| printed(held.spec)),
                ("records here, all accounted for", ours),
                ("records here, without tables", record),
            ];
            for (scope, bytes) in circumstances {
                if let Some(found) = predicate(&measured.memory, bytes) {
                    judged.add(sentence, scope, found);
                }
            }
        }
        "stable-0" | "stable-4k" => {
            let others: &[(&str, f64)] = match sentence.id.as_str() {
                "stable-0" => &[("gcm-pre(0)", 2.65), ("gcm-on(0)", 1.05)],
                _ => &[("gcm-pre(4k)", 36.0), ("gcm-on(4k)", 36.0), ("gcm-pre(8k)", 36.0), ("gcm-on(8k)", 36.0)],
            };
            let scope = format!("a server with {} MiB", measured.budget >> 20);
            if let Some(found) = stable(measured, others) {
                judged.add(sentence, &scope, found);
            }
        }
        "net-pre-40" | "net-on-40" | "net-on-40-256" | "net-1500" => {
            if let Some(found) = measured.network.as_ref().ok().and_then(|found| network(found, &sentence.id)) {
                judged.add(sentence, "the relay, loopback, tables", found);
            }
        }
        "fastest" => {
            for isa in measured.levels() {
                if let Some(found) = fastest(measured, isa) {
                    judged.add(sentence, &format!("every scheme, {isa}"), found);
                }
            }
        }
        other => {
            let Some((bytes, to_pre, least)) = (match other {
                "cpu-pre-40" => Some((40, true, 1.19)),
                "cpu-on-40" => Some((40, false, 1.49)),
                "cpu-pre-1500" => Some((1500, true, 1.07)),
                "cpu-on-1500" => Some((1500, false, 1.2)),
                _ => None,
            }) else {
                return judged;
            };
            let over = measured.software.iter().filter(|point| point.bytes == bytes).map(|point| {
                let figure = point.over[usize::from(!to_pre)];
                let verdict = Verdict::between(figure, least, f64::INFINITY);
                Case { name: format!("{} clients", point.clients), figure, verdict }
            });
            if let Some(found) = every("time over GSCM's", &over.collect::<Vec<_>>()) {
                judged.add(sentence, "software of tables, as in 2009", found);
            }
            for isa in measured.levels() {
                for trio in &TRIOS {
                    let than = if to_pre { SchemeKind::GcmPre(trio.pre) } else { SchemeKind::GcmOn(trio.on) };
                    if let Some(found) = faster(measured, isa, SchemeKind::Gscm(trio.gscm), than, bytes, least) {
                        judged.add(sentence, &format!("{}, {isa}", trio.name), found);
                    }
                }
            }
        }
    }
    judged
}

type Bytes = fn(&Held) -> Option<f64>;

/// The bytes of each scheme over those of GSCM with keys of the same length, where both are known.
fn over_gscm(memory: &[Held], bytes: Bytes, wanted: impl Fn(Spec) -> bool) -> Vec<(Spec, f64)> {
    let gscm = |long| {
        let kind = SchemeKind::Gscm(Strategy::Clmul);
        memory.iter().find(|held| held.spec == Spec { kind, long }).and_then(bytes)
    };
    let over = |held: &Held| Some((held.spec, bytes(held)? / gscm(held.spec.long)?));
    memory.iter().filter(|held| wanted(held.spec)).filter_map(over).collect()
}

fn cases(ratios: Vec<(Spec, f64)>, verdict: impl Fn(Interval) -> Verdict) -> Vec<Case> {
    let case = |(spec, ratio): (Spec, f64)| {
        let figure = Interval::exact(ratio);
        Case { name: spec.to_string(), figure, verdict: verdict(figure) }
    };
    ratios.into_iter().map(case).collect()
}

fn lowest(memory: &[Held], bytes: Bytes) -> Option<Judgement> {
    let others = |spec: Spec| !matches!(spec.kind, SchemeKind::Gscm(_) | SchemeKind::Clear);
    let cases = cases(over_gscm(memory, bytes, others), |ratio| Verdict::above(ratio, 1.0));
    every("bytes over GSCM's", &cases)
}

fn twice(memory: &[Held], bytes: Bytes) -> Option<Judgement> {
    let papers = |spec: Spec| matches!(spec.kind, SchemeKind::GcmPre(x) | SchemeKind::GcmOn(x) if x != Strategy::Clmul);
    let ratios = over_gscm(memory, bytes, papers);
    let most = ratios.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
    let found = every("bytes over GSCM's", &cases(ratios, |ratio| Verdict::between(ratio, 2.0, f64::INFINITY)))?;
    Some(Judgement { evidence: format!("{}; the greatest factor is {most:.0}", found.evidence), ..found })
}

/// Stable clients of GSCM over those of others, each known to a step either way.
fn stable(measured: &Measured, others: &[(&str, f64)]) -> Option<Judgement> {
    let all = measured.served.as_ref().ok()?;
    let gscm = |payload| {
        all.iter().find(|served| served.spec.kind == SchemeKind::Gscm(Strategy::T64k) && served.payload == payload)
    };
    let near = |served: &Served| {
        let at = |steps: u64| (served.stable + steps * served.step) as f64;
        // Not even one step may be none at all.
        Interval { median: at(0).max(1.0), low: at(0).max(1.0), high: at(1) }
    };
    let mut cases = Vec::new();
    for (name, least) in others {
        let spec: Spec = name.parse().ok()?;
        for served in all.iter().filter(|served| served.spec == spec) {
            let gscm = gscm(served.payload).filter(|gscm| !gscm.spec.long)?;
            let figure = crate::judgement::quotient(near(gscm), near(served));
            let verdict = Verdict::between(figure, *least, f64::INFINITY);
            cases.push(Case { name: format!("{spec}, {} bytes", served.payload), figure, verdict });
        }
    }
    every("GSCM's stable clients over", &cases)
}

/// Time over time; both were measured against the same work without encryption, in the same rounds as it.
fn quotient(slow: Point, fast: Point) -> Interval {
    crate::judgement::quotient(slow.ratio, fast.ratio)
}

fn faster(
    measured: &Measured,
    isa: Isa,
    fast: SchemeKind,
    slow: SchemeKind,
    bytes: usize,
    least: f64,
) -> Option<Judgement> {
    let at = |kind, clients| measured.speed.at(isa, Spec { kind, long: false }, clients, bytes);
    let numbers = measured.speed.clients().into_iter();
    let cases = numbers.filter_map(|clients| {
        let figure = quotient(at(slow, clients)?, at(fast, clients)?);
        let verdict = Verdict::between(figure, least, f64::INFINITY);
        Some(Case { name: format!("{clients} clients"), figure, verdict })
    });
    every("time over GSCM's", &cases.collect::<Vec<_>>())
}

/// Time of the relay over its time with GSCM(64k), at every number of clients. Each was measured in turns with the same
/// relay without encryption.
fn network(found: &super::network::NetworkPoints, claim: &str) -> Option<Judgement> {
    let (pre, on) = (SchemeKind::GcmPre(Strategy::T4k), SchemeKind::GcmOn(Strategy::T4k));
    let (slow, long, bytes, [least, most]): (&[SchemeKind], _, _, _) = match claim {
        "net-pre-40" => (&[pre], false, 40, [1.05, f64::INFINITY]),
        "net-on-40" => (&[on], false, 40, [0.95, 1.05]),
        "net-on-40-256" => (&[on], true, 40, [1.08, f64::INFINITY]),
        _ => (&[pre, on], false, 1500, [0.95, 1.05]),
    };
    let mut cases = Vec::new();
    for clients in found.clients() {
        for &kind in slow {
            let at = |kind| found.at(Spec { kind, long }, clients, bytes);
            let (Some(slow), Some(fast)) = (at(kind), at(SchemeKind::Gscm(Strategy::T64k))) else { continue };
            let figure = crate::judgement::quotient(slow.ratio, fast.ratio);
            let name = format!("{}, {clients} clients", slow.spec);
            cases.push(Case { name, figure, verdict: Verdict::between(figure, least, most) });
        }
    }
    every("time over GSCM(64k)'s", &cases)
}

fn fastest(measured: &Measured, isa: Isa) -> Option<Judgement> {
    let recommended = Spec { kind: SchemeKind::Gscm(Strategy::T64k), long: false };
    let points = || measured.speed.points.iter().filter(|point| point.isa == isa);
    let cases = points().filter(|point| point.spec != recommended && point.spec.kind != SchemeKind::Clear);
    let cases = cases.filter_map(|point| {
        let ours = measured.speed.at(isa, recommended, point.clients, point.bytes)?;
        let figure = quotient(*point, ours);
        let name = format!("{}, {} bytes, {} clients", point.spec, point.bytes, point.clients);
        Some(Case { name, figure, verdict: Verdict::above(figure, 1.0 - MATTERS) })
    });
    every("time over GSCM(64k)'s", &cases.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sessions::{memory, speed::SpeedPoints as Speed};

    #[test]
    fn of_memory_the_papers_table_says_yes_and_records_say_no() {
        let memory = Spec::all().into_iter().map(|spec| memory::held(spec, 1 << 20).unwrap()).collect();
        let measured = Measured {
            best: Isa::best(),
            memory,
            peers: Vec::new(),
            speed: Speed::default(),
            network: Err(std::io::Error::other("not run")),
            software: Vec::new(),
            served: Err(std::io::Error::other("not run")),
            budget: 1 << 20,
        };
        let judged = judge(&measured);
        let verdict = |id: &str, scope| judged.iter().find(|one| one.id == id).unwrap().verdict(scope);
        for id in ["lowest", "twice"] {
            assert_eq!(verdict(id, PRINTED), Some(Verdict::Holds), "{id}");
            assert_eq!(verdict(id, "records here, without tables"), Some(Verdict::DoesNotHold), "{id}");
        }
        // What was not measured has no verdict.
        assert!(judged.iter().filter(|one| one.verdicts.is_empty()).count() >= 5);
    }
}
