//! The Java example, if there is a JDK with the foreign function API.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    programs::said,
    steps::{Checked, Steps},
};

/// The first version with the final foreign function API.
const OLDEST: u32 = 22;

pub(crate) fn run(steps: &mut Steps, prefix: &Path) {
    let Some(java) = programs().into_iter().find(|java| major(java) >= Some(OLDEST)) else {
        let why = "a JDK of version 22 or newer is needed, in JAVA_HOME, on the PATH or below /usr/lib/jvm";
        return steps.skip("Java with the C library", why);
    };
    steps.check("Java with the C library", |steps| {
        let mut command = Command::new(&java);
        command.arg("--enable-native-access=ALL-UNNAMED");
        command.arg(steps.root().join("crates/capi/examples/Messages.java")).arg(prefix.join("lib/libsealwright.so"));
        Checked::printed(said(&mut command), "opened: attack at dawn\nforged: not authentic\n")
    });
}

/// Paths of `java`, in the order in which they are tried.
fn programs() -> Vec<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/java"));
    // Several versions stand side by side; a set has them in the order of their names.
    let entries = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let installed: BTreeSet<PathBuf> = entries.map(|entry| entry.path().join("bin/java")).collect();
    home.into_iter().chain([PathBuf::from("java")]).chain(installed).collect()
}

fn major(java: &Path) -> Option<u32> {
    let output = Command::new(java).arg("--version").output().ok()?;
    version(&String::from_utf8_lossy(&output.stdout))
}

/// The 25 of `openjdk 25.0.1 2025-10-21 LTS`, also where a pre-release follows.
fn version(said: &str) -> Option<u32> {
    let word = said.split_whitespace().nth(1)?;
    word.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_as_they_are_said() {
        assert_eq!(version("openjdk 25.0.1 2025-10-21 LTS\nOpenJDK Runtime Environment Temurin-25.0.1+8"), Some(25));
        assert_eq!(version("openjdk 26-ea 2026-03-17"), Some(26));
        assert_eq!(version("java 17.0.2 2022-01-18 LTS"), Some(17));
        assert_eq!(version(""), None);
    }
}
