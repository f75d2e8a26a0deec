//! Plots tables of runs: one column against another, with a series for each value of a third column. Runs that differ
//! only in their seed become a mean with its interval. Plots are drawn like the report's figures.

mod error;
mod points;
mod question;
mod rows;

use std::collections::HashMap;

pub use error::PlotError;
pub use question::Question;
pub use rows::Rows;
use sealwright_smp::meaning;

use crate::{
    figure::{Axis, Figure, PlotKind, Point, Series, X, colour},
    plot::{
        points::{Group, groups},
        rows::number,
    },
    svg,
};

/// The figure that `question` describes, from these rows.
///
/// # Errors
/// When a column does not exist or holds no numbers, when no row is left, or when rows at the same point differ in
/// more than their seed.
pub fn figure(rows: &Rows, question: &Question) -> Result<Figure, PlotError> {
    let slowdown = question.y == "slowdown" && rows.column("slowdown").is_err();
    let mut question = question.clone();
    if slowdown {
        question.y = "cycles".to_owned();
        question.over = question.over.or_else(|| Some(("scheme.name".to_owned(), "clear".to_owned())));
    }
    let found = groups(rows, &question)?;
    let kind = kind(&found.groups, &found.x, &question)?;
    let (y, unit) = match (&found.over, slowdown) {
        (Some(over), true) => (format!("slowdown over {over}"), Some("%")),
        (Some(over), false) => (format!("{} over {over}", found.y), Some("%")),
        (None, _) => (found.y.clone(), meaning(&found.y).map(|known| known.unit).filter(|unit| *unit != found.y)),
    };
    let axis =
        |name: &str, unit: Option<&str>, log| Axis { log, ..Axis::new(name, unit.filter(|unit| !unit.is_empty())) };
    let series = series(&found.groups, kind, &y);
    positive(&series, &question, &found.x, &y)?;
    let by = found.by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default();
    let alt = match found.groups.iter().map(|group| group.samples.len()).max() {
        Some(2..) => "Means over runs, with 95 % intervals.",
        _ => "A run each.",
    };
    Ok(Figure {
        id: "plot".to_owned(),
        title: question.title.clone().unwrap_or_else(|| format!("{y} by {}{by}", found.x)),
        alt: alt.to_owned(),
        kind,
        x: axis(&found.x, None, question.log_x),
        y: axis(&y, unit, question.log_y),
        repeats: false,
        level: None,
        series,
    })
}

/// A figure as an SVG document, with its legend below the drawing.
pub fn drawing(figure: &Figure) -> String {
    svg::alone(figure)
}

fn kind(groups: &[Group], column: &str, question: &Question) -> Result<PlotKind, PlotError> {
    let word = groups.iter().find(|group| number(&group.x).is_none());
    match (question.kind, word) {
        (Some(PlotKind::Lines), Some(group)) => {
            Err(PlotError::Words { column: column.to_owned(), value: group.x.clone() })
        }
        (Some(kind), _) => Ok(kind),
        (None, None) if groups.iter().any(|group| group.x != groups[0].x) => Ok(PlotKind::Lines),
        (None, _) => Ok(PlotKind::Bars),
    }
}

/// Colours for series that have no colour of their own as schemes.
const COLOURS: [usize; 7] =
    [colour::CIRCUMSTANCES[0], colour::CIRCUMSTANCES[1], colour::CIRCUMSTANCES[2], 6, 4, 5, colour::NONE];

fn series(groups: &[Group], kind: PlotKind, y: &str) -> Vec<Series> {
    // In the order of first occurrence
    let mut names: Vec<&str> = Vec::new();
    let mut members: HashMap<&str, Vec<&Group>> = HashMap::new();
    for group in groups {
        let of = members.entry(&group.by).or_default();
        if of.is_empty() {
            names.push(&group.by);
        }
        of.push(group);
    }
    let mut free = COLOURS.into_iter().cycle();
    let of = |name: &str| {
        let mut points: Vec<Point> = Vec::new();
        for group in &members[name] {
            let x = match (kind, number(&group.x)) {
                (PlotKind::Lines, Some(x)) => X::Number(x),
                _ => X::Word(group.x.clone()),
            };
            points.push(Point { x, y: group.interval() });
        }
        points.sort_by(|a, b| match (&a.x, &b.x) {
            (X::Number(a), X::Number(b)) => a.total_cmp(b),
            _ => std::cmp::Ordering::Equal,
        });
        points
    };
    let mut one = |name: &&str| {
        let colour = match *name {
            "gcm" => colour::GCM,
            "cbc" => colour::CBC,
            _ => free.next().unwrap_or(colour::NONE),
        };
        let shown = if name.is_empty() { y } else { *name };
        Series::here(shown, colour, of(name).into_iter().map(|point| (point.x, point.y)))
    };
    names.iter().map(&mut one).collect()
}

/// Returns an error if a logarithmic axis would have to show a number that is not positive.
fn positive(series: &[Series], question: &Question, x: &str, y: &str) -> Result<(), PlotError> {
    let points = || series.iter().flat_map(|series| &series.points);
    let low = points().map(|point| point.y.low).find(|low| question.log_y && *low <= 0.0).map(|low| (y, low));
    let left = points().find_map(|point| match point.x {
        X::Number(at) if question.log_x && at <= 0.0 => Some((x, at)),
        _ => None,
    });
    match low.or(left) {
        Some((column, value)) => Err(PlotError::Log { column: column.to_owned(), value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
