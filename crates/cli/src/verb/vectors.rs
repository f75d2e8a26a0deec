//! `sealwright vectors check`: whether this build, on this machine, agrees with published test vectors.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use sealwright::Isa;
use sealwright_terminal::{CommandError, Exit, print, printable, say};
use sealwright_vectors::{FailedCase, Options, Report, VectorFileError, check_file};

const EXAMPLES: &str = "\
Reads Wycheproof JSON, and JSON Lines: one object {alg, key, nonce, aad, msg, ct, tag, taglen, result,
comment} per line, with bytes in hexadecimal and taglen in bits. Each vector runs in both directions.
Algorithms that this build does not contain are skipped and counted. The exit code is 1 if a vector fails or
a file cannot be read.

Example:
    sealwright vectors check --isa all vectors/*.json";

/// Check test vectors
#[derive(Args, Debug)]
pub(crate) struct VectorsArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the vectors in files; print each failure, and the counts
    #[command(after_help = EXAMPLES)]
    Check(CheckArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// Files with vectors
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Instruction-set level: portable, sse, avx2, avx512, neon, or all levels of this machine [default: the best]
    #[arg(long, value_name = "LEVEL")]
    isa: Option<String>,
}

/// Checks every file and prints failures as they are found.
pub(crate) fn run(args: &VectorsArgs) -> Result<Exit, CommandError> {
    let Verb::Check(args) = &args.verb;
    let options = Options::at(levels(args.isa.as_deref())?);
    let mut total = Report::default();
    let mut exit = Exit::Done;
    for path in &args.files {
        let mut unwritten = Ok(());
        let mut tell = |failure: &FailedCase| {
            let printed = print(&format!("{}\n", printable(&failure.to_string())));
            unwritten = std::mem::replace(&mut unwritten, Ok(())).and(printed);
        };
        match check_file(path, &options, &mut tell) {
            Ok(report) => total += report,
            Err(bad) => {
                exit = Exit::Failed;
                say(explain(path, &bad));
            }
        }
        unwritten?;
    }
    for (reason, cases) in &total.reasons {
        say(format_args!("skipped {cases}: {}", printable(reason)));
    }
    print(&format!("{total}\n"))?;
    Ok(if total.failed > 0 { Exit::Failed } else { exit })
}

/// The levels that the argument selects.
fn levels(word: Option<&str>) -> Result<Vec<Isa>, CommandError> {
    match word {
        None => Ok(vec![Isa::best()]),
        Some("all") => Ok(Isa::available()),
        Some(name) => name.parse().map(|isa| vec![isa]).map_err(|error| {
            CommandError::usage(format_args!("--isa {name}: {error}"))
                .hint("--isa all runs every level of this machine")
        }),
    }
}

fn explain(path: &Path, bad: &VectorFileError) -> CommandError {
    if path.is_dir() {
        let name = path.display();
        return CommandError::failed("is a directory").about(path).hint(format_args!("name the files: {name}/*.json"));
    }
    let place = if bad.place.is_empty() { String::new() } else { format!("{}: ", bad.place) };
    let what = bad.what.split(" (os error").next().unwrap_or_default();
    CommandError::failed(format_args!("{place}{what}")).about(path)
}
