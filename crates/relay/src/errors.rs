//! One-line texts for errors of other libraries.

use std::io;

use serde::de::DeserializeOwned;
use thiserror::Error;

/// What an operating system error says, without the number that Rust adds to it.
pub fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.find(" (os error").map_or(text.clone(), |end| text[..end].to_owned())
}

/// Why a text is not the TOML that it should be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TomlError {
    /// Something is wrong in one line.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// Something is wrong with the whole.
    #[error("{0}")]
    Whole(String),
}

impl TomlError {
    /// The unknown key, if that is the error.
    pub(crate) fn unknown_field(&self) -> Option<&str> {
        let TomlError::Line { message, .. } = self else { return None };
        Some(message.strip_prefix("unknown field `")?.split_once('`')?.0)
    }
}

/// Parses TOML.
pub(crate) fn toml<T: DeserializeOwned>(text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let message = without_value(&error.message().split_whitespace().collect::<Vec<_>>().join(" "));
        match error.span() {
            Some(span) => {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                TomlError::Line { line, message }
            }
            None => TomlError::Whole(message),
        }
    })
}

/// Removes the offending value from serde's message: it may be a key or contain a password.
fn without_value(message: &str) -> String {
    for (start, end) in [("invalid type: string \"", "\", expected "), ("invalid value: string \"", "\", expected ")] {
        if let Some((_, expected)) = message.strip_prefix(start).and_then(|rest| rest.rsplit_once(end)) {
            return format!("invalid type: string, expected {expected}");
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_line() {
        assert_eq!(os_error_text(&io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(os_error_text(&io::Error::other("by itself")), "by itself");
        #[derive(serde::Deserialize, Debug)]
        #[serde(deny_unknown_fields)]
        struct One {
            #[allow(dead_code)]
            a: u32,
        }
        let why = toml::<One>("a = 1\nb = 2\n").expect_err("b is unknown").to_string();
        let why_not =
            toml::<One>("a = \"nats://user:secret\\\", expected b@host\"\n").expect_err("a is a number").to_string();
        assert_eq!(why_not, "line 1: invalid type: string, expected u32");
        assert!(why.starts_with("line 2: unknown field `b`") && !why.contains('\n'), "{why}");
    }
}
