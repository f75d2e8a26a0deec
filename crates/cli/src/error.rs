//! Prints errors of `sealwright-file` as the command line does.

use std::path::Path;

use sealwright_file::Error;
use sealwright_terminal::{CommandError, Exit, os_message, shown};

use crate::hint::hint;

/// An error of the library with its exit code and hint. The library's message contains the file name somewhere; here
/// the name comes first.
pub(crate) fn file_error(error: Error) -> CommandError {
    let exit = Exit::from_code(error.exit_code());
    let hint = hint(&error);
    let shown = match &error {
        Error::Io { doing, place, error } => {
            CommandError::new(exit, format_args!("cannot {doing}: {}", os_message(error))).about(Path::new(place))
        }
        Error::OtherName { name, wanted } => {
            let what = format_args!("it holds a directory named {}, not {}", shown(name), shown(wanted));
            CommandError::new(exit, what)
        }
        Error::KeyFile { place, why } => {
            CommandError::new(exit, format_args!("cannot be used as a key file: {why}")).about(Path::new(place))
        }
        // If the key was given as an argument and not in a file, there is no name to put first.
        Error::BadKey { place, why } if place == "the key" => CommandError::new(exit, why),
        Error::BadKey { place, why } => CommandError::new(exit, why).about(Path::new(place)),
        Error::KeyAsName => CommandError::new(exit, "is a key, not the name of a file that holds one")
            .about(Path::new("(a key, not shown)")),
        other => match other.place() {
            Some(place) => {
                let sentence = other.to_string();
                let rest = sentence.strip_prefix(&place.display().to_string()).unwrap_or(&sentence);
                CommandError::new(exit, rest.trim_start()).about(place)
            }
            None => CommandError::new(exit, other),
        },
    };
    shown.hints(hint)
}

/// An error of reading the file at `path`, if the library did not know its name.
pub(crate) fn error_of(error: Error, path: &Path) -> CommandError {
    match error {
        Error::Io { doing, place, error } if place == "the input" => {
            file_error(Error::Io { doing, place: path.display().to_string(), error })
        }
        other => file_error(other).about_unless_named(path),
    }
}
