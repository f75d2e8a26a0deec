//! Windows: the parts of a program that DynamoRIO records with `-trace_for_instrs` and `-retrace_every_instrs`,
//! numbered from 0.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Some windows, one after the other: a region of interest. In words `3`, or `2..4` with both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
pub struct Windows {
    first: u64,
    last: u64,
}

/// Windows that are not of the form `3` or `2..4`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}: windows have the form 3 or 2..4, the smaller number first")]
pub struct WindowsError(String);

/// Windows in a settings file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    One(u64),
    Words(String),
}

impl Windows {
    /// Whether `window` is one of them.
    pub fn contains(&self, window: u64) -> bool {
        (self.first..=self.last).contains(&window)
    }
}

impl FromStr for Windows {
    type Err = WindowsError;

    fn from_str(text: &str) -> Result<Windows, WindowsError> {
        let number = |digits: &str| digits.parse::<u64>().map_err(|_| WindowsError(text.to_owned()));
        let (first, last) = match text.split_once("..") {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(text)?, number(text)?),
        };
        if first <= last { Ok(Windows { first, last }) } else { Err(WindowsError(text.to_owned())) }
    }
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}..{}", self.first, self.last),
        }
    }
}

impl TryFrom<Written> for Windows {
    type Error = WindowsError;

    fn try_from(written: Written) -> Result<Windows, WindowsError> {
        match written {
            Written::One(window) => Ok(Windows { first: window, last: window }),
            Written::Words(words) => words.parse(),
        }
    }
}

impl From<Windows> for String {
    fn from(windows: Windows) -> String {
        windows.to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_a_number_or_two() {
        let some: Windows = "2..4".parse().unwrap();
        assert!(!some.contains(1) && some.contains(2) && some.contains(4) && !some.contains(5));
        assert_eq!(("7".parse::<Windows>().unwrap().to_string(), some.to_string()), ("7".into(), "2..4".into()));
        for wrong in ["", "x", "4..2", "1..", "..3", "-1", "1...3"] {
            assert!(wrong.parse::<Windows>().unwrap_err().to_string().contains("form 3 or 2..4"), "{wrong}");
        }
    }
}
