//! Runs every attack of `sealwright-attacks` for the report: costs, verdicts, and a figure for each.

use schemars::JsonSchema;
use sealwright_attacks::{ATTACKS, Size, Target};
use sealwright_measure::{Cell, Column, Interval, Machine, Table};
use serde::{Deserialize, Serialize};

use crate::{
    error::StudyError,
    figure::{Axis, Figure, PlotKind, Series, X, colour},
    progress::Progress,
    provenance::Provenance,
    study::Options,
    svg,
};

/// The outcomes of all attacks.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// Whether long attacks were reduced.
    pub small: bool,
    /// Wall time of all attacks in seconds.
    pub seconds: f64,
    /// The attacks, in the order of the table of attacks.
    pub attacks: Vec<Attacked>,
    /// Sealwright's version; empty if it is unknown.
    #[serde(default)]
    pub version: String,
    /// The program that ran them.
    #[serde(default)]
    pub provenance: Provenance,
}

impl Report {
    /// An empty report for this program on `machine`, with nothing run yet.
    pub fn of(machine: Machine) -> Report {
        Report {
            machine,
            small: false,
            seconds: 0.0,
            attacks: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            provenance: Provenance::default(),
        }
    }
}

/// The outcome of one attack.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Attacked {
    /// Its name on the command line.
    pub name: String,
    /// What it achieves.
    pub title: String,
    /// What the attacker knows.
    pub knows: String,
    /// What stops it.
    pub stopped_by: String,
    /// What was reduced, compared with the full attack, if anything.
    pub reduced: Option<String>,
    /// Why the attack cannot run on this machine, if so.
    pub not_here: Option<String>,
    /// Whether every weak target fell and every strong one held.
    pub as_expected: bool,
    /// What the attacker spends: the horizontal axis.
    pub spent: String,
    /// What it gains: the vertical axis.
    pub gained: String,
    /// The attempts, one for each target.
    pub trials: Vec<Tried>,
}

/// One attempt against one target.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// What was attacked.
    pub against: String,
    /// Whether the attack should succeed.
    pub weak: bool,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The result, in words.
    pub result: String,
    /// Number of messages observed or queries made.
    pub queries: u64,
    /// Number of computation steps.
    pub steps: u64,
    /// What counts as a step.
    pub step: String,
    /// Memory that the attacker needs, in bytes.
    pub memory: u64,
    /// CPU time of all threads in seconds.
    pub cpu_seconds: f64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// The attacker's progress: pairs of what was spent and what was gained.
    pub curve: Vec<[f64; 2]>,
}

/// Runs one attack against all of its targets.
///
/// # Errors
/// When the victim fails although nobody attacks it.
pub fn attacked(attack: &sealwright_attacks::Attack, size: Size) -> Result<Attacked, StudyError> {
    let failed = |error| StudyError::Io(format!("the attack {}", attack.name), std::io::Error::other(error));
    let report = attack.run(size).map_err(failed)?;
    let (as_expected, reduced) = (report.as_expected(), reduced(&report));
    let trials = report.trials.into_iter().map(|trial| Tried {
        against: trial.against,
        weak: trial.target == Target::Weak,
        succeeded: trial.succeeded,
        result: trial.result,
        queries: trial.queries,
        steps: trial.steps,
        step: trial.step.to_owned(),
        memory: trial.memory,
        cpu_seconds: trial.cpu_seconds,
        seconds: trial.seconds,
        curve: trial.curve,
    });
    Ok(Attacked {
        name: attack.name.to_owned(),
        title: attack.title.to_owned(),
        knows: attack.knows.to_owned(),
        stopped_by: attack.stopped_by.to_owned(),
        reduced,
        not_here: report.not_here.map(str::to_owned),
        as_expected,
        spent: attack.figure.spent.to_owned(),
        gained: attack.figure.gained.to_owned(),
        trials: trials.collect(),
    })
}

/// How the attack was reduced: in all trials, or in those that are named.
fn reduced(report: &sealwright_attacks::Report) -> Option<String> {
    let mut sentences: Vec<String> = report.reduced.map(str::to_owned).into_iter().collect();
    let mut told: Vec<&str> = report.reduced.into_iter().collect();
    for words in report.trials.iter().filter_map(|trial| trial.reduced) {
        if !told.contains(&words) {
            told.push(words);
            let of = report.trials.iter().filter(|trial| trial.reduced == Some(words)).map(|trial| &trial.against[..]);
            sentences.push(format!("{words} (against {})", of.collect::<Vec<_>>().join("; ")));
        }
    }
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

/// Runs every attack, reduced or in full.
pub(crate) fn run(options: &Options, progress: &mut Progress<'_>) -> Result<Report, StudyError> {
    let clock = std::time::Instant::now();
    progress.expect(ATTACKS.len());
    let size = if options.quick { Size::Small } else { Size::Full };
    let mut attacks = Vec::new();
    for attack in ATTACKS {
        progress.step(attack.name);
        attacks.push(attacked(attack, size)?);
    }
    let machine = Machine::here(sealwright::Isa::available().iter().map(|isa| isa.name()));
    let seconds = clock.elapsed().as_secs_f64();
    let provenance = Provenance::here(&options.commit, None, Vec::new());
    Ok(Report { small: options.quick, seconds, attacks, provenance, ..Report::of(machine) })
}

/// Attacks, costs and verdicts: a row for each target.
pub fn table(attacks: &[Attacked]) -> Table {
    let heads = [
        Column::text("attack"),
        Column::text("against"),
        Column::text("expected"),
        Column::text("result"),
        Column::number("queries"),
        Column::number("steps"),
        Column::number("memory").unit("bytes"),
        Column::number("CPU time").unit("s"),
    ];
    let mut table = Table::new("Attacks, costs and verdicts", heads);
    let word = |broken| if broken { "broken" } else { "held" };
    for attack in attacks {
        for tried in &attack.trials {
            table.row([
                Cell::text(&attack.name),
                Cell::text(&tried.against),
                Cell::text(word(tried.weak)),
                Cell::text(word(tried.succeeded)),
                Cell::count(tried.queries),
                Cell::count(tried.steps),
                Cell::count(tried.memory),
                Cell::number(tried.cpu_seconds, 3),
            ]);
        }
        if let Some(why) = &attack.not_here {
            let first =
                [Cell::text(&attack.name), Cell::text(why), Cell::text("broken"), Cell::text("not on this machine")];
            table.row(first.into_iter().chain((0..4).map(|_| Cell::empty("not tried"))));
        }
    }
    table
}

/// What the attacker gained against what it spent, with a line for each target; `None` if nothing was tried.
pub fn figure(attack: &Attacked) -> Option<Figure> {
    let spent = || attack.trials.iter().flat_map(|tried| &tried.curve).map(|point| point[0]);
    let (most, least) = (spent().fold(0.0, f64::max), spent().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min));
    if most <= 0.0 {
        return None;
    }
    // Logarithmic if the last point is more than fifty times as far as the first
    let log = most > 50.0 * least;
    let series = attack.trials.iter().enumerate().map(|(number, tried)| {
        // What the attacker knows beforehand is at zero, which a logarithmic axis cannot show: it is drawn at the
        // first step
        let points = tried.curve.iter().map(|&[x, y]| [if log { x.max(least) } else { x }, y]);
        let colour = if tried.weak { colour::CIRCUMSTANCES[0] } else { colour::CIRCUMSTANCES[1 + number % 3] };
        Series::here(&tried.against, colour, points.map(|point| (X::Number(point[0]), Interval::exact(point[1]))))
    });
    let ends = attack.trials.iter().filter_map(|tried| {
        let [_, gained] = tried.curve.last()?;
        Some(format!("{}: {gained:.0}", tried.against))
    });
    let mut x = Axis::new(&attack.spent, None);
    x.log = log;
    Some(Figure {
        id: attack.name.clone(),
        title: format!("{}: {} by {}", attack.name, attack.gained, attack.spent),
        alt: format!("{}. At the end: {}.", attack.title, ends.collect::<Vec<_>>().join("; ")),
        kind: PlotKind::Lines,
        x,
        y: Axis::new(&attack.gained, None),
        repeats: false,
        level: None,
        series: series.collect(),
    })
}

/// The same figure as an SVG document of its own.
pub fn drawing(attack: &Attacked) -> Option<String> {
    figure(attack).map(|figure| svg::alone(&figure))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_attacks::by_name;

    use super::*;

    /// Even a full run may reduce some trials: exactly those must be named as reduced.
    #[test]
    fn what_was_reduced_in_some_trials_is_told_with_their_names() {
        let attack = by_name("gscm-keys").unwrap();
        let mut report = attack.run(Size::Small).unwrap();
        let words = report.reduced.take().unwrap();
        assert_eq!(reduced(&sealwright_attacks::Report { reduced: Some(words), ..report.clone() }).unwrap(), words);
        report.trials[0].reduced = None;
        let told = reduced(&report).unwrap();
        assert!(told.starts_with(words) && told.contains("gscm-h, one known text"), "{told}");
        assert!(!told.contains(&report.trials[0].against), "{told}");
    }

    #[test]
    fn an_attack_has_its_rows_and_its_figure() {
        let attacks: Vec<Attacked> = ["cbc-padding", "gcm-nonce-reuse"]
            .map(|name| attacked(by_name(name).unwrap(), Size::Small).unwrap())
            .to_vec();
        let text = table(&attacks).to_text();
        assert!(text.contains("sealwright enc -d -aes-256-cbc") && text.contains("held"), "{text}");
        let figure = figure(&attacks[0]).unwrap();
        let [weak, strong @ ..] = &figure.series[..] else { panic!("{figure:?}") };
        // The attack needs queries for each byte of three blocks. CBC with HMAC and a sealed file yield nothing
        assert_eq!(weak.points.last().unwrap().y.median, 48.0);
        assert!(weak.points.windows(2).all(|pair| pair[0].y.median <= pair[1].y.median));
        assert_eq!(strong.len(), 2);
        assert!(strong.iter().flat_map(|series| &series.points).all(|point| point.y.median == 0.0));
        assert!(super::figure(&Attacked { trials: Vec::new(), ..attacks[0].clone() }).is_none());
    }
}
