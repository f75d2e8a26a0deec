//! The commands of `cargo xtask`: their names, their help, and what they run.

use std::io;

use crate::{
    aarch64,
    background::{Apart, Beside},
    capi, constant_time, crash, cycles, examples, files, fuzz, growth, lab, layers, levels, links, long, mutants,
    notices, packages, python, reproducible, rtl, sanitize, sbom, sizes,
    steps::Steps,
    supply, symbols, upstream, vectors, venv,
};

/// A command: a step of `test`, or a command that `test` does not run.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    help: &'static str,
    in_test: InTest,
    /// Whether it takes arguments.
    pub(crate) words: bool,
    pub(crate) run: fn(&mut Run),
}

/// When `test` runs a step. Steps with the same value run in the order of the table.
#[derive(Clone, Copy, PartialEq)]
enum InTest {
    /// Before the others: it only reads sources, and takes seconds.
    First,
    Then,
    /// Never: it takes long, or builds many other crates.
    No,
}

/// The state of a run of one or more steps.
pub(crate) struct Run {
    pub(crate) steps: Steps,
    /// The arguments of the command.
    words: Vec<String>,
    /// Whether this is `test`.
    several: bool,
    /// Jobs that run beside the steps of `test`.
    release: Option<Beside>,
    cores: Option<io::Result<Apart>>,
}

impl Run {
    pub(crate) fn new(steps: Steps, words: &[String], several: bool) -> Run {
        Run { steps, words: words.to_vec(), several, release: None, cores: None }
    }
}

/// The commands that are no step: usage and help.
const OTHERS: [(&str, &str); 3] = [
    ("lab WORDS", "builds both programs, then runs `sealwright-lab WORDS` (the same as: cargo lab WORDS)"),
    (
        "install-c PREFIX",
        "builds and installs the C library: shared and static library, header, pkg-config file, licences. Libraries go\n\
         to PREFIX/lib or to `--libdir DIR`; for a package, set $DESTDIR, and all goes below it. `--target TRIPLE`\n\
         builds for another system, `--strip` without symbols for debuggers; $CC, $CFLAGS, $LDFLAGS, $AR and $OBJCOPY\n\
         count as with make",
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
        help: "dependencies: licences, sources, security advisories, a stated reason for each, and whether each is\n\
               used; `--list` prints those of the product",
        in_test: InTest::Then,
        words: true,
        run: |run| run.steps.check("dependencies", |steps| supply::check(steps, &run.words)),
    },
    Step {
        name: "cycles",
        help: "the modules of a crate do not depend on each other in a cycle",
        in_test: InTest::Then,
        words: false,
        run: |run| run.steps.check("dependency cycles", cycles::check),
    },
    Step {
        name: "clippy",
        help: "lints; a warning is an error",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            let words = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
            run.steps.cargo("lints", &words, &[]);
            // What users install has fewer features, and may leave code without a use.
            let words =
                ["clippy", "--package", "sealwright-cli", "--package", "sealwright-relay", "--", "-D", "warnings"];
            run.steps.cargo("lints with the default features", &words, &[]);
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
        help: "no file is too long; unsafe code and instruction sets are only where they are allowed, and\n\
               docs/ASSURANCE.md says why the unsafe code of each file is sound",
        in_test: InTest::First,
        words: false,
        run: |run| run.steps.check("files", files::check),
    },
    Step {
        name: "links",
        help: "links in documents to files and headings of the repository are valid. Copies of pages in a package\n\
               have no links out of the package: `links --write` writes these copies",
        in_test: InTest::First,
        words: true,
        run: |run| run.steps.check("links", |steps| links::check(steps, &run.words)),
    },
    Step {
        name: "examples",
        help: "every public item of the libraries has an example that runs",
        in_test: InTest::First,
        words: false,
        run: |run| run.steps.check("examples", examples::check),
    },
    Step {
        name: "fuzz",
        help: "the fuzz targets compile. `fuzz TARGET --seconds N` runs one; `fuzz all --seconds N` runs all, after a\n\
               planted fault (`planted`), which must be found. Both add to fuzz/log.csv. `--keep` updates fuzz/corpus\n\
               with a minimal set of inputs that keeps the coverage; `fuzz figures` sums up the log",
        in_test: InTest::Then,
        words: true,
        run: |run| fuzz::run(&mut run.steps, &run.words),
    },
    Step {
        name: "unit",
        help: "tests of the workspace at the best instruction-set level, and doc tests",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            // If release binaries are needed later, their build begins now.
            run.release = run.several.then(|| Beside::begin(&run.steps));
            run.steps.cargo("tests", &["test", "--workspace", "--all-features", "--no-fail-fast"], &[]);
        },
    },
    Step {
        name: "python",
        help: "installs the Python package and tests it, with pyca/cryptography and OpenSSL as referees (in python/.venv)",
        in_test: InTest::Then,
        words: false,
        run: |run| python::run(&mut run.steps),
    },
    Step {
        name: "levels",
        help: "tests of the cryptographic crates at each lower instruction-set level",
        in_test: InTest::Then,
        words: false,
        run: |run| {
            // The tests have built the generator of the cases with which the cores are compared, and the Python package,
            // their golden model, is installed.
            run.cores = run.several.then(|| Apart::begin(&run.steps, "rtl"));
            levels::run(&mut run.steps);
        },
    },
    Step {
        name: "aarch64",
        help: "tests and vectors on aarch64 under emulation, and the library for WebAssembly. Needs a root folder\n\
               with Debian's compiler, which `aarch64 --make-root` makes; `--loops` counts the instructions in the\n\
               inner loops of AES",
        in_test: InTest::Then,
        words: true,
        run: |run| aarch64::run(&mut run.steps, &run.words),
    },
    Step {
        name: "sizes",
        help: "number of crates and size of the program for each way to install; both have limits. `test` measures\n\
               only the program with the default features",
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
        help: "by how much a program grows if it seals with AES-256-GCM; it has a limit",
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
        help: "no intrinsic was compiled to a function in the release binaries",
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
        help: "the release binary checks every file in vectors/ at every instruction-set level",
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
        name: "capi",
        help: "builds the C library, and runs examples in C, C++, Go and Java, with sanitizers and valgrind",
        in_test: InTest::Then,
        words: false,
        run: |run| capi::run(&mut run.steps),
    },
    Step {
        name: "packages",
        help: "each crate of the product compiles from its package, without the repository",
        in_test: InTest::Then,
        words: false,
        run: |run| run.steps.check("packages", packages::check),
    },
    Step {
        name: "mutants",
        help: "mutation tests of one file of the crate for sessions: each small change must make a test fail, unless\n\
               docs/MUTANTS.md says why none can. `mutants [--together] CRATE [FILE ...] [-- ARGUMENTS OF CARGO\n\
               TEST]` takes other files, and `mutants all` each row of that document; `--together` builds one program\n\
               for all changes. Skipped without cargo-mutants",
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
        help: "the kernels of the release build under valgrind, which reports branches and addresses that depend on\n\
               secrets, and must report planted ones (`test` does this with the build for tests). Then the generated\n\
               code of all levels is searched for tables indexed by secrets, and for uses of values that leave the\n\
               vector registers",
        in_test: InTest::No,
        words: true,
        run: |run| constant_time::run(&mut run.steps, &run.words),
    },
    Step {
        name: "crash",
        help: "kills file operations at every system call and, with `--times N`, N times each at random moments; also\n\
               makes system calls fail and disks full. `test` runs it with few kills",
        in_test: InTest::No,
        words: true,
        run: |run| crash::run(&mut run.steps, &run.words),
    },
    Step {
        name: "long",
        help: "tests that take minutes: every attack at full size, and a million messages of XAES-256-GCM",
        in_test: InTest::No,
        words: false,
        run: |run| long::run(&mut run.steps),
    },
    Step {
        name: "reproducible",
        help: "builds `program`, `lab` (the laboratory), `capi` (the C library) and `wheel` (of Python), or those that\n\
               are named, in two folders; both builds must be the same, byte for byte. Arguments from the first option\n\
               on go to cargo build",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("reproducible build", |steps| reproducible::check(steps, &run.words)),
    },
    Step {
        name: "sanitize",
        help: "tests of the kernels and of the crates that read untrusted input (or of those named) under the address\n\
               sanitizer, which must first report\n\
               planted faults, in the kernels at each level; with SEALWRIGHT_SANITIZE=all, all tests of the kernels.\n\
               `sanitize threads` and `sanitize memory` use the sanitizers for data races and for uninitialized\n\
               memory, in a root folder with Debian's compiler and its sources, which `sanitize --make-root` makes",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("tests under a sanitizer", |steps| sanitize::check(steps, &run.words)),
    },
    Step {
        name: "sbom",
        help: "writes the bill of materials (CycloneDX) of the program, or of another package, to target/sbom: the\n\
               crates that cargo builds for it. Options may select features: `sbom sealwright-cli\n\
               --no-default-features`",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("bill of materials", |steps| sbom::check(steps, &run.words)),
    },
    Step {
        name: "notices",
        help: "writes the licence texts of all crates of others in the program, or in another package, to target/notices\n\
               or to `-o FILE`; takes the options of `sbom`",
        in_test: InTest::No,
        words: true,
        run: |run| run.steps.check("licence texts", |steps| notices::check(steps, &run.words)),
    },
    Step {
        name: "upstream",
        help: "runs the tests of RustCrypto's crates (aes, aes-gcm, ocb3, serpent, cmac, ccm, eax,\n\
               aes-siv, hpke) with our types",
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

/// The help of a command.
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
#[path = "commands_tests.rs"]
mod tests;
