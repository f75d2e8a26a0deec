//! How much memory and how many descriptors a configuration needs, and which settings a running relay can change.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use sealwright_session::{Material, Memory, Plan, table};

use crate::{
    control::Names,
    data::{Settings, WORKER_CONNECTIONS},
    policy::Class,
    serve::{admin, config::Config, metrics::MAX_READERS, serve_error::ServeError},
};

/// Descriptors for files, listeners and connections to other nodes.
const BASE_DESCRIPTORS: u64 = 64;
/// Descriptors per worker: its poll, its waker, its UDP socket, and a spare one.
const WORKER_DESCRIPTORS: u64 = 4;

/// For how long `sealwright client` tries to reach its relay by default, in seconds.
const CLIENT_WAIT_SECONDS: f64 = 60.0;

/// How many connections there is room for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionBudget {
    /// The number of connections.
    pub connections: usize,
    /// The memory that all their queues may take together.
    pub queues: u64,
    /// A hint, if they are fewer than the configuration allows.
    pub hint: Option<String>,
}

/// What a session takes of a relay's memory, in bytes: its record and its part of what is shared, what the data plane
/// knows of it, its class, its name. The budget of a relay counts by it, and so does what a load measures.
pub fn bytes_per_session(records: &Memory, settings: &Settings) -> f64 {
    records.bytes_per_client() + (settings.routing_bytes_per_session() + Names::BYTES_PER_NAME + Class::BYTES) as f64
}

impl Config {
    /// Checks everything that can be checked without serving: certificates and keys too, and the memory. Returns how
    /// many connections there is room for.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<ConnectionBudget, ServeError> {
        self.tls.server()?.check_time()?;
        self.admin.as_deref().map_or(Ok(()), admin::check)?;
        self.room()
    }

    /// A hint if not all clients of this many connections could return after a restart before they give up.
    pub(super) fn slow_return(&self, room: &ConnectionBudget) -> Option<String> {
        let seconds = room.connections as f64 / self.control_limits.rate.per_second;
        (seconds > CLIENT_WAIT_SECONDS).then(|| {
            let enough = (room.connections as f64 / CLIENT_WAIT_SECONDS).ceil();
            format!(
                "after a restart {} clients need {seconds:.0} s for their handshakes, and `sealwright client` waits for \
                 {CLIENT_WAIT_SECONDS} s: set limits.handshakes_per_second = {enough}, or let them wait longer (--wait)",
                room.connections
            )
        })
    }

    /// The limits of the data plane for this number of connections and this memory.
    pub(super) fn settings_in(&self, room: &ConnectionBudget) -> Settings {
        let share = self.from_one_address.unwrap_or(room.connections.div_ceil(2));
        Settings {
            max_connections: room.connections,
            max_from_one: share.min(room.connections),
            queues: room.queues,
            ..self.settings.clone()
        }
    }

    /// A setting that differs in the other configuration and that a running relay cannot change.
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
            // A changed CPU quota does not mean that the file has changed
            ("threads", self.threads == other.threads || !self.threads_given && !other.threads_given),
            ("cluster_sessions", self.cluster_sessions == other.cluster_sessions),
            ("admin", self.admin == other.admin),
            ("limits.replay_window", self.replay_window == other.replay_window),
            (
                "a limit of frames or connections, or udp,",
                (&self.settings, self.from_one_address) == (&other.settings, other.from_one_address),
            ),
            #[cfg(feature = "nats")]
            ("mesh", self.mesh == other.mesh),
        ];
        same.into_iter().find(|(_, same)| !same).map(|(key, _)| key)
    }

    /// Whether there are descriptors for this many connections and everything else that this configuration needs.
    pub(super) fn descriptors_for(&self, connections: usize) -> Result<bool, ServeError> {
        Ok(descriptors(connections, self.other_descriptors())? >= connections)
    }

    /// The plan of a table of so many sessions.
    pub(super) fn plan(&self, slots: u32) -> Plan {
        Plan::new(self.scheme, slots).cluster(self.cluster()).replay_window(self.replay_window)
    }

    /// For how many connections there are memory (beside records and workers) and descriptors.
    pub(super) fn room(&self) -> Result<ConnectionBudget, ServeError> {
        let settings = &self.settings;
        let needed = self.session_memory()? + u64::from(self.threads) * settings.worker_bytes() + self.mesh_bytes();
        let rest = self.memory.saturating_sub(needed);
        let named = most_connections(self.threads);
        let fitting = settings.connections_within(rest).min(named);
        let (one, most) = (settings.connection_bytes() as u64, settings.max_connections);
        // Half of what is left is for longer queues.
        let memory_for = |connections: usize| (needed + 2 * connections as u64 * one).div_ceil(1 << 20);
        if fitting == 0 {
            return Err(ServeError::Budget {
                sessions: self.sessions,
                nodes: self.mesh_bytes() > 0,
                needed: needed.div_ceil(1 << 20),
                connection: settings.connection_bytes() >> 10,
                budget: self.memory >> 20,
                least: memory_for(1),
                all: memory_for(most),
            });
        }
        let others = self.other_descriptors();
        let connections = fitting.min(descriptors(fitting, others)?);
        let hint = if connections < fitting {
            let all = fitting as u64 + others;
            Some(format!(
                "{fitting} connections need {all} open files: set LimitNOFILE={all} in the unit, or `ulimit -Hn {all}`"
            ))
        } else if connections == named && connections < most {
            Some(format!("{} threads serve at most {named} connections; for {most}, use more threads", self.threads))
        } else if connections < most {
            Some(format!("for {most} connections set memory_mib = {}", memory_for(most)))
        } else {
            None
        };
        Ok(ConnectionBudget { connections, queues: rest - connections as u64 * one, hint })
    }

    /// Memory for what waits for the thread of the mesh, at most.
    fn mesh_bytes(&self) -> u64 {
        #[cfg(feature = "nats")]
        if self.mesh.is_some() {
            return crate::mesh::WAITING_BYTES;
        }
        0
    }

    /// Descriptors beside those of connections for frames.
    fn other_descriptors(&self) -> u64 {
        let handshakes = self.control_limits.rate.at_once as u64;
        let workers = (WORKER_DESCRIPTORS * u64::from(self.threads)).max(64);
        BASE_DESCRIPTORS + handshakes + MAX_READERS as u64 + workers
    }

    /// Memory of all sessions, once all are in use.
    pub(super) fn session_memory(&self) -> Result<u64, ServeError> {
        let mut one = table(self.plan(1))?;
        let before = one.memory();
        one.admit(0, 0, &Material::random()?)?;
        let after = one.memory();
        let mut alone = after;
        (alone.heap, alone.shared, alone.live) = (after.heap.saturating_sub(before.heap), 0, 1);
        let sessions = f64::from(self.sessions) * bytes_per_session(&alone, &self.settings);
        let clusters = u64::from(self.threads + self.sessions / self.cluster());
        Ok(sessions as u64 + clusters * after.shared)
    }
}

/// For how many connections there are handles. Several workers have fewer together: the first takes all newcomers
/// before it passes them on, and sessions are not spread quite evenly.
fn most_connections(threads: u32) -> usize {
    let each = if threads == 1 { WORKER_CONNECTIONS } else { WORKER_CONNECTIONS / 8 * 7 };
    each * threads as usize
}

/// For how many connections there are descriptors, after raising the limit as far as allowed or wanted. `others` are
/// needed in addition.
fn descriptors(wanted: usize, others: u64) -> Result<usize, ServeError> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(io::Error::from)?;
    let all = wanted as u64 + others;
    // A privileged process may exceed the hard limit
    if hard < all && setrlimit(Resource::RLIMIT_NOFILE, all, all).is_ok() {
        return Ok(wanted);
    }
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_err() {
        return Ok(for_connections(soft, others));
    }
    Ok(for_connections(hard, others))
}

fn for_connections(descriptors: u64, others: u64) -> usize {
    usize::try_from(descriptors.saturating_sub(others).max(1)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;

    const TOP: &str = "frames = '127.0.0.1:1'\ncontrol = '127.0.0.1:2'\nmetrics = '127.0.0.1:3'\n\
        public = 'relay.example:1'\nscheme = 'gcm-on64'\nnode = 1\nsessions = 1000\nmemory_mib = 64\nthreads = 2\n\
        cluster_sessions = 100\nadmin = 'relay.sock'\nclients = ['alice']\ndrain_seconds = 1\n";
    const REST: &str = "[tls]\nauthority = 'a.pem'\ncertificate = 'c.pem'\nkey = 'c.key'\n\
        [limits]\nreplay_window = 1080\nbad_frames = 10\nsession_hours = 1\n";

    fn read(text: &str) -> Config {
        Config::parse(text, Path::new("/etc/sealwright")).unwrap()
    }

    #[test]
    fn what_a_running_relay_cannot_change_is_named() {
        let text = TOP.to_owned() + REST;
        let config = read(&text);
        assert_eq!(config.needs_restart(&read(&text)), None);
        let settings = "a limit of frames or connections, or udp,";
        for (before, after, named) in [
            ("frames = '127.0.0.1:1'", "frames = '127.0.0.1:9'", Some("frames")),
            ("control = '127.0.0.1:2'", "control = '127.0.0.1:9'", Some("control")),
            ("metrics = '127.0.0.1:3'\n", "", Some("metrics")),
            ("relay.example:1", "relay.example:9", Some("public")),
            ("gcm-on64", "gcm-derived", Some("scheme")),
            ("node = 1", "node = 2", Some("node")),
            ("sessions = 1000\n", "sessions = 1001\n", Some("sessions")),
            ("memory_mib = 64", "memory_mib = 65", Some("memory_mib")),
            ("threads = 2", "threads = 3", Some("threads")),
            ("cluster_sessions = 100\n", "cluster_sessions = 101\n", Some("cluster_sessions")),
            ("relay.sock", "other.sock", Some("admin")),
            ("replay_window = 1080", "replay_window = 56", Some("limits.replay_window")),
            ("bad_frames = 10", "bad_frames = 11", Some(settings)),
            ("bad_frames = 10", "connections_from_one_address = 10", Some(settings)),
            ("node = 1", "node = 1\nudp = '127.0.0.1:9'", Some(settings)),
            // Settings that a running relay can change
            ("'alice'", "'alice', 'bob'", None),
            ("session_hours = 1", "session_hours = 2", None),
            ("drain_seconds = 1", "drain_seconds = 2", None),
            ("c.key", "d.key", None),
            ("[tls]", "[tenants]\na = ['alice']\n[tls]", None),
        ] {
            assert!(text.contains(before));
            let other = read(&text.replace(before, after));
            assert_eq!(config.needs_restart(&other), named, "{after}");
            assert_eq!(other.needs_restart(&config), named, "back from {after}");
        }
        #[cfg(feature = "nats")]
        {
            use std::os::unix::fs::PermissionsExt;
            let folder = tempfile::tempdir().unwrap();
            let secret = folder.path().join("mesh.key");
            std::fs::write(&secret, "5a".repeat(32)).unwrap();
            std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
            let mesh = format!("[mesh]\nnats = 'nats://n'\nsecret = '{}'\n", secret.display());
            assert_eq!(config.needs_restart(&read(&(text.clone() + &mesh))), Some("mesh"));
        }
    }

    /// 4096 connections at 100 handshakes per second take 41 s. At a tenth of that rate it takes longer than clients
    /// wait.
    #[test]
    fn clients_that_cannot_all_come_back_in_time_are_hinted_at() {
        let hint = |rate: &str| {
            let config = read(&format!("{TOP}{REST}connections = 600\n{rate}\n"));
            let room = ConnectionBudget { connections: 600, queues: 0, hint: None };
            config.slow_return(&room)
        };
        assert_eq!((hint(""), hint("handshakes_per_second = 10")), (None, None));
        let said = hint("handshakes_per_second = 9.9").expect("it takes longer");
        assert!(said.contains("600 clients need 61 s") && said.contains("handshakes_per_second = 10,"), "{said}");
    }

    /// The handles of a worker are limited: without this, connections would be refused although there is room.
    #[test]
    fn there_are_no_more_connections_than_workers_can_name() {
        assert_eq!([1, 2].map(most_connections), [262_144, 458_752]);
        let text = format!("{TOP}{REST}connections = 400_000").replace("memory_mib = 64", "memory_mib = 64_000");
        let room = read(&text.replace("threads = 2", "threads = 1")).room().unwrap();
        assert!(room.connections <= 262_144 && room.hint.is_some(), "{room:?}");
    }

    /// By default one address may have half of the connections that there are, not of those that were configured.
    #[test]
    fn the_share_of_an_address_is_one_of_the_room() {
        let share = |limit: &str, connections| {
            let config = read(&format!("{TOP}{REST}{limit}\n"));
            config.settings_in(&ConnectionBudget { connections, queues: 0, hint: None }).max_from_one
        };
        assert_eq!([share("", 14), share("", 15), share("", 1)], [7, 8, 1]);
        let given = "connections_from_one_address = 20";
        assert_eq!([share(given, 14), share(given, 100)], [14, 20]);
    }

    /// Records, workers, the minimum of each connection, and longer queues together take what was configured.
    #[test]
    fn the_memory_is_given_out_once() {
        let config = read(&(TOP.to_owned() + REST));
        let room = config.room().unwrap();
        let (settings, connections) = (&config.settings, room.connections as u64);
        let workers = u64::from(config.threads) * settings.worker_bytes();
        let all = config.session_memory().unwrap() + workers + connections * settings.connection_bytes() as u64;
        assert_eq!(all + room.queues, config.memory);
        assert!(
            connections > 0 && room.queues >= connections * settings.connection_bytes() as u64,
            "half is for queues"
        );
    }
}
