//! Runs every example of every help page.

use std::path::Path;

use sealwright_study::{bench, results::keep_bench};
use sealwright_transcripts::{Examples, Sandbox};

const NOT_RUN: &[(&str, &str)] = &[
    ("sealwright-lab study all", "takes four minutes; the browser test of `cargo xtask` runs it"),
    ("sealwright-lab report --check", "needs the results of a study; the browser test of `cargo xtask` runs it"),
    ("sealwright-lab measure aa", "fails on a busy machine, as it should; `crates/measure` tests it in small"),
    ("sealwright-lab smp trace", "needs a trace; crates/lab/tests/cmd/smp-tools.transcript makes one"),
    ("sealwright-lab smp record", "needs QEMU, and a program with threads; tests/record.rs of crates/smp runs one"),
];

/// Makes two folders with the results of a minimal bench, so that there is something to report and to compare.
fn results(sandbox: &Sandbox) {
    let nothing = bench::Options { bytes: vec![], ..bench::Options::default() };
    let report = bench::run(&nothing, &mut |_| {}).expect("nothing is measured");
    for folder in ["results", "results-before"] {
        keep_bench(&report, &sandbox.path(folder)).expect("the folder is writable");
    }
}

#[test]
fn every_example_of_every_help_page_works() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    Examples { program: "sealwright-lab", prepared: &[], prepare: results, not_run: NOT_RUN, at_least: 8 }
        .check(&vectors);
}
