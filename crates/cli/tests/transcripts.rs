//! Runs the terminal transcripts in `tests/cmd`: what a user types and what the terminal says, checked word by word.
//!
//! A transcript is what one sees on the terminal: `$ ` starts a command for the shell, the lines below it are
//! everything it printed (standard output and error together), `? N` is its exit code where that is not 0, and
//! `# ` starts a comment (no output line may). `[..]` stands for any part of a line. Each file runs in its own empty directory.
//!
//! Why not trycmd: it would bring some fifty crates and a minute of building for what these lines do.
//! `TRANSCRIPTS=write cargo test --test transcripts` rewrites the files; read the difference before keeping it.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::Path};

use common::terminal::{difference, fits, matches, replay};

#[test]
fn terminal_transcripts() {
    let rewrite = std::env::var_os("TRANSCRIPTS").is_some_and(|value| value == "write");
    let mut files: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "transcript"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no transcripts");
    let mut wrong = String::new();
    for path in files {
        let expected = fs::read_to_string(&path).unwrap();
        let actual = replay(&expected, tempfile::tempdir().unwrap().path());
        if !fits(&expected, &actual) {
            if rewrite {
                fs::write(&path, keep_patterns(&expected, &actual)).unwrap();
            } else {
                wrong += &format!("--- {}\n{}", path.display(), difference(&expected, &actual));
            }
        }
    }
    assert!(wrong.is_empty(), "- the transcript says, + the terminal said\n{wrong}");
}

/// Lines that still fit a pattern stay patterns when a transcript is rewritten.
fn keep_patterns(expected: &str, actual: &str) -> String {
    let patterns: Vec<_> = expected.lines().filter(|line| line.contains("[..]")).collect();
    let keep = |line| patterns.iter().find(|pattern| matches(pattern, line)).copied().unwrap_or(line);
    actual.lines().map(|line| format!("{}\n", keep(line))).collect()
}

#[test]
fn patterns_match_whole_lines() {
    assert!(matches("a [..] c", "a b b c"));
    assert!(matches("a[..]", "a"));
    assert!(!matches("a [..] c", "a b c d"));
    assert!(!matches("a", "a b"));
    assert!(!matches("[..]x", "y"));
}
