//! Configurations, messages and vectors: untrusted text.

use std::{fs, net::SocketAddr, os::unix::fs::PermissionsExt, path::Path, sync::LazyLock};

use sealwright::Isa;
use sealwright_load::Mix;
use sealwright_relay::{
    client::Identity,
    control::protocol::{Request, Response},
    serve::{AdminRequest, Config},
};
use sealwright_vectors::{Options, check_reader};

use crate::keys::file_with;

/// The files that a configuration may name: the secret of a mesh, and names.
fn beside() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = crate::folder::folder();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        };
        write("mesh.key", &"5c".repeat(32));
        write("names", "alice\n*.load.test # many\n");
        write("gone", "mallory\n");
        write("wrong", "alice\na b\n");
        folder
    });
    FOLDER.path()
}

/// Takes arbitrary text as a configuration of a relay and of a client, as messages of the control plane, as requests of
/// operators and as a mix of packet sizes: each is refused or accepted, and an accepted value is the same after it was
/// written and read again.
pub(crate) fn relay_words(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(config) = Config::parse(text, beside()) {
        assert!(config.sessions > 0 && config.threads > 0);
        // As clients make addresses of it
        if let Some((host, port)) = config.public {
            let name = |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
            let address = format!("{host}:{port}").parse::<SocketAddr>();
            assert!(port > 0 && (address.is_ok() || !host.is_empty() && name(&host)), "{host}, {port}");
        }
    }
    sealwright_relay::client::control_fuzz::answer(bytes);
    if let Err(error) = Identity::read(&file_with(bytes)) {
        assert!(error.to_string().len() < 4000, "{error}");
    }
    if let Ok(request) = serde_json::from_str::<AdminRequest>(text) {
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<AdminRequest>(&again).unwrap(), request);
    }
    if let Ok(request) = serde_json::from_str::<Request>(text) {
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&again).unwrap(), request);
    }
    if let Ok(response) = serde_json::from_str::<Response>(text) {
        let again = serde_json::to_string(&response).unwrap();
        assert_eq!(serde_json::from_str::<Response>(&again).unwrap(), response);
    }
    if let Ok(mix) = text.parse::<Mix>() {
        assert_eq!(mix.to_string().parse::<Mix>().unwrap(), mix);
    }
}

/// Takes arbitrary bytes as a file of test vectors, a document or JSON Lines: the result is a report whose counts add
/// up, or an error that names the file. Empty lines before it change nothing.
pub(crate) fn vectors(bytes: &[u8]) {
    let options = Options::at(vec![Isa::best()]);
    let read = |bytes: &[u8]| {
        let mut told = 0;
        let report = check_reader("fuzz", bytes, &options, &mut |_| told += 1);
        match report {
            Ok(report) => {
                assert_eq!(report.failed, told);
                Some(report)
            }
            Err(error) => {
                assert!(error.to_string().starts_with("fuzz"), "{error}");
                None
            }
        }
    };
    let report = read(bytes);
    if bytes.len() < 1000 {
        assert_eq!(read(&[b"\n \n", bytes].concat()), report);
    }
}
