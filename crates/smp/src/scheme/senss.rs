//! SENSS as its authors published it (Zhang et al., HPCA 2005): one chain of masks for the group, a MAC in the
//! background.

use super::{
    chain::{Charge, Mac, Receive, Scope, chained},
    registration::{MOST, parameters, register},
};

// The latency is as published
chained! {
    "senss", "SENSS as published: one chain for the group, a MAC in the background",
    latency: 80, masks: 8, authenticate: 100, mac: Mac::Background, scope: Scope::Group,
    columns: ["senss": []]
}
