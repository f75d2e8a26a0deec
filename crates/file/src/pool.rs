//! Thread pools for single jobs: for programs that may fork, and for jobs that wait for each other.

use std::{
    io,
    sync::OnceLock,
    thread::{self, JoinHandle},
};

use rayon::ThreadPoolBuilder;

use crate::error::Error;

/// Bytes of text for which one more thread is worthwhile.
const BYTES_PER_THREAD: u64 = 4 << 20;

/// How many threads are worthwhile for a job on `len` bytes: at most one per core; one per core if the length is not
/// known.
///
/// ```
/// assert_eq!(sealwright_file::threads_for(Some(1000)), 1);
/// ```
pub fn threads_for(len: Option<u64>) -> usize {
    let cores = cores();
    len.map_or(cores, |len| cores.min(usize::try_from(len / BYTES_PER_THREAD).unwrap_or(cores).saturating_add(1)))
}

/// The number of cores that this process may use. The system is asked only once, because the answer takes a dozen
/// system calls in a container.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    // Computed outside `get_or_init`: a process that is forked while it runs would wait for it forever.
    CORES.get().copied().unwrap_or_else(|| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        *CORES.get_or_init(|| cores)
    })
}

/// The number of threads of the current pool, or of the global one. rayon itself is not asked for the latter, because
/// that would start the global pool, which a job of one span does not need.
pub(crate) fn threads_here() -> usize {
    if rayon::current_thread_index().is_some() { rayon::current_num_threads() } else { cores() }
}

/// The threads of a pool, joined on drop. Dropping a rayon pool does not wait for its threads to end. Calls that
/// require a single-threaded process, such as `unshare`, fail until they have ended.
#[derive(Default)]
struct Threads(Vec<JoinHandle<()>>);

impl Drop for Threads {
    fn drop(&mut self) {
        // A panic in a job was already propagated to its caller.
        self.0.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Runs `job` in a thread pool of its own, whose threads have ended when this returns. Create the [`Work`](crate::Work)
/// inside `job`.
///
/// Without this, all jobs share one pool per process. A forked process has a copy of that pool but not of its threads,
/// so it waits for them forever. And jobs that block on the caller's own streams can occupy all threads, so that the
/// jobs they wait for never run.
///
/// ```
/// use sealwright_file::{Input, Key, Output, Sealing, Shared, pooled, threads_for};
/// use std::io::Cursor;
///
/// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// let (input, mut sealed) = (Input::reader(Cursor::new(b"a text"), "text"), Shared::default());
/// let output = Output::writer(sealed.clone(), "sealed");
/// pooled(threads_for(input.len()), || Sealing::new(&key).seal(input, output))?;
/// assert!(!sealed.take().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of `job`, or the system's if there are no more threads.
pub fn pooled<T: Send>(threads: usize, job: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    // Declared before the pool, so that it is dropped after it: the threads end only when the pool is dropped. If only
    // some of the threads could be started, those are joined as well.
    let mut started = Threads::default();
    let start = |thread: rayon::ThreadBuilder| {
        started.0.push(thread::Builder::new().spawn(|| thread.run())?);
        Ok(())
    };
    let pool = ThreadPoolBuilder::new().num_threads(threads.max(1)).spawn_handler(start).build();
    let failed = |error| Error::Io { doing: "start", place: "threads".into(), error: io::Error::other(error) };
    let pool = pool.map_err(failed)?;
    pool.install(job)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        panic::catch_unwind,
        sync::atomic::{AtomicUsize, Ordering},
        thread::sleep,
        time::Duration,
    };

    use super::{BYTES_PER_THREAD, Error, pooled, threads_for};

    static ENDED: AtomicUsize = AtomicUsize::new(0);

    /// A thread-local value that delays the end of its thread.
    struct Last;

    impl Drop for Last {
        fn drop(&mut self) {
            sleep(Duration::from_millis(100));
            ENDED.fetch_add(1, Ordering::SeqCst);
        }
    }

    thread_local!(static LAST: Last = const { Last });

    #[test]
    fn threads_have_ended_when_their_job_returns() {
        pooled(3, || Ok(rayon::broadcast(|_| LAST.with(|_| ())))).unwrap();
        assert_eq!(ENDED.load(Ordering::SeqCst), 3);
        let panics = || -> Result<(), Error> {
            rayon::broadcast(|_| LAST.with(|_| ()));
            panic!("a job that fails");
        };
        assert!(catch_unwind(|| pooled(2, panics)).is_err());
        assert_eq!(ENDED.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn short_texts_take_one_thread_and_none_takes_more_than_there_are() {
        let cores = threads_for(None);
        assert_eq!(threads_for(Some(0)), 1);
        assert_eq!(threads_for(Some(BYTES_PER_THREAD - 1)), 1);
        assert_eq!(threads_for(Some(BYTES_PER_THREAD)), cores.min(2));
        assert_eq!(threads_for(Some(u64::MAX)), cores);
    }
}
