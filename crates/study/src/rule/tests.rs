#![allow(clippy::unwrap_used)]
use Verdict::{CannotBeTold, DoesNotHold, Holds};

use super::*;

fn quantity(name: &str, low: f64, high: f64) -> Quantity {
    let figure = Interval::new(f64::midpoint(low, high), low, high);
    Quantity { name: name.into(), scope: "here".into(), kind: QuantityKind::Measured, figure, once: false }
}

fn exact(name: &str, value: f64) -> Quantity {
    quantity(name, value, value)
}

/// The verdict, the numbers of cases, and the name of the deciding case.
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
    assert_eq!(found("every 'a/1' from 2 to 2", &two).0, Holds);
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
    // 0.94 to 0.999 excludes 1 as a single case, but not as one of twenty
    let near = |name: &str| quantity(name, 0.94, 0.999);
    let alone = [near("a/0")];
    assert_eq!(found("every 'a/{x}' > 1", &alone).0, DoesNotHold);
    let mut many = vec![near("a/0")];
    many.extend((1..20).map(|x| exact(&format!("a/{x}"), 2.0)));
    assert_eq!(found("every 'a/{x}' > 1", &many), (CannotBeTold, [19, 0, 1], "a/0".into()));
    // The same applies to a case that alone makes a `some` rule hold
    let mut many = vec![quantity("a/0", 1.001, 1.06)];
    many.extend((1..20).map(|x| exact(&format!("a/{x}"), 0.5)));
    assert_eq!(found("some 'a/{x}' > 1", &many).0, CannotBeTold);
    assert_eq!(found("some 'a/{x}' > 1", &many[..1]).0, Holds);
}

/// A rule with two clauses is refuted by a case of either, so the cases of both count.
#[test]
fn the_cases_of_every_clause_count() {
    let mut many = vec![quantity("a", 0.94, 0.999)];
    many.extend((1..20).map(|x| exact(&format!("b/{x}"), 2.0)));
    assert_eq!(found("every 'a' > 1", &many).0, DoesNotHold);
    assert_eq!(found("every 'a' > 1 and every 'b/{x}' > 1", &many), (CannotBeTold, [19, 0, 1], "a".into()));
}

/// Common disturbances cancel out in a quotient that was computed round by round.
#[test]
fn a_quotient_of_the_same_rounds_stands_for_the_two() {
    let mut both = vec![quantity("a/1/x", 2.0, 4.0), quantity("b/1", 1.0, 2.0)];
    let rule = "every 'a/{n}/x' over 'b/{n}' > 1";
    assert_eq!(found(rule, &both).0, CannotBeTold, "from 1 to 4");
    both.push(quantity("a/1/x over b/1", 1.9, 2.1));
    assert_eq!(found(rule, &both), (Holds, [1, 0, 0], "a/1/x over b/1".into()));
    both[2].once = true;
    assert_eq!(found(rule, &both).0, CannotBeTold);
}

#[test]
fn a_figure_found_once_decides_nothing() {
    let mut one = [exact("a", 2.0)];
    one[0].once = true;
    assert_eq!(found("every 'a' > 1", &one).0, CannotBeTold);
    let (found, _) = magnitude("'a'", Some([2.0, 2.0]), None, &one, "here").unwrap().unwrap();
    assert_eq!((found.place, found.cases), (NumberPosition::Unknown, [0, 0, 0, 1]));
}

#[test]
fn the_papers_number_is_placed() {
    let place = |printed, low, high| {
        magnitude("'a'", Some(printed), None, &[quantity("a", low, high)], "here").unwrap().unwrap().0.place
    };
    assert_eq!(place([1.05, 1.05], 1.0, 1.1), NumberPosition::Inside);
    assert_eq!(place([1.19, 1.40], 1.3, 1.3), NumberPosition::Inside, "our figure inside the paper's range");
    assert_eq!(place([1.19, 1.40], 1.41, 1.5), NumberPosition::Below, "the paper's number is below ours");
    assert_eq!(place([1.19, 1.40], 1.0, 1.1), NumberPosition::Above);
}

/// The intervals of many cases are wider. That such an interval does not exclude the paper's number does not mean
/// agreement.
#[test]
fn many_cases_bring_no_number_inside() {
    let mut many = vec![quantity("a/0", 1.0, 1.065)];
    many.extend((1..20).map(|x| exact(&format!("a/{x}"), 1.08)));
    let (found, _) = magnitude("'a/{x}'", Some([1.08, 1.08]), None, &many, "here").unwrap().unwrap();
    assert_eq!((found.place, found.cases, found.overlaps), (NumberPosition::Varies, [19, 0, 0, 0], 1));
    let (alone, _) = magnitude("'a/{x}'", Some([1.08, 1.08]), None, &many[..1], "here").unwrap().unwrap();
    assert_eq!(alone.place, NumberPosition::Above);
}

/// If the paper's range only touches our interval, it does not contain our figure, nor our interval its middle.
#[test]
fn the_papers_range_overlaps_ours_at_its_edge() {
    let place = |printed, low, high| {
        let (found, _) = magnitude("'a'", Some(printed), None, &[quantity("a", low, high)], "here").unwrap().unwrap();
        (found.place, found.cases, found.overlaps)
    };
    assert_eq!(place([1.49, 1.58], 1.439, 1.512), (NumberPosition::Overlaps, [0; 4], 1));
    assert_eq!(place([1.3, 1.45], 1.439, 1.512), (NumberPosition::Overlaps, [0; 4], 1));
    assert_eq!(
        place([1.45, 1.58], 1.439, 1.53),
        (NumberPosition::Inside, [1, 0, 0, 0], 0),
        "our figure is in the range"
    );
    assert_eq!(
        place([1.045, 1.055], 0.88, 2.98),
        (NumberPosition::Inside, [1, 0, 0, 0], 0),
        "its middle is in our interval"
    );
    // Older documents lack this count, and a count of zero is not written
    let json = r#"{"place":"inside","cases":[1,0,0,0],"printed":[1.0,1.0],"deciding":{"name":"a","figure":F}}"#;
    let json = json.replace('F', &serde_json::to_string(&Interval::exact(1.0)).unwrap());
    let found: Magnitude = serde_json::from_str(&json).unwrap();
    assert_eq!((found.overlaps, serde_json::to_string(&found).unwrap()), (0, json));
}

#[test]
fn magnitudes_of_many_cases_name_the_farthest() {
    let mut all = vec![exact("a/1", 2.0), exact("a/2", 9.0), exact("a/3", 4.0)];
    for (name, value) in [("a/1", 2.0), ("a/2", 3.0)] {
        all.push(Quantity { scope: "paper".into(), kind: QuantityKind::Arithmetic, ..exact(name, value) });
    }
    let (found, kind) = magnitude("'a/{x}'", None, Some("paper"), &all, "here").unwrap().unwrap();
    assert_eq!((found.place, found.cases, kind), (NumberPosition::Varies, [1, 0, 1, 0], QuantityKind::Measured));
    assert_eq!((&found.deciding.name[..], found.printed), ("a/2", [3.0, 3.0]));
    // The paper's own figures are not compared with themselves
    assert!(magnitude("'a/{x}'", None, Some("paper"), &all, "paper").unwrap().is_none());
    assert_eq!(scopes(&all), ["here", "paper"]);
}

#[test]
fn what_is_divided_by_what_may_be_nothing_decides_nothing() {
    // The quotient may have any value, also less than 1; dividing end by end would swap the ends 2 / 3 and 4 / -1
    let through = [quantity("a/1", 2.0, 4.0), quantity("b/1", -1.0, 3.0)];
    for rule in
        ["every 'a/{x}' over 'b/{x}' > 0.5", "every 'a/{x}' over 'b/{x}' < 0.1", "some 'a/{x}' over 'b/{x}' > 0.5"]
    {
        assert_eq!(found(rule, &through).0, CannotBeTold, "{rule}");
    }
    let (number, _) = magnitude("'a/{x}' over 'b/{x}'", Some([9.0, 9.0]), None, &through, "here").unwrap().unwrap();
    assert_eq!((number.place, number.cases), (NumberPosition::Unknown, [0, 0, 0, 1]));
    // It must not be left out if the other cases hold
    let mut two = vec![exact("a/2", 2.0), exact("b/2", 1.0)];
    assert_eq!(found("every 'a/{x}' over 'b/{x}' > 1", &two).0, Holds);
    two.extend(through);
    let (verdict, cases, _) = found("every 'a/{x}' over 'b/{x}' > 1", &two);
    assert_eq!((verdict, cases), (CannotBeTold, [1, 0, 1]));
    let json = serde_json::to_string(&direction("every 'a/{x}' over 'b/{x}' > 1", &two, "here").unwrap().unwrap().0);
    assert!(!json.unwrap().contains("null"), "a file cannot hold what is not finite");
}

#[test]
fn a_middle_of_nothing_decides_nothing_either() {
    let through = [exact("a", 2.0), quantity("b", -1.0, 1.0)];
    assert_eq!(found("every 'a' over 'b' > 0.5", &through).0, CannotBeTold);
    let (shown, _) = direction("every 'a' over 'b' > 0.5", &through, "here").unwrap().unwrap();
    assert_eq!((&shown.deciding.name[..], shown.deciding.figure.basis), ("b, which a is divided by", Basis::Open));
    // There is no quotient if the divisor is exactly zero
    assert!(direction("every 'a' over 'b' > 1", &[exact("a", 2.0), exact("b", 0.0)], "here").unwrap().is_none());
}

#[test]
fn what_is_divided_may_be_negative() {
    let two = [quantity("a", -2.0, -1.0), quantity("b", 1.0, 2.0)];
    assert_eq!(found("every 'a' over 'b' > -1.5", &two).0, CannotBeTold, "from -2 to -0.5");
    assert_eq!(found("every 'a' over 'b' from -2 to -0.5", &two).0, Holds);
    assert_eq!(found("every 'b' over 'a' from -2 to -0.5", &two).0, Holds);
}

#[test]
fn a_figure_of_few_rounds_decides_nothing() {
    let mut one = [exact("a", 2.0)];
    one[0].figure = Interval::of(&[2.0, 2.0, 2.1], 1).unwrap();
    assert_eq!(found("every 'a' > 1", &one).0, CannotBeTold);
    let (number, _) = magnitude("'a'", Some([9.0, 9.0]), None, &one, "here").unwrap().unwrap();
    assert_eq!(number.place, NumberPosition::Unknown);
}

#[test]
fn three_seeds_need_students_quantiles_to_refute() {
    // Six cases with three seeds each: the interval is widened by 2.53, not by 1.35
    let all: Vec<Quantity> = (0..6)
        .map(|x| {
            let figure = Interval::of_starts(&[1.0, 1.3, 1.6], &[1; 3], 1).unwrap();
            Quantity { figure, ..exact(&format!("a/{x}"), 0.0) }
        })
        .collect();
    let high = all[0].figure.high;
    let beyond = |times: f64| 1.3 + (high - 1.3) * times;
    let verdict = |bound: f64| found(&format!("every 'a/{{x}}' > {bound}"), &all).0;
    assert_eq!([beyond(1.05), beyond(2.4), beyond(2.65)].map(verdict), [CannotBeTold, CannotBeTold, DoesNotHold]);
}

/// A rule for every number of clients says something else if one number was not measured.
#[test]
fn what_a_rule_expects_and_was_not_measured_is_named() {
    let rule = "every 'a/{n:1,2}' > 1 and every 'b/{n:1,2}' over 'c/{n:1,2}' > 1";
    let missing = |all: &[Quantity]| direction(rule, all, "here").unwrap().unwrap().0.missing;
    let mut all = vec![exact("a/1", 2.0), exact("b/1", 2.0), exact("c/1", 1.0)];
    assert_eq!(missing(&all), ["n 2"]);
    all.extend([exact("a/2", 2.0), exact("b/2", 2.0), exact("c/2", 1.0)]);
    assert!(missing(&all).is_empty());
}

#[test]
fn a_quotient_with_a_figure_known_once_has_no_ends() {
    let once = Quantity { once: true, ..quantity("b", 1.9, 2.1) };
    for all in
        [[quantity("a", 3.9, 4.1), once.clone()], [Quantity { name: "a".into(), ..once }, quantity("b", 1.0, 3.0)]]
    {
        let (found, _) = direction("every 'a' over 'b' > 1", &all, "here").unwrap().unwrap();
        let figure = found.deciding.figure;
        assert_eq!((found.verdict, figure.basis), (CannotBeTold, Basis::Open), "{figure:?}");
        assert_eq!((figure.low, figure.high), (figure.median, figure.median));
    }
}

/// The margin is relative to the bound that is nearer in this sense, whatever the signs.
#[test]
fn the_least_margin_is_relative_to_its_bound() {
    let two = |one: f64, other: f64| [exact("a/1", one), exact("a/2", other)];
    let deciding = |rule: &str, all: &[Quantity]| found(rule, all).2;
    assert_eq!(deciding("every 'a/{x}' > -1", &two(1.0, 3.0)), "a/1");
    assert_eq!(deciding("every 'a/{x}' < 5", &two(-1.0, 3.0)), "a/2");
    // 3 is a half of the lower bound above it, 40 six tenths of the upper one below it, 60 four tenths.
    assert_eq!(deciding("every 'a/{x}' from 2 to 100", &two(3.0, 40.0)), "a/1");
    assert_eq!(deciding("every 'a/{x}' from 2 to 100", &two(3.0, 60.0)), "a/2");
}

/// Of positive figures the factor counts, of others the difference.
#[test]
fn the_farthest_case_is_that_of_the_largest_factor() {
    let farthest = |pairs: [[f64; 2]; 2]| {
        let all: Vec<Quantity> = pairs
            .iter()
            .enumerate()
            .flat_map(|(i, &[ours, theirs])| {
                let name = format!("a/{i}");
                [exact(&name, ours), Quantity { scope: "paper".into(), ..exact(&name, theirs) }]
            })
            .collect();
        magnitude("'a/{x}'", None, Some("paper"), &all, "here").unwrap().unwrap().0.deciding.name
    };
    assert_eq!(farthest([[2.5, 1.0], [9.0, 6.0]]), "a/0", "2.5 times, not 1.5 times");
    for other in [[0.0, 1.0], [1.0, 0.0], [-3.0, -3.2]] {
        assert_eq!(farthest([other, [8.0, 1.0]]), "a/1", "{other:?}: at most 1 apart");
    }
    assert_eq!(farthest([[-3.0, -3.2], [2.0, 1.0]]), "a/1");
    assert_eq!(farthest([[0.0, 5.0], [2.0, 1.0]]), "a/0");
}

#[test]
fn most_cannot_be_told_if_too_few_cases_can() {
    let all = [exact("a/1", 1.0), quantity("a/2", 1.0, 3.0), quantity("a/3", 1.0, 3.0)];
    assert_eq!(direction("most 'a/{x}' > 2", &all, "here").unwrap().unwrap().0.cases, [0, 1, 2]);
    assert_eq!(found("most 'a/{x}' > 2", &all).0, CannotBeTold);
}

#[test]
fn a_rule_is_about_what_it_divides_and_what_it_divides_by() {
    let rule = "every 'a/{x}' over 'b/{x}' > 1 and some 'c' < 2";
    for (name, about) in [("a/1", true), ("b/1", true), ("c", true), ("d", false), ("a", false)] {
        assert_eq!(is_about(rule, name).unwrap(), about, "{name}");
    }
    assert!(is_about("every", "a").is_err());
}

#[test]
fn what_a_magnitude_says_is_written() {
    use NumberPosition::{Above, Below, Inside, Overlaps, Unknown, Varies};
    let words = [Inside, Overlaps, Above, Below, Varies, Unknown].map(NumberPosition::words);
    assert_eq!(words, ["inside", "overlaps", "above ours", "below ours", "differs", "spread unknown"]);
    let edge = [quantity("a", 1.439, 1.512)];
    let (found, _) = magnitude("'a'", Some([1.49, 1.58]), None, &edge, "here").unwrap().unwrap();
    assert!(serde_json::to_string(&found).unwrap().contains(r#""overlaps":1"#));
}

#[test]
fn a_figure_without_an_end_is_no_case() {
    let mut one = [exact("a", 2.0)];
    for (low, high) in [(1.0, f64::INFINITY), (f64::NEG_INFINITY, 3.0)] {
        (one[0].figure.low, one[0].figure.high) = (low, high);
        assert!(direction("every 'a' > 1", &one, "here").unwrap().is_none());
    }
}
