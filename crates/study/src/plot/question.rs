//! The description of a plot.

use crate::figure::PlotKind;

/// The description of a plot.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The column on the horizontal axis, by its name or a part of it between dots.
    pub x: String,
    /// The column on the vertical axis. `slowdown`, if there is no column of this name, is `cycles` over
    /// `scheme.name=clear`.
    pub y: String,
    /// The column that has a series for each of its values.
    pub by: Option<String>,
    /// A column and its value: figures are the difference, in per cent, from the row with this value and otherwise the
    /// same settings.
    pub over: Option<(String, String)>,
    /// Only rows with these values in these columns are drawn.
    pub only: Vec<(String, String)>,
    /// Lines or bars; by default lines if the horizontal axis has different numbers.
    pub kind: Option<PlotKind>,
    /// The caption; by default it is derived from the columns.
    pub title: Option<String>,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
}
