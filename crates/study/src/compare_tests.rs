#![allow(clippy::unwrap_used)]
use std::time::Duration;

use sealwright_measure::Verdict;

use super::*;
use crate::{
    bench::{Row, Way},
    judgement::{Judged, Scoped},
    quantity::QuantityKind,
    results::keep_bench,
    rule::{Case, Direction},
    studies::by_name,
    study::{Outcome, Study},
};

fn results(verdict: Verdict, median: f64) -> Results {
    let sentence = &by_name("files").map(Study::paper).unwrap().claims[0];
    let mut judged = Judged::new(sentence);
    let deciding = Case { name: "x".into(), figure: Interval::exact(1.0) };
    let direction = Some(Direction { verdict, cases: [1, 0, 0], deciding, missing: Vec::new() });
    let (scope, reduced) = ("here".into(), Vec::new());
    judged.verdicts.push(Scoped { scope, kind: QuantityKind::Measured, direction, magnitude: None, reduced });
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
    // The paper's figures do not depend on the machine and are left out
    assert_eq!(found[2].rows.len(), 1);
    let times = found[2].to_text();
    assert!(times.contains("2.00 [1.80, 2.20]") && times.contains("1.00 [0.90, 1.10]"), "{times}");
    assert!(times.contains("0.50 [0.41, 0.61]"), "{times}");
    let nothing = beside(["a", "b"].map(String::from), Interval::new(1.0, -1.0, 2.0), Interval::exact(1.0), 2);
    assert_eq!(nothing[4], Cell::empty("no ratio to nothing"));
    assert!(!tables(&a, &a)[1].to_text().contains("differs"));
}

/// A table in which only numbers distinguish the rows, and not even all of them; two columns have the same name.
fn of_numbers() -> Table {
    let heads = [Column::text("scheme"), Column::number("clients"), Column::number("packet").unit("bytes")];
    let figures = ["time", "over clear", "over clear"].map(|name| Column::number(name).unit("ns"));
    let mut table = Table::new("By numbers", heads.into_iter().chain(figures));
    let rows = [(1e4, 40.0), (1e4, 1500.0), (1e6, 40.0), (2e6, 40.0), (2e6, 40.0)];
    for (number, (clients, packet)) in rows.into_iter().enumerate() {
        let figure = |of: f64| Cell::interval(Interval::exact(of * (number + 1) as f64), 2);
        let key = [Cell::text("gscm"), Cell::number(clients, 0), Cell::number(packet, 0)];
        table.row(key.into_iter().chain([figure(1.0), figure(10.0), figure(100.0)]));
    }
    table
}

#[test]
fn rows_that_numbers_tell_apart_are_set_beside_themselves() {
    let a = folder("A", Verdict::Holds, 1.0);
    let found = figures(&a, &a, &of_numbers(), &of_numbers()).unwrap();
    let mut names = Vec::new();
    for row in &found.rows {
        let [Cell::Text { text: name }, Cell::Text { text: head }, .., Cell::Interval { interval: ratio, .. }] =
            &row[..]
        else {
            panic!("{row:?}")
        };
        assert_eq!((ratio.median, &head[..]), (1.0, "time (ns)"));
        names.push(name.clone());
    }
    // The last two rows have the same name and are left out
    let expected =
        ["gscm, clients 10000, packet 40", "gscm, clients 10000, packet 1500", "gscm, clients 1000000, packet 40"];
    assert_eq!(names, expected);
    // Rows in another order and with other results are matched as well
    let mut second = of_numbers();
    second.rows.reverse();
    let back = figures(&a, &a, &of_numbers(), &second).unwrap();
    assert_eq!(back.rows, found.rows);
}

/// A number that differs between machines is not part of a row's name if the text suffices.
#[test]
fn results_among_the_numbers_do_not_part_rows() {
    let table = |count: f64| {
        let mut table = Table::new("T", [Column::text("core"), Column::number("cells"), Column::number("clock")]);
        table.row([Cell::text("gcm"), Cell::number(count, 0), Cell::interval(Interval::exact(2.0), 1)]);
        table
    };
    let a = folder("A", Verdict::Holds, 1.0);
    assert_eq!(figures(&a, &a, &table(1000.0), &table(999.0)).unwrap().rows[0][0], Cell::text("gcm"));
}

/// A claim that was tested in different circumstances in the two directories.
#[test]
fn circumstances_of_either_folder_are_shown() {
    let (a, mut b) = (folder("A", Verdict::Holds, 1.0), folder("B", Verdict::DoesNotHold, 1.0));
    let verdicts = &mut b.results[0].outcome.claims[0].verdicts;
    let mut there = verdicts[0].clone();
    there.scope = "there".into();
    verdicts.push(there);
    let rows = |a: &Folder, b: &Folder| {
        let found = claims(a, b, &a.results[0], &b.results[0]);
        found.rows.iter().map(|row| row[1].shown()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&a, &b), ["here", "there"]);
    assert_eq!(rows(&b, &a), ["here", "there"]);
    let text = claims(&a, &b, &a.results[0], &b.results[0]).to_text();
    assert_eq!((text.matches("not tried").count(), text.matches("differs").count()), (1, 1), "{text}");
}

#[test]
fn a_folder_of_two_machines_names_both() {
    let mut a = folder("A", Verdict::Holds, 1.0);
    let mut other = results(Verdict::Holds, 1.0);
    a.results[0].machine.state.family = Some("25, 17, 1".into());
    other.machine.state.family = Some("26, 2, 1".into());
    a.results.push(other);
    let found = machines(&a, &a);
    let family = found.rows.iter().find(|row| row[0] == Cell::text("family, model, stepping")).unwrap();
    assert_eq!(family[1], Cell::text("25, 17, 1; 26, 2, 1"));
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
    assert!(matches!(Folder::load(place.path()), Err(StudyError::NoResults(_))));
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

/// Two commits of one version are two programs.
#[test]
fn programs_are_told_apart_by_commit_and_hash() {
    let mut b = folder("B", Verdict::Holds, 1.0);
    (b.results[0].provenance.commit, b.results[0].provenance.program) = ("abc+".into(), "0123456789abcdef".into());
    let found = machines(&folder("A", Verdict::Holds, 1.0), &b);
    let row = found.rows.iter().find(|row| row[0] == Cell::text("program")).unwrap();
    let said = row[2].shown();
    assert!(row[1] != row[2] && said.contains("commit abc+") && said.contains("0123456789ab"), "{row:?}");
}
