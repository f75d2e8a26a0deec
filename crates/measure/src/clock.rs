//! Clocks: monotonic wall time, CPU time of the thread or the process, and the times of a child process that has ended.

use std::{
    cell::Cell,
    io,
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

use nix::time::ClockId;

/// A monotonic clock with an arbitrary origin.
///
/// The [`Meter`](crate::Meter) measures its time budget with one, so that a test can use a [`Mock`].
pub trait Clock {
    /// Time since the origin.
    fn now(&self) -> Duration;
}

/// The monotonic wall clock; its origin is the time of its construction.
#[derive(Clone, Copy, Debug)]
pub struct Wall(Instant);

impl Wall {
    /// A clock that is zero now.
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

/// CPU time of the calling thread. Time in which another process uses the core does not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadCpu;

impl Clock for ThreadCpu {
    fn now(&self) -> Duration {
        own(ClockId::CLOCK_THREAD_CPUTIME_ID)
    }
}

/// CPU time of all threads of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessCpu;

impl Clock for ProcessCpu {
    fn now(&self) -> Duration {
        own(ClockId::CLOCK_PROCESS_CPUTIME_ID)
    }
}

fn own(clock: ClockId) -> Duration {
    clock.now().expect("a thread and its process have CPU clocks").into()
}

/// A clock for tests that advances only when [`Mock::advance`] is called.
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

/// The resources that a child process used, including those of its own children for which it waited.
#[derive(Clone, Copy, Debug)]
pub struct ChildTime {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Wall time from the start until the end was noticed.
    pub wall: Duration,
    /// Peak memory in bytes.
    pub peak_memory: u64,
    /// How it ended.
    pub status: ExitStatus,
}

/// Runs `command` to its end and returns the resources that this child process used.
///
/// The kernel divides CPU time into user and system time according to where its timer tick finds the process. The sum
/// is exact to the microsecond, but for a run of a few ticks (a tick is 1 to 10 ms) the division is coarse.
///
/// # Errors
/// If the command cannot be started or waited for. An exit status that indicates failure is not an error: see
/// [`ChildTime::status`].
pub fn run_child(command: &mut Command) -> io::Result<ChildTime> {
    use wait4::Wait4;
    let start = Instant::now();
    let mut child = command.spawn()?;
    // A filter would wait forever for the end of an open standard input
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::process::Stdio;

    use super::*;

    /// Uses CPU time until the thread's clock has moved by `time`.
    fn burn(time: Duration) {
        let start = ThreadCpu.now();
        while ThreadCpu.now() - start < time {
            std::hint::black_box((0..1000u64).sum::<u64>());
        }
    }

    #[test]
    fn clocks_never_go_back() {
        let wall = Wall::new();
        let clocks: [&dyn Clock; 3] = [&wall, &ThreadCpu, &ProcessCpu];
        for clock in clocks {
            let times: Vec<Duration> = (0..1000).map(|_| clock.now()).collect();
            assert!(times.is_sorted());
        }
    }

    #[test]
    fn sleep_takes_wall_time_but_no_cpu_time() {
        let wall = Wall::new();
        let cpu = ThreadCpu.now();
        std::thread::sleep(Duration::from_millis(50));
        assert!(wall.now() >= Duration::from_millis(50));
        assert!(ThreadCpu.now() - cpu < Duration::from_millis(25));
    }

    #[test]
    fn the_process_clock_counts_every_thread() {
        let (own, all) = (ThreadCpu.now(), ProcessCpu.now());
        std::thread::spawn(|| burn(Duration::from_millis(20))).join().unwrap();
        let (own, all) = (ThreadCpu.now() - own, ProcessCpu.now() - all);
        assert!(all >= Duration::from_millis(20), "{all:?}");
        assert!(own < all);
    }

    #[test]
    fn a_mock_moves_only_when_told() {
        let mock = Mock::new();
        assert_eq!(mock.now(), Duration::ZERO);
        mock.advance(Duration::from_secs(3));
        assert_eq!(mock.now(), Duration::from_secs(3));
    }

    #[test]
    fn a_childs_times_are_its_own() {
        burn(Duration::from_millis(30)); // must not be counted for the child
        let used = run_child(Command::new("sleep").arg("0.05")).unwrap();
        assert!(used.status.success());
        assert!(used.wall >= Duration::from_millis(50));
        assert!(used.user + used.system < Duration::from_millis(30), "{used:?}");
        assert!(used.peak_memory > 100 << 10, "a process holds some hundred kilobytes: {}", used.peak_memory);
    }

    #[test]
    fn a_busy_childs_cpu_time_is_seen() {
        let used =
            run_child(Command::new("sh").args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])).unwrap();
        assert!(used.user > Duration::from_millis(10), "{used:?}");
        assert!(used.user + used.system <= used.wall + Duration::from_millis(20), "one thread: {used:?}");
    }

    #[test]
    fn failures_are_told_apart() {
        assert!(run_child(&mut Command::new("/no/such/program")).is_err());
        let used = run_child(Command::new("sh").args(["-c", "exit 3"])).unwrap();
        assert_eq!(used.status.code(), Some(3));
    }

    #[test]
    fn a_filter_with_a_piped_input_ends() {
        let used = run_child(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null())).unwrap();
        assert!(used.status.success());
    }
}
