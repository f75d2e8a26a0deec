//! Runs shell commands, and compares their output with a transcript.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Runs the commands of a transcript. Returns the transcript with their actual output and exit codes.
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

/// The output and the exit code of a command. `sealwright` is the program under test. There is no terminal, and
/// settings of the environment do not apply.
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

/// Whether a line matches a pattern. `[..]` in the pattern stands for any text.
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

/// The first difference, with some lines around it.
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

/// Whether each line of the output matches the line that is expected.
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
