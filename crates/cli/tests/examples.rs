//! Every example of every help page does what it says: it is run, in order, on a desk laid for its page.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{Desk, have, terminal};
use sealwright_study::{bench, results::keep_bench};

/// What lies on the desk of a page before its examples, beside `letter.txt`, `photos`, `secret`, `my.key` and `vectors`.
const LAID: &[(&str, &str)] = &[
    ("", "rm my.key"),
    ("key new", "rm my.key"),
    (
        "open",
        "sealwright seal -q --key-file my.key --remove letter.txt; sealwright seal -q --key-file my.key -r photos -C sealed; tar -c photos | sealwright seal --key-file my.key -o photos.tar.seal",
    ),
    ("inspect", "sealwright seal -q --key-file my.key letter.txt"),
];

/// Examples that are not run, by how they begin, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("sealwright study all", "takes two minutes; the browser test of `cargo xtask` runs it"),
    ("sealwright serve trial", "a server; tests/relay.rs runs it"),
    ("sealwright client", "needs that server; tests/relay.rs runs it"),
    ("sealwright smp record", "needs QEMU, and a program with threads; tests/record.rs of crates/smp runs one"),
    ("sealwright seal --passphrase letter.txt", "asks on a terminal; tests/cmd/passphrase.transcript has what it says"),
];

#[test]
fn every_example_of_every_help_page_works() {
    let (mut run, mut skipped) = (0, 0);
    for page in pages("") {
        let help = help(&page);
        let (_, examples) = help.split_once("Example:\n").unwrap_or_else(|| panic!("`{page}` has no example\n{help}"));
        let desk = desk(&page);
        for line in examples.lines().map_while(|line| line.strip_prefix("    ")) {
            if let Some((_, why)) = NOT_RUN.iter().find(|(begin, _)| line.starts_with(begin)) {
                eprintln!("skipped: {line}: {why}");
                skipped += 1;
            } else if !have(line.split_whitespace().next().unwrap().replace("sealwright", "sh").as_str()) {
                skipped += 1;
            } else {
                let (said, code) = terminal::shell(line, &desk.path(""));
                assert_eq!(code, 0, "the help of `sealwright {page}` says: {line}\n{said}");
                run += 1;
            }
        }
    }
    eprintln!("{run} examples run, {skipped} skipped");
    assert!(run >= 15, "{run} examples");
}

/// Every page that shows options of its own, as the words of its verb.
fn pages(verb: &str) -> Vec<String> {
    let help = help(verb);
    let Some((_, commands)) = help.split_once("\nCommands:\n") else { return vec![verb.to_owned()] };
    let verbs =
        commands.lines().take_while(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next());
    let inner = verbs.filter(|verb| *verb != "help").flat_map(|inner| pages(format!("{verb} {inner}").trim()));
    // What only gathers verbs has no example but theirs
    let own = verb.is_empty().then(String::new);
    own.into_iter().chain(inner).collect()
}

fn help(verb: &str) -> String {
    let (said, code) = terminal::shell(&format!("sealwright {verb} --help"), Path::new("/"));
    assert_eq!(code, 0, "{said}");
    said
}

fn desk(page: &str) -> Desk {
    let desk = Desk::new();
    desk.ok("key new -o my.key");
    desk.write("letter.txt", "Dear reader,\n");
    desk.write("secret", "a passphrase\n");
    desk.write("photos/1", common::text(3000));
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    std::os::unix::fs::symlink(vectors, desk.path("vectors")).unwrap();
    let nothing = bench::Options { bytes: vec![], ..bench::Options::default() };
    for folder in ["results", "results-before"] {
        keep_bench(&bench::run(&nothing, &mut |_| {}).unwrap(), &desk.path(folder)).unwrap();
    }
    if let Some((_, script)) = LAID.iter().find(|(laid, _)| *laid == page) {
        let (said, code) = terminal::shell(script, &desk.path(""));
        assert_eq!(code, 0, "{said}");
    }
    desk
}
