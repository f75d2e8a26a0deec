//! The verbs, one per file: the arguments and the implementation of each.

#[cfg(feature = "relay")]
pub(crate) mod client;
pub(crate) mod completions;
pub(crate) mod enc;
pub(crate) mod inspect;
pub(crate) mod key;
pub(crate) mod man;
pub(crate) mod open;
#[cfg(feature = "public-keys")]
pub(crate) mod rekey;
#[cfg(feature = "relay")]
pub(crate) mod relay;
pub(crate) mod seal;
#[cfg(feature = "relay")]
pub(crate) mod serve;
#[cfg(feature = "signatures")]
pub(crate) mod sign;
pub(crate) mod vectors;
pub(crate) mod verify;
