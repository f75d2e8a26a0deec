//! `cargo xtask mutants CRATE [FILE]`: changes the code in small ways, one at a time, and runs the tests of its crate. A change
//! that no test notices shows what is not tested. The tool is cargo-mutants, from crates.io.

use std::{env, process::Command};

use crate::steps::{Checked, Steps};

pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    let (name, file) = match words {
        [name] => (name, None),
        [name, file] => (name, Some(file)),
        _ => {
            return Checked::Wrong(vec![
                "usage: cargo xtask mutants CRATE [FILE], for example: session src/replay.rs".into(),
            ]);
        }
    };
    let folder = steps.root().join("crates").join(name);
    if !folder.join("Cargo.toml").exists() {
        return Checked::Wrong(vec![format!("crates/{name}: there is no such crate")]);
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let known = Command::new(&cargo).args(["mutants", "--version"]).output();
    if !known.is_ok_and(|known| known.status.success()) {
        return Checked::Cannot("there is no cargo-mutants: cargo install cargo-mutants".into());
    }
    let output = steps.target().join("mutants").join(name);
    if let Err(error) = std::fs::create_dir_all(&output) {
        return Checked::Wrong(vec![format!("{}: {error}", output.display())]);
    }
    let mut command = Command::new(cargo);
    command.args(["mutants", "--all-features", "--no-shuffle", "--package"]);
    command.arg(format!("sealwright-{name}").replace("-aead", "")).arg("--output").arg(&output);
    if let Some(file) = file {
        command.arg("--file").arg(format!("crates/{name}/{file}"));
    }
    match command.current_dir(steps.root()).status() {
        Ok(status) if status.success() => Checked::Right("every change was noticed".into()),
        // 2: some were not noticed, 3: some tests hung
        Ok(status) => Checked::Wrong(vec![format!("{status}; the lists are in {}", output.display())]),
        Err(error) => Checked::Wrong(vec![error.to_string()]),
    }
}
