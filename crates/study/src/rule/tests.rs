#![allow(clippy::unwrap_used)]
use Verdict::{CannotBeTold, DoesNotHold, Holds};

use super::*;

fn quantity(name: &str, low: f64, high: f64) -> Quantity {
    let figure = Interval { median: f64::midpoint(low, high), low, high };
    Quantity { name: name.into(), scope: "here".into(), kind: Kind::Measured, figure, once: false }
}

fn exact(name: &str, value: f64) -> Quantity {
    quantity(name, value, value)
}

/// The verdict, the cases, the name of the deciding one.
fn found(rule: &str, quantities: &[Quantity]) -> (Verdict, [usize; 3], String) {
    let (found, _) = direction(rule, quantities, "here").unwrap().unwrap();
    (found.verdict, found.cases, found.deciding.name)
}

#[test]
fn every_case_must_hold_and_one_that_fails_decides() {
    let two = [exact("a/1", 2.0), exact("a/2", 3.0)];
    assert_eq!(found("every 'a/{x}' > 1", &two), (Holds, [2, 0, 0], "a/1".into()), "the least margin is shown");
    assert_eq!(found("every 'a/{x}' > 2.5", &two), (DoesNotHold, [1, 1, 0], "a/1".into()));
    assert_eq!(found("every 'a/{x}' < 1", &two).2, "a/2", "the clearest failure is shown");
    assert_eq!(found("every 'a/{x}' > 2", &two).0, DoesNotHold, "equal is not above");
    assert_eq!(found("every 'a/{x}' from 2 to 3", &two).0, Holds);
}

#[test]
fn some_and_most_count() {
    let three = [exact("a/1", 1.0), exact("a/2", 2.0), exact("a/3", 3.0)];
    assert_eq!(found("some 'a/{x}' > 2.5", &three), (Holds, [1, 2, 0], "a/3".into()));
    assert_eq!(found("some 'a/{x}' > 5", &three).0, DoesNotHold);
    assert_eq!(found("most 'a/{x}' > 1.5", &three).0, Holds);
    assert_eq!(found("most 'a/{x}' > 2.5", &three).0, DoesNotHold);
    assert_eq!(found("most 'a/{x}' > 1", &three[..2]).0, DoesNotHold, "half is not most");
}

#[test]
fn clauses_must_all_hold() {
    let two = [exact("a", 2.0), exact("b", 3.0)];
    assert_eq!(found("every 'a' > 1 and every 'b' > 1", &two), (Holds, [2, 0, 0], "a".into()));
    assert_eq!(found("every 'a' > 1 and every 'b' < 1", &two), (DoesNotHold, [1, 1, 0], "b".into()));
    assert!(direction("every 'a' > 1 and every 'c' < 1", &two, "here").unwrap().is_none(), "c was not measured");
    assert!(direction("every 'a' > 1", &two, "elsewhere").unwrap().is_none());
    assert!(direction("every a", &two, "here").is_err());
}

#[test]
fn quotients_pair_what_belongs_together() {
    let four = [exact("g/1", 6.0), exact("g/2", 8.0), exact("c/1", 2.0), exact("c/2", 4.0)];
    assert_eq!(found("every 'g/{x}' over 'c/{x}' > 1.5", &four), (Holds, [2, 0, 0], "g/2 over c/2".into()));
    let pairs = found("every 'c/{x}' over 'c/{y}' from 0.4 to 2.5", &four);
    assert_eq!((pairs.0, pairs.1), (Holds, [2, 0, 0]), "each with the other, never with itself");
    let wide = [quantity("a", 2.0, 4.0), quantity("b", 1.0, 2.0)];
    assert_eq!(found("every 'a' over 'b' > 1", &wide).0, CannotBeTold, "from 1 to 4");
}

#[test]
fn many_cases_need_surer_intervals_to_refute() {
    // 0.94 to 0.999 excludes 1 by itself, and not if it is one of twenty
    let near = |name: &str| quantity(name, 0.94, 0.999);
    let alone = [near("a/0")];
    assert_eq!(found("every 'a/{x}' > 1", &alone).0, DoesNotHold);
    let mut many = vec![near("a/0")];
    many.extend((1..20).map(|x| exact(&format!("a/{x}"), 2.0)));
    assert_eq!(found("every 'a/{x}' > 1", &many), (CannotBeTold, [19, 0, 1], "a/0".into()));
    // And to be the one that some case needs
    let mut many = vec![quantity("a/0", 1.001, 1.06)];
    many.extend((1..20).map(|x| exact(&format!("a/{x}"), 0.5)));
    assert_eq!(found("some 'a/{x}' > 1", &many).0, CannotBeTold);
    assert_eq!(found("some 'a/{x}' > 1", &many[..1]).0, Holds);
}

#[test]
fn a_figure_found_once_decides_nothing() {
    let mut one = [exact("a", 2.0)];
    one[0].once = true;
    assert_eq!(found("every 'a' > 1", &one).0, CannotBeTold);
    let (found, _) = magnitude("'a'", Some([2.0, 2.0]), None, &one, "here").unwrap().unwrap();
    assert_eq!((found.place, found.cases), (Place::Unknown, [0, 0, 0, 1]));
}

#[test]
fn the_papers_number_is_placed() {
    let place = |printed, low, high| {
        magnitude("'a'", Some(printed), None, &[quantity("a", low, high)], "here").unwrap().unwrap().0.place
    };
    assert_eq!(place([1.05, 1.05], 1.0, 1.1), Place::Inside);
    assert_eq!(place([1.19, 1.40], 1.3, 1.3), Place::Inside, "our figure inside the paper's range");
    assert_eq!(place([1.19, 1.40], 1.41, 1.5), Place::Below, "the paper's number is below ours");
    assert_eq!(place([1.19, 1.40], 1.0, 1.1), Place::Above);
}

#[test]
fn magnitudes_of_many_cases_name_the_farthest() {
    let mut all = vec![exact("a/1", 2.0), exact("a/2", 9.0), exact("a/3", 4.0)];
    for (name, value) in [("a/1", 2.0), ("a/2", 3.0)] {
        all.push(Quantity { scope: "paper".into(), kind: Kind::Arithmetic, ..exact(name, value) });
    }
    let (found, kind) = magnitude("'a/{x}'", None, Some("paper"), &all, "here").unwrap().unwrap();
    assert_eq!((found.place, found.cases, kind), (Place::Varies, [1, 0, 1, 0], Kind::Measured));
    assert_eq!((&found.deciding.name[..], found.printed), ("a/2", [3.0, 3.0]));
    // The paper's own figures are not compared with themselves
    assert!(magnitude("'a/{x}'", None, Some("paper"), &all, "paper").unwrap().is_none());
    assert_eq!(scopes(&all), ["here", "paper"]);
}
