//! A study's chapter, as the template reads it.

use sealwright_measure::{Table, Verdict};
use serde::Serialize;

use crate::{error::StudyError, figure::Figure, plot, results::Results, studies::find, study::Note};

/// Everything that a chapter shows.
#[derive(Serialize)]
pub(super) struct Chapter {
    name: String,
    title: String,
    citation: String,
    setup: String,
    asked: String,
    found: String,
    summary: String,
    quick: bool,
    seconds: String,
    date: String,
    load: String,
    /// More was running than there are cores.
    busy: bool,
    version: String,
    /// The circumstances that claims were tried in: the columns of the grid.
    scopes: Vec<String>,
    /// So many columns that words in all of them would not fit on a screen.
    many: bool,
    /// Verdicts of each kind.
    counts: Vec<(Mark, usize)>,
    claims: Vec<Claim>,
    figures: Vec<Plot>,
    /// Tables as HTML.
    tables: Vec<Shown>,
    notes: Vec<Note>,
}

#[derive(Serialize)]
struct Claim {
    id: String,
    short: String,
    sentence: String,
    place: String,
    reading: String,
    /// One a scope that the claim was tried in.
    verdicts: Vec<Verdicted>,
    /// One a scope of the chapter, empty where it was not.
    grid: Vec<Option<Mark>>,
}

#[derive(Serialize)]
struct Verdicted {
    scope: String,
    mark: Mark,
    evidence: String,
}

/// So many columns of verdicts fit on a screen with their words.
const MANY: usize = 6;

/// A date as people read it: to the minute.
pub(super) fn day(date: &str) -> String {
    match date.get(..16) {
        Some(minute) if date.ends_with('Z') => format!("{} UTC", minute.replace('T', " ")),
        _ => date.to_owned(),
    }
}

/// A verdict as class, sign and words.
#[derive(Clone, Copy, Serialize)]
struct Mark {
    class: &'static str,
    sign: &'static str,
    words: &'static str,
}

impl From<Verdict> for Mark {
    fn from(verdict: Verdict) -> Mark {
        let (class, sign, words) = match verdict {
            Verdict::Holds => ("holds", "✓", "holds"),
            Verdict::DoesNotHold => ("does-not-hold", "✗", "does not hold"),
            Verdict::CannotBeTold => ("cannot-be-told", "?", "cannot be told"),
        };
        Mark { class, sign, words }
    }
}

/// A figure: its plot, its words, its numbers.
#[derive(Serialize)]
pub(super) struct Plot {
    id: String,
    title: String,
    alt: String,
    json: String,
    numbers: String,
}

impl Plot {
    pub(super) fn new(chapter: &str, figure: &Figure) -> Plot {
        Plot {
            id: format!("{chapter}-{}", figure.id),
            title: figure.title.clone(),
            alt: figure.alt.clone(),
            json: plot::json(figure),
            numbers: figure.table().to_html(),
        }
    }
}

/// A table as HTML, with its title for the region that scrolls.
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
        let mut scopes: Vec<String> = Vec::new();
        for scoped in outcome.claims.iter().flat_map(|claim| &claim.verdicts) {
            if !scopes.contains(&scoped.scope) {
                scopes.push(scoped.scope.clone());
            }
        }
        let all = || outcome.claims.iter().flat_map(|judged| &judged.verdicts).map(|scoped| scoped.claim.verdict);
        let kinds = [Verdict::Holds, Verdict::DoesNotHold, Verdict::CannotBeTold];
        let claim = |judged: &crate::judgement::Judged| Claim {
            id: format!("{}-{}", results.study, judged.id),
            short: judged.short.clone(),
            sentence: judged.verdicts.first().map(|scoped| scoped.claim.sentence.clone()).unwrap_or_default(),
            place: judged.verdicts.first().map(|scoped| scoped.claim.source.clone()).unwrap_or_default(),
            reading: judged.reading.clone(),
            grid: scopes.iter().map(|scope| judged.verdict(scope).map(Mark::from)).collect(),
            verdicts: judged
                .verdicts
                .iter()
                .map(|scoped| Verdicted {
                    scope: scoped.scope.clone(),
                    mark: scoped.claim.verdict.into(),
                    evidence: scoped.claim.evidence.clone(),
                })
                .collect(),
        };
        Ok(Chapter {
            name: results.study.clone(),
            title: paper.title.clone(),
            citation: paper.citation(),
            setup: paper.setup.clone(),
            asked: paper.asked.clone(),
            found: paper.found.clone(),
            summary: outcome.summary.clone(),
            quick: results.quick,
            seconds: format!("{:.0}", results.seconds),
            date: day(&results.machine.date),
            load: format!("{:.2}", results.machine.load[0]),
            busy: results.machine.load[0] > results.machine.cores as f64 + 0.5,
            version: results.version.clone(),
            claims: outcome.claims.iter().map(claim).collect(),
            figures: outcome.figures.iter().map(|figure| Plot::new(&results.study, figure)).collect(),
            tables: outcome.tables.iter().map(Shown::from).collect(),
            notes: outcome.notes.clone(),
            many: scopes.len() > MANY,
            counts: kinds.map(|kind| (Mark::from(kind), all().filter(|&verdict| verdict == kind).count())).into(),
            scopes,
        })
    }
}
