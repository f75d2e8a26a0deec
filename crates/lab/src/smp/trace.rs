//! `sealwright-lab smp trace`: checks the files of a trace and summarises them.

use std::path::PathBuf;

use clap::Args;
use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::{
    access::Window,
    trace::{Summary, Trace},
};
use sealwright_terminal::{CommandError, Exit, print};

use super::machine::unusable;

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp trace sort

smp run makes the same checks before it runs a trace. Windows are the parts that DynamoRIO recorded with
-retrace_every_instrs -no_split_windows; smp run --windows selects those that statistics cover.";

/// Check the files of a trace, and print what they hold
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TraceArgs {
    /// Name of the trace (dir/fft for dir/fft.0.smpt.zst), or the folder that DynamoRIO wrote
    #[arg(value_name = "PREFIX")]
    prefix: PathBuf,
    /// Bytes in a cache line: a reference that crosses a line counts twice
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = clap::value_parser!(u64).range(16..=128))]
    line: u64,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &TraceArgs) -> Result<Exit, CommandError> {
    let checked = Trace::find(&args.prefix).and_then(|trace| trace.check(args.line as usize));
    let summary = checked.map_err(|error| unusable(error.into()))?;
    print(&if args.json {
        serde_json::to_string(&summary).map_err(CommandError::failed)? + "\n"
    } else {
        let Summary { threads, references, instructions, synchronisations, strays, unplayed, region, windows } =
            summary;
        let region = if region { "bounded" } else { "not bounded" };
        format!(
            "{threads} threads, {references} references, {instructions} instructions, {synchronisations} synchronisations; \
             the region of interest is {region}\n{}{}",
            warned(strays, unplayed),
            listed(&windows)
        )
    })?;
    Ok(Exit::Done)
}

/// Warnings about synchronisation events that the simulator replays differently from the recording.
fn warned(strays: u64, unplayed: u64) -> String {
    let mut text = String::new();
    if strays > 0 {
        text += &format!(
            "unlocks by threads that did not hold the lock: {strays}; two threads may hold such a lock in a run\n"
        );
    }
    if unplayed > 0 {
        text += &format!("calls not simulated: {unplayed} (threads created or joined, and condition variables)\n");
    }
    text
}

/// The windows as a table, or nothing if there are none.
fn listed(windows: &[Window]) -> String {
    if windows.is_empty() {
        return String::new();
    }
    let mut table = Table::new("Windows", ["window", "references", "instructions"].map(Column::number));
    for Window { window, references, instructions } in windows {
        table.row([*window, *references, *instructions].map(Cell::count));
    }
    format!("\n{}", table.to_text())
}
