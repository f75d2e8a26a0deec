//! The rows of a plot, from CSV tables of sweeps and from the JSON output of runs and sweeps.

use std::collections::{BTreeMap, HashMap, HashSet};

use sealwright_smp::{ALSO_SETTINGS, Stats, meaning};
use serde_json::Value;

use super::error::PlotError;

/// The column with the name of a row's file, without extension.
const FILE: &str = "file";

/// The setting in which runs at the same point may differ.
pub(super) const SEED: &str = "machine.seed";

/// The maximum number of columns; a run has a few hundred.
const MOST: usize = 10_000;

/// The maximum number of cells in all rows, which take some gigabytes.
pub(super) const MOST_CELLS: usize = 1 << 27;

/// A column: its name, and whether it is a setting (input of a run) or a statistic (output).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) setting: bool,
}

/// A row, that is one run.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The cells, sorted by the index of their column. Empty cells are not stored.
    cells: Vec<(usize, String)>,
    /// Whether all settings of the run are known. A row of a sweep has only those that the sweep varied.
    pub(super) whole: bool,
}

/// The rows of one or several files.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(super) columns: Vec<Column>,
    /// The index of each column.
    places: HashMap<Column, usize>,
    rows: Vec<Row>,
    /// Short names of files (without folder and extension), and the path of the first file with that name.
    files: HashMap<String, String>,
    /// Number of cells in all rows.
    pub(super) cells: usize,
}

impl Rows {
    /// Adds the rows of a file: a CSV table, JSON Lines, or JSON objects. Error messages contain its name `file`.
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
        // A sweep writes settings first, up to the first name that can only be a statistic
        let statistics = heads.iter().any(|name| meaning(name).is_some());
        let only = |name: &String| meaning(name).is_some() && !ALSO_SETTINGS.contains(&name.as_str());
        let first = heads.iter().position(only).unwrap_or(0);
        let setting = |(at, name): (usize, &String)| statistics && (meaning(name).is_none() || at < first);
        let settings: Vec<bool> = heads.iter().enumerate().map(setting).collect();
        for row in reader.records() {
            let row = row.map_err(wrong)?;
            let cells = row.iter().enumerate().map(|(at, cell)| (heads[at].clone(), cell.to_owned(), settings[at]));
            self.row(file, cells.collect(), false)?;
        }
        Ok(())
    }

    fn json(&mut self, file: &str, text: &str) -> Result<(), PlotError> {
        let wrong = |why: String| PlotError::Unreadable { file: file.to_owned(), why };
        for (number, tree) in serde_json::Deserializer::from_str(text).into_iter::<Value>().enumerate() {
            let tree = tree.map_err(|error| wrong(error.to_string()))?;
            let lacks = || wrong(format!("object {} has no stats: not what smp run or smp sweep printed", number + 1));
            let stats = tree.get("stats").and_then(Stats::from_json).ok_or_else(lacks)?;
            let workload = tree.get("config").and_then(|config| config.get("workload"));
            // A trace is identified by its digest, so its path does not count as a setting
            let digest = workload.and_then(|workload| workload.get("digest")).is_some_and(Value::is_string);
            let mut cells = Vec::new();
            for settings in ["settings", "config"].into_iter().filter_map(|name| tree.get(name)) {
                // Settings of a sweep are dotted names, those of a run are a tree
                let settings = Stats::from_json(settings).ok_or_else(lacks)?;
                cells.extend(settings.leaves().into_iter().map(|(name, value)| {
                    let setting = !(digest && name == "workload.trace");
                    (name, plain(&value), setting)
                }));
            }
            if let Some(Value::String(name)) = tree.get("workload") {
                cells.push(("workload".to_owned(), name.clone(), true));
            }
            cells.extend(stats.in_all().leaves().into_iter().map(|(name, value)| (name, plain(&value), false)));
            self.row(file, cells, workload.is_some())?;
        }
        Ok(())
    }

    fn row(&mut self, file: &str, mut cells: Vec<(String, String, bool)>, whole: bool) -> Result<(), PlotError> {
        if !cells.iter().any(|(column, ..)| column == FILE) {
            let name = file.rsplit('/').next().unwrap_or(file);
            let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            // A second file with the same short name is named by its path
            let known = self.files.entry(name.to_owned()).or_insert_with(|| file.to_owned()) == file;
            cells.push((FILE.to_owned(), if known { name } else { file }.to_owned(), false));
        }
        let mut row = BTreeMap::new();
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
                    self.places.insert(column, self.columns.len() - 1);
                    self.columns.len() - 1
                }
            };
            // If a column occurs twice, the last value counts
            row.insert(at, value);
        }
        row.retain(|_, value| !value.is_empty());
        self.cells += row.len();
        if self.cells > MOST_CELLS {
            let why = format!("more than {MOST_CELLS} cells, with those of files before it");
            return Err(PlotError::Unreadable { file: file.to_owned(), why });
        }
        self.rows.push(Row { cells: row.into_iter().collect(), whole });
        Ok(())
    }

    /// The index of the column with this name, or whose name begins or ends with it (at a dot). Settings take
    /// precedence over statistics.
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
            // If several settings match, only those that differ between rows are candidates
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

    /// Columns whose names have a part in common with `wanted`; all columns if there are none.
    fn near(&self, wanted: &str) -> Vec<String> {
        let parts: Vec<&str> = wanted.split(['.', '_']).filter(|part| part.len() > 2).collect();
        let like = |name: &str| parts.iter().any(|part| name.contains(part));
        let mut seen = HashSet::new();
        let names = self.columns.iter().map(|column| &column.name).filter(|name| seen.insert(*name));
        let names: Vec<String> = names.cloned().collect();
        let near: Vec<String> = names.iter().filter(|name| like(name)).cloned().collect();
        if near.is_empty() { names } else { near }
    }

    /// The column of seeds, if there is one.
    pub(super) fn seed(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.name == SEED)
    }

    /// The column of file names, if there is one.
    pub(super) fn file(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.name == FILE)
    }

    /// All rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// The cell of a row in a column; empty if the row has none.
    pub(super) fn cell<'a>(&self, row: &'a Row, column: usize) -> &'a str {
        row.cells.binary_search_by_key(&column, |(at, _)| *at).map_or("", |found| &row.cells[found].1)
    }

    /// The settings of a row: indices of columns, and values.
    pub(super) fn told<'a>(&self, row: &'a Row) -> impl Iterator<Item = (usize, &'a str)> {
        let settings = row.cells.iter().filter(|(at, _)| self.columns[*at].setting);
        settings.map(|(at, text)| (*at, text.as_str()))
    }
}

/// The text as a finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A JSON value that is not an object or array, as text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
