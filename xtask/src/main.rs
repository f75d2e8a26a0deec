//! The only automation language: `cargo xtask test` and the checks it is made of.

mod house;
mod levels;
mod rtl;
mod steps;
mod storeys;
mod symbols;
mod venv;

use std::{env, path::PathBuf, process::ExitCode};

use steps::Steps;

const HELP: &str = "\
cargo xtask COMMAND

  test       everything below, in order, and a closing line `N passed, N failed, N skipped` of steps
  fmt        formatting
  clippy     lints, warnings denied
  storeys    doors between rooms open only downward
  house      file lengths; where unsafe and instruction sets may stand
  fuzz       the fuzz targets still compile (to run one: cargo +nightly fuzz run TARGET)
  unit       tests of the workspace at the best level, and doc tests
  levels     tests of the cryptographic rooms at each lower level
  release    the release binary
  symbols    no intrinsic was left as a function in the release binary
  vectors    the release binary checks every file of vectors/ at every level
  referees   Python referees against the release binary, in a venv of this repository
  browser    every study quickly, and its report in Chromium
  rtl        lint, proofs and simulations of the cores, with tools from PyPI in a venv of rtl/
";

/// The workspace's root.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let all = [
        "fmt", "storeys", "house", "clippy", "fuzz", "unit", "levels", "release", "symbols", "vectors", "referees",
        "browser", "rtl",
    ];
    let wanted: Vec<&str> = match words.first().map(String::as_str) {
        Some("test") => all.to_vec(),
        Some(one) if all.contains(&one) => vec![one],
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    let mut steps = Steps::new(root());
    for step in wanted {
        match step {
            "fmt" => {
                // Grouping imports is an unstable option of the stable formatter.
                let imports = "imports_granularity=Crate,group_imports=StdExternalCrate";
                let words = ["fmt", "--all", "--check", "--", "--config", imports];
                steps.cargo("formatting", &words, &[("RUSTC_BOOTSTRAP", "1")]);
            }
            "storeys" => steps.check("storeys", storeys::check),
            "house" => steps.check("house", house::check),
            "clippy" => {
                let words = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
                steps.cargo("lints", &words, &[]);
            }
            "fuzz" => {
                // A check links nothing: libFuzzer, which wants a C++ compiler, need not be there.
                let words = ["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz", "--locked"];
                steps.cargo("fuzz targets", &words, &[("CUSTOM_LIBFUZZER_PATH", "/none/libfuzzer.a")]);
            }
            "unit" => {
                steps.cargo("tests", &["test", "--workspace", "--all-features"], &[]);
            }
            "levels" => levels::run(&mut steps),
            "release" => {
                steps.cargo("release binary", &["build", "--release", "--package", "sealwright-cli"], &[]);
            }
            "symbols" => steps.check("intrinsic symbols", symbols::check),
            "vectors" => vectors(&mut steps),
            "referees" => venv::referees(&mut steps),
            "browser" => venv::browser(&mut steps),
            _ => rtl::run(&mut steps),
        }
    }
    steps.close()
}

/// `sealwright vectors check` over our own vectors.
fn vectors(steps: &mut Steps) {
    let Ok(files) = std::fs::read_dir(steps.root().join("vectors")) else {
        return steps.fail("vectors", "there is no vectors/");
    };
    let files: Vec<String> = files.flatten().map(|file| file.path().display().to_string()).collect();
    let mut words = vec!["vectors", "check", "--isa", "all"];
    words.extend(files.iter().map(String::as_str));
    let binary = steps.binary();
    steps.run("vectors by the command line", &binary, &words, &[]);
}
