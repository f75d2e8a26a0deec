//! How messages come: which key each has, and whether it waits for the one before.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::peer::sealing::{BATCH, SIDE_BY_SIDE};

/// How messages come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// One after the other under one key, set up before: a processor begins a message while it ends the one before.
    #[default]
    OneKey,
    /// Under one key, and each nonce is known only when the tag of the message before is: the time of a message alone.
    Waiting,
    /// Under a thousand keys in turn, set up before: they do not fit into the first caches.
    ManyKeys,
    /// Each under a key of its own, whose setup is timed too.
    NewKey,
    /// The same, 32 messages at a time: side by side where a library can.
    Batch,
    /// Under one key, set up before, 16 messages at a time: side by side where a library can, as CBC wants it.
    SideBySide,
}

/// No way has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWayError;

impl fmt::Display for UnknownWayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown way; known are {}", Way::ALL.map(Way::name).join(", "))
    }
}
impl std::error::Error for UnknownWayError {}

impl Way {
    /// Every way.
    pub const ALL: [Way; 6] = [Way::OneKey, Way::Waiting, Way::ManyKeys, Way::NewKey, Way::Batch, Way::SideBySide];

    /// The name on command lines and in rows.
    pub fn name(self) -> &'static str {
        match self {
            Way::OneKey => "one-key",
            Way::Waiting => "waiting",
            Way::ManyKeys => "many-keys",
            Way::NewKey => "new-key",
            Way::Batch => "batch",
            Way::SideBySide => "side-by-side",
        }
    }

    /// How many messages are handed over at once.
    pub(super) fn at_once(self) -> usize {
        match self {
            Way::Batch => BATCH,
            Way::SideBySide => SIDE_BY_SIDE,
            _ => 1,
        }
    }

    /// What a table says of it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Way::OneKey => "",
            Way::Waiting => ", each message waiting for the one before",
            Way::ManyKeys => ", under a thousand keys",
            Way::NewKey => ", a new key for each message",
            Way::Batch => ", 32 at a time, a new key for each message",
            Way::SideBySide => ", 16 at a time under one key",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Way {
    type Err = UnknownWayError;

    fn from_str(name: &str) -> Result<Self, UnknownWayError> {
        Way::ALL.into_iter().find(|way| way.name() == name).ok_or(UnknownWayError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_goes_by_its_name() {
        for way in Way::ALL {
            assert_eq!(way.name().parse(), Ok(way));
            assert_eq!(serde_json::to_value(way).ok(), Some(way.name().into()));
        }
        assert!("fast".parse::<Way>().is_err_and(|error| error.to_string().contains("many-keys")));
    }
}
