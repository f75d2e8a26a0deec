//! The integer radix sort of SPLASH-2: each pass counts a digit's values, computes ranks through a tree of processors
//! that synchronise with semaphores, and moves the keys to their places, which may be anywhere.

use super::{
    cpu::{Cpu, Shared, sources},
    program::{KernelError, Program, ResultError, check},
};
use crate::random::Random;

/// Number of values of a digit.
const RADIX: usize = 1024;
/// Digits of a key.
const DIGITS: u32 = 2;

/// Offsets of the arrays in words: keys, keys after an odd number of passes, the tree's counts and starts.
#[derive(Clone, Copy)]
struct Layout {
    keys: usize,
    processors: usize,
}

impl Layout {
    fn levels(self) -> usize {
        self.processors.trailing_zeros() as usize + 1
    }

    /// Counts of the processors below `leader` at `level` of the tree.
    fn counts(self, level: usize, leader: usize) -> usize {
        2 * self.keys + (level * self.processors + leader) * RADIX
    }

    /// Where the keys of those processors start.
    fn starts(self, level: usize, leader: usize) -> usize {
        self.counts(self.levels() + level, leader)
    }

    fn words(self) -> usize {
        self.counts(2 * self.levels(), 0)
    }

    /// The semaphore on which `processor` waits at `level`, upwards or downwards.
    fn semaphore(self, down: bool, level: usize, processor: usize) -> u64 {
        ((usize::from(down) * self.levels() + level) * self.processors + processor) as u64 + 1
    }
}

pub(super) fn program(m: u32, processors: usize, base: u64, seed: u64) -> Result<Program, KernelError> {
    if !(8..=26).contains(&m) {
        return Err(KernelError(format!("2^{m} keys: the exponent must be from 8 to 26")));
    }
    if !processors.is_power_of_two() {
        return Err(KernelError(format!("RADIX needs a power of two of processors, not {processors}")));
    }
    let layout = Layout { keys: 1 << m, processors };
    let shared = Shared::new(base, layout.words());
    let mut random = Random::new(seed);
    let mut input: Vec<u64> = (0..layout.keys).map(|_| random.draw() % (RADIX as u64).pow(DIGITS)).collect();
    input.iter().enumerate().for_each(|(i, key)| shared.set(i, *key));
    let image = shared.image();
    let sources = sources(processors, &shared, |cpu| work(cpu, layout));
    input.sort_unstable();
    // After an even number of passes, the keys are back in the first array
    let check = check(base, input.len(), move |found| match found == input {
        true => Ok(format!("{} keys are sorted", input.len())),
        false => Err(ResultError("the keys are not sorted".into())),
    });
    Ok(Program { image, sources, check: Some(check) })
}

async fn work(cpu: Cpu, layout: Layout) {
    let share = layout.keys / layout.processors;
    let mine = cpu.id * share..(cpu.id + 1) * share;
    cpu.barrier().await;
    for digit in 0..DIGITS {
        let (from, to) = if digit % 2 == 0 { (0, layout.keys) } else { (layout.keys, 0) };
        let value = |key: u64| (key >> (10 * digit)) as usize % RADIX;
        let counts = layout.counts(0, cpu.id);
        {
            let mut out = cpu.out();
            for at in counts..counts + RADIX {
                out.store(at, 0);
            }
        }
        for at in mine.clone() {
            {
                let mut out = cpu.out();
                let d = value(out.load(from + at));
                out.work(3);
                let count = out.load(counts + d);
                out.store(counts + d, count + 1);
            }
            if at % 1024 == 0 {
                cpu.catch_up().await;
            }
        }
        ranks(&cpu, layout).await;
        let starts = layout.starts(0, cpu.id);
        for at in mine.clone() {
            {
                let mut out = cpu.out();
                let key = out.load(from + at);
                out.work(3);
                let place = out.load(starts + value(key));
                out.store(starts + value(key), place + 1);
                out.store(to + place as usize, key);
            }
            if at % 1024 == 0 {
                cpu.catch_up().await;
            }
        }
        cpu.barrier().await;
    }
}

/// Counts go up the tree, starts come down.
async fn ranks(cpu: &Cpu, layout: Layout) {
    let (me, top) = (cpu.id, layout.levels() - 1);
    let mut level = 0;
    while level < top && me.is_multiple_of(2 << level) {
        let peer = me + (1 << level);
        cpu.wait(layout.semaphore(false, level, me)).await;
        let mut out = cpu.out();
        for d in 0..RADIX {
            let sum = out.load(layout.counts(level, me) + d) + out.load(layout.counts(level, peer) + d);
            out.work(3);
            out.store(layout.counts(level + 1, me) + d, sum);
        }
        level += 1;
    }
    if level == top {
        let mut out = cpu.out();
        let mut start = 0;
        for d in 0..RADIX {
            out.store(layout.starts(top, me) + d, start);
            start += out.load(layout.counts(top, me) + d);
            out.work(3);
        }
    } else {
        cpu.post(layout.semaphore(false, level, me - (1 << level))).await;
        cpu.wait(layout.semaphore(true, level, me)).await;
    }
    while level > 0 {
        level -= 1;
        let peer = me + (1 << level);
        {
            let mut out = cpu.out();
            for d in 0..RADIX {
                let start = out.load(layout.starts(level + 1, me) + d);
                let left = out.load(layout.counts(level, me) + d);
                out.work(3);
                out.store(layout.starts(level, me) + d, start);
                out.store(layout.starts(level, peer) + d, start + left);
            }
        }
        cpu.post(layout.semaphore(true, level, peer)).await;
    }
}
