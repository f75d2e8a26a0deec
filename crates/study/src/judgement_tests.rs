#![allow(clippy::unwrap_used)]
use super::*;
use crate::{rule::NumberPosition, studies::STUDIES};

#[test]
fn every_claim_of_every_paper_can_be_judged() {
    let mut ids = Vec::new();
    for study in STUDIES {
        for claim in &study.paper().claims {
            let name = format!("{}/{}", study.name(), claim.id);
            rule::read(claim.rule.as_deref(), claim.number.as_ref().map(|number| &number.of[..])).unwrap();
            let testable = claim.rule.is_some() || claim.number.is_some();
            assert!(testable != claim.untestable.is_some(), "{name}: a rule or a reason why not");
            if let Some(number) = &claim.number {
                assert!(number.printed.is_some() != number.against.is_some(), "{name}: a number, or where it is");
            }
            assert!(!ids.contains(&name), "{name} twice");
            ids.push(name);
        }
    }
    let counts: Vec<usize> = STUDIES.iter().map(|study| study.paper().claims.len()).collect();
    let least = [11, 17, 24, 17, 14];
    assert!(counts.iter().zip(least).all(|(count, least)| *count >= least), "{counts:?}");
}

fn sentence(rule: &str) -> Sentence {
    let text = format!(
        "id = 'a'\nshort = 's'\nsentence = 't'\nplace = 'p'\nreading = 'r'\nrule = \"{rule}\"\n\
         number = {{ of = \"'x'\", printed = [2.0, 2.0] }}\nonly = ['in*']"
    );
    toml::from_str(&text).unwrap()
}

#[test]
fn circumstances_have_verdicts_of_their_own() {
    let quantity = |scope: &str, value| Quantity {
        name: "x".into(),
        scope: scope.into(),
        kind: QuantityKind::Measured,
        figure: Interval::exact(value),
        once: false,
    };
    let all = [quantity("in one", 2.0), quantity("in two", 0.5), quantity("out", 3.0)];
    let judged = judge(&[sentence("every 'x' > 1")], &all).unwrap().remove(0);
    assert_eq!(judged.verdict("in one"), Some(Verdict::Holds));
    assert_eq!(judged.verdict("in two"), Some(Verdict::DoesNotHold));
    assert_eq!(judged.verdict("out"), None, "only those that may judge");
    let places: Vec<NumberPosition> = judged.verdicts.iter().map(|one| one.magnitude.as_ref().unwrap().place).collect();
    assert_eq!(places, [NumberPosition::Inside, NumberPosition::Above]);
    assert_eq!(judged.verdicts[0].evidence(), "x: 2.00. The paper's number: 2.00, here 2.00 (x)");
    let json = serde_json::to_string(&judged).unwrap();
    assert_eq!(serde_json::from_str::<Judged>(&json).unwrap(), judged);
}

/// A number in a rule other than 0 and 1 is a threshold. The claim must state it as ours, and show the paper's own
/// figure.
#[test]
fn thresholds_stand_beside_the_papers_own_figures() {
    // For counts and shares, a number between all and none is not a threshold
    let counts = ["attack succeeds", "share of strikes", "values besides", "other blocks", "memory blocks"];
    let mut found = 0;
    for study in crate::studies::STUDIES {
        for judged in judge(&study.paper().claims, &study.printed()).unwrap() {
            let name = format!("{}/{}", study.name(), judged.id);
            let threshold = judged.rule.iter().flat_map(|rule| rule.split(" and ")).any(|clause| {
                let outside: String = clause.split('\'').step_by(2).collect();
                let numbers = outside.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
                let counted = counts.iter().any(|start| clause.contains(&format!("'{start}")));
                !counted && { numbers }.any(|number| number != 0.0 && number != 1.0)
            });
            let own = judged.verdicts.iter().any(|one| one.kind == QuantityKind::Arithmetic);
            match &judged.chosen {
                Some(chosen) => assert!(chosen.own.is_some() || own, "{name} shows no figure of the paper's"),
                None => assert!(!threshold, "{name} has a threshold: {:?}", judged.rule),
            }
            found += usize::from(threshold);
        }
    }
    assert!(found > 20, "{found}");
}

/// Stored files may contain arbitrary counts.
#[test]
fn more_cases_than_can_be_counted() {
    assert_eq!(tally(&[usize::MAX, 2, 0], &["a", "b", "c"]), format!("of {0} cases, a in {0}, b in 2; ", usize::MAX));
}

#[test]
fn a_range_has_the_digits_that_it_needs() {
    assert_eq!(range(1.325, 1.335), "1.325 to 1.335");
    assert_eq!(range(4.0, 9.0), "4.00 to 9.00");
    assert_eq!(range(0.5, 0.5), "0.500");
    assert_eq!(range(1028.5, 1029.5), "1028.5 to 1029.5");
    assert_eq!(range(2.0 / 3.0, 1.0), "0.667 to 1.00");
}

#[test]
fn what_was_not_tried_is_in_the_evidence() {
    let quantity = Quantity {
        name: "x/1".into(),
        scope: "in".into(),
        kind: QuantityKind::Measured,
        figure: Interval::exact(2.0),
        once: false,
    };
    let judged = judge(&[sentence("every 'x/{n:1,2}' > 1")], &[quantity]).unwrap().remove(0);
    assert_eq!(judged.verdicts[0].evidence(), "x/1: 2.00. Not tried: n 2");
}
