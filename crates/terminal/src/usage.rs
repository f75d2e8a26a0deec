//! Prints the result of parsing: help and version unchanged, errors in the form that all errors have.

use std::ffi::OsString;

use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    error::CommandError,
    exit::Exit,
    streams::{print, say},
};

/// A longer word is no option, and may be a key.
const LONGEST: usize = 40;

/// Prints what clap returned: an error, or the requested help.
pub(crate) fn explain<A: CommandFactory>(error: &clap::Error, words: &[OsString]) -> Exit {
    let text = error.render().to_string();
    let error = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match print(&text) {
            Ok(()) => return Exit::Done,
            Err(error) => error,
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            say(text.trim_end_matches('\n'));
            return Exit::Usage;
        }
        _ => reword(error, &text, &verb::<A>(words)),
    };
    say(&error);
    error.exit()
}

/// One line that says what is wrong, then hints: clap's tips, and the command that prints the help.
fn reword(error: &clap::Error, rendered: &str, verb: &str) -> CommandError {
    let help = format!("{verb} --help");
    if let Some(what) = without_value(error) {
        return CommandError::usage(what).hint(help);
    }
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let paragraphs: Vec<String> =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let mut error = CommandError::usage(paragraphs.first().map_or("", String::as_str));
    for paragraph in &paragraphs {
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            error = error.hint(tip);
        }
    }
    error.hint(help)
}

/// What is wrong, where clap would repeat what may be a secret: a passphrase behind an option that asks for one, or that takes
/// the number of a descriptor; a key in place of a word.
fn without_value(error: &clap::Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let argument = context(ContextKind::InvalidArg);
    let name = argument.split(' ').next().unwrap_or_default();
    match error.kind() {
        ErrorKind::TooManyValues => Some(format!("{argument} takes no value")),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if name.ends_with("-fd") => {
            Some(format!("{argument} takes the number of a descriptor"))
        }
        ErrorKind::UnknownArgument if argument.len() > LONGEST => {
            Some("unexpected argument found: it is long, and not repeated".into())
        }
        ErrorKind::InvalidSubcommand if context(ContextKind::InvalidSubcommand).len() > LONGEST => {
            Some("unrecognized subcommand: it is long, and not repeated".into())
        }
        _ => None,
    }
}

/// The verb whose help the hint names: as many words of the command line as are verbs.
fn verb<A: CommandFactory>(words: &[OsString]) -> String {
    let mut command = A::command();
    let mut name = command.get_name().to_owned();
    for word in words.iter().skip(1) {
        let Some(inner) = command.find_subcommand(word) else { break };
        name = format!("{name} {}", inner.get_name());
        command = inner.clone();
    }
    name
}
