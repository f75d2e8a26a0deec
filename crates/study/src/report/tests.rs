#![allow(clippy::unwrap_used)]
use std::time::Duration;

use sealwright_measure::{Cell, Column, Interval, Machine, Table, Verdict};

use super::*;
use crate::{
    attacks::{Attacked, Tried},
    bench::{Direction, Limit, Limiting, Participant, Row},
    figure::{Axis, Figure, PlotKind, Series, X},
    judgement::{Judged, Scoped},
    provenance::Provenance,
    quantity::QuantityKind,
    results::{keep_bench, load_bench},
    rule::{Case, Direction as Found},
    studies::by_name,
    study::{Note, Outcome, Study},
};

/// Made-up results of the files study, with text that must be escaped in HTML.
fn results() -> Results {
    let paper = by_name("files").map(Study::paper).unwrap();
    let mut table = Table::new("Times & <ratios>", [Column::text("file"), Column::number("ours").unit("ms")]);
    table.row([Cell::text("a<b"), Cell::interval(Interval::new(1.0, 0.9, 1.1), 2)]);
    let claims =
        paper.claims.iter().zip([Verdict::Holds, Verdict::DoesNotHold, Verdict::CannotBeTold].into_iter().cycle());
    let claims = claims.map(|(sentence, verdict)| {
        let mut judged = Judged::new(sentence);
        let deciding = Case { name: "1 < 2".into(), figure: Interval::exact(1.0) };
        let direction = Some(Found { verdict, cases: [1, 0, 0], deciding, missing: Vec::new() });
        judged.verdicts.push(Scoped {
            scope: "whole <processes>".into(),
            kind: QuantityKind::Measured,
            direction,
            magnitude: None,
            reduced: Vec::new(),
        });
        judged
    });
    let points = [(X::Number(1e5), Interval::new(2.0, 1.5, 3.0)), (X::Number(1e6), Interval::exact(4.0))];
    let outcome = Outcome {
        summary: "GCM <wins> & loses".into(),
        claims: claims.collect(),
        quantities: Vec::new(),
        figures: vec![Figure {
            id: "f".into(),
            title: "A figure".into(),
            alt: "Two points".into(),
            kind: PlotKind::Lines,
            x: Axis::new("size", None).log(),
            y: Axis::new("time", Some("ms")).log(),
            repeats: false,
            level: None,
            series: vec![Series::here("ours", 1, points)],
        }],
        tables: vec![table],
        notes: vec![Note::new("Odd", "</script><script>alert(1)</script>")],
    };
    Results::new("files", true, Duration::from_secs(31), outcome)
}

fn row(bytes: usize, implementation: &str, gbps: f64) -> Row {
    Row {
        suite: "aes-256-gcm".into(),
        bytes,
        direction: Direction::Seal,
        way: bench::Way::OneKey,
        implementation: implementation.into(),
        level: "auto".into(),
        gbps,
        low: gbps * 0.75,
        high: gbps * 1.25,
        ratio_to_best_peer: None,
        ratio_low: None,
        ratio_high: None,
        of_limit: None,
    }
}

fn report(rows: impl IntoIterator<Item = Row>) -> bench::Report {
    bench::Report {
        peers: vec![Participant { name: "ring".into(), version: "0.17".into() }],
        rows: rows.into_iter().collect(),
        limits: vec![Limit {
            what: Limiting::AesRounds,
            suite: "aes-256-gcm".into(),
            direction: Direction::Seal,
            bytes: 64,
            gbps: Interval::exact(50.0),
        }],
        seconds: 1.0,
        ..bench::Report::of(Machine::here(["portable"]))
    }
}

/// A made-up attack, with text that must be escaped in HTML.
fn attacks() -> attacks_of::Report {
    let tried = |against: &str, weak, end| Tried {
        against: against.into(),
        weak,
        succeeded: weak,
        result: "read".into(),
        queries: 9,
        steps: 10,
        step: "steps".into(),
        memory: 64,
        cpu_seconds: 0.5,
        seconds: 0.5,
        curve: vec![[0.0, 0.0], [9.0, end]],
    };
    let attacked = Attacked {
        name: "made-up".into(),
        title: "A <title>".into(),
        knows: "all & nothing".into(),
        stopped_by: "</section>".into(),
        reduced: Some("everything".into()),
        not_here: None,
        as_expected: true,
        spent: "questions".into(),
        gained: "bits".into(),
        trials: vec![tried("<weak>", true, 128.0), tried("strong", false, 0.0)],
    };
    let report = attacks_of::Report::of(Machine::here(["portable"]));
    attacks_of::Report { small: true, seconds: 1.0, attacks: vec![attacked], ..report }
}

#[test]
fn attacks_are_a_chapter_with_their_table_and_figures() {
    let own = page();
    for part in
        ["id=\"attacks\"", "A &lt;title&gt;", "&lt;weak&gt;", "id=\"attack-made-up\"", "1 targets fell and 1 held"]
    {
        assert!(own.contains(part), "{part}");
    }
    assert!(!own.contains("<weak>") && own.contains("../results/attacks.json"));
    assert!(!html(&[results()], None, None, None).unwrap().contains("id=\"attacks\""));
    let drawn = crate::attacks::drawing(&attacks().attacks[0]).unwrap();
    assert!(drawn.starts_with("<svg xmlns") && drawn.contains("--series-7") && !drawn.contains("<weak>"), "{drawn}");
    assert_eq!(drawn.matches("<svg").count(), drawn.matches("</svg>").count());
}

/// The page for these results with a bench and attacks.
fn page() -> String {
    let bench = report([row(1500, "ring", 3.0), row(64, "ring", 1.0)]);
    html(&[results()], Some(&bench), Some(&attacks()), Some("../results")).unwrap()
}

#[test]
fn the_page_fetches_nothing() {
    let own = page();
    assert!(own.len() < 400_000, "{} bytes", own.len());
    for word in ["http:", "https:", "src=", "url(", "@import", "//cdn"] {
        assert!(!own.contains(word), "{word}");
    }
    let links: Vec<&str> = own.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(links.len() > 8);
    let known = |link: &str| link.starts_with('#') || link == "data:," || link.starts_with("../results/");
    assert!(links.iter().all(|link| known(link)), "{links:?}");
    assert!(links.contains(&"../results/files.json") && links.contains(&"../results/bench.json"));
    // The content security policy also forbids loading anything
    assert!(own.contains("default-src 'none'"));
}

#[test]
fn links_lead_somewhere_and_ids_are_unique() {
    let own = page();
    let ids: Vec<&str> = own.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
    for link in own.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(ids.contains(&link), "#{link}");
    }
}

#[test]
fn every_table_has_its_caption_and_every_plot_its_words() {
    let own = page();
    let tables: Vec<&str> = own.split("<table").skip(1).collect();
    assert!(tables.len() >= 4);
    assert!(tables.iter().all(|table| table.split("</table>").next().unwrap().contains("<caption")));
    let drawings: Vec<&str> = own.split("class=\"drawing\"").skip(1).collect();
    assert_eq!(drawings.len(), 4, "a small one, the study's, the attack's, bench's");
    assert!(drawings.iter().all(|one| one.split('>').next().unwrap().contains(" role=\"img\" aria-label=\"")));
    assert_eq!(own.matches("<figure").count(), own.matches("class=\"alt\"").count());
}

#[test]
fn headings_go_down_one_step_at_a_time() {
    let own = page();
    let levels: Vec<u32> =
        own.match_indices("<h").filter_map(|(at, _)| own[at + 2..].chars().next()?.to_digit(10)).collect();
    assert_eq!(levels.iter().filter(|&&level| level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn foreign_text_stays_text() {
    let own = html(&[results()], None, None, None).unwrap();
    assert!(!own.contains("<script>alert"));
    assert!(own.contains("GCM &lt;wins&gt; &amp; loses"));
    assert!(own.contains("whole &lt;processes&gt;"));
}

#[test]
fn verdicts_show_as_sign_and_words() {
    let own = html(&[results()], None, None, None).unwrap();
    let table = own.split("id=\"claims-table\"").nth(1).unwrap().split("</table>").next().unwrap();
    let cell = |class: &str, words: &str| {
        let cells: Vec<&str> =
            table.split("<td data-label=\"Here\">").skip(1).map(|rest| rest.split("</td>").next().unwrap()).collect();
        cells.iter().filter(|cell| cell.contains(class) && cell.contains(words)).count()
    };
    // The paper's last claim is a proof, which cannot be tested here
    assert_eq!(cell("mark holds", ">holds<"), 4);
    assert_eq!(cell("mark does-not-hold", ">does not hold<"), 4);
    assert_eq!(cell("mark cannot-be-told", ">cannot be told<"), 4);
    assert_eq!(cell("mark untestable", ">not testable<"), 1);
    assert_eq!(table.matches("<tr id=\"files-").count(), 13);
    assert!(table.contains("data-verdict=\"holds\"") && table.contains("data-kind=\"measured\""));
}

#[test]
fn the_first_screen_has_a_line_a_paper() {
    let own = page();
    let line = own.split("class=\"paper card\"").nth(1).unwrap().split("</article>").next().unwrap();
    for words in ["Claimed:", "Here:", "Why:", "holds in 1", "<svg", "href=\"#files-encrypt\""] {
        assert!(line.contains(words), "{words}: {line}");
    }
    assert!(own.contains("class=\"term\" href=\"#term-"), "words lead to the glossary");
}

#[test]
fn studies_that_did_not_run_are_named() {
    let own = html(&[results()], None, None, None).unwrap();
    assert!(own.contains("What 1 of 5 papers claims"), "not all five");
    for study in STUDIES.iter().map(|study| study.name()) {
        let named = own.contains(&format!("Not run: <code>sealwright-lab study {study}</code>"));
        assert_eq!(named, study != "files", "{study}");
    }
}

#[test]
fn every_chapter_names_its_program_and_results_of_several_are_no_one_run() {
    let by = |program: &str| Results {
        provenance: Provenance { commit: "0123456789abcdef+".into(), program: program.into(), ..Provenance::default() },
        ..results()
    };
    let mut bench = report([row(64, "ring", 1.0)]);
    (bench.provenance, bench.machine, bench.quick) = (by("ff").provenance, results().machine, true);
    let line = format!("By sealwright-lab {}, commit 0123456789ab+, SHA-256 ff…", env!("CARGO_PKG_VERSION"));
    let one = html(&[by("ff")], Some(&bench), None, None).unwrap();
    assert_eq!(one.matches(&line).count(), 2, "the chapter of the study, and that of bench");
    assert!(!one.contains("Not one run"));
    assert!(html(&[by("ee")], Some(&bench), None, None).unwrap().contains("come from 2 programs"));
    bench.quick = false;
    assert!(html(&[by("ff")], Some(&bench), None, None).unwrap().contains("come from the quick grid and the full one"));
}

/// Results of two machines must be reported as such, even if their processors have the same name, or if only attacks
/// ran on the second one.
#[test]
fn results_of_two_machines_are_no_one_run() {
    let mut attacks = attacks();
    let of = |family: &str| {
        let mut results = results();
        results.machine.state.family = Some(family.into());
        results
    };
    attacks.machine = of("25, 17, 1").machine;
    let mut other = attacks.clone();
    other.provenance.program = "ff".into();
    assert!(html(&[of("25, 17, 1")], None, Some(&other), None).unwrap().contains("come from 2 programs"));
    let page = |first: &str| html(&[of(first)], None, Some(&attacks), None).unwrap();
    assert!(!page("25, 17, 1").contains("Not one run"));
    let two = page("26, 2, 1");
    assert!(
        two.contains("come from 2 machines") && two.contains("family 25, 17, 1") && two.contains("family 26, 2, 1")
    );
}

#[test]
fn attacks_that_could_not_be_tried_and_slow_ones_are_named() {
    let mut attacks = attacks();
    let (mut absent, name) = (attacks.attacks[0].clone(), "a-timing");
    (absent.name, absent.not_here, absent.trials) = (name.into(), Some("the machine is noisy".into()), Vec::new());
    attacks.attacks.push(absent);
    attacks.machine.opt_level = "1".into();
    let own = html(&[], None, Some(&attacks), None).unwrap();
    for part in
        ["1 attacks, reduced", "1 could not be tried here: a-timing.", "Not optimised:</b> attacks at opt-level 1"]
    {
        assert!(own.contains(part), "{part}");
    }
}

#[test]
fn figures_of_a_slow_build_are_not_shown_without_a_word() {
    let built = |level: &str| {
        let mut results = results();
        results.machine.opt_level = level.into();
        html(&[results], None, None, None).unwrap()
    };
    assert!(built("1").contains("Not optimised:</b> files at opt-level 1"));
    assert!(!built("3").contains("Not optimised") && !built("").contains("Not optimised"));
}

#[test]
fn the_chapter_of_bench_says_who_is_missing_and_how_to_repeat_it() {
    let mut bench = report([row(64, "ring", 1.0)]);
    bench.absent = vec!["botan is not measured: <b>".into()];
    bench.quick = true;
    let chapter = |bench: &bench::Report| {
        let own = html(&[], Some(bench), None, None).unwrap();
        own.split("id=\"bench\"").nth(1).unwrap().split("</article>").next().unwrap().to_owned()
    };
    let own = chapter(&bench);
    assert!(own.contains("All of them agreed") && own.contains("missing: botan is not measured: &lt;b&gt;."), "{own}");
    assert!(own.contains("cargo lab study bench --quick<"));
    bench.quick = false;
    assert!(chapter(&bench).contains("cargo lab study bench<"));
}

/// A figure with all implementations must draw each line differently, by dashes, marks and colours.
#[test]
fn every_line_of_a_full_bench_is_drawn_otherwise() {
    let ours = ["portable", "sse", "avx2", "avx512"].map(|level| ("sealwright", level));
    let others = "aws-lc-rs ring graviola rustcrypto ipsec-mb ipsec-mb-other libgcrypt botan openssl openssl-other";
    let everybody = ours.into_iter().chain(others.split(' ').map(|name| (name, "auto")));
    let rows = everybody.flat_map(|(name, level)| {
        [64, 1500].map(|bytes| Row { level: level.into(), direction: Direction::Open, ..row(bytes, name, 1.0) })
    });
    let mut bench = report(rows);
    let limit = Limit { direction: Direction::Open, ..bench.limits[0].clone() };
    bench.limits = [Limiting::AesRounds, Limiting::RoundsAndProducts, Limiting::MemoryCopy]
        .map(|what| Limit { what, ..limit.clone() })
        .into();
    let figure = benches::figure(&bench, "aes-256-gcm", Direction::Open);
    assert_eq!(figure.series.len(), 17);
    let drawn: Vec<String> = figure.series.iter().map(|series| crate::svg::swatch(&figure, series)).collect();
    for (at, (one, series)) in drawn.iter().zip(&figure.series).enumerate() {
        assert!(!drawn[..at].contains(one), "{}", series.name);
    }
}

#[test]
fn raw_data_is_found_from_the_page() {
    let link = |results: &str, report: &str| beside(Path::new(results), Path::new(report));
    assert_eq!(link("a/results", "a/report").unwrap(), "../results");
    assert_eq!(link("results", "a/b/report").unwrap(), "../../../results");
    assert_eq!(link("a/my results", "a/report"), None);
}

#[test]
fn results_come_back_from_disk_and_make_the_same_page() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { results: folder.path().join("r"), report: folder.path().join("p"), ..Options::default() };
    let before = results();
    before.store(&options.results).unwrap();
    let after = Results::load(&options.results, "files").unwrap().unwrap();
    assert_eq!(serde_json::to_value(&after).unwrap(), serde_json::to_value(&before).unwrap());
    let path = write(&options).unwrap().page;
    assert_eq!(fs::read_to_string(path).unwrap(), html(&[before], None, None, Some("../r")).unwrap());
}

#[test]
fn without_any_results_there_is_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { results: folder.path().join("none"), report: folder.path().join("p"), ..Options::default() };
    assert!(matches!(write(&options), Err(StudyError::NoResults(folder)) if folder == options.results));
    assert!(!options.report.exists());
    // The page must also say so if there are only measurements that belong to no study
    assert!(html(&[], None, None, None).unwrap().contains("No study has run yet"));
}

#[test]
fn bench_comes_back_from_disk_with_peers_and_limits() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(load_bench(folder.path()).unwrap(), None);
    let opening = Row { direction: Direction::Open, ..row(64, "ring", 1.5) };
    let before = report([row(64, "sealwright", 2.0), opening]);
    keep_bench(&before, folder.path()).unwrap();
    assert_eq!(load_bench(folder.path()).unwrap(), Some(before));
    let options = Options { results: folder.path().into(), report: folder.path().join("p"), ..Options::default() };
    let page = fs::read_to_string(write(&options).unwrap().page).unwrap();
    assert!(page.contains("ring 0.17") && page.contains("AES rounds alone, a limit") && page.contains("1.50"));
    fs::write(folder.path().join("bench.json"), "{}\n").unwrap();
    assert!(matches!(load_bench(folder.path()), Err(StudyError::Results(..))));
}
