//! A control plane for tests.
#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use sealwright_session::{Plan, table};

use super::{ControlServer, ControlStats, Limits, Names, OpenLimits, Rate, Shared, tls::ServerTls};
use crate::{
    data::{Relay, Settings},
    log::Log,
    policy::Policy,
};

/// Limits that the tests do not reach.
pub(crate) fn limits() -> Limits {
    let hour = Duration::from_secs(3600);
    Limits {
        rate: Rate { per_second: 1e6, per_second_from_one: 1e6, at_once: 16, at_once_from_one: 16 },
        time: hour,
        lifetime: hour,
        open: OpenLimits { sessions: 4, by_certificate: 1e6, of_session: 1e6 },
    }
}

/// A control plane with a relay of four sessions, open to these names.
pub(crate) fn start(tls: ServerTls, names: &[&str]) -> ControlServer {
    start_with(tls, names, Log::to(std::io::sink()))
}

/// The same, with a log.
pub(crate) fn start_with(tls: ServerTls, names: &[&str], log: Log) -> ControlServer {
    let any = "127.0.0.1:0".parse().unwrap();
    let sessions = table(Plan::new("gcm-on64".parse().unwrap(), 4)).unwrap();
    let shared = Shared {
        relay: Arc::new(Relay::start(any, 0, Settings::default(), vec![sessions]).unwrap()),
        directory: None,
        frames: (None, 1),
        stats: Arc::new(ControlStats::default()),
        log: Arc::new(log),
    };
    let allowed = vec![(None, names.iter().map(|&name| name.to_owned()).collect())];
    ControlServer::start(any, shared, tls, Names::new(&allowed, 4, 4, 1), Policy::open(), limits()).unwrap()
}
