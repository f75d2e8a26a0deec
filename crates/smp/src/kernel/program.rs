//! A kernel ready to run, and the check of its result.

use crate::{access::Source, machine::Machine, memory::Image};

/// A kernel ready to run: what memory holds, what each processor does, how the result is checked.
pub struct Program {
    /// Memory at the start.
    pub image: Image,
    /// Accesses of each processor.
    pub sources: Vec<Box<dyn Source>>,
    /// Checks the result in the machine, where there is one.
    pub check: Option<Check>,
}

/// Whether a kernel's result in a machine is right, and in what respect.
pub type Check = Box<dyn Fn(&Reader<'_>) -> Result<String, ResultError>>;

/// A processor that loads a result at the end.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The processor.
    pub node: usize,
    /// Where the addresses of its process begin.
    pub space: u64,
}

/// A kernel's size that does not suit it or the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KernelError(pub(super) String);

/// A kernel's result that is wrong, and in what respect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResultError(pub(crate) String);

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("processors", &self.sources.len()).finish_non_exhaustive()
    }
}

/// Words as a processor loads them.
pub(super) fn words(reader: &Reader<'_>, base: u64, count: usize) -> Vec<u64> {
    let mut bytes = vec![0; count * 8];
    reader.machine.read(reader.node, reader.space + base, &mut bytes);
    bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes([word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]]))
        .collect()
}

/// Numbers as a processor loads them.
pub(super) fn numbers(reader: &Reader<'_>, base: u64, count: usize) -> Vec<f64> {
    words(reader, base, count).into_iter().map(f64::from_bits).collect()
}
