//! Barriers, locks and semaphores: which processors wait, and which continue.

use std::collections::VecDeque;

use crate::{
    access::{Access, Operation},
    memory::Numbered,
};

/// The synchronisation objects of a run and the processors that wait for them.
#[derive(Debug)]
pub(super) struct Sync {
    running: usize,
    barriers: Numbered<Barrier>,
    locks: Numbered<Lock>,
    semaphores: Numbered<Semaphore>,
}

#[derive(Debug, Default)]
struct Barrier {
    /// Processors that the barrier waits for; 0 means every processor that has not finished.
    count: usize,
    waiting: Vec<usize>,
}

#[derive(Debug, Default)]
struct Lock {
    held: bool,
    queue: VecDeque<usize>,
}

#[derive(Debug, Default)]
struct Semaphore {
    value: u64,
    queue: VecDeque<usize>,
}

/// What a synchronisation does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Whether the processor itself continues at once.
    pub(super) passes: bool,
    /// Processors that waited and are woken, in this order.
    pub(super) woken: Vec<usize>,
    /// Whether a barrier opened.
    pub(super) barrier: bool,
}

impl Sync {
    pub(super) fn new(processors: usize) -> Sync {
        let (barriers, locks, semaphores) = Default::default();
        Sync { running: processors, barriers, locks, semaphores }
    }

    /// The synchronisation `access` of processor `node` takes effect.
    pub(super) fn apply(&mut self, node: usize, access: &Access) -> Effect {
        let pass = |woken: Option<usize>| Effect { passes: true, woken: woken.into_iter().collect(), barrier: false };
        match access.kind {
            Operation::Barrier => {
                let barrier = self.barriers.entry(access.address).or_default();
                barrier.count = access.value as usize;
                barrier.waiting.push(node);
                self.open_barriers()
            }
            Operation::Lock => {
                let lock = self.locks.entry(access.address).or_default();
                if lock.held {
                    lock.queue.push_back(node);
                    return Effect::default();
                }
                lock.held = true;
                pass(None)
            }
            Operation::Unlock => {
                let lock = self.locks.entry(access.address).or_default();
                let next = lock.queue.pop_front();
                lock.held = next.is_some();
                pass(next)
            }
            Operation::Post => {
                let semaphore = self.semaphores.entry(access.address).or_default();
                let next = semaphore.queue.pop_front();
                semaphore.value += u64::from(next.is_none());
                pass(next)
            }
            Operation::Wait => {
                let semaphore = self.semaphores.entry(access.address).or_default();
                if semaphore.value == 0 {
                    semaphore.queue.push_back(node);
                    return Effect::default();
                }
                semaphore.value -= 1;
                pass(None)
            }
            Operation::Load | Operation::Store | Operation::Fetch | Operation::RegionBegin | Operation::RegionEnd => {
                pass(None)
            }
        }
    }

    /// A processor has finished: barriers for all running processors no longer wait for it.
    pub(super) fn leave(&mut self) -> Effect {
        self.running -= 1;
        self.open_barriers()
    }

    /// Opens a barrier that all its processors have reached.
    fn open_barriers(&mut self) -> Effect {
        let full = self.barriers.iter().find(|(_, barrier)| {
            let count = if barrier.count == 0 { self.running } else { barrier.count };
            !barrier.waiting.is_empty() && barrier.waiting.len() >= count
        });
        let Some(object) = full.map(|(object, _)| *object) else { return Effect::default() };
        let Barrier { waiting: mut woken, .. } = self.barriers.remove(&object).unwrap_or_default();
        woken.sort_unstable();
        Effect { passes: false, woken, barrier: true }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn access(kind: Operation, value: u64) -> Access {
        Access { address: 8, value, gap: 0, kind, size: 0 }
    }

    #[test]
    fn barriers_open_for_a_count_for_all_or_when_others_have_finished() {
        let mut sync = Sync::new(3);
        assert_eq!(sync.apply(1, &access(Operation::Barrier, 2)), Effect::default());
        let open = sync.apply(0, &access(Operation::Barrier, 2));
        assert_eq!(open, Effect { passes: false, woken: vec![0, 1], barrier: true });
        sync.apply(0, &access(Operation::Barrier, 0));
        assert_eq!(sync.apply(1, &access(Operation::Barrier, 0)), Effect::default(), "the third still runs");
        assert_eq!(sync.leave().woken, [0, 1]);
    }

    #[test]
    fn locks_and_semaphores_wake_in_the_order_of_asking() {
        for (take, give) in [(Operation::Lock, Operation::Unlock), (Operation::Wait, Operation::Post)] {
            let mut sync = Sync::new(3);
            if take == Operation::Wait {
                sync.apply(2, &access(give, 0));
            }
            assert!(sync.apply(0, &access(take, 0)).passes);
            assert!(!sync.apply(2, &access(take, 0)).passes);
            assert!(!sync.apply(1, &access(take, 0)).passes);
            assert_eq!(sync.apply(0, &access(give, 0)).woken, [2]);
            assert_eq!(sync.apply(2, &access(give, 0)).woken, [1]);
        }
    }
}
