//! What a configuration takes of memory and descriptors, and what of it a running relay can change.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use sealwright_session::{Material, Plan, table};

use crate::{
    control::Names,
    policy::Class,
    serve::{config::Config, serve_error::ServeError},
};

/// Descriptors that the relay needs beside those of its connections: listeners, the control plane, metrics, files.
const OTHER_DESCRIPTORS: u64 = 256;
impl Config {
    /// Checks everything that can be checked without serving: certificates and keys too, and the memory. Returns how many
    /// connections there is room for.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<usize, ServeError> {
        self.tls.server()?;
        Ok(self.connections()?.min(descriptors()?))
    }

    /// A key that another configuration changes although a running relay cannot take it over.
    pub(super) fn needs_restart(&self, other: &Config) -> Option<&'static str> {
        let same = [
            ("frames", self.frames == other.frames),
            ("control", self.control == other.control),
            ("metrics", self.metrics == other.metrics),
            ("public", self.public == other.public),
            ("scheme", self.scheme == other.scheme),
            ("node", self.node == other.node),
            ("sessions", self.sessions == other.sessions),
            ("memory_mib", self.memory == other.memory),
            ("threads", self.threads == other.threads),
            ("cluster_sessions", self.cluster_sessions == other.cluster_sessions),
            ("admin", self.admin == other.admin),
            ("limits.replay_window", self.wide_window == other.wide_window),
            ("a limit of frames or connections, or udp,", self.settings == other.settings),
            #[cfg(feature = "nats")]
            ("mesh", self.mesh == other.mesh),
        ];
        same.into_iter().find(|(_, same)| !same).map(|(key, _)| key)
    }

    /// A table of so many sessions.
    pub(super) fn plan(&self, slots: u32) -> Plan {
        Plan { cluster: self.cluster(), wide_window: self.wide_window, ..Plan::new(self.scheme, slots) }
    }

    /// How many connections there is memory for beside the records and the workers.
    pub(super) fn connections(&self) -> Result<usize, ServeError> {
        let settings = &self.settings;
        let needed = self.record_bytes()? + u64::from(self.threads) * settings.worker_bytes();
        match settings.connections_within(self.memory.saturating_sub(needed)) {
            0 => Err(ServeError::Budget {
                sessions: self.sessions,
                needed: needed.div_ceil(1 << 20),
                connection: settings.connection_bytes() >> 10,
                budget: self.memory >> 20,
            }),
            connections => Ok(connections),
        }
    }

    /// What the records of all sessions take, once all are there.
    pub(super) fn record_bytes(&self) -> Result<u64, ServeError> {
        let mut one = table(self.plan(1))?;
        let before = one.memory();
        one.admit(0, 0, &Material::random()?)?;
        let after = one.memory();
        let client = after.record as u64
            + self.settings.session_bytes()
            + Names::BYTES
            + Class::BYTES
            + after.heap.saturating_sub(before.heap);
        let clusters = u64::from(self.threads + self.sessions / self.cluster());
        Ok(u64::from(self.sessions) * client + clusters * after.shared)
    }
}

/// How many connections the system has descriptors for, after the limit was raised as far as it may be.
pub(super) fn descriptors() -> Result<usize, ServeError> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(io::Error::from)?;
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_err() {
        return Ok(for_connections(soft));
    }
    Ok(for_connections(hard))
}

fn for_connections(descriptors: u64) -> usize {
    usize::try_from(descriptors.saturating_sub(OTHER_DESCRIPTORS).max(1)).unwrap_or(usize::MAX)
}
