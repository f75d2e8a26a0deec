//! Checks the transcripts in a folder: the commands that a user types and the exact output of the terminal.
//!
//! `$ ` starts a command for the shell. The lines below it are all that the command prints (standard output and
//! standard error together). `? N` is its exit code if that is not 0. `# ` starts a comment; no line of output may
//! start like that. `[..]` stands for any part of a line. Each file runs in an empty directory of its own.
//!
//! trycmd does the same, but would add about fifty crates and a minute to the build.
//! `TRANSCRIPTS=write cargo test --test transcripts` rewrites the files; read the difference before you keep it.

use std::{fs, path::Path};

use crate::terminal::{difference, fits, matches, replay};

/// Replays every `*.transcript` in `folder`.
///
/// # Panics
/// If the output differs from a transcript, or if the folder contains no transcript.
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

/// Keeps a pattern when a transcript is rewritten, if it still matches the line.
fn keep_patterns(expected: &str, actual: &str) -> String {
    let patterns: Vec<_> = expected.lines().filter(|line| line.contains("[..]")).collect();
    let keep = |line| patterns.iter().find(|pattern| matches(pattern, line)).copied().unwrap_or(line);
    actual.lines().map(|line| format!("{}\n", keep(line))).collect()
}
