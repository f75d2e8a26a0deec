//! Configurations, messages and vectors: text that others write.

use std::path::Path;

use sealwright::Isa;
use sealwright_load::Mix;
use sealwright_relay::{
    client::Identity,
    control::protocol::{Request, Response},
    serve::{AdminRequest, Config},
};
use sealwright_vectors::{Options, check_reader};

use crate::keys::file_with;

/// Any text as a configuration of a relay and of a client, as messages of the control plane, as what operators ask and as a mix of packet
/// sizes: each is refused or accepted, and an accepted value is the same after it was written and read again.
pub(crate) fn relay_words(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(config) = Config::parse(text, Path::new("/")) {
        assert!(config.sessions > 0 && config.threads > 0);
    }
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

/// Any bytes as a file of test vectors, a document or JSON Lines: a report whose cases add up, or an error that names the file.
/// Empty lines before it change nothing.
pub(crate) fn vectors(bytes: &[u8]) {
    let options = Options { isas: vec![Isa::best()] };
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
