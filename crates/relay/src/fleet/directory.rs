//! Which session has a name now, anywhere in the fleet.

use std::collections::HashMap;

/// What is known of names, here and elsewhere. The last opening counts.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    of: HashMap<String, Entry>,
}

/// Where and when a name was last opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) session: u32,
    pub(crate) node: u32,
    /// Milliseconds since 1970, by the clock of the node.
    pub(crate) at: u64,
}

impl Directory {
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.of.get(name).map(|entry| entry.session)
    }

    /// A name was opened: the session that it had elsewhere before, if this is the later one.
    pub(crate) fn opened(&mut self, name: &str, entry: Entry) -> Option<Entry> {
        match self.of.get_mut(name) {
            // Of two nodes' openings at one moment, all nodes take the same
            Some(before) if (before.at, before.node) > (entry.at, entry.node) => None,
            Some(before) => {
                let former = std::mem::replace(before, entry);
                (former.node != entry.node).then_some(former)
            }
            None => {
                self.of.insert(name.to_owned(), entry);
                None
            }
        }
    }

    /// A name is gone from a node.
    pub(crate) fn closed(&mut self, name: &str, node: u32) {
        if self.of.get(name).is_some_and(|entry| entry.node == node) {
            self.of.remove(name);
        }
    }

    /// A node is gone, with all its sessions.
    pub(crate) fn lost(&mut self, node: u32) {
        self.of.retain(|_, entry| entry.node != node);
    }

    /// All that is at a node.
    pub(crate) fn at(&self, node: u32) -> impl Iterator<Item = (&str, Entry)> {
        self.of.iter().filter(move |(_, entry)| entry.node == node).map(|(name, entry)| (name.as_str(), *entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_opening_counts() {
        let entry = |node: u32, at: u64| Entry { session: node * 100, node, at };
        let mut names = Directory::default();
        assert_eq!(names.opened("alice", entry(1, 5)), None);
        assert_eq!(names.opened("alice", entry(1, 6)), None, "anew at the same node");
        assert_eq!(names.opened("alice", entry(2, 4)), None, "old news");
        assert_eq!(names.find("alice"), Some(100));
        assert_eq!(names.opened("alice", entry(2, 7)), Some(entry(1, 6)));
        assert_eq!((names.find("alice"), names.find("bob")), (Some(200), None));
        names.closed("alice", 1);
        assert_eq!(names.at(2).collect::<Vec<_>>(), [("alice", entry(2, 7))]);
        names.lost(2);
        assert_eq!(names.find("alice"), None);
    }
}
