//! Progress bars on a terminal: one for all, one for the current file. No colours, so NO_COLOR asks for nothing more.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::progress::Counts;

const KNOWN: &str =
    "{prefix:>9} [{bar:30}] {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left {msg}";
const UNKNOWN: &str = "{prefix:>9} {spinner} {binary_bytes}, {binary_bytes_per_sec} {msg}";

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
        self.all.set_position(counts.bytes());
        let newest = counts.current();
        let Some((bar, name)) = &mut self.current else {
            if let Some(newest) = newest {
                self.all.set_message(newest.name.clone());
            }
            self.all.tick();
            return;
        };
        self.all.set_prefix(format!("{}/{}", counts.files(), counts.total_files));
        if let Some(newest) = newest {
            if *name != newest.name {
                name.clone_from(&newest.name);
                bar.reset();
                bar.set_length(newest.total.unwrap_or(0));
                bar.set_message(name.clone());
            }
            bar.set_position(newest.bytes());
        }
        self.all.tick();
    }

    /// Runs something that writes to the terminal while the bars are out of the way.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        self.terminal.suspend(print);
    }

    pub(crate) fn clear(self) {
        // what remains of them is not worth a message
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
