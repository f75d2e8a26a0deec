//! Works through a plan: several files at a time, each on its own, and the worst exit code for all of them.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use sealwright_file::{Progress, Work, output::create_directory};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    plan::{FileTask, Plan},
    progress::Board,
};

/// Starts the threads that work on spans, before anything asks how many there are. Returns their number.
pub(crate) fn start(args: &FileArgs) -> Result<usize, CommandError> {
    let threads = args.threads.map_or_else(cores, usize::from);
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    started.map_err(|error| CommandError::failed(format_args!("cannot start {threads} threads: {error}")))?;
    Ok(threads)
}

/// Runs every task of the plan; failures are printed as they come and do not stop the others.
///
/// Workers are plain threads, each with one file: tasks inside rayon's pool would be picked up while another job
/// waits for its spans, and pile up on its stack.
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
    let workers = threads.min(plan.tasks.len());
    let worker = || {
        while let Some(task) = plan.tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let watch: Arc<dyn Progress> = Arc::new(board.watch(shown(task.input.name("standard input")), task.bytes));
            // The spans of all files share the cores
            let work = Work { threads: threads.div_ceil(workers), progress: watch, ..Work::default() };
            if let Err(failure) = each(task, work) {
                report(&failure);
            }
        }
    };
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(worker))));
    drop(board);
    worst.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What `all` does where nothing is left to be done.
pub(crate) fn failures(plan: &Plan, args: &FileArgs) -> Exit {
    if !args.progress.quiet {
        plan.skipped.iter().for_each(|line| say(format_args!("sealwright: {line}")));
    }
    plan.failures.iter().for_each(say);
    plan.failures.iter().map(CommandError::exit).max().unwrap_or(Exit::Done)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
