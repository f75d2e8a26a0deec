//! The Python package in `python/`: installed as a user installs it, then tested.

use crate::{steps::Steps, venv};

/// Installs the package into `python/.venv` and runs its tests there.
pub(crate) fn run(steps: &mut Steps) {
    let folder = steps.root().join("python");
    let requirements = folder.join("tests/requirements.txt");
    let Some(python) = venv::python(steps, "Python package", &folder, &requirements, "tests") else { return };
    // maturin is in the environment already, so that pip makes no other one to build in. Cargo builds in its usual
    // folder and in the profile of the C library's tests, so that nothing is compiled twice.
    let path = folder.display().to_string();
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps"];
    let words = [&install[..], &["--force-reinstall", &path]].concat();
    let target = steps.target().display().to_string();
    // pip runs maturin by its name.
    let programs = format!("{}:{}", folder.join(".venv/bin").display(), std::env::var("PATH").unwrap_or_default());
    let built = steps.run(
        "Python package",
        &python,
        &words,
        &[("CARGO_TARGET_DIR", &target), ("MATURIN_PEP517_ARGS", "--profile dev"), ("PATH", &programs)],
    );
    if built {
        let settings = folder.join("pyproject.toml").display().to_string();
        let tests = folder.join("tests").display().to_string();
        steps.run("tests of the Python package", &python, &["-m", "pytest", "-c", &settings, &tests], &[]);
    }
}
