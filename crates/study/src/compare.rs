//! Compares two results directories, from two machines or from two versions on one machine.
//!
//! Entries are matched by name: claims by paper and circumstance, figures of a table by row and column, entries of
//! `bench` by suite, size, direction, way and implementation. Rows or columns of a table with the same name cannot be
//! matched and are left out. A ratio is the second figure divided by the first. The two were not measured in the same
//! rounds, so the interval of the ratio is as wide as the ends of both allow.

use std::path::Path;

use sealwright_measure::{Basis, Cell, Column, Interval, Machine, Table};

use crate::{
    bench::Report,
    error::StudyError,
    report::program,
    results::{Results, load_bench},
    studies::STUDIES,
};

/// The results of one directory.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The directory's name in tables.
    pub name: String,
    /// The results of the studies, in the order of the studies.
    pub results: Vec<Results>,
    /// The results of `bench`, if there are any.
    pub bench: Option<Report>,
}

impl Folder {
    /// Reads the results in `path`.
    ///
    /// # Errors
    /// When a file cannot be read, or when there are no results.
    pub fn load(path: &Path) -> Result<Folder, StudyError> {
        let loaded = STUDIES.iter().filter_map(|study| Results::load(path, study.name()).transpose());
        let folder = Folder {
            name: path.display().to_string(),
            results: loaded.collect::<Result<_, _>>()?,
            bench: load_bench(path)?,
        };
        if folder.machines().next().is_none() {
            return Err(StudyError::NoResults(path.to_owned()));
        }
        Ok(folder)
    }

    /// The machines of all documents.
    fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.results.iter().map(|results| &results.machine).chain(self.bench.iter().map(|report| &report.machine))
    }

    fn study(&self, name: &str) -> Option<&Results> {
        self.results.iter().find(|results| results.study == name)
    }
}

/// The comparison as tables: machines, claims, and one for each table of measured figures that both directories have.
pub fn tables(a: &Folder, b: &Folder) -> Vec<Table> {
    let mut tables = vec![machines(a, b)];
    for first in &a.results {
        let Some(second) = b.study(&first.study) else { continue };
        tables.push(claims(a, b, first, second));
        let titles = |results: &Results| -> Vec<String> {
            results.outcome.tables.iter().map(|table| table.title.clone()).collect()
        };
        let (ours, theirs) = (titles(first), titles(second));
        for (table, title) in first.outcome.tables.iter().zip(&ours) {
            if let (Some(_), Some(there)) = (only(&ours, title), only(&theirs, title)) {
                tables.extend(figures(a, b, table, &second.outcome.tables[there]));
            }
        }
    }
    if let (Some(first), Some(second)) = (&a.bench, &b.bench) {
        tables.push(bench(a, b, first, second));
    }
    tables
}

/// Machines and programs. If the documents of a directory come from several machines, all values of each property are
/// listed.
fn machines(a: &Folder, b: &Folder) -> Table {
    let heads = [Column::text("what"), Column::text(&a.name), Column::text(&b.name)];
    let mut table = Table::new("What ran where", heads);
    let mut row = |what: &str, tell: &dyn Fn(&Folder) -> String| {
        table.row([Cell::text(what), Cell::text(tell(a)), Cell::text(tell(b))]);
    };
    let mut fact = |what: &str, tell: fn(&Machine) -> String| {
        row(what, &|folder| distinct(folder.machines().map(tell)).join("; "));
    };
    fact("processor", |machine| machine.cpu.clone());
    fact("family, model, stepping", |machine| machine.state.family.clone().unwrap_or_else(|| "unknown".to_owned()));
    fact("cores", |machine| machine.cores.to_string());
    fact("levels", |machine| machine.levels.join(", "));
    fact("memory", |machine| format!("{:.1} GiB", machine.memory as f64 / (1u64 << 30) as f64));
    fact("system", |machine| machine.kernel.clone());
    fact("compiler", |machine| machine.rustc.clone());
    fact("optimisation level", |machine| machine.opt_level.clone());
    row("load", &|folder| {
        let mut loads: Vec<f64> = folder.machines().map(|machine| machine.load[0]).collect();
        loads.sort_unstable_by(f64::total_cmp);
        ends(&loads.iter().map(|load| format!("{load:.2}")).collect::<Vec<_>>())
    });
    row("date", &|folder| {
        let mut dates: Vec<String> = folder.machines().map(|machine| machine.date.clone()).collect();
        dates.sort_unstable();
        ends(&dates)
    });
    row("program", &|folder| {
        let of_studies = folder.results.iter().map(|results| program(&results.version, &results.provenance));
        let of_bench = folder.bench.iter().map(|report| program(&report.version, &report.provenance));
        distinct(of_studies.chain(of_bench)).join("; ")
    });
    row("studies", &|folder| {
        let grid = |results: &Results| format!("{}{}", results.study, if results.quick { " (quick)" } else { "" });
        folder.results.iter().map(grid).collect::<Vec<_>>().join(", ")
    });
    table
}

/// The range of sorted values: `0.12 to 0.98`.
fn ends(sorted: &[String]) -> String {
    match sorted {
        [first, .., last] if first != last => format!("{first} to {last}"),
        _ => sorted.first().cloned().unwrap_or_default(),
    }
}

/// The distinct non-empty items, in order of first occurrence.
fn distinct(items: impl IntoIterator<Item = String>) -> Vec<String> {
    items.into_iter().fold(Vec::new(), |mut all, item| {
        if !item.is_empty() && !all.contains(&item) {
            all.push(item);
        }
        all
    })
}

/// All verdicts of both directories, and whether they differ.
fn claims(a: &Folder, b: &Folder, first: &Results, second: &Results) -> Table {
    let heads = ["claim", "where", &a.name, &b.name, ""].map(Column::text);
    let mut table = Table::new(format!("{}: verdicts", first.study), heads);
    for claim in &first.outcome.claims {
        let Some(other) = second.outcome.claims.iter().find(|other| other.id == claim.id) else { continue };
        let scopes = claim.verdicts.iter().chain(&other.verdicts).map(|scoped| scoped.scope.clone());
        for scope in distinct(scopes) {
            let (here, there) = (claim.verdict(&scope), other.verdict(&scope));
            if here.is_none() && there.is_none() {
                continue;
            }
            let differs = if here.zip(there).is_some_and(|(here, there)| here != there) { "differs" } else { "" };
            let [here, there] = [here, there].map(|one| one.map_or_else(|| Cell::empty("not tried"), Cell::verdict));
            table.row([Cell::text(&claim.short), Cell::text(scope), here, there, Cell::text(differs)]);
        }
    }
    table
}

/// The measured figures that are in both tables; `None` if there are none.
fn figures(a: &Folder, b: &Folder, first: &Table, second: &Table) -> Option<Table> {
    let mut found = side_by_side(a, b, first.title.clone(), ["row", "figure"]);
    let [ours, theirs] = names(first, second);
    for (row, name) in first.rows.iter().zip(&ours) {
        let (Some(_), Some(there)) = (only(&ours, name), only(&theirs, name)) else { continue };
        for (at, cell) in row.iter().enumerate() {
            let Some(place) = same_column(first, second, at) else { continue };
            if let (Cell::Interval { interval: here, decimals }, Cell::Interval { interval: there, .. }) =
                (cell, &second.rows[there][place])
            {
                found.row(beside([name.clone(), first.columns[at].head()], *here, *there, *decimals));
            }
        }
    }
    (!found.rows.is_empty()).then_some(found)
}

/// The index of `one` if it occurs exactly once.
fn only<T: PartialEq>(all: &[T], one: &T) -> Option<usize> {
    let mut places = (0..all.len()).filter(|&at| all[at] == *one);
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

/// The index in `second` of the column that matches column `at` of `first`.
fn same_column(first: &Table, second: &Table, at: usize) -> Option<usize> {
    only(&first.columns, &first.columns[at])?;
    only(&second.columns, &first.columns[at])
}

/// The names of the rows of both tables. A name consists of the text cells before the first figure, and of as many of
/// the numbers among them as are needed to distinguish the rows; further numbers may be results that differ between
/// the two.
fn names(first: &Table, second: &Table) -> [Vec<String>; 2] {
    let any = |table: &Table, at: usize, is: fn(&Cell) -> bool| table.rows.iter().any(|row| is(&row[at]));
    let figure = |cell: &Cell| matches!(cell, Cell::Interval { .. });
    let front = (0..first.columns.len()).take_while(|&at| !any(first, at, figure));
    let front = front.filter_map(|at| Some((at, same_column(first, second, at)?)));
    let (mut keys, numbers): (Vec<_>, Vec<_>) = front
        .filter(|&(_, there)| !any(second, there, figure))
        .partition(|&(at, _)| any(first, at, |cell| matches!(cell, Cell::Text { .. })));
    let mut numbers = numbers.into_iter();
    loop {
        let ours = first.rows.iter().map(|row| label(first, row, keys.iter().map(|(at, _)| *at))).collect::<Vec<_>>();
        let theirs = second.rows.iter().map(|row| label(second, row, keys.iter().map(|(_, at)| *at)));
        let both = [ours, theirs.collect()];
        let told_apart = both.iter().all(|names| names.iter().all(|name| only(names, name).is_some()));
        match numbers.next() {
            Some(number) if !told_apart => keys.push(number),
            _ => return both,
        }
    }
}

/// The name of a row: its text cells, and the numbers in the columns `keys` with the names of these columns.
fn label(table: &Table, row: &[Cell], keys: impl Iterator<Item = usize>) -> String {
    let part = |at: usize| match &row[at] {
        Cell::Text { text } => text.clone(),
        cell => format!("{} {}", table.columns[at].name, cell.shown()),
    };
    keys.map(part).collect::<Vec<_>>().join(", ")
}

fn bench(a: &Folder, b: &Folder, first: &Report, second: &Report) -> Table {
    let mut table = side_by_side(a, b, "bench: GB of text a second".into(), ["what", "who"]);
    for row in &first.rows {
        let key = |row: &crate::bench::Row| (row.suite.clone(), row.bytes, row.direction, row.way, row.who());
        let Some(other) = second.rows.iter().find(|other| key(other) == key(row)) else { continue };
        let what = format!("{} {} B, {}{}", row.suite, row.bytes, row.direction, row.way.words());
        table.row(beside([what, row.who()], row.speed(), other.speed(), 2));
    }
    table
}

fn side_by_side(a: &Folder, b: &Folder, title: String, heads: [&str; 2]) -> Table {
    let names = [&a.name[..], &b.name, "second over first"].map(Column::number);
    Table::new(title, heads.map(Column::text).into_iter().chain(names))
}

fn beside(words: [String; 2], here: Interval, there: Interval, decimals: u8) -> Vec<Cell> {
    let ratio = there.over(here).filter(|ratio| ratio.basis != Basis::Open);
    let ratio = ratio.map_or_else(|| Cell::empty("no ratio to nothing"), |ratio| Cell::interval(ratio, 2));
    let [first, second] = words.map(Cell::text);
    vec![first, second, Cell::interval(here, decimals), Cell::interval(there, decimals), ratio]
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
