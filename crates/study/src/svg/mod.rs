//! Draws a [`Figure`] as static SVG. Colours come from the page's style sheet, so that the drawing follows light and
//! dark mode without a script. A figure that repeats one of the paper has two panels: the paper's figure with the
//! paper's axes, and ours.

mod alone;
mod bar;
mod scale;

use std::fmt::Write;

pub(crate) use alone::alone;
use bar::{Bar, texture};
use html_escape::{encode_double_quoted_attribute as quoted, encode_text as escaped};
use scale::{Scale, ends};

use crate::figure::{Figure, Origin, PlotKind, Point, Series, X, shown};

/// Number of colours in the page's palette.
pub(crate) const COLOURS: usize = 10;

/// Width, height, and the left and bottom margins.
struct Size {
    width: f64,
    height: f64,
    left: f64,
    below: f64,
    /// Whether text is omitted, as at the top of the page.
    small: bool,
}

const PANEL: Size = Size { width: 520.0, height: 330.0, left: 58.0, below: 52.0, small: false };
const SMALL: Size = Size { width: 230.0, height: 96.0, left: 4.0, below: 5.0, small: true };

/// A drawing, and a title that says what it shows.
pub(crate) struct Panel {
    /// The title; empty if the figure has only one panel.
    pub(crate) title: &'static str,
    /// The SVG element.
    pub(crate) svg: String,
}

/// The panels of a figure. The panel with the paper's axes is omitted if the figure does not repeat the paper's, or if
/// both drawings would be the same.
pub(crate) fn panels(figure: &Figure) -> Vec<Panel> {
    let ours = Panel { title: "", svg: draw(figure, &PANEL) };
    if !figure.repeats {
        return vec![ours];
    }
    let mut paper = figure.clone();
    paper.series.retain(|series| series.origin == Origin::Printed);
    let printed = !paper.series.is_empty();
    if !printed {
        paper.series.clone_from(&figure.series);
    }
    (paper.x.log, paper.y.log, paper.level) = (false, false, None);
    if paper.kind == PlotKind::Dots {
        paper.kind = PlotKind::Bars;
    }
    let title = if printed { "As the paper shows it" } else { "Ours, on the paper's linear axes" };
    let svg = draw(&paper, &PANEL);
    if svg == ours.svg {
        return vec![ours];
    }
    vec![Panel { title, svg }, Panel { title: "Ours beside it", ..ours }]
}

/// A drawing without text, for the top of the page.
pub(crate) fn small(figure: &Figure) -> String {
    draw(figure, &SMALL)
}

/// The symbol of a series in the legend.
pub(crate) fn swatch(figure: &Figure, series: &Series) -> String {
    let class = class(series);
    let (line, mark) = match figure.kind {
        PlotKind::Bars => {
            let bar = Bar { left: 8.0, top: 0.5, wide: 14.0, high: 13.0 };
            (String::new(), bar.draw(series, Some(texture(figure, series))))
        }
        PlotKind::Dots => (String::new(), mark(series, nth(figure, series), 15.0, 7.0)),
        PlotKind::Lines => (
            format!("<path class=\"line\"{} d=\"M1 7H29\"/>", dash(series, nth(figure, series))),
            mark(series, nth(figure, series), 15.0, 7.0),
        ),
    };
    format!("<svg class=\"swatch {class}\" viewBox=\"0 0 30 14\" aria-hidden=\"true\">{line}{mark}</svg>")
}

fn class(series: &Series) -> String {
    format!("c{}", series.colour % COLOURS)
}

/// The number of earlier series with the same colour and origin. It selects the dashes and the marks.
fn nth(figure: &Figure, series: &Series) -> usize {
    let same = |other: &&Series| other.colour % COLOURS == series.colour % COLOURS && other.origin == series.origin;
    figure.series.iter().filter(same).position(|other| other.name == series.name).unwrap_or(0)
}

/// The attribute for the dashes of a line, which depends on the origin and on [`nth`].
fn dash(series: &Series, nth: usize) -> &'static str {
    match (series.origin, nth) {
        (Origin::Printed, 0) => " stroke-dasharray=\"7 4\"",
        (Origin::Printed, _) => " stroke-dasharray=\"12 4\"",
        (Origin::Beside, 0) => " stroke-dasharray=\"1.5 4\"",
        (Origin::Beside, 1) => " stroke-dasharray=\"8 3 1.5 3\"",
        (Origin::Beside, _) => " stroke-dasharray=\"8 3 1.5 3 1.5 3\"",
        (Origin::Measured, 0) => "",
        (Origin::Measured, 1) => " stroke-dasharray=\"14 3 2 3\"",
        (Origin::Measured, 2) => " stroke-dasharray=\"5 2\"",
        (Origin::Measured, _) => " stroke-dasharray=\"2 2\"",
    }
}

/// The mark of a point: an open diamond for the paper, a square for comparisons, a circle for ours. Further series of
/// the same colour and origin (except the paper's) have other shapes.
fn mark(series: &Series, nth: usize, x: f64, y: f64) -> String {
    match (series.origin, nth) {
        (Origin::Printed, _) => format!("<path class=\"open\" d=\"M{x:.1} {:.1}l5 5-5 5-5-5z\"/>", y - 5.0),
        (Origin::Beside, 0) => {
            format!("<rect class=\"mark\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/>", x - 3.5, y - 3.5)
        }
        (Origin::Beside, 1) => {
            format!("<rect class=\"open\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/>", x - 3.5, y - 3.5)
        }
        (Origin::Beside, _) => format!("<path class=\"open\" d=\"M{:.1} {y:.1}h9m-4.5-4.5v9\"/>", x - 4.5),
        (Origin::Measured, 0) => format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.8\"/>"),
        (Origin::Measured, 1) => format!("<path class=\"mark\" d=\"M{x:.1} {:.1}l5 8.5h-10z\"/>", y - 5.0),
        (Origin::Measured, 2) => format!("<path class=\"mark\" d=\"M{x:.1} {:.1}l5-8.5h-10z\"/>", y + 5.0),
        (Origin::Measured, _) => format!("<path class=\"open\" d=\"M{:.1} {:.1}l8 8m0-8l-8 8\"/>", x - 4.0, y - 4.0),
    }
}

/// Draws a figure without a legend.
fn draw(figure: &Figure, size: &Size) -> String {
    let points = || figure.series.iter().flat_map(|series| &series.points);
    let (right, top) = (size.width - if size.small { 4.0 } else { 12.0 }, if size.small { 4.0 } else { 12.0 });
    let bottom = size.height - size.below;
    let label = format!("{}. {}", figure.title, figure.alt);
    let mut out = format!(
        "<svg class=\"drawing\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
        size.width,
        size.height,
        quoted(&label)
    );
    let y = points().flat_map(|point| ends(point.y)).chain(figure.level);
    let Some(y) = Scale::of(y, figure.y.log, bottom, top) else { return out + "</svg>" };
    let words = words(figure);
    let x = points().filter_map(|point| if let X::Number(x) = point.x { Some(x) } else { None });
    let x = Scale::of(x, figure.x.log, size.left, right);
    let band = (right - size.left) / words.len().max(1) as f64;
    frame(&mut out, figure, size, &y, x.as_ref(), (&words[..], band), (right, top, bottom));
    let count = figure.series.len().max(1) as f64;
    for (number, series) in figure.series.iter().enumerate() {
        let place = |point: &Point| match (&point.x, &x) {
            (X::Number(number), Some(x)) => x.at(*number),
            (X::Word(word), _) => {
                let group = words.iter().position(|one| *one == word).unwrap_or(0) as f64;
                // Series are placed next to each other within their group, so that none hides another
                size.left + band * (group + 0.1 + 0.8 * (number as f64 + 0.5) / count)
            }
            (X::Number(_), None) => size.left,
        };
        let _ = write!(out, "<g class=\"{}\">", class(series));
        series_of(&mut out, figure, series, &y, &place, 0.8 * band / count, bottom, size.small);
        out += "</g>";
    }
    out + "</svg>"
}

/// The words on the horizontal axis, in order.
fn words(figure: &Figure) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for point in figure.series.iter().flat_map(|series| &series.points) {
        if let X::Word(word) = &point.x
            && !words.contains(&&word[..])
        {
            words.push(word);
        }
    }
    words
}

/// Draws axes, marks, titles and the reference line.
fn frame(
    out: &mut String,
    figure: &Figure,
    size: &Size,
    y: &Scale,
    x: Option<&Scale>,
    (words, band): (&[&str], f64),
    (right, top, bottom): (f64, f64, f64),
) {
    if size.small {
        let _ = write!(out, "<path class=\"axis\" d=\"M{} {top}V{bottom}H{right}\"/>", size.left);
    } else {
        for (at, name) in y.marks(&figure.y, 7) {
            let at = y.at(at);
            let _ = write!(out, "<path class=\"grid\" d=\"M{} {at:.1}H{right}\"/>", size.left);
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                size.left - 6.0,
                at + 4.0,
                escaped(&name)
            );
        }
        for (at, name) in x.map(|x| x.marks(&figure.x, 7)).unwrap_or_default() {
            let at = x.map_or(0.0, |x| x.at(at));
            let _ = write!(out, "<path class=\"axis\" d=\"M{at:.1} {bottom}v4\"/>");
            let _ = write!(
                out,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                escaped(&name)
            );
        }
        for (group, word) in words.iter().enumerate() {
            let at = size.left + band * (group as f64 + 0.5);
            // About the number of characters that fit into a band
            let most = (band / 6.4) as usize;
            for (line, part) in wrapped(word, most.max(4)).iter().take(2).enumerate() {
                let down = bottom + 15.0 + 12.0 * line as f64;
                let _ = write!(
                    out,
                    "<text class=\"word\" x=\"{at:.1}\" y=\"{down}\" text-anchor=\"middle\">{}</text>",
                    escaped(part)
                );
            }
        }
        let _ = write!(out, "<path class=\"axis\" d=\"M{} {top}V{bottom}H{right}\"/>", size.left);
        let (middle, down) = (f64::midpoint(size.left, right), size.height - 8.0);
        let _ = write!(
            out,
            "<text class=\"name\" x=\"{middle}\" y=\"{down}\" text-anchor=\"middle\">{}</text>",
            escaped(&figure.x.title())
        );
        let across = f64::midpoint(top, bottom);
        let (title, room) = (figure.y.title(), 2.0 * across - 8.0);
        // A letter is about 7.2 units wide; a title that is too long is condensed
        let closer = title.chars().count() as f64 * 7.2 > room;
        let closer =
            if closer { format!(" textLength=\"{room}\" lengthAdjust=\"spacingAndGlyphs\"") } else { String::new() };
        let _ = write!(
            out,
            "<text class=\"name\" transform=\"translate(12 {across}) rotate(-90)\" text-anchor=\"middle\"{closer}>{}</text>",
            escaped(&title)
        );
    }
    if let Some(level) = figure.level {
        let _ = write!(out, "<path class=\"level\" d=\"M{} {:.1}H{right}\"/>", size.left, y.at(level));
    }
}

/// Breaks a text into lines of at most `most` characters.
fn wrapped(word: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in word.split_inclusive([' ', '-']) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.trim_end().chars().count() <= most => line.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

/// Draws the points of a series.
#[expect(clippy::too_many_arguments, reason = "all of them are places on the drawing")]
fn series_of(
    out: &mut String,
    figure: &Figure,
    series: &Series,
    y: &Scale,
    place: &dyn Fn(&Point) -> f64,
    bar: f64,
    bottom: f64,
    small: bool,
) {
    let nth = nth(figure, series);
    if figure.kind == PlotKind::Lines && series.points.len() > 1 {
        let line: Vec<String> =
            series.points.iter().map(|point| format!("{:.1} {:.1}", place(point), y.at(point.y.median))).collect();
        let _ = write!(out, "<path class=\"line\"{} d=\"M{}\"/>", dash(series, nth), line.join("L"));
    }
    for point in &series.points {
        let (at, middle) = (place(point), y.at(point.y.median));
        let name = format!("{}, {}: {}", series.name, figure.x.reading(&point.x), shown(point.y));
        let unit = figure.y.unit.as_deref().map(|unit| format!(" {unit}")).unwrap_or_default();
        if !small {
            let _ = write!(out, "<g><title>{}{}</title>", escaped(&name), escaped(&unit));
        }
        if point.y.low < point.y.high && !small {
            let _ =
                write!(out, "<path class=\"ends\" d=\"M{at:.1} {:.1}V{:.1}\"/>", y.at(point.y.low), y.at(point.y.high));
        }
        if figure.kind == PlotKind::Bars {
            // Bars start at zero, upwards or downwards; a logarithmic axis has no zero
            let foot = if figure.y.log { bottom } else { y.at(0.0).min(bottom) };
            let (top, high) = (middle.min(foot), (foot - middle).abs().max(0.5));
            let place = Bar { left: at - 0.45 * bar, top, wide: 0.9 * bar, high };
            *out += &place.draw(series, (!small).then(|| texture(figure, series)));
        } else if !small || figure.kind == PlotKind::Dots {
            *out += &mark(series, nth, at, middle);
        }
        if !small {
            *out += "</g>";
        }
    }
}

#[cfg(test)]
mod tests;
