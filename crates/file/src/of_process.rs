//! One of something for each process.

use std::{
    process,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// A `T` for each process: one that was forked gets a new one. A lock in its copy of the other may be held by a thread of its parent, whom
/// nobody there wakes.
#[derive(Debug, Default)]
pub(crate) struct OfProcess<T> {
    /// Whose it is; 0 before the first use.
    process: AtomicU32,
    value: T,
    forked: OnceLock<Box<OfProcess<T>>>,
}

impl<T: Default> OfProcess<T> {
    pub(crate) const fn new(value: T) -> OfProcess<T> {
        OfProcess { process: AtomicU32::new(0), value, forked: OnceLock::new() }
    }

    /// That of this process.
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
