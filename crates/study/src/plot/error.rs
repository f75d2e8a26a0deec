//! Why nothing can be drawn.

/// Why nothing can be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlotError {
    /// A file is neither a table nor what a run printed.
    #[error("{file}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong, and where.
        why: String,
    },
    /// A file without a row.
    #[error("{0}: a table without rows")]
    Empty(String),
    /// No column has the name.
    #[error("there is no column {wanted}")]
    Column {
        /// The name.
        wanted: String,
        /// Columns whose names are like it; all if none is.
        near: Vec<String>,
    },
    /// Several columns have the name as a part of theirs.
    #[error("{wanted} is part of the names of several columns: {}", .columns.join(", "))]
    Ambiguous {
        /// The name.
        wanted: String,
        /// The columns.
        columns: Vec<String>,
    },
    /// A word where a number should be.
    #[error("column {column}: {value:?} is not a number")]
    NotNumber {
        /// The column.
        column: String,
        /// The word.
        value: String,
    },
    /// The columns hold nothing in the rows that are left.
    #[error("column {0} is empty in every row")]
    Nothing(String),
    /// No row has a value that was asked for.
    #[error("no row has {column}={value}: there are {}", .known.join(", "))]
    NoRow {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The values that it has.
        known: Vec<String>,
    },
    /// Runs of one place differ in a setting that is not shown.
    #[error("runs at the same point of the plot also differ in {column}: {}", .values.join(", "))]
    Mixed {
        /// The setting.
        column: String,
        /// Its values.
        values: Vec<String>,
    },
    /// A run of one place stands there twice, and would count twice.
    #[error("two runs at the same point of the plot, {column}={value}, have the same settings, including machine.seed")]
    Twice {
        /// The horizontal axis.
        column: String,
        /// The place.
        value: String,
    },
    /// Several runs to compare others with, which say different things.
    #[error("several runs with {over} and the same settings differ in {column}: {}", .values.join(", "))]
    Bases {
        /// What they have.
        over: String,
        /// What is drawn.
        column: String,
        /// Its values.
        values: Vec<String>,
    },
    /// There is no run to compare another one with.
    #[error("no run with {over} has otherwise the same settings as the run with {of}")]
    NoBase {
        /// What it should have.
        over: String,
        /// What the other one has.
        of: String,
    },
    /// Words where lines need numbers.
    #[error("column {column} has text such as {value:?}: lines need numbers")]
    Words {
        /// The column.
        column: String,
        /// One of them.
        value: String,
    },
    /// A number that a logarithmic axis cannot show.
    #[error("{column} has {value}, but a logarithmic axis shows only numbers above zero")]
    Log {
        /// The column.
        column: String,
        /// The number.
        value: f64,
    },
}
