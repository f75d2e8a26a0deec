//! Configurations, messages and vectors: text that others write.

use std::path::Path;

use sealwright::Isa;
use sealwright_load::Mix;
use sealwright_relay::{
    control::protocol::{Request, Response},
    serve::Config,
};
use sealwright_vectors::{Options, check_text};

/// Any text as a configuration, as messages of the control plane and as a mix of packet sizes: each is refused or accepted,
/// and an accepted value is the same after it was written and read again.
pub(crate) fn relay_words(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(config) = Config::parse(text, Path::new("/")) {
        assert!(config.sessions > 0 && config.threads > 0);
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

/// Any text as a document of test vectors: a report whose cases add up, or an error that names the file.
pub(crate) fn vectors(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut told = 0;
    let options = Options { isas: vec![Isa::best()] };
    match check_text("fuzz", text, &options, &mut |_| told += 1) {
        Ok(report) => assert_eq!(report.failed, told),
        Err(error) => assert!(error.to_string().starts_with("fuzz"), "{error}"),
    }
}
