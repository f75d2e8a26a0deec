//! What happens on the bus, written to a file.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use sealwright_smp::{
    Config, Outcome, Stats,
    attack::{Attack, Attacker},
    run::{Report, RunError, Simulation, Workload},
};
use serde_json::Value;

fn run(scheme: &str, attack: Option<Attack>, file: &Path) -> Result<Report, RunError> {
    let mut config = Config::default().set(&format!("scheme.name={scheme}")).unwrap();
    config.machine.processors = 2;
    let mut simulation = Simulation::new(config, Workload::kernel("fft", 8, false).unwrap());
    simulation.attackers.extend(attack.map(|attack| Attacker::new(attack, 20)));
    simulation.dump = Some(file.to_owned());
    simulation.run(&mut |_| {})
}

fn events(file: &Path) -> Vec<Value> {
    std::fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn every_command_and_every_line_is_written_with_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bus.jsonl");
    let clear = run("clear", None, &file).unwrap();
    let plain = events(&file);
    assert_eq!(of(&plain, "command").len() as f64, clear.stats.number("bus.commands"));
    assert_eq!(of(&plain, "transfer").len() as f64, clear.stats.number("transfers.count"));
    assert_eq!(of(&plain, "fill").len() as f64, clear.stats.number("memory.fills"));
    run("gcm", None, &file).unwrap();
    let sealed = events(&file);
    let tag = |event: &&Value| event["tag"].as_str().map(str::len);
    assert!(of(&plain, "transfer").iter().all(|event| tag(event).is_none()));
    assert!(of(&sealed, "transfer").iter().all(|event| tag(event) == Some(32)), "a tag of 16 bytes on each line");
    let text = |events: &[Value]| of(events, "transfer")[0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(&plain).len(), 128, "64 bytes in hexadecimal");
    assert_ne!(text(&plain), text(&sealed));
    // Nothing else is left in the folder
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The events of a run of `fft` with 4 processors, and what it counted.
fn dumped(settings: &[&str]) -> (Vec<Value>, Stats) {
    let folder = tempfile::tempdir().unwrap();
    let config = settings.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap());
    let mut simulation = Simulation::new(config, Workload::kernel("fft", 8, false).unwrap());
    let file = folder.path().join("bus.jsonl");
    simulation.dump = Some(file.clone());
    let stats = simulation.run(&mut |_| {}).unwrap().stats;
    (events(&file), stats)
}

#[test]
fn a_write_back_is_written_with_the_line_that_it_carries() {
    let small = ["l1.bytes=1024", "l2.bytes=4096"];
    let carried = |more: &[&str]| {
        let (found, stats) = dumped(&[&small, more].concat());
        let commands = of(&found, "command");
        let carries = commands.iter().filter(|event| event["text"].as_str().is_some_and(|text| text.len() == 128));
        let lines = carries.clone().count() as f64;
        assert!(carries.clone().all(|event| event["command"] == "write-back"));
        let group = if more.contains(&"interconnect.kind=mesh") { "directory" } else { "bus" };
        let all = stats.number(&format!("{group}.write_backs"));
        assert!(all > 0.0 && lines > 0.0, "{more:?}");
        (lines, all)
    };
    for more in [&[][..], &["bus.skew=30"], &["interconnect.kind=mesh"]] {
        let (lines, all) = carried(more);
        assert_eq!(lines, all, "{more:?}");
    }
    // A clean line goes back as its address alone
    let (lines, all) = carried(&["bus.protocol=mesi"]);
    assert!(lines < all, "{lines} of {all}");
}

#[test]
fn a_line_that_stays_within_a_chip_is_told_from_those_on_the_bus() {
    let (found, stats) = dumped(&["machine.chips=2", "scheme.name=gcm"]);
    let transfers = of(&found, "transfer");
    let within = transfers.iter().filter(|event| event["within"] == true);
    assert!(within.clone().all(|event| event["tag"].is_null()));
    assert_eq!(within.count() as f64, stats.number("transfers.within_chips"));
    assert!(transfers.iter().any(|event| event["within"] == false && event["tag"].is_string()));
}

#[test]
fn tampering_and_its_detection_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bus.jsonl");
    let report = run("gcm", Some(Attack::Flip), &file).unwrap();
    let Outcome::Detected(detection) = report.outcome else { panic!("{:?}", report.outcome) };
    let found = events(&file);
    let seen = of(&found, "detection");
    assert_eq!((seen.len(), seen[0]["node"].as_u64()), (1, Some(detection.node as u64)));
    run("gcm", Some(Attack::Drop), &file).unwrap();
    let dropped = events(&file).into_iter().filter(|event| event["fate"] == "dropped").count();
    assert_eq!(dropped, 1);
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let error = run("clear", None, &folder.path().join("none/bus.jsonl")).unwrap_err();
    assert!(error.to_string().contains("none/bus.jsonl"), "{error}");
}

#[cfg(unix)]
#[test]
fn others_may_read_it_as_the_umask_allows() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (file, plain) = (folder.path().join("bus.jsonl"), folder.path().join("plain"));
    std::fs::write(&plain, "").unwrap();
    run("clear", None, &file).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&file), mode(&plain));
}
