//! SENSS as the thesis describes it (and calls it CBC): a chain of masks per sender, and a MAC on every line before its
//! use.

use super::{
    chain::{Charge, Mac, Receive, Scope, chained},
    registration::{MOST, parameters, register},
};

// The latency is the thesis's. It gives each node one mask to send and one to receive; `engines.units` has more
chained! {
    "cbc", "SENSS as the thesis describes it: masks per node, a MAC on each line before its use",
    latency: super::unit::THESIS_LATENCY, masks: 0, authenticate: 1, mac: Mac::Critical, scope: Scope::Node,
    columns: ["cbc, MAC a line": ["scheme.cbc.authenticate=1"], "cbc, MAC in 10": ["scheme.cbc.authenticate=10"]]
}
