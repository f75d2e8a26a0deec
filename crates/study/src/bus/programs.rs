//! The simulated programs: computing kernels, and recordings of real programs (`docs/RECORDING.md` describes how they
//! were made).

use std::ops::Range;

use sealwright_smp::{kernel::Kernel, run::Workload, trace::Trace};

/// Numbers of processors in the thesis.
pub(super) const PROCESSORS: [usize; 3] = [2, 4, 8];

/// Kernels, then recorded programs.
pub(super) const PROGRAMS: [&str; KERNELS + RECORDED.len()] = ["fft", "luc", "lunc", "radix", "xz", "git grep"];

const KERNELS: usize = 4;

/// A set of programs over which losses are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suite {
    /// The thesis's four programs, as kernels.
    Kernels,
    /// Recordings of real programs.
    Recorded,
}

impl Suite {
    /// The programs of the suite that run on this number of processors.
    pub(super) fn on(self, processors: usize) -> impl Iterator<Item = usize> {
        self.programs().filter(move |program| self == Suite::Kernels || recording(*program, processors).is_some())
    }

    /// The indices of the programs in [`PROGRAMS`].
    pub(super) fn programs(self) -> Range<usize> {
        match self {
            Suite::Kernels => 0..KERNELS,
            Suite::Recorded => KERNELS..PROGRAMS.len(),
        }
    }
}

/// A program's recording for each number of processors, if there is one: one file per thread.
type Recording = [Option<&'static [&'static [u8]]>; PROCESSORS.len()];

macro_rules! threads {
    ($name:literal, $processors:literal: $($thread:literal)+) => {
        Some(&[$(include_bytes!(concat!("../../data/traces/", $name, ".p", $processors, ".", $thread, ".smpt.zst"))),+])
    };
}

/// In the order of [`PROGRAMS`]. `git grep` creates no thread or at least two, so some recordings do not exist.
const RECORDED: [Recording; 2] = [
    [threads!("xz", 2: 0 1), threads!("xz", 4: 0 1 2 3), threads!("xz", 8: 0 1 2 3 4 5 6 7)],
    [None, threads!("grep", 4: 0 1 2 3), threads!("grep", 8: 0 1 2 3 4 5 6 7)],
];

/// A program's recording with as many threads as there are processors.
fn recording(program: usize, processors: usize) -> Option<&'static [&'static [u8]]> {
    let place = PROCESSORS.iter().position(|one| *one == processors)?;
    *RECORDED.get(program.checked_sub(KERNELS)?)?.get(place)?
}

/// The kernel with its size.
pub(super) fn kernel(program: usize, quick: bool) -> Kernel {
    let lu = if quick { 80 } else { 256 };
    match PROGRAMS[program] {
        "fft" => Kernel::Fft { m: if quick { 12 } else { 16 } },
        "radix" => Kernel::Radix { m: if quick { 14 } else { 18 } },
        name => Kernel::Lu { n: lu, contiguous: name == "luc" },
    }
}

/// The workload of a run.
pub(super) fn workload(program: usize, processors: usize, align: bool, quick: bool) -> Workload {
    match recording(program, processors) {
        Some(threads) => Workload::Trace(Trace::of_bytes(PROGRAMS[program], threads)),
        None => Workload::Kernel(kernel(program, quick), align),
    }
}
