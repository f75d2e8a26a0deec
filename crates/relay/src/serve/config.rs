//! `relay.toml`: read whole, checked whole, before anything starts.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use sealwright_session::Spec;
use serde::Deserialize;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{
    control::{Allowed, Limits as ControlLimits, tls::Papers},
    data::Settings,
    errors::{self, os_error_text},
    fleet::FleetPlan,
    layout::NodeLayout,
};

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{}: {}", path.display(), os_error_text(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is no TOML, or says things that nobody knows or that cannot be.
    #[error("{}: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A configuration that makes sense.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where frames come in.
    pub frames: SocketAddr,
    /// Where clients ask for sessions.
    pub control: SocketAddr,
    /// Where Prometheus asks.
    pub metrics: Option<SocketAddr>,
    /// Host and port that clients are told for frames, where those that the relay sees itself are not theirs.
    pub public: Option<(String, u16)>,
    /// How frames are sealed.
    pub scheme: Spec,
    /// This node's number.
    pub node: u32,
    /// Sessions that there is room for.
    pub sessions: u32,
    /// Bytes that records and connections may take together.
    pub memory: u64,
    /// Workers.
    pub threads: u32,
    /// Names that may have a session.
    pub clients: Vec<String>,
    /// More of them, by cluster: schemes that share keys share them within a cluster alone.
    pub clusters: BTreeMap<String, Vec<String>>,
    /// Sessions of a cluster.
    pub cluster_sessions: u32,
    /// How long connections may stay when the relay is told to end.
    pub drain: Duration,
    /// Certificates.
    pub papers: Papers,
    /// Limits of the data plane.
    pub settings: Settings,
    pub(crate) control_limits: ControlLimits,
    /// The other nodes, and where to meet them.
    pub(crate) fleet: Option<FleetPlan>,
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
    fleet: Option<FleetTable>,
    #[serde(default)]
    limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FleetTable {
    nats: String,
    secret: PathBuf,
    #[serde(default = "fleet_name")]
    name: String,
}

impl FleetTable {
    fn check(self, folder: &Path) -> Result<FleetPlan, String> {
        let path = folder.join(self.secret);
        let wrong = |why: &str| format!("{}: {why}", path.display());
        let metadata = std::fs::metadata(&path).map_err(|error| wrong(&os_error_text(&error)))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(wrong("others may read or change it: chmod 600"));
        }
        let text = Zeroizing::new(std::fs::read_to_string(&path).map_err(|error| wrong(&os_error_text(&error)))?);
        let bytes = base16ct::mixed::decode_vec(text.trim()).map(Zeroizing::new).ok();
        let secret = bytes.as_deref().and_then(|bytes| <[u8; 32]>::try_from(&bytes[..]).ok());
        let secret = secret.ok_or_else(|| wrong("not 64 hexadecimal digits, as `sealwright key new` writes them"))?;
        let label = |label: &str| label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !self.name.split('.').all(|part| !part.is_empty() && label(part)) {
            return Err("fleet.name must be the beginning of a subject, such as sealwright".into());
        }
        Ok(FleetPlan { nats: self.nats, name: self.name, secret: Zeroizing::new(secret) })
    }
}

fn fleet_name() -> String {
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
    patience_ms: u64,
    stall_seconds: u64,
    prove_seconds: u64,
    bad_frames: u32,
    handshakes_per_second: f64,
    handshakes_at_once: usize,
    handshakes_from_one_address: usize,
    handshake_seconds: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        let settings = Settings::default();
        Limits {
            frame_bytes: settings.max_frame,
            connections: settings.max_connections,
            queue_kib: settings.queue >> 10,
            patience_ms: settings.patience.as_millis() as u64,
            stall_seconds: settings.stall.as_secs(),
            prove_seconds: settings.prove.as_secs(),
            bad_frames: settings.max_bad,
            handshakes_per_second: 100.0,
            handshakes_at_once: 64,
            handshakes_from_one_address: 16,
            handshake_seconds: 10,
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
    /// Reads a file; paths in it count from its folder.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Io { path: path.to_owned(), error })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Config::parse(&text, folder).map_err(|why| ConfigError::Wrong { path: path.to_owned(), why })
    }

    /// Reads the text of one; paths in it count from `folder`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str, folder: &Path) -> Result<Config, String> {
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
    fn check(self, folder: &Path) -> Result<Config, String> {
        let scheme: Spec = self.scheme.parse().map_err(|error| format!("scheme: {error}"))?;
        if scheme == "clear".parse::<Spec>().expect("clear is a scheme") {
            return Err("scheme: clear seals nothing; it is for measuring alone".into());
        }
        if scheme.research_only() && !self.research {
            return Err(format!(
                "scheme: other clients can forge frames of {scheme}; to study it all the same, say research = true"
            ));
        }
        let limits = self.limits;
        let threads = self.threads.unwrap_or_else(cores);
        let at_least = |name: &str, value: u64, least: u64| {
            if value < least { Err(format!("{name} must be at least {least}")) } else { Ok(()) }
        };
        at_least("threads", threads.into(), 1)?;
        at_least("sessions", self.sessions.into(), threads.into())?;
        at_least("cluster_sessions", self.cluster_sessions.into(), threads.into())?;
        at_least("limits.frame_bytes", limits.frame_bytes as u64, 64)?;
        at_least("limits.queue_kib", limits.queue_kib as u64, 2 * limits.frame_bytes.div_ceil(1024) as u64)?;
        at_least("limits.connections", limits.connections as u64, 1)?;
        at_least("limits.handshakes_at_once", limits.handshakes_at_once as u64, 1)?;
        at_least("limits.handshakes_from_one_address", limits.handshakes_from_one_address as u64, 1)?;
        at_least("limits.handshake_seconds", limits.handshake_seconds, 1)?;
        at_least("limits.prove_seconds", limits.prove_seconds, 1)?;
        if self.node >= NodeLayout::NODES || self.sessions > NodeLayout::SESSIONS || limits.frame_bytes > 65_535 {
            return Err(format!(
                "at most: node {}, sessions {}, limits.frame_bytes 65535",
                NodeLayout::NODES - 1,
                NodeLayout::SESSIONS
            ));
        }
        let public = match &self.public {
            None => None,
            Some(text) => match text.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
                Some((host, Ok(port))) => Some((host.to_owned(), port)),
                _ => return Err("public must be a host and a port, such as relay.example:7600".into()),
            },
        };
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !positive(limits.handshakes_per_second) || !(positive(self.drain_seconds) || self.drain_seconds == 0.0) {
            return Err("limits.handshakes_per_second and drain_seconds must be positive numbers".into());
        }
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
            papers: Papers {
                authority: folder.join(self.tls.authority),
                certificate: folder.join(self.tls.certificate),
                key: folder.join(self.tls.key),
            },
            settings: Settings {
                max_frame: limits.frame_bytes,
                max_connections: limits.connections,
                queue: limits.queue_kib << 10,
                patience: Duration::from_millis(limits.patience_ms),
                stall: Duration::from_secs(limits.stall_seconds),
                prove: Duration::from_secs(limits.prove_seconds),
                udp: self.udp,
                max_bad: limits.bad_frames,
            },
            fleet: self.fleet.map(|fleet| fleet.check(folder)).transpose()?,
            control_limits: ControlLimits::new(
                limits.handshakes_per_second,
                limits.handshakes_at_once,
                limits.handshakes_from_one_address,
                Duration::from_secs(limits.handshake_seconds),
            ),
        })
    }
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "frames = '127.0.0.1:1'\ncontrol = '127.0.0.1:2'\n\
        [tls]\nauthority = 'a.pem'\ncertificate = 'c.pem'\nkey = '/k/c.key'\n";

    fn read(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("/etc/sealwright"))
    }

    #[test]
    fn the_least_there_can_be() {
        let config = read(LEAST).expect("enough");
        assert_eq!((config.sessions, config.scheme.to_string(), config.metrics), (100_000, "gcm-on64".into(), None));
        assert_eq!(config.papers.authority, Path::new("/etc/sealwright/a.pem"));
        assert_eq!(config.papers.key, Path::new("/k/c.key"));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_name() {
        let wrong = |line: &str, part: &str| {
            let (top, tls) = LEAST.split_at(LEAST.find("[tls]").expect("a table"));
            let text = if line.starts_with('[') { format!("{top}{tls}{line}") } else { format!("{top}{line}\n{tls}") };
            let why = read(&text).expect_err(line);
            assert!(why.contains(part), "{line}: {why}");
        };
        wrong("scheme = 'rot13'", "scheme");
        wrong("scheme = 'clear'", "seals nothing");
        wrong("scheme = 'gscm(4k)'", "research = true");
        wrong("threads = 0", "threads");
        wrong("sessions = 0", "sessions");
        wrong("node = 16", "node 15");
        wrong("cluster_sessions = 0", "cluster_sessions");
        wrong("public = 'relay.example'", "host and a port");
        wrong("colour = 'red'", "colour");
        wrong("drain_seconds = -1", "drain_seconds");
        wrong("[limits]\nqueue_kib = 1", "queue_kib");
        wrong("[limits]\nhandshakes_per_second = 0", "handshakes_per_second");
    }

    #[test]
    fn a_scheme_for_research_must_be_meant() {
        let text = format!("scheme = 'gscm(4k)'\nresearch = true\n{LEAST}");
        assert!(read(&text).expect("meant").scheme.research_only());
    }
}
