//! Any text as a configuration, as messages of the control plane and as a mix of packet sizes: each is refused or accepted,
//! and an accepted value is the same after it was written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_load::Mix;
use sealwright_relay::control::protocol::{Request, Response};
use sealwright_relay::serve::Config;
use std::path::Path;

fuzz_target!(|text: &str| {
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
});
