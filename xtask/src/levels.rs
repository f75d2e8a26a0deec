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

/// Runs the tests level by level. A level that this machine does not have is skipped.
pub(crate) fn run(steps: &mut Steps) {
    let tests = match built(steps.root()) {
        Ok(tests) if !tests.is_empty() => tests,
        Ok(_) => return steps.fail("tests at lower levels", "no test was built"),
        Err(why) => return steps.fail("tests at lower levels", &why),
    };
    let here = here();
    for level in ["portable", "sse", "avx2"] {
        let name = format!("tests at level {level}");
        if !here.contains(&level) {
            // At its best level the other steps test
            if level != best(&here) {
                steps.skip(&name, "this machine does not have this level");
            }
            continue;
        }
        steps.check(&name, |steps| {
            let failing = |test: &&Test| !test.passes(level, &steps.skips());
            let wrong: Vec<String> = tests.iter().filter(failing).map(|test| test.name()).collect();
            Checked::of(wrong, format!("{} test programs", tests.len()))
        });
    }
}

/// A test program, and the folder in which cargo would start it.
struct Test {
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
        let is_also = folder == Path::new(ALSO.0) && message["target"]["name"] == ALSO.1;
        let wanted = is_also || CRATES.iter().any(|of| folder == Path::new(of));
        (wanted && message["profile"]["test"].as_bool()?).then_some(Test { program, folder: root.join(folder) })
    };
    Ok(messages.lines().filter_map(|line| serde_json::from_str(line).ok()).filter_map(of_a_crate).collect())
}

/// The best level of a machine with these levels below it.
fn best(here: &[&str]) -> &'static str {
    if cfg!(target_arch = "x86_64") { ["portable", "sse", "avx2", "avx512"][here.len()] } else { "neon" }
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

    use super::{SKIPPED, Test};

    #[test]
    fn a_test_program_is_told_its_level_and_where_to_say_what_it_skips() {
        let command = Test { program: "a/test".into(), folder: "a".into() }.command("sse", Path::new("a/file"));
        for set in [("SEALWRIGHT_ISA", "sse"), (SKIPPED, "a/file")] {
            assert!(
                command.get_envs().any(|(name, value)| (name, value) == (OsStr::new(set.0), Some(OsStr::new(set.1))))
            );
        }
    }
}
