//! Measuring can be interrupted.
#![allow(clippy::unwrap_used)]

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use sealwright_transcripts::Sandbox;

#[test]
fn measuring_can_be_interrupted() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .heeding_signals("sealwright-lab")
        .args(["bench", "--json", "--bytes", "64"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
