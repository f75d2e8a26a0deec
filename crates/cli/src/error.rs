//! Errors of sealed files as the command line prints them.

use std::path::Path;

use sealwright_file::Error;
use sealwright_terminal::{CommandError, Exit, os_message, shown};

/// The error of a sealed file with its exit code and hint. The library names the file inside its sentence; here the name
/// comes first.
pub(crate) fn file_error(error: Error) -> CommandError {
    let exit = Exit::from_code(error.exit_code());
    let hint = error.hint();
    let shown = match &error {
        Error::Io { doing, place, source } => {
            CommandError::new(exit, format_args!("cannot {doing}: {}", os_message(source))).about(Path::new(place))
        }
        Error::Exists(path) => CommandError::new(exit, "exists already").about(path),
        Error::SameFile(path) => CommandError::new(exit, "is both input and output").about(path),
        Error::Replaced(path) => CommandError::new(exit, "was changed or replaced meanwhile and is kept").about(path),
        Error::NotDurable(path) => {
            CommandError::new(exit, "is kept, because its output is not a file on a disk").about(path)
        }
        Error::Link(path) => {
            CommandError::new(exit, "is a symbolic link: removing it would leave the text").about(path)
        }
        Error::BlockDevice(path) => {
            CommandError::new(exit, "is a block device, whose content would be lost").about(path)
        }
        Error::EndlessOutput(path) => {
            let what = "is a block device: what is sealed there cannot be opened, because nothing tells where it ends";
            CommandError::new(exit, what).about(path)
        }
        Error::OtherName { name, wanted } => {
            let what = format_args!("it holds a directory that is called {}, not {}", shown(name), shown(wanted));
            CommandError::new(exit, what)
        }
        Error::BadOutput { path, why } => CommandError::new(exit, format_args!("cannot be written: {why}")).about(path),
        Error::Changed { place, before, after } => {
            let what = format_args!("was written to while it was read (it had {before} bytes, then {after})");
            CommandError::new(exit, what).about(Path::new(place))
        }
        Error::KeyFile { place, why } => {
            CommandError::new(exit, format_args!("cannot be used as a key file: {why}")).about(Path::new(place))
        }
        // Where the key was a word and not in a file, there is no name to put in front.
        Error::BadKey { place, why } if place == "the key" => CommandError::new(exit, why),
        Error::BadKey { place, why } => CommandError::new(exit, why).about(Path::new(place)),
        Error::Moved(path) => CommandError::new(exit, "is no regular file any more, or a link leads to it").about(path),
        Error::KeyAsName => CommandError::new(exit, "is a key, not the name of a file that holds one")
            .about(Path::new("(a key, not repeated)")),
        other => CommandError::new(exit, other),
    };
    hint.into_iter().fold(shown, CommandError::hint)
}

/// The error of reading the file at `path`, where the library had no name for it.
pub(crate) fn error_of(error: Error, path: &Path) -> CommandError {
    match error {
        Error::Io { doing, place, source } if place == "the input" => {
            file_error(Error::Io { doing, place: path.display().to_string(), source })
        }
        other => file_error(other).about_unless_named(path),
    }
}
