//! Progress bars on a terminal: one for all files, one for the current file. They have no colours, so NO_COLOR changes
//! nothing.

use std::time::Duration;

use indicatif::{BinaryBytes, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::counts::Counts;

const WITH_LENGTH: &str = "{prefix}[{bar:30}] {binary_bytes} of {binary_total_bytes}{msg}";
const WITHOUT_LENGTH: &str = "{spinner} {binary_bytes}{msg}";

pub(crate) struct Bars {
    terminal: MultiProgress,
    all: ProgressBar,
    /// The bar of the current file, if there are several files.
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

    /// Calls `print`, which writes to the terminal, while the bars are hidden.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        self.terminal.suspend(print);
    }

    pub(crate) fn clear(self) {
        // If they cannot be cleared, that is not worth a message.
        let _ = self.terminal.clear();
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let bar = match total {
        Some(bytes) => ProgressBar::new(bytes),
        None => ProgressBar::no_length(),
    };
    let template = if total.is_some() { WITH_LENGTH } else { WITHOUT_LENGTH };
    bar.with_style(ProgressStyle::with_template(template).expect("the template is well formed").progress_chars("=> "))
}

/// The average speed since the start and the remaining time. indicatif's own estimate is not used: the bars appear
/// late, and it would count the bytes from before that as the work of an instant.
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
