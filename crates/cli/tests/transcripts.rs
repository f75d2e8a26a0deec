//! Runs the terminal transcripts in `tests/cmd`: what a user types and what the terminal says, checked word by word.
//!
//! A transcript is what one sees on the terminal: `$ ` starts a command for the shell, the lines below it are
//! everything it printed (standard output and error together), `? N` is its exit code where that is not 0, and
//! `# ` starts a comment (no output line may). `[..]` stands for any part of a line. Each file runs in its own empty directory.
//!
//! Why not trycmd: it would bring some fifty crates and a minute of building for what these lines do.
//! `TRANSCRIPTS=write cargo test --test transcripts` rewrites the files; read the difference before keeping it.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

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
        let actual = replay(&expected);
        if actual.lines().count() != expected.lines().count()
            || !expected.lines().zip(actual.lines()).all(|(pattern, line)| matches(pattern, line))
        {
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

/// The transcript again, with the output and codes of today.
fn replay(transcript: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut out = String::new();
    for line in transcript.lines() {
        if line.starts_with("# ") {
            out += &format!("{line}\n");
        }
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let (said, code) = shell(command, directory.path());
        out += &format!("{line}\n{said}");
        if !said.is_empty() && !said.ends_with('\n') {
            out += "[no newline]\n";
        }
        if code != 0 {
            out += &format!("? {code}\n");
        }
    }
    out
}

/// What a command prints and its code. `sealwright` is ours; no terminal, no colours, no settings from outside.
fn shell(command: &str, directory: &Path) -> (String, i32) {
    let binary = Path::new(env!("CARGO_BIN_EXE_sealwright"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("setsid")
        .args(["-w", "sh", "-c", &format!("exec 2>&1; {command}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("LC_ALL", "C")
        .env_remove("SEALWRIGHT_ISA")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

/// Whether a line fits a pattern in which `[..]` stands for anything.
fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last.is_some_and(|part| part.is_empty() || line.ends_with(part))
}

/// The first place where they part, with some lines around it.
fn difference(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let same = expected.iter().zip(&actual).take_while(|(pattern, line)| matches(pattern, line)).count();
    let mut out = String::new();
    for (sign, lines) in
        [(' ', &expected[same.saturating_sub(3)..same]), ('-', tail(&expected, same)), ('+', tail(&actual, same))]
    {
        lines.iter().for_each(|line| out += &format!("{sign} {line}\n"));
    }
    out
}

fn tail<'a, 'b>(lines: &'a [&'b str], from: usize) -> &'a [&'b str] {
    &lines[from..lines.len().min(from + 12)]
}

#[test]
fn patterns_match_whole_lines() {
    assert!(matches("a [..] c", "a b b c"));
    assert!(matches("a[..]", "a"));
    assert!(!matches("a [..] c", "a b c d"));
    assert!(!matches("a", "a b"));
    assert!(!matches("[..]x", "y"));
}
