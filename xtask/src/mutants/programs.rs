//! The test programs, and how they are built.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;

/// A test program, and the folder in which cargo would start it.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
}

/// What the compiler does not accept: an error with the bytes of the files that it is about, those it is mainly about
/// first.
pub(super) struct Fault {
    pub(super) said: String,
    pub(super) places: Vec<(String, Range<usize>)>,
}

/// The result of a build.
pub(super) enum Built {
    Programs(Vec<Program>),
    Faults(Vec<Fault>),
}

/// Options of cargo that take a value.
const WITH_VALUE: [&str; 7] = ["--test", "--bin", "--example", "--bench", "--features", "--config", "--profile"];

/// The arguments of `cargo test` without those that select tests by name, and those.
pub(super) fn split(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut cargo, mut tests, mut value) = (Vec::new(), Vec::new(), false);
    for word in words {
        let of_cargo = value || word.starts_with('-');
        value = !value && WITH_VALUE.contains(&word.as_str());
        if of_cargo { &mut cargo } else { &mut tests }.push(word.clone());
    }
    (cargo, tests)
}

/// The kernels as fast as they compile, which takes far longer than the tests.
const KERNELS: &str = "profile.dev.package.sealwright.opt-level=0";

/// Builds the test programs, with the arguments of `cargo test`.
pub(super) fn build(tree: &Path, target: &Path, words: &[String]) -> Result<Built, String> {
    let mut command = crate::programs::cargo();
    command.args(["test", "--no-run", "--message-format", "json", "--config", KERNELS]).args(words);
    // Fewer features make fewer kernels.
    if !words.iter().any(|word| word == "--features") {
        command.arg("--all-features");
    }
    command.current_dir(tree).env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "1");
    let output = command.stderr(Stdio::piped()).output().map_err(|error| format!("cargo test: {error}"))?;
    let (mut programs, mut faults) = (Vec::new(), Vec::new());
    for line in output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(of) = serde_json::from_slice::<Value>(line) else { continue };
        if of["profile"]["test"] == true
            && let Some(program) = of["executable"].as_str()
        {
            let manifest = Path::new(of["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().unwrap_or(tree).to_owned();
            programs.push(Program { program: program.into(), folder });
        }
        if of["message"]["level"] == "error" {
            faults.push(fault(&of["message"]));
        }
    }
    if output.status.success() {
        return Ok(Built::Programs(programs));
    }
    // The last one only counts the others.
    faults.retain(|fault| !fault.places.is_empty());
    if faults.is_empty() {
        return Err(format!("cargo test: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(Built::Faults(faults))
}

fn fault(message: &Value) -> Fault {
    let mut places = Vec::new();
    collect(message, true, &mut places);
    collect(message, false, &mut places);
    Fault { said: message["rendered"].as_str().unwrap_or_default().to_owned(), places }
}

fn collect(message: &Value, primary: bool, places: &mut Vec<(String, Range<usize>)>) {
    for span in message["spans"].as_array().into_iter().flatten().filter(|span| span["is_primary"] == primary) {
        let byte = |name: &str| span[name].as_u64().and_then(|at| usize::try_from(at).ok());
        if let (Some(file), Some(start), Some(end)) = (span["file_name"].as_str(), byte("byte_start"), byte("byte_end"))
        {
            places.push((file.to_owned(), start..end));
        }
    }
    for child in message["children"].as_array().into_iter().flatten() {
        collect(child, primary, places);
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn names_of_tests_are_not_words_of_cargo() {
        let words = ["--lib", "replay", "--test", "raw", "ring"].map(str::to_owned);
        assert_eq!(
            split(&words),
            (["--lib", "--test", "raw"].map(str::to_owned).to_vec(), vec!["replay".into(), "ring".into()])
        );
    }
}
