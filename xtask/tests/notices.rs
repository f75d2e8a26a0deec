//! The licence texts of what users install are those of all its crates.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, fs, process::Command};

/// What the command printed, and whether it was content.
fn said(words: &[&str]) -> (String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(words).output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

#[test]
fn every_dependency_has_its_text() {
    let folder = std::env::temp_dir().join(format!("sealwright-texts-{}", std::process::id()));
    let (mut found, mut headed) = (BTreeSet::new(), BTreeSet::new());
    for package in ["sealwright-cli", "sealwright-capi", "sealwright-python"] {
        let path = folder.join(package);
        let (text, content) = said(&["notices", package, "--all-features", "-o", path.to_str().unwrap()]);
        assert!(content, "{text}");
        let text = fs::read_to_string(path).unwrap();
        assert!(
            text.contains("Permission is hereby granted") && text.contains("\nthe Rust standard library\n"),
            "{package}"
        );
        let (list, texts) = text.split_once("\n====").unwrap();
        let names = |line: &str| line.split(' ').next().unwrap().to_owned();
        found.extend(list.lines().filter_map(|line| line.strip_prefix("* ")).map(names));
        headed.extend(texts.lines().map(names));
    }
    fs::remove_dir_all(folder).unwrap();
    assert!(found.is_subset(&headed), "{:?}", found.difference(&headed));
    // | crate | licence | in | why |
    // It prints them even where it has found something wrong.
    let (table, _) = said(&["supply", "--list"]);
    let rows =
        table.lines().filter_map(|line| line.strip_prefix("| `")).map(|row| row.split(" | ").collect::<Vec<_>>());
    let installed = rows.filter(|row| row[2].split(", ").any(|user| ["cli", "capi", "python"].contains(&user)));
    let wanted: BTreeSet<String> = installed.map(|row| row[0].trim_end_matches('`').to_owned()).collect();
    assert!(["clap", "pyo3", "zeroize"].iter().all(|name| wanted.contains(*name)), "{wanted:?}");
    assert!(wanted.is_subset(&found), "{:?}", wanted.difference(&found));
}
