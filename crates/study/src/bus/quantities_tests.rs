#![allow(clippy::unwrap_used)]
use super::*;
use crate::bus::grid::Run;

fn named<'a>(all: &'a [Quantity], start: &str) -> Vec<&'a Quantity> {
    all.iter().filter(|quantity| quantity.kind == Kind::Simulated && quantity.name.starts_with(start)).collect()
}

/// A machine on which shielded lines of 64 bytes take as long as lines in the clear, or less.
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
        for start in ["loss, 128 : 64 bytes/", "CBC, MAC a line : GCM/", "CBC, MAC in ten : GCM/"] {
            let found: Vec<&str> = named(&all, start).iter().map(|found| &found.name[..]).collect();
            assert!(found.iter().all(|_| false), "{loss}: {found:?}");
        }
        assert!(!named(&all, "loss with 128-byte lines, GCM : CBC/").is_empty(), "those lose");
    }
    let some = without_losses(1.0);
    let long = named(&some, "loss, 128 : 64 bytes/");
    assert!(!long.is_empty() && long.iter().all(|found| (found.figure.median - 2.0).abs() < 1e-9 && !found.once));
}

/// The claim about long lines is about GCM and CBC: no circumstance judges it by one of them.
#[test]
fn long_lines_are_judged_with_both_schemes() {
    let all = without_losses(1.0);
    let long = named(&all, "loss, 128 : 64 bytes/");
    let scopes: std::collections::BTreeSet<&str> = long.iter().map(|found| &found.scope[..]).collect();
    assert_eq!(scopes.len(), 6, "three engines with the units of the thesis and with equal ones: {scopes:?}");
    for scope in scopes {
        let here: Vec<&str> = long.iter().filter(|found| found.scope == scope).map(|found| &found.name[..]).collect();
        let of = |scheme: &str| here.iter().filter(|name| name.contains(scheme)).count();
        assert_eq!((of("/GCM/"), of("/CBC, MAC a line/")), (PROCESSORS.len(), PROCESSORS.len()), "{scope}: {here:?}");
    }
}

/// GCM's pads under one key for all processes, and under one for each as SENSS has its masks.
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
    let mut add = Quantities::new(&mut all, "here", Kind::Simulated);
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
    let found = spread(&[9, 1, 4, 2]);
    assert_eq!((found.median, found.low, found.high), (3.0, 1.0, 9.0));
    assert_eq!(spread(&[5, 1, 2]).median, 2.0);
}

#[test]
fn what_was_run_with_one_seed_is_marked() {
    let mut all = Vec::new();
    put(&mut Quantities::new(&mut all, "here", Kind::Simulated), "x".into(), Some(vec![2.0]));
    put(&mut Quantities::new(&mut all, "printed", Kind::Arithmetic), "x".into(), Some(vec![2.0]));
    assert_eq!(all.iter().map(|found| found.once).collect::<Vec<_>>(), [true, false]);
}
