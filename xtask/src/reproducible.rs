//! `cargo xtask reproducible [OPTIONS OF CARGO BUILD]`: builds the program as it is distributed, twice, in two folders of different
//! names. Both must be the same, byte for byte: then whoever builds a release can tell whether a binary is made of its source.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::steps::{Checked, Steps};

pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    let folder = steps.target().join("reproducible");
    let _ = fs::remove_dir_all(&folder);
    let mut programs = Vec::new();
    for name in ["one", "another-folder"] {
        match built(steps, &folder.join(name), words) {
            Ok(program) => programs.push(program),
            Err(why) => return Checked::Wrong(vec![format!("{name}: {why}")]),
        }
    }
    let wrong = if programs[0] == programs[1] {
        vec![]
    } else {
        let differing = programs[0].iter().zip(&programs[1]).filter(|(a, b)| a != b).count();
        vec![format!("the programs differ in {differing} bytes: {} and {} bytes", programs[0].len(), programs[1].len())]
    };
    let hash = Command::new("sha256sum").arg(program_in(&folder.join("one"))).output();
    let hash: String =
        hash.map(|said| String::from_utf8_lossy(&said.stdout).chars().take(64).collect()).unwrap_or_default();
    let right = format!("{} bytes, SHA-256 {hash}", programs[0].len());
    if wrong.is_empty() {
        let _ = fs::remove_dir_all(&folder);
    }
    Checked::of(wrong, right)
}

fn program_in(folder: &Path) -> PathBuf {
    folder.join("target/dist/sealwright")
}

/// The program, built from the last commit in `folder`.
fn built(steps: &Steps, folder: &Path, words: &[String]) -> Result<Vec<u8>, String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let archive = folder.with_extension("tar");
    let run = |command: &mut Command| match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{:?}: {status}", command.get_program())),
        Err(error) => Err(format!("{:?}: {error}", command.get_program())),
    };
    run(Command::new("git").args(["archive", "--output"]).arg(&archive).arg("HEAD").current_dir(steps.root()))?;
    run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder))?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--profile", "dist", "--locked", "--package", "sealwright-cli"]).args(words);
    // The name of the folder is in no message then.
    build.env("RUSTFLAGS", format!("--remap-path-prefix={}=/sealwright", folder.display()));
    build.env("CARGO_TARGET_DIR", folder.join("target")).env("SOURCE_DATE_EPOCH", "0").current_dir(folder);
    run(&mut build)?;
    fs::read(program_in(folder)).map_err(|error| error.to_string())
}
