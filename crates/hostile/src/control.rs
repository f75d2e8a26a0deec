//! What arrives at the control plane of a relay.

use std::sync::OnceLock;

use sealwright_relay::{control::fuzz::ControlFuzz, serve::init};

static CONTROL: OnceLock<ControlFuzz> = OnceLock::new();

/// Any bytes on a connection to the control plane, any lines of a client within TLS, and genuine requests that are cut, repeated,
/// reordered or changed on their way: strangers get alerts, clients what a model of the relay says.
pub(crate) fn control(bytes: &[u8]) {
    let control = CONTROL.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str, clients: &[&str]| {
            let path = folder.path().join(name);
            let clients: Vec<String> = clients.iter().map(|&name| name.to_owned()).collect();
            init(&path, &[], &clients).unwrap();
            path
        };
        ControlFuzz::new(&made("ours", &["alice", "bob", "eve", "*.load.test"]), &made("theirs", &["alice"]))
    });
    control.run(bytes);
}
