//! A kernel ready to run, and the check of its result.

use std::cell::RefCell;

use crate::{access::Source, machine::Machine, memory::Image};

/// A kernel that is ready to run: the initial memory, the accesses of each processor, and the check of the result.
pub struct Program {
    /// Initial memory.
    pub image: Image,
    /// The source of each processor's accesses.
    pub sources: Vec<Box<dyn Source>>,
    /// Checks the result in the machine, if the kernel has one.
    pub check: Option<Check>,
}

/// Checks a kernel's result in a machine, and says what was checked.
pub type Check = Box<dyn Fn(&Reader<'_>) -> Result<String, ResultError>>;

/// The processor whose view of memory is checked at the end.
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

/// An earlier check: the start of the address space, the bytes, and the result.
type Judged = (u64, Vec<u8>, Result<String, ResultError>);

/// Checks the `count` words from `base` on as each processor loads them. If a processor's own copies equal what all
/// others load, the earlier result is used.
pub(super) fn check(base: u64, count: usize, judge: impl Fn(&[u64]) -> Result<String, ResultError> + 'static) -> Check {
    let shared: RefCell<Option<Judged>> = RefCell::default();
    let judged = move |bytes: &[u8]| {
        let (words, _) = bytes.as_chunks();
        judge(&words.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<_>>())
    };
    Box::new(move |reader: &Reader<'_>| {
        let Reader { machine, node, space } = *reader;
        let mut shared = shared.borrow_mut();
        if shared.as_ref().is_none_or(|(of, ..)| *of != space) {
            let mut bytes = vec![0; count * 8];
            machine.read_shared(space + base, &mut bytes);
            let said = judged(&bytes);
            *shared = Some((space, bytes, said));
        }
        match &*shared {
            Some((_, bytes, said)) if machine.copies_agree(node, space + base, bytes) => said.clone(),
            _ => {
                let mut bytes = vec![0; count * 8];
                machine.read(node, space + base, &mut bytes);
                judged(&bytes)
            }
        }
    })
}
