//! Sweeps: every combination of the values that a grid file lists for some settings. Each run is defined by its own
//! settings file, and its results are stored when it ends, so that an interrupted sweep can be continued.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    config::{override_table, parse},
    error::ConfigError,
    hex::hex,
    settings::Settings,
    stats::{Stats, quoted},
    trace::Trace,
};

/// The most runs of a sweep; more is probably a mistake.
pub const MOST: usize = 100_000;

/// The most parts of a setting's name, because nested tables take stack.
const DEEPEST: usize = 8;

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The varied settings and their values in this run.
    pub varied: Vec<(String, String)>,
    /// All settings, as a file.
    pub settings: String,
    /// The trace named in the settings.
    trace: Option<PathBuf>,
}

impl Point {
    /// The key under which results are stored: a digest of all settings and of the simulating program.
    pub fn key(&self, program: &str) -> String {
        let digest = Sha256::new().chain_update(program).chain_update("\n").chain_update(&self.settings).finalize();
        hex(&digest[..16])
    }

    /// The varied settings as text.
    pub fn name(&self) -> String {
        name(&self.varied)
    }
}

impl AsRef<[(String, String)]> for Point {
    fn as_ref(&self) -> &[(String, String)] {
        &self.varied
    }
}

fn name(varied: &[(String, String)]) -> String {
    let words: Vec<String> = varied.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(", ")
}

/// SHA-256 of the program that runs, in hex. Two builds of one version may simulate differently.
///
/// # Errors
/// When the system does not let a program read its own file.
pub fn program() -> io::Result<String> {
    Ok(hex(&Sha256::digest(std::fs::read(std::env::current_exe()?)?)))
}

/// The runs of a grid file: see [`Grid::parse`].
///
/// # Errors
/// As there.
pub fn points(grid: &str) -> Result<Vec<Point>, ConfigError> {
    let grid = Grid::parse(grid)?;
    (0..grid.count()).map(|number| grid.point(number)).collect()
}

/// Base settings and the values to vary. Every combination is a run, which is created on demand.
#[derive(Clone, Debug)]
pub struct Grid {
    base: toml::Table,
    axes: Vec<Axis>,
    count: usize,
}

impl Grid {
    /// Reads a grid file: settings, and a table `vary` of settings with lists of values. Combinations are in the order
    /// of the settings' names, and the last one varies fastest.
    ///
    /// # Errors
    /// When the file is no TOML, varies nothing, or a combination describes no simulation.
    pub fn parse(grid: &str) -> Result<Grid, ConfigError> {
        let mut base = parse(grid)?;
        let vary = match base.remove("vary") {
            Some(toml::Value::Table(vary)) => vary,
            Some(_) => return Err(ConfigError("`vary` must be a table of settings with lists of values".into())),
            None => return Err(ConfigError("there is no table `vary`: nothing to sweep".into())),
        };
        let mut axes = Vec::new();
        flatten("", vary, &mut axes)?;
        Grid::new(base, axes)
    }

    /// Varies base settings by names and values such as `scheme.name` and `gcm`, `bus.width` and `10`. A value that is
    /// not valid TOML is taken as a string.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn over(base: &Settings, axes: &[(String, Vec<String>)]) -> Result<Grid, ConfigError> {
        let value = |word: &String| {
            let parsed = parse(&format!("v = {}", word.trim())).ok().and_then(|mut table| table.remove("v"));
            parsed.unwrap_or_else(|| toml::Value::String(word.trim().to_owned()))
        };
        let axes: Vec<Axis> =
            axes.iter().map(|(name, words)| (name.clone(), words.iter().map(value).collect())).collect();
        if let Some((name, _)) = axes.iter().find(|(name, _)| !name.contains('.') || name.split('.').any(str::is_empty))
        {
            return Err(ConfigError(format!("{name}: a setting has the form a.b")));
        }
        axes.iter().try_for_each(|(name, _)| shallow("", name))?;
        Grid::new(parse(&base.text()?)?, axes)
    }

    fn new(base: toml::Table, axes: Vec<Axis>) -> Result<Grid, ConfigError> {
        apart(&axes)?;
        let count = axes.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
        let Some(count) = count.filter(|count| *count <= MOST) else {
            return Err(ConfigError(format!("more than {MOST} runs")));
        };
        let grid = Grid { base, axes, count };
        // Report errors before anything runs
        (0..count).try_for_each(|number| grid.point(number).map(drop))?;
        Ok(grid)
    }

    /// The number of runs.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The run with this number.
    ///
    /// # Errors
    /// When the combination describes no simulation.
    pub fn point(&self, number: usize) -> Result<Point, ConfigError> {
        let (mut table, mut left) = (self.base.clone(), number);
        let mut places: Vec<usize> = self.axes.iter().rev().map(|(_, values)| place(&mut left, values.len())).collect();
        places.reverse();
        let mut varied = Vec::new();
        for ((path, values), place) in self.axes.iter().zip(places) {
            let value = &values[place];
            let nested = path.rsplit('.').fold(value.clone(), |value, name| {
                toml::Value::Table([(name.to_owned(), value)].into_iter().collect())
            });
            if let toml::Value::Table(change) = nested {
                override_table(&mut table, change);
            }
            varied.push((path.clone(), word(value)));
        }
        let named = |error: ConfigError| ConfigError(format!("{}: {error}", name(&varied)));
        let settings = Settings::over(None, table).map_err(named)?;
        settings.config.check().map_err(named)?;
        Ok(Point { settings: settings.text().map_err(named)?, trace: settings.workload.trace, varied })
    }
}

/// Removes and returns the last digit of a number in base `base`.
fn place(number: &mut usize, base: usize) -> usize {
    let digit = *number % base;
    *number /= base;
    digit
}

/// Rejects a name with too many parts.
fn shallow(table: &str, name: &str) -> Result<(), ConfigError> {
    let parts = name.split('.').count();
    if parts <= DEEPEST {
        return Ok(());
    }
    let start: String = name.chars().take(60).collect();
    Err(ConfigError(format!("{table}{start}: a setting has at most {DEEPEST} parts, not {parts}")))
}

/// Rejects a setting that is listed twice, or with a part of itself: the last one would override the others, and rows
/// would show values that were not used.
fn apart(axes: &[Axis]) -> Result<(), ConfigError> {
    let mut names = BTreeSet::new();
    if let Some((name, _)) = axes.iter().find(|(name, _)| !names.insert(name.as_str())) {
        return Err(ConfigError(format!("{name} is varied twice")));
    }
    for (name, values) in axes {
        let mut seen = BTreeSet::new();
        if let Some(value) = values.iter().find(|value| !seen.insert(value.to_string())) {
            return Err(ConfigError(format!("{name} has the value {} twice", word(value))));
        }
    }
    if names.contains("engines.model") && names.contains("engines.interval") {
        return Err(ConfigError(
            "engines.model and engines.interval are both varied: each says how often an AES engine starts a line"
                .into(),
        ));
    }
    let tables = |name: &str| name.match_indices('.').map(|(end, _)| end).collect::<Vec<_>>();
    let within = axes.iter().find_map(|(name, _)| {
        let whole = tables(name).into_iter().map(|end| &name[..end]).find(|whole| names.contains(whole))?;
        Some((whole, name))
    });
    match within {
        Some((whole, name)) => Err(ConfigError(format!("{name} is varied, and so is all of {whole}"))),
        None => Ok(()),
    }
}

fn flatten(path: &str, table: toml::Table, axes: &mut Vec<Axis>) -> Result<(), ConfigError> {
    for (name, value) in table {
        let path = if path.is_empty() { name } else { format!("{path}.{name}") };
        shallow("vary.", &path)?;
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, axes)?,
            toml::Value::Array(values) if !values.is_empty() => axes.push((path, values)),
            _ => return Err(ConfigError(format!("vary.{path} is not a list of values"))),
        }
    }
    Ok(())
}

/// A setting's name and its values.
type Axis = (String, Vec<toml::Value>);

fn word(value: &toml::Value) -> String {
    match value {
        toml::Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

/// The stored results of a sweep: JSON Lines in a file beside the table.
#[derive(Debug)]
pub struct Journal {
    program: String,
    known: BTreeMap<String, Stats>,
    /// Digests of the traces that runs name, `None` for those that cannot be read. Each is read once.
    traces: Mutex<BTreeMap<PathBuf, Option<String>>>,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or creates the journal at `path` for runs of `program` ([`program()`]). Results of other programs are not
    /// used, and an incomplete last line is ignored.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(path: &Path, program: &str) -> io::Result<Journal> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let parse = |line: &str| {
            let line: Value = serde_json::from_str(line).ok()?;
            Some((line.get("key")?.as_str()?.to_owned(), Stats::from_json(line.get("stats")?)?))
        };
        let known = text.lines().filter_map(parse).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok(Journal { program: program.to_owned(), known, traces: Mutex::default(), file: Mutex::new(file) })
    }

    /// The stored result of a run, if any, with the same contents of its trace.
    pub fn known(&self, point: &Point) -> Option<&Stats> {
        self.known.get(&self.key(point)?)
    }

    /// The key of a run's results; `None` if its trace cannot be read.
    fn key(&self, point: &Point) -> Option<String> {
        let Some(prefix) = &point.trace else { return Some(point.key(&self.program)) };
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = traces.entry(prefix.clone()).or_insert_with(|| Trace::find(prefix).ok()?.digest().ok());
        Some(point.key(&format!("{} {}", self.program, digest.as_ref()?)))
    }

    /// Stores the result of a run.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, point: &Point, stats: &Stats) -> io::Result<()> {
        let Some(key) = self.key(point) else { return Ok(()) };
        let line = json!({ "key": key, "stats": stats.json() }).to_string() + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes())
    }
}

/// The table with one line for each run: first the varied settings, then the statistics without those of single nodes.
/// A varied setting appears only once, even if a statistic has the same name.
pub fn table<P: AsRef<[(String, String)]>>(rows: &[(P, Stats)]) -> String {
    let cells = |cells: &mut dyn Iterator<Item = &String>| cells.map(|cell| quoted(cell) + ",").collect::<String>();
    let heads = rows.iter().take(1).map(|(point, _)| cells(&mut point.as_ref().iter().map(|(name, _)| name)));
    let heads: Vec<String> =
        heads.chain(rows.iter().map(|(point, _)| cells(&mut point.as_ref().iter().map(|(_, value)| value)))).collect();
    let statistics = |(point, stats): &(P, Stats)| {
        point.as_ref().iter().fold(stats.clone().in_all(), |stats, (name, _)| stats.without(name))
    };
    let trees: Vec<Stats> = rows.iter().map(statistics).collect();
    heads.iter().zip(Stats::csv_rows(&trees)).map(|(head, line)| format!("{head}{line}\n")).collect()
}

#[cfg(test)]
#[path = "sweep_tests.rs"]
mod tests;
