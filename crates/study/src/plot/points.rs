//! Converts rows to points: selects rows, compares them with their base, and groups those at the same point.

use std::collections::{BTreeSet, HashMap, HashSet, hash_map::Entry};

use sealwright_measure::Interval;

use super::{
    error::PlotError,
    question::Question,
    rows::{Row, Rows, SEED, number},
};

/// The values at one point of the plot.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) x: String,
    /// Name of the series; empty if there is only one.
    pub(super) by: String,
    pub(super) samples: Vec<f64>,
}

impl Group {
    /// The mean of the values with its 95 % interval; for one value, that value.
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

/// All points, with the full names of the columns.
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
    let mut left: Vec<&Row> = rows.iter().collect();
    for (name, value) in &question.only {
        left = having(rows, &left, rows.column(name)?, value)?;
    }
    let name = |column: usize| rows.columns[column].name.clone();
    let over = match &question.over {
        Some((name, value)) => {
            let column = rows.column(name)?;
            let bases = having(rows, &left, column, value)?;
            Some((column, bases_of(rows, &bases, column, y)?, value.clone()))
        }
        None => None,
    };
    let seed = rows.seed();
    let mut groups: Vec<(Group, Place)> = Vec::new();
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
                let (group, known) = &mut groups[*place.get()];
                alike(rows, known.first, row)?;
                if !known.seeds.insert(seed.map_or("", |seed| rows.cell(row, seed))) {
                    return Err(PlotError::Twice { column: name(x), value: at.to_owned() });
                }
                group.samples.push(figure);
            }
            Entry::Vacant(place) => {
                place.insert(groups.len());
                let seeds = HashSet::from([seed.map_or("", |seed| rows.cell(row, seed))]);
                let group = Group { x: at.to_owned(), by: of.to_owned(), samples: vec![figure] };
                groups.push((group, Place { first: row, seeds }));
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

/// The runs at one point: the first one, and the seeds of all.
struct Place<'a> {
    first: &'a Row,
    seeds: HashSet<&'a str>,
}

/// All settings of a run except one column. If not all settings are known, the file's name is included, otherwise it
/// is empty.
type Key<'a> = (&'a str, Vec<(usize, &'a str)>);

/// The runs to compare others with, by the key that both must have. If several have the same key, their values must be
/// equal.
fn bases_of<'a>(
    rows: &Rows,
    bases: &[&'a Row],
    column: usize,
    y: usize,
) -> Result<HashMap<Key<'a>, &'a Row>, PlotError> {
    let mut known: HashMap<Key<'a>, &'a Row> = HashMap::new();
    for &base in bases {
        let first: &Row = known.entry(settings(rows, base, column)).or_insert(base);
        if rows.cell(first, y) != rows.cell(base, y) {
            let value = rows.cell(base, column);
            return Err(PlotError::Bases {
                over: format!("{}={value}", rows.columns[column].name),
                column: rows.columns[y].name.clone(),
                values: [first, base].map(|row| rows.cell(row, y).to_owned()).to_vec(),
            });
        }
    }
    Ok(known)
}

/// The rows in which `column` has this value.
fn having<'a>(rows: &Rows, of: &[&'a Row], column: usize, value: &str) -> Result<Vec<&'a Row>, PlotError> {
    let found: Vec<&Row> = of.iter().filter(|row| rows.cell(row, column) == value).copied().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut seen = HashSet::new();
    let known = of.iter().map(|row| rows.cell(row, column)).filter(|one| seen.insert(*one));
    let known = known.map(str::to_owned).collect();
    Err(PlotError::NoRow { column: rows.columns[column].name.clone(), value: value.to_owned(), known })
}

fn read(rows: &Rows, row: &Row, column: usize) -> Result<f64, PlotError> {
    let text = rows.cell(row, column);
    let name = || rows.columns[column].name.clone();
    number(text).ok_or_else(|| PlotError::NotNumber { column: name(), value: text.to_owned() })
}

/// The columns of settings in which two runs differ.
fn differing(rows: &Rows, a: &Row, b: &Row) -> Vec<usize> {
    let differs = |at: &usize| rows.cell(a, *at) != rows.cell(b, *at);
    let columns: BTreeSet<usize> = [a, b].into_iter().flat_map(|row| rows.told(row)).map(|(at, _)| at).collect();
    columns.into_iter().filter(differs).collect()
}

/// The key that a run must share with its base: its settings except the column `but`.
fn settings<'a>(rows: &Rows, row: &'a Row, but: usize) -> Key<'a> {
    let told = rows.told(row).filter(|(at, _)| *at != but);
    // If not all settings are known, runs from different files may be of different programs
    let file = rows.file().filter(|file| *file != but && !row.whole);
    (file.map_or("", |file| rows.cell(row, file)), told.collect())
}

/// Checks that runs at one point differ only in their seed. If not all settings are known, they must also come from
/// the same file, because runs of different files may differ in unknown settings.
fn alike(rows: &Rows, first: &Row, row: &Row) -> Result<(), PlotError> {
    let told = differing(rows, first, row).into_iter().find(|column| rows.columns[*column].name != SEED);
    let whole = first.whole && row.whole;
    let file = rows.file().filter(|file| !whole && rows.cell(first, *file) != rows.cell(row, *file));
    match told.or(file) {
        None => Ok(()),
        Some(column) => {
            let values = [first, row].map(|row| rows.cell(row, column).to_owned()).to_vec();
            Err(PlotError::Mixed { column: rows.columns[column].name.clone(), values })
        }
    }
}
