//! Passes the commit to the program, with a `+` if its sources differ from that commit, so that results can record it.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

/// What a build depends on besides its packages.
const BESIDE: [&str; 3] = ["Cargo.toml", "Cargo.lock", ".cargo"];

fn main() {
    let parts = parts();
    let mut status = vec!["-C", "../..", "status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(parts.iter().map(String::as_str));
    let changed = git(&status).is_some_and(|text| !text.is_empty());
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_default();
    println!("cargo::rustc-env=SEALWRIGHT_COMMIT={commit}{}", if changed && !commit.is_empty() { "+" } else { "" });
    println!("cargo::rustc-env=SEALWRIGHT_PARTS={}", parts.join(" "));
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo rebuilds the program anyway when one of these changes
    for part in &parts {
        println!("cargo::rerun-if-changed=../../{part}");
    }
    // Git appends to this log with every commit
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The files and folders of the repository that the program is built from: its own packages according to the lock
/// file, and [`BESIDE`].
fn parts() -> Vec<String> {
    let lock = fs::read_to_string("../../Cargo.lock").unwrap_or_default();
    // Packages of this repository have no `source` line
    let own: Vec<&str> = lock.split("[[package]]").filter(|package| !package.contains("\nsource = ")).collect();
    let named = |name: &str| own.iter().find(|package| package.contains(&format!("\nname = \"{name}\"\n")));
    let (mut all, mut next) = (BTreeSet::new(), vec!["sealwright-lab"]);
    while let Some(name) = next.pop() {
        let Some(package) = named(name).filter(|_| all.insert(name)) else { continue };
        // A dependency is a line with a quoted name, followed by the version if there are several versions
        let names = package.lines().filter_map(|line| line.strip_prefix(" \"")?.split(['"', ' ']).next());
        next.extend(names.filter(|name| name.starts_with("sealwright")));
    }
    let folders = all.into_iter().map(|name| match name {
        "sealwright" => "crates/aead".to_owned(),
        "sealwright-core-results" => "rtl/results".to_owned(),
        name => format!("crates/{}", name.trim_start_matches("sealwright-")),
    });
    let parts = folders.flat_map(|folder| within(&folder)).chain(BESIDE.map(str::to_owned));
    parts.filter(|part| Path::new("../..").join(part).exists()).collect()
}

/// The files and subfolders of a package that are compiled: all but tests, examples and benches.
fn within(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new("../..").join(folder)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let compiled = names.filter(|name| !["tests", "examples", "benches"].contains(&&name[..]));
    let mut parts: Vec<String> = compiled.map(|name| format!("{folder}/{name}")).collect();
    parts.sort();
    parts
}

/// The first line of git's output, or `None` if git fails, for instance in a source package without a repository.
fn git(words: &[&str]) -> Option<String> {
    let out = Command::new("git").arg("--no-optional-locks").args(words).output().ok()?;
    let text = out.status.success().then(|| String::from_utf8(out.stdout).ok()).flatten()?;
    Some(text.lines().next().unwrap_or_default().trim().to_owned())
}
