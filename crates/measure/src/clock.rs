//! Clocks: wall time that never goes back, CPU time of the thread or process, and the times of a finished child.

use rustix::time::{ClockId, clock_gettime};
use std::{
    cell::Cell,
    io,
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

/// Something that tells time as the distance from an arbitrary origin, never backwards.
///
/// The [`Meter`](crate::Meter) keeps its budget by one, so that a test can hand it a [`Mock`].
pub trait Clock {
    /// Time since the origin.
    fn now(&self) -> Duration;
}

/// The monotonic wall clock; its origin is the moment it was made.
#[derive(Clone, Copy, Debug)]
pub struct Wall(Instant);

impl Wall {
    /// A clock that starts at zero now.
    pub fn new() -> Self {
        Wall(Instant::now())
    }
}

impl Default for Wall {
    fn default() -> Self {
        Wall::new()
    }
}

impl Clock for Wall {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// CPU time that the calling thread has used: does not count while another process has the core.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadCpu;

impl Clock for ThreadCpu {
    fn now(&self) -> Duration {
        cpu_time(ClockId::ThreadCPUTime)
    }
}

/// CPU time that all threads of this process have used.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessCpu;

impl Clock for ProcessCpu {
    fn now(&self) -> Duration {
        cpu_time(ClockId::ProcessCPUTime)
    }
}

fn cpu_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A clock that moves only when told to, for tests.
#[derive(Debug, Default)]
pub struct Mock(Cell<Duration>);

impl Mock {
    /// A clock that stands at zero.
    pub fn new() -> Self {
        Mock::default()
    }

    /// Moves the clock on by `step`.
    pub fn advance(&self, step: Duration) {
        self.0.set(self.0.get() + step);
    }
}

impl Clock for Mock {
    fn now(&self) -> Duration {
        self.0.get()
    }
}

/// What a child process used from its start to its end, its own waited-for children included.
#[derive(Clone, Copy, Debug)]
pub struct ChildTime {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel on the child's behalf.
    pub system: Duration,
    /// Wall time from before the start until its end was seen.
    pub wall: Duration,
    /// The most memory it held at once, in bytes.
    pub peak_memory: u64,
    /// How it ended.
    pub status: ExitStatus,
}

/// Runs `command` to its end and says what that child alone used.
///
/// The kernel splits a process's CPU time into user and system by where its timer tick found the process: the sum is
/// exact to the microsecond, but the split of a run of a few ticks (a tick is 1 to 10 ms) is coarse.
///
/// # Errors
/// When the command cannot be started or waited for. A failing exit status is not an error here: see
/// [`ChildTime::status`].
pub fn run_child(command: &mut Command) -> io::Result<ChildTime> {
    use wait4::Wait4;
    let start = Instant::now();
    let mut child = command.spawn()?;
    // a piped stdin left open would let a filter wait for ever
    drop(child.stdin.take());
    let used = child.wait4()?;
    Ok(ChildTime {
        user: used.rusage.utime,
        system: used.rusage.stime,
        wall: start.elapsed(),
        peak_memory: used.rusage.maxrss,
        status: used.status,
    })
}
