//! Tables: rows of typed cells under named columns. [`crate::render`] formats them.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::{interval::Interval, verdict::Verdict};

/// A titled table. Deserialising fails unless every row has one cell for each column.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// What it shows; the caption.
    pub title: String,
    /// A note that helps to read the table, if any.
    pub note: Option<String>,
    /// The columns, left to right.
    pub columns: Vec<Column>,
    /// The rows, each with one cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column's head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of all its figures, if any.
    pub unit: Option<String>,
    /// The alignment of its cells.
    pub align: Align,
}

/// The alignment of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Cell {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A figure that is known exactly, or quoted.
    Number {
        /// The figure.
        value: f64,
        /// Digits shown after the point.
        decimals: u8,
        /// Its own unit, if the column has none.
        unit: Option<String>,
    },
    /// A measured figure.
    Interval {
        /// The figure and the ends of its 95 % interval.
        #[serde(flatten)]
        interval: Interval,
        /// Digits shown after the point.
        decimals: u8,
    },
    /// A claim's verdict.
    Verdict {
        /// The verdict.
        verdict: Verdict,
    },
    /// No value, with a reason such as `paper gives none`, which may be empty.
    Empty {
        /// The reason.
        why: String,
    },
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
        #[derive(Deserialize)]
        struct Parts {
            title: String,
            note: Option<String>,
            columns: Vec<Column>,
            rows: Vec<Vec<Cell>>,
        }
        let Parts { title, note, columns, rows } = Parts::deserialize(deserializer)?;
        match rows.iter().position(|row| row.len() != columns.len()) {
            None => Ok(Table { title, note, columns, rows }),
            Some(at) => {
                let (cells, columns) = (rows[at].len(), columns.len());
                Err(D::Error::custom(format_args!("table {title:?}: row {} has {cells} cells, of {columns}", at + 1)))
            }
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: impl IntoIterator<Item = Column>) -> Table {
        Table { title: title.into(), note: None, columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// The same table with a note.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Table {
        Table { note: Some(note.into()), ..self }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the number of cells differs from the number of columns, which is a bug in the program.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "table {:?}: one cell a column", self.title);
        self.rows.push(cells);
    }
}

impl Column {
    /// A column of words.
    pub fn text(name: impl Into<String>) -> Column {
        Column { name: name.into(), unit: None, align: Align::Left }
    }

    /// A column of figures that are counts, ratios or carry units of their own.
    pub fn number(name: impl Into<String>) -> Column {
        Column { name: name.into(), unit: None, align: Align::Right }
    }

    /// The same column with `unit` for all of its figures.
    #[must_use]
    pub fn unit(self, unit: impl Into<String>) -> Column {
        Column { unit: Some(unit.into()), ..self }
    }

    /// Its head: `seal (GB/s)`.
    pub fn head(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} ({unit})", self.name),
            None => self.name.clone(),
        }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text { text: text.into() }
    }

    /// A figure with `decimals` digits after the point; an empty cell if it is infinite or not a number.
    pub fn number(value: f64, decimals: u8) -> Cell {
        if value.is_finite() { Cell::Number { value, decimals, unit: None } } else { Cell::empty("not a number") }
    }

    /// A count.
    pub fn count(value: u64) -> Cell {
        Cell::number(value as f64, 0)
    }

    /// A figure with a unit of its own.
    pub fn quantity(value: f64, decimals: u8, unit: impl Into<String>) -> Cell {
        match Cell::number(value, decimals) {
            Cell::Number { value, decimals, .. } => Cell::Number { value, decimals, unit: Some(unit.into()) },
            empty => empty,
        }
    }

    /// A measured figure with its interval; an empty cell if an end is not a finite number.
    pub fn interval(interval: Interval, decimals: u8) -> Cell {
        if [interval.median, interval.low, interval.high].iter().all(|value| value.is_finite()) {
            Cell::Interval { interval, decimals }
        } else {
            Cell::empty("not a number")
        }
    }

    /// A verdict.
    pub fn verdict(verdict: Verdict) -> Cell {
        Cell::Verdict { verdict }
    }

    /// No value, with the reason.
    pub fn empty(why: impl Into<String>) -> Cell {
        Cell::Empty { why: why.into() }
    }

    /// The cell as text: `12.3`, `12.3 [12.1, 12.5]`, `holds`, `(paper gives none)`.
    pub fn shown(&self) -> String {
        match self {
            Cell::Text { text } => text.clone(),
            Cell::Number { value, decimals, unit: None } => format!("{value:.*}", usize::from(*decimals)),
            Cell::Number { value, decimals, unit: Some(unit) } => {
                format!("{value:.*} {unit}", usize::from(*decimals))
            }
            Cell::Interval { interval, decimals } => format!("{interval:.*}", usize::from(*decimals)),
            Cell::Verdict { verdict } => verdict.to_string(),
            Cell::Empty { why } if why.is_empty() => String::new(),
            Cell::Empty { why } => format!("({why})"),
        }
    }
}
