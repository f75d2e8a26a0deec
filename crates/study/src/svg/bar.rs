//! Bars, and the textures that tell them apart: up to sixteen series have few colours, and print and some eyes have none.

use std::fmt::Write;

use super::nth;
use crate::figure::{Figure, Origin, Series};

/// How many textures there are.
const TEXTURES: usize = 8;
/// What a hollow bar keeps of its edge.
const EDGE: f64 = 1.4;

/// Where a bar stands.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) wide: f64,
    pub(super) high: f64,
}

/// The number of a series' texture. If there are enough, each series of an origin has its own; else those of one colour have. Bars stand
/// in the order of the legend in any case.
pub(super) fn texture(figure: &Figure, series: &Series) -> usize {
    let mut same = figure.series.iter().filter(|other| other.origin == series.origin);
    if same.clone().count() > TEXTURES {
        return nth(figure, series);
    }
    same.position(|other| other.name == series.name).unwrap_or(0)
}

impl Bar {
    /// The bar; `texture` is left out where it is too small to be seen.
    pub(super) fn draw(self, series: &Series, texture: Option<usize>) -> String {
        let Bar { left, top, wide, high } = self;
        let opacity = if series.origin == Origin::Printed { " fill-opacity=\"0.35\"" } else { "" };
        let mut out = format!(
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"{opacity}/>"
        );
        // Gaps have the colour of the ground, rungs that of the bar
        let mut line = |class: &str, wide: f64, edge: f64, dashes: &str| {
            if wide > 0.0 && high > 2.0 * edge {
                let (middle, foot) = (left + self.wide / 2.0, top + high - edge);
                let _ = write!(
                    out,
                    "<path class=\"{class}\" stroke-width=\"{wide:.1}\"{dashes} d=\"M{middle:.1} {foot:.1}V{:.1}\"/>",
                    top + edge
                );
            }
        };
        let (split, hollow) = (wide / 3.0, wide - 2.0 * EDGE);
        // A dashed line as wide as the bar makes stripes; from the foot up, the bar comes first
        let [sparse, dense] =
            ["1.5 4.5", "1.5 1.8"].map(|dashes| format!(" stroke-dasharray=\"{dashes}\" stroke-dashoffset=\"1.5\""));
        match texture.map_or(0, |number| number % TEXTURES) {
            1 => line("gap", wide, 0.0, &sparse),
            2 => line("gap", split, 0.0, ""),
            3 => line("gap", wide, 0.0, &dense),
            4 => line("gap", hollow, EDGE, ""),
            5 => {
                line("gap", hollow, EDGE, "");
                line("rung", wide, EDGE, &sparse);
            }
            6 => {
                line("gap", split, 0.0, "");
                line("gap", wide, 0.0, &sparse);
            }
            7 => {
                line("gap", hollow, EDGE, "");
                line("rung", wide / 4.0, 0.0, "");
            }
            _ => {}
        }
        out
    }
}
