//! `relay.toml`: read and checked as a whole before anything starts.

use std::{
    collections::{BTreeMap, HashSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use rustls::pki_types::ServerName;
use sealwright_session::{SchemeKind, Spec, Strategy};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::{
    control::{
        Allowed, Limits as ControlLimits, Rate,
        tls::{FileError, TlsFiles, private},
    },
    data::Settings,
    errors,
    layout::NodeLayout,
    serve::config_error::{ConfigError, SecretError, ValueError},
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
    /// Host and port for frames that clients are told, if they cannot use the address that the relay listens on.
    pub public: Option<(String, u16)>,
    /// How frames are sealed.
    pub scheme: Spec,
    /// This node's number.
    pub node: u32,
    /// The most sessions.
    pub sessions: u32,
    /// Bytes for records and connections together.
    pub memory: u64,
    /// Workers.
    pub threads: u32,
    /// Names that may have a session, in lower case.
    pub clients: Vec<String>,
    /// More names, by cluster: schemes that share keys share them within a cluster alone.
    pub clusters: BTreeMap<String, Vec<String>>,
    /// Sessions of a cluster.
    pub cluster_sessions: u32,
    /// How long connections may stay when the relay is to end.
    pub drain: Duration,
    /// Certificates.
    pub tls: TlsFiles,
    /// Limits of the data plane.
    pub settings: Settings,
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
#[cfg_attr(not(feature = "nats"), allow(dead_code))]
struct MeshTable {
    nats: String,
    secret: PathBuf,
    #[serde(default = "mesh_name")]
    name: String,
}

#[cfg(feature = "nats")]
impl MeshTable {
    fn check(self, folder: &Path) -> Result<crate::mesh::MeshConfig, ValueError> {
        let path = folder.join(self.secret);
        let secret = secret(&path).map_err(|why| ValueError::Secret { path, why })?;
        let label = |label: &str| label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !self.name.split('.').all(|part| !part.is_empty() && label(part)) {
            return Err(ValueError::MeshName);
        }
        Ok(crate::mesh::MeshConfig { nats: self.nats, name: self.name, secret })
    }
}

/// The secret of a mesh, from its file.
#[cfg(feature = "nats")]
fn secret(path: &Path) -> Result<Zeroizing<[u8; 32]>, SecretError> {
    private(path)?;
    let text = Zeroizing::new(std::fs::read_to_string(path).map_err(FileError::Io)?);
    let bytes = base16ct::mixed::decode_vec(text.trim()).map(Zeroizing::new).ok();
    let secret = bytes.as_deref().and_then(|bytes| <[u8; 32]>::try_from(&bytes[..]).ok());
    secret.map(Zeroizing::new).ok_or(SecretError::NotHex)
}

fn mesh_name() -> String {
    "sealwright".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Limits {
    frame_bytes: usize,
    connections: usize,
    queue_kib: usize,
    sender_wait_ms: u64,
    stall_seconds: u64,
    first_frame_seconds: u64,
    bad_frames: u32,
    handshakes_per_second: f64,
    handshakes_per_second_from_one_address: f64,
    handshakes_at_once: usize,
    handshakes_from_one_address: usize,
    handshake_seconds: u64,
    session_hours: f64,
}

impl Default for Limits {
    fn default() -> Limits {
        let settings = Settings::default();
        Limits {
            frame_bytes: settings.max_frame,
            connections: settings.max_connections,
            queue_kib: settings.queue >> 10,
            sender_wait_ms: settings.sender_wait.as_millis() as u64,
            stall_seconds: settings.stall.as_secs(),
            first_frame_seconds: settings.first_frame.as_secs(),
            bad_frames: settings.max_bad,
            handshakes_per_second: 100.0,
            handshakes_per_second_from_one_address: 50.0,
            handshakes_at_once: 64,
            handshakes_from_one_address: 16,
            handshake_seconds: 10,
            session_hours: 24.0,
        }
    }
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

    /// Sessions of a cluster in the table of each worker.
    pub(crate) fn cluster(&self) -> u32 {
        self.cluster_sessions.min(NodeLayout::SESSIONS).div_ceil(self.threads)
    }

    /// Names that may have a session, by cluster.
    pub(crate) fn allowed(&self) -> Allowed {
        let clusters = self.clusters.iter().map(|(name, names)| (Some(name.clone()), names.clone()));
        std::iter::once((None, self.clients.clone())).chain(clusters).collect()
    }
}

impl File {
    fn check(mut self, folder: &Path) -> Result<Config, ValueError> {
        let scheme: Spec = self.scheme.parse().map_err(ValueError::Scheme)?;
        if scheme.kind == SchemeKind::Clear {
            return Err(ValueError::Clear);
        }
        if let Some(why) = research_only(scheme).filter(|_| !self.research) {
            return Err(ValueError::Research(scheme, why));
        }
        let threads = self.threads.unwrap_or_else(cores);
        self.limits.check(self.drain_seconds)?;
        at_least("threads", threads.into(), 1)?;
        at_least("sessions", self.sessions.into(), threads.into())?;
        at_least("cluster_sessions", self.cluster_sessions.into(), threads.into())?;
        at_most("node", self.node.into(), (NodeLayout::NODES - 1).into())?;
        at_most("sessions", self.sessions.into(), NodeLayout::SESSIONS.into())?;
        check_names(std::iter::once(&mut self.clients).chain(self.clusters.values_mut()))?;
        let public = match &self.public {
            None => None,
            Some(text) => match text.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
                Some((host, Ok(port))) => Some((host.to_owned(), port)),
                _ => return Err(ValueError::Public),
            },
        };
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
            clients: self.clients,
            clusters: self.clusters,
            cluster_sessions: self.cluster_sessions,
            drain: Duration::from_secs_f64(self.drain_seconds.min(1e6)),
            tls: TlsFiles {
                authority: folder.join(self.tls.authority),
                certificate: folder.join(self.tls.certificate),
                key: folder.join(self.tls.key),
            },
            settings: limits.settings(self.udp),
            #[cfg(feature = "nats")]
            mesh,
            control_limits: limits.control(),
        })
    }
}

impl Limits {
    fn check(&self, drain_seconds: f64) -> Result<(), ValueError> {
        at_least("limits.frame_bytes", self.frame_bytes as u64, 64)?;
        at_most("limits.frame_bytes", self.frame_bytes as u64, 65_535)?;
        at_least("limits.queue_kib", self.queue_kib as u64, 2 * self.frame_bytes.div_ceil(1024) as u64)?;
        at_least("limits.connections", self.connections as u64, 1)?;
        at_least("limits.handshakes_at_once", self.handshakes_at_once as u64, 1)?;
        at_least("limits.handshakes_from_one_address", self.handshakes_from_one_address as u64, 1)?;
        at_least("limits.handshake_seconds", self.handshake_seconds, 1)?;
        at_least("limits.first_frame_seconds", self.first_frame_seconds, 1)?;
        for (name, value) in [
            ("limits.handshakes_per_second", self.handshakes_per_second),
            ("limits.handshakes_per_second_from_one_address", self.handshakes_per_second_from_one_address),
            ("limits.session_hours", self.session_hours),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(ValueError::NotPositive(name));
            }
        }
        if drain_seconds.is_finite() && drain_seconds >= 0.0 {
            Ok(())
        } else {
            Err(ValueError::NotPositive("drain_seconds"))
        }
    }

    fn settings(&self, udp: Option<SocketAddr>) -> Settings {
        Settings {
            max_frame: self.frame_bytes,
            max_connections: self.connections,
            queue: self.queue_kib << 10,
            sender_wait: Duration::from_millis(self.sender_wait_ms),
            stall: Duration::from_secs(self.stall_seconds),
            first_frame: Duration::from_secs(self.first_frame_seconds),
            udp,
            max_bad: self.bad_frames,
        }
    }

    fn control(&self) -> ControlLimits {
        ControlLimits {
            rate: Rate {
                per_second: self.handshakes_per_second,
                per_second_from_one: self.handshakes_per_second_from_one_address,
                at_once: self.handshakes_at_once,
                at_once_from_one: self.handshakes_from_one_address,
            },
            time: Duration::from_secs(self.handshake_seconds),
            lifetime: Duration::from_secs_f64((self.session_hours * 3600.0).min(1e9)),
        }
    }
}

/// Why a scheme is not for clients who do not know what they do.
fn research_only(scheme: Spec) -> Option<&'static str> {
    if scheme.research_only() {
        return Some("other clients can forge its frames");
    }
    let tables = scheme.kind.strategy().is_some_and(|strategy| strategy != Strategy::Clmul);
    tables.then_some("it looks up tables by secrets, and its time depends on them")
}

fn at_least(name: &'static str, value: u64, least: u64) -> Result<(), ValueError> {
    if value < least { Err(ValueError::TooSmall(name, least)) } else { Ok(()) }
}

fn at_most(name: &'static str, value: u64, most: u64) -> Result<(), ValueError> {
    if value > most { Err(ValueError::TooLarge(name, most)) } else { Ok(()) }
}

/// Makes all names lower case. Refuses those that no certificate can bear, and those that are there twice.
fn check_names<'a>(lists: impl Iterator<Item = &'a mut Vec<String>>) -> Result<(), ValueError> {
    let mut seen = HashSet::new();
    for name in lists.flatten() {
        name.make_ascii_lowercase();
        let plain = name.strip_prefix("*.").unwrap_or(name);
        if !matches!(ServerName::try_from(plain), Ok(ServerName::DnsName(_))) {
            return Err(ValueError::Name(name.clone()));
        }
        if !seen.insert(name.clone()) {
            return Err(ValueError::Duplicate(name.clone()));
        }
    }
    Ok(())
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
