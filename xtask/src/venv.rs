//! Referees in Python, in a venv of this repository.

use crate::steps::Steps;
use std::{fs, path::Path, process::Command};

/// Runs each of `tests/referees/*.py` with the path of the release binary.
pub(crate) fn referees(steps: &mut Steps) {
    let root = steps.root().to_owned();
    let room = root.join("tests/referees");
    let mut scripts: Vec<_> = match fs::read_dir(&room) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => return steps.fail("referees", &format!("{}: {error}", room.display())),
    };
    scripts.retain(|path| path.extension().is_some_and(|ending| ending == "py"));
    scripts.sort();
    let binary = steps.binary();
    if !binary.exists() {
        return steps.fail("referees", "the release binary is not built: cargo xtask release");
    }
    let python = match venv(&root, &room.join("requirements.txt")) {
        Ok(python) => python,
        Err(Missing::Python(why)) => return steps.skip("referees", &why),
        Err(Missing::Packages(why)) => return steps.fail("referees", &why),
    };
    for script in scripts {
        let name = script.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        steps.run(&format!("referee {name}"), &python, &[&script, &binary], &[]);
    }
}

enum Missing {
    Python(String),
    Packages(String),
}

/// The venv's Python, with the pinned requirements installed.
fn venv(root: &Path, requirements: &Path) -> Result<std::path::PathBuf, Missing> {
    let python = root.join(".venv/bin/python");
    let run = |program: &Path, words: &[&str]| {
        let status = Command::new(program).args(words).current_dir(root).status();
        matches!(status, Ok(status) if status.success())
    };
    if !python.exists() && !run(Path::new("python3"), &["-m", "venv", ".venv"]) {
        return Err(Missing::Python("python3 with venv is needed (Debian: apt install python3-venv)".into()));
    }
    // The requirements that are installed are remembered, so that a second run asks no registry.
    let wanted = fs::read_to_string(requirements).map_err(|error| Missing::Packages(error.to_string()))?;
    let note = root.join(".venv/requirements.txt");
    if fs::read_to_string(&note).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    let list = requirements.display().to_string();
    if !run(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", &list]) {
        return Err(Missing::Packages("pip could not install tests/referees/requirements.txt".into()));
    }
    fs::write(note, wanted).map_err(|error| Missing::Packages(error.to_string()))?;
    Ok(python)
}
