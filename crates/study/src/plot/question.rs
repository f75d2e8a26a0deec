//! What is asked of some rows.

use crate::figure::PlotKind;

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The column along the horizontal axis, by its name or a part of it between dots.
    pub x: String,
    /// The column along the vertical one. `slowdown`, where no column has this name, is `cycles` over `scheme.name=clear`.
    pub y: String,
    /// The column that has a series for each of its values.
    pub by: Option<String>,
    /// A column and its value: figures are per cent more than those of the row with this value and otherwise the same settings.
    pub over: Option<(String, String)>,
    /// Columns and values that rows must have to be drawn.
    pub only: Vec<(String, String)>,
    /// Lines or bars. If not, lines where x holds different numbers.
    pub kind: Option<PlotKind>,
    /// The caption; if there is none, it follows from the columns.
    pub title: Option<String>,
    /// Whether equal steps along the horizontal axis are equal factors.
    pub log_x: bool,
    /// The same of the vertical one.
    pub log_y: bool,
}
