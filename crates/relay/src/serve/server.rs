//! A server: the data plane, control plane and metrics of one configuration.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sealwright_session::{Memory, SessionError, Sessions, table};

use crate::{
    control::{ControlServer, ControlStats, Listed, NameDirectory, Names, Shared, tls::ServerTls},
    data::{Count, Counts, Relay},
    layout::NodeLayout,
    log::Log,
    serve::{
        config::Config,
        metrics::{self, Metrics, MetricsServer},
        serve_error::ServeError,
    },
};

/// How long writing the last lines of the log may take.
const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The configuration at the start, and the connections that it has room for.
    config: Config,
    connections: usize,
    started: Instant,
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
        Server::start_with(config, log, || Ok(())).map(|(server, ())| server)
    }

    /// Like [`Server::start`]; also runs `last` once the server listens, and announces only then that it serves.
    pub(super) fn start_with<T>(
        config: &Config,
        log: Arc<Log>,
        last: impl FnOnce() -> Result<T, ServeError>,
    ) -> Result<(Server, T), ServeError> {
        let tls = config.tls.server()?;
        let room = config.room()?;
        let (tables, record_bytes_reserved) = reserve_records(config)?;
        let relay = Arc::new(Relay::start(config.frames, config.node, config.settings_in(&room), tables)?);
        #[cfg(feature = "nats")]
        let mesh = {
            let join = |mesh| crate::mesh::Mesh::join(mesh, relay.clone(), log.clone()).map(Arc::new);
            config.mesh.as_ref().map(join).transpose().map_err(ServeError::Mesh)?
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
            frames: config.told(relay.address()),
            stats: stats.clone(),
            log: log.clone(),
        };
        let control = start_control(config, tls, shared)?;
        let source = Metrics {
            relay: relay.clone(),
            #[cfg(feature = "nats")]
            mesh: mesh.as_ref().map(|mesh| mesh.state.clone()),
            control: stats,
            draining: draining.clone(),
            sessions: config.sessions,
            record_bytes_reserved,
            names: control.gauge(),
            scheme: config.scheme.to_string(),
        };
        let metrics = match config.metrics {
            Some(address) => Some(MetricsServer::start(address, source).map_err(listen_error(address))?),
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
            connections: room.connections,
            started: Instant::now(),
        };
        let made = last()?;
        server.announce(record_bytes_reserved, room.hint)?;
        Ok((server, made))
    }

    /// Logs that it serves, and what the operator should know of its configuration.
    fn announce(&self, record_bytes_reserved: u64, few_connections: Option<String>) -> Result<(), ServeError> {
        let (config, addresses) = (&self.config, self.addresses());
        let bytes_per_session = config.session_memory()? / u64::from(config.sessions);
        self.log.say(
            "serving",
            &[
                ("frames", addresses.frames.to_string().into()),
                ("control", addresses.control.to_string().into()),
                ("metrics", addresses.metrics.map(|address| address.to_string()).into()),
                ("scheme", config.scheme.to_string().into()),
                ("sessions", config.sessions.into()),
                ("record_bytes_reserved", record_bytes_reserved.into()),
                ("bytes_per_session", bytes_per_session.into()),
                ("connections", self.connections.into()),
                ("threads", config.threads.into()),
            ],
        );
        self.log_hints(config);
        if let Some(hint) = few_connections {
            let about = [("connections", self.connections.into()), ("hint", hint.into())];
            self.log.say("few-connections", &about);
        }
        Ok(())
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

    /// Applies the names, certificates and control-plane limits of `config`. Other changes need a restart, except the
    /// time for draining, which is not the server's ([`Server::drain_unless`]).
    ///
    /// # Errors
    /// If the certificates cannot be used, or if another setting differs; nothing is changed then.
    pub fn reload(&self, config: &Config) -> Result<(), ServeError> {
        self.reload_while(config, &|| ())
    }

    /// Like [`Server::reload`]; calls `alive` between the steps, of which there may be many.
    pub(super) fn reload_while(&self, config: &Config, alive: &dyn Fn()) -> Result<(), ServeError> {
        if let Some(key) = self.config.needs_restart(config) {
            return Err(ServeError::NeedsRestart(key));
        }
        if !config.descriptors_for(self.connections)? {
            return Err(ServeError::NeedsRestart("limits.handshakes_at_once, which takes descriptors of connections,"));
        }
        let tls = config.tls.server()?;
        tls.check_time()?;
        if let Some(control) = &self.control {
            control.reload(tls, config.access(), config.control_limits, alive);
        }
        let about = [("clients", config.clients.len().into()), ("clusters", config.clusters.len().into())];
        self.log.say("reloaded", &about);
        self.log_hints(config);
        Ok(())
    }

    /// Logs which clients this configuration does not serve. Hints about certificates are logged by the control plane.
    fn log_hints(&self, config: &Config) {
        let say = |event: &str, hint: String| self.log.say(event, &[("hint", hint.into())]);
        config.few_sessions().into_iter().for_each(|hint| say("few-sessions", hint));
        config.unreachable().into_iter().for_each(|hint| say("unreachable", hint));
    }

    /// All open sessions, by name.
    pub(crate) fn list(&self) -> Vec<Listed> {
        self.control.as_ref().map(ControlServer::list).unwrap_or_default()
    }

    /// How many numbers belong to names or are used up, and the estimated memory of names and certificates.
    pub(crate) fn names(&self) -> (u32, u64) {
        let gauged = self.control.as_ref().map(|control| control.gauge().read()).unwrap_or_default();
        (gauged.numbers, gauged.bytes)
    }

    /// Why clients should not be sent here now.
    pub(super) fn trouble(&self) -> Option<&'static str> {
        metrics::trouble(&self.relay, &self.draining)
    }

    /// When it started to serve.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// The configuration at the start.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Stops opening sessions and accepting connections, and lets open connections finish for at most `grace`.
    pub fn drain(&mut self, grace: Duration) -> Counts {
        self.drain_unless(grace, || false)
    }

    /// As [`Server::drain`], but stops waiting as soon as `give_up` returns true.
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
        self.log.flush(LOG_FLUSH_TIMEOUT);
        counts
    }
}

/// The workers' tables, and the memory that they reserve for records, in bytes.
fn reserve_records(config: &Config) -> Result<(Vec<Box<dyn Sessions>>, u64), SessionError> {
    let layout = NodeLayout::new(config.node, config.threads);
    let tables = (0..config.threads).map(|shard| table(config.plan(layout.slots(config.sessions, shard))));
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let reserved = |Memory { reserved, heap, shared, .. }: Memory| reserved + heap + shared;
    let bytes = tables.iter().map(|table| reserved(table.memory())).sum();
    Ok((tables, bytes))
}

/// Opens sessions for the names of the configuration from now on.
fn start_control(config: &Config, tls: ServerTls, shared: Shared) -> Result<ControlServer, ServeError> {
    let run = config.cluster() * config.threads;
    let access = config.access();
    let mut names = Names::new(&access.allowed, run, config.sessions, random()?);
    names.set(&access.allowed, &access.revoked);
    ControlServer::start(config.control, shared, tls, names, access.policy, config.control_limits)
        .map_err(listen_error(config.control))
}

fn listen_error(address: SocketAddr) -> impl FnOnce(io::Error) -> ServeError {
    move |error| ServeError::Listen { address, error }
}

/// A random first generation.
fn random() -> Result<u32, SessionError> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|_| SessionError::NoRandomness)?;
    Ok(u32::from_be_bytes(bytes))
}
