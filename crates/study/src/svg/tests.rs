#![allow(clippy::unwrap_used)]
use sealwright_measure::Interval;

use super::*;
use crate::figure::Axis;

fn figure(kind: PlotKind) -> Figure {
    let y = Interval::new(2.0, 1.5, 3.0);
    let x = |name: &str, number| if kind == PlotKind::Lines { X::Number(number) } else { X::Word(name.into()) };
    Figure {
        id: "f".into(),
        title: "T & <b>".into(),
        alt: "A".into(),
        kind,
        x: Axis::new("size", None).log().ticks([(1e5, "100 kB".into()), (1e6, "1 MB".into())]),
        y: Axis::new("time", Some("ms")).log(),
        level: Some(1.0),
        repeats: true,
        series: vec![
            Series::paper(
                "paper </svg>",
                0,
                [(x("a b", 1e5), Interval::exact(8.0)), (x("c", 1e6), Interval::exact(9.0))],
            ),
            Series::here("here", 1, [(x("a b", 1e5), y), (x("c", 1e6), y)]),
        ],
    }
}

#[test]
fn every_point_has_its_words_and_intervals_their_ends() {
    for kind in [PlotKind::Lines, PlotKind::Bars, PlotKind::Dots] {
        let drawn = draw(&figure(kind), &PANEL);
        assert_eq!(drawn.matches("<title>").count(), 4, "{drawn}");
        assert!(drawn.contains("ms</title>") && drawn.contains("2.00 [1.50, 3.00]"));
        assert_eq!(drawn.matches("class=\"ends\"").count(), 2, "exact figures have none");
        assert!(!drawn.contains("paper </svg>") && !drawn.contains("<b>"), "foreign text stays text");
        assert_eq!(drawn.matches("<g").count(), drawn.matches("</g>").count());
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}

/// A bar of a loss stands on zero, and one of a gain hangs from it.
#[test]
fn bars_of_gains_hang_from_zero() {
    let mut figure = Figure { level: None, ..figure(PlotKind::Bars) };
    figure.y.log = false;
    figure.series = vec![Series::here(
        "here",
        1,
        [("up", 4.0), ("down", -2.0)].map(|(name, y)| (X::Word(name.into()), Interval::exact(y))),
    )];
    let drawn = draw(&figure, &PANEL);
    let number = |bar: &str, name: &str| -> f64 {
        bar.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    let bars: Vec<(f64, f64)> =
        drawn.split("class=\"bar\"").skip(1).map(|bar| (number(bar, " y"), number(bar, "height"))).collect();
    let [(up, up_high), (down, down_high)] = bars[..] else { panic!("{drawn}") };
    assert!((up + up_high - down).abs() < 0.11, "one foot: {bars:?}");
    assert!((up_high / down_high - 2.0).abs() < 0.01, "{bars:?}");
}

#[test]
fn a_long_title_is_drawn_closer() {
    let mut figure = figure(PlotKind::Lines);
    assert!(!draw(&figure, &PANEL).contains("textLength"));
    figure.y = Axis::new("transfers.per_thousand_cycles over scheme.name=clear", Some("%"));
    assert_eq!(draw(&figure, &PANEL).matches("textLength").count(), 1);
}

#[test]
fn the_papers_axes_come_first() {
    let both = panels(&figure(PlotKind::Lines));
    let titles: Vec<&str> = both.iter().map(|panel| panel.title).collect();
    assert_eq!(titles, ["As the paper shows it", "Ours beside it"]);
    assert!(!both[0].svg.contains("here") && both[1].svg.contains("here"));
    let alone = Figure { repeats: false, ..figure(PlotKind::Lines) };
    assert_eq!(panels(&alone).len(), 1);
    let mut ours = figure(PlotKind::Lines);
    ours.series.remove(0);
    assert_eq!(panels(&ours)[0].title, "Ours, on the paper's linear axes");
    // If ours has linear axes too, both drawings are the same, and one panel is shown
    (ours.x.log, ours.y.log, ours.level) = (false, false, None);
    assert_eq!(panels(&ours).len(), 1);
}

#[test]
fn small_drawings_have_no_words_and_empty_ones_no_marks() {
    let drawn = small(&figure(PlotKind::Lines));
    assert!(!drawn.contains("<text") && !drawn.contains("<title>") && drawn.contains("class=\"line\""));
    let empty = Figure { series: Vec::new(), level: None, ..figure(PlotKind::Bars) };
    assert!(draw(&empty, &PANEL).ends_with("\"></svg>"));
    assert_eq!(wrapped("whole processes, seal", 10), ["whole ", "processes, ", "seal"]);
}

/// Bars must be distinguishable by their legend alone, also without colours.
#[test]
fn bars_of_one_colour_have_textures() {
    let bars = |count: usize| {
        let mut figure = figure(PlotKind::Bars);
        let points = figure.series[1].points.clone();
        let points = || points.iter().map(|point| (point.x.clone(), point.y));
        figure.series = (0..count).map(|n| Series::here(n.to_string(), n % 2, points())).collect();
        figure
    };
    let colourless = |figure: &Figure| -> Vec<String> {
        let swatches = figure.series.iter().map(|series| swatch(figure, series));
        swatches.map(|one| one.replace("swatch c0", "").replace("swatch c1", "")).collect()
    };
    let unlike = |all: &[String]| (0..all.len()).all(|at| !all[..at].contains(&all[at]));
    let few = bars(8);
    assert!(unlike(&colourless(&few)), "each its own, as long as there are enough");
    let many = bars(12);
    let all: Vec<String> = many.series.iter().map(|series| swatch(&many, series)).collect();
    assert!(unlike(&all) && !unlike(&colourless(&many)));
    // Bars have the textures of the legend. Small drawings have none, and bars that are too small neither
    let drawn = draw(&few, &PANEL);
    assert!(drawn.matches("class=\"gap\"").count() >= 12 && drawn.contains("class=\"rung\""), "{drawn}");
    assert!(!small(&few).contains("class=\"gap\""));
    assert!(alone(&few).contains("\n.gap {") && alone(&few).contains("\n.rung {"));
    assert!(!alone(&figure(PlotKind::Dots)).contains(".gap {"), "lines and dots have none");
}

#[test]
fn marks_tell_origins_and_equal_colours_apart() {
    let mut figure = figure(PlotKind::Lines);
    figure.series.push(Series::here("again", 1, figure.series[1].points.iter().map(|p| (p.x.clone(), p.y))));
    figure.series.push(Series::beside("other", 1, figure.series[1].points.iter().map(|p| (p.x.clone(), p.y))));
    let all: Vec<String> = figure.series.iter().map(|series| swatch(&figure, series)).collect();
    for (i, one) in all.iter().enumerate() {
        assert!(all[i + 1..].iter().all(|other| other != one), "{one}");
    }
}
