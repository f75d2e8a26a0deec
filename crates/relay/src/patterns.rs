//! Sets of name patterns: exact names, and wildcards `*.x` for any first label.
//!
//! A relay has as many patterns as clients and looks names up under locks, so no look-up may search.

use std::collections::{BTreeSet, HashMap};

/// Patterns, each with a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patterns {
    spelled: HashMap<Box<str>, u32>,
    /// Wildcards, by what follows `*.`.
    wild: HashMap<Box<str>, u32>,
    /// For exact names: what follows their first label, with the numbers of these patterns.
    parents: HashMap<Box<str>, BTreeSet<u32>>,
}

/// Whether a name matches a pattern: it is equal, or `*.` stands for its first label.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(rest) => parent(name) == Some(rest),
        None => pattern == name,
    }
}

/// Whether there is a name that matches both patterns.
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    a == b || matches(a, b) || matches(b, a)
}

/// What follows the first label of a name, if anything.
fn parent(name: &str) -> Option<&str> {
    name.split_once('.').filter(|(first, _)| !first.is_empty()).map(|(_, after)| after)
}

impl Patterns {
    /// The set of these patterns, all with the number 0.
    pub(crate) fn of(patterns: &[String]) -> Patterns {
        let mut all = Patterns::default();
        patterns.iter().for_each(|pattern| all.add(pattern, 0));
        all
    }

    /// Adds a pattern. Of equal patterns the lowest number counts.
    pub(crate) fn add(&mut self, pattern: &str, number: u32) {
        let (map, key) = match pattern.strip_prefix("*.") {
            Some(rest) => (&mut self.wild, rest),
            None => {
                if let Some(parent) = parent(pattern) {
                    self.parents.entry(parent.into()).or_default().insert(number);
                }
                (&mut self.spelled, pattern)
            }
        };
        let known = map.entry(key.into()).or_insert(number);
        *known = number.min(*known);
    }

    /// The lowest number of the patterns that match a name.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        let wild = parent(name).and_then(|after| self.wild.get(after));
        self.spelled.get(name).into_iter().chain(wild).min().copied()
    }

    /// The number of the wildcard that matches a name which is not in the set itself; for a wildcard, its own number.
    pub(crate) fn find_wild(&self, name: &str) -> Option<u32> {
        let wild = parent(name).filter(|_| !self.spells_out(name)).and_then(|after| self.wild.get(after));
        wild.copied()
    }

    /// Whether the set contains the name itself.
    pub(crate) fn spells_out(&self, name: &str) -> bool {
        self.spelled.contains_key(name)
    }

    /// Whether there is a name that matches this pattern and one in the set.
    pub(crate) fn overlap(&self, pattern: &str) -> bool {
        self.overlapping(pattern).next().is_some()
    }

    /// The numbers of patterns in the set that share a name with this pattern, at least one pattern for each such
    /// number. Of equal patterns the lowest number is included; a number may occur twice.
    pub(crate) fn overlapping(&self, pattern: &str) -> impl Iterator<Item = u32> {
        let under = pattern.strip_prefix("*.").and_then(|rest| self.parents.get(rest));
        self.find(pattern).into_iter().chain(under.into_iter().flatten().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sets of three patterns, with all names that they may match.
    #[test]
    fn what_is_found_is_what_a_search_finds() {
        let all = ["a", "a.b", "*.b", "b", "*.a.b", "c.a.b", ".b", "*.c", "a.c", "*.b.", "b.", "*"];
        for one in 0..all.len() {
            for two in 0..all.len() {
                for three in 0..all.len() {
                    let mut patterns = Patterns::default();
                    let list = [(all[one], 2), (all[two], 0), (all[three], 1)];
                    list.iter().for_each(|(pattern, number)| patterns.add(pattern, *number));
                    for name in all {
                        let found = list.iter().filter(|(pattern, _)| matches(pattern, name)).map(|(_, n)| *n).min();
                        assert_eq!(patterns.find(name), found, "{name} in {list:?}");
                        let any = list.iter().any(|(pattern, _)| overlap(pattern, name));
                        assert_eq!(patterns.overlap(name), any, "{name} in {list:?}");
                    }
                }
            }
        }
    }
}
