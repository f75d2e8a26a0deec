//! Has the release binary check the vectors of the repository, at every level.

use std::{fs, process::Command};

use crate::{
    programs::said,
    steps::{Checked, Steps},
};

const HINT: &str = "hint: cargo xtask release builds the program with every mode that has vectors";

/// Runs `sealwright vectors check` on the vectors of the repository.
pub(crate) fn check(steps: &Steps) -> Checked {
    let mut files: Vec<_> = match fs::read_dir(steps.root().join("vectors")) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => return Checked::Wrong(vec![format!("vectors: {error}")]),
    };
    files.sort();
    let mut command = Command::new(steps.release("sealwright"));
    judge(said(command.args(["vectors", "check", "--isa", "all"]).args(files)))
}

/// The program is content when it could not run a vector, as one of a mode that it does not have; this is not.
fn judge(said: Result<String, String>) -> Checked {
    let text = match said {
        Ok(text) => text,
        Err(why) => return Checked::Wrong(vec![format!("{why}\n   {HINT}")]),
    };
    let last = text.lines().last().unwrap_or_default();
    let passed = last.strip_suffix(" passed, 0 failed, 0 skipped").and_then(|passed| passed.parse::<u64>().ok());
    match passed {
        Some(1..) => Checked::Right(last.to_owned()),
        _ => Checked::Wrong(vec![format!("not all vectors ran:\n{text}   {HINT}")]),
    }
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::steps::Checked;

    #[test]
    fn vectors_that_did_not_run_are_wrong() {
        let right = |text: &str| matches!(judge(Ok(text.to_owned())), Checked::Right(_));
        assert!(right("3655 passed, 0 failed, 0 skipped\n"));
        assert!(!right("3654 passed, 0 failed, 1 skipped\n"));
        assert!(!right("0 passed, 0 failed, 1 skipped\n"));
        assert!(!right("0 passed, 0 failed, 0 skipped\n"));
        assert!(!right(""));
        assert!(matches!(judge(Err("exit status: 3".into())), Checked::Wrong(_)));
    }
}
