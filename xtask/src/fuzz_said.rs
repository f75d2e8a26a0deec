//! What the fuzzing engine prints, and how it ends.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

/// How the engine ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Itself,
    /// It was stopped by a signal: its time counts, and it found nothing.
    Outside,
    Failed,
}

impl End {
    /// The exit code of libFuzzer when it is told to end.
    const TOLD: i32 = 72;

    pub(crate) fn of(status: ExitStatus) -> End {
        // SIGINT, SIGKILL, SIGTERM: none of them is what an input does to a program
        let outside = status.code() == Some(End::TOLD) || matches!(status.signal(), Some(2 | 9 | 15));
        match status.success() {
            true => End::Itself,
            false if outside => End::Outside,
            false => End::Failed,
        }
    }
}

/// The figures that the engine printed.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) executions: u64,
    pub(crate) covered: u64,
    /// The input that ended the program is in a file.
    written: bool,
    /// Referees that are not here, and why.
    pub(crate) absent: Vec<String>,
}

impl Said {
    /// The finding, if there is one. An error if the program did not start or tried no input: that is no run for the
    /// log.
    pub(crate) fn judge(&self, end: End, words: &str) -> Result<Option<String>, String> {
        match (end, self.executions > 0) {
            (End::Itself | End::Outside, true) => Ok(None),
            // An input of the repository may end the program before there is any progress.
            (End::Failed, ran) if ran || self.written => Ok(Some(words.to_owned())),
            _ => Err(format!("no input was tried: {words}")),
        }
    }

    pub(crate) fn take(&mut self, line: &str) {
        self.absent.extend(line.strip_prefix("no referee: ").map(str::to_owned));
        self.written |= line.contains("Test unit written to ");
        if let Some(number) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = number.trim().parse().unwrap_or(self.executions);
        }
        let mut words = line.split_whitespace();
        // After a finding there are no statistics, only the progress so far: "#1234 NEW cov: 56 ..."
        if let Some(number) = words.next().and_then(|word| word.strip_prefix('#')) {
            self.executions = self.executions.max(number.parse().unwrap_or(0));
        }
        if words.any(|word| word == "cov:") {
            self.covered = words.next().and_then(|number| number.parse().ok()).unwrap_or(self.covered);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_s_figures() {
        let mut said = Said::default();
        said.take("#1024\tpulse  cov: 312 ft: 400 corp: 7/90b exec/s: 512 rss: 90Mb");
        assert_eq!((said.executions, said.covered), (1024, 312));
        said.take("stat::number_of_executed_units: 5000");
        assert_eq!(said.executions, 5000);
    }

    #[test]
    fn referees_that_are_not_here() {
        let mut said = Said::default();
        said.take("referee: OpenSSL 3.0.17");
        said.take("no referee: libgcrypt: no header");
        assert_eq!(said.absent, ["libgcrypt: no header"]);
    }

    #[test]
    fn a_run_without_an_input_is_none() {
        let judge = |lines: &[&str], end| {
            let mut said = Said::default();
            lines.iter().for_each(|line| said.take(line));
            said.judge(end, "words")
        };
        let found = Ok(Some("words".to_owned()));
        assert_eq!(judge(&["#7\tINITED cov: 3", "stat::number_of_executed_units: 9"], End::Itself), Ok(None));
        assert_eq!(judge(&["#7\tINITED cov: 3"], End::Failed), found);
        assert_eq!(judge(&["#7\tINITED cov: 3"], End::Outside), Ok(None));
        // An input of the repository ends it before there is any progress.
        assert_eq!(judge(&["artifact_prefix='a/'; Test unit written to a/crash-da39"], End::Failed), found);
        // It does not start, or starts and does nothing.
        for end in [End::Itself, End::Outside, End::Failed] {
            assert!(
                judge(&["error while loading shared libraries", "==1==ERROR: AddressSanitizer failed"], end).is_err()
            );
            assert!(judge(&["#0\tREAD units: 0", "stat::number_of_executed_units: 0"], end).is_err());
        }
    }

    #[test]
    fn who_ends_an_engine_finds_nothing() {
        let end = |status| End::of(ExitStatus::from_raw(status));
        assert!(end(0) == End::Itself);
        // An exit code stands in the second byte, a signal in the first
        assert!([72 << 8, 2, 9, 15].map(end) == [End::Outside; 4]);
        assert!([77 << 8, 1 << 8, 6, 11].map(end) == [End::Failed; 4]);
    }
}
