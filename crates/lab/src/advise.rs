//! `sealwright-lab advise`: which suite to use and how to handle its keys, based on measurements of this machine.

use std::path::PathBuf;

use clap::Args;
use sealwright_measure::Machine;
use sealwright_study::{
    Advice, Measured, Question, Results, advise,
    results::{self, readable},
};
use sealwright_terminal::{
    CommandError, Exit, print, printable, say,
    size::{self, Size},
};
use serde::Serialize;

use crate::study::warn_of_left_out;

const EXAMPLES: &str = "\
The figures come from the results of `sealwright-lab study bench` and `study sessions` in DIR. Without them, the
advice contains no speeds and says what is not measured.

Example:
    sealwright-lab advise --bytes 1500 --sessions 1000000
    sealwright-lab advise --bytes 64KiB --no-hardware --commit";

/// Recommend a suite and a way to handle its keys, based on measurements
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AdviseArgs {
    /// Size of a packet in bytes
    #[arg(long, value_name = "N", default_value = "1500", value_parser = packet)]
    bytes: Size,
    /// Number of sessions at a time, each with its own keys
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    sessions: u64,
    /// Assume a processor without AES instructions
    #[arg(long)]
    no_hardware: bool,
    /// Some data must be authenticated but not encrypted
    #[arg(long)]
    ad: bool,
    /// Senders cannot guarantee that nonces are unique
    #[arg(long)]
    misuse: bool,
    /// A sealed message must open under one key only
    #[arg(long)]
    commit: bool,
    /// Folder of the results
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The size of a packet.
fn packet(text: &str) -> Result<Size, String> {
    match size::parse(text) {
        Ok(Size(0)) => Err("a packet has at least 1 byte".into()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

/// Prints the advice.
pub(crate) fn run(args: &AdviseArgs) -> Result<Exit, CommandError> {
    let question = Question {
        bytes: usize::try_from(args.bytes.0).map_err(|_| CommandError::usage("too many bytes for this machine"))?,
        sessions: args.sessions,
        hardware: !args.no_hardware,
        ad: args.ad,
        misuse: args.misuse,
        commit: args.commit,
    };
    let mut left_out = Vec::new();
    let bench = readable(results::load_bench(&args.results), &mut left_out);
    let sessions = readable(Results::load(&args.results, "sessions"), &mut left_out);
    warn_of_left_out(&left_out);
    let measured = Measured { bench: bench.as_ref(), sessions: sessions.as_ref() };
    let advice = advise(&question, measured);
    let here = Machine::here(sealwright::Isa::available().iter().map(|isa| isa.name())).identity();
    let (sources, warnings) = (measured.sources(), measured.warnings(&here));
    print(&match args.json {
        true => serde_json::to_string(&Told { advice, sources, warnings }).map_err(CommandError::failed)? + "\n",
        false => {
            warnings.iter().for_each(|warning| say(format_args!("sealwright-lab: warning: {}", printable(warning))));
            as_text(&advice, &sources)
        }
    })?;
    Ok(Exit::Done)
}

/// The advice as JSON.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    advice: Advice,
    /// Where, when and by which program the figures were measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<String>,
    /// Why they may not apply here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn as_text(advice: &Advice, sources: &[String]) -> String {
    let mut text = format!("Suite: {}\nKeys:  {}\n", advice.suite, advice.scheme_words);
    let mut list = |head: &str, lines: &mut dyn Iterator<Item = String>| {
        for (number, line) in lines.enumerate() {
            text += &if number == 0 { format!("\n{head}:\n  {line}\n") } else { format!("  {line}\n") };
        }
    };
    list("Why", &mut advice.why.iter().cloned());
    list("Figures", &mut advice.numbers.iter().map(|(what, figure)| format!("{what}: {figure}")));
    list("Notes", &mut advice.mind.iter().cloned());
    list("Measured", &mut sources.iter().map(|source| printable(source)));
    text
}
