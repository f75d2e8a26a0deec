//! The chapter of a study, as data for the template.

use sealwright_measure::{Machine, Table, Verdict};
use serde::Serialize;

use super::{claims::Claim, mark::Mark, terms};
use crate::{
    error::StudyError,
    figure::{Figure, Origin},
    provenance::Provenance,
    quantity::QuantityKind,
    results::Results,
    studies::find,
    svg,
};

/// The data of the chapter's template.
#[derive(Serialize)]
pub(super) struct Chapter {
    pub(super) name: String,
    title: String,
    citation: String,
    setup: String,
    asked: String,
    found: String,
    /// HTML with links to the glossary.
    summary: String,
    quick: bool,
    seconds: String,
    date: String,
    load: String,
    busy: bool,
    program: String,
    machine: String,
    glance: Glance,
    pub(super) claims: Vec<Claim>,
    /// The figure that is visible initially.
    first: Option<Plot>,
    figures: Vec<Plot>,
    /// Tables as HTML.
    tables: Vec<Shown>,
    notes: Vec<Noted>,
}

/// The study's line at the top of the report.
#[derive(Serialize)]
struct Glance {
    name: String,
    claimed: String,
    /// The result here: counts of verdicts, and the deciding figure.
    here: String,
    marks: Vec<(Mark, usize)>,
    claim: String,
    why: String,
    /// A small drawing without text.
    picture: String,
}

#[derive(Serialize)]
struct Noted {
    title: String,
    /// The text as HTML.
    text: String,
}

/// A date for readers, to the minute.
pub(super) fn day(date: &str) -> String {
    match date.get(..16) {
        Some(minute) if date.ends_with('Z') => format!("{} UTC", minute.replace('T', " ")),
        _ => date.to_owned(),
    }
}

/// The load averages of a machine at the time of its description.
pub(super) fn load(machine: &Machine) -> String {
    format!("{:.2}", machine.load[0])
}

/// Whether the load exceeded the number of cores.
pub(super) fn busy(machine: &Machine) -> bool {
    machine.load[0] > machine.cores as f64 + 0.5
}

/// The program that measured, in one line: `sealwright-lab 0.1.0, commit 8d6aca5a83c9+, SHA-256 0ed0d2f20ba2…`.
pub(super) fn program(version: &str, by: &Provenance) -> String {
    let short = |digits: &str| digits.chars().take(12).collect::<String>();
    let changed = if by.commit.ends_with('+') { "+" } else { "" };
    let mut line = format!("sealwright-lab {}", if version.is_empty() { "of an unknown version" } else { version });
    if !by.commit.is_empty() {
        line += &format!(", commit {}{changed}", short(by.commit.trim_end_matches('+')));
    }
    if !by.program.is_empty() {
        line += &format!(", SHA-256 {}…", short(&by.program));
    }
    line
}

/// A figure: its panels, its legend, its text alternative, and its numbers as a table.
#[derive(Serialize)]
pub(super) struct Plot {
    pub(super) id: String,
    title: String,
    alt: String,
    /// Titles and SVG elements of the panels.
    panels: Vec<(&'static str, String)>,
    /// SVG elements and names of the series, with the origin of their figures.
    legend: Vec<(String, String)>,
    numbers: String,
}

impl Plot {
    pub(super) fn new(chapter: &str, figure: &Figure) -> Plot {
        let origin = |origin| match origin {
            Origin::Printed => " (paper)",
            Origin::Measured => "",
            Origin::Beside => " (for comparison)",
        };
        let named = |name: &str, origin: &'static str| {
            let said = name.starts_with("paper") || name.starts_with("thesis") || name.contains("limit");
            format!("{name}{}", if said { "" } else { origin })
        };
        let legend = figure.series.iter();
        Plot {
            id: format!("{chapter}-{}", figure.id),
            title: figure.title.clone(),
            alt: figure.alt.clone(),
            panels: svg::panels(figure).into_iter().map(|panel| (panel.title, panel.svg)).collect(),
            legend: legend.map(|one| (svg::swatch(figure, one), named(&one.name, origin(one.origin)))).collect(),
            numbers: figure.table().to_html(),
        }
    }
}

/// A table as HTML, and its title as the label of the scrollable region.
#[derive(Serialize)]
pub(super) struct Shown {
    title: String,
    html: String,
}

impl From<&Table> for Shown {
    fn from(table: &Table) -> Shown {
        Shown { title: table.title.clone(), html: table.to_html() }
    }
}

impl Chapter {
    pub(super) fn new(results: &Results) -> Result<Chapter, StudyError> {
        let study = find(&results.study)?;
        let (paper, outcome) = (study.paper(), &results.outcome);
        let claims: Vec<Claim> = outcome.claims.iter().map(|judged| Claim::new(&results.study, judged)).collect();
        let main = outcome.figures.iter().find(|figure| figure.id == paper.glance.figure).or(outcome.figures.first());
        let others = outcome.figures.iter().filter(|figure| main.is_none_or(|main| main.id != figure.id));
        let noted = |note: &crate::study::Note| Noted { title: note.title.clone(), text: terms::linked(&note.text) };
        Ok(Chapter {
            name: results.study.clone(),
            title: paper.title.clone(),
            citation: paper.citation(),
            setup: paper.setup.clone(),
            asked: paper.asked.clone(),
            found: paper.found.clone(),
            summary: terms::linked(&outcome.summary),
            quick: results.quick,
            seconds: format!("{:.0}", results.seconds),
            date: day(&results.machine.date),
            load: load(&results.machine),
            busy: busy(&results.machine),
            program: program(&results.version, &results.provenance),
            machine: results.machine.identity(),
            glance: glance(results, paper, main),
            first: main.map(|figure| Plot::new(&results.study, figure)),
            figures: others.map(|figure| Plot::new(&results.study, figure)).collect(),
            tables: outcome.tables.iter().map(Shown::from).collect(),
            notes: outcome.notes.iter().map(noted).collect(),
            claims,
        })
    }
}

fn glance(results: &Results, paper: &crate::paper::Paper, figure: Option<&Figure>) -> Glance {
    let claim = results.outcome.claims.iter().find(|claim| claim.id == paper.glance.claim);
    let here = claim.into_iter().flat_map(|claim| &claim.verdicts).filter(|one| one.kind != QuantityKind::Arithmetic);
    let here: Vec<_> = here.filter_map(|one| Some((one, one.direction.as_ref()?))).collect();
    let kinds = [Verdict::Holds, Verdict::DoesNotHold, Verdict::CannotBeTold];
    let count = |verdict| here.iter().filter(|(_, found)| found.verdict == verdict).count();
    let marks: Vec<(Mark, usize)> =
        kinds.into_iter().map(|kind| (Mark::from(kind), count(kind))).filter(|(_, count)| *count > 0).collect();
    let words = marks.iter().map(|(mark, count)| format!("{} in {count}", mark.words)).collect::<Vec<_>>().join(", ");
    let short = claim.map_or(String::new(), |claim| claim.short.clone());
    let text = match &here[..] {
        [] => "Not measured yet.".to_owned(),
        [.., (scoped, _)] if here.len() == 1 => format!("“{short}” {words} circumstance: {}.", scoped.evidence()),
        all => {
            // For each verdict, one circumstance with its figure
            let example = |kind| {
                let (scoped, found) = all.iter().find(|(_, found)| found.verdict == kind)?;
                let figure = crate::figure::shown(found.deciding.figure);
                Some(format!("{}: {figure}", scoped.scope))
            };
            let examples: Vec<String> = kinds.into_iter().filter_map(example).collect();
            format!("“{short}” {words} of {} circumstances ({}).", all.len(), examples.join("; "))
        }
    };
    Glance {
        name: paper.glance.name.clone(),
        claimed: paper.glance.claimed.clone(),
        here: text,
        marks,
        claim: format!("{}-{}", results.study, paper.glance.claim),
        why: paper.glance.why.clone(),
        picture: figure.map(svg::small).unwrap_or_default(),
    }
}
