//! Sweeps: a file of settings with lists of values, crossed. Each point is a settings file of its own, and what it gives is
//! kept as soon as it is there, so that a sweep that was interrupted goes on where it was.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::Mutex,
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    config::{overlay, parse},
    error::ConfigError,
    hex::hex,
    settings::Settings,
    stats::{Stats, quoted},
};

/// The most runs of a sweep; more is probably a mistake.
pub const MOST: usize = 100_000;

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The settings that differ between runs, and their values here.
    pub varied: Vec<(String, String)>,
    /// All settings, as a file.
    pub settings: String,
}

impl Point {
    /// What results are kept by: a digest of all settings and of the program that simulates.
    pub fn key(&self, program: &str) -> String {
        let digest = Sha256::new().chain_update(program).chain_update("\n").chain_update(&self.settings).finalize();
        hex(&digest[..16])
    }
}

/// SHA-256 of the program that runs, in hex. Two builds of one version may simulate differently.
///
/// # Errors
/// When the system does not let a program read its own file.
pub fn program() -> io::Result<String> {
    Ok(hex(&Sha256::digest(std::fs::read(std::env::current_exe()?)?)))
}

/// The runs of a grid file: settings, and a table `vary` of settings with lists of values. They are crossed in the order of
/// the settings' names, the last one changing fastest.
///
/// # Errors
/// When the file is no TOML, varies nothing, or a combination describes no simulation.
pub fn points(grid: &str) -> Result<Vec<Point>, ConfigError> {
    let mut base = parse(grid)?;
    let vary = match base.remove("vary") {
        Some(toml::Value::Table(vary)) => vary,
        Some(_) => return Err(ConfigError("vary is a table of settings with lists of values".into())),
        None => return Err(ConfigError("there is no table vary: nothing to sweep".into())),
    };
    let mut axes = Vec::new();
    flatten("", vary, &mut axes)?;
    cross(&base, &axes)
}

fn flatten(path: &str, table: toml::Table, axes: &mut Vec<Axis>) -> Result<(), ConfigError> {
    for (name, value) in table {
        let path = if path.is_empty() { name } else { format!("{path}.{name}") };
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, axes)?,
            toml::Value::Array(values) if !values.is_empty() => axes.push((path, values)),
            _ => return Err(ConfigError(format!("vary.{path} is not a list of values"))),
        }
    }
    Ok(())
}

/// Every combination of words over settings: `scheme.name` and `gcm`, `bus.width` and `10`. A word that is no value of TOML is
/// taken as a text.
///
/// # Errors
/// As [`points`].
pub fn cross_words(base: &Settings, axes: &[(String, Vec<String>)]) -> Result<Vec<Point>, ConfigError> {
    let value = |word: &String| {
        let parsed = parse(&format!("v = {}", word.trim())).ok().and_then(|mut table| table.remove("v"));
        parsed.unwrap_or_else(|| toml::Value::String(word.trim().to_owned()))
    };
    let axes: Vec<Axis> = axes.iter().map(|(name, words)| (name.clone(), words.iter().map(value).collect())).collect();
    if let Some((name, _)) = axes.iter().find(|(name, _)| !name.contains('.') || name.split('.').any(str::is_empty)) {
        return Err(ConfigError(format!("{name}: a setting has the form a.b")));
    }
    cross(&parse(&base.text())?, &axes)
}

/// A setting's name and its values.
type Axis = (String, Vec<toml::Value>);

/// Every combination of the axes' values over `base`.
fn cross(base: &toml::Table, axes: &[Axis]) -> Result<Vec<Point>, ConfigError> {
    let count = axes.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
    if count.is_none_or(|count| count > MOST) {
        return Err(ConfigError(format!("more than {MOST} runs")));
    }
    let mut crossed = vec![(Vec::new(), base.clone())];
    for (path, values) in axes {
        let mut next = Vec::new();
        for (varied, table) in &crossed {
            for value in values {
                let (mut varied, mut table): (Vec<(String, String)>, _) = (varied.clone(), table.clone());
                let nested = path.rsplit('.').fold(value.clone(), |value, name| {
                    toml::Value::Table([(name.to_owned(), value)].into_iter().collect())
                });
                if let toml::Value::Table(change) = nested {
                    overlay(&mut table, change);
                }
                varied.push((path.clone(), word(value)));
                next.push((varied, table));
            }
        }
        crossed = next;
    }
    let point = |(varied, table): (Vec<(String, String)>, toml::Table)| {
        let named = |error: ConfigError| {
            let at: Vec<String> = varied.iter().map(|(name, value)| format!("{name}={value}")).collect();
            ConfigError(format!("{}: {error}", at.join(", ")))
        };
        let settings = Settings::over(None, table).map_err(named)?;
        settings.config.check().map_err(named)?;
        Ok(Point { settings: settings.text(), varied })
    };
    crossed.into_iter().map(point).collect()
}

fn word(value: &toml::Value) -> String {
    match value {
        toml::Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

/// The results of a sweep so far: a line of JSON each, in a file beside the table.
#[derive(Debug)]
pub struct Journal {
    program: String,
    known: BTreeMap<String, Stats>,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or makes the journal at `path` for runs of `program` ([`program()`]): what other programs kept there is not known. A last
    /// line that was cut is left out.
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
        Ok(Journal { program: program.to_owned(), known, file: Mutex::new(file) })
    }

    /// What a run gave before.
    pub fn known(&self, point: &Point) -> Option<&Stats> {
        self.known.get(&point.key(&self.program))
    }

    /// Keeps what a run gave.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, point: &Point, stats: &Stats) -> io::Result<()> {
        let line = json!({ "key": point.key(&self.program), "stats": stats.json() }).to_string() + "\n";
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(line.as_bytes())
    }
}

/// The table: a line a run, what was varied first, without the figures of each node.
pub fn table(rows: &[(&Point, Stats)]) -> String {
    let cells = |cells: &mut dyn Iterator<Item = &String>| cells.map(|cell| quoted(cell) + ",").collect::<String>();
    let heads = rows.iter().take(1).map(|(point, _)| cells(&mut point.varied.iter().map(|(name, _)| name)));
    let heads: Vec<String> =
        heads.chain(rows.iter().map(|(point, _)| cells(&mut point.varied.iter().map(|(_, value)| value)))).collect();
    let trees: Vec<Stats> = rows.iter().map(|(_, stats)| stats.clone().in_all()).collect();
    heads.iter().zip(Stats::csv(&trees).lines()).map(|(head, line)| format!("{head}{line}\n")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const GRID: &str = "[workload]\nkernel = \"fft\"\nsize = 8\n[vary]\nscheme.name = [\"clear\", \"gcm\"]\nmachine.processors = [2, 4]\n\"bus.width\" = [10, 20]\n";

    #[test]
    fn a_grid_file_is_crossed_in_the_order_of_names() {
        let points = points(GRID).unwrap();
        assert_eq!(points.len(), 8);
        let names: Vec<&str> = points[0].varied.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["bus.width", "machine.processors", "scheme.name"]);
        let values: Vec<&str> = points[1].varied.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["10", "2", "gcm"]);
        let one = Settings::parse(&points[7].settings).unwrap();
        assert_eq!((one.config.bus.width, one.config.machine.processors), (20, 4));
        let keys: std::collections::BTreeSet<_> = points.iter().map(|point| point.key("program")).collect();
        assert_eq!(keys.len(), 8, "each run has a key of its own");
    }

    #[test]
    fn a_wrong_grid_says_which_combination() {
        for (grid, why) in [
            ("[workload]\nkernel = \"fft\"\n", "nothing to sweep"),
            ("vary = 3\n", "vary is a table"),
            ("[vary]\nbus.width = 3\n", "vary.bus.width is not a list"),
            ("[vary]\nbus.width = []\n", "vary.bus.width is not a list"),
            ("[vary]\nbus.width = [8, 0]\n", "bus.width=0: bus.width, bus.retry"),
            ("[vary]\nbus = [8]\n", "bus=8: invalid type"),
            ("[vary]\nbus.with = [8]\n", "bus.with=8: unknown field `with`"),
        ] {
            let found = points(grid).unwrap_err().to_string();
            assert!(found.contains(why), "{found}");
        }
        let many = format!("[vary]\nbus.width = {0:?}\nbus.issue = {0:?}\n", (1..400).collect::<Vec<_>>());
        assert!(points(&many).unwrap_err().to_string().contains("more than 100000 runs"));
    }

    #[test]
    fn an_interrupted_sweep_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let points = points(GRID).unwrap();
        let stats = crate::settings::run(&points[0].settings).unwrap().stats;
        Journal::open(&path, "program").unwrap().keep(&points[0], &stats).unwrap();
        // Interrupted within the next line
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"key\":\"12").unwrap();
        let journal = Journal::open(&path, "program").unwrap();
        assert_eq!(journal.known(&points[0]), Some(&stats));
        assert_eq!(journal.known(&points[1]), None);
        journal.keep(&points[1], &stats).unwrap();
        let journal = Journal::open(&path, "program").unwrap();
        assert!(points[..2].iter().all(|point| journal.known(point).is_some()));
        // Another build of the same version does not take them for its own.
        assert!(points.iter().all(|point| Journal::open(&path, "another").unwrap().known(point).is_none()));
        let rows = [(&points[0], stats.clone()), (&points[1], stats)];
        let table = table(&rows);
        let mut lines = table.lines();
        assert!(lines.next().unwrap().starts_with("bus.width,machine.processors,scheme.name,bus.address_busy"));
        assert!(lines.next().unwrap().starts_with("10,2,clear,"));
    }
}
