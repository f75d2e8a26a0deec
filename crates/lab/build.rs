//! Notes the commit, so that results can carry it.

use std::process::Command;

fn main() {
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_default();
    println!("cargo::rustc-env=SEALWRIGHT_COMMIT={commit}{}", if changed && !commit.is_empty() { "+" } else { "" });
    println!("cargo::rerun-if-changed=build.rs");
    // Every commit is noted there
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The first line that git prints, if it succeeds: a source package has no repository.
fn git(words: &[&str]) -> Option<String> {
    let out = Command::new("git").arg("--no-optional-locks").args(words).output().ok()?;
    let text = out.status.success().then(|| String::from_utf8(out.stdout).ok()).flatten()?;
    Some(text.lines().next().unwrap_or_default().trim().to_owned())
}
