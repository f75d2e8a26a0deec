//! The part of a configuration that says who may have a session, and who may speak to whom.

use crate::{control::names::Allowed, policy::Policy};

/// Names and rules.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) allowed: Allowed,
    /// Names that may not have a session although they are allowed.
    pub(crate) revoked: Vec<String>,
    pub(crate) policy: Policy,
}
