//! What is said when something fails: one line `sealwright: FILE: what`, then `hint:` lines.

use std::{fmt, io, path::Path};

use crate::exit::Exit;

/// A failure with its subject, its exit code and what the user can do about it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    subject: Option<String>,
    what: String,
    hints: Vec<String>,
    exit: Exit,
}

impl Failure {
    /// A failure of the run as a whole.
    pub(crate) fn new(exit: Exit, what: impl fmt::Display) -> Failure {
        Failure { subject: None, what: what.to_string(), hints: Vec::new(), exit }
    }

    /// The command line makes no sense.
    pub(crate) fn usage(what: impl fmt::Display) -> Failure {
        Failure::new(Exit::Usage, what)
    }

    /// Input, output or configuration failed.
    pub(crate) fn failed(what: impl fmt::Display) -> Failure {
        Failure::new(Exit::Failed, what)
    }

    /// The operating system refused something about `path`.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Failure {
        Failure::failed(plain(error)).about(path)
    }

    /// Names the file it is about.
    pub(crate) fn about(mut self, path: &Path) -> Failure {
        self.subject = Some(shown(path));
        self
    }

    /// Names the file it is about, unless it knows a better one.
    pub(crate) fn about_unless_named(self, path: &Path) -> Failure {
        if self.subject.is_some() { self } else { self.about(path) }
    }

    /// Adds a line saying what to do.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Failure {
        self.hints.push(hint.to_string());
        self
    }

    /// The code the process ends with.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sealwright: ")?;
        if let Some(subject) = &self.subject {
            write!(f, "{subject}: ")?;
        }
        f.write_str(&printable(&self.what))?;
        for hint in &self.hints {
            write!(f, "\nhint: {}", printable(hint))?;
        }
        Ok(())
    }
}

impl From<sealwright_file::Error> for Failure {
    fn from(error: sealwright_file::Error) -> Failure {
        use sealwright_file::Error;
        let exit = Exit::from_code(error.exit_code());
        let hint = error.hint();
        // The library names the file inside its sentence; here it goes first
        let failure = match &error {
            Error::Io { doing, place, source } => {
                Failure::new(exit, format_args!("cannot {doing}: {}", plain(source))).about(Path::new(place))
            }
            Error::Exists(path) => Failure::new(exit, "exists already").about(path),
            Error::SameFile(path) => Failure::new(exit, "is both input and output").about(path),
            Error::Replaced(path) => {
                Failure::new(exit, "was replaced by another file meanwhile and is kept").about(path)
            }
            Error::KeyFile { place, why } => {
                Failure::new(exit, format_args!("is no usable key file: {why}")).about(Path::new(place))
            }
            other => Failure::new(exit, other),
        };
        hint.into_iter().fold(failure, Failure::hint)
    }
}

/// A path as the terminal may show it.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// An operating system error without the number Rust puts behind it.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// File names are other people's data: control characters must not reach the terminal, nor break the one line.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_and_its_hints() {
        let failure = Failure::failed("exists").about(Path::new("a\nb\u{1b}[31m")).hint("--force replaces it");
        assert_eq!(failure.to_string(), "sealwright: a\\nb\\u{1b}[31m: exists\nhint: --force replaces it");
    }

    #[test]
    fn the_worst_of_several_codes_is_the_highest() {
        assert_eq!(Exit::Failed.max(Exit::NotAuthentic), Exit::NotAuthentic);
        assert_eq!(Exit::NotAuthentic.max(Exit::WrongKey), Exit::WrongKey);
    }

    #[test]
    fn operating_system_numbers_are_left_out() {
        assert_eq!(plain(&io::Error::from_raw_os_error(28)), "No space left on device");
    }
}
