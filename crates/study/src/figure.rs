//! Figures (plots) as data: axes, series, points with intervals, and a text alternative. `svg` draws them.

use schemars::JsonSchema;
use sealwright_measure::{Cell, Column, Interval, Table};
use serde::{Deserialize, Serialize};

/// Colours, as indices into the page's palette. A scheme has the same colour in every figure.
pub mod colour {
    /// The paper's machine, or no particular scheme.
    pub const NONE: usize = 0;
    /// GCM; also GCM with all precomputed data stored (GCM-Pre).
    pub const GCM: usize = 1;
    /// CBC, in files and on the bus.
    pub const CBC: usize = 2;
    /// OCB.
    pub const OCB: usize = 3;
    /// RKC.
    pub const RKC: usize = 4;
    /// GSCM, and its hardened form.
    pub const GSCM: usize = 5;
    /// GCM with only keys stored (GCM-On).
    pub const GCM_ON: usize = 6;
    /// The circumstances of a figure that does not compare schemes, in order.
    pub const CIRCUMSTANCES: [usize; 4] = [7, 8, 9, 6];
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Unique in its study; part of the page's anchors.
    pub id: String,
    /// What it shows; the caption.
    pub title: String,
    /// Text alternative: what the figure shows, in one or two sentences.
    pub alt: String,
    /// How it is drawn.
    pub kind: PlotKind,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Whether it repeats a figure of the paper, whose axes are then shown first.
    #[serde(default)]
    pub repeats: bool,
    /// Position of a horizontal reference line; a mark on the axis says what it means.
    pub level: Option<f64>,
    /// The series that are drawn.
    pub series: Vec<Series>,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlotKind {
    /// Points joined by lines; x is a number.
    Lines,
    /// Bars side by side; x is a word.
    Bars,
    /// Separate points, for a logarithmic scale, on which bars have no meaningful base; x is a word.
    Dots,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// The measured quantity.
    pub name: String,
    /// Its unit, if any.
    pub unit: Option<String>,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Positions and labels of marks; if empty, the plot chooses them.
    pub ticks: Vec<(f64, String)>,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Where its figures come from, which determines how it is drawn.
    pub origin: Origin,
    /// Index of its colour in the page's palette; the paper's series and ours of one subject have the same colour.
    pub colour: usize,
    /// The points.
    pub points: Vec<Point>,
}

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The paper printed them.
    Printed,
    /// They were measured here.
    Measured,
    /// They were measured here for comparison: in conditions like those of the paper's machine, or with other software.
    Beside,
}

/// A point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Where it stands.
    pub x: X,
    /// Its figure; the interval has width zero if the figure is exact or quoted.
    pub y: Interval,
}

/// A place on the horizontal axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum X {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl Axis {
    /// A linear axis whose marks are chosen by the plot.
    pub fn new(name: impl Into<String>, unit: Option<&str>) -> Axis {
        Axis { name: name.into(), unit: unit.map(str::to_owned), log: false, ticks: Vec::new() }
    }

    /// The same axis with a logarithmic scale.
    #[must_use]
    pub fn log(self) -> Axis {
        Axis { log: true, ..self }
    }

    /// The same axis with the given marks.
    #[must_use]
    pub fn ticks(self, ticks: impl IntoIterator<Item = (f64, String)>) -> Axis {
        Axis { ticks: ticks.into_iter().collect(), ..self }
    }

    /// The title of the axis: `time (ms)`.
    pub fn title(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} ({unit})", self.name),
            None => self.name.clone(),
        }
    }

    /// The position `x` as text on this axis.
    pub fn reading(&self, x: &X) -> String {
        match x {
            X::Word(word) => word.clone(),
            X::Number(number) => match self.ticks.iter().find(|(at, _)| at == number) {
                Some((_, text)) => text.clone(),
                None => number.to_string(),
            },
        }
    }
}

impl Series {
    /// A series that was measured here.
    pub fn here(name: impl Into<String>, colour: usize, points: impl IntoIterator<Item = (X, Interval)>) -> Series {
        let points = points.into_iter().map(|(x, y)| Point { x, y }).collect();
        Series { name: name.into(), origin: Origin::Measured, colour, points }
    }

    /// A series that the paper printed.
    pub fn paper(name: impl Into<String>, colour: usize, points: impl IntoIterator<Item = (X, Interval)>) -> Series {
        Series { origin: Origin::Printed, ..Series::here(name, colour, points) }
    }

    /// A series that was measured here for comparison.
    pub fn beside(name: impl Into<String>, colour: usize, points: impl IntoIterator<Item = (X, Interval)>) -> Series {
        Series { origin: Origin::Beside, ..Series::here(name, colour, points) }
    }
}

impl Figure {
    /// The figure's numbers as a table: a row for each x, a column for each series.
    pub fn table(&self) -> Table {
        let mut places: Vec<&X> = Vec::new();
        for point in self.series.iter().flat_map(|series| &series.points) {
            if !places.contains(&&point.x) {
                places.push(&point.x);
            }
        }
        let unit = |column: Column| match &self.y.unit {
            Some(unit) => column.unit(unit),
            None => column,
        };
        let heads = self.series.iter().map(|series| unit(Column::number(&series.name)));
        let mut table = Table::new(
            format!("The figures behind “{}”", self.title),
            [Column::text(&self.x.name)].into_iter().chain(heads),
        );
        for place in places {
            let cells = self.series.iter().map(|series| match series.points.iter().find(|point| point.x == *place) {
                Some(Point { y, .. }) => cell(*y),
                None => Cell::empty(""),
            });
            table.row([Cell::text(self.x.reading(place))].into_iter().chain(cells.collect::<Vec<_>>()));
        }
        table
    }
}

/// A table cell with a figure, and its interval if it has one.
pub fn cell(figure: Interval) -> Cell {
    let decimals = decimals(figure.median);
    let exact = figure.low == figure.high && figure.tells();
    if exact { Cell::number(figure.median, decimals) } else { Cell::interval(figure, decimals) }
}

/// A figure with its interval as text, with decimals suited to its size.
pub fn shown(figure: Interval) -> String {
    cell(figure).shown()
}

/// The number of decimals for three significant digits.
pub fn decimals(value: f64) -> u8 {
    match value.abs() {
        x if x >= 99.95 => 0,
        x if x >= 9.995 => 1,
        x if x >= 0.9995 => 2,
        x if x >= 0.09995 => 3,
        _ => 4,
    }
}
