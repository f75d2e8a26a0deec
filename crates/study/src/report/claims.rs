//! The table of claims: one row per claim, with all details folded inside it.

use sealwright_measure::Verdict;
use serde::Serialize;

use super::{
    mark::{Mark, Placed},
    terms,
};
use crate::{
    judgement::{Judged, Scoped},
    quantity::QuantityKind,
};

/// A row of the table.
#[derive(Serialize)]
pub(super) struct Claim {
    id: String,
    /// The name of the claim: `files/encrypt`.
    name: String,
    study: String,
    short: String,
    sentence: String,
    place: String,
    /// HTML with links to the glossary.
    reading: String,
    rule: Option<String>,
    /// The threshold that we chose, and the paper's own figure for comparison.
    chosen: Option<[String; 2]>,
    untestable: Option<String>,
    /// The overall verdict here, in all circumstances except that of the paper's own figures.
    here: Option<Mark>,
    /// In how many of the circumstances the claim holds.
    tally: String,
    /// The verdict on the paper's own figures.
    own: Option<Mark>,
    /// The position of the paper's number.
    number: Option<Mark>,
    /// The kinds of the figures that the verdicts are based on.
    kinds: Vec<String>,
    verdicts: Vec<Verdicted>,
    /// The sort key: worst verdicts first.
    rank: usize,
}

#[derive(Serialize)]
struct Verdicted {
    scope: String,
    kind: String,
    direction: Option<Mark>,
    number: Option<Mark>,
    evidence: String,
}

impl Claim {
    pub(super) fn new(study: &str, judged: &Judged) -> Claim {
        let here: Vec<&Scoped> = judged.verdicts.iter().filter(|one| one.kind != QuantityKind::Arithmetic).collect();
        let own: Vec<&Scoped> = judged.verdicts.iter().filter(|one| one.kind == QuantityKind::Arithmetic).collect();
        let directions = |all: &[&Scoped]| -> Vec<Verdict> {
            all.iter().filter_map(|one| Some(one.direction.as_ref()?.verdict)).collect()
        };
        let (found, printed) = (directions(&here), directions(&own));
        let places: Vec<Placed> = here.iter().filter_map(|one| placed(one)).collect();
        // A combined position counts as told only if the direction could be told in all of its circumstances
        let all_told = places.iter().all(|placed| placed.told);
        let places: Vec<Placed> = places.into_iter().map(|placed| Placed { told: all_told, ..placed }).collect();
        let holds = found.iter().filter(|verdict| **verdict == Verdict::Holds).count();
        let mut kinds: Vec<QuantityKind> = judged.verdicts.iter().map(|one| one.kind).collect();
        kinds.extend(judged.untestable.iter().map(|_| QuantityKind::Untestable));
        kinds.sort_unstable();
        kinds.dedup();
        let mark = if judged.untestable.is_some() { Some(Mark::UNTESTABLE) } else { overall(&found) };
        let ranks = ["does-not-hold", "differs", "cannot-be-told", "holds", "untestable"];
        Claim {
            id: format!("{study}-{}", judged.id),
            name: format!("{study}/{}", judged.id),
            study: study.to_owned(),
            short: judged.short.clone(),
            sentence: judged.sentence.clone(),
            place: judged.place.clone(),
            reading: terms::linked(&judged.reading),
            rule: judged.rule.clone(),
            chosen: judged.chosen.as_ref().map(|chosen| {
                let under = || own.iter().map(|one| one.evidence()).collect::<Vec<_>>().join("; ");
                [chosen.is.clone(), chosen.own.clone().unwrap_or_else(under)]
            }),
            untestable: judged.untestable.clone(),
            tally: if found.len() > 1 { format!("{holds}/{}", found.len()) } else { String::new() },
            own: overall(&printed),
            number: overall(&places),
            kinds: kinds.iter().map(QuantityKind::to_string).collect(),
            verdicts: judged.verdicts.iter().map(verdicted).collect(),
            rank: mark.map_or(9, |mark| ranks.iter().position(|rank| *rank == mark.class).unwrap_or(9)),
            here: mark,
        }
    }
}

fn verdicted(scoped: &Scoped) -> Verdicted {
    Verdicted {
        scope: scoped.scope.clone(),
        kind: scoped.kind.to_string(),
        direction: scoped.direction.as_ref().map(|found| found.verdict.into()),
        number: placed(scoped).map(Mark::from),
        evidence: scoped.evidence(),
    }
}

/// The position of the paper's number in one circumstance.
fn placed(scoped: &Scoped) -> Option<Placed> {
    let told = scoped.direction.as_ref().is_none_or(|found| found.verdict != Verdict::CannotBeTold);
    Some(Placed { place: scoped.magnitude.as_ref()?.place, told })
}

/// A common mark for several verdicts: theirs if all are equal.
fn overall<T: Copy + PartialEq + Into<Mark>>(all: &[T]) -> Option<Mark> {
    let first = *all.first()?;
    Some(if all.iter().all(|one| *one == first) { first.into() } else { Mark::DIFFERS })
}
