//! Programs of the Splash suite as kernels that run on simulated memory: one async function a processor.
//!
//! A kernel reads and writes shared words; each access also becomes a step of its processor. Between two synchronisations
//! the kernels have no races, so they may run ahead of the machine: at a synchronisation a processor's function waits until
//! the machine lets it go on, and by then everybody else's writes before it are done. What lies in the machine's caches and
//! memory at the end is read back and checked as numbers.

mod cpu;
mod fft;
mod lu;
mod radix;

pub(crate) use cpu::Shared;

use crate::{access::Source, machine::Machine, memory::Image};

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

/// A kernel ready to run: what memory holds, what each processor does, how the result is checked.
pub struct Program {
    /// Memory at the start.
    pub image: Image,
    /// Steps of each processor.
    pub sources: Vec<Box<dyn Source>>,
    /// Looks at the result in the machine, where there is one to look at.
    pub check: Option<Check>,
}

/// Whether a kernel's result in a machine is right, and in what respect.
pub type Check = Box<dyn Fn(&Machine) -> Result<String, String>>;

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("processors", &self.sources.len()).finish_non_exhaustive()
    }
}

/// Where arrays begin without alignment: 16 bytes past a page, as after malloc's header.
const HEAP: u64 = 0x1000_0000;

impl Kernel {
    /// The kernel of a name on the command line, with its size (m, n, m), or its usual one.
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

    /// Makes it ready for `processors`; with `align`, arrays begin at pages and not 16 bytes past.
    ///
    /// # Errors
    /// When the size does not suit the kernel or the number of processors.
    pub fn program(self, processors: usize, align: bool, seed: u64) -> Result<Program, String> {
        let base = HEAP + if align { 0 } else { 16 };
        match self {
            Kernel::Fft { m } => fft::program(m, processors, base, seed),
            Kernel::Lu { n, contiguous } => lu::program(n, contiguous, processors, base, seed),
            Kernel::Radix { m } => radix::program(m, processors, base, seed),
        }
    }
}

/// The next of a sequence of numbers from 0 to 1 (splitmix64).
fn fraction(state: &mut u64) -> f64 {
    (draw(state) >> 11) as f64 / (1u64 << 53) as f64
}

fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Words read back from a machine.
fn words(machine: &Machine, base: u64, count: usize) -> Vec<u64> {
    let mut bytes = vec![0; count * 8];
    machine.read(base, &mut bytes);
    bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes([word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]]))
        .collect()
}

/// Numbers read back from a machine.
fn numbers(machine: &Machine, base: u64, count: usize) -> Vec<f64> {
    words(machine, base, count).into_iter().map(f64::from_bits).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        Config,
        run::{Job, Workload},
        scheme::Name,
    };

    fn runs(kernel: Kernel, processors: usize, align: bool, change: impl Fn(&mut Config)) -> crate::run::Report {
        let mut config = Config::default();
        config.machine.processors = processors;
        change(&mut config);
        let job = Job { watch: true, ..Job::new(config, Workload::Kernel(kernel, align)) };
        let report = job.run(&mut |_| {}).unwrap();
        assert_eq!(report.end, crate::End::Done);
        assert_eq!(report.wrong_reads, Some(0));
        assert!(matches!(report.check, Some(Ok(_))), "{kernel:?} {:?}", report.check);
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
                for scheme in Name::ALL {
                    runs(kernel, processors, false, |config| config.shu.scheme = scheme);
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
                    config.shu.scheme = Name::Gcm;
                });
            }
        }
    }

    #[test]
    fn protected_memory_and_chips_of_several_processors_give_the_same_results() {
        for kernel in SMALL {
            runs(kernel, 4, false, |config| {
                config.l1.bytes = 1 << 10;
                config.l2.bytes = 4 << 10;
                config.memory.protect = crate::config::Protect::Tree;
                config.machine.chips = 2;
                config.shu.scheme = Name::Gcm;
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
        for scheme in Name::ALL {
            let cycles = [true, false].map(|functional| {
                let report = runs(SMALL[0], 4, false, |config| {
                    config.shu.scheme = scheme;
                    config.shu.functional = functional;
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
