//! What a long measurement is doing now, on standard error: a line that is redrawn, or JSON lines for programs.

use std::{
    io::{IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{How, ProgressArgs};

pub(crate) struct Status {
    line: Option<ProgressBar>,
    json: bool,
}

impl Status {
    pub(crate) fn new(args: &ProgressArgs) -> Status {
        let how = if args.quiet { How::None } else { args.progress };
        let line = (how == How::Auto && std::io::stderr().is_terminal()).then(|| {
            let style =
                ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}").expect("the template is well formed");
            let line = ProgressBar::new_spinner().with_style(style);
            line.enable_steady_tick(Duration::from_millis(200));
            line
        });
        Status { line, json: how == How::Json }
    }

    /// Says what is being done, as a sentence and as data.
    pub(crate) fn now(&self, sentence: String, data: impl FnOnce() -> serde_json::Value) {
        if let Some(line) = &self.line {
            line.set_message(sentence);
        } else if self.json {
            // Nobody is left to tell when standard error is gone
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
