//! `relay.toml`: read and checked as a whole before anything starts.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use sealwright_session::{Plan, ReplayWindow, SchemeKind, Spec};
use serde::Deserialize;

use crate::{
    control::{Access, Limits as ControlLimits, tls::TlsFiles},
    data::Settings,
    errors,
    host_port::host_port,
    layout::NodeLayout,
    policy::Policy,
    serve::{
        config_error::{ConfigError, ValueError},
        file_name::file_within,
        limits::{Limits, at_least, at_most},
        mesh_table::MeshTable,
        names_table::{self, RuleTable, Tenants, check_names},
    },
};

/// A configuration that was checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the relay listens for frames.
    pub frames: SocketAddr,
    /// Where clients open sessions.
    pub control: SocketAddr,
    /// Where Prometheus reads metrics.
    pub metrics: Option<SocketAddr>,
    /// Host and port for frames that are announced to clients, if they cannot use the address on which the relay
    /// listens.
    pub public: Option<(String, u16)>,
    /// How frames are sealed.
    pub scheme: Spec,
    /// This node's number.
    pub node: u32,
    /// Maximum number of sessions.
    pub sessions: u32,
    /// Memory budget for records and connections together, in bytes.
    pub memory: u64,
    /// Workers.
    pub threads: u32,
    /// Whether `threads` was set in the file, rather than taken from the number of cores.
    pub(crate) threads_given: bool,
    /// Names that may have a session, in lower case.
    pub clients: Vec<String>,
    /// More names, by cluster: schemes that share keys share them only within a cluster.
    pub clusters: BTreeMap<String, Vec<String>>,
    /// Number of sessions of a cluster.
    pub cluster_sessions: u32,
    /// How long connections may stay open while the relay shuts down.
    pub drain: Duration,
    /// Certificates.
    pub tls: TlsFiles,
    /// Limits of the data plane.
    pub settings: Settings,
    /// The socket through which operators query and control the running relay.
    pub admin: Option<PathBuf>,
    /// Names that may not have a session although they are allowed.
    pub revoked: Vec<String>,
    /// A file with more names of clients.
    pub clients_file: Option<PathBuf>,
    /// A file with more revoked names.
    pub revoked_file: Option<PathBuf>,
    /// The most connections from one address; `None` for half of those that there is room for.
    pub(crate) from_one_address: Option<usize>,
    pub(crate) replay_window: ReplayWindow,
    pub(crate) policy: Policy,
    pub(crate) control_limits: ControlLimits,
    /// The other nodes.
    #[cfg(feature = "nats")]
    pub(crate) mesh: Option<crate::mesh::MeshConfig>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    frames: SocketAddr,
    control: SocketAddr,
    metrics: Option<SocketAddr>,
    udp: Option<SocketAddr>,
    public: Option<String>,
    #[serde(default = "scheme")]
    scheme: String,
    #[serde(default)]
    research: bool,
    #[serde(default)]
    node: u32,
    #[serde(default = "sessions")]
    sessions: u32,
    #[serde(default = "memory")]
    memory_mib: u64,
    threads: Option<u32>,
    #[serde(default)]
    clients: Vec<String>,
    clients_file: Option<PathBuf>,
    #[serde(default)]
    revoked: Vec<String>,
    revoked_file: Option<PathBuf>,
    #[serde(default)]
    tenants: Tenants,
    #[serde(default)]
    rules: Vec<RuleTable>,
    admin: Option<PathBuf>,
    #[serde(default)]
    clusters: BTreeMap<String, Vec<String>>,
    #[serde(default = "cluster_sessions")]
    cluster_sessions: u32,
    #[serde(default = "drain")]
    drain_seconds: f64,
    tls: Tls,
    mesh: Option<MeshTable>,
    #[serde(default)]
    limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
    crl: Option<PathBuf>,
}

fn scheme() -> String {
    "gcm-on64".into()
}

fn sessions() -> u32 {
    100_000
}

fn cluster_sessions() -> u32 {
    1 << 16
}

fn memory() -> u64 {
    1024
}

fn drain() -> f64 {
    10.0
}

impl Config {
    /// Reads a file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Io { path: path.to_owned(), error })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Config::parse(&text, folder).map_err(|why| ConfigError::Wrong { path: path.to_owned(), why })
    }

    /// Reads the text of a configuration. Paths in it are relative to `folder`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, folder: &Path) -> Result<Config, ValueError> {
        errors::toml::<File>(text)?.check(folder)
    }

    /// Sessions of a cluster in one worker's table.
    pub(crate) fn cluster(&self) -> u32 {
        self.cluster_sessions.min(NodeLayout::SESSIONS).div_ceil(self.threads)
    }

    /// Host and port for frames as announced to clients, if the relay listens at this address. Without a host, clients
    /// use that of the control plane.
    pub(crate) fn told(&self, frames: SocketAddr) -> (Option<String>, u16) {
        let elsewhere = !frames.ip().is_unspecified() && frames.ip() != self.control.ip();
        let host = elsewhere.then(|| match frames.ip() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        self.public.clone().map_or((host, frames.port()), |(host, port)| (Some(host), port))
    }

    /// The names that may have sessions, by cluster, and the policy.
    pub(crate) fn access(&self) -> Access {
        let clusters = self.clusters.iter().map(|(name, names)| (Some(name.clone()), names.clone()));
        let allowed = std::iter::once((None, self.clients.clone())).chain(clusters).collect();
        Access { allowed, revoked: self.revoked.clone(), policy: self.policy.clone() }
    }
}

impl File {
    fn check(mut self, folder: &Path) -> Result<Config, ValueError> {
        let scheme = self.scheme()?;
        let threads = self.threads.unwrap_or_else(cores);
        self.limits.check(self.drain_seconds)?;
        let replay_window = self.limits.replay_window()?;
        self.check_sizes(scheme, threads)?;
        let within = |setting, name: Option<PathBuf>| name.map(|name| file_within(folder, setting, name)).transpose();
        let clients_file = within("clients_file", self.clients_file.take())?;
        let revoked_file = within("revoked_file", self.revoked_file.take())?;
        let admin = within("admin", self.admin.take())?;
        self.read_names(clients_file.as_ref(), revoked_file.as_ref())?;
        let policy = names_table::policy(self.tenants, self.rules)?;
        let public = self.public.as_deref().map(public).transpose()?;
        #[cfg(feature = "nats")]
        let mesh = self.mesh.map(|mesh| mesh.check(folder)).transpose()?;
        #[cfg(not(feature = "nats"))]
        if self.mesh.is_some() {
            return Err(ValueError::NoMesh);
        }
        let limits = self.limits;
        Ok(Config {
            frames: self.frames,
            control: self.control,
            metrics: self.metrics,
            public,
            scheme,
            node: self.node,
            sessions: self.sessions,
            memory: self.memory_mib << 20,
            threads,
            threads_given: self.threads.is_some(),
            clients: self.clients,
            clusters: self.clusters,
            cluster_sessions: self.cluster_sessions,
            drain: Duration::from_secs_f64(self.drain_seconds.min(1e6)),
            tls: self.tls.files(folder)?,
            admin,
            revoked: self.revoked,
            clients_file,
            revoked_file,
            from_one_address: limits.share_of_address(),
            replay_window,
            policy,
            settings: limits.settings(self.udp),
            #[cfg(feature = "nats")]
            mesh,
            control_limits: limits.control(self.sessions),
        })
    }

    /// The scheme, if the operator may use it.
    fn scheme(&self) -> Result<Spec, ValueError> {
        let scheme: Spec = self.scheme.parse().map_err(ValueError::Scheme)?;
        if scheme.kind == SchemeKind::Clear {
            return Err(ValueError::Clear);
        }
        match research_only(scheme) {
            Some(why) if !self.research => Err(ValueError::Research(scheme, why)),
            _ => Ok(scheme),
        }
    }

    /// Checks the number of threads, and what must fit to it and to the node.
    fn check_sizes(&self, scheme: Spec, threads: u32) -> Result<(), ValueError> {
        at_least("threads", threads.into(), 1)?;
        if let Some(first) = self.udp.map(|udp| udp.port()).filter(|port| *port > 0) {
            let last = u64::from(u16::MAX).saturating_sub(u64::from(threads) - 1);
            at_most("the port of udp, the first of one for each of the threads,", first.into(), last)?;
        }
        at_least("sessions", self.sessions.into(), threads.into())?;
        at_least("cluster_sessions", self.cluster_sessions.into(), threads.into())?;
        if scheme.clustered() {
            // Each worker has its own cluster of keys; in a larger one, keys would be used up before clients renew them
            at_most("cluster_sessions", self.cluster_sessions.into(), u64::from(Plan::CLUSTER) * u64::from(threads))?;
        }
        at_most("node", self.node.into(), (NodeLayout::NODES - 1).into())?;
        at_most("sessions", self.sessions.into(), NodeLayout::SESSIONS.into())
    }

    /// Adds the names in files to those of clients and to the revoked ones, and checks all names.
    fn read_names(&mut self, clients_file: Option<&PathBuf>, revoked_file: Option<&PathBuf>) -> Result<(), ValueError> {
        self.clients = names_table::with_file(std::mem::take(&mut self.clients), clients_file)?;
        self.revoked = names_table::with_file(std::mem::take(&mut self.revoked), revoked_file)?;
        // Listing a revoked name twice is harmless
        self.revoked.iter_mut().for_each(|name| name.make_ascii_lowercase());
        self.revoked.sort();
        self.revoked.dedup();
        let clusters = self.clusters.values_mut().map(|names| ("clusters", names));
        check_names(std::iter::once(("clients", &mut self.clients)).chain(clusters))?;
        check_names(std::iter::once(("revoked", &mut self.revoked)))
    }
}

impl Tls {
    fn files(self, folder: &Path) -> Result<TlsFiles, ValueError> {
        let within = |setting, name| file_within(folder, setting, name);
        Ok(TlsFiles {
            authority: within("tls.authority", self.authority)?,
            certificate: within("tls.certificate", self.certificate)?,
            key: within("tls.key", self.key)?,
            crl: self.crl.map(|crl| within("tls.crl", crl)).transpose()?,
        })
    }
}

/// Host and port, both of which must be there.
fn public(text: &str) -> Result<(String, u16), ValueError> {
    match host_port(text) {
        Some((host, Some(port))) => Ok((host.to_owned(), port)),
        _ => Err(ValueError::Public),
    }
}

/// Why a scheme must not be used unless the operator asks for it; `None` for other schemes.
fn research_only(scheme: Spec) -> Option<&'static str> {
    scheme.research_only().then(|| match scheme.kind {
        SchemeKind::GcmPre(strategy) | SchemeKind::GcmOn(strategy) if strategy.table_bytes() > 0 => {
            "it indexes tables by secrets, so its running time depends on them"
        }
        SchemeKind::GcmPre(_) | SchemeKind::GcmOn(_) => {
            "it hashes bit by bit: a few clients can use up all of the relay's CPU time"
        }
        _ => "other clients can forge its frames",
    })
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
