//! The chapter of a study, as data for the template.

use sealwright_measure::{Machine, Table, Verdict};
use serde::Serialize;

use super::{claims::Claim, mark::Mark, terms};
use crate::{
    error::StudyError,
    figure::{Figure, Origin},
    provenance::{Provenance, Recorded},
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
    /// The number of comparisons and their rounds, and those that are not as precise as asked.
    comparisons: String,
    steal: String,
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
pub(crate) fn day(date: &str) -> String {
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
pub(crate) fn program(version: &str, by: &Provenance) -> String {
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
            comparisons: comparisons(&results.provenance.comparisons),
            steal: steal(&results.machine),
            glance: glance(results, paper, main),
            first: main.map(|figure| Plot::new(&results.study, figure)),
            figures: others.map(|figure| Plot::new(&results.study, figure)).collect(),
            tables: outcome.tables.iter().map(Shown::from).collect(),
            notes: outcome.notes.iter().map(noted).collect(),
            claims,
        })
    }
}

/// The share of time that the host of a virtual machine took away during the measurement; empty if it is unknown.
pub(super) fn steal(machine: &Machine) -> String {
    machine.state.steal.map_or(String::new(), |steal| format!("{:.1}", 100.0 * steal))
}

/// Most of the comparisons that are named.
const NAMED: usize = 10;

/// The comparisons in one sentence without its full stop; empty if there are none.
fn comparisons(all: &[Recorded]) -> String {
    let rounds = |one: &Recorded| one.trials.iter().map(|trial| trial.rounds).min().unwrap_or(0);
    let (Some(least), Some(most)) = (all.iter().map(rounds).min(), all.iter().map(rounds).max()) else {
        return String::new();
    };
    let mut text = format!("{} comparisons of {least} to {most} rounds", all.len());
    let wide: Vec<&Recorded> = all.iter().filter(|one| !one.narrow).collect();
    if !wide.is_empty() {
        let name = |one: &&Recorded| format!("{} ({} rounds)", one.step, rounds(one));
        let names = wide.iter().take(NAMED).map(name).collect::<Vec<_>>().join("; ");
        let more = if wide.len() > NAMED { "; and others" } else { "" };
        text += &format!(", {} of them not as precise as asked when the time was up: {names}{more}", wide.len());
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::RecordedTrial;

    #[test]
    fn comparisons_that_are_not_precise_are_named_with_their_rounds() {
        let one = |step: &str, rounds, narrow| {
            let trial = RecordedTrial { name: "t".into(), iterations: 1, rounds, quantiles: Vec::new() };
            Recorded { step: step.into(), seed: 1, narrow, trials: vec![trial] }
        };
        assert_eq!(comparisons(&[]), "");
        assert_eq!(comparisons(&[one("a", 7, true), one("b", 90, true)]), "2 comparisons of 7 to 90 rounds");
        let text = comparisons(&[one("a", 7, true), one("b", 9, false)]);
        assert!(text.ends_with("1 of them not as precise as asked when the time was up: b (9 rounds)"), "{text}");
        assert!(comparisons(&vec![one("c", 9, false); NAMED + 1]).ends_with("; and others"));
    }
}
