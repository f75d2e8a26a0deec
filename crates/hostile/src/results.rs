//! Files that the laboratory stores and reads again: results of studies, of `bench` and of attacks.

use std::{fs, path::Path, sync::LazyLock, time::Duration};

use sealwright_measure::{Cell, Column, Interval, Machine, Store, Table, Verdict};
use sealwright_study::{
    Figure, Measured, Note, Outcome, Question, Results, STUDIES, StudyError, advise, attacks,
    bench::{self, Direction, Limit, Limiting, Participant, Row, Way},
    check, compare,
    figure::{Axis, PlotKind, Series, X},
    judgement::judge,
    quantity::{Quantity, QuantityKind},
    report, results as kept,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{edits::edited, folder::folder};

/// Everything that a folder of results can hold.
struct Genuine {
    studies: Vec<Results>,
    bench: bench::Report,
    /// The names of the documents, and what is in them.
    documents: Vec<(&'static str, Value)>,
}

static GENUINE: LazyLock<Genuine> = LazyLock::new(|| {
    let studies: Vec<Results> = (0..STUDIES.len()).map(study).collect();
    let mut machine = Machine::here(["portable", "avx2"]);
    machine.caches = vec!["L1 Data 48K".into(), "L3 Unified 32768K".into()];
    let (bench, attacks) = (speeds(machine.clone()), tried(machine));
    let names = STUDIES.iter().map(|study| study.name()).chain([sealwright_study::BENCH, sealwright_study::ATTACKS]);
    let folder = folder();
    studies.iter().for_each(|results| results.store(folder.path()).unwrap());
    kept::keep_bench(&bench, folder.path()).unwrap();
    kept::keep_attacks(&attacks, folder.path()).unwrap();
    let read = |name: &str| fs::read(folder.path().join(format!("{name}.json"))).unwrap();
    let documents = names.map(|name| (name, serde_json::from_slice(&read(name)).unwrap())).collect();
    Genuine { studies, bench, documents }
});

/// A study's results: some of the paper's figures and claims, and one of everything else.
fn study(number: usize) -> Results {
    let study = STUDIES[number];
    let mut quantities = study.printed();
    quantities.truncate(30);
    for (scheme, nanoseconds) in [("gcm-pre(clmul)", 90.0), ("gcm-on64", 80.0)] {
        quantities.push(Quantity {
            name: format!("nanoseconds of a packet/{scheme}/1500/1000"),
            scope: "every scheme, avx2".into(),
            kind: QuantityKind::Measured,
            figure: Interval::new(nanoseconds, nanoseconds - 1.0, nanoseconds + 1.1),
            once: false,
        });
    }
    let claims = judge(&study.paper().claims[..8], &quantities).unwrap();
    let measured = Interval::new(2.0 / 3.0, 0.6, 0.7);
    let columns = [Column::text("what"), Column::number("figure").unit("s"), Column::number("count")];
    let mut table = Table::new("A table", columns).with_note("A note");
    table.row([Cell::text("a"), Cell::interval(measured, 2), Cell::quantity(1.5, 1, "kB")]);
    table.row([Cell::verdict(Verdict::Holds), Cell::empty("not measured"), Cell::count(7)]);
    let points = |words: bool| {
        let at = move |x: f64| if words { X::Word(format!("at {x}")) } else { X::Number(x) };
        [(at(1.0), measured), (at(100.0), Interval::exact(0.1))]
    };
    let figure = |id: &str, kind, words| Figure {
        id: id.into(),
        title: "A figure".into(),
        alt: "What one sees.".into(),
        kind,
        x: Axis::new("size", Some("B")).log().ticks([(1.0, "one".into()), (100.0, "hundred".into())]),
        y: Axis::new("time", None),
        repeats: words,
        level: Some(0.5),
        series: vec![Series::here("ours", 1, points(words)), Series::paper("paper", 0, points(words))],
    };
    let outcome = Outcome {
        summary: "A sentence of nonces and keys.".into(),
        quantities,
        claims,
        figures: vec![figure("lines", PlotKind::Lines, false), figure("bars", PlotKind::Bars, true)],
        tables: vec![table],
        notes: vec![Note::new("A title", "A paragraph of tags.")],
    };
    let results = Results::new(study.name(), true, Duration::from_millis(3500), outcome);
    assert!(check::check(&results).unwrap().differences.is_empty());
    results
}

fn speeds(machine: Machine) -> bench::Report {
    let row = |suite: &str, (implementation, level): (&str, &str), direction, gbps: f64, ratio| Row {
        suite: suite.into(),
        bytes: 1500,
        direction,
        way: Way::OneKey,
        implementation: implementation.into(),
        level: level.into(),
        gbps,
        low: gbps / 1.01,
        high: gbps * 1.01,
        ratio_to_best_peer: ratio,
        ratio_low: ratio,
        ratio_high: ratio,
        of_limit: ratio,
    };
    let rows = Direction::BOTH.map(|way| {
        [
            row("aes-256-gcm", ("sealwright", "portable"), way, 0.1, None),
            row("aes-256-gcm", ("sealwright", "avx2"), way, 10.0, Some(1.1)),
            row("aes-256-gcm", ("ring", "auto"), way, 9.0, Some(1.0)),
            row("aes-256-ocb", ("sealwright", "avx2"), way, 13.0, None),
        ]
    });
    let limit = Limit {
        what: Limiting::AesRounds,
        suite: "aes-256-gcm".into(),
        direction: Direction::Seal,
        bytes: 1500,
        gbps: Interval::exact(20.0),
    };
    let peers = vec![Participant { name: "ring".into(), version: "0.17".into() }];
    bench::Report {
        peers,
        absent: vec!["botan: not here".into()],
        rows: rows.concat(),
        limits: vec![limit],
        seconds: 1.0,
        ..bench::Report::of(machine)
    }
}

fn tried(machine: Machine) -> attacks::Report {
    let trial = |weak, curve: [[f64; 2]; 3]| attacks::Tried {
        against: if weak { "CBC" } else { "GCM" }.into(),
        weak,
        succeeded: weak,
        result: "48 bytes".into(),
        queries: 1000,
        steps: 1 << 20,
        step: "a block".into(),
        memory: 4096,
        cpu_seconds: 0.25,
        seconds: 0.5,
        curve: curve.to_vec(),
    };
    let attack = attacks::Attacked {
        name: "cbc-padding".into(),
        title: "Reads a text".into(),
        knows: "a ciphertext".into(),
        stopped_by: "a tag".into(),
        reduced: Some("three blocks".into()),
        not_here: None,
        as_expected: true,
        spent: "questions".into(),
        gained: "bytes".into(),
        trials: vec![
            trial(true, [[1.0, 0.0], [10.0, 1.0], [1000.0, 48.0]]),
            trial(false, [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]),
        ],
    };
    attacks::Report { small: true, seconds: 2.0, attacks: vec![attack], ..attacks::Report::of(machine) }
}

/// Takes arbitrary bytes, or a genuine document with changes, as a document of a folder of results: it is refused with
/// its name, or read. A document that was read is the same after it was written and read again; it can be judged,
/// compared, used for advice and shown, and its text is always shown as text.
pub(crate) fn results(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let (name, document) = &GENUINE.documents[usize::from(choice >> 1) % GENUINE.documents.len()];
    let changed = (choice & 1 != 0).then(|| edited(document, bytes));
    let genuine = changed.as_ref() == Some(document);
    let text = changed.map_or_else(|| bytes.to_vec(), |changed| serde_json::to_vec(&changed).unwrap());
    let folder = folder();
    fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
    let (mut studies, mut speeds, mut tried) = (Vec::new(), None, None);
    match *name {
        sealwright_study::BENCH => speeds = read(folder.path(), name, kept::load_bench),
        sealwright_study::ATTACKS => tried = read(folder.path(), name, kept::load_attacks),
        _ => studies.extend(read(folder.path(), name, |folder| Results::load(folder, name))),
    }
    if studies.is_empty() && speeds.is_none() && tried.is_none() {
        return;
    }
    let measured = Measured { bench: speeds.as_ref(), sessions: studies.first() };
    // A page takes long; the engine finds more if an input takes one way, and the tests take all of them
    let ways = if cfg!(fuzzing) { 1 << (bytes.len() % 4) } else { 0xf };
    if ways & 1 != 0 {
        for study in &studies {
            // A rule may make no sense
            let checked = check::check(study);
            assert!(!genuine || checked.is_ok());
            if let Ok(checked) = checked {
                assert!(!genuine || checked.differences.is_empty(), "{checked:?}");
            }
            study.outcome.tables.iter().for_each(every_shape);
            study.outcome.figures.iter().for_each(|figure| every_shape(&figure.table()));
        }
        speeds.iter().flat_map(bench::Report::tables).for_each(|table| every_shape(&table));
        tried.iter().for_each(|report| every_shape(&attacks::table(&report.attacks)));
    }
    if ways & 2 != 0 {
        match report::html(&studies, speeds.as_ref(), tried.as_ref(), None) {
            Ok(page) => text_stays_text(&page),
            Err(error) => assert!(matches!(error, StudyError::Unknown { .. }), "{error}"),
        }
    }
    if ways & 4 != 0 {
        for (bytes, sessions) in [(0, 0), (1500, 1_000_000), (usize::MAX, u64::MAX)] {
            let hardware = sessions > 0;
            advise(&Question { bytes, sessions, hardware, ad: true, misuse: false, commit: false }, measured);
        }
    }
    if ways & 8 != 0 {
        compared(name, studies, speeds, folder.path());
    }
}

/// Compares a folder of the document with the genuine one and with itself, in words and as pages.
fn compared(name: &str, studies: Vec<Results>, bench: Option<bench::Report>, folder: &Path) {
    let theirs = compare::Folder { name: "theirs".into(), results: studies, bench };
    let ours = compare::Folder {
        name: "ours".into(),
        results: GENUINE.studies.iter().filter(|results| results.study == name).cloned().collect(),
        bench: Some(GENUINE.bench.clone()),
    };
    for (a, b) in [(&ours, &theirs), (&theirs, &ours), (&theirs, &theirs)] {
        let tables = compare::tables(a, b);
        tables.iter().for_each(every_shape);
        let page = report::write_comparison(&tables, folder).unwrap();
        text_stays_text(&fs::read_to_string(page).unwrap());
    }
}

/// Reads a document: an error names it, and a value is the same after it was written and read again.
fn read<T: Serialize + DeserializeOwned>(
    folder: &Path,
    name: &str,
    load: impl Fn(&Path) -> Result<Option<T>, StudyError>,
) -> Option<T> {
    let found = match load(folder) {
        Ok(found) => found.expect("the document is there"),
        Err(error) => {
            assert!(error.to_string().contains(&format!("{name}.json")), "{error}");
            return None;
        }
    };
    let store = Store::open(folder).unwrap();
    store.write("again", &found).unwrap();
    let again = store.read::<T>("again").unwrap().unwrap().result;
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&found).unwrap());
    Some(found)
}

/// A table as everything that it can be; as JSON it comes back.
fn every_shape(table: &Table) {
    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "one cell a column");
    assert!(table.to_text().lines().count() >= table.rows.len());
    table.to_markdown();
    table.to_csv();
    text_stays_text(&table.to_html());
    assert_eq!(serde_json::from_str::<Table>(&table.to_json()).unwrap(), *table);
}

/// What a page or a drawing must not contain: text of a document as markup, and coordinates that are not numbers.
pub(crate) fn text_stays_text(page: &str) {
    for mark in ["<i>sealwright</i>", "<!--<script"] {
        assert!(!page.contains(mark), "{mark}");
    }
    for name in ["cx", "cy", "d", "height", "points", "r", "transform", "width", "x", "x1", "x2", "y", "y1", "y2"] {
        for value in page.split(&format!(" {name}=\"")).skip(1) {
            let value = value.split('"').next().unwrap_or_default();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_and_no_number_is_noticed() {
        let seen = |page: &str| std::panic::catch_unwind(|| text_stays_text(page)).is_err();
        for page in ["<p><i>sealwright</i>", "<path d=\"M0,1 L2,NaN\">", "<rect x=\"0\" width=\"inf\">"] {
            assert!(seen(page), "{page}");
        }
        assert!(!seen("<p>&lt;i&gt;sealwright: information, NaN <path d=\"M0,1\">"));
    }
}
