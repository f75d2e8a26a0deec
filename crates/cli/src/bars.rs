//! Progress bars on a terminal: one for all, one for the current file. No colours, so NO_COLOR asks for nothing more.

use std::time::Duration;

use indicatif::{BinaryBytes, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::counts::Counts;

const KNOWN: &str = "{prefix}[{bar:30}] {binary_bytes} of {binary_total_bytes}{msg}";
const UNKNOWN: &str = "{spinner} {binary_bytes}{msg}";

pub(crate) struct Bars {
    terminal: MultiProgress,
    all: ProgressBar,
    /// Where there are several files.
    current: Option<(ProgressBar, String)>,
}

impl Bars {
    pub(crate) fn new(counts: &Counts) -> Bars {
        let terminal = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let all = terminal.add(bar(counts.total_bytes));
        let current = (counts.total_files > 1).then(|| (terminal.add(bar(Some(0))), String::new()));
        let mut bars = Bars { terminal, all, current };
        bars.draw(counts);
        bars
    }

    pub(crate) fn draw(&mut self, counts: &Counts) {
        let newest = counts.current();
        let pace = pace(counts.bytes(), counts.total_bytes, counts.elapsed());
        if let Some((bar, name)) = &mut self.current {
            let files = format!("{}/{} ", counts.ended(), counts.total_files);
            if let Some(newest) = newest {
                if *name != newest.name {
                    name.clone_from(&newest.name);
                    bar.set_length(newest.total.unwrap_or(0));
                    bar.set_message(format!("  {name}"));
                    bar.set_prefix(" ".repeat(files.len()));
                }
                bar.set_position(newest.bytes());
            }
            self.all.set_prefix(files);
            self.all.set_message(pace);
        } else if let Some(newest) = newest {
            self.all.set_message(format!("{pace}  {}", newest.name));
        }
        self.all.set_position(counts.bytes());
        self.all.tick();
    }

    /// Runs something that writes to the terminal while the bars are out of the way.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        self.terminal.suspend(print);
    }

    pub(crate) fn clear(self) {
        // What remains of them is not worth a message
        let _ = self.terminal.clear();
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let bar = match total {
        Some(bytes) => ProgressBar::new(bytes),
        None => ProgressBar::no_length(),
    };
    let template = if total.is_some() { KNOWN } else { UNKNOWN };
    bar.with_style(ProgressStyle::with_template(template).expect("the template is well formed").progress_chars("=> "))
}

/// Speed since the start and the time that is left. Ours, as the bars come late and would take what was done before
/// for the work of a moment.
fn pace(bytes: u64, total: Option<u64>, elapsed: Duration) -> String {
    let a_second = bytes as f64 / elapsed.as_secs_f64().max(1e-3);
    let mut text = format!(", {}/s", BinaryBytes(a_second as u64));
    if let Some(left) = total.and_then(|total| total.checked_sub(bytes)).filter(|_| bytes > 0) {
        text += &format!(", {:.0} s left", (left as f64 / a_second).ceil());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_is_that_of_the_whole_run() {
        let mib = 1 << 20;
        assert_eq!(pace(30 * mib, Some(90 * mib), Duration::from_secs(3)), ", 10.00 MiB/s, 6 s left");
        assert_eq!(pace(30 * mib, None, Duration::from_secs(3)), ", 10.00 MiB/s");
        assert_eq!(pace(0, Some(90 * mib), Duration::from_secs(3)), ", 0 B/s");
    }
}
