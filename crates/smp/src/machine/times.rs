//! The earliest of a time per processor.

use super::set::Set;
use crate::engine::Cycle;

/// A time for each processor, as a binary tree in which each inner node holds the earlier time of its children. The
/// earliest time is at the root; an update follows one path, and few times change between two look-ups.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// The root is number 1, and the children of number n are 2 n and 2 n + 1.
    tree: Vec<Cycle>,
    leaves: usize,
}

impl Times {
    /// `Cycle::MAX` for each of `count` processors.
    pub(super) fn new(count: usize) -> Times {
        let leaves = count.next_power_of_two().max(2);
        Times { tree: vec![Cycle::MAX; 2 * leaves], leaves }
    }

    pub(super) fn set(&mut self, node: usize, at: Cycle) {
        let mut place = self.leaves + node;
        self.tree[place] = at;
        while place > 1 {
            place /= 2;
            let least = self.tree[2 * place].min(self.tree[2 * place + 1]);
            if self.tree[place] == least {
                return;
            }
            self.tree[place] = least;
        }
    }

    /// The earliest time.
    #[inline]
    pub(super) fn first(&self) -> Cycle {
        self.tree[1]
    }

    /// The processor with the earliest time; of several, the one with the lowest number.
    pub(super) fn who(&self) -> usize {
        let mut place = 1;
        while place < self.leaves {
            place *= 2;
            place += usize::from(self.tree[place] > self.tree[place + 1]);
        }
        place - self.leaves
    }

    /// Processors whose times are before `end`.
    pub(super) fn before(&self, end: Cycle) -> Set {
        let mut found = Set::default();
        let mut place = 1;
        loop {
            if self.tree[place] < end {
                if place < self.leaves {
                    place *= 2;
                    continue;
                }
                found = found.with(place - self.leaves);
            }
            // The sibling of this subtree if this is a left child, else of the first ancestor that is
            while place % 2 == 1 {
                place /= 2;
            }
            if place == 0 {
                return found;
            }
            place += 1;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_tree_says_what_a_list_says() {
        for count in [2, 3, 4, 7, 33, 64] {
            let (mut times, mut list, mut random) = (Times::new(count), vec![Cycle::MAX; count], Random::new(5));
            for _ in 0..500 {
                let node = random.up_to(count as u64 - 1) as usize;
                list[node] = if random.up_to(9) == 0 { Cycle::MAX } else { random.up_to(40) };
                times.set(node, list[node]);
                let first = *list.iter().min().unwrap();
                assert_eq!(times.first(), first);
                assert_eq!(times.who(), list.iter().position(|at| *at == first).unwrap());
                let end = random.up_to(45);
                let before: Vec<_> = (0..count).filter(|node| list[*node] < end).collect();
                assert_eq!(times.before(end).iter().collect::<Vec<_>>(), before);
            }
        }
    }
}
