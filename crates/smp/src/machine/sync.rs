//! Barriers, locks and semaphores, played by the machine: who waits, and who goes on.

use std::collections::VecDeque;

use super::{Fault, Machine};
use crate::{access::Kind, engine::Cycle, memory::Numbered};

/// Everybody who waits for others.
#[derive(Debug)]
pub(super) struct Meeting {
    alive: usize,
    barriers: Numbered<Barrier>,
    locks: Numbered<Lock>,
    semaphores: Numbered<Semaphore>,
}

#[derive(Debug, Default)]
struct Barrier {
    /// How many it is for; 0 is everybody who still runs.
    needs: usize,
    waiting: Vec<(usize, Cycle)>,
}

#[derive(Debug, Default)]
struct Lock {
    held: bool,
    queue: VecDeque<(usize, Cycle)>,
}

#[derive(Debug, Default)]
struct Semaphore {
    value: u64,
    queue: VecDeque<(usize, Cycle)>,
}

impl Meeting {
    pub(super) fn new(processors: usize) -> Meeting {
        let (barriers, locks, semaphores) = Default::default();
        Meeting { alive: processors, barriers, locks, semaphores }
    }
}

impl Machine {
    /// A processor's synchronisation takes effect.
    pub(super) fn synchronise(&mut self, node: usize) -> Result<(), Fault> {
        let step = self.cores[node].step();
        let now = self.now;
        let here = (node, now);
        match step.kind {
            Kind::Barrier => {
                let barrier = self.meeting.barriers.entry(step.address).or_default();
                barrier.needs = step.value as usize;
                barrier.waiting.push(here);
                return self.open_barriers();
            }
            Kind::Lock => {
                let lock = self.meeting.locks.entry(step.address).or_default();
                if lock.held {
                    lock.queue.push_back(here);
                    return Ok(());
                }
                lock.held = true;
            }
            Kind::Unlock => {
                let lock = self.meeting.locks.entry(step.address).or_default();
                let next = lock.queue.pop_front();
                lock.held = next.is_some();
                self.wake(next)?;
            }
            Kind::Post => {
                let semaphore = self.meeting.semaphores.entry(step.address).or_default();
                let next = semaphore.queue.pop_front();
                semaphore.value += u64::from(next.is_none());
                self.wake(next)?;
            }
            Kind::Wait => {
                let semaphore = self.meeting.semaphores.entry(step.address).or_default();
                if semaphore.value == 0 {
                    semaphore.queue.push_back(here);
                    return Ok(());
                }
                semaphore.value -= 1;
            }
            Kind::Load | Kind::Store | Kind::Fetch => {}
        }
        self.advance(node, now)
    }

    /// Opens a barrier at which all have arrived whom it is for.
    fn open_barriers(&mut self) -> Result<(), Fault> {
        let alive = self.meeting.alive;
        let full = self.meeting.barriers.iter().find(|(_, barrier)| {
            let needs = if barrier.needs == 0 { alive } else { barrier.needs };
            !barrier.waiting.is_empty() && barrier.waiting.len() >= needs
        });
        let Some(object) = full.map(|(object, _)| *object) else { return Ok(()) };
        let Barrier { mut waiting, .. } = self.meeting.barriers.remove(&object).unwrap_or_default();
        self.counters.barriers += 1;
        waiting.sort_unstable();
        for one in waiting {
            self.wake(Some(one))?;
        }
        Ok(())
    }

    fn wake(&mut self, waiting: Option<(usize, Cycle)>) -> Result<(), Fault> {
        let Some((node, since)) = waiting else { return Ok(()) };
        self.counters.nodes[node].met += self.now - since;
        self.advance(node, self.now + self.config.machine.sync)
    }

    /// A processor is done: others need not wait for it.
    pub(super) fn leave(&mut self) -> Result<(), Fault> {
        self.meeting.alive -= 1;
        self.open_barriers()
    }
}
