//! Checks the transcripts of a folder: what a user types and what the terminal prints, word by word.
//!
//! A transcript shows a terminal: `$ ` starts a command for the shell, the lines below it are everything it printed
//! (standard output and error together), `? N` is its exit code where that is not 0, and `# ` starts a comment (no output line
//! may). `[..]` stands for any part of a line. Each file runs in an empty directory of its own.
//!
//! Why not trycmd: it would bring some fifty crates and a minute of building for what these lines do.
//! `TRANSCRIPTS=write cargo test --test transcripts` rewrites the files; read the difference before keeping it.

use std::{fs, path::Path};

use crate::terminal::{difference, fits, matches, replay};

/// Replays every `*.transcript` in `folder`.
///
/// # Panics
/// If the terminal prints anything else than a transcript says, or there is no transcript.
pub fn check(folder: &Path) {
    let rewrite = std::env::var_os("TRANSCRIPTS").is_some_and(|value| value == "write");
    let mut files: Vec<_> = fs::read_dir(folder)
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
    assert!(wrong.is_empty(), "- the transcript says, + the terminal printed\n{wrong}");
}

/// Lines that still fit a pattern stay patterns when a transcript is rewritten.
fn keep_patterns(expected: &str, actual: &str) -> String {
    let patterns: Vec<_> = expected.lines().filter(|line| line.contains("[..]")).collect();
    let keep = |line| patterns.iter().find(|pattern| matches(pattern, line)).copied().unwrap_or(line);
    actual.lines().map(|line| format!("{}\n", keep(line))).collect()
}
