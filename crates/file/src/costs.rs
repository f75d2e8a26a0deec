//! The cost of a passphrase: Argon2id's parameters, and the limits on what a file may demand.

use std::fmt;

use argon2::Params;

/// Argon2id's parameters (RFC 9106).
///
/// The default is 256 MiB, 3 passes, 4 lanes: the passes and lanes that RFC 9106 recommends where memory is bounded,
/// with four times its 64 MiB, because a file is opened rarely but can be attacked for years. It takes about half a
/// second on one core, and less on several, because the lanes run in parallel.
///
/// ```
/// use sealwright_file::Costs;
///
/// // On a machine with little memory: 64 MiB, as RFC 9106 recommends there.
/// let costs = Costs { memory_kib: 64 * 1024, ..Costs::default() };
/// assert!(costs.are_possible());
/// assert_eq!((costs.passes, costs.lanes), (3, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
    /// Lanes, which can run in parallel.
    pub lanes: u32,
}

impl Default for Costs {
    fn default() -> Self {
        Costs { memory_kib: 256 * 1024, passes: 3, lanes: 4 }
    }
}

impl Costs {
    /// Whether Argon2 allows these parameters.
    pub fn are_possible(self) -> bool {
        self.params(32).is_some()
    }

    /// Bytes in a file.
    pub(crate) const BYTES: usize = 12;

    /// The encoding in a file.
    pub(crate) fn to_bytes(self) -> [u8; Costs::BYTES] {
        let mut bytes = [0; Costs::BYTES];
        for (bytes, number) in bytes.chunks_exact_mut(4).zip([self.memory_kib, self.passes, self.lanes]) {
            bytes.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Decodes the parameters in a file. Argon2 may not allow them.
    pub(crate) fn from_bytes(bytes: &[u8; Costs::BYTES]) -> Costs {
        let number = |at: usize| bytes[at..at + 4].iter().fold(0, |n, &byte| n << 8 | u32::from(byte));
        Costs { memory_kib: number(0), passes: number(4), lanes: number(8) }
    }

    /// The same as parameters of the crate `argon2`, for a key of `len` bytes.
    pub(crate) fn params(self, len: usize) -> Option<Params> {
        Params::new(self.memory_kib, self.passes, self.lanes, Some(len)).ok()
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_costs(f, self.memory_kib, self.passes, self.lanes)
    }
}

/// Limits on the Argon2id parameters that a file may demand. Without them a file from a stranger could take all memory
/// or run for a week.
///
/// ```
/// use sealwright_file::{Ceiling, Costs};
///
/// let ceiling = Ceiling::memory(512 * 1024); // what a file of a stranger may take: 512 MiB
/// assert!(ceiling.allows(Costs::default()));
/// assert!(!ceiling.allows(Costs { memory_kib: 1024 * 1024, ..Costs::default() }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// Passes.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Default for Ceiling {
    /// 1 GiB, 16 passes, 64 lanes.
    fn default() -> Self {
        Ceiling { memory_kib: 1024 * 1024, passes: 16, lanes: 64 }
    }
}

impl Ceiling {
    /// The default with another limit on memory, in KiB.
    pub fn memory(memory_kib: u32) -> Ceiling {
        Ceiling { memory_kib, ..Ceiling::default() }
    }

    /// Whether `asked` stays within every limit.
    pub fn allows(self, asked: Costs) -> bool {
        asked.memory_kib <= self.memory_kib && asked.passes <= self.passes && asked.lanes <= self.lanes
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_costs(f, self.memory_kib, self.passes, self.lanes)
    }
}

fn write_costs(f: &mut fmt::Formatter<'_>, memory_kib: u32, passes: u32, lanes: u32) -> fmt::Result {
    match memory_kib % 1024 {
        0 => write!(f, "{} MiB", memory_kib / 1024)?,
        _ => write!(f, "{memory_kib} KiB")?,
    }
    write!(f, ", {passes} passes, {lanes} lanes")
}
