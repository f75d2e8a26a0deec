//! Measuring can be interrupted, and a sweep killed.
#![allow(clippy::unwrap_used)]

use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
    time::{Duration, Instant},
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

/// Killed again and again, a sweep goes on where it was, and ends with the table of one that was left alone. Until then there
/// is no table, and never a part of one.
#[test]
fn a_sweep_that_is_killed_ends_with_the_same_table() {
    let sandbox = Sandbox::new();
    let sweep = |output: &str| {
        let mut command = sandbox.heeding_signals("sealwright-lab");
        command.args([
            "smp",
            "sweep",
            "--workload",
            "fft",
            "--size",
            "10",
            "--vary",
            "scheme.name=clear,gcm,senss,pcie-ide",
        ]);
        command.args(["--vary", "machine.processors=2,4,8", "-o", output]).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let start = Instant::now();
    assert!(sweep("whole.csv").status().unwrap().success());
    let whole = start.elapsed();
    let (table, journal) = (sandbox.path("table.csv"), sandbox.path("table.csv.journal"));
    let (mut kills, mut kept) = (0, 0);
    let ended = (1..=200).any(|round| {
        let mut child = sweep("table.csv").spawn().unwrap();
        // From the program's start to a little more than a run of all
        std::thread::sleep(whole * (round * 7 % 10) / 30);
        let _ = child.kill();
        let ended = child.wait().unwrap().success();
        let right = || std::fs::read(&table).unwrap() == std::fs::read(sandbox.path("whole.csv")).unwrap();
        assert!(if table.exists() { right() } else { !ended }, "after {kills} kills");
        kills += u32::from(!ended);
        let now = std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        // With the table there, which is whole, the journal may be gone before the program has ended.
        assert!(ended || table.exists() || now >= kept, "runs were lost");
        kept = now.max(kept);
        ended
    });
    assert!(ended || sweep("table.csv").status().unwrap().success());
    assert!(kills > 0 && kept > 0, "{kills} kills, {kept} runs kept");
    assert!(table.exists() && !journal.exists());
}
