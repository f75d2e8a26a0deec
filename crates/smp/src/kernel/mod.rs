//! Programs of the SPLASH-2 suite as kernels that run on simulated memory: one async function for each processor.
//!
//! Each read or write of a shared word is also an access of the simulated processor. Between two synchronisations the
//! kernels have no data races, so they may run ahead of the machine: at a synchronisation, a processor's function waits
//! until the machine has done all earlier writes. At the end, the result is read from the machine's caches and memory
//! and checked.

mod cpu;
mod fft;
mod lu;
mod program;
mod radix;

pub use program::{Check, KernelError, Program, Reader, ResultError};

/// A kernel with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Six-step complex FFT of 2^m points.
    Fft {
        /// Binary logarithm of the points; even.
        m: u32,
    },
    /// LU decomposition of an n x n matrix in blocks; each block contiguous, or rows of the matrix.
    Lu {
        /// Rows.
        n: usize,
        /// Whether blocks are contiguous (LUC) or not (LUNC).
        contiguous: bool,
    },
    /// Radix sort of 2^m keys.
    Radix {
        /// Binary logarithm of the keys.
        m: u32,
    },
}

/// Address of the page in which arrays begin; without alignment, they begin 16 bytes after it, as after malloc's
/// header.
const HEAP: u64 = 0x1000_0000;

impl Kernel {
    /// The kernel called `name` on the command line, with its size (m, n or m) or its default size.
    pub fn by_name(name: &str, size: Option<u32>) -> Option<Kernel> {
        Some(match name {
            "fft" => Kernel::Fft { m: size.unwrap_or(16) },
            "luc" => Kernel::Lu { n: size.unwrap_or(512) as usize, contiguous: true },
            "lunc" => Kernel::Lu { n: size.unwrap_or(512) as usize, contiguous: false },
            "radix" => Kernel::Radix { m: size.unwrap_or(18) },
            _ => return None,
        })
    }

    /// Names on the command line.
    pub const NAMES: [&str; 4] = ["fft", "luc", "lunc", "radix"];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Fft { .. } => "fft",
            Kernel::Lu { contiguous: true, .. } => "luc",
            Kernel::Lu { contiguous: false, .. } => "lunc",
            Kernel::Radix { .. } => "radix",
        }
    }

    /// Its size, as [`by_name`](Self::by_name) takes it.
    pub fn size(self) -> u32 {
        match self {
            Kernel::Fft { m } | Kernel::Radix { m } => m,
            Kernel::Lu { n, .. } => n as u32,
        }
    }

    /// Prepares it for `processors`; with `align`, arrays begin at page boundaries, and not 16 bytes after.
    ///
    /// # Errors
    /// When the size does not suit the kernel or the number of processors.
    pub fn program(self, processors: usize, align: bool, seed: u64) -> Result<Program, KernelError> {
        let base = HEAP + if align { 0 } else { 16 };
        match self {
            Kernel::Fft { m } => fft::program(m, processors, base, seed),
            Kernel::Lu { n, contiguous } => lu::program(n, contiguous, processors, base, seed),
            Kernel::Radix { m } => radix::program(m, processors, base, seed),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        Config,
        config::Protect,
        run::{Simulation, Workload},
        scheme::SchemeName,
    };

    fn runs(kernel: Kernel, processors: usize, align: bool, change: impl Fn(&mut Config)) -> crate::run::Report {
        let mut config = Config::default();
        config.machine.processors = processors;
        change(&mut config);
        let simulation = Simulation { check: true, ..Simulation::new(config, Workload::Kernel(kernel, align)) };
        let report = simulation.run(&mut |_| {}).unwrap();
        assert_eq!(report.outcome, crate::Outcome::Completed);
        assert_eq!(report.wrong_reads, Some(0));
        assert!(matches!(report.result, Some(Ok(_))), "{kernel:?} {:?}", report.result);
        report
    }

    const SMALL: [Kernel; 4] = [
        Kernel::Fft { m: 8 },
        Kernel::Lu { n: 64, contiguous: true },
        Kernel::Lu { n: 64, contiguous: false },
        Kernel::Radix { m: 11 },
    ];

    #[test]
    fn results_come_back_right_through_caches_bus_and_seals() {
        for kernel in SMALL {
            for processors in [2, 4, 8] {
                for scheme in SchemeName::all() {
                    runs(kernel, processors, false, |config| config.scheme.name = scheme);
                }
            }
        }
    }

    #[test]
    fn tiny_caches_atomic_buses_and_late_snoops_change_time_alone() {
        for kernel in SMALL {
            for (mode, skew) in [("split", 0), ("split", 30), ("atomic", 0)] {
                runs(kernel, 4, true, |config| {
                    *config = config.set(&format!("bus.mode={mode}")).unwrap();
                    config.bus.skew = skew;
                    config.l1.bytes = 1 << 10;
                    config.l2.bytes = 4 << 10;
                    config.memory.jitter = 4;
                    config.scheme.name = SchemeName::find("gcm").unwrap();
                });
            }
        }
    }

    #[test]
    fn protected_memory_and_chips_of_several_processors_give_the_same_results() {
        for (kernel, protect) in SMALL.into_iter().flat_map(|kernel| Protect::ALL.map(|protect| (kernel, protect))) {
            runs(kernel, 4, false, |config| {
                config.l1.bytes = 1 << 10;
                config.l2.bytes = 4 << 10;
                config.memory.protect = protect;
                config.machine.chips = 2;
                config.memory.banks = 4;
                config.scheme.name = SchemeName::find("gcm").unwrap();
                config.bus.tags = true;
            });
        }
    }

    #[test]
    fn the_same_run_takes_the_same_cycles() {
        for kernel in SMALL {
            let one = runs(kernel, 4, false, |config| config.memory.jitter = 4);
            let two = runs(kernel, 4, false, |config| config.memory.jitter = 4);
            assert_eq!(one.stats, two.stats);
        }
    }

    #[test]
    fn sealing_truly_takes_the_time_that_was_counted_without() {
        for scheme in SchemeName::all() {
            let cycles = [true, false].map(|functional| {
                let report = runs(SMALL[0], 4, false, |config| {
                    config.scheme.name = scheme;
                    config.scheme.functional = functional;
                });
                report.stats.number("cycles")
            });
            assert_eq!(cycles[0], cycles[1], "{scheme}");
        }
    }

    #[test]
    fn false_sharing_goes_with_alignment() {
        let lunc = Kernel::Lu { n: 64, contiguous: false };
        let transfers = |align| runs(lunc, 4, align, |_| {}).stats.number("transfers.count");
        assert!(transfers(false) > 3.0 * transfers(true));
    }
}
