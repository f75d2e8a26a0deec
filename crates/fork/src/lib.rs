#![doc = include_str!("../README.md")]

#[cfg(not(unix))]
compile_error!("sealwright-fork is for systems with `fork`");

use std::{
    ffi::c_int,
    process,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// How many forks led to this process, counted from the first [`Maker`] on: no process has the number of one that it
/// descends from.
static FORKS: AtomicUsize = AtomicUsize::new(0);
/// Whether they are counted.
static COUNTING: AtomicBool = AtomicBool::new(false);

type Handler = Option<extern "C" fn()>;

unsafe extern "C" {
    /// Has `child` called in each child that is forked, before `fork` returns there.
    fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
}

/// The process that made something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    process: u32,
    forks: usize,
}

impl Maker {
    /// The process that calls.
    ///
    /// # Panics
    /// If the system has no memory left to count forks.
    pub fn this() -> Maker {
        count();
        Maker::now()
    }

    /// Whether the process that calls is not the one that this was made in, but one that was forked from it. Nothing
    /// here waits for a lock, which a thread may have held that the child does not have.
    pub fn is_forked(self) -> bool {
        self != Maker::now()
    }

    /// A number that no process has that this one was forked from, nor one that is forked from it; never 0. (Forks are
    /// taken modulo 2^32.)
    pub fn number(self) -> u64 {
        (self.forks as u64) << 32 | u64::from(self.process)
    }

    fn now() -> Maker {
        Maker { process: process::id(), forks: FORKS.load(Ordering::Relaxed) }
    }
}

/// Counts forks from now on. Two threads may ask for it at once: then each fork counts twice, which is no less
/// different.
fn count() {
    if !COUNTING.load(Ordering::Relaxed) {
        // SAFETY: `forked` may be called in any child: it changes one atomic number.
        let failed = unsafe { pthread_atfork(None, None, Some(forked)) };
        assert_eq!(failed, 0, "the system cannot count forks");
        COUNTING.store(true, Ordering::Relaxed);
    }
}

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
