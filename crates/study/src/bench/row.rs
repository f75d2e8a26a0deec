//! The results of a benchmark: rows, and the report that contains them.

use std::fmt;

use schemars::JsonSchema;
use sealwright_measure::{Cell, Column, Interval, Machine, Table};
use serde::{Deserialize, Serialize};

use super::way::Way;
use crate::provenance::Provenance;

/// The name of this library in rows.
pub(super) const OURS: &str = "sealwright";

/// Sealing or opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Encrypting and making the tag.
    Seal,
    /// Checking the tag and decrypting.
    Open,
}

impl Direction {
    /// Both directions, in the order of rows.
    pub const BOTH: [Direction; 2] = [Direction::Seal, Direction::Open];
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Seal => "seal",
            Direction::Open => "open",
        })
    }
}

/// The speed of one implementation with one suite, size and direction. The names of the fields are those of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The suite's name.
    pub suite: String,
    /// Length of the plaintext in bytes.
    pub bytes: usize,
    /// Sealing or opening.
    pub direction: Direction,
    /// Keys and order of the messages.
    #[serde(default)]
    pub way: Way,
    /// `sealwright` or the peer's name.
    pub implementation: String,
    /// The instruction-set level; `auto` if the peer chooses it.
    pub level: String,
    /// Median speed in GB of plaintext per second; GB = 10^9 bytes.
    pub gbps: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Speed relative to the fastest peer in the same comparison, from paired rounds; null if no peer has the suite.
    pub ratio_to_best_peer: Option<f64>,
    /// Lower end of the ratio's 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of the ratio's 95 % interval.
    pub ratio_high: Option<f64>,
    /// Speed relative to the limit that the best level's AES and carry-less multiply instructions set, from paired
    /// rounds; null if no limit is known.
    #[serde(default)]
    pub of_limit: Option<f64>,
}

impl Row {
    /// The speed with its interval.
    pub fn speed(&self) -> Interval {
        Interval::new(self.gbps, self.low, self.high)
    }

    /// The ratio to the best peer with its interval.
    pub fn ratio(&self) -> Option<Interval> {
        Some(Interval::new(self.ratio_to_best_peer?, self.ratio_low?, self.ratio_high?))
    }

    /// Implementation and level: `sealwright avx2`, `ring`.
    pub fn who(&self) -> String {
        if self.level == "auto" {
            self.implementation.clone()
        } else {
            format!("{} {}", self.implementation, self.level)
        }
    }
}

/// What limits the speed on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limiting {
    /// Copying messages between buffers, which is part of every measured opening.
    MemoryCopy,
    /// The AES rounds of the message's blocks with the best level's instructions, in registers only.
    AesRounds,
    /// The AES rounds and the carry-less multiplications of the hash, in registers only.
    RoundsAndProducts,
}

impl fmt::Display for Limiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limiting::MemoryCopy => "memory copy",
            Limiting::AesRounds => "AES rounds alone",
            Limiting::RoundsAndProducts => "AES rounds and products alone",
        })
    }
}

/// A limit of the machine, measured in the comparison of a suite, size and direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The kind of limit.
    pub what: Limiting,
    /// The suite in whose comparison it was measured.
    pub suite: String,
    /// Sealing or opening.
    pub direction: Direction,
    /// Length of the plaintext in bytes.
    pub bytes: usize,
    /// GB of plaintext per second.
    pub gbps: Interval,
}

/// A library that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    /// Its name in rows.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The results of a whole benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The machine, and the time of the measurement.
    pub machine: Machine,
    /// The peers.
    pub peers: Vec<Participant>,
    /// Why other libraries were not measured: one sentence for each.
    #[serde(default)]
    pub absent: Vec<String>,
    /// The rows, in the order of measurement.
    pub rows: Vec<Row>,
    /// Limits of the machine, each measured in the same rounds as the rows of its suite, direction and size.
    pub limits: Vec<Limit>,
    /// Duration in seconds.
    pub seconds: f64,
    /// Number of processes that measured it, one after the other.
    #[serde(default = "one")]
    pub starts: u32,
    /// Whether it was measured with `--quick`, which gives wider intervals.
    #[serde(default)]
    pub quick: bool,
    /// Sealwright's version; empty if it is unknown.
    #[serde(default)]
    pub version: String,
    /// The program that measured it.
    #[serde(default)]
    pub provenance: Provenance,
}

fn one() -> u32 {
    1
}

impl Report {
    /// An empty report for this program on `machine`, with nothing measured yet.
    pub fn of(machine: Machine) -> Report {
        Report {
            machine,
            peers: Vec::new(),
            absent: Vec::new(),
            rows: Vec::new(),
            limits: Vec::new(),
            seconds: 0.0,
            starts: 1,
            quick: false,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            provenance: Provenance::default(),
        }
    }

    /// Tables for each suite and way: speeds, ratios to the best peer (if there are peers), and shares of the
    /// machine's limit (if it is known). Rows are implementations and directions, columns are sizes.
    pub fn tables(&self) -> Vec<Table> {
        let what = unique(self.rows.iter().map(|row| (row.suite.as_str(), row.way)));
        what.into_iter().flat_map(|(suite, way)| self.tables_of(suite, way)).collect()
    }

    fn tables_of(&self, suite: &str, way: Way) -> Vec<Table> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.suite == suite && row.way == way).collect();
        let name = format!("{suite}{}", way.words());
        let mut tables = vec![self.speeds(&rows, &name)];
        if rows.iter().any(|row| row.ratio().is_some()) {
            tables.push(table(&rows, format!("{name}, speed over the best peer's"), |row| {
                row.ratio().map_or(Cell::empty("no peer"), |ratio| Cell::interval(ratio, 2))
            }));
        }
        if rows.iter().any(|row| row.of_limit.is_some()) {
            tables.push(table(
                &rows,
                format!("{name}, speed over the limit of the best level's instructions"),
                |row| row.of_limit.map_or(Cell::empty("no limit"), |share| Cell::number(share, 2)),
            ));
        }
        tables
    }

    fn speeds(&self, rows: &[&Row], name: &str) -> Table {
        let mut table = table(rows, format!("{name}, GB of text a second"), |row| {
            Cell::interval(row.speed(), if row.gbps < 1.0 { 3 } else { 2 })
        });
        let first = rows.first().filter(|row| row.way == Way::OneKey);
        for what in [Limiting::AesRounds, Limiting::RoundsAndProducts, Limiting::MemoryCopy] {
            let direction = if what == Limiting::MemoryCopy { Direction::Open } else { Direction::Seal };
            let limits: Vec<_> = self
                .limits
                .iter()
                .filter(|limit| (limit.what, limit.direction) == (what, direction))
                .filter(|limit| first.is_some_and(|row| row.suite == limit.suite))
                .collect();
            if !limits.is_empty() {
                let cells = sizes(rows).into_iter().map(|bytes| {
                    let found = limits.iter().find(|limit| limit.bytes == bytes);
                    found.map_or(Cell::empty(""), |limit| Cell::interval(limit.gbps, 2))
                });
                table.row([Cell::text("limit"), Cell::text(what.to_string())].into_iter().chain(cells));
            }
        }
        let figures = match self.starts {
            ..2 => "Median and 95 % interval.".to_owned(),
            starts => format!("Geometric mean of the medians of {starts} processes, and its 95 % interval."),
        };
        table.with_note(format!("{figures} For every library, opening includes copying a fresh message."))
    }
}

fn sizes(rows: &[&Row]) -> Vec<usize> {
    unique(rows.iter().map(|row| row.bytes))
}

fn table(rows: &[&Row], title: String, cell: impl Fn(&Row) -> Cell) -> Table {
    let sizes = sizes(rows);
    let heads = [Column::text("direction"), Column::text("implementation")];
    let columns = heads.into_iter().chain(sizes.iter().map(|bytes| Column::number(format!("{bytes} B"))));
    let mut table = Table::new(title, columns);
    for (direction, who) in unique(rows.iter().map(|row| (row.direction, row.who()))) {
        let cells = sizes.iter().map(|&bytes| {
            let found = rows.iter().find(|row| (row.direction, row.bytes) == (direction, bytes) && row.who() == who);
            found.map_or(Cell::empty("not measured"), |row| cell(row))
        });
        table.row([Cell::text(direction.to_string()), Cell::text(&who)].into_iter().chain(cells));
    }
    table
}

/// The distinct items, in order of first occurrence.
fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut all, item| {
        if !all.contains(&item) {
            all.push(item);
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bytes: usize, direction: Direction, who: (&str, &str), ratio: Option<f64>) -> Row {
        Row {
            suite: "aes-256-gcm".to_owned(),
            bytes,
            direction,
            way: Way::OneKey,
            implementation: who.0.to_owned(),
            level: who.1.to_owned(),
            gbps: 10.0,
            low: 9.0,
            high: 11.0,
            ratio_to_best_peer: ratio,
            ratio_low: ratio,
            ratio_high: ratio,
            of_limit: None,
        }
    }

    #[test]
    fn tables_have_a_row_an_implementation_and_a_column_a_size() {
        let (ours, ring) = (("sealwright", "avx2"), ("ring", "auto"));
        let rows = vec![
            row(64, Direction::Seal, ours, Some(1.5)),
            row(64, Direction::Seal, ring, Some(1.0)),
            row(64, Direction::Open, ours, None),
            row(1500, Direction::Seal, ours, Some(2.0)),
        ];
        let gbps = Interval::exact(50.0);
        let (suite, bytes) = ("aes-256-gcm".to_owned(), 64);
        let limits = vec![Limit { what: Limiting::MemoryCopy, suite, direction: Direction::Open, bytes, gbps }];
        let machine = Machine::here(["avx2"]);
        let report = Report { rows, limits, ..Report::of(machine) };
        let tables = report.tables();
        assert_eq!(tables.len(), 2);
        let expected = "\
aes-256-gcm, GB of text a second
direction  implementation                   64 B               1500 B
─────────  ───────────────  ────────────────────  ───────────────────
seal       sealwright avx2   10.00 [9.00, 11.00]  10.00 [9.00, 11.00]
seal       ring              10.00 [9.00, 11.00]       (not measured)
open       sealwright avx2   10.00 [9.00, 11.00]       (not measured)
limit      memory copy      50.00 [50.00, 50.00]
Median";
        let text = tables[0].to_text();
        assert!(text.starts_with(expected), "{text}");
        assert!(tables[1].to_text().contains("seal       sealwright avx2  1.50 [1.50, 1.50]  2.00 [2.00, 2.00]"));
        assert!(tables[1].to_text().contains("(no peer)"));
        let alone = report.rows.iter().map(|row| Row { ratio_to_best_peer: None, ..row.clone() }).collect();
        assert_eq!(Report { rows: alone, ..report }.tables().len(), 1);
    }
}
