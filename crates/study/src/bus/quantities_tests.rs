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
