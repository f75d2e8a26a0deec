//! A test that `docs/PAPERS.md` names claims that exist, all of them, and says of the papers' own figures what these say.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, fs, path::Path};

use crate::{judgement::judge, studies::STUDIES};

/// A claim's name, and what the page says of the paper's own figures.
type Named = (String, Option<String>);

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/PAPERS.md")).unwrap()
}

/// Everything between [` and ]: `study/claim`, or `study/claim`; own figures: holds.
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

/// Every sentence of a chapter's paragraphs rests on a claim, or explains the one before or after it in its paragraph.
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
