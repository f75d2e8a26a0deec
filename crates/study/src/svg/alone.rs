//! A figure as an SVG file of its own, for documents: the drawing in the page's colours, with its legend below.

use super::{PANEL, class, draw, escaped, swatch};
use crate::figure::{Figure, PlotKind};

/// The page's style sheet, from which the light colours and the rules for drawings are taken.
const STYLE: &str = include_str!("../../report/page.css");

/// Height of a line of the legend.
const LINE: f64 = 18.0;

/// The SVG document.
pub(crate) fn alone(figure: &Figure) -> String {
    let height = PANEL.height + LINE * figure.series.len() as f64 + 8.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" width=\"{}\" height=\"{height}\">\n\
         <style>\n{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        PANEL.width,
        PANEL.width,
        style(figure.kind)
    );
    let inner = draw(figure, &PANEL).replacen("<svg ", &format!("<svg height=\"{}\" ", PANEL.height), 1);
    out += &inner;
    for (number, series) in figure.series.iter().enumerate() {
        let y = PANEL.height + LINE * number as f64;
        let mark = swatch(figure, series).replacen(
            "<svg ",
            &format!("<svg x=\"58\" y=\"{y}\" width=\"30\" height=\"14\" "),
            1,
        );
        out += &format!(
            "\n{mark}<text class=\"{} key\" x=\"94\" y=\"{}\">{}</text>",
            class(series),
            y + 11.0,
            escaped(&series.name)
        );
    }
    out + "\n</svg>\n"
}

/// The first block of variables, which has the light colours, and the rules for drawings of this kind.
fn style(kind: PlotKind) -> String {
    let variables = STYLE.split('{').nth(1).and_then(|rest| rest.split('}').next()).unwrap_or_default();
    let drawn = [".drawing", ".line {", ".ends", ".mark {", ".open", ".bar {"];
    let textures = if kind == PlotKind::Bars { &[".gap {", ".rung {"][..] } else { &[] };
    let drawn = || drawn.iter().chain(textures);
    let colour =
        |line: &str| line.strip_prefix(".c").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let rules = STYLE.lines().filter(|line| drawn().any(|start| line.starts_with(start)) || colour(line));
    let rules: Vec<&str> = rules.collect();
    format!(
        ":root {{{variables}}}\n{}\n.key {{ font: 12px system-ui, sans-serif; fill: var(--ink); }}\n",
        // The document determines the size of the drawing, not the page
        rules.join("\n").replace("display: block; width: 100%; height: auto; ", "")
    )
}
