//! A terminal to type on: commands for the shell, and what they print held against what is expected.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// The transcript again, with the output and codes of today.
pub fn replay(transcript: &str, directory: &Path) -> String {
    let mut out = String::new();
    for line in transcript.lines() {
        if line.starts_with("# ") {
            out += &format!("{line}\n");
        }
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let (said, code) = shell(command, directory);
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
pub fn shell(command: &str, directory: &Path) -> (String, i32) {
    let path = format!("{}:{}", crate::binaries().display(), std::env::var("PATH").unwrap());
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
pub fn matches(pattern: &str, line: &str) -> bool {
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
pub fn difference(expected: &str, actual: &str) -> String {
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

/// Whether everything that was said is what was expected, line by line.
pub fn fits(expected: &str, actual: &str) -> bool {
    let lines = expected.lines().zip(actual.lines());
    expected.lines().count() == actual.lines().count()
        && lines.into_iter().all(|(pattern, line)| matches(pattern, line))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_lines() {
        assert!(matches("a [..] c", "a b b c"));
        assert!(matches("a[..]", "a"));
        assert!(!matches("a [..] c", "a b c d"));
        assert!(!matches("a", "a b"));
        assert!(!matches("[..]x", "y"));
    }
}
