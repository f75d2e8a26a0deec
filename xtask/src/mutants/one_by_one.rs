//! Has cargo-mutants build and test each change. cargo-mutants takes every failure of `cargo test` for a failed test:
//! its logs tell whether a test did fail.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    Wanted, all_run,
    run::{FROM_OUTSIDE, Said},
};

pub(super) fn one_by_one(home: &Path, wanted: &Wanted, output: &Path) -> Result<(), String> {
    let in_tree = |program: &Path| {
        let mut command = Command::new(program);
        command.current_dir(home.join("tree")).env("CARGO_TARGET_DIR", home.join("build"));
        // One crate is built again and again. In one thread a test's name comes before it begins.
        command.env("CARGO_INCREMENTAL", "1").env("RUST_TEST_THREADS", "1");
        command
    };
    let mut command = in_tree(Path::new(crate::programs::cargo().get_program()));
    command.args(["mutants", "--in-place", "--no-shuffle", "--colors", "never"]).args(wanted.which());
    command.arg("--output").arg(output);
    // What goes to every call of cargo also says what is built: no test program that does not run.
    let (cargo, programs) = wanted.words();
    command.args(cargo.iter().map(|word| format!("--cargo-arg={word}")));
    command.arg("--").args(programs);
    // 0: every change was noticed; 2: some were not; 3: with some the tests hung
    let status = command.status().map_err(|error| format!("cargo mutants: {error}"))?;
    if !status.code().is_some_and(|code| [0, 2, 3].contains(&code)) {
        return Err(format!("cargo mutants: {status}\n   hint: see {}", output.display()));
    }
    let logs = output.join("mutants.out");
    let text = |name: &str| {
        let path = logs.join(name);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<_, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let outcomes: Value = serde_json::from_str(&text("outcomes.json")?).map_err(|error| error.to_string())?;
    let judged = judge(&outcomes, text)?;
    all_run(&judged.not_run)?;
    let Some(hung) = judged.hung else { return Ok(()) };
    // What hung did so because of its change only if the tests end without it in half the time.
    let [build, test] = judged.unchanged;
    let run = |words: &[String]| {
        let (program, words) = words.split_first().ok_or("cargo mutants: no command")?;
        let start = Instant::now();
        match in_tree(Path::new(program)).args(words).output() {
            Ok(output) if output.status.success() => Ok(start.elapsed()),
            Ok(output) => Err(format!("without a change: {}", String::from_utf8_lossy(&output.stdout))),
            Err(error) => Err(format!("{program}: {error}")),
        }
    };
    run(&build)?;
    let took = run(&test)?;
    if took > hung / 2 {
        return Err(format!("a change hung for {hung:?}, and without a change the tests take {took:?}"));
    }
    Ok(())
}

/// The results of a run, from the files of cargo-mutants.
#[derive(Debug, Default, PartialEq, Eq)]
struct Judged {
    /// Changes whose run ended without a failed test, with the reason.
    not_run: Vec<String>,
    /// The shortest time for which a change hung, if one did.
    hung: Option<Duration>,
    /// The commands that build and test without a change.
    unchanged: [Vec<String>; 2],
}

/// Reads `outcomes.json`, with a function that reads its logs.
fn judge(outcomes: &Value, log: impl Fn(&str) -> Result<String, String>) -> Result<Judged, String> {
    let (mut judged, mut passed) = (Judged::default(), 0);
    for outcome in outcomes["outcomes"].as_array().into_iter().flatten() {
        let phase = |name: &str| {
            outcome["phase_results"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|of| of["phase"] == name)
                .unwrap_or(&Value::Null)
        };
        let words = |phase: &Value| {
            let words = phase["argv"].as_array().into_iter().flatten();
            words.filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let said = || log(outcome["log_path"].as_str().unwrap_or_default());
        let name = outcome["scenario"]["Mutant"]["name"].as_str().unwrap_or_default();
        match (outcome["scenario"].as_str(), outcome["summary"].as_str()) {
            (Some("Baseline"), Some("Success")) => {
                judged.unchanged = [words(phase("Build")), words(phase("Test"))];
                passed = tests(&said()?).passed;
            }
            (None, Some("CaughtMutant")) => {
                judged.not_run.extend(why_not(&said()?).map(|why| format!("{name}: {why}")))
            }
            (None, Some("Timeout")) => {
                let time = Duration::try_from_secs_f64(phase("Test")["duration"].as_f64().unwrap_or(0.0));
                let time = time.unwrap_or_default();
                judged.hung = Some(judged.hung.map_or(time, |least| least.min(time)));
            }
            (None, Some("MissedMutant" | "Unviable")) => {}
            _ => return Err(format!("cargo mutants: an outcome that is not understood: {outcome}")),
        }
    }
    if passed == 0 {
        return Err("without a change no test passed: nothing can be noticed".into());
    }
    Ok(judged)
}

/// The part of a log that the tests printed: what follows the last command, before its result.
fn last(log: &str) -> &str {
    log.rsplit("\n*** ").nth(1).unwrap_or_default()
}

fn tests(log: &str) -> Said {
    let mut said = Said::default();
    last(log).lines().for_each(|line| said.take(line.as_bytes()));
    said
}

/// Why a log shows no test that failed.
fn why_not(log: &str) -> Option<String> {
    let said = tests(log);
    let from_outside = FROM_OUTSIDE.iter().any(|signal| last(log).contains(&format!("(signal: {signal},")));
    if said.failed || (said.running && !from_outside) {
        return None;
    }
    let words: Vec<&str> = last(log).lines().filter(|line| !line.is_empty()).collect();
    Some(words[words.len().saturating_sub(3)..].join("; "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{judge, why_not};

    /// The log of a change, of which `cargo test` printed this.
    fn log(printed: &str) -> String {
        let build = "\n*** src/lib.rs:1:36: a change\n\n*** cargo test --no-run\n    Finished\n\n*** result: Success\n";
        format!("{build}\n*** cargo test --verbose\n     Running `x`\n\n{printed}\n\n*** result: Failure(101)\n")
    }

    #[test]
    fn only_a_test_that_failed_is_one() {
        let ended = "error: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `x`";
        for (printed, noticed) in [
            ("running 1 test\ntest a ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed".to_owned(), true),
            (format!("running 1 test\ntest a ... {ended} (signal: 6, SIGABRT: process abort signal)"), true),
            (format!("running 1 test\ntest a ... {ended} (signal: 9, SIGKILL: kill)"), false),
            (
                format!("running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed\n\n{ended} (signal: 11, SIGSEGV)"),
                false,
            ),
            (format!("{ended} (signal: 11, SIGSEGV: invalid memory reference)"), false),
            ("error: could not execute process `x` (never executed)\n\nCaused by:\n  No such file".to_owned(), false),
        ] {
            assert_eq!(why_not(&log(&printed)).is_none(), noticed, "{printed}");
        }
        // The output of the build is not that of a test.
        assert!(
            why_not(
                "\n*** cargo test\ntest a ... FAILED\n\n*** result: Success\n\n*** cargo test\n\n*** result: Failure(1)"
            )
            .is_some()
        );
    }

    #[test]
    fn outcomes_are_read() {
        let outcome = |scenario, summary, log, seconds| {
            let phase = |name| json!({"phase": name, "duration": seconds, "argv": ["cargo", name]});
            json!({"scenario": scenario, "summary": summary, "log_path": log, "phase_results": [phase("Build"), phase("Test")]})
        };
        let change = |name| json!({"Mutant": {"name": name}});
        let logs = |name: &str| {
            Ok(log(match name {
                "right" => "test a ... ok",
                "failed" => "test a ... FAILED",
                _ => "",
            }))
        };
        let baseline = outcome(json!("Baseline"), "Success", "right", 1.0);
        let judged = judge(
            &json!({"outcomes": [
                baseline,
                outcome(change("a"), "CaughtMutant", "failed", 1.0),
                outcome(change("b"), "CaughtMutant", "nothing", 1.0),
                outcome(change("c"), "Timeout", "", 30.0),
                outcome(change("d"), "Timeout", "", 20.5),
                outcome(change("e"), "MissedMutant", "right", 1.0),
            ]}),
            logs,
        );
        let judged = judged.expect("it is understood");
        assert_eq!(judged.not_run.len(), 1);
        assert!(judged.not_run[0].starts_with("b: "), "{:?}", judged.not_run);
        assert_eq!(judged.hung, Some(Duration::from_millis(20_500)));
        assert_eq!(
            judged.unchanged,
            [["cargo", "Build"], ["cargo", "Test"]].map(|words| words.map(str::to_owned).to_vec())
        );
        for wrong in [
            vec![],
            vec![outcome(json!("Baseline"), "Success", "nothing", 1.0)],
            vec![outcome(json!("Baseline"), "Failure", "right", 1.0)],
            vec![baseline, outcome(change("f"), "Failure", "failed", 1.0)],
        ] {
            assert!(judge(&json!({"outcomes": wrong}), logs).is_err(), "{wrong:?}");
        }
    }
}
