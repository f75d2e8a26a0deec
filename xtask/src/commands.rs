//! The commands of `cargo xtask`: their names, what the help says of them, and what they run.

use std::io;

use crate::{
    aarch64,
    background::{Apart, Beside},
    capi, circles, constant_time, crash, examples, files, fuzz, growth, lab, layers, levels, links, mutants, packages,
    python, reproducible, rtl, sanitize, sbom, sizes,
    steps::Steps,
    supply, symbols, upstream, vectors, venv,
};

/// A command that is a step of `test`, or stands by itself.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    help: &'static str,
    in_test: InTest,
    /// Whether it reads words behind its name.
    pub(crate) words: bool,
    pub(crate) run: fn(&mut Run),
}

/// When `test` runs a step. Those of which this says the same run in the order of the table.
#[derive(Clone, Copy, PartialEq)]
enum InTest {
    /// Before others: it reads sources, and says within seconds what is wrong.
    First,
    Then,
    /// Not at all: it takes long, or builds many other crates.
    No,
}

/// What steps run with.
pub(crate) struct Run {
    pub(crate) steps: Steps,
    /// Those behind the command.
    words: Vec<String>,
    /// Whether this is `test`.
    several: bool,
    /// What runs beside the steps, if there are several.
    release: Option<Beside>,
    cores: Option<io::Result<Apart>>,
}

impl Run {
    pub(crate) fn new(steps: Steps, words: &[String], several: bool) -> Run {
        Run { steps, words: words.to_vec(), several, release: None, cores: None }
    }
}

/// What runs no step: how it is called, and its help.
const OTHERS: [(&str, &str); 3] = [
    ("lab WORDS", "builds both programs, then runs `sealwright-lab WORDS` (the same as: cargo lab WORDS)"),
    (
        "install-c PREFIX",
        "builds the C library and installs it: shared, static, header, pkg-config file; the libraries in PREFIX/lib or\n\
         in `--libdir DIR`, and for a package all below $DESTDIR",
    ),
    ("test", "runs all steps below; the last line says how many passed, failed and were skipped"),
];

const BY_ITSELF: &str =
    "Not part of `test`, because they take long or build many other crates (docs/ASSURANCE.md has their last figures):";

/// In the order of the help.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        help: "formatting",
        in_test: InTest::First,
        words: false,
        run: |run| {
            // Grouping imports is an unstable option of the stable formatter.
            let imports = "imports_granularity=Crate,group_imports=StdExternalCrate";
            let words = ["fmt", "--all", "--check", "--", "--config", imports];
            run.steps.cargo("formatting", &words, &[("RUSTC_BOOTSTRAP", "1")]);
        },
    },
    Step {
        name: "supply",
        help: "licences, sources, advisories and reasons of what others wrote, and whether it is used; `--list` prints\n\
               the product's dependencies",
        in_test: InTest::Then,
        words: true,
        run: |run| run.steps.check("dependencies", |steps| supply::check(steps, &run.words)),
    },
    Step {
        name: "circles",
        help: "modules of a crate do not depend on each other in a circle",
        in_test: InTest::Then,
        words: false,
        run: |run| run.steps.check("circles between modules", circles::check),
    },
    Step {
        name: "clippy",
        help: "lints; a warning is an error",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            let words = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
            run.steps.cargo("lints", &words, &[]);
        },
    },
    Step {
        name: "layers",
        help: "no crate depends on a crate above it, and no product crate on the laboratory",
        in_test: InTest::First,
        words: false,
        run: |run| run.steps.check("layers", layers::check),
    },
    Step {
        name: "files",
        help: "no file is too long; unsafe code and instruction sets are only where they are allowed, and docs/ASSURANCE.md\n\
               says of each file why its unsafe code is sound",
        in_test: InTest::First,
        words: false,
        run: |run| run.steps.check("files", files::check),
    },
    Step {
        name: "links",
        help: "what a link of a document names within the repository is there; pages that a package has too are without links that\n\
               lead out of it there, and `links --write` writes them",
        in_test: InTest::First,
        words: true,
        run: |run| run.steps.check("links", |steps| links::check(steps, &run.words)),
    },
    Step {
        name: "examples",
        help: "whatever a user of the libraries can name has an example that runs",
        in_test: InTest::First,
        words: false,
        run: |run| run.steps.check("examples", examples::check),
    },
    Step {
        name: "fuzz",
        help: "the fuzz targets compile. `fuzz TARGET --seconds N` runs one, `fuzz all --seconds N` each in its turn after a\n\
               planted fault (`planted`) that must be found, and both add to fuzz/log.csv; `--keep` puts the inputs that reach most\n\
               into fuzz/corpus; `fuzz figures` adds up the log",
        in_test: InTest::Then,
        words: true,
        run: |run| fuzz::run(&mut run.steps, &run.words),
    },
    Step {
        name: "unit",
        help: "tests of the workspace at the best level, and doc tests",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            // Where release binaries are needed later, their build may begin now.
            run.release = run.several.then(|| Beside::begin(&run.steps));
            run.steps.cargo("tests", &["test", "--workspace", "--all-features", "--no-fail-fast"], &[]);
        },
    },
    Step {
        name: "levels",
        help: "tests of the cryptographic crates at each lower level",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            // The tests have built what the cores are compared with.
            run.cores = run.several.then(|| Apart::begin(&run.steps, "rtl"));
            levels::run(&mut run.steps);
        },
    },
    Step {
        name: "aarch64",
        help: "tests and vectors on aarch64 under emulation, and the library for WebAssembly; needs a root with Debian's\n\
               compiler, which `cargo xtask aarch64 --make-root` makes; `--loops` counts the instructions of the loops",
        in_test: InTest::Then,
        words: true,
        run: |run| aarch64::run(&mut run.steps, &run.words),
    },
    Step {
        name: "sizes",
        help: "number of crates and size of the program for each way to install; both have limits. `test` measures the program\n\
               with the default features alone",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            run.steps.check("sizes", |steps| {
                run.release.iter_mut().for_each(Beside::end);
                sizes::check(steps, run.several)
            });
        },
    },
    Step {
        name: "growth",
        help: "how much a program grows that seals with AES-256-GCM; it has a limit",
        in_test: InTest::Then,
        words: false,
        run: |run| run.steps.check("growth", growth::check),
    },
    Step {
        name: "release",
        help: "builds the release binaries",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            run.steps.cargo("release binaries", lab::BUILD, &[]);
        },
    },
    Step {
        name: "symbols",
        help: "the release binaries contain no intrinsic that was compiled as a function",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            for program in ["sealwright", "sealwright-lab"] {
                let name = format!("intrinsic symbols of {program}");
                run.steps.check(&name, |steps| symbols::check(steps, program));
            }
        },
    },
    Step {
        name: "vectors",
        help: "the release binary checks every file in vectors/ at every level",
        in_test: InTest::Then,
        words: false,
        run: |run| run.steps.check("vectors by the command line", vectors::check),
    },
    Step {
        name: "referees",
        help: "compares the release binary with implementations in Python (in .venv)",
        in_test: InTest::Then,
        words: false,
        run: |run| venv::referees(&mut run.steps),
    },
    Step {
        name: "browser",
        help: "runs every study with --quick, and tests the report in Chromium",
        in_test: InTest::Then,
        words: false,
        run: |run| venv::browser(&mut run.steps),
    },
    Step {
        name: "python",
        help: "installs the Python package and tests it, with pyca/cryptography and OpenSSL as referees (in python/.venv)",
        in_test: InTest::Then,
        words: false,
        run: |run| python::run(&mut run.steps),
    },
    Step {
        name: "capi",
        help: "links the C library; examples in C, C++, Go and Java, with sanitizers and valgrind",
        in_test: InTest::Then,
        words: false,
        run: |run| capi::run(&mut run.steps),
    },
    Step {
        name: "packages",
        help: "each crate of the product compiles from its package alone",
        in_test: InTest::Then,
        words: false,
        run: |run| run.steps.check("packages", packages::check),
    },
    Step {
        name: "mutants",
        help: "changes one file of sessions in small ways; a test must notice each. `mutants [--together] CRATE [FILE ...]\n\
               [-- WORDS OF CARGO TEST]` does so with others, or docs/MUTANTS.md says why no test can notice; `mutants all` for\n\
               each row of that document; `--together` builds one program for all changes; needs cargo-mutants, else skipped",
        in_test: InTest::Then,
        words: true,
        run: |run| run.steps.check("mutants", |steps| mutants::check(steps, &run.words)),
    },
    Step {
        name: "rtl",
        help: "lint, proofs and simulations of the hardware cores, with tools from PyPI (in rtl/.venv)",
        in_test: InTest::Then,
        words: false,
        run: |run| match run.cores.take() {
            Some(Ok(cores)) => cores.end(&mut run.steps),
            Some(Err(error)) => run.steps.fail("cores", &error.to_string()),
            None => rtl::run(&mut run.steps),
        },
    },
    Step {
        name: "constant-time",
        help: "the kernels of the release build under valgrind, which reports branches and addresses that depend on secrets;\n\
               it has to find the planted ones. `test` does so with the build for tests. Then the generated code of all levels\n\
               is searched for tables indexed by secrets, and for what leaves the vector registers",
        in_test: InTest::No,
        words: true,
        run: |run| constant_time::run(&mut run.steps, &run.words),
    },
    Step {
        name: "crash",
        help: "kills file jobs at every system call and, with `--times N`, N times each at random moments; lets calls fail and disks\n\
               be full. `test` runs it with few kills",
        in_test: InTest::No,
        words: true,
        run: |run| crash::run(&mut run.steps, &run.words),
    },
    Step {
        name: "reproducible",
        help: "builds what is distributed in two folders: `program`, `lab` (the laboratory) and `wheel` (of Python), or those\n\
               named; both must be the same, byte for byte. Words from the first option on go to cargo build",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("reproducible build", |steps| reproducible::check(steps, &run.words)),
    },
    Step {
        name: "sanitize",
        help: "tests of the kernels and of the crates that read foreign bytes (or of those named) under the address sanitizer,\n\
               which has to see planted faults first, in the kernels at each level; with SEALWRIGHT_SANITIZE=all, all tests of\n\
               the kernels. `sanitize threads` and `sanitize memory` do so under the sanitizers for data races and for\n\
               undefined memory, in a root with Debian's compiler and its sources, which `sanitize --make-root` makes",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("tests under a sanitizer", |steps| sanitize::check(steps, &run.words)),
    },
    Step {
        name: "sbom",
        help: "writes the bill of materials (CycloneDX) of the program, or of another package, to target/sbom: what cargo builds of\n\
               it. Options that select features may follow: `sbom sealwright-cli --no-default-features`",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("bill of materials", |steps| sbom::check(steps, &run.words)),
    },
    Step {
        name: "upstream",
        help: "runs the tests of RustCrypto's crates (aes, aes-gcm, ocb3, serpent, cmac, ccm, eax,\n\
               aes-siv, hpke) over our types",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("upstream tests", |steps| upstream::check(steps, &run.words)),
    },
];

/// The steps of `test`, in their order.
pub(crate) fn test() -> impl Iterator<Item = &'static Step> {
    let of = |when| STEPS.iter().filter(move |step| step.in_test == when);
    of(InTest::First).chain(of(InTest::Then))
}

/// What the help says of a command.
pub(crate) fn entry(command: &str) -> Option<String> {
    let other = OTHERS.iter().find(|(usage, _)| usage.split(' ').next() == Some(command));
    let step = || STEPS.iter().find(|step| step.name == command).map(|step| (step.name, step.help));
    let (usage, help) = other.copied().or_else(step)?;
    Some(format!("{usage:<9}  {}\n", help.replace('\n', "\n           ")))
}

pub(crate) fn help() -> String {
    let of = |command: &str| -> String {
        let entry = entry(command).unwrap_or_default();
        entry.lines().map(|line| format!("  {line}\n")).collect()
    };
    let those = |by_itself: bool| -> String {
        STEPS.iter().filter(|step| (step.in_test == InTest::No) == by_itself).map(|step| of(step.name)).collect()
    };
    let [lab, install, test] = ["lab", "install-c", "test"].map(of);
    format!("cargo xtask COMMAND\n\n{lab}\n{install}\n{test}{}\n{BY_ITSELF}\n{}", those(false), those(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_beside_others_has_begun_before_it_is_waited_for() {
        let names: Vec<&str> = test().map(|step| step.name).collect();
        let at = |name| names.iter().position(|found| *found == name);
        assert!(at("unit").is_some() && at("unit") < at("sizes"), "{names:?}");
        assert!(at("unit") < at("levels") && names.last() == Some(&"rtl"), "{names:?}");
        assert!(names.starts_with(&["fmt", "layers", "files", "links", "examples", "supply"]), "{names:?}");
        assert!(!names.contains(&"sanitize"));
    }

    #[test]
    fn a_command_has_its_part_of_the_help() {
        let fuzz = entry("fuzz").expect("a command");
        assert!(fuzz.starts_with("fuzz       the fuzz targets compile. `fuzz"), "{fuzz}");
        assert!(fuzz.contains("--seconds N") && fuzz.contains("\n           planted fault"), "{fuzz}");
        assert!(entry("install-c").is_some_and(|entry| entry.starts_with("install-c PREFIX  builds")));
        assert!(help().contains("\n  constant-time  the kernels"));
        assert_eq!(entry("another"), None);
    }
}
