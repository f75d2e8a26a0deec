//! The progress of a long measurement, on standard error: a line that is redrawn, or JSON Lines for programs.

use std::{
    io::{IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use sealwright_terminal::{ProgressArgs, ProgressFormat};

/// Shows the progress of a long measurement until this value is dropped.
#[derive(Debug)]
pub(crate) struct Status {
    line: Option<ProgressBar>,
    json: bool,
}

impl Status {
    /// Shows progress in the format that the arguments select.
    pub(crate) fn new(args: &ProgressArgs) -> Status {
        let format = args.format();
        let line = (format == ProgressFormat::Auto && std::io::stderr().is_terminal()).then(|| {
            let style =
                ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}").expect("the template is well formed");
            let line = ProgressBar::new_spinner().with_style(style);
            line.enable_steady_tick(Duration::from_millis(200));
            line
        });
        Status { line, json: format == ProgressFormat::Json }
    }

    /// Reports the current step, as a sentence and as data.
    pub(crate) fn now(&self, sentence: String, data: impl FnOnce() -> serde_json::Value) {
        if let Some(line) = &self.line {
            line.set_message(sentence);
        } else if self.json {
            // If standard error is closed, the message is lost, and the measurement goes on.
            let _ = writeln!(std::io::stderr().lock(), "{}", data());
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
