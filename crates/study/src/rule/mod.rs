//! Rules state what must be true of which figures for a claim to hold. They are data (in `data/*.toml`). This module
//! computes verdicts from rules and quantities, and from nothing else.
//!
//! A rule consists of clauses joined by `and`. A clause selects figures by a pattern for their names, within one
//! circumstance:
//!
//! ```text
//! every 'GCM : CBC/{direction}/{file}' > 1.02
//! most  'loss/GCM/{case}' over 'loss/CBC/{case}' < 1
//! some  'growth/{x}' from 8 to 12.5
//! ```
//!
//! `{x}` matches any text without `/`; equal names must match equal texts. Each matching figure is a case.
//! `{x:1,2}` says which texts are expected. Those that are missing are named beside the verdict, unless all are: then the
//! circumstance is about others. `over`
//! divides two figures whose placeholders match the same texts. The interval of the quotient is as wide as the ends of
//! both allow. If the two were measured in the same rounds, a quantity with the name of the case (`rate/a over
//! rate/b`) contains the quotient computed round by round, and is used instead. A case cannot be told if its figure
//! was measured once, has too few samples, or is a quotient whose divisor may be zero.
//!
//! **Many cases.** If every 95 % interval could refute a claim of twenty cases, true claims would be refuted by chance
//! in more than 5 % of measurements. Therefore a case that decides for all (one that fails if every case
//! must hold, or one that holds if some case must hold) is judged by an interval of the level 1 - 0.05/n, where n is
//! the number of cases in all clauses of the rule (Bonferroni).

mod parse;
mod pattern;

use schemars::JsonSchema;
use sealwright_measure::{Basis, Interval, Verdict};
use serde::{Deserialize, Serialize};

pub use self::parse::RuleError;
use self::{
    parse::{Clause, Clauses, HowMany, Term, Test},
    pattern::{Captures, Pattern},
};
use crate::quantity::{Quantity, QuantityKind};

/// A paper's number and what it is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The names of the quantities.
    pub of: String,
    /// The number, as a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<[f64; 2]>,
    /// Alternatively, the circumstance of the paper's own quantities, which are compared one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// The result of a rule in one circumstance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Direction {
    /// Whether the claim holds.
    pub verdict: Verdict,
    /// Numbers of cases in which it holds, does not hold, cannot be told.
    pub cases: [usize; 3],
    /// The case that decides: one that fails, or else the one that holds with the least margin.
    pub deciding: Case,
    /// What the rule expects beside these cases, and what was not measured: `clients 100000`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// How the paper's number compares with the figures of one circumstance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Magnitude {
    /// Where the paper's number lies.
    pub place: NumberPosition,
    /// Numbers of cases in which it is inside, above or below the interval, and in which the spread of the figure is
    /// unknown.
    pub cases: [usize; 4],
    /// Number of cases in which it overlaps.
    #[serde(default, skip_serializing_if = "none")]
    pub overlaps: usize,
    /// The paper's number in the case that decides; both ends are equal unless the paper printed a range.
    pub printed: [f64; 2],
    /// The case that decides: the one that is farthest from the paper's number.
    pub deciding: Case,
}

fn none(count: &usize) -> bool {
    *count == 0
}

/// A case with its figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// The name of the quantity, or of the two.
    pub name: String,
    /// Its figure.
    pub figure: Interval,
}

/// Where the paper's number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Place")]
pub enum NumberPosition {
    /// The middle of the paper's range is inside our interval, or our figure is inside the paper's range.
    Inside,
    /// Not inside, but the paper's range overlaps our interval (widened for the number of cases).
    Overlaps,
    /// Above our interval (widened for the number of cases).
    Above,
    /// Below our interval (widened for the number of cases).
    Below,
    /// Different in different cases.
    Varies,
    /// The spread of our figure is unknown.
    Unknown,
}

impl NumberPosition {
    /// The position of the paper's number as text.
    pub fn words(self) -> &'static str {
        match self {
            NumberPosition::Inside => "inside",
            NumberPosition::Overlaps => "overlaps",
            NumberPosition::Above => "above ours",
            NumberPosition::Below => "below ours",
            NumberPosition::Varies => "differs",
            NumberPosition::Unknown => "spread unknown",
        }
    }
}

/// A case to be judged.
struct Tried {
    case: Case,
    captures: Captures,
    /// Whether a verdict may be based on it.
    tells: bool,
    kind: QuantityKind,
}

/// The verdict of `rule` on the quantities of `scope`, and the kind of the quantities; `None` if a clause has no case
/// in this scope.
///
/// # Errors
/// When the rule cannot be parsed.
pub fn direction(
    rule: &str,
    quantities: &[Quantity],
    scope: &str,
) -> Result<Option<(Direction, QuantityKind)>, RuleError> {
    let Clauses(clauses) = parse::clauses(rule)?;
    let here: Vec<&Quantity> = quantities.iter().filter(|quantity| quantity.scope == scope).collect();
    let clauses = clauses.iter().map(|clause| (clause, tried(&clause.term, &here)));
    let clauses: Vec<(&Clause, Vec<Tried>)> = clauses.collect();
    let cases = clauses.iter().map(|(_, cases)| cases.len()).sum();
    let found: Option<Vec<(Direction, QuantityKind)>> =
        clauses.iter().map(|(clause, tried)| judge(clause, tried, cases)).collect();
    Ok(found.and_then(|all| {
        let verdict = Verdict::all(all.iter().map(|(one, _)| one.verdict));
        let cases = [0, 1, 2].map(|at| all.iter().map(|(one, _)| one.cases[at]).sum());
        let kind = all.iter().map(|(_, kind)| *kind).min()?;
        let mut missing: Vec<String> = Vec::new();
        for words in all.iter().flat_map(|(one, _)| &one.missing) {
            if !missing.contains(words) {
                missing.push(words.clone());
            }
        }
        let (deciding, _) = all.into_iter().find(|(one, _)| one.verdict == verdict)?;
        Some((Direction { verdict, cases, deciding: deciding.deciding, missing }, kind))
    }))
}

/// The position of the paper's numbers relative to the figures of `scope`. They are either one range for all cases
/// (`printed`), or the figures of the same names in the circumstance `against`.
///
/// # Errors
/// When the term `figure` cannot be parsed.
pub fn magnitude(
    figure: &str,
    printed: Option<[f64; 2]>,
    against: Option<&str>,
    quantities: &[Quantity],
    scope: &str,
) -> Result<Option<(Magnitude, QuantityKind)>, RuleError> {
    let term = parse::term(figure)?;
    let of = |scope: &str| {
        let here: Vec<&Quantity> = quantities.iter().filter(|quantity| quantity.scope == scope).collect();
        tried(&term, &here)
    };
    let theirs = against.filter(|against| *against != scope).map(of).unwrap_or_default();
    let pairs = of(scope).into_iter().filter_map(|ours| {
        let same = || theirs.iter().find(|other| other.case.name == ours.case.name);
        let range = printed.or_else(|| same().map(|other| [other.case.figure.low, other.case.figure.high]))?;
        Some((ours, range))
    });
    let pairs: Vec<(Tried, [f64; 2])> = pairs.collect();
    Ok(placed(&pairs))
}

fn placed(pairs: &[(Tried, [f64; 2])]) -> Option<(Magnitude, QuantityKind)> {
    let place = |(ours, [low, high]): &(Tried, [f64; 2])| {
        let figure = ours.case.figure;
        // The interval is widened for the number of cases only to decide that the paper's number lies outside, not to
        // include it
        let wide = figure.one_of(pairs.len());
        match () {
            () if !ours.tells => NumberPosition::Unknown,
            () if *low > wide.high => NumberPosition::Above,
            () if *high < wide.low => NumberPosition::Below,
            () if figure.contains(f64::midpoint(*low, *high)) => NumberPosition::Inside,
            () if (*low..=*high).contains(&figure.median) => NumberPosition::Inside,
            () => NumberPosition::Overlaps,
        }
    };
    let places: Vec<NumberPosition> = pairs.iter().map(place).collect();
    let kinds = [NumberPosition::Inside, NumberPosition::Above, NumberPosition::Below, NumberPosition::Unknown];
    let count = |kind| places.iter().filter(|place| **place == kind).count();
    let (cases, overlaps) = (kinds.map(count), count(NumberPosition::Overlaps));
    let (&first, kind) = (places.first()?, pairs.iter().map(|(ours, _)| ours.kind).min()?);
    let overall = if places.iter().all(|place| *place == first) { first } else { NumberPosition::Varies };
    // The distance of the figures, as a factor if both are positive
    let far = |(ours, [low, high]): &(Tried, [f64; 2])| {
        let (ours, theirs) = (ours.case.figure.median, f64::midpoint(*low, *high));
        if ours > 0.0 && theirs > 0.0 { (ours / theirs).ln().abs() } else { (ours - theirs).abs() }
    };
    // Cases whose spread is known take precedence
    let order = |pair: &(Tried, [f64; 2])| (pair.0.tells, far(pair));
    let farthest = pairs.iter().max_by(|a, b| {
        let ((first, near), (second, other)) = (order(a), order(b));
        first.cmp(&second).then(near.total_cmp(&other))
    });
    let (farthest, printed) = farthest?;
    let deciding = farthest.case.clone();
    Some((Magnitude { place: overall, cases, overlaps, printed: *printed, deciding }, kind))
}

/// The distinct circumstances of `quantities`, in order of first occurrence.
pub fn scopes(quantities: &[Quantity]) -> Vec<&str> {
    let mut scopes: Vec<&str> = Vec::new();
    for quantity in quantities {
        if !scopes.contains(&&quantity.scope[..]) {
            scopes.push(&quantity.scope);
        }
    }
    scopes
}

/// Whether a quantity with this name can be a case of `rule`.
///
/// # Errors
/// When the rule cannot be parsed.
pub fn is_about(rule: &str, name: &str) -> Result<bool, RuleError> {
    let Clauses(clauses) = parse::clauses(rule)?;
    let fits = |pattern: &Pattern| pattern.fits(name, &Captures::new()).is_some();
    Ok(clauses.iter().any(|clause| fits(&clause.term.figure) || clause.term.over.as_ref().is_some_and(fits)))
}

/// Checks that a rule and a term can be parsed.
///
/// # Errors
/// When one of them cannot be parsed.
#[cfg(test)]
pub(crate) fn read(direction: Option<&str>, magnitude: Option<&str>) -> Result<(), RuleError> {
    direction.map(parse::clauses).transpose()?;
    magnitude.map(parse::term).transpose()?;
    Ok(())
}

/// The cases of a term: each matching figure, or each quotient of matching figures.
fn tried(term: &Term, here: &[&Quantity]) -> Vec<Tried> {
    let fitting = |pattern: &Pattern, known: &Captures| {
        let one = |quantity: &&Quantity| Some(((*quantity).clone(), pattern.fits(&quantity.name, known)?));
        here.iter().filter_map(one).collect::<Vec<_>>()
    };
    let mut cases = Vec::new();
    let finite = |figure: &Interval| figure.low.is_finite() && figure.high.is_finite();
    for (quantity, captures) in fitting(&term.figure, &Captures::new()) {
        let tells = quantity.tells();
        let Quantity { name, figure, kind, once, .. } = quantity;
        let Some(over) = &term.over else {
            cases.push(Tried { case: Case { name, figure }, captures, tells, kind });
            continue;
        };
        for (under, captures) in fitting(over, &captures).into_iter().filter(|(under, _)| under.name != name) {
            let same_rounds = format!("{name} over {}", under.name);
            if let Some(paired) = here.iter().find(|quantity| quantity.name == same_rounds) {
                let case = Case { name: same_rounds, figure: paired.figure };
                cases.push(Tried { case, captures, tells: paired.tells(), kind: paired.kind });
                continue;
            }
            let Some(mut case) = quotient(&name, figure, &under) else { continue };
            if once || under.once {
                // The spread of one of them is unknown, and so are the ends of the quotient
                let Interval { median, .. } = case.figure;
                case.figure = Interval { basis: Basis::Open, low: median, high: median, ..case.figure };
            }
            let tells = tells && under.tells() && case.figure.tells();
            cases.push(Tried { case, captures, tells, kind: kind.min(under.kind) });
        }
    }
    cases.retain(|tried: &Tried| finite(&tried.case.figure));
    cases
}

/// The quotient of two figures; `None` if the divisor is exactly zero. If the divisor's middle is zero but its
/// interval is not, there is no quotient to show, so the case contains the divisor.
fn quotient(name: &str, figure: Interval, under: &Quantity) -> Option<Case> {
    match figure.over(under.figure) {
        Some(figure) => Some(Case { name: format!("{name} over {}", under.name), figure }),
        None if under.figure.low == under.figure.high => None,
        None => {
            let figure = Interval { basis: Basis::Open, ..under.figure };
            Some(Case { name: format!("{}, which {name} is divided by", under.name), figure })
        }
    }
}

/// The verdict of one clause; `all` is the number of cases in the whole rule. `None` if the clause has no case.
fn judge(clause: &Clause, cases: &[Tried], all: usize) -> Option<(Direction, QuantityKind)> {
    let verdicts: Vec<Verdict> = cases.iter().map(|one| verdict(clause, one, all)).collect();
    let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let counts = [Verdict::Holds, Verdict::DoesNotHold, Verdict::CannotBeTold].map(count);
    let [holds, fails, _] = counts;
    let verdict = match clause.how_many {
        HowMany::Every => Verdict::all(verdicts.iter().copied()),
        HowMany::Some => Verdict::all(verdicts.iter().map(|verdict| verdict.opposite())).opposite(),
        HowMany::Most if 2 * holds > cases.len() => Verdict::Holds,
        HowMany::Most if 2 * fails >= cases.len() => Verdict::DoesNotHold,
        HowMany::Most => Verdict::CannotBeTold,
    };
    let of_that = cases.iter().zip(&verdicts).filter(|(_, one)| **one == verdict).map(|(tried, _)| tried);
    // Of the cases with the overall verdict, the one with the least margin; if cases fail, that is the clearest
    // failure
    let deciding = of_that.min_by(|a, b| margin(clause.test, a).total_cmp(&margin(clause.test, b)))?;
    let kind = cases.iter().map(|one| one.kind).min()?;
    let captures: Vec<&Captures> = cases.iter().map(|one| &one.captures).collect();
    let patterns = [&clause.term.figure].into_iter().chain(&clause.term.over);
    let missing = patterns.flat_map(|pattern| pattern.missing(&captures)).collect();
    Some((Direction { verdict, cases: counts, deciding: deciding.case.clone(), missing }, kind))
}

/// The verdict on one of `cases` cases.
fn verdict(clause: &Clause, tried: &Tried, cases: usize) -> Verdict {
    if !tried.tells {
        return Verdict::CannotBeTold;
    }
    let test = |interval: Interval| match clause.test {
        Test::Above(bound) => Verdict::above(interval, bound),
        Test::Below(bound) => Verdict::below(interval, bound),
        Test::Between(low, high) => Verdict::between(interval, low, high),
    };
    let (plain, wide) = (test(tried.case.figure), test(tried.case.figure.one_of(cases)));
    // A single case decides if it fails under `every` or holds under `some`, so it must do so with the widened
    // interval
    match (clause.how_many, plain) {
        (HowMany::Every, Verdict::DoesNotHold) | (HowMany::Some, Verdict::Holds) | (HowMany::Most, _) => wide,
        _ => plain,
    }
}

/// The distance of a case from failing, relative to the bound; negative if it fails.
fn margin(test: Test, tried: &Tried) -> f64 {
    let (x, size) = (tried.case.figure.median, |bound: f64| bound.abs().max(f64::MIN_POSITIVE));
    match test {
        Test::Above(bound) => (x - bound) / size(bound),
        Test::Below(bound) => (bound - x) / size(bound),
        Test::Between(low, high) => ((x - low) / size(low)).min((high - x) / size(high)),
    }
}

#[cfg(test)]
mod tests;
