//! Names by pattern: a name that is spelled out, or `*.` for any first label.
//!
//! A relay has as many as it has clients, and each is looked for while others wait: what matches is found without a search.

use std::collections::{BTreeSet, HashMap};

/// Patterns, each with a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patterns {
    spelled: HashMap<Box<str>, u32>,
    /// What follows `*.`.
    wild: HashMap<Box<str>, u32>,
    /// What follows the first label of names that are spelled out, and the numbers of these.
    parents: HashMap<Box<str>, BTreeSet<u32>>,
}

/// Whether a name matches a pattern: it is the pattern, or `*.` stands for its first label.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(rest) => parent(name) == Some(rest),
        None => pattern == name,
    }
}

/// Whether some name matches both patterns.
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    a == b || matches(a, b) || matches(b, a)
}

/// What follows the first label of a name, if it has one.
fn parent(name: &str) -> Option<&str> {
    name.split_once('.').filter(|(first, _)| !first.is_empty()).map(|(_, after)| after)
}

impl Patterns {
    /// These patterns, all with the number 0.
    pub(crate) fn of(patterns: &[String]) -> Patterns {
        let mut all = Patterns::default();
        patterns.iter().for_each(|pattern| all.add(pattern, 0));
        all
    }

    /// One more. Of equal patterns the one with the least number counts.
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

    /// The least number of those that match a name.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        let wild = parent(name).and_then(|after| self.wild.get(after));
        self.spelled.get(name).into_iter().chain(wild).min().copied()
    }

    /// The number of the wildcard that a name matches which is not there itself; of a wildcard, its own.
    pub(crate) fn find_wild(&self, name: &str) -> Option<u32> {
        let wild = parent(name).filter(|_| !self.spells_out(name)).and_then(|after| self.wild.get(after));
        wild.copied()
    }

    /// Whether the name is there itself.
    pub(crate) fn spells_out(&self, name: &str) -> bool {
        self.spelled.contains_key(name)
    }

    /// Whether some name matches one of these and this pattern.
    pub(crate) fn overlap(&self, pattern: &str) -> bool {
        self.overlapping(pattern).next().is_some()
    }

    /// Numbers of patterns, for each number one of them, of which some name matches this one too. Of patterns that are equal, the
    /// least number is among them; a number may come twice.
    pub(crate) fn overlapping(&self, pattern: &str) -> impl Iterator<Item = u32> {
        let under = pattern.strip_prefix("*.").and_then(|rest| self.parents.get(rest));
        self.find(pattern).into_iter().chain(under.into_iter().flatten().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of three patterns, and every name that they may match.
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
