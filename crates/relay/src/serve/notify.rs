//! Notifications for systemd: datagrams to the socket that it names in the environment (sd_notify(3)).

use std::{
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
    path::Path,
    time::Duration,
};

/// The time for the last steps after draining: last writes, and lines of the log.
const LAST_STEPS_TIMEOUT: Duration = Duration::from_secs(5);

/// The notification socket, if there is one.
#[derive(Debug)]
pub(crate) struct Notify(Option<(UnixDatagram, SocketAddr)>);

impl Notify {
    /// The socket that `NOTIFY_SOCKET` names.
    ///
    /// # Errors
    /// When the socket cannot be used.
    pub(crate) fn from_environment() -> io::Result<Notify> {
        let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return Ok(Notify(None)) };
        Notify::to(Path::new(&name))
    }

    /// Sends to the socket at a path; a leading `@` stands for the abstract namespace.
    ///
    /// # Errors
    /// When a socket cannot have this path.
    pub(crate) fn to(path: &Path) -> io::Result<Notify> {
        let address = match path.as_os_str().as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            _ => SocketAddr::from_pathname(path)?,
        };
        Ok(Notify(Some((UnixDatagram::unbound()?, address))))
    }

    /// Sends a state.
    pub(crate) fn say(&self, state: &str) {
        if let Some((socket, address)) = &self.0 {
            // The listener may be gone
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }

    /// Announces that the relay stops and how long draining may take: systemd kills it no sooner, whatever
    /// `TimeoutStopSec` says.
    pub(crate) fn stopping(&self, drain: Duration) {
        self.say(&format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={}", (drain + LAST_STEPS_TIMEOUT).as_micros()));
    }

    /// The interval at which the watchdog must be notified, if there is one: half of its time limit.
    pub(crate) fn watchdog() -> Option<Duration> {
        half(&std::env::var("WATCHDOG_USEC").ok()?)
    }
}

/// Half of a time given in microseconds.
fn half(micros: &str) -> Option<Duration> {
    let micros: u64 = micros.parse().ok()?;
    (micros > 0).then(|| Duration::from_micros(micros / 2))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_watchdog_is_notified_twice_in_its_time() {
        assert_eq!(half("30000000"), Some(Duration::from_secs(15)));
        assert_eq!((half("1"), half("0"), half("-1"), half("")), (Some(Duration::ZERO), None, None, None));
    }

    #[test]
    fn datagrams_arrive_at_a_path_and_in_the_abstract_namespace() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let at_path = UnixDatagram::bind(&path).unwrap();
        let name = format!("@sealwright-{}", directory.path().display());
        let abstract_name = SocketAddr::from_abstract_name(&name.as_bytes()[1..]).unwrap();
        let abstracted = UnixDatagram::bind_addr(&abstract_name).unwrap();
        for (there, name) in [(at_path, path.as_path()), (abstracted, Path::new(&name))] {
            Notify::to(name).unwrap().say("READY=1");
            let mut buffer = [0; 64];
            let much = there.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..much], b"READY=1");
            Notify::to(name).unwrap().stopping(Duration::from_millis(40_500));
            let much = there.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..much], b"STOPPING=1\nEXTEND_TIMEOUT_USEC=45500000");
        }
    }

    /// systemd ignores a setting in the wrong section.
    #[test]
    fn the_unit_for_systemd_starts_the_relay_again_for_as_long_as_it_takes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/systemd/sealwright-relay.service");
        let unit = std::fs::read_to_string(path).unwrap();
        let (head, service) = unit.split_once("[Service]\n").unwrap();
        let (_, first) = head.split_once("[Unit]\n").unwrap();
        let has = |section: &str, line: &str| section.lines().any(|there| there == line);
        assert!(has(first, "StartLimitIntervalSec=0") && has(service, "Restart=on-failure"), "{unit}");
        assert!(has(first, "After=network-online.target nats-server.service"), "{unit}");
    }
}
