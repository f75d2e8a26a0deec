#![allow(clippy::unwrap_used)]
use sealwright_core_results::RESULTS;
use sealwright_measure::{
    Basis,
    Verdict::{self, DoesNotHold, Holds},
};

use super::*;
use crate::{
    bus::{figures::figures, grid::Run},
    judgement::judge,
    svg,
};

fn named<'a>(all: &'a [Quantity], start: &str) -> Vec<&'a Quantity> {
    all.iter().filter(|quantity| quantity.kind == QuantityKind::Simulated && quantity.name.starts_with(start)).collect()
}

/// Figures of a machine on which lines of 64 bytes lose `loss` per cent under every scheme, and longer lines 2 %.
fn without_losses(loss: f64) -> Vec<Quantity> {
    quantities(&Grid::made_up(move |run: Run| match run.line {
        _ if run.scheme == Scheme::Clear => 0.0,
        64 => loss,
        _ => 2.0,
    }))
}

#[test]
fn no_quotient_is_made_of_a_loss_of_nothing_or_less() {
    for loss in [0.0, -0.5] {
        let all = without_losses(loss);
        for start in ["CBC, MAC a line : GCM/", "CBC, MAC in ten : GCM/"] {
            let found: Vec<&str> = named(&all, start).iter().map(|found| &found.name[..]).collect();
            assert!(found.is_empty(), "{loss}: {found:?}");
        }
    }
    let some = without_losses(1.0);
    let both = named(&some, "CBC, MAC a line : GCM/");
    assert!(!both.is_empty() && both.iter().all(|found| (found.figure.median - 1.0).abs() < 1e-9 && !found.once));
}

/// If short lines lose nothing, any loss of long lines refutes the claim that these lose less.
#[test]
fn long_lines_are_refuted_where_short_ones_lose_nothing() {
    for (loss, verdict) in [(-0.5, DoesNotHold), (0.0, DoesNotHold), (1.0, DoesNotHold), (3.0, Holds)] {
        let judged = judge(&PAPER.claims, &without_losses(loss)).unwrap();
        let line = judged.iter().find(|one| one.id == "line").unwrap();
        let found: Vec<Option<Verdict>> = line.verdicts.iter().map(|one| line.verdict(&one.scope)).collect();
        assert!(found.len() == 6 && found.iter().all(|one| *one == Some(verdict)), "{loss}: {found:?}");
    }
}

/// The claim about long lines covers GCM and CBC, so no circumstance may judge it by one of them.
#[test]
fn long_lines_are_judged_with_both_schemes() {
    let all = without_losses(1.0);
    let long = named(&all, "points lost, 128 less 64 bytes/");
    let scopes: std::collections::BTreeSet<&str> = long.iter().map(|found| &found.scope[..]).collect();
    assert_eq!(scopes.len(), 6, "three engines with the units of the thesis and with equal ones: {scopes:?}");
    for scope in scopes {
        let here: Vec<&str> = long.iter().filter(|found| found.scope == scope).map(|found| &found.name[..]).collect();
        let of = |scheme: &str| here.iter().filter(|name| name.contains(scheme)).count();
        let each = PROCESSORS.len() * LATENCIES.len();
        assert_eq!((of("/GCM/"), of("/CBC, MAC a line/")), (each, each), "{scope}: {here:?}");
    }
}

/// Figure 5.2 has two throughputs: 160 and 320 cycles per line.
#[test]
fn long_lines_are_judged_with_both_units() {
    let judged = judge(&PAPER.claims, &without_losses(1.0)).unwrap();
    for (id, schemes) in [("line", 2), ("line-gcm", 1)] {
        let claim = judged.iter().find(|one| one.id == id).unwrap();
        let cases = schemes * PROCESSORS.len() * LATENCIES.len();
        let found = claim.verdicts.iter().map(|one| one.direction.as_ref().unwrap().cases.iter().sum::<usize>());
        assert_eq!(found.collect::<Vec<_>>(), [cases; 6], "{id}");
    }
}

/// The thesis states a gain of 4 to 9 times, and its own figure has 3.2 to 15.2. That CBC loses more is a different
/// claim.
#[test]
fn a_gain_of_four_to_nine_times_is_not_any_gain() {
    let with = |gcm: f64, cbc: f64| {
        quantities(&Grid::made_up(move |run: Run| match run.scheme {
            Scheme::Gcm(..) => gcm,
            Scheme::Cbc(..) => cbc,
            _ => 0.0,
        }))
    };
    let verdict = |all: &[Quantity], id: &str, scope: &str| {
        let judged = judge(&PAPER.claims, all).unwrap();
        judged.iter().find(|one| one.id == id).unwrap().verdict(scope).unwrap()
    };
    let engine = VARIANTS[1].name();
    for (gcm, cbc, expected) in
        [(2.0, 10.0, Holds), (2.0, 6.0, DoesNotHold), (1.0, 10.0, DoesNotHold), (0.0, 10.0, DoesNotHold)]
    {
        let all = with(gcm, cbc);
        assert_eq!(verdict(&all, "gain", &engine), expected, "{gcm} {cbc}");
        assert_eq!(verdict(&all, "better", &engine), Holds, "{gcm} {cbc}");
    }
    let all = printed();
    assert_eq!((verdict(&all, "gain", PRINTED), verdict(&all, "better", PRINTED)), (DoesNotHold, Holds));
    let better = judge(&PAPER.claims, &with(2.0, 10.0)).unwrap();
    let better = better.iter().find(|one| one.id == "better").unwrap();
    let ours = better.verdicts.iter().find(|one| one.scope == engine).unwrap();
    assert!(ours.magnitude.is_some(), "by how much, beside the thesis's own figure");
}

/// GCM's pads with one key for all processes, and with a key for each process, as SENSS has masks for each.
#[test]
fn storage_with_a_key_for_each_process_is_judged_too() {
    let all = without_losses(1.0);
    let found = |scope: &str| {
        let of = |one: &&Quantity| one.scope.contains(scope) && one.name == "bytes kept, GCM : SENSS";
        all.iter().find(of).unwrap().figure.median
    };
    assert!((found("the thesis's sums, with a key for each process") - 17.5).abs() < 0.05);
    let (one, each) = (found("our units, 8 processors, 100 processes"), found("a key for each of 100 processes"));
    assert!(one < 1.0 && each > 1.0 && each > 50.0 * one, "{one} {each}");
}

#[test]
fn a_quotient_that_one_seed_lacks_has_no_known_spread() {
    let mut all = Vec::new();
    let mut add = Quantities::new(&mut all, "here", QuantityKind::Simulated);
    put_quotient(&mut add, "x", Some(vec![2.0, 3.0, 4.0]), Some(vec![1.0, -0.1, 2.1]));
    put_quotient(&mut add, "nothing", Some(vec![2.0, 3.0, 4.0]), Some(vec![1.0, -3.0, 1.0]));
    let [one] = &all[..] else { panic!("{all:?}") };
    assert!(one.once && (one.figure.median - 3.0).abs() < 1e-9, "{one:?}");
}

#[test]
fn the_middle_of_an_even_count_is_between_the_middle_two() {
    let strike = |later| Strike {
        struck: Some(1),
        detector: None,
        later: Some(later),
        wrong_reads: 0,
        deadlocked: 0,
        lost_lines: 0,
    };
    let cell = |all: &[u64]| Cell {
        attack: sealwright_smp::attack::Attack::ALL[0],
        scheme: "gcm".into(),
        strikes: all.iter().map(|later| strike(*later)).collect(),
    };
    let spread = |all: &[u64]| spread(&cell(all), |strike| strike.later).unwrap();
    let (found, most) = spread(&[9, 1, 4, 2]);
    assert_eq!((found.median, found.low, found.high, most), (3.0, 1.0, 9.0, 9.0));
    assert_eq!(found.basis, Basis::Few(4), "the least and the greatest of four are no ends of a 95 % interval");
    assert_eq!(spread(&[5, 1, 2]).0.median, 2.0);
    let (found, most) = spread(&(1..=16).collect::<Vec<_>>());
    assert_eq!((found.low, found.high, found.basis, most), (4.0, 13.0, Basis::Samples(16), 16.0));
}

/// That all sixteen strikes were detected is exact, but for all such strikes it implies only that most are detected.
#[test]
fn the_share_of_strikes_that_were_run_is_not_that_of_all() {
    let strike = Strike {
        struck: Some(1),
        detector: Some(sealwright_smp::message::Detector::Tag),
        later: Some(2),
        wrong_reads: 0,
        deadlocked: 0,
        lost_lines: 0,
    };
    let attack = sealwright_smp::attack::Attack::ALL[0];
    let cell = Cell { attack, scheme: "gcm".into(), strikes: vec![strike; 16] };
    let mut all = Vec::new();
    detected(&[cell], &mut Quantities::new(&mut all, "here", QuantityKind::Simulated));
    let found = |start: &str| named(&all, start)[0].figure;
    assert_eq!(found("share of strikes detected/"), Interval::exact(1.0));
    let of_all = found("share of all such strikes that would be detected/");
    assert!(of_all.high == 1.0 && of_all.low > 0.79 && of_all.low < 0.8, "{of_all:?}");
}

#[test]
fn what_was_run_with_one_seed_is_marked() {
    let mut all = Vec::new();
    put(&mut Quantities::new(&mut all, "here", QuantityKind::Simulated), "x".into(), Some(vec![2.0]));
    put(&mut Quantities::new(&mut all, "printed", QuantityKind::Arithmetic), "x".into(), Some(vec![2.0]));
    assert_eq!(all.iter().map(|found| found.once).collect::<Vec<_>>(), [true, false]);
}

/// The thesis assumes one cycle. Our unit does not test that assumption, but the page describes what was synthesised.
#[test]
fn the_synthesised_unit_is_as_the_page_says() {
    let unit = RESULTS.iter().find(|result| result.name.starts_with("ecp5-shu-aes128-")).unwrap();
    let unit: serde_json::Value = serde_json::from_str(unit.json).unwrap();
    let (clock, seeds) = (unit["fmax_mhz"].as_f64().unwrap(), unit["seeds"].as_array().unwrap().len());
    let words = format!("{clock:.0} MHz after place and route on ECP5 (median of {seeds} seeds)");
    let said = PAPER.claim("single-cycle").unwrap().untestable.as_deref().unwrap();
    assert!(said.contains(&words), "{said}: {words}");
}

/// With up to sixteen series in four colours, no two may look the same in the legend.
#[test]
fn every_series_of_every_figure_is_drawn_otherwise() {
    let figures = figures(&Grid::made_up(|run| if run.scheme == Scheme::Clear { 0.0 } else { 1.0 }));
    assert!(figures.iter().any(|figure| figure.series.len() == 16));
    for figure in figures {
        let drawn: Vec<String> = figure.series.iter().map(|series| svg::swatch(&figure, series)).collect();
        for (at, (one, series)) in drawn.iter().zip(&figure.series).enumerate() {
            assert!(!drawn[..at].contains(one), "{}: {}", figure.id, series.name);
        }
    }
}
