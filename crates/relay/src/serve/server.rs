//! Data plane, control plane and metrics of one configuration.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use sealwright_session::{Material, Memory, Plan, SessionError, table};
use thiserror::Error;

use crate::{
    control::{ControlServer, ControlStats, NameDirectory, Names, Shared, tls::TlsError},
    data::{Count, Counts, Relay, Settings},
    errors::os_error_text,
    layout::NodeLayout,
    log::Log,
    serve::{
        config::Config,
        config_error::ConfigError,
        metrics::{Metrics, MetricsServer},
    },
};

/// Descriptors that the relay needs beside those of its connections: listeners, the control plane, metrics, files.
const OTHER_DESCRIPTORS: u64 = 256;
/// How long the last lines of the log may take.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Why a relay cannot serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// Certificates or keys cannot be used.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// The node cannot take part in its mesh.
    #[cfg(feature = "nats")]
    #[error("mesh: {0}")]
    Mesh(#[from] crate::mesh::MeshError),
    /// There is no memory for the records.
    #[error("{0}")]
    Session(#[from] SessionError),
    /// The memory budget is too small.
    #[error(
        "{sessions} sessions take {needed} MiB, and a connection {connection} KiB: memory_mib = {budget} is too little"
    )]
    Budget {
        /// Sessions asked for.
        sessions: u32,
        /// What their records take.
        needed: u64,
        /// What the buffers of one connection may take.
        connection: usize,
        /// What there is.
        budget: u64,
    },
    /// The relay cannot listen at an address.
    #[error("{address}: {}", os_error_text(error))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// A reload changes something that needs a restart.
    #[error("{0} cannot be changed while the relay runs; restart it")]
    NeedsRestart(&'static str),
    /// Signals or the notification socket cannot be used.
    #[error("{}", os_error_text(.0))]
    Io(#[from] io::Error),
}

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// For frames.
    pub frames: SocketAddr,
    /// For the control plane.
    pub control: SocketAddr,
    /// For metrics.
    pub metrics: Option<SocketAddr>,
}

/// A relay as a service.
pub struct Server {
    control: Option<ControlServer>,
    metrics: Option<MetricsServer>,
    #[cfg(feature = "nats")]
    mesh: Option<Arc<crate::mesh::Mesh>>,
    relay: Arc<Relay>,
    draining: Arc<AtomicBool>,
    log: Arc<Log>,
    /// The configuration that it was started with.
    config: Config,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("addresses", &self.addresses()).finish_non_exhaustive()
    }
}

impl Server {
    /// Allocates the memory, listens, and serves.
    ///
    /// # Errors
    /// When something that the configuration asks for is not possible.
    pub fn start(config: &Config, log: Arc<Log>) -> Result<Server, ServeError> {
        let tls = config.tls.server()?;
        let layout = NodeLayout::new(config.node, config.threads);
        let (connections, mut session_bytes) = (config.connections()?, 0);
        let mut tables = Vec::new();
        for shard in 0..config.threads {
            let slots = layout.slots(config.sessions, shard);
            let table = table(Plan { cluster: config.cluster(), ..Plan::new(config.scheme, slots) })?;
            let Memory { reserved, heap, shared, .. } = table.memory();
            session_bytes += reserved + heap + shared;
            tables.push(table);
        }
        let listen = |address: SocketAddr| move |error| ServeError::Listen { address, error };
        let connections = connections.min(descriptors()?);
        let settings = Settings { max_connections: connections, ..config.settings.clone() };
        let relay = Relay::start(config.frames, config.node, settings, tables).map_err(listen(config.frames))?;
        let relay = Arc::new(relay);
        #[cfg(feature = "nats")]
        let mesh = {
            let join = |mesh| crate::mesh::Mesh::join(mesh, relay.clone(), log.clone()).map(Arc::new);
            config.mesh.as_ref().map(join).transpose()?
        };
        #[cfg(feature = "nats")]
        let directory = mesh.clone().map(|mesh| mesh as Arc<dyn NameDirectory>);
        #[cfg(not(feature = "nats"))]
        let directory: Option<Arc<dyn NameDirectory>> = None;
        let stats = Arc::new(ControlStats::default());
        let draining = Arc::new(AtomicBool::new(false));
        let shared = Shared {
            relay: relay.clone(),
            directory,
            frames: config.public.clone().map_or((None, relay.address().port()), |(host, port)| (Some(host), port)),
            stats: stats.clone(),
            log: log.clone(),
        };
        let run = config.cluster() * config.threads;
        let names = Names::new(&config.allowed(), run, config.sessions, random()?);
        let control = ControlServer::start(config.control, shared, tls, names, config.control_limits)
            .map_err(listen(config.control))?;
        let source = Metrics {
            relay: relay.clone(),
            #[cfg(feature = "nats")]
            mesh: mesh.as_ref().map(|mesh| mesh.state.clone()),
            control: stats,
            draining: draining.clone(),
            sessions: config.sessions,
            session_bytes,
        };
        let metrics = match config.metrics {
            Some(address) => Some(MetricsServer::start(address, source).map_err(listen(address))?),
            None => None,
        };
        let server = Server {
            control: Some(control),
            metrics,
            #[cfg(feature = "nats")]
            mesh,
            relay,
            draining,
            log,
            config: config.clone(),
        };
        server.log.say(
            "serving",
            &[
                ("frames", server.relay.address().to_string().into()),
                ("control", server.addresses().control.to_string().into()),
                ("metrics", server.addresses().metrics.map(|address| address.to_string()).into()),
                ("scheme", config.scheme.to_string().into()),
                ("sessions", config.sessions.into()),
                ("session_bytes", session_bytes.into()),
                ("connections", connections.into()),
                ("threads", config.threads.into()),
            ],
        );
        Ok(server)
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        Addresses {
            frames: self.relay.address(),
            control: self.control.as_ref().map_or(self.relay.address(), ControlServer::address),
            metrics: self.metrics.as_ref().map(MetricsServer::address),
        }
    }

    /// The data plane.
    pub fn relay(&self) -> &Relay {
        &self.relay
    }

    /// Takes over names, certificates and limits of the control plane. The rest of a configuration needs a restart.
    ///
    /// # Errors
    /// When the certificates cannot be used, or something else is different; everything then stays as it was.
    pub fn reload(&self, config: &Config) -> Result<(), ServeError> {
        if let Some(key) = self.config.needs_restart(config) {
            return Err(ServeError::NeedsRestart(key));
        }
        let tls = config.tls.server()?;
        if let Some(control) = &self.control {
            control.reload(tls, &config.allowed(), config.control_limits);
        }
        let about = [("clients", config.clients.len().into()), ("clusters", config.clusters.len().into())];
        self.log.say("reloaded", &about);
        Ok(())
    }

    /// Opens no sessions, accepts no connections, and lets open connections finish, at most for `grace`.
    pub fn drain(&mut self, grace: Duration) -> Counts {
        self.drain_unless(grace, || false)
    }

    /// The same, but does not wait any longer as soon as `give_up` says so.
    pub fn drain_unless(&mut self, grace: Duration, give_up: impl Fn() -> bool) -> Counts {
        self.draining.store(true, Ordering::Relaxed);
        self.log.say("draining", &[("connections", self.relay.connections().into())]);
        self.control = None;
        let all_left = self.relay.drained_unless(grace, give_up);
        #[cfg(feature = "nats")]
        {
            self.mesh = None;
        }
        let counts = self.relay.stop();
        self.log.say(
            "stopped",
            &[
                ("all_left", all_left.into()),
                ("forwarded", counts.of(Count::Forwarded).into()),
                ("dropped", counts.dropped().into()),
            ],
        );
        self.log.flush(LAST_LINES);
        counts
    }
}

/// How many connections the system has descriptors for, after the limit was raised as far as it may be.
fn descriptors() -> Result<usize, ServeError> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(io::Error::from)?;
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_err() {
        return Ok(for_connections(soft));
    }
    Ok(for_connections(hard))
}

fn for_connections(descriptors: u64) -> usize {
    usize::try_from(descriptors.saturating_sub(OTHER_DESCRIPTORS).max(1)).unwrap_or(usize::MAX)
}

/// A random generation to begin with.
fn random() -> Result<u32, SessionError> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|_| SessionError::NoRandom)?;
    Ok(u32::from_be_bytes(bytes))
}

impl Config {
    /// A key that another configuration changes although a running relay cannot take it over.
    fn needs_restart(&self, other: &Config) -> Option<&'static str> {
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
            ("a limit of frames or connections, or udp,", self.settings == other.settings),
            #[cfg(feature = "nats")]
            ("mesh", self.mesh == other.mesh),
        ];
        same.into_iter().find(|(_, same)| !same).map(|(key, _)| key)
    }

    /// How many connections there is memory for beside the records and the workers.
    fn connections(&self) -> Result<usize, ServeError> {
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
    fn record_bytes(&self) -> Result<u64, ServeError> {
        let mut one = table(Plan { cluster: self.cluster(), ..Plan::new(self.scheme, 1) })?;
        let before = one.memory();
        one.admit(0, 0, &Material::random()?)?;
        let after = one.memory();
        let client = after.record as u64 + self.settings.session_bytes() + after.heap.saturating_sub(before.heap);
        let clusters = u64::from(self.threads + self.sessions / self.cluster());
        Ok(u64::from(self.sessions) * client + clusters * after.shared)
    }
}
