//! Reports progress on standard error: bars for people, JSON lines for programs.
//!
//! Workers only update counters; one thread reads them a few times per second and draws.

use std::{
    io::{IsTerminal, Write},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use sealwright_terminal::{ProgressArgs, ProgressFormat};

use crate::{
    bars::Bars,
    counts::{Counts, Current, lock},
};

/// Bars appear after this delay: most jobs are done by then and leave the terminal unchanged.
const BAR_DELAY: Duration = Duration::from_millis(500);
const REDRAW: Duration = Duration::from_millis(100);
const JSON_EVERY: Duration = Duration::from_secs(1);

/// The counters of one run, and the thread that shows them.
pub(crate) struct Board {
    shared: Arc<Shared>,
    reporter: Option<JoinHandle<()>>,
}

struct Shared {
    counts: Counts,
    done: Mutex<bool>,
    wake: Condvar,
    /// Locked while anything is written to the terminal, so that messages and bars do not mix.
    bars: Mutex<Option<Bars>>,
}

/// A worker's handle for one file.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    current: Arc<Current>,
}

impl Board {
    /// Starts to report on `total_files` files of `total_bytes` in total.
    pub(crate) fn new(args: &ProgressArgs, total_files: usize, total_bytes: Option<u64>) -> Board {
        let counts = Counts {
            started: Instant::now(),
            bytes: AtomicU64::new(0),
            files: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            total_bytes,
            total_files,
            running: Mutex::new(Vec::new()),
        };
        let shared = Arc::new(Shared { counts, done: Mutex::new(false), wake: Condvar::new(), bars: Mutex::new(None) });
        let how = if args.quiet { ProgressFormat::None } else { args.progress };
        let work: Option<fn(&Shared)> = match how {
            ProgressFormat::Auto if std::io::stderr().is_terminal() => Some(draw_bars),
            ProgressFormat::Json => Some(print_json),
            _ => None,
        };
        // If no thread can be started, no progress is reported.
        let reporter = work.and_then(|work| {
            let shared = shared.clone();
            thread::Builder::new().spawn(move || work(&shared)).ok()
        });
        Board { shared, reporter }
    }

    /// A file begins.
    pub(crate) fn watch(&self, name: String, total: Option<u64>) -> Watch {
        let current = Arc::new(Current { name, total, bytes: AtomicU64::new(0) });
        lock(&self.shared.counts.running).push(current.clone());
        Watch { shared: self.shared.clone(), current }
    }

    /// Counts a file that has ended, successfully or not.
    pub(crate) fn ended(&self, failed: bool) {
        let counts = &self.shared.counts;
        (if failed { &counts.failed } else { &counts.files }).fetch_add(1, Ordering::Relaxed);
    }

    /// Prints a line on standard error, above the bars.
    pub(crate) fn say(&self, line: &str) {
        let bars = lock(&self.shared.bars);
        // Ignored: without standard error there is nowhere to report the failure.
        let print = || drop(writeln!(std::io::stderr().lock(), "{line}"));
        match bars.as_ref() {
            Some(bars) => bars.aside(print),
            None => print(),
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        *lock(&self.shared.done) = true;
        self.shared.wake.notify_all();
        if let Some(reporter) = self.reporter.take() {
            // A failure of this thread affects only the display.
            let _ = reporter.join();
        }
    }
}

impl sealwright_file::Progress for Watch {
    fn advance(&self, bytes: u64) {
        self.current.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.shared.counts.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&self.shared.counts.running).retain(|other| !Arc::ptr_eq(other, &self.current));
    }
}

impl Shared {
    /// Waits for at most `time`; returns whether everything is done.
    fn finished_within(&self, time: Duration) -> bool {
        let done = lock(&self.done);
        let result = self.wake.wait_timeout_while(done, time, |done| !*done);
        *result.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn draw_bars(shared: &Shared) {
    if shared.finished_within(BAR_DELAY) {
        return;
    }
    *lock(&shared.bars) = Some(Bars::new(&shared.counts));
    while !shared.finished_within(REDRAW) {
        if let Some(bars) = lock(&shared.bars).as_mut() {
            bars.draw(&shared.counts);
        }
    }
    if let Some(bars) = lock(&shared.bars).take() {
        bars.clear();
    }
}

fn print_json(shared: &Shared) {
    loop {
        let finished = shared.finished_within(JSON_EVERY);
        let _aside = lock(&shared.bars);
        if writeln!(std::io::stderr().lock(), "{}", shared.counts.json(finished)).is_err() || finished {
            return;
        }
    }
}
