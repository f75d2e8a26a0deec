//! Errors of plots.

/// Why a plot cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlotError {
    /// A file is neither a table nor the output of a run.
    #[error("{file}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong, and where.
        why: String,
    },
    /// A file has no rows.
    #[error("{0}: a table without rows")]
    Empty(String),
    /// No column has the name.
    #[error("there is no column {wanted}")]
    Column {
        /// The name.
        wanted: String,
        /// Columns with similar names; all columns if there are none.
        near: Vec<String>,
    },
    /// The name is part of the names of several columns.
    #[error("{wanted} is part of the names of several columns: {}", .columns.join(", "))]
    Ambiguous {
        /// The name.
        wanted: String,
        /// The columns.
        columns: Vec<String>,
    },
    /// A text where a number is needed.
    #[error("column {column}: {value:?} is not a number")]
    NotNumber {
        /// The column.
        column: String,
        /// The word.
        value: String,
    },
    /// A column is empty in all selected rows.
    #[error("column {0} is empty in every row")]
    Nothing(String),
    /// No row has the requested value.
    #[error("no row has {column}={value}: there are {}", .known.join(", "))]
    NoRow {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The values in the column.
        known: Vec<String>,
    },
    /// Runs at the same point differ in a setting that is not shown.
    #[error("runs at the same point of the plot also differ in {column}: {}", .values.join(", "))]
    Mixed {
        /// The setting.
        column: String,
        /// Its values.
        values: Vec<String>,
    },
    /// A run occurs twice at the same point, and would be counted twice.
    #[error("two runs at the same point of the plot, {column}={value}, have the same settings, including machine.seed")]
    Twice {
        /// The horizontal axis.
        column: String,
        /// The place.
        value: String,
    },
    /// Several runs could be the base of a comparison, and their figures differ.
    #[error("several runs with {over} and the same settings differ in {column}: {}", .values.join(", "))]
    Bases {
        /// What they have.
        over: String,
        /// What is drawn.
        column: String,
        /// Its values.
        values: Vec<String>,
    },
    /// There is no base with which to compare a run.
    #[error("no run with {over} has otherwise the same settings as the run with {of}")]
    NoBase {
        /// The column and value that it should have.
        over: String,
        /// The column and value of the other run.
        of: String,
    },
    /// Text on an axis of lines, which need numbers.
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
