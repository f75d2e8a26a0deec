//! Bars, with textures that distinguish them: up to sixteen series share a few colours, and colours are lost in print
//! and for colour-blind readers.

use std::fmt::Write;

use super::nth;
use crate::figure::{Figure, Origin, Series};

/// Number of textures.
const TEXTURES: usize = 8;
/// Width of the edge of a hollow bar.
const EDGE: f64 = 1.4;

/// Position and size of a bar.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) wide: f64,
    pub(super) high: f64,
}

/// The texture of a series. If there are enough textures, each series of an origin has its own; otherwise only series
/// of the same colour have different ones. In any case, bars are in the order of the legend.
pub(super) fn texture(figure: &Figure, series: &Series) -> usize {
    let mut same = figure.series.iter().filter(|other| other.origin == series.origin);
    if same.clone().count() > TEXTURES {
        return nth(figure, series);
    }
    same.position(|other| other.name == series.name).unwrap_or(0)
}

impl Bar {
    /// The SVG elements of the bar; `texture` is `None` if the bar is too small for one.
    pub(super) fn draw(self, series: &Series, texture: Option<usize>) -> String {
        let Bar { left, top, wide, high } = self;
        let opacity = if series.origin == Origin::Printed { " fill-opacity=\"0.35\"" } else { "" };
        let mut out = format!(
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"{opacity}/>"
        );
        // Gaps have the background colour, rungs the colour of the bar
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
        // A dashed line as wide as the bar makes stripes. The offset makes the stripe at the foot one of the bar
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
