//! `sealwright-lab attack`: runs the attacks of `sealwright-attacks`.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use sealwright_attacks::{ATTACKS, Attack, Size, by_name};
use sealwright_measure::store::write_atomically;
use sealwright_study::attacks::{Attacked, attacked, drawing, table};
use sealwright_terminal::{CommandError, Exit, print, say, shown};

const EXAMPLES: &str = "\
Each attack runs against a weak target, where it must succeed, and against a strong target, where it must
fail. Otherwise the exit code is 1. docs/attacks explains each attack.

Example:
    sealwright-lab attack gcm-nonce-reuse
    sealwright-lab attack all --small    # without --small: about a minute on two cores";

/// Run attacks on broken schemes and misused modes
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttackArgs {
    /// Name of an attack, or `all`; without it, print a list of the attacks
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Run smaller versions of long attacks, as in the tests
    #[arg(long)]
    small: bool,
    /// Print one line of JSON for each attack
    #[arg(long)]
    json: bool,
    /// Plot the progress of each attacker as NAME.svg in this folder
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
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
    let clock = Instant::now();
    let mut ran = Vec::new();
    for attack in attacks {
        let came = attacked(attack, size).map_err(CommandError::failed)?;
        print(&match args.json {
            true => serde_json::to_string(&came).map_err(CommandError::failed)? + "\n",
            false => words(attack, &came),
        })?;
        if let Some(folder) = &args.figures {
            draw(&came, folder)?;
        }
        ran.push(came);
    }
    if !args.json && ran.len() > 1 {
        print(&format!(
            "{}\n{} attacks in {:.0} s\n",
            table(&ran).to_text(),
            ran.len(),
            clock.elapsed().as_secs_f64()
        ))?;
    }
    let failed: Vec<_> = ran.iter().filter(|came| !came.as_expected).map(|came| &came.name[..]).collect();
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    say(format_args!("unexpected outcome: {}", failed.join(", ")));
    Ok(Exit::Failed)
}

/// Writes the figure of an attack as SVG, if it has one.
fn draw(attack: &Attacked, folder: &Path) -> Result<(), CommandError> {
    let Some(drawing) = drawing(attack) else { return Ok(()) };
    let path = folder.join(format!("{}.svg", attack.name));
    std::fs::create_dir_all(folder)
        .and_then(|()| write_atomically(&path, drawing.as_bytes()))
        .map_err(|error| CommandError::failed(format!("{}: {error}", shown(&path))))
}

fn list() -> Result<Exit, CommandError> {
    let width = ATTACKS.iter().map(|attack| attack.name.len()).max().unwrap_or_default();
    for attack in ATTACKS {
        print(&format!("{:width$}  {}\n", attack.name, attack.title))?;
    }
    Ok(Exit::Done)
}

/// The outcome of one attack as text.
fn words(attack: &Attack, came: &Attacked) -> String {
    let Attack { name, title, knows, stopped_by, page, .. } = attack;
    let mut text = format!("{name}: {title}\n  the attacker knows: {knows}\n  what stops it: {stopped_by}\n");
    if let Some(reduced) = &came.reduced {
        text += &format!("  reduced: {reduced}\n");
    }
    if let Some(why) = &came.not_here {
        text += &format!("  not on this machine: {why}\n");
    }
    for trial in &came.trials {
        let outcome = if trial.succeeded { "broken" } else { "held" };
        text += &format!("  {}: {outcome}: {}\n", trial.against, trial.result);
        text += &format!(
            "    {} messages or queries, {}: {}, {} bytes, {:.3} s ({:.3} s of CPU time)\n",
            trial.queries, trial.step, trial.steps, trial.memory, trial.seconds, trial.cpu_seconds
        );
    }
    text + &format!("  see docs/attacks/{page}\n\n")
}
