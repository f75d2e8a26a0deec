//! Runs the tests of the cryptographic crates again at each instruction-set level below the best.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    programs,
    steps::{Checked, SKIPPED, Steps},
};

/// The crates that contain or select kernels.
const CRATES: [&str; 5] = ["crates/aead", "crates/file", "crates/rustls", "crates/session", "crates/stream"];
/// A test program of another crate: what a relay leaves in memory depends on what its kernels do.
const ALSO: (&str, &str) = ("crates/relay", "wiping");
/// All levels of this architecture, from the lowest on.
const LEVELS: &[&str] =
    if cfg!(target_arch = "x86_64") { &["portable", "sse", "avx2", "avx512"] } else { &["portable", "neon"] };

/// Runs the tests level by level. A level that this machine does not have is skipped.
pub(crate) fn run(steps: &mut Steps) {
    let built = built(steps.root()).and_then(|tests| {
        let root = steps.root();
        let of = |test: &Test| (test.folder.strip_prefix(root).unwrap_or(&test.folder).to_owned(), test.target.clone());
        let lacks = missing(&tests.iter().map(of).collect::<Vec<_>>());
        if lacks.is_empty() { Ok(tests) } else { Err(format!("no test program of {}", lacks.join(", "))) }
    });
    let tests = match built {
        Ok(tests) => tests,
        Err(why) => return steps.fail("tests at lower levels", &why),
    };
    let here = here();
    // At the best level the other steps test
    for level in LEVELS.iter().copied().filter(|level| *level != best(&here)) {
        let name = format!("tests at level {level}");
        if !here.contains(&level) {
            steps.skip(&name, "this machine does not have this level");
            continue;
        }
        steps.check(&name, |steps| {
            let failing = |test: &&Test| !test.passes(level, &steps.skips());
            let wrong: Vec<String> = tests.iter().filter(failing).map(|test| test.name()).collect();
            Checked::of(wrong, format!("{} test programs", tests.len()))
        });
    }
}

/// A test program with the name of its target, and the folder in which cargo would start it.
struct Test {
    target: String,
    program: PathBuf,
    folder: PathBuf,
}

impl Test {
    fn passes(&self, level: &str, skips: &Path) -> bool {
        println!("   {}", self.name());
        self.command(level, skips).status().is_ok_and(|status| status.success())
    }

    /// Sets the level at which it runs, and the file to which it writes what it skips.
    fn command(&self, level: &str, skips: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--quiet").current_dir(&self.folder).env("SEALWRIGHT_ISA", level).env(SKIPPED, skips);
        command
    }

    fn name(&self) -> String {
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The test programs of [`CRATES`], and [`ALSO`], with the features of the whole workspace: the step `unit` has just
/// built them. A selection of packages would have other features, and cargo would build everything again.
fn built(root: &Path) -> Result<Vec<Test>, String> {
    let words = ["test", "--workspace", "--all-features", "--no-run", "--message-format=json-render-diagnostics"];
    let built = programs::cargo().args(words).current_dir(root).stderr(std::process::Stdio::inherit()).output();
    let built = built.map_err(|error| error.to_string())?;
    if !built.status.success() {
        return Err(built.status.to_string());
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    let of_a_crate = |message: Value| {
        let program = PathBuf::from(message["executable"].as_str()?);
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.strip_prefix(root).ok()?;
        let target = message["target"]["name"].as_str()?.to_owned();
        let is_also = folder == Path::new(ALSO.0) && target == ALSO.1;
        let wanted = is_also || CRATES.iter().any(|of| folder == Path::new(of));
        (wanted && message["profile"]["test"].as_bool()?).then(|| Test { target, program, folder: root.join(folder) })
    };
    Ok(messages.lines().filter_map(|line| serde_json::from_str(line).ok()).filter_map(of_a_crate).collect())
}

/// Those of [`CRATES`], and [`ALSO`], without a test program among these folders and targets.
fn missing(built: &[(PathBuf, String)]) -> Vec<&'static str> {
    let lacks = |of: &&str| !built.iter().any(|(folder, _)| folder == Path::new(of));
    let also = (PathBuf::from(ALSO.0), ALSO.1.to_owned());
    CRATES.into_iter().filter(lacks).chain((!built.contains(&also)).then_some(ALSO.0)).collect()
}

/// The best level of a machine with these levels below it.
fn best(here: &[&str]) -> &'static str {
    LEVELS[here.len()]
}

/// The levels below the best level of this machine, according to the flags of the processor.
pub(crate) fn here() -> Vec<&'static str> {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    let mut levels = Vec::new();
    if has("aes") && (has("pclmulqdq") || has("pmull")) {
        levels.push("portable");
    }
    if has("vaes") && has("vpclmulqdq") && has("avx2") && has("bmi2") {
        levels.push("sse");
    }
    if levels.len() == 2 && has("avx512bw") && has("avx512vl") {
        levels.push("avx2");
    }
    levels
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, path::Path};

    use super::{ALSO, CRATES, SKIPPED, Test, missing};

    #[test]
    fn a_crate_without_test_programs_is_missed() {
        let mut built: Vec<_> = CRATES.iter().map(|of| ((*of).into(), "some".to_owned())).collect();
        assert_eq!(missing(&built), [ALSO.0]);
        built.push((ALSO.0.into(), ALSO.1.into()));
        assert!(missing(&built).is_empty());
        built.remove(1);
        assert_eq!(missing(&built), [CRATES[1]]);
    }

    #[test]
    fn a_test_program_is_told_its_level_and_where_to_say_what_it_skips() {
        let command = Test { target: "test".into(), program: "a/test".into(), folder: "a".into() }
            .command("sse", Path::new("a/file"));
        for set in [("SEALWRIGHT_ISA", "sse"), (SKIPPED, "a/file")] {
            assert!(
                command.get_envs().any(|(name, value)| (name, value) == (OsStr::new(set.0), Some(OsStr::new(set.1))))
            );
        }
    }
}
