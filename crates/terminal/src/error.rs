//! The error of a verb: one line `sealwright: FILE: what`, then `hint:` lines.

use std::{fmt, io, path::Path, sync::OnceLock};

use crate::exit::Exit;

/// The program's name, printed before errors.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Sets the program's name; called once per process.
pub(crate) fn set_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// What failed, the file it is about, the exit code, and what the user can do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct CommandError {
    subject: Option<String>,
    what: String,
    hints: Vec<String>,
    exit: Exit,
}

impl CommandError {
    /// An error of the run as a whole.
    pub fn new(exit: Exit, what: impl fmt::Display) -> CommandError {
        CommandError { subject: None, what: what.to_string(), hints: Vec::new(), exit }
    }

    /// The command line is not valid.
    pub fn usage(what: impl fmt::Display) -> CommandError {
        CommandError::new(Exit::Usage, what)
    }

    /// Input, output or configuration failed.
    pub fn failed(what: impl fmt::Display) -> CommandError {
        CommandError::new(Exit::Failed, what)
    }

    /// The operating system refused something about `path`.
    pub fn io(path: &Path, error: &io::Error) -> CommandError {
        CommandError::failed(os_message(error)).about(path)
    }

    /// Names the file it is about.
    pub fn about(mut self, path: &Path) -> CommandError {
        self.subject = Some(shown(path));
        self
    }

    /// Names the file it is about, unless it names one already.
    pub fn about_unless_named(self, path: &Path) -> CommandError {
        if self.subject.is_some() { self } else { self.about(path) }
    }

    /// Adds a line saying what to do.
    pub fn hint(self, hint: impl fmt::Display) -> CommandError {
        self.hints([hint])
    }

    /// Adds such lines, or none: of an error that may have a hint.
    pub fn hints(mut self, hints: impl IntoIterator<Item: fmt::Display>) -> CommandError {
        self.hints.extend(hints.into_iter().map(|hint| hint.to_string()));
        self
    }

    /// The printed form: control characters are escaped.
    fn text(&self) -> String {
        let mut text = format!("{}: ", PROGRAM.get().unwrap_or(&"sealwright"));
        if let Some(subject) = &self.subject {
            text += &format!("{subject}: ");
        }
        text += &printable(&self.what);
        for hint in &self.hints {
            text += &format!("\nhint: {}", printable(hint));
        }
        text
    }

    /// The code the process ends with.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

/// A path in a form that is safe to print on a terminal.
pub fn shown(path: &Path) -> String {
    let chunks = path.as_os_str().as_encoded_bytes().utf8_chunks();
    chunks.fold(String::new(), |mut text, chunk| {
        text += &printable(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
        text
    })
}

/// The message of an operating system error, without the error number that Rust appends.
pub fn os_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// File names are other people's data: control characters must not reach the terminal, nor break the one line, and
/// characters that turn the direction of writing must not make `txt.exe` look like `exe.txt`.
pub fn printable(text: &str) -> String {
    let turns =
        |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_and_its_hints() {
        let error = CommandError::failed("exists").about(Path::new("a\nb\u{1b}[31m")).hint("--force replaces it");
        assert_eq!(error.to_string(), "sealwright: a\\nb\\u{1b}[31m: exists\nhint: --force replaces it");
    }

    #[test]
    fn names_cannot_turn_the_direction_of_writing() {
        assert_eq!(printable("a\u{202e}txt.exe\u{2066}"), "a\\u{202e}txt.exe\\u{2066}");
        assert_eq!(printable("\u{627}\u{5d0} \u{fc}\u{1f512}"), "\u{627}\u{5d0} \u{fc}\u{1f512}");
    }

    #[test]
    fn the_worst_of_several_codes_is_the_highest() {
        assert_eq!(Exit::Failed.max(Exit::NotAuthentic), Exit::NotAuthentic);
        assert_eq!(Exit::NotAuthentic.max(Exit::WrongKey), Exit::WrongKey);
    }

    #[test]
    fn operating_system_numbers_are_left_out() {
        assert_eq!(os_message(&io::Error::from_raw_os_error(28)), "No space left on device");
    }
}
