//! What is wrong with settings: at the bottom, because everything that has settings says it.

/// A setting that does not exist or does not describe a machine, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);
