#![allow(clippy::unwrap_used)]
use std::time::Duration;

use sealwright_measure::Verdict;

use super::*;
use crate::{
    bench::{Row, Way},
    judgement::{Judged, Scoped},
    quantity::Kind,
    results::keep_bench,
    rule::{Case, Direction},
    studies::by_name,
    study::{Outcome, Study},
};

fn results(verdict: Verdict, median: f64) -> Results {
    let sentence = &by_name("files").map(Study::paper).unwrap().claims[0];
    let mut judged = Judged::new(sentence);
    let deciding = Case { name: "x".into(), figure: Interval::exact(1.0) };
    let direction = Some(Direction { verdict, cases: [1, 0, 0], deciding });
    judged.verdicts.push(Scoped { scope: "here".into(), kind: Kind::Measured, direction, magnitude: None });
    let mut table =
        Table::new("Times", [Column::text("file"), Column::number("paper"), Column::number("ours").unit("ms")]);
    let interval = Interval::new(median, median * 0.9, median * 1.1);
    table.row([Cell::text("1 MB"), Cell::number(7.0, 0), Cell::interval(interval, 2)]);
    let outcome = Outcome { claims: vec![judged], tables: vec![table], ..Outcome::default() };
    Results::new("files", true, Duration::from_secs(1), outcome)
}

fn folder(name: &str, verdict: Verdict, median: f64) -> Folder {
    Folder { name: name.into(), results: vec![results(verdict, median)], bench: None }
}

#[test]
fn what_both_measured_is_set_side_by_side_with_its_ratio() {
    let (a, b) = (folder("A", Verdict::Holds, 2.0), folder("B", Verdict::DoesNotHold, 1.0));
    let found = tables(&a, &b);
    let titles: Vec<&str> = found.iter().map(|table| &table.title[..]).collect();
    assert_eq!(titles, ["What ran where", "files: verdicts", "Times"]);
    let claims = found[1].to_text();
    assert!(claims.contains("holds") && claims.contains("does not hold") && claims.contains("differs"), "{claims}");
    // The paper's figure, which no machine changes, is left out
    assert_eq!(found[2].rows.len(), 1);
    let times = found[2].to_text();
    assert!(times.contains("2.00 [1.80, 2.20]") && times.contains("1.00 [0.90, 1.10]"), "{times}");
    assert!(times.contains("0.50 [0.41, 0.61]"), "{times}");
    let nothing = beside(["a", "b"].map(String::from), Interval::new(1.0, -1.0, 2.0), Interval::exact(1.0), 2);
    assert_eq!(nothing[4], Cell::empty("no ratio to nothing"));
    assert!(!tables(&a, &a)[1].to_text().contains("differs"));
}

#[test]
fn what_only_one_has_is_left_out() {
    let mut b = folder("B", Verdict::Holds, 1.0);
    b.results[0].outcome.tables[0].title = "Other times".into();
    assert_eq!(tables(&folder("A", Verdict::Holds, 1.0), &b).len(), 2);
    b.results.clear();
    assert_eq!(tables(&folder("A", Verdict::Holds, 1.0), &b).len(), 1);
}

#[test]
fn folders_are_read_and_one_without_results_is_refused() {
    let place = tempfile::tempdir().unwrap();
    assert!(matches!(Folder::load(place.path()), Err(StudyError::Results(..))));
    results(Verdict::Holds, 1.0).store(place.path()).unwrap();
    let options = crate::bench::Options { bytes: vec![], ..crate::bench::Options::default() };
    keep_bench(&crate::bench::run(&options, &mut |_| {}).unwrap(), place.path()).unwrap();
    let folder = Folder::load(place.path()).unwrap();
    assert!(folder.results.len() == 1 && folder.bench.is_some());
    assert_eq!(tables(&folder, &folder).len(), 4);
}

#[test]
fn messages_that_come_in_another_way_are_another_row() {
    let row = |way, gbps| Row {
        suite: "aes-128-gcm".into(),
        bytes: 40,
        direction: crate::bench::Direction::Seal,
        way,
        implementation: "ring".into(),
        level: "auto".into(),
        gbps,
        low: gbps,
        high: gbps,
        ratio_to_best_peer: None,
        ratio_low: None,
        ratio_high: None,
        of_limit: None,
    };
    let report = |ways: [(Way, f64); 2]| Report {
        rows: ways.map(|(way, gbps)| row(way, gbps)).into(),
        ..Report::of(Machine::here(["portable"]))
    };
    let (first, second) = ([(Way::OneKey, 4.0), (Way::NewKey, 1.0)], [(Way::NewKey, 2.0), (Way::OneKey, 4.0)]);
    let (a, b) = (folder("A", Verdict::Holds, 1.0), folder("B", Verdict::Holds, 1.0));
    let text = bench(&a, &b, &report(first), &report(second)).to_text();
    assert!(text.contains("a new key for each message") && text.contains("2.00 [2.00, 2.00]"), "{text}");
    assert!(text.contains("1.00 [1.00, 1.00]") && !text.contains("0.50"), "{text}");
}
