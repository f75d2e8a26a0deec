//! The rows to plot: CSV tables, as sweeps write them, and the JSON output of runs and sweeps.

use std::collections::{BTreeMap, HashMap, HashSet};

use sealwright_smp::{ALSO_SETTINGS, Stats, meaning};
use serde_json::Value;

use super::error::PlotError;

/// The column with the name of the file that a row is from, without its ending.
const FILE: &str = "file";

/// The setting in which runs of one point may differ.
pub(super) const SEED: &str = "machine.seed";

/// The most columns; a run has some hundreds.
const MOST: usize = 10_000;

/// The most cells of all rows: some gigabytes.
pub(super) const MOST_CELLS: usize = 1 << 27;

/// A column's name, and whether it is a setting: what a run was told, and not what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) setting: bool,
}

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Texts by the number of their column, in that order. Columns that it lacks take no room.
    cells: Vec<(usize, String)>,
    /// Whether all of its settings are among them. Of a sweep, they are those that it varied.
    pub(super) whole: bool,
}

/// Rows of one or several files.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(super) columns: Vec<Column>,
    /// Where each column is.
    places: HashMap<Column, usize>,
    rows: Vec<Row>,
    /// Names of files without folder and ending, and which file has each.
    files: HashMap<String, String>,
    /// Cells of all rows.
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
        // A sweep puts settings first, before the first name that is only a statistic's
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
            // A trace is known by its digest, wherever its files are
            let digest = workload.and_then(|workload| workload.get("digest")).is_some_and(Value::is_string);
            let mut cells = Vec::new();
            for settings in ["settings", "config"].into_iter().filter_map(|name| tree.get(name)) {
                // A sweep's settings are names with dots, a run's are a tree
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
            // Of two files with one name, the second one has its whole path
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
            // Of two in one column, the last
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

    /// The column of seeds, if there is one.
    pub(super) fn seed(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.name == SEED)
    }

    /// The column of files' names.
    pub(super) fn file(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.name == FILE)
    }

    /// Every row.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// What a row has in a column.
    pub(super) fn cell<'a>(&self, row: &'a Row, column: usize) -> &'a str {
        row.cells.binary_search_by_key(&column, |(at, _)| *at).map_or("", |found| &row.cells[found].1)
    }

    /// What a row was told: columns of settings that it has, with its texts.
    pub(super) fn told<'a>(&self, row: &'a Row) -> impl Iterator<Item = (usize, &'a str)> {
        let settings = row.cells.iter().filter(|(at, _)| self.columns[*at].setting);
        settings.map(|(at, text)| (*at, text.as_str()))
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
