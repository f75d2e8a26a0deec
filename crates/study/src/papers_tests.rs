//! Tests of `docs/PAPERS.md`: it must name every claim and no other, and its statements on the papers' own figures
//! must agree with the verdicts. A number that is attributed to a paper must occur in the paper's sentence.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, fs, path::Path};

use crate::{judgement::judge, studies::STUDIES};

/// The name of a claim, and what the page says of the paper's own figures, if anything.
type Named = (String, Option<String>);

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/PAPERS.md")).unwrap()
}

/// The references in brackets: `study/claim`, or `study/claim; own figures: holds`.
fn named(text: &str) -> Vec<Named> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = |part: &str| {
        let inside = part.split(']').next()?;
        let (name, rest) = inside.split_once('`')?;
        Some((name.to_owned(), rest.strip_prefix("; own figures: ").map(str::to_owned)))
    };
    text.split("[`").skip(1).filter_map(name).collect()
}

#[test]
fn the_page_says_what_the_papers_own_figures_say() {
    let mut wrong = Vec::new();
    let found = named(&document());
    for study in STUDIES {
        for judged in judge(&study.paper().claims, &study.printed()).unwrap() {
            let name = format!("{}/{}", study.name(), judged.id);
            let own = judged.verdicts.iter().find_map(|one| Some(one.direction.as_ref()?.verdict.to_string()));
            let said: Vec<&Named> = found.iter().filter(|(claim, _)| *claim == name).collect();
            if said.is_empty() || said.iter().any(|(_, said)| *said != own) {
                wrong.push(format!("{name}: the page has {said:?}, the figures say {own:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_names_no_claim_that_there_is_not() {
    let known: BTreeSet<String> = STUDIES
        .iter()
        .flat_map(|study| study.paper().claims.iter().map(|claim| format!("{}/{}", study.name(), claim.id)))
        .collect();
    let unknown: Vec<String> =
        named(&document()).into_iter().map(|named| named.0).filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The line at the top of the report shows results of this machine, so its claim must be judged by more than the
/// paper's own figures.
#[test]
fn the_card_of_every_paper_points_to_a_claim_that_is_judged_here() {
    for study in STUDIES {
        let (name, glance) = (study.name(), &study.paper().glance);
        let claim = study.paper().claim(&glance.claim).unwrap_or_else(|| panic!("{name}: no claim {}", glance.claim));
        assert!(claim.untestable.is_none() && claim.rule.is_some(), "{name}: {} has no direction", glance.claim);
        let printed: BTreeSet<String> = study.printed().into_iter().map(|quantity| quantity.scope).collect();
        let elsewhere = claim.only.is_empty() || claim.only.iter().any(|only| !printed.contains(only));
        assert!(elsewhere, "{name}: {} is judged by the paper alone", glance.claim);
    }
}

/// Every sentence in a paragraph of findings is based on a claim, or explains a neighbouring sentence.
#[test]
fn every_paragraph_of_findings_names_its_claims() {
    let page = document();
    let findings = page.split("\n\n").filter(|paragraph| {
        ["**Right", "**Not right", "**Depends", "**Cannot be told"].iter().any(|head| paragraph.starts_with(head))
    });
    let mut count = 0;
    for paragraph in findings {
        assert!(paragraph.contains("[`"), "{paragraph}");
        count += 1;
    }
    assert!(count >= 13, "{count} paragraphs");
}

/// Prefixes of the names of quantities that are the same on every machine: attacks, simulation, synthesis,
/// definitions.
const EVERYWHERE: [&str; 21] = [
    "ALMs",
    "attack succeeds",
    "bits of text",
    "bits of the longest",
    "bits of the sum",
    "bits that brute",
    "bytes :",
    "bytes for 200",
    "bytes kept",
    "bytes of",
    "bytes prepared",
    "largest gain",
    "latency",
    "loss",
    "memory blocks",
    "other blocks",
    "points lost",
    "share of lines",
    "share of strikes",
    "values besides",
    "512 bits",
];
/// Words with which a sentence allows for a different result on another machine.
const CAREFUL: [&str; 6] = ["may", "depends", "whether", "need not", "not always", "matter of"];

/// Whether a sentence contains one of these words.
fn careful(sentence: &str) -> bool {
    let words: Vec<&str> = sentence.split(|c: char| !c.is_alphabetic()).collect();
    CAREFUL.iter().any(|word| match word.split_once(' ') {
        None => words.iter().any(|one| one.eq_ignore_ascii_case(word)),
        Some(_) => sentence.contains(word),
    })
}

#[test]
fn what_another_machine_can_refute_is_not_careful() {
    for refutable in ["GCM is always faster", "GCM is faster where blocks can be encrypted side by side", "maybe"] {
        assert!(!careful(refutable), "{refutable}");
    }
    for open in ["GCM may be faster", "Whether GCM is faster", "GCM is not always faster"] {
        assert!(careful(open), "{open}");
    }
}

/// A sentence that is based on measurements must allow for other results, unless it is about the paper's own figures.
#[test]
fn sentences_that_depend_on_the_machine_say_so() {
    let measured: BTreeSet<String> = STUDIES
        .iter()
        .flat_map(|study| study.paper().claims.iter().map(move |claim| (study, claim)))
        .filter(|(_, claim)| {
            let of = claim.number.as_ref().map(|number| &number.of[..]);
            let text = format!("{} {}", claim.rule.as_deref().unwrap_or_default(), of.unwrap_or_default());
            let names: Vec<&str> = text.split('\'').skip(1).step_by(2).collect();
            names.iter().any(|name| !EVERYWHERE.iter().any(|start| name.starts_with(start)))
        })
        .map(|(study, claim)| format!("{}/{}", study.name(), claim.id))
        .collect();
    assert!(measured.len() > 40, "{measured:?}");
    let page = document();
    let bold = page.split("\n\n").filter(|text| text.starts_with("**Right") || text.starts_with("**Not right"));
    let mut wrong = Vec::new();
    for paragraph in bold {
        let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in text.split(". ") {
            let bare = named(sentence).into_iter().filter(|(name, own)| own.is_none() && measured.contains(name));
            wrong.extend(bare.filter(|_| !careful(sentence)).map(|(name, _)| format!("{name}: {sentence}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Claims with a number that does not occur in their sentence, and the source of the number.
const DERIVED: [(&str, &str); 1] = [(
    "cores/parallel",
    "512 bits, by which the table's rates follow from its clocks; 1500 bytes in 24 beats are 500 of them",
)];

/// The numbers in a sentence, also written as factors: 4X, 2.8, 33 % (1.33), 3700 % (37), four (4).
fn numbers(sentence: &str) -> Vec<f64> {
    let mut found = Vec::new();
    for word in sentence.split(|c: char| !c.is_ascii_alphanumeric() && c != '.') {
        let word = word.trim_matches('.');
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        if let Ok(number) = digits.parse::<f64>() {
            found.extend([number, number / 100.0, 1.0 + number / 100.0]);
        }
        let words = ["one", "two", "three", "four"];
        found.extend(words.iter().zip([1.0, 2.0, 3.0, 4.0]).filter(|(one, _)| **one == word).map(|(_, number)| number));
    }
    found
}

/// An expectation of ours must not be presented as a number of the paper.
#[test]
fn a_number_that_is_called_the_papers_is_in_its_sentence() {
    assert!(numbers("Error Propagation: None in both the schemes.").is_empty());
    let mut wrong = Vec::new();
    for (study, claim) in STUDIES.iter().flat_map(|study| study.paper().claims.iter().map(move |claim| (study, claim)))
    {
        let Some([low, high]) = claim.number.as_ref().and_then(|number| number.printed) else { continue };
        let name = format!("{}/{}", study.name(), claim.id);
        let printed = numbers(&claim.sentence).iter().any(|number| (low..=high).contains(number));
        if printed == DERIVED.iter().any(|(derived, _)| *derived == name) {
            wrong.push(format!("{name}: {low} to {high}, {}", claim.sentence));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
