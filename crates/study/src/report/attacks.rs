//! The report's chapter on attacks, from `results/attacks.json`.

use serde::Serialize;

use super::{
    chapter::{Plot, Shown, day, program},
    terms,
};
use crate::attacks::{Attacked, Report, figure, table};

/// The data of the chapter's template.
#[derive(Serialize)]
pub(super) struct Attacks {
    count: usize,
    /// Attacks that cannot run on this machine.
    untried: Vec<String>,
    /// The number of targets that were broken, and of those that withstood.
    broken: usize,
    held: usize,
    /// Attacks with an unexpected outcome.
    unexpected: Vec<String>,
    small: bool,
    seconds: String,
    date: String,
    machine: String,
    /// A description of the machine in more words.
    where_they_ran: String,
    program: String,
    figures: Vec<Plot>,
    table: Shown,
    /// For each attack its name; its title, what the attacker knows and what stops it, as HTML with links to the
    /// glossary; and how it was reduced.
    cards: Vec<[String; 5]>,
}

impl Attacks {
    pub(super) fn new(report: &Report) -> Attacks {
        let tried = || report.attacks.iter().flat_map(|attack| &attack.trials);
        let untried = || report.attacks.iter().filter(|attack| attack.trials.is_empty());
        let unexpected = report.attacks.iter().filter(|attack| !attack.as_expected);
        Attacks {
            count: report.attacks.len() - untried().count(),
            untried: untried().map(|attack| attack.name.clone()).collect(),
            broken: tried().filter(|tried| tried.succeeded).count(),
            held: tried().filter(|tried| !tried.succeeded).count(),
            unexpected: unexpected.map(|attack| attack.name.clone()).collect(),
            small: report.small,
            seconds: format!("{:.0}", report.seconds),
            date: day(&report.machine.date),
            machine: report.machine.cpu.clone(),
            where_they_ran: report.machine.identity(),
            program: program(&report.version, &report.provenance),
            figures: report.attacks.iter().filter_map(figure).map(|figure| Plot::new("attack", &figure)).collect(),
            table: Shown::from(&table(&report.attacks)),
            cards: report.attacks.iter().map(card).collect(),
        }
    }
}

fn card(attack: &Attacked) -> [String; 5] {
    let less = attack.reduced.as_ref().or(attack.not_here.as_ref()).cloned().unwrap_or_default();
    let linked = [&attack.title, &attack.knows, &attack.stopped_by].map(|text| terms::linked(text));
    let [title, knows, stopped] = linked;
    [attack.name.clone(), title, knows, stopped, less]
}
