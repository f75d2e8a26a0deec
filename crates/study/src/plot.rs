//! A [`Figure`] as a plot of plotly.js, which the crate `plotly` carries inside it, so that a page needs no network.
//!
//! Colours are written as `var(--…)` of the page's style sheet; the page's script puts in what they are in its present
//! dress, light or dark.

use plotly::{
    Bar, Configuration, Layout, Plot, Scatter, Trace,
    common::{
        Anchor, DashType, ErrorData, ErrorType, Font, HoverInfo, Label, Line, Marker, MarkerSymbol, Mode, Orientation,
        Title,
    },
    configuration::DisplayModeBar,
    layout::{
        Axis as PlotAxis, AxisType, BarMode, DragMode, HoverMode, Legend, Margin, ModeBar, Shape, ShapeLine, ShapeType,
        TicksDirection,
    },
};

use crate::figure::{Axis, Figure, Origin, PlotKind, Point, Series, X, shown};

/// Colours that the page's palette has.
pub(crate) const COLOURS: usize = 10;

/// The plotting library, to be put on the page once: a `<script>` element.
pub(crate) fn script() -> String {
    let all = Plot::offline_js_sources();
    // The crate also brings an engine for formulas, twice as long again; the first script is the one that draws
    let end = all.find("</script>").map_or(all.len(), |at| at + "</script>".len());
    all[..end].trim().to_owned()
}

/// The plot of `figure` as JSON: data, layout, configuration.
pub(crate) fn json(figure: &Figure) -> String {
    let mut plot = Plot::new();
    plot.add_traces(figure.series.iter().map(|series| trace(figure, series)).collect());
    plot.set_layout(layout(figure));
    plot.set_configuration(
        Configuration::new()
            .responsive(true)
            .display_logo(false)
            .display_mode_bar(DisplayModeBar::Hover)
            .typeset_math(false)
            .show_link(false),
    );
    // Inside a script element nothing may look like its end
    plot.to_json().replace("</", "<\\/")
}

fn colour(number: usize) -> String {
    format!("var(--series-{})", number % COLOURS)
}

fn trace(figure: &Figure, series: &Series) -> Box<dyn Trace> {
    let y: Vec<f64> = series.points.iter().map(|point| point.y.median).collect();
    let hover: Vec<String> = series.points.iter().map(|point| reading(figure, series, point)).collect();
    let colour = colour(series.colour);
    let words = || series.points.iter().map(|point| figure.x.reading(&point.x)).collect::<Vec<_>>();
    let mode = if figure.kind == PlotKind::Dots { Mode::Markers } else { Mode::LinesMarkers };
    let (dash, symbol) = match series.origin {
        Origin::Printed => (DashType::Dash, MarkerSymbol::DiamondOpen),
        Origin::Measured => (DashType::Solid, MarkerSymbol::Circle),
        Origin::Beside => (DashType::Dot, MarkerSymbol::Square),
    };
    let line = Line::new().color(colour.clone()).width(2.0).dash(dash);
    let marker = Marker::new().color(colour.clone()).symbol(symbol).size(9);
    match figure.kind {
        PlotKind::Bars => Bar::new(words(), y)
            .name(&series.name)
            .marker(Marker::new().color(colour))
            .error_y(errors(series, "var(--ink)"))
            .hover_text_array(hover)
            .hover_info(HoverInfo::Text),
        PlotKind::Dots => Scatter::new(words(), y)
            .name(&series.name)
            .mode(mode)
            .marker(marker)
            .error_y(errors(series, &colour))
            .hover_text_array(hover)
            .hover_info(HoverInfo::Text),
        PlotKind::Lines => {
            let number = |point: &Point| if let X::Number(number) = point.x { number } else { f64::NAN };
            Scatter::new(series.points.iter().map(number).collect(), y)
                .name(&series.name)
                .mode(mode)
                .line(line)
                .marker(marker)
                .error_y(errors(series, &colour))
                .hover_text_array(hover)
                .hover_info(HoverInfo::Text)
        }
    }
}

/// What a point says when pointed at.
fn reading(figure: &Figure, series: &Series, point: &Point) -> String {
    let unit = figure.y.unit.as_deref().map(|unit| format!(" {unit}")).unwrap_or_default();
    format!("<b>{}</b><br>{}: {}{unit}", series.name, figure.x.reading(&point.x), shown(point.y))
}

/// Both arms of every interval.
fn errors(series: &Series, colour: &str) -> ErrorData {
    let wide = series.points.iter().any(|point| point.y.low < point.y.high);
    ErrorData::new(ErrorType::Data)
        .visible(wide)
        .symmetric(false)
        .array(series.points.iter().map(|point| point.y.high - point.y.median).collect())
        .array_minus(series.points.iter().map(|point| point.y.median - point.y.low).collect())
        .thickness(1.5)
        .width(4)
        .color(colour.to_owned())
}

fn layout(figure: &Figure) -> Layout {
    let clear = || "rgba(0,0,0,0)".to_owned();
    let mut layout = Layout::new()
        .auto_size(true)
        .height(if figure.series.len() > 1 { 370 + 19 * figure.series.len() } else { 400 })
        .paper_background_color(clear())
        .plot_background_color(clear())
        .font(Font::new().family("system-ui, sans-serif").size(13).color("var(--ink)"))
        .margin(Margin::new().left(60).right(16).top(34).bottom(56))
        .legend(
            Legend::new()
                .orientation(Orientation::Horizontal)
                .x(0.0)
                .x_anchor(Anchor::Left)
                .y(-0.28)
                .y_anchor(Anchor::Top)
                .background_color(clear()),
        )
        .hover_mode(HoverMode::Closest)
        .hover_label(
            Label::new()
                .background_color("var(--card)")
                .border_color("var(--line)")
                .font(Font::new().color("var(--ink)")),
        )
        .mode_bar(ModeBar::new().background_color(clear()).color("var(--muted)").active_color("var(--link)"))
        .drag_mode(DragMode::Zoom)
        .bar_mode(BarMode::Group)
        .show_legend(figure.series.len() > 1)
        .x_axis(axis(&figure.x, figure.kind == PlotKind::Lines))
        .y_axis(axis(&figure.y, true));
    if let Some(at) = figure.level {
        layout.add_shape(
            Shape::new()
                .shape_type(ShapeType::Line)
                .x_ref("paper")
                .x0(0)
                .x1(1)
                .y0(at)
                .y1(at)
                .line(ShapeLine::new().color("var(--muted)").width(1.5).dash(DashType::Dot)),
        );
    }
    layout
}

fn axis(axis: &Axis, number: bool) -> PlotAxis {
    let mut made = PlotAxis::new()
        .title(Title::with_text(axis.title()))
        .color("var(--ink)")
        .grid_color("var(--line)")
        .line_color("var(--line)")
        .zero_line_color("var(--line)")
        .ticks(TicksDirection::Outside)
        .tick_length(4)
        .tick_color("var(--line)")
        .auto_margin(true);
    made = match (number, axis.log) {
        (true, true) => made.type_(AxisType::Log),
        (true, false) => made.type_(AxisType::Linear),
        (false, _) => made.type_(AxisType::Category),
    };
    if !axis.ticks.is_empty() {
        let (values, text) = axis.ticks.iter().cloned().unzip();
        made = made.tick_values(values).tick_text(text);
    }
    made
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::Interval;

    use super::*;

    fn figure() -> Figure {
        let y = Interval { median: 2.0, low: 1.5, high: 3.0 };
        Figure {
            id: "f".into(),
            title: "T".into(),
            alt: "A".into(),
            kind: PlotKind::Lines,
            x: Axis::new("size", None).log().ticks([(1e5, "100 kB".into())]),
            y: Axis::new("time", Some("ms")).log(),
            level: Some(1.0),
            series: vec![
                Series::paper("paper </script>", 0, [(X::Number(1e5), Interval::exact(8.0))]),
                Series::here("here", 1, [(X::Number(1e5), y)]),
            ],
        }
    }

    #[test]
    fn a_plot_carries_points_intervals_and_units() {
        let json = json(&figure());
        assert!(!json.contains("</"), "nothing may end the script element that holds it");
        let plot: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(plot["data"][0]["line"]["dash"], "dash");
        assert_eq!(plot["data"][1]["y"][0], 2.0);
        assert_eq!(plot["data"][1]["error_y"]["array"][0], 1.0);
        assert_eq!(plot["data"][1]["error_y"]["arrayminus"][0], 0.5);
        assert_eq!(plot["data"][1]["hovertext"][0], "<b>here</b><br>100 kB: 2.00 [1.50, 3.00] ms");
        assert_eq!(plot["layout"]["xaxis"]["type"], "log");
        assert_eq!(plot["layout"]["yaxis"]["title"]["text"], "time (ms)");
        assert_eq!(plot["layout"]["shapes"][0]["y0"], 1.0);
    }

    #[test]
    fn the_script_is_whole_and_alone() {
        let script = script();
        assert!(script.starts_with("<script") && script.ends_with("</script>"));
        assert_eq!(script.matches("</script>").count(), 1);
        assert!(script.contains("newPlot") && script.len() < Plot::offline_js_sources().len() * 3 / 4);
    }
}
