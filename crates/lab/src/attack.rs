//! `sealwright-lab attack`: every attack of `sealwright-attacks`, run here.

use clap::Args;
use sealwright_attacks::{ATTACKS, Attack, Report, Size, Target, by_name};
use sealwright_measure::{Cell, Column, Table};
use sealwright_terminal::{CommandError, Exit, print, say};

const EXAMPLES: &str = "\
Each attack runs against a weak target, where it must succeed, and against a strong target, where it must
fail. The exit code is 1 if an attack does otherwise. docs/attacks explains each attack.

Example:
    sealwright-lab attack gcm-nonce-reuse
    sealwright-lab attack all --small    # in full it takes some minutes of two cores";

/// Run attacks on broken schemes and misused modes
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttackArgs {
    /// Name of an attack, or `all`; without it, print a list of the attacks
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Reduce long attacks, as the tests do
    #[arg(long)]
    small: bool,
    /// Print one line of JSON for each attack
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &AttackArgs) -> Result<Exit, CommandError> {
    let attacks: Vec<&Attack> = match args.name.as_deref() {
        None => return list(),
        Some("all") => ATTACKS.iter().collect(),
        Some(name) => vec![by_name(name).ok_or_else(|| {
            CommandError::usage(format_args!("no attack is called '{name}'; `sealwright-lab attack` lists them"))
        })?],
    };
    let size = if args.small { Size::Small } else { Size::Full };
    let mut reports = Vec::new();
    for attack in attacks {
        let report = attack.run(size).map_err(CommandError::failed)?;
        print(&match args.json {
            true => serde_json::to_string(&report).map_err(CommandError::failed)? + "\n",
            false => words(attack, &report),
        })?;
        reports.push(report);
    }
    if !args.json && reports.len() > 1 {
        print(&summary(&reports).to_text())?;
    }
    let failed: Vec<_> = reports.iter().filter(|report| !report.as_expected()).map(|report| report.name).collect();
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    say(format_args!("not as expected: {}", failed.join(", ")));
    Ok(Exit::Failed)
}

fn list() -> Result<Exit, CommandError> {
    let width = ATTACKS.iter().map(|attack| attack.name.len()).max().unwrap_or_default();
    for attack in ATTACKS {
        print(&format!("{:width$}  {}\n", attack.name, attack.title))?;
    }
    Ok(Exit::Done)
}

/// One attack in words.
fn words(attack: &Attack, report: &Report) -> String {
    let Attack { name, title, knows, stopped_by, page, .. } = attack;
    let mut text = format!("{name}: {title}\n  the attacker knows: {knows}\n  what stops it: {stopped_by}\n");
    if let Some(reduced) = report.reduced {
        text += &format!("  reduced: {reduced}\n");
    }
    for trial in &report.trials {
        let outcome = if trial.succeeded { "broken" } else { "held" };
        text += &format!("  {}: {outcome}: {}\n", trial.against, trial.result);
        text += &format!(
            "    {} messages or queries, {} {}, {} bytes, {:.3} s ({:.3} s of CPU time)\n",
            trial.queries, trial.steps, trial.step, trial.memory, trial.seconds, trial.cpu_seconds
        );
    }
    text + &format!("  see docs/attacks/{page}\n\n")
}

fn summary(reports: &[Report]) -> Table {
    let heads = [
        Column::text("attack"),
        Column::text("against"),
        Column::text("expected"),
        Column::text("result"),
        Column::number("queries"),
        Column::number("steps"),
        Column::number("CPU time").unit("s"),
    ];
    let mut table = Table::new("Attacks, costs and verdicts", heads);
    for report in reports {
        for trial in &report.trials {
            table.row([
                Cell::text(report.name),
                Cell::text(&trial.against),
                Cell::text(if trial.target == Target::Weak { "broken" } else { "held" }),
                Cell::text(if trial.succeeded { "broken" } else { "held" }),
                Cell::count(trial.queries),
                Cell::count(trial.steps),
                Cell::number(trial.cpu_seconds, 3),
            ]);
        }
    }
    table
}
