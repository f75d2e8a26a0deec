//! Notes the commit, and whether the program was built from it as it is, so that results can carry it.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

/// What a build depends on beside the packages.
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
    // A change of these makes Cargo build the program anyway.
    for part in &parts {
        println!("cargo::rerun-if-changed=../../{part}");
    }
    // Every commit is noted there
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The files and folders of the repository that the program is made of: its own packages, by the lock file, and [`BESIDE`].
fn parts() -> Vec<String> {
    let lock = fs::read_to_string("../../Cargo.lock").unwrap_or_default();
    // Packages of the repository have no source.
    let own: Vec<&str> = lock.split("[[package]]").filter(|package| !package.contains("\nsource = ")).collect();
    let named = |name: &str| own.iter().find(|package| package.contains(&format!("\nname = \"{name}\"\n")));
    let (mut all, mut next) = (BTreeSet::new(), vec!["sealwright-lab"]);
    while let Some(name) = next.pop() {
        let Some(package) = named(name).filter(|_| all.insert(name)) else { continue };
        // A dependency is a line in quotation marks: the name, and the version where there are several.
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

/// What a package is compiled of: all of its folder but tests and examples.
fn within(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new("../..").join(folder)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let compiled = names.filter(|name| !["tests", "examples", "benches"].contains(&&name[..]));
    let mut parts: Vec<String> = compiled.map(|name| format!("{folder}/{name}")).collect();
    parts.sort();
    parts
}

/// The first line that git prints, if it succeeds: a source package has no repository.
fn git(words: &[&str]) -> Option<String> {
    let out = Command::new("git").arg("--no-optional-locks").args(words).output().ok()?;
    let text = out.status.success().then(|| String::from_utf8(out.stdout).ok()).flatten()?;
    Some(text.lines().next().unwrap_or_default().trim().to_owned())
}
