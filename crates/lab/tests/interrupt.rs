//! Measurements can be interrupted at any time, and a killed sweep continues.
#![allow(clippy::unwrap_used)]

use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
    time::Duration,
};

use sealwright_transcripts::{Sandbox, binaries, status_of_new};

/// The signal arrives at different times, both while libraries in C measure and while they are being loaded.
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
        // Until the program has installed its handler, the signal terminates it
        assert!(status.code() == Some(130) || status.signal() == Some(2), "after {wait} ms: {status}");
        heeded += u32::from(status.code() == Some(130));
    }
    assert!(heeded > 0, "the program never heeded the signal");
}

/// Output is written to a temporary file `.smp-...`, which gets its name only when complete: an interrupted run leaves
/// no file.
#[test]
fn an_interrupted_simulation_leaves_no_file() {
    let sandbox = Sandbox::new();
    let before = sandbox.names();
    let unfinished = || sandbox.names().iter().any(|name| name.starts_with(".smp-"));
    let ended_before = (0..20).all(|_| {
        let mut child = sandbox
            .heeding_signals("sealwright-lab")
            .args(["smp", "run", "--workload", "fft", "--size", "16", "--dump", "bus.jsonl"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !unfinished() {
            if let Some(status) = child.try_wait().unwrap() {
                let _ = std::fs::remove_file(sandbox.path("bus.jsonl"));
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert!(status.success() || status.code() == Some(130), "{status}");
        let _ = std::fs::remove_file(sandbox.path("bus.jsonl"));
        status.success()
    });
    assert!(!ended_before, "no run was interrupted");
    assert_eq!(sandbox.names(), before);
}

/// The sweep that these tests run.
fn sweep(mut command: Command, output: &str) -> Command {
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
}

/// A sweep that is killed repeatedly continues where it stopped and ends with the same table as an undisturbed one.
/// Before that there is no table, not even a partial one.
#[test]
fn a_sweep_that_is_killed_ends_with_the_same_table() {
    let sandbox = Sandbox::new();
    let sweep = |output: &str| sweep(sandbox.heeding_signals("sealwright-lab"), output);
    assert!(sweep("whole.csv").status().unwrap().success());
    let (table, journal) = (sandbox.path("table.csv"), sandbox.path("table.csv.journal"));
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    let (mut kills, mut kept) = (0, 0);
    let ended = (0..200).any(|round| {
        let mut child = sweep("table.csv").spawn().unwrap();
        // The first round kills the program at its start; each other round kills it soon after another run was
        // recorded
        while round > 0 && lines() <= kept && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(round % 7));
        let _ = child.kill();
        let success = child.wait().unwrap().success();
        kills += u32::from(!success);
        if table.exists() {
            assert_eq!(std::fs::read(&table).unwrap(), std::fs::read(sandbox.path("whole.csv")).unwrap());
        } else {
            assert!(!success, "no table after {kills} kills");
            assert!(lines() >= kept, "runs were lost");
        }
        kept = lines().max(kept);
        if table.exists() && kept == 0 {
            // The whole sweep was faster than this loop: start again
            std::fs::remove_file(&table).unwrap();
            return false;
        }
        // If the table exists, the sweep was complete when it was killed. The table is not replaced without --force
        table.exists()
    });
    assert!(ended || sweep("table.csv").status().unwrap().success());
    assert!(kills > 0 && kept > 0, "{kills} kills, {kept} runs kept");
    // A kill between writing the table and removing the journal leaves both. A sweep with --force then cleans up
    assert!(!journal.exists() || sweep("table.csv").arg("--force").status().unwrap().success());
    assert!(table.exists() && !journal.exists());
    assert_eq!(std::fs::read(&table).unwrap(), std::fs::read(sandbox.path("whole.csv")).unwrap());
}

/// Two builds of one version may simulate differently, so a sweep must not use results that another build recorded.
/// Here the recorded results are swapped, so that the table shows whether they were used.
#[test]
fn another_build_does_not_go_on_with_a_sweep() {
    let sandbox = Sandbox::new();
    let own = |output: &str| sweep(sandbox.heeding_signals("sealwright-lab"), output);
    assert!(own("whole.csv").status().unwrap().success());
    let (table, journal) = (sandbox.path("table.csv"), sandbox.path("table.csv.journal"));
    let lines = || -> Vec<String> {
        std::fs::read_to_string(&journal).unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let cut_off = (0..50).any(|_| {
        let mut child = own("table.csv").spawn().unwrap();
        while lines().len() < 3 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        let ended = child.wait().unwrap().success();
        let _ = std::fs::remove_file(&table);
        !ended && lines().len() >= 3
    });
    assert!(cut_off, "the sweep always ended before");
    // Swap the results of the first two runs
    let kept = lines();
    let halves = |line: &str| {
        let (key, stats) = line.split_once(",\"stats\":").unwrap();
        (key.to_owned(), stats.to_owned())
    };
    let ((a, of_a), (b, of_b)) = (halves(&kept[0]), halves(&kept[1]));
    let swapped = format!("{a},\"stats\":{of_b}\n{b},\"stats\":{of_a}\n");
    let whole = sandbox.read("whole.csv");

    std::fs::write(&journal, &swapped).unwrap();
    let lab = sandbox.path("lab");
    let program = std::fs::read(binaries().join("sealwright-lab")).unwrap();
    std::fs::write(&lab, [&program[..], b"another build"].concat()).unwrap();
    sandbox.chmod("lab", 0o755);
    let mut another = Command::new(lab);
    another.current_dir(sandbox.path(""));
    assert!(status_of_new(&mut sweep(another, "table.csv")).success());
    assert!(sandbox.read("table.csv") == whole, "the other build's figures were taken");

    std::fs::remove_file(&table).unwrap();
    std::fs::write(&journal, &swapped).unwrap();
    assert!(own("table.csv").status().unwrap().success());
    assert!(sandbox.read("table.csv") != whole, "its own figures were not taken");
}
