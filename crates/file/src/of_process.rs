//! A value that exists once per process, so that a forked child does not share its parent's.

use std::{
    process,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// A `T` per process: a forked child gets a new one instead of its copy of the parent's. A lock in that copy could be
/// held by a thread that does not exist in the child, so nothing would ever release it.
#[derive(Debug, Default)]
pub(crate) struct OfProcess<T> {
    /// The id of the process that `value` belongs to; 0 before the first use.
    process: AtomicU32,
    value: T,
    forked: OnceLock<Box<OfProcess<T>>>,
}

impl<T: Default> OfProcess<T> {
    pub(crate) const fn new(value: T) -> OfProcess<T> {
        OfProcess { process: AtomicU32::new(0), value, forked: OnceLock::new() }
    }

    /// The value of the current process.
    pub(crate) fn get(&self) -> &T {
        self.of(process::id())
    }

    fn of(&self, process: u32) -> &T {
        match self.process.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
            Err(other) if other != process => self.forked.get_or_init(Box::default).of(process),
            _ => &self.value,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;

    use super::OfProcess;

    #[test]
    fn who_was_forked_waits_for_no_lock_of_its_parent() {
        let of = OfProcess::new(Mutex::new(1));
        let parent = of.of(10).lock().unwrap();
        let mut child = of.of(11).try_lock().unwrap();
        *child += 5;
        assert_eq!(*of.of(12).try_lock().unwrap(), 0);
        drop((parent, child));
        assert_eq!((*of.of(10).lock().unwrap(), *of.of(11).lock().unwrap()), (1, 5));
    }
}
