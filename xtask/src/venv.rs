//! Python programs in virtual environments of this repository: the referees, the browser test, the tools of `rtl/`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::steps::Steps;

/// Runs each program in `tests/referees` with the path of `sealwright`.
pub(crate) fn referees(steps: &mut Steps) {
    let Some((scripts, python)) = scripts(steps, "referees") else { return };
    for script in scripts {
        let name = script.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let binary = steps.release("sealwright");
        steps.run(&format!("referee {name}"), &python, &[&script, &binary], &[]);
    }
}

/// Runs every study with `--quick`, and tests the report in Chromium if it is installed.
pub(crate) fn browser(steps: &mut Steps) {
    let Some((scripts, python)) = scripts(steps, "browser") else { return };
    for script in scripts {
        let (binary, folder) = (steps.release("sealwright-lab"), steps.target().join("browser"));
        steps.run("the report in a browser", &python, &[&script, &binary, &folder], &[]);
    }
}

/// The scripts in `tests/{name}` and a Python that has their requirements. If there is none, the step is reported as skipped or
/// failed, and the result is `None`.
fn scripts(steps: &mut Steps, name: &str) -> Option<(Vec<PathBuf>, PathBuf)> {
    let root = steps.root().to_owned();
    let folder = root.join("tests").join(name);
    let mut scripts: Vec<_> = match fs::read_dir(&folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => {
            steps.fail(name, &format!("{}: {error}", folder.display()));
            return None;
        }
    };
    scripts.retain(|path| path.extension().is_some_and(|ending| ending == "py"));
    scripts.sort();
    if !["sealwright", "sealwright-lab"].iter().all(|program| steps.release(program).exists()) {
        steps.fail(name, "the release binaries are not built: cargo xtask release");
        return None;
    }
    python(steps, name, &root, &folder.join("requirements.txt"), name).map(|python| (scripts, python))
}

/// The Python of the virtual environment in `home`, with the pinned `requirements` installed. A copy of the requirements is kept
/// there under `name`. Without Python, `step` is reported as skipped, and without the packages as failed; the result is then
/// `None`.
pub(crate) fn python(steps: &mut Steps, step: &str, home: &Path, requirements: &Path, name: &str) -> Option<PathBuf> {
    match venv(home, requirements, name) {
        Ok(python) => return Some(python),
        Err(Missing::Python(why)) => steps.skip(step, &why),
        Err(Missing::Packages(why)) => steps.fail(step, &why),
    }
    None
}

/// Why there is no virtual environment.
enum Missing {
    Python(String),
    Packages(String),
}

fn venv(home: &Path, requirements: &Path, name: &str) -> Result<PathBuf, Missing> {
    let python = home.join(".venv/bin/python");
    let run = |program: &Path, words: &[&str]| {
        let status = Command::new(program).args(words).current_dir(home).status();
        matches!(status, Ok(status) if status.success())
    };
    if !python.exists() && !run(Path::new("python3"), &["-m", "venv", ".venv"]) {
        return Err(Missing::Python("python3 with venv is needed (Debian: apt install python3-venv)".into()));
    }
    // The installed requirements are recorded, so that a second run makes no request to the registry.
    let wanted = fs::read_to_string(requirements).map_err(|error| Missing::Packages(error.to_string()))?;
    let note = home.join(format!(".venv/{name}.txt"));
    if fs::read_to_string(&note).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    let list = requirements.display().to_string();
    if !run(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", &list]) {
        return Err(Missing::Packages(format!("pip could not install {list}")));
    }
    fs::write(note, wanted).map_err(|error| Missing::Packages(error.to_string()))?;
    Ok(python)
}
