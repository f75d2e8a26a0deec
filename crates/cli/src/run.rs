//! Executes a plan: several files at a time, independently, and returns the worst of their exit codes.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use sealwright_file::{Progress, Work, output::create_directory, threads_for};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    plan::{FileTask, Plan},
    progress::Board,
};

/// A shorter file is a single span, so that further threads do not help, in bytes.
const ONE_SPAN_LEN: u64 = 1 << 20;
/// The number of files in progress if all are short and wait for the disk: the file system's journal commits concurrent
/// syncs together.
const MAX_SHORT_FILES_AT_ONCE: usize = 32;

/// Starts the thread pool for spans, unless every file is a single span. Returns the number of threads.
pub(crate) fn start(args: &FileArgs, plan: &Plan) -> Result<usize, CommandError> {
    let threads = args.threads.map_or_else(|| threads_for(None), usize::from);
    if plan.roots.is_empty() && plan.tasks.iter().all(|task| task.bytes.is_some_and(|bytes| bytes < ONE_SPAN_LEN)) {
        return Ok(threads);
    }
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    started.map_err(|error| CommandError::failed(format_args!("cannot start {threads} threads: {error}")))?;
    Ok(threads)
}

/// Executes every task of the plan. Failures are reported as they occur and do not stop the others.
///
/// Workers are plain threads, each with one file. If they were tasks in rayon's pool, a thread that waits for spans
/// would start further files meanwhile, on top of its stack.
pub(crate) fn all(
    plan: Plan,
    args: &FileArgs,
    threads: usize,
    each: impl Fn(&FileTask, Work) -> Result<(), CommandError> + Sync,
) -> Exit {
    let total = plan.tasks.iter().map(|task| task.bytes).sum();
    let board = Board::new(&args.progress, plan.tasks.len(), total);
    let worst = Mutex::new(Exit::Done);
    let report = |failure: &CommandError| {
        board.say(&failure.to_string());
        let mut worst = worst.lock().unwrap_or_else(PoisonError::into_inner);
        *worst = failure.exit().max(*worst);
    };
    if !args.progress.quiet {
        plan.skipped.iter().for_each(|line| board.say(&format!("sealwright: {line}")));
    }
    plan.failures.iter().for_each(report);
    for (directory, mode) in &plan.directories {
        if let Err(error) = create_directory(directory, *mode, !args.no_sync) {
            report(&file_error(error));
        }
    }
    let next = AtomicUsize::new(0);
    let busy = threads.min(plan.tasks.len());
    let workers = if waits(args, plan.tasks.len(), total) {
        MAX_SHORT_FILES_AT_ONCE.min(plan.tasks.len()).max(busy)
    } else {
        busy
    };
    let worker = || {
        while let Some(task) = plan.tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let watch: Arc<dyn Progress> = Arc::new(board.watch(shown(task.input.name("standard input")), task.bytes));
            // The spans of all files share the cores.
            let work = Work::default().threads(threads.div_ceil(busy)).progress(watch);
            let done = each(task, work);
            board.ended(done.is_err());
            done.err().iter().for_each(report);
        }
    };
    thread::scope(|scope| {
        // If not all threads can be started, those that were do all the work; this thread is one of them.
        for _ in 1..workers {
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    drop(board);
    worst.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Does what `all` does when no task is left: reports the failures.
pub(crate) fn failures(plan: &Plan, args: &FileArgs) -> Exit {
    if !args.progress.quiet {
        plan.skipped.iter().for_each(|line| say(format_args!("sealwright: {line}")));
    }
    plan.failures.iter().for_each(say);
    plan.failures.iter().map(CommandError::exit).max().unwrap_or(Exit::Done)
}

/// Whether most of the time is spent waiting for the disk: files are synced, and short on average. A number of threads
/// that the user set is kept.
fn waits(args: &FileArgs, files: usize, bytes: Option<u64>) -> bool {
    !args.no_sync && args.threads.is_none() && bytes.is_some_and(|bytes| bytes / ONE_SPAN_LEN < files as u64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::{Args, Command, FromArgMatches};

    use super::{ONE_SPAN_LEN, waits};
    use crate::args::FileArgs;

    fn args(words: &str) -> FileArgs {
        let command = FileArgs::augment_args(Command::new("test").no_binary_name(true));
        FileArgs::from_arg_matches(&command.get_matches_from(words.split_whitespace())).unwrap()
    }

    #[test]
    fn short_files_that_are_synced_are_waited_for() {
        assert!(waits(&args("a b"), 2, Some(8192)));
        assert!(!waits(&args("a b"), 2, Some(2 * ONE_SPAN_LEN)));
        assert!(!waits(&args("a b"), 2, None));
        assert!(!waits(&args("a b --no-sync"), 2, Some(8192)));
        assert!(!waits(&args("a b --threads 1"), 2, Some(8192)));
    }
}
