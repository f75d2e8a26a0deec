//! Prints the result of parsing: help and version unchanged, errors in the form that all errors have.

use std::ffi::OsString;

use clap::{
    Command, CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    error::CommandError,
    exit::Exit,
    streams::{print, say},
};

/// A longer word is not an option, and may be a key: a key of 16 bytes has 32 hexadecimal digits.
const LONGEST: usize = 31;
/// Words that other programs use, and the verbs or options of this program that do the same. clap would suggest a word
/// of similar spelling instead, which does something else.
const OURS: [(&str, &str); 4] =
    [("encrypt", "seal"), ("decrypt", "open"), ("--key", "--key-file"), ("--password", "--passphrase")];

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
        _ => reword(error, &text, words, verb::<A>(words)),
    };
    say(&error);
    error.exit()
}

/// Turns clap's error into one line that says what is wrong, and hints: clap's tips, and the command that prints the
/// help.
fn reword(error: &clap::Error, rendered: &str, words: &[OsString], (verb, name): (Command, String)) -> CommandError {
    let help = format!("{name} --help");
    if let Some(what) = without_value(error) {
        return CommandError::usage(what).hint(help);
    }
    if is_empty(error, words) {
        let what = format!("an empty value was given for '{}'", context(error, ContextKind::InvalidArg));
        return CommandError::usage(what).hint("is a variable of the shell empty?").hint(help);
    }
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let first = text.split("\n\n").next().unwrap_or_default();
    let usage = CommandError::usage(first.split_whitespace().collect::<Vec<_>>().join(" "));
    // clap's tip to pass an unknown option as a value after `--` applies to any word and is not helpful.
    let tips =
        text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).filter(|tip| !tip.starts_with("to pass "));
    let usage = match ours(error, &verb) {
        Some(ours) => usage.hint(format_args!("the equivalent here is '{ours}'")),
        None => usage.hints(tips),
    };
    usage.hint(help)
}

/// The words without `--help` after the verb `help`, which clap would take for the name of a verb.
pub(crate) fn without_help_of_help<A: CommandFactory>(words: &[OsString]) -> Vec<OsString> {
    let (mut command, mut in_help) = (A::command(), false);
    let mut taken = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        if in_help && (word == "--help" || word == "-h") {
            continue;
        }
        let is_verb = at > 0 && at == taken.len() && !in_help;
        in_help |= is_verb && word == "help" && command.has_subcommands();
        if is_verb {
            // After the last verb, no word is one.
            command = command.find_subcommand(word).cloned().unwrap_or_default();
        }
        taken.push(word.clone());
    }
    taken
}

/// Whether the value is present but empty. clap reports that as a missing value.
fn is_empty(error: &clap::Error, words: &[OsString]) -> bool {
    let option = context(error, ContextKind::InvalidArg).split([' ', '=']).next().unwrap_or_default();
    let is_there = |word: &OsString| word.is_empty() || *word == *format!("{option}=");
    error.kind() == ErrorKind::InvalidValue
        && context(error, ContextKind::InvalidValue).is_empty()
        && words.last().is_none_or(|word| *word != *option)
        && words.iter().any(is_there)
}

/// What this program has in place of a word of other programs, if the verb supports it.
fn ours(error: &clap::Error, verb: &Command) -> Option<&'static str> {
    let word = match error.kind() {
        ErrorKind::UnknownArgument => context(error, ContextKind::InvalidArg),
        ErrorKind::InvalidSubcommand => context(error, ContextKind::InvalidSubcommand),
        _ => return None,
    };
    let (_, ours) = OURS.into_iter().find(|(theirs, _)| *theirs == word)?;
    let has = match ours.strip_prefix("--") {
        Some(long) => verb.get_arguments().any(|argument| argument.get_long() == Some(long)),
        None => verb.find_subcommand(ours).is_some(),
    };
    has.then_some(ours)
}

/// A piece of context in clap's error, if it is a single string.
fn context(error: &clap::Error, kind: ContextKind) -> &str {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text,
        _ => "",
    }
}

/// The message for errors in which clap would repeat a possible secret: a passphrase after an option that prompts for
/// one or takes a descriptor number, or a key as an argument or a value.
fn without_value(error: &clap::Error) -> Option<String> {
    let argument = context(error, ContextKind::InvalidArg);
    let name = argument.split(' ').next().unwrap_or_default();
    match error.kind() {
        ErrorKind::TooManyValues => Some(format!("{argument} takes no value")),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if name.ends_with("-fd") => {
            Some(format!("{argument} takes the number of a descriptor"))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation
            if context(error, ContextKind::InvalidValue).len() > LONGEST =>
        {
            Some(format!("invalid value for '{argument}': it is long, so it is not shown"))
        }
        ErrorKind::UnknownArgument if argument.len() > LONGEST => {
            Some("unexpected argument found: it is long, so it is not shown".into())
        }
        ErrorKind::InvalidSubcommand if context(error, ContextKind::InvalidSubcommand).len() > LONGEST => {
            Some("unrecognized subcommand: it is long, so it is not shown".into())
        }
        _ => None,
    }
}

/// The verb that the command line selects, and its full name, for the hint that names its help.
fn verb<A: CommandFactory>(words: &[OsString]) -> (Command, String) {
    let mut command = A::command();
    let mut name = command.get_name().to_owned();
    for word in words.iter().skip(1) {
        let Some(inner) = command.find_subcommand(word) else { break };
        name = format!("{name} {}", inner.get_name());
        command = inner.clone();
    }
    (command, name)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    #[command(name = "trial")]
    enum Trial {
        Verb {
            name: Option<String>,
            #[arg(long, value_parser = ["one", "two"])]
            choice: Option<String>,
            #[arg(long)]
            number: Option<u8>,
        },
    }

    /// The message for an invalid command line.
    fn said(line: &str) -> String {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        let Err(error) = Trial::try_parse_from(&words) else { return String::new() };
        reword(&error, &error.render().to_string(), &words, verb::<Trial>(&words)).to_string()
    }

    #[test]
    fn help_has_its_own_help() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        for (line, wanted) in [
            ("trial help --help", "trial help"),
            ("trial help -h", "trial help"),
            ("trial help verb --help", "trial help verb"),
            ("trial --help", "trial --help"),
            ("trial verb --help", "trial verb --help"),
            // A value.
            ("trial verb help --help", "trial verb help --help"),
        ] {
            assert_eq!(without_help_of_help::<Trial>(&words(line)), words(wanted), "{line}");
        }
    }

    /// Keys of 16 and of 32 bytes, in hexadecimal.
    #[test]
    fn a_word_that_may_be_a_key_is_not_repeated() {
        for key in ["8f1e2d3c4b5a69788796a5b4c3d2e1f0".to_owned(), "8f1e2d3c4b5a6978".repeat(4)] {
            for line in [format!("trial {key}"), format!("trial verb a {key}"), format!("trial verb --{key}")] {
                let said = said(&line);
                assert!(said.contains("it is long, so it is not shown\nhint: trial"), "{line}: {said}");
                assert!(!said.contains(&key[..8]), "{line}: {said}");
            }
        }
        let key = "8f1e2d3c4b5a69788796a5b4c3d2e1f0";
        for option in ["--choice <CHOICE>", "--number <NUMBER>"] {
            let name = option.split(' ').next().unwrap_or_default();
            for line in [format!("trial verb {name} {key}"), format!("trial verb {name}={key}")] {
                let said = said(&line);
                let wanted = format!("invalid value for '{option}': it is long, so it is not shown\nhint: trial");
                assert!(said.contains(&wanted) && !said.contains(&key[..8]), "{line}: {said}");
            }
        }
        assert!(said("trial verb --number 257").contains("'257'"));
        let said = said("trial verb --a-name-that-no-option-has");
        assert!(said.contains("'--a-name-that-no-option-has'"), "{said}");
    }
}
