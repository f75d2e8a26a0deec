//! All automation of the workspace: `cargo xtask test`, and the checks it consists of.

mod aarch64;
mod advisories;
mod beside;
mod built;
mod capi;
mod circles;
mod compared;
mod constant_time;
mod crash;
mod debian;
mod disassembly;
mod examples;
mod files;
mod fuzz;
mod fuzz_keep;
mod fuzz_log;
mod generated;
mod growth;
mod instrument;
mod java;
mod lab;
mod layers;
mod levels;
mod licence;
mod links;
mod loops;
mod mutants;
mod nginx;
mod packages;
mod programs;
mod provider;
mod python;
mod reproducible;
mod rtl;
mod sanitize;
mod sanitize_std;
mod sbom;
mod sizes;
mod steps;
mod supply;
mod symbols;
mod tables;
mod taint;
mod told;
mod unsafe_table;
mod upstream;
mod vectors;
mod venv;

use std::{env, path::PathBuf, process::ExitCode};

use beside::{Apart, Beside};
use steps::Steps;

const HELP: &str = "\
cargo xtask COMMAND

  lab WORDS  builds both programs, then runs `sealwright-lab WORDS` (the same as: cargo lab WORDS)

  install-c PREFIX  builds the C library and installs it: shared, static, header, pkg-config file

  test       runs all steps below; the last line says how many passed, failed and were skipped
  fmt        formatting
  supply     licences, sources, advisories and reasons of what others wrote; `--list` prints the product's dependencies
  circles    modules of a crate do not depend on each other in a circle
  clippy     lints; a warning is an error
  layers     no crate depends on a crate above it, and no product crate on the laboratory
  files      no file is too long; unsafe code and instruction sets are only where they are allowed, and docs/ASSURANCE.md
             says of each file why its unsafe code is sound
  links      what a link of a document names within the repository is there; pages that a package has too are without links that
             lead out of it there, and `links --write` writes them
  examples   whatever a user of the libraries can name has an example that runs
  fuzz       the fuzz targets compile. `fuzz TARGET --seconds N` runs one, `fuzz all --seconds N` each in its turn after a
             planted fault (`planted`) that must be found, and both add to fuzz/log.csv; `--keep` puts the inputs that reach most
             into fuzz/corpus; `fuzz figures` adds up the log
  unit       tests of the workspace at the best level, and doc tests
  levels     tests of the cryptographic crates at each lower level
  aarch64    tests and vectors on aarch64 under emulation, and the library for WebAssembly; needs a root with Debian's
             compiler, which `cargo xtask aarch64 --make-root` makes; `--loops` counts the instructions of the loops
  sizes      number of crates and size of the program for each way to install; both have limits. `test` measures the program
             with the default features alone
  growth     how much a program grows that seals with AES-256-GCM; it has a limit
  release    builds the release binaries
  symbols    the release binaries contain no intrinsic that was compiled as a function
  vectors    the release binary checks every file in vectors/ at every level
  referees   compares the release binary with implementations in Python (in .venv)
  browser    runs every study with --quick, and tests the report in Chromium
  python     installs the Python package and tests it, with pyca/cryptography and OpenSSL as referees (in python/.venv)
  capi       links the C library; examples in C, C++, Go and Java, with sanitizers and valgrind
  rtl        lint, proofs and simulations of the hardware cores, with tools from PyPI (in rtl/.venv)
  packages   each crate of the product compiles from its package alone
  mutants    changes one file of sessions in small ways; a test must notice each. `mutants [--together] CRATE [FILE ...]
             [-- WORDS OF CARGO TEST]` does so with others, or docs/MUTANTS.md says why no test can notice; `mutants all` for
             each row of that document; `--together` builds one program for all changes; needs cargo-mutants, else skipped

Not part of `test`, because they take long or build many other crates (docs/ASSURANCE.md has their last figures):
  constant-time  the kernels of the release build under valgrind, which reports branches and addresses that depend on secrets;
             it has to find the planted ones. `test` does so with the build for tests. Then the generated code of all levels
             is searched for tables indexed by secrets, and for what leaves the vector registers
  crash      kills file jobs at every system call and, with `--times N`, N times each at random moments; lets calls fail and disks
             be full. `test` runs it with few kills
  reproducible  builds what is distributed in two folders: `program`, `lab` (the laboratory) and `wheel` (of Python), or those
             named; both must be the same, byte for byte. Words from the first option on go to cargo build
  sanitize   tests of the kernels and of the crates that read foreign bytes (or of those named) under the address sanitizer,
             which has to see planted faults first, in the kernels at each level; with SEALWRIGHT_SANITIZE=all, all tests of
             the kernels. `sanitize threads` and `sanitize memory` do so under the sanitizers for data races and for
             undefined memory, in a root with Debian's compiler and its sources, which `sanitize --make-root` makes
  sbom       writes the bill of materials (CycloneDX) of the program, or of another package, to target/sbom: what cargo builds of
             it. Options that select features may follow: `sbom sealwright-cli --no-default-features`
  upstream   runs the tests of RustCrypto's crates (aes, aes-gcm, ocb3, serpent, cmac, ccm, eax,
             aes-siv, hpke) over our types
";

/// What is not part of `test`.
const BY_ITSELF: [&str; 6] = ["constant-time", "crash", "reproducible", "sanitize", "sbom", "upstream"];

/// What reads words behind its name; the others take none.
const WITH_WORDS: [&str; 11] = [
    "aarch64",
    "constant-time",
    "crash",
    "fuzz",
    "links",
    "mutants",
    "reproducible",
    "sanitize",
    "sbom",
    "supply",
    "upstream",
];

/// The workspace's root.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

/// The steps of `test`, in their order.
const TEST: [&str; 24] = [
    "fmt", "layers", "files", "links", "examples", "supply", "circles", "clippy", "fuzz", "unit", "levels", "aarch64",
    "sizes", "growth", "release", "symbols", "vectors", "referees", "browser", "python", "capi", "rtl", "packages",
    "mutants",
];

/// What the help says of a command: its line, and the deeper ones behind it.
fn entry(command: &str) -> Option<String> {
    let is_of = |line: &&str| line.strip_prefix("  ").and_then(|line| line.split(' ').next()) == Some(command);
    let mut lines = HELP.lines().skip_while(|line| !is_of(line));
    let first = lines.next()?;
    let more = lines.take_while(|line| line.starts_with("   "));
    Some([first].into_iter().chain(more).map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect())
}

fn main() -> ExitCode {
    if let Some(code) = circles::wrapper().or_else(instrument::wrapper) {
        return code;
    }
    let words: Vec<String> = env::args().skip(1).collect();
    // `lab` has a help of its own.
    if let Some((command, rest)) = words.split_first()
        && command != "lab"
        && rest.iter().take_while(|word| *word != "--").any(|word| ["-h", "--help"].contains(&word.as_str()))
        && let Some(entry) = entry(command)
    {
        print!("{entry}");
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&str> = match words.first().map(String::as_str) {
        Some("lab" | "install-c") => Vec::new(),
        Some("test") => TEST.to_vec(),
        Some(one) if TEST.contains(&one) || BY_ITSELF.contains(&one) => vec![one],
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        None => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
        Some(other) => {
            eprintln!("cargo xtask {other}: there is no such command\nhint: cargo xtask help");
            return ExitCode::from(2);
        }
    };
    if let [command, word, ..] = &words[..]
        && !wanted.is_empty()
        && !WITH_WORDS.contains(&command.as_str())
    {
        eprintln!("cargo xtask {command}: {word}: it takes no words\nhint: cargo xtask {command}");
        return ExitCode::from(2);
    }
    if let Err(why) = told::settle(&root()) {
        eprintln!("cargo xtask: {why}");
        return ExitCode::FAILURE;
    }
    let mut steps = Steps::new(root());
    match words.first().map(String::as_str) {
        Some("lab") => return lab::run(&steps, &words[1..]),
        Some("install-c") => return capi::install_command(&steps, &words[1..]),
        _ => {}
    }
    let rest = if wanted.len() == 1 { &words[1..] } else { &[] };
    let (several, mut beside, mut cores) = (wanted.len() > 1, None, None);
    for step in wanted {
        match step {
            "fmt" => {
                // Grouping imports is an unstable option of the stable formatter.
                let imports = "imports_granularity=Crate,group_imports=StdExternalCrate";
                let words = ["fmt", "--all", "--check", "--", "--config", imports];
                steps.cargo("formatting", &words, &[("RUSTC_BOOTSTRAP", "1")]);
            }
            "layers" => steps.check("layers", layers::check),
            "files" => steps.check("files", files::check),
            "links" => steps.check("links", |steps| links::check(steps, rest)),
            "examples" => steps.check("examples", examples::check),
            "circles" => steps.check("circles between modules", circles::check),
            "clippy" => {
                let words = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
                steps.cargo("lints", &words, &[]);
            }
            "fuzz" => fuzz::run(&mut steps, rest),
            "unit" => {
                // Where release binaries are needed later, their build may begin now.
                beside = several.then(|| Beside::begin(&steps));
                steps.cargo("tests", &["test", "--workspace", "--all-features", "--no-fail-fast"], &[]);
            }
            "levels" => {
                // The tests have built what the cores are compared with.
                cores = several.then(|| Apart::begin(&steps, "rtl"));
                levels::run(&mut steps);
            }
            "upstream" => steps.check("upstream tests", |steps| upstream::check(steps, rest)),
            "supply" => steps.check("dependencies", |steps| supply::check(steps, rest)),
            "sanitize" => steps.check("tests under a sanitizer", |steps| sanitize::check(steps, rest)),
            "sbom" => steps.check("bill of materials", |steps| sbom::check(steps, rest)),
            "constant-time" => constant_time::run(&mut steps, rest),
            "crash" => crash::run(&mut steps, rest),
            "mutants" => steps.check("mutants", |steps| mutants::check(steps, rest)),
            "reproducible" => steps.check("reproducible build", |steps| reproducible::check(steps, rest)),
            "aarch64" => aarch64::run(&mut steps, rest),
            "release" => {
                steps.cargo("release binaries", lab::BUILD, &[]);
            }
            "symbols" => {
                for program in ["sealwright", "sealwright-lab"] {
                    steps.check(&format!("intrinsic symbols of {program}"), |steps| symbols::check(steps, program));
                }
            }
            "sizes" => steps.check("sizes", |steps| {
                beside.iter_mut().for_each(Beside::end);
                sizes::check(steps, several)
            }),
            "growth" => steps.check("growth", growth::check),
            "packages" => steps.check("packages", packages::check),
            "vectors" => steps.check("vectors by the command line", vectors::check),
            "referees" => venv::referees(&mut steps),
            "browser" => venv::browser(&mut steps),
            "python" => python::run(&mut steps),
            "capi" => capi::run(&mut steps),
            _ => match cores.take() {
                Some(Ok(cores)) => cores.end(&mut steps),
                Some(Err(error)) => steps.fail("cores", &error.to_string()),
                None => rtl::run(&mut steps),
            },
        }
    }
    steps.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_read_words_are_commands() {
        let stray: Vec<_> =
            WITH_WORDS.iter().filter(|word| !TEST.contains(word) && !BY_ITSELF.contains(word)).collect();
        assert_eq!(stray, Vec::<&&str>::new());
        // Those that are not part of `test` have been made for somebody who says what they shall do.
        assert!(BY_ITSELF.iter().all(|word| WITH_WORDS.contains(word)));
    }

    #[test]
    fn the_help_has_every_command() {
        for command in TEST.iter().chain(&BY_ITSELF).chain(&["test", "lab", "install-c"]) {
            let entry = entry(command).unwrap_or_else(|| panic!("{command} is not there"));
            assert!(entry.starts_with(command) && entry.len() > command.len() + 10, "{entry}");
        }
        assert!(entry("fuzz").is_some_and(|entry| entry.contains("--seconds N")));
        assert_eq!(entry("another"), None);
    }
}
