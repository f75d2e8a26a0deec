//! Standard output and standard error. Either may be closed, or its reader may be gone.

use std::{
    fmt,
    io::{self, Write},
};

use crate::error::{CommandError, os_message};

/// Prints a line on standard error. If that is closed nobody can be told, and the work goes on.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints on standard output. A reader that has seen enough (`| head`) is not an error.
///
/// # Errors
/// If standard output cannot be written to.
pub fn print(text: &str) -> Result<(), CommandError> {
    match write(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| unwritable(&error)),
    }
}

/// Prints a line of a long run, and ends the process if nobody reads it any more.
///
/// # Errors
/// If standard output cannot be written to.
pub fn print_or_leave(text: &str) -> Result<(), CommandError> {
    match write(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.map_err(|error| unwritable(&error)),
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn unwritable(error: &io::Error) -> CommandError {
    CommandError::failed(format_args!("standard output: cannot write: {}", os_message(error)))
}
