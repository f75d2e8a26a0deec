//! Keys, passphrases and key pairs: how the command line names them, and where they are read from.

pub(crate) mod ceiling;
pub(crate) mod descriptor;
pub(crate) mod directory;
pub(crate) mod line;
#[cfg(feature = "public-keys")]
pub(crate) mod pairs;
#[cfg(not(feature = "public-keys"))]
#[path = "no_pairs.rs"]
pub(crate) mod pairs;
pub(crate) mod prompt;
pub(crate) mod secret;
#[cfg(feature = "signatures")]
pub(crate) mod signing;
pub(crate) mod unlock;
