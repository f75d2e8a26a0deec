//! `sealwright-lab smp check`: tests the simulator with random steps.

use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use sealwright_smp::tester::{self, TestReport};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, print};
use serde_json::json;

use crate::status::Status;

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp check --steps 200000";

/// Test the simulator with random steps, and check every value and every invariant of the protocol
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Total number of steps on all machines
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    steps: u64,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// The maximum number of steps, which takes about a day.
const MOST: u64 = 1 << 40;

pub(super) fn run(args: &CheckArgs) -> Result<Exit, CommandError> {
    if args.steps > MOST {
        return Err(CommandError::usage(format_args!("{} steps take longer than a day", args.steps)));
    }
    let (status, done) = (Status::new(&args.progress), AtomicU64::new(0));
    let tell = |steps: u64| {
        let done = done.fetch_add(steps, Ordering::Relaxed) + steps;
        status.now(format!("{done} of {} steps", args.steps), || json!({ "done": done, "total": args.steps }));
    };
    let tested = tester::run(args.steps, args.seed, &tell).map_err(CommandError::failed)?;
    drop(status);
    let TestReport { machines, steps, cells, missed } = &tested;
    print(&if args.json {
        serde_json::to_string(&tested).map_err(CommandError::failed)? + "\n"
    } else {
        let used = cells - missed.len();
        let mut text = format!("{machines} machines, {steps} steps: no wrong read, no invariant broken\n");
        text += &format!("{used} of {cells} cells of the protocol used\n");
        missed.iter().fold(text, |text, cell| text + "not used: " + cell + "\n")
    })?;
    Ok(Exit::Done)
}
