//! Measuring can be interrupted.
#![allow(clippy::unwrap_used)]

use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
    time::Duration,
};

use sealwright_transcripts::Sandbox;

/// At every moment: while libraries in C measure, and while they start.
#[test]
fn measuring_can_be_interrupted() {
    let sandbox = Sandbox::new();
    let mut heeded = 0;
    for wait in (0..24).map(|round| 100 + 35 * round) {
        let mut child = sandbox
            .heeding_signals("sealwright-lab")
            .args(["bench", "--json", "--bytes", "64"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        // Before the program has asked for the signal, it ends by it.
        assert!(status.code() == Some(130) || status.signal() == Some(2), "after {wait} ms: {status}");
        heeded += u32::from(status.code() == Some(130));
    }
    assert!(heeded > 0, "the program never heeded the signal");
}
