//! Standard output and standard error. Each may be closed, and the program that reads it may have ended.

use std::{
    fmt,
    io::{self, Write},
};

use crate::error::{CommandError, os_message};

/// Prints a line on standard error. If standard error is closed, the line is lost, and the program continues.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints on standard output. It is not an error if the reader stops early (`| head`).
///
/// # Errors
/// If standard output cannot be written to.
pub fn print(text: &str) -> Result<(), CommandError> {
    match write(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| unwritable(&error)),
    }
}

/// Prints a line of a long run. Ends the process if the reader has stopped.
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
