//! Rows to draw: tables of CSV, as sweeps write them, and what runs and sweeps print as JSON.

use std::collections::{HashMap, HashSet};

use sealwright_smp::{Stats, meaning};
use serde_json::Value;

use super::error::PlotError;

/// The column with the name of the file that a row is from, without its ending.
const FILE: &str = "file";

/// The most columns; a run has some hundreds.
const MOST: usize = 10_000;

/// The most cells of all rows: some gigabytes. A row of one value has a cell for every column.
pub(super) const MOST_CELLS: usize = 1 << 27;

/// A column's name, and whether it is a setting: what a run was told, and not what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) setting: bool,
}

/// Rows of one or several files.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(super) columns: Vec<Column>,
    /// Where each column is.
    places: HashMap<Column, usize>,
    /// A text for each column, or nothing where a row lacks it.
    rows: Vec<Vec<String>>,
    /// Cells of all rows.
    pub(super) cells: usize,
}

impl Rows {
    /// Adds the rows of a file: a table of CSV, or lines or trees of JSON. `file` is its name for messages.
    ///
    /// # Errors
    /// When the text is neither, or has no row.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), PlotError> {
        let before = self.rows.len();
        if text.trim_start().starts_with('{') {
            self.json(file, text)?;
        } else {
            self.csv(file, text)?;
        }
        if self.rows.len() == before { Err(PlotError::Empty(file.to_owned())) } else { Ok(()) }
    }

    fn csv(&mut self, file: &str, text: &str) -> Result<(), PlotError> {
        let wrong = |error: csv::Error| PlotError::Unreadable { file: file.to_owned(), why: error.to_string() };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
        // A sweep puts settings first. One of them, the scheme's name, is a statistic as well.
        let statistics = heads.iter().any(|name| meaning(name).is_some());
        let last: HashMap<&str, usize> = heads.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let setting =
            |(at, name): (usize, &String)| statistics && (meaning(name).is_none() || last[name.as_str()] > at);
        let settings: Vec<bool> = heads.iter().enumerate().map(setting).collect();
        for row in reader.records() {
            let row = row.map_err(wrong)?;
            let cells = row.iter().enumerate().map(|(at, cell)| (heads[at].clone(), cell.to_owned(), settings[at]));
            self.row(file, cells.collect())?;
        }
        Ok(())
    }

    fn json(&mut self, file: &str, text: &str) -> Result<(), PlotError> {
        let wrong = |why: String| PlotError::Unreadable { file: file.to_owned(), why };
        for (number, tree) in serde_json::Deserializer::from_str(text).into_iter::<Value>().enumerate() {
            let tree = tree.map_err(|error| wrong(error.to_string()))?;
            let lacks = || wrong(format!("object {} has no stats: not what smp run or smp sweep printed", number + 1));
            let stats = tree.get("stats").and_then(Stats::from_json).ok_or_else(lacks)?;
            let mut cells = Vec::new();
            for settings in ["settings", "config"].into_iter().filter_map(|name| tree.get(name)) {
                // A sweep's settings are names with dots, a run's are a tree
                let settings = Stats::from_json(settings).ok_or_else(lacks)?;
                cells.extend(settings.leaves().into_iter().map(|(name, value)| (name, plain(&value), true)));
            }
            if let Some(Value::String(name)) = tree.get("workload") {
                cells.push(("workload".to_owned(), name.clone(), true));
            }
            cells.extend(stats.in_all().leaves().into_iter().map(|(name, value)| (name, plain(&value), false)));
            self.row(file, cells)?;
        }
        Ok(())
    }

    fn row(&mut self, file: &str, mut cells: Vec<(String, String, bool)>) -> Result<(), PlotError> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if !cells.iter().any(|(column, ..)| column == FILE) {
            cells.push((FILE.to_owned(), name.to_owned(), false));
        }
        let mut row = vec![String::new(); self.columns.len()];
        for (name, value, setting) in cells {
            let column = Column { name, setting };
            let at = match self.places.get(&column) {
                Some(at) => *at,
                None if self.columns.len() == MOST => {
                    let why = format!("more than {MOST} columns, with those of files before it");
                    return Err(PlotError::Unreadable { file: file.to_owned(), why });
                }
                None => {
                    self.columns.push(column.clone());
                    self.places.insert(column, row.len());
                    row.push(String::new());
                    row.len() - 1
                }
            };
            row[at] = value;
        }
        self.cells += row.len();
        if self.cells > MOST_CELLS {
            let why = format!("more than {MOST_CELLS} cells, with those of files before it");
            return Err(PlotError::Unreadable { file: file.to_owned(), why });
        }
        self.rows.push(row);
        Ok(())
    }

    /// The column of a name, or of a part of a name between dots; settings come first.
    pub(super) fn column(&self, wanted: &str) -> Result<usize, PlotError> {
        let part = |name: &str| {
            name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
                || name.strip_suffix(wanted).is_some_and(|start| start.ends_with('.'))
        };
        for setting in [true, false] {
            let of_kind = || self.columns.iter().enumerate().filter(move |(_, column)| column.setting == setting);
            if let Some((at, _)) = of_kind().find(|(_, column)| column.name == wanted) {
                return Ok(at);
            }
        }
        for setting in [true, false] {
            let of_kind = self.columns.iter().enumerate().filter(|(_, column)| column.setting == setting);
            let parts: Vec<usize> = of_kind.filter(|(_, column)| part(&column.name)).map(|(at, _)| at).collect();
            // Of several settings, those that differ between rows are meant
            let differs =
                |at: &&usize| self.rows.iter().any(|row| self.cell(row, **at) != self.cell(&self.rows[0], **at));
            let differing: Vec<usize> = parts.iter().filter(differs).copied().collect();
            match (&parts[..], &differing[..]) {
                ([], _) => {}
                ([one], _) | (_, [one]) => return Ok(*one),
                _ => {
                    let columns = parts.iter().map(|at| self.columns[*at].name.clone()).collect();
                    return Err(PlotError::Ambiguous { wanted: wanted.to_owned(), columns });
                }
            }
        }
        Err(PlotError::Column { wanted: wanted.to_owned(), near: self.near(wanted) })
    }

    /// Columns whose names have a part in common with `wanted`, or all.
    fn near(&self, wanted: &str) -> Vec<String> {
        let parts: Vec<&str> = wanted.split(['.', '_']).filter(|part| part.len() > 2).collect();
        let like = |name: &str| parts.iter().any(|part| name.contains(part));
        let mut seen = HashSet::new();
        let names = self.columns.iter().map(|column| &column.name).filter(|name| seen.insert(*name));
        let names: Vec<String> = names.cloned().collect();
        let near: Vec<String> = names.iter().filter(|name| like(name)).cloned().collect();
        if near.is_empty() { names } else { near }
    }

    /// Every row.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// What a row has in a column.
    pub(super) fn cell<'a>(&self, row: &'a [String], column: usize) -> &'a str {
        row.get(column).map_or("", String::as_str)
    }
}

/// The number that a text is.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A leaf as text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
