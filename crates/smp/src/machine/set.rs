//! A set of nodes.

use crate::config::MOST_PROCESSORS;

/// A set of nodes: one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(u64);

const _: () = assert!(MOST_PROCESSORS <= u64::BITS as usize);

impl Set {
    /// The nodes 0 to `count`, without it.
    pub(super) fn all(count: usize) -> Set {
        Set(u64::MAX.checked_shr(u64::BITS - count as u32).unwrap_or(0))
    }

    pub(super) fn one(node: usize) -> Set {
        Set(1 << node)
    }

    #[inline]
    pub(super) fn with(self, node: usize) -> Set {
        Set(self.0 | 1 << node)
    }

    pub(super) fn without(self, node: usize) -> Set {
        Set(self.0 & !(1 << node))
    }

    /// Those that are not in `other`.
    pub(super) fn less(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }

    /// Those that are in both.
    pub(super) fn both(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }

    /// Those that are in one of them.
    pub(super) fn or(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    pub(super) fn has(self, node: usize) -> bool {
        self.0 >> node & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// In order of their numbers.
    #[inline]
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let node = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(node)
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order() {
        let set = Set::one(63).with(0).with(7).without(7).with(9);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 9, 63]);
        assert!(set.has(9) && !set.has(7) && !set.is_empty() && Set::one(3).without(3).is_empty());
        assert_eq!((Set::all(64).iter().count(), Set::all(2).iter().count(), Set::all(0).is_empty()), (64, 2, true));
    }
}
