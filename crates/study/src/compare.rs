//! Two results directories side by side: two machines, or two versions on one.
//!
//! What both have is set beside each other by its name: claims by paper and circumstance, a table's figures by their row
//! and column, `bench` by suite, size, direction, way and implementation. A ratio is the second over the first; its interval
//! reaches as far as both ends allow, as the two were not measured side by side.

use std::path::Path;

use sealwright_measure::{Basis, Cell, Column, Interval, Machine, Table};

use crate::{
    bench::Report,
    error::StudyError,
    results::{Results, load_bench},
    studies::STUDIES,
};

/// Everything in a results directory.
#[derive(Clone, Debug)]
pub struct Folder {
    /// What to call it.
    pub name: String,
    /// The studies, in their order.
    pub results: Vec<Results>,
    /// Speed beside other libraries.
    pub bench: Option<Report>,
}

impl Folder {
    /// Reads the results in `path`.
    ///
    /// # Errors
    /// When something there cannot be read, or nothing is there.
    pub fn load(path: &Path) -> Result<Folder, StudyError> {
        let loaded = STUDIES.iter().filter_map(|study| Results::load(path, study.name()).transpose());
        let folder = Folder {
            name: path.display().to_string(),
            results: loaded.collect::<Result<_, _>>()?,
            bench: load_bench(path)?,
        };
        match folder.machine() {
            Some(_) => Ok(folder),
            None => Err(StudyError::Results(path.to_owned(), "no results of a study or of bench".into())),
        }
    }

    fn machine(&self) -> Option<&Machine> {
        self.results
            .iter()
            .map(|results| &results.machine)
            .chain(self.bench.iter().map(|report| &report.machine))
            .next()
    }

    fn study(&self, name: &str) -> Option<&Results> {
        self.results.iter().find(|results| results.study == name)
    }
}

/// Both as tables, one after another: machines, claims, and a table for each that both have with figures measured.
pub fn tables(a: &Folder, b: &Folder) -> Vec<Table> {
    let mut tables = vec![machines(a, b)];
    for first in &a.results {
        let Some(second) = b.study(&first.study) else { continue };
        tables.push(claims(a, b, first, second));
        for table in &first.outcome.tables {
            let same = second.outcome.tables.iter().find(|other| other.title == table.title);
            tables.extend(same.and_then(|other| figures(a, b, table, other)));
        }
    }
    if let (Some(first), Some(second)) = (&a.bench, &b.bench) {
        tables.push(bench(a, b, first, second));
    }
    tables
}

fn machines(a: &Folder, b: &Folder) -> Table {
    let heads = [Column::text("what"), Column::text(&a.name), Column::text(&b.name)];
    let mut table = Table::new("What ran where", heads);
    let mut fact = |what: &str, tell: &dyn Fn(&Folder, &Machine) -> String| {
        let cell =
            |folder: &Folder| folder.machine().map_or(Cell::empty(""), |machine| Cell::text(tell(folder, machine)));
        table.row([Cell::text(what), cell(a), cell(b)]);
    };
    fact("processor", &|_, machine| machine.cpu.clone());
    fact("cores", &|_, machine| machine.cores.to_string());
    fact("levels", &|_, machine| machine.levels.join(", "));
    fact("system", &|_, machine| machine.kernel.clone());
    fact("compiler", &|_, machine| machine.rustc.clone());
    fact("optimisation level", &|_, machine| machine.opt_level.clone());
    fact("load", &|_, machine| format!("{:.2}", machine.load[0]));
    fact("date", &|_, machine| machine.date.clone());
    fact("version", &|folder, _| {
        let of_studies = folder.results.iter().map(|results| &results.version);
        of_studies.chain(folder.bench.iter().map(|report| &report.version)).next().cloned().unwrap_or_default()
    });
    fact("studies", &|folder, _| {
        let grid = |results: &Results| format!("{}{}", results.study, if results.quick { " (quick)" } else { "" });
        folder.results.iter().map(grid).collect::<Vec<_>>().join(", ")
    });
    table
}

/// Every verdict that both gave; whether they differ.
fn claims(a: &Folder, b: &Folder, first: &Results, second: &Results) -> Table {
    let heads = ["claim", "where", &a.name, &b.name, ""].map(Column::text);
    let mut table = Table::new(format!("{}: verdicts", first.study), heads);
    for claim in &first.outcome.claims {
        let Some(other) = second.outcome.claims.iter().find(|other| other.id == claim.id) else { continue };
        for scoped in &claim.verdicts {
            let (Some(here), there) =
                (scoped.direction.as_ref().map(|found| found.verdict), other.verdict(&scoped.scope))
            else {
                continue;
            };
            let differs = if there.is_some_and(|there| there != here) { "differs" } else { "" };
            let verdict = |verdict| Cell::Verdict { verdict };
            let there = there.map_or(Cell::empty("not tried"), verdict);
            table.row([Cell::text(&claim.short), Cell::text(&scoped.scope), verdict(here), there, Cell::text(differs)]);
        }
    }
    table
}

/// The measured figures that both tables have; `None` if there are none.
fn figures(a: &Folder, b: &Folder, first: &Table, second: &Table) -> Option<Table> {
    let mut found = side_by_side(a, b, first.title.clone(), ["row", "figure"]);
    for row in &first.rows {
        let Some(other) = second.rows.iter().find(|other| label(other) == label(row)) else { continue };
        for (column, cell) in first.columns.iter().zip(row) {
            let Some(at) = second.columns.iter().position(|other| other == column) else { continue };
            if let (Cell::Interval { interval: here, decimals }, Cell::Interval { interval: there, .. }) =
                (cell, &other[at])
            {
                found.row(beside([label(row), column.head()], *here, *there, *decimals));
            }
        }
    }
    (!found.rows.is_empty()).then_some(found)
}

/// The words of a row: by what it is found in another table.
fn label(row: &[Cell]) -> String {
    let words = row.iter().filter_map(|cell| if let Cell::Text { text } = cell { Some(&text[..]) } else { None });
    words.collect::<Vec<_>>().join(", ")
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
