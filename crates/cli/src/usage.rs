//! Errors of the command line in the form that all errors have; help and version as they are.

use std::ffi::OsString;

use clap::{CommandFactory, error::ErrorKind};

use crate::{args::LowArgs, exit::Exit, failure::Failure, stream};

/// Prints what clap found: an error, or the help that was asked for.
pub(crate) fn tell(error: &clap::Error, words: &[OsString]) -> Exit {
    let text = error.render().to_string();
    let failure = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match stream::print(&text) {
            Ok(()) => return Exit::Done,
            Err(failure) => failure,
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{text}");
            return Exit::Usage;
        }
        _ => explain(&text, words),
    };
    eprintln!("{failure}");
    failure.exit()
}

/// One line of what is wrong, then hints: clap's tips, and where the help is.
fn explain(rendered: &str, words: &[OsString]) -> Failure {
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let paragraphs: Vec<String> =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let mut failure = Failure::usage(paragraphs.first().map_or("", String::as_str));
    for paragraph in &paragraphs {
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            failure = failure.hint(tip);
        }
    }
    failure.hint(format_args!("{} --help", verb(words)))
}

/// The verb whose help to point at: as many words as name one.
fn verb(words: &[OsString]) -> String {
    let mut command = LowArgs::command();
    let mut name = command.get_name().to_owned();
    for word in words.iter().skip(1) {
        let Some(inner) = command.find_subcommand(word) else { break };
        name = format!("{name} {}", inner.get_name());
        command = inner.clone();
    }
    name
}
