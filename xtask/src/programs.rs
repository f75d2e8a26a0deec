//! Programs that steps run: cargo, whether others are installed, and their output.

use std::{env, process::Command};

/// Options that make compilers treat every warning as an error.
pub(crate) const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Whether a program of this name is installed.
pub(crate) fn have(tool: &str) -> bool {
    answers(tool, "--version")
}

/// Whether `tool word` succeeds.
pub(crate) fn answers(tool: &str, word: &str) -> bool {
    Command::new(tool).arg(word).output().is_ok_and(|output| output.status.success())
}

/// Runs a program; returns its standard output, or the error.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{program}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
