//! From rows to points: those that are asked for, compared with their base, gathered by place.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use sealwright_measure::Interval;

use super::{
    error::PlotError,
    question::Question,
    rows::{Rows, number},
};

/// The setting in which runs of one point may differ.
const SEED: &str = "machine.seed";

/// Figures of one place.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) x: String,
    /// The series; empty if there is but one.
    pub(super) by: String,
    pub(super) samples: Vec<f64>,
}

impl Group {
    /// Their mean with its 95 % interval; of one, that figure.
    pub(super) fn interval(&self) -> Interval {
        match self.samples[..] {
            [one] => Interval::exact(one),
            ref all => {
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                Interval::of_starts(all, &vec![1; all.len()], 1).unwrap_or_else(|| Interval::exact(mean))
            }
        }
    }
}

/// Everything that is drawn, with the whole names of its columns.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    pub(super) x: String,
    pub(super) y: String,
    pub(super) by: Option<String>,
    pub(super) over: Option<String>,
}

pub(super) fn groups(rows: &Rows, question: &Question) -> Result<Groups, PlotError> {
    let (x, y) = (rows.column(&question.x)?, rows.column(&question.y)?);
    let by = question.by.as_deref().map(|by| rows.column(by)).transpose()?;
    let mut left: Vec<&[String]> = rows.iter().collect();
    for (name, value) in &question.only {
        left = having(rows, &left, rows.column(name)?, value)?;
    }
    let name = |column: usize| rows.columns[column].name.clone();
    let over = match &question.over {
        Some((name, value)) => {
            let column = rows.column(name)?;
            let bases = having(rows, &left, column, value)?;
            // Of several runs with the same settings, the first
            let bases = bases.into_iter().rev().map(|base| (settings(rows, base, column), base));
            Some((column, bases.collect::<HashMap<_, _>>(), value.clone()))
        }
        None => None,
    };
    let mut groups: Vec<(Group, &[String])> = Vec::new();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    for row in left {
        if rows.cell(row, y).is_empty() {
            continue;
        }
        let mut figure = read(rows, row, y)?;
        if let Some((column, bases, value)) = &over {
            if rows.cell(row, *column) == value {
                continue;
            }
            let base = bases.get(&settings(rows, row, *column));
            let base = base.map(|base| read(rows, base, y)).transpose()?.filter(|base| *base != 0.0);
            let lacks = || PlotError::NoBase {
                over: format!("{}={value}", name(*column)),
                of: format!("{}={}", name(*column), rows.cell(row, *column)),
            };
            figure = (figure / base.ok_or_else(lacks)? - 1.0) * 100.0;
        }
        let (at, of) = (rows.cell(row, x), by.map_or("", |by| rows.cell(row, by)));
        match places.entry((at, of)) {
            Entry::Occupied(place) => {
                let (group, first) = &mut groups[*place.get()];
                alike(rows, first, row)?;
                group.samples.push(figure);
            }
            Entry::Vacant(place) => {
                place.insert(groups.len());
                groups.push((Group { x: at.to_owned(), by: of.to_owned(), samples: vec![figure] }, row));
            }
        }
    }
    if groups.is_empty() {
        return Err(PlotError::Nothing(name(y)));
    }
    let groups = groups.into_iter().map(|(group, _)| group).collect();
    let over = over.map(|(column, _, value)| format!("{}={value}", name(column)));
    Ok(Groups { groups, x: name(x), y: name(y), by: by.map(name), over })
}

/// The rows with this value.
fn having<'a>(rows: &Rows, of: &[&'a [String]], column: usize, value: &str) -> Result<Vec<&'a [String]>, PlotError> {
    let found: Vec<&[String]> = of.iter().filter(|row| rows.cell(row, column) == value).copied().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut seen = HashSet::new();
    let known = of.iter().map(|row| rows.cell(row, column)).filter(|one| seen.insert(*one));
    let known = known.map(str::to_owned).collect();
    Err(PlotError::NoRow { column: rows.columns[column].name.clone(), value: value.to_owned(), known })
}

fn read(rows: &Rows, row: &[String], column: usize) -> Result<f64, PlotError> {
    let text = rows.cell(row, column);
    let name = || rows.columns[column].name.clone();
    number(text).ok_or_else(|| PlotError::NotNumber { column: name(), value: text.to_owned() })
}

/// Columns in which two runs were told different things.
fn differing(rows: &Rows, a: &[String], b: &[String]) -> Vec<usize> {
    let differs = |at: &usize| rows.columns[*at].setting && rows.cell(a, *at) != rows.cell(b, *at);
    (0..rows.columns.len()).filter(differs).collect()
}

/// A run's settings but for one column.
fn settings<'a>(rows: &Rows, row: &'a [String], but: usize) -> Vec<&'a str> {
    let told = rows.columns.iter().enumerate().filter(|(at, column)| column.setting && *at != but);
    told.map(|(at, _)| rows.cell(row, at)).collect()
}

/// Runs of one point differ in their seed alone.
fn alike(rows: &Rows, first: &[String], row: &[String]) -> Result<(), PlotError> {
    match differing(rows, first, row).into_iter().find(|column| rows.columns[*column].name != SEED) {
        None => Ok(()),
        Some(column) => {
            let values = [first, row].map(|row| rows.cell(row, column).to_owned()).to_vec();
            Err(PlotError::Mixed { column: rows.columns[column].name.clone(), values })
        }
    }
}
