//! The hardware cores in `rtl/`: lint, proofs, simulations that are compared with the library, and a check that the
//! stored results belong to the sources.

use std::process::Command;

use crate::{steps::Steps, venv};

/// Runs every check of the cores, with tools from PyPI in `rtl/.venv`.
pub(crate) fn run(steps: &mut Steps) {
    let folder = steps.root().join("rtl");
    for tool in ["g++", "make", "perl"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return steps.skip("cores", &format!("{tool} is needed (Debian: apt install g++ make perl)"));
        }
    }
    let Some(python) = venv::python(steps, "cores", &folder, &folder.join("requirements.txt"), "rtl") else { return };
    // The same features as the earlier tests, so that nothing is compiled twice.
    let build = ["build", "--workspace", "--all-features", "--example", "rtl_cases"];
    steps.cargo("cases for the cores", &build, &[]);
    let cases = steps.target().join("debug/examples/rtl_cases").display().to_string();
    let path = folder.display().to_string();
    let mut flow = |name: &str, words: &[&str]| {
        let words: Vec<&str> = ["-m", "flow"].iter().chain(words).copied().collect();
        steps.run(name, &python, &words, &[("PYTHONPATH", &path)]);
    };
    flow("lint of the cores", &["lint"]);
    flow("proofs of the cores", &["prove"]);
    flow("cores against the library", &["test", &cases]);
    flow("cores on the stream protocol", &["protocol", &cases]);
    flow("AES in two halves", &["halves"]);
    flow("a core by FuseSoC", &["fusesoc", &cases]);
    flow("a core in LiteX", &["litex", &cases]);
    flow("attacks on the cores' first faults", &["attack", "--short"]);
    flow("results of the cores", &["results"]);
}
