//! Fuzzing on the stable compiler: `cargo xtask fuzz TARGET --seconds N`.
//!
//! The engine is LLVM's libFuzzer, whose sources come with the crate `libfuzzer-sys`. The compiler counts the edges
//! that an input takes and checks memory (address sanitizer) in the crates that read untrusted input
//! ([`crate::instrument`]).

use std::{
    collections::BTreeSet,
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    fuzz_keep::keep,
    fuzz_log::{self, Done},
    fuzz_said::{End, Said},
    fuzz_targets::{MEMORY, PLANTED, targets},
    instrument::{Instrument, STACK},
    programs,
    steps::{Checked, Cost, Steps},
};

const HINT: &str = "hint: cargo xtask fuzz open --seconds 60, or cargo xtask fuzz all --seconds 60 --keep";

/// The arguments of the command.
struct Wanted {
    /// None for all.
    target: Option<String>,
    seconds: u64,
    keep: bool,
}

impl Wanted {
    fn of(words: &[String]) -> Result<Wanted, String> {
        let mut wanted = Wanted { target: None, seconds: 60, keep: false };
        let mut words = words.iter();
        let mut named = false;
        while let Some(word) = words.next() {
            match word.as_str() {
                "--seconds" => {
                    let number = words.next().and_then(|number| number.parse().ok());
                    wanted.seconds = number
                        .filter(|&number| number > 0)
                        .ok_or_else(|| format!("--seconds takes a number from 1\n   {HINT}"))?;
                }
                "--keep" => wanted.keep = true,
                option if option.starts_with('-') => {
                    return Err(format!("no option {option}: --seconds N, --keep\n   {HINT}"));
                }
                name if !named => {
                    named = true;
                    wanted.target = Some(name.to_owned()).filter(|name| name != "all");
                }
                more => return Err(format!("{more}: one target at a time, or all\n   {HINT}")),
            }
        }
        Ok(wanted)
    }
}

/// `cargo xtask fuzz`: without words, the targets compile. With a target, it runs.
pub(crate) fn run(steps: &mut Steps, words: &[String]) {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            // `check` does not link, so libFuzzer, which needs a C++ compiler, need not be built.
            let target = steps.target().display().to_string();
            let words = ["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", &target, "--locked"];
            steps.cargo("fuzz targets", &words, &[("CUSTOM_LIBFUZZER_PATH", "/none/libfuzzer.a")]);
        }
        ["figures"] => steps.check("executions so far", |steps| match targets(steps.root()) {
            Ok(targets) => fuzz_log::figures(steps, &targets),
            Err(why) => Checked::Wrong(vec![why]),
        }),
        _ => steps.check("fuzzing", |steps| match Wanted::of(words).and_then(|wanted| fuzz(steps, &wanted)) {
            Ok(checked) => checked,
            Err(why) => Checked::Wrong(vec![why]),
        }),
    }
}

fn fuzz(steps: &Steps, wanted: &Wanted) -> Result<Checked, String> {
    let all = targets(steps.root())?;
    let run = match &wanted.target {
        // First, so that an engine that finds nothing is noticed before it has run for hours.
        None => {
            [PLANTED].into_iter().map(str::to_owned).chain(all.into_iter().filter(|name| name != PLANTED)).collect()
        }
        Some(name) if all.contains(name) => vec![name.clone()],
        Some(name) => return Err(format!("no target {name}: {}, or all\n   {HINT}", all.join(", "))),
    };
    build(steps, &run)?;
    let (mut findings, mut executions, mut absent) = (Vec::new(), 0, BTreeSet::new());
    for target in &run {
        // Locked until its inputs are kept: the engine also removes inputs, which another run would miss.
        let _alone = alone(steps, target)?;
        let place = Place::of(steps, target)?;
        let done = match one(steps, target, &place, wanted.seconds) {
            // The others run nevertheless.
            Err(why) if target != PLANTED => {
                findings.push(why);
                continue;
            }
            done => done?,
        };
        if target == PLANTED {
            if done.finding.is_none_or(|finding| !finding.contains("the planted fault")) {
                return Err(format!("{PLANTED}: the engine did not find the fault in {} executions", done.executions));
            }
            println!("   {PLANTED}: found");
            continue;
        }
        fuzz_log::add(steps, target, &done)?;
        if wanted.keep && done.finding.is_none() {
            keep(&place.program, &place.grown, &place.seeds)?;
        }
        executions += done.executions;
        absent.extend(done.absent);
        findings.extend(done.finding);
    }
    let what = match &run[..] {
        [one] if one == PLANTED => "the engine finds the planted fault".to_owned(),
        _ => format!("{executions} executions, no finding"),
    };
    // The other releases of a library take part only if somebody names their folders.
    absent.retain(|library: &String| !library.contains("-other: "));
    Ok(Checked::partly(findings, what, absent.into_iter().map(|library| format!("no referee: {library}")).collect()))
}

fn build(steps: &Steps, targets: &[String]) -> Result<(), String> {
    let engine = engine(steps)?;
    let mut command = programs::cargo();
    command.args(["build", "--manifest-path", "fuzz/Cargo.toml", "--locked", "--target-dir"]).arg(steps.target());
    for target in targets {
        command.args(["--bin", target]);
    }
    command.env("CUSTOM_LIBFUZZER_PATH", engine);
    Instrument::Fuzzing.wrap(&mut command)?;
    match command.current_dir(steps.root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the targets do not build: {status}")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// The engine as a library, compiled once.
fn engine(steps: &Steps) -> Result<PathBuf, String> {
    let words = ["metadata", "--manifest-path", "fuzz/Cargo.toml", "--locked", "--format-version", "1"];
    let metadata: serde_json::Value =
        serde_json::from_str(&steps.cargo_output(&words)?).map_err(|error| error.to_string())?;
    let package = metadata["packages"].as_array().into_iter().flatten().find(|of| of["name"] == "libfuzzer-sys");
    let place = |key: &str| package.and_then(|package| package[key].as_str()).unwrap_or_default();
    let sources = Path::new(place("manifest_path")).with_file_name("libfuzzer");
    let folder = steps.target().join("fuzz").join(format!("engine-{}", place("version")));
    let library = folder.join("libfuzzer.a");
    let _alone = alone(steps, "engine")?;
    if library.exists() {
        return Ok(library);
    }
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut objects = Vec::new();
    for entry in fs::read_dir(&sources).map_err(|error| format!("{}: {error}", sources.display()))?.flatten() {
        let source = entry.path();
        if source.extension().is_none_or(|extension| extension != "cpp") {
            continue;
        }
        let object = folder.join(source.file_stem().unwrap_or_default()).with_extension("o");
        let options = ["-std=c++17", "-O2", "-fPIC", "-fno-omit-frame-pointer", "-w", "-c", "-o"];
        let done = Command::new(&compiler).args(options).arg(&object).arg(&source).status();
        if !done.is_ok_and(|status| status.success()) {
            return Err(format!("{}: {} does not compile", compiler.display(), source.display()));
        }
        objects.push(object);
    }
    let unfinished = folder.join("unfinished.a");
    let made = Command::new("ar").arg("crs").arg(&unfinished).args(&objects).status();
    if objects.is_empty() || !made.is_ok_and(|status| status.success()) {
        return Err("ar: no library of the fuzzing engine".into());
    }
    fs::rename(&unfinished, &library).map_err(|error| error.to_string())?;
    Ok(library)
}

/// A lock of this name on the target folder, held until it is dropped; other runs wait for it.
fn alone(steps: &Steps, what: &str) -> Result<fs::File, String> {
    let folder = steps.target().join("fuzz/locks");
    let path = folder.join(what);
    let failed = |error| format!("{}: {error}", path.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let file = fs::File::create(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

/// Where a target's program and inputs are.
struct Place {
    program: PathBuf,
    /// Inputs of all runs on this machine.
    grown: PathBuf,
    /// Inputs of the repository.
    seeds: PathBuf,
    artifacts: PathBuf,
}

impl Place {
    fn of(steps: &Steps, target: &str) -> Result<Place, String> {
        let folder = steps.target().join("fuzz");
        let place = Place {
            program: steps.target().join("debug").join(target),
            grown: folder.join("corpus").join(target),
            seeds: if target == PLANTED { folder.join("none") } else { steps.root().join("fuzz/corpus").join(target) },
            artifacts: folder.join("artifacts").join(target),
        };
        if target == PLANTED && place.grown.exists() {
            // It must be found anew.
            fs::remove_dir_all(&place.grown).map_err(|error| format!("{}: {error}", place.grown.display()))?;
        }
        for folder in [&place.grown, &place.artifacts, &place.seeds] {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        Ok(place)
    }
}

fn one(steps: &Steps, target: &str, place: &Place, seconds: u64) -> Result<Done, String> {
    let Place { program, grown, seeds, artifacts } = place;
    let cost = Cost::begin();
    let mut child = Command::new(program)
        .args([grown, seeds])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-print_final_stats=1", "-timeout=120", "-verbosity=1"])
        .args(MEMORY)
        .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
        .env(STACK.0, STACK.1)
        .current_dir(steps.root())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let (mut said, mut last) = (Said::default(), Vec::new());
    // Messages of a failing target may hold any bytes.
    let pieces =
        child.stderr.take().map(BufReader::new).into_iter().flat_map(|from| from.split(b'\n').map_while(Result::ok));
    for line in pieces.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) {
        said.take(&line);
        if !line.starts_with('#') {
            last.push(line);
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let (cpu, seconds) = cost.end();
    let finding = said.judge(End::of(status), &format!("{target}: {status}\n{}", tail(&last)))?;
    println!(
        "   {target}: {} executions in {seconds:.0} s, {cpu:.0} CPU s, {} places reached{}",
        said.executions,
        said.covered,
        // The message at the end comes hours later if other targets follow, or never if they are stopped
        if finding.is_some() { ", A FINDING" } else { "" }
    );
    let inputs = fs::read_dir(grown).map_or(0, Iterator::count);
    Ok(Done { seconds, cpu, executions: said.executions, inputs, finding, absent: said.absent })
}

/// The end of what a target printed.
fn tail(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.starts_with("stat::")).collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::Wanted;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn arguments() {
        let wanted = Wanted::of(&words("open --seconds 7 --keep")).expect("they are right");
        assert_eq!((wanted.target.as_deref(), wanted.seconds, wanted.keep), (Some("open"), 7, true));
        assert_eq!(Wanted::of(&words("all")).map(|wanted| wanted.target), Ok(None));
        for wrong in ["open --seconds", "open --seconds 0", "open --second 4", "open enc"] {
            assert!(Wanted::of(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
