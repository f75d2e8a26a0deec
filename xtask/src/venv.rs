//! Python programs in virtual environments of this repository: the referees, the browser test, the tools of `rtl/`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{programs::said, steps::Steps};

/// The programs in `tests/referees`: one that is lost would otherwise not be missed.
const REFEREES: &[&str] = &[
    "chunked_encryption",
    "committing",
    "gcm_by_pyca",
    "gcm_variants",
    "gscm_by_hand",
    "hash_drbg",
    "layouts",
    "recipients",
    "relay_client",
    "rkc_reference",
    "serpent_and_ocb_by_libgcrypt",
];
/// The programs in `tests/browser`.
const BROWSER: &[&str] = &["page"];

/// Runs each program in `tests/referees` with the path of `sealwright`.
pub(crate) fn referees(steps: &mut Steps) {
    let Some((scripts, python)) = scripts(steps, "referees", REFEREES) else { return };
    for script in scripts {
        let name = script.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let binary = steps.release("sealwright");
        steps.run(&format!("referee {name}"), &python, &[&script, &binary], &[]);
    }
}

/// Runs every study with `--quick`, and tests the report in Chromium if it is installed.
pub(crate) fn browser(steps: &mut Steps) {
    let Some((scripts, python)) = scripts(steps, "browser", BROWSER) else { return };
    for script in scripts {
        let (binary, folder) = (steps.release("sealwright-lab"), steps.target().join("browser"));
        steps.run("the report in a browser", &python, &[&script, &binary, &folder], &[]);
    }
}

/// The scripts in `tests/{name}` and a Python that has their requirements. If there is none, the step is reported as
/// skipped or failed, and the result is `None`.
fn scripts(steps: &mut Steps, name: &str, expected: &[&str]) -> Option<(Vec<PathBuf>, PathBuf)> {
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
    let found: Vec<_> = scripts.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    if found != expected {
        steps.fail(
            name,
            &format!("tests/{name} has {}, but xtask/src/venv.rs {}", found.join(", "), expected.join(", ")),
        );
        return None;
    }
    if !["sealwright", "sealwright-lab"].iter().all(|program| steps.release(program).exists()) {
        steps.fail(name, "the release binaries are not built: cargo xtask release");
        return None;
    }
    python(steps, name, &root, &folder.join("requirements.txt"), name).map(|python| (scripts, python))
}

/// The Python of the virtual environment in `home`, with the pinned `requirements` installed. A copy of the
/// requirements is kept there under `name`. Without Python, `step` is reported as skipped, and without the packages as
/// failed; the result is then `None`.
pub(crate) fn python(steps: &mut Steps, step: &str, home: &Path, requirements: &Path, name: &str) -> Option<PathBuf> {
    match venv(Path::new("python3"), home, requirements, name) {
        Ok(python) => return Some(python),
        Err(Missing::Python(why)) => steps.skip(step, &why),
        Err(Missing::Packages(why)) => steps.fail(step, &why),
    }
    None
}

/// Why there is no virtual environment.
#[derive(Debug)]
enum Missing {
    Python(String),
    Packages(String),
}

/// The system's Python makes the environment where there is none that works: one is not whole if Python lacks what
/// makes it, as on Debian without `python3-venv`, or was interrupted; and its links lead nowhere once the system has
/// another Python.
fn venv(system: &Path, home: &Path, requirements: &Path, name: &str) -> Result<PathBuf, Missing> {
    let failed = |what: &Path, error: io::Error| Missing::Packages(format!("{}: {error}", what.display()));
    // Another run makes it, or installs, meanwhile.
    let alone = fs::File::open(home).and_then(|folder| folder.lock().map(|()| folder));
    let _alone = alone.map_err(|error| failed(home, error))?;
    let (folder, python) = (home.join(".venv"), home.join(".venv/bin/python"));
    let run = |program: &Path, words: &[&str]| {
        let status = Command::new(program).args(words).current_dir(home).status();
        matches!(status, Ok(status) if status.success())
    };
    let works = || said(Command::new(&python).args(["-m", "pip", "--version"]).current_dir(home)).is_ok();
    // The notes of what is installed go with it.
    let remove = || match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&folder, error)),
        _ => Ok(()),
    };
    // One that somebody made without pip can get it.
    let repaired = || run(&python, &["-m", "ensurepip"]) && works();
    if !works() && !repaired() {
        remove()?;
        if !run(system, &["-m", "venv", ".venv"]) || !works() {
            remove()?;
            return Err(Missing::Python("python3 with venv is needed (Debian: apt install python3-venv)".into()));
        }
    }
    // The installed requirements are recorded, so that a second run makes no request to the registry.
    let wanted = fs::read_to_string(requirements).map_err(|error| failed(requirements, error))?;
    let note = folder.join(format!("{name}.txt"));
    if fs::read_to_string(&note).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    let list = requirements.display().to_string();
    if !run(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", &list]) {
        return Err(Missing::Packages(format!("pip could not install {list}")));
    }
    fs::write(&note, wanted).map_err(|error| failed(&note, error))?;
    Ok(python)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::files::collect;

    /// Stands for the system's Python, and for the one that it puts into an environment: that one fails if there is no
    /// file `pip` beside the former, and writes down what it installs.
    const PYTHON: &str = r#"#!/bin/sh
case "$*" in
    "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python && test -e pip ;;
    "-m pip --version") test -e pip ;;
    "-m pip install "*) echo installed >>installed ;;
    *) exit 9 ;;
esac
"#;

    /// What a program only prints, nobody counts.
    #[test]
    fn programs_that_skip_tell_who_counts() {
        let (mut files, mut telling) = (Vec::new(), 0);
        for folder in ["../tests", "../rtl/flow"] {
            collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &["py"], &mut files);
        }
        for path in &files {
            let text = fs::read_to_string(path).expect("a program");
            let says: Vec<&str> =
                text.lines().filter(|line| line.contains("print(") && line.contains("skipped")).collect();
            assert!(
                says.iter().all(|line| line.trim() == "print(f\"skipped: {why}\")"),
                "{}: {says:?}",
                path.display()
            );
            assert_eq!(text.contains("os.environ.get(\"SEALWRIGHT_SKIPPED\")"), !says.is_empty(), "{}", path.display());
            telling += says.len();
        }
        assert_eq!(telling, 3, "of {} programs", files.len());
    }

    #[test]
    fn an_environment_that_does_not_work_is_made_anew() {
        let home = std::env::temp_dir().join(format!("sealwright-venv-{}", std::process::id()));
        fs::create_dir_all(&home).expect("a folder");
        let at = |name: &str| home.join(name);
        fs::write(at("text"), PYTHON).expect("a file");
        // Not written by this process: programs that other tests start would hold it open, and so long it cannot be
        // run.
        let made = Command::new("sh").args(["-c", "cp text python3 && chmod +x python3"]).current_dir(&home).status();
        assert!(made.is_ok_and(|status| status.success()));
        fs::write(at("wanted.txt"), "a==1\n").expect("a file");
        let python = || venv(&at("python3"), &home, &at("wanted.txt"), "name");
        let installed = || fs::read_to_string(at("installed")).unwrap_or_default().lines().count();

        // Without pip it stops half-way, and nothing stays behind.
        for _ in 0..2 {
            assert!(matches!(python(), Err(Missing::Python(why)) if why.contains("apt install python3-venv")));
            assert!(!at(".venv").exists());
        }
        // As an interrupted run leaves it.
        fs::create_dir_all(at(".venv/bin")).expect("a folder");
        fs::write(at(".venv/bin/python"), "").expect("a file");
        fs::write(at("pip"), "").expect("a file");
        assert_eq!(python().expect("a Python"), at(".venv/bin/python"));
        assert_eq!(installed(), 1);
        // It is left alone as long as it works.
        fs::write(at(".venv/kept"), "").expect("a file");
        assert!(python().is_ok() && at(".venv/kept").exists());
        assert_eq!(installed(), 1);
        // The system has another Python: what was installed for the former is not there.
        fs::remove_file(at(".venv/bin/python")).expect("it is there");
        symlink("/none/python3.10", at(".venv/bin/python")).expect("a link");
        assert!(python().is_ok() && !at(".venv/kept").exists());
        assert_eq!(installed(), 2);
        fs::remove_dir_all(home).expect("it was made here");
    }
}
