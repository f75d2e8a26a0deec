//! Keys and order of the messages of a benchmark.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::peer::sealing::{BATCH, SIDE_BY_SIDE};

/// Keys and order of the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// One key, set up beforehand; a processor can start a message before it has finished the previous one.
    #[default]
    OneKey,
    /// One key; each nonce depends on the tag of the previous message, so messages do not overlap: the latency of a
    /// message.
    Waiting,
    /// A thousand keys in turn, set up beforehand; they do not fit into the first-level caches.
    ManyKeys,
    /// A new key for each message; its setup is included in the time.
    NewKey,
    /// A new key for each message, 32 messages at a time, which a library may process in parallel.
    Batch,
    /// One key, set up beforehand, 16 messages at a time, which a library may process in parallel (useful for CBC).
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
    /// All ways.
    pub const ALL: [Way; 6] = [Way::OneKey, Way::Waiting, Way::ManyKeys, Way::NewKey, Way::Batch, Way::SideBySide];

    /// The name on the command line and in rows.
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

    /// The number of messages per call.
    pub(super) fn at_once(self) -> usize {
        match self {
            Way::Batch => BATCH,
            Way::SideBySide => SIDE_BY_SIDE,
            _ => 1,
        }
    }

    /// The description in titles of tables.
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
