//! The directory of the mesh: which client has which address, on any node.
//!
//! If a name was opened on two nodes, the opening with the later stamp counts, and of two equal stamps the one at the
//! higher node number. Its node gives an opening its stamp, and the stamp travels with the news: so all nodes compare
//! the same numbers, however late the news are, and agree.

use std::collections::{HashMap, HashSet};

use crate::{address::Address, layout::NodeLayout};

/// The known openings on all nodes, by name and by address.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    entries: HashMap<String, Entry>,
    names: HashMap<Address, String>,
    digests: [Digest; NodeLayout::NODES as usize],
    /// The last stamp by this node's clock.
    last: u64,
}

/// The largest stamp, far behind any clock.
pub(crate) const LAST_STAMP: u64 = 1 << 62;

/// Where and when a name was last opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) address: Address,
    /// The epoch of its keys, if it was opened on this node; other nodes do not announce theirs.
    pub(crate) epoch: Option<u16>,
    /// Milliseconds since 1970 by the clock of the opening's node, or later: more than the stamp of every opening that
    /// the node knew of. A clock that is wrong can therefore only matter between openings that did not know each other.
    pub(crate) stamp: u64,
}

/// A summary of the names on a node, by which two nodes detect that they disagree. It protects against errors only, not
/// against an attacker; messages between nodes are authenticated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) count: u32,
    pub(crate) sum: u64,
}

impl Entry {
    pub(crate) fn node(&self) -> u32 {
        NodeLayout::of(self.address.session, 1).node()
    }

    /// Whether this opening counts rather than the other one, which is on another node.
    fn supersedes(&self, other: &Entry) -> bool {
        (self.stamp, self.node()) > (other.stamp, other.node())
    }
}

impl Digest {
    fn change(&mut self, name: &str, address: Address, there: bool) {
        // FNV-1a with 64 bits: all builds must compute the same value
        let bytes = name.bytes().chain(address.to_bytes());
        let hash = bytes
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        if there {
            self.count += 1;
            self.sum = self.sum.wrapping_add(hash);
        } else {
            self.count -= 1;
            self.sum = self.sum.wrapping_sub(hash);
        }
    }
}

impl Directory {
    pub(crate) fn find(&self, name: &str) -> Option<Address> {
        self.entries.get(name).map(|entry| entry.address)
    }

    /// The name whose session is at this address.
    pub(crate) fn name_at(&self, address: Address) -> Option<&str> {
        self.names.get(&address).map(String::as_str)
    }

    pub(crate) fn digest(&self, node: u32) -> Digest {
        self.digests[node as usize]
    }

    /// Records that a name was opened. Returns the entry that this supersedes, if that was on another node.
    pub(crate) fn opened(&mut self, name: &str, entry: Entry) -> Option<Entry> {
        let before = self.entries.get(name).copied();
        if before.is_some_and(|before| before.node() != entry.node() && !entry.supersedes(&before)) {
            return None;
        }
        self.record(name, entry);
        before.filter(|before| before.node() != entry.node())
    }

    fn record(&mut self, name: &str, entry: Entry) {
        self.remove(name);
        // A session has one name, the last one recorded
        if let Some(former) = self.names.remove(&entry.address) {
            self.remove(&former);
        }
        self.digests[entry.node() as usize].change(name, entry.address, true);
        self.entries.insert(name.to_owned(), entry);
        self.names.insert(entry.address, name.to_owned());
    }

    /// Records that a name was opened on this node just now, at `now` milliseconds since 1970. This supersedes the
    /// opening known here, however recent, because the client opened this one later.
    pub(crate) fn opened_here(&mut self, name: &str, (address, epoch): (Address, u16), now: u64) -> Entry {
        let known = self.entries.get(name).map_or(0, |known| known.stamp);
        // The clock may have been set back
        self.last = now.max(self.last + 1);
        let entry = Entry { address, epoch: Some(epoch), stamp: self.last.max(known + 1).min(LAST_STAMP) };
        self.record(name, entry);
        entry
    }

    /// Records that the session at this address has ended.
    pub(crate) fn closed(&mut self, name: &str, address: Address) {
        if self.find(name) == Some(address) {
            self.remove(name);
        }
    }

    /// Removes a node that was lost, with all its sessions.
    pub(crate) fn lost(&mut self, node: u32) {
        self.entries.retain(|_, entry| entry.node() != node);
        self.names.retain(|address, _| NodeLayout::of(address.session, 1).node() != node);
        self.digests[node as usize] = Digest::default();
    }

    /// Removes the names on a node that are not in `names`.
    pub(crate) fn keep(&mut self, node: u32, names: &HashSet<String>) {
        let gone: Vec<String> =
            self.at(node).map(|(name, _)| name).filter(|&name| !names.contains(name)).map(str::to_owned).collect();
        gone.iter().for_each(|name| self.remove(name));
    }

    /// The names on a node.
    pub(crate) fn at(&self, node: u32) -> impl Iterator<Item = (&str, Entry)> {
        self.entries.iter().filter(move |(_, entry)| entry.node() == node).map(|(name, entry)| (name.as_str(), *entry))
    }

    /// Checks that the indexes agree with each other. For fuzzing.
    ///
    /// # Panics
    /// If they do not.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) fn check(&self) {
        let mut digests = [Digest::default(); NodeLayout::NODES as usize];
        for (name, entry) in &self.entries {
            digests[entry.node() as usize].change(name, entry.address, true);
            assert_eq!(self.name_at(entry.address), Some(&name[..]), "one session has one name");
        }
        assert_eq!((self.names.len(), self.digests), (self.entries.len(), digests));
    }

    fn remove(&mut self, name: &str) {
        if let Some(entry) = self.entries.remove(name) {
            self.digests[entry.node() as usize].change(name, entry.address, false);
            self.names.remove(&entry.address);
        }
    }
}

#[cfg(test)]
#[path = "directory_model.rs"]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(node: u32, stamp: u64) -> Entry {
        let address = Address { session: NodeLayout::new(node, 1).session(7), generation: node };
        Entry { address, epoch: None, stamp }
    }

    #[test]
    fn the_last_opening_counts() {
        let at = entry;
        let mut names = Directory::default();
        assert_eq!(names.opened("alice", at(1, 5)), None);
        assert_eq!(names.opened("alice", at(1, 6)), None, "anew at the same node");
        assert_eq!(names.opened("alice", at(2, 4)), None, "old news");
        assert_eq!(names.find("alice"), Some(at(1, 0).address));
        assert_eq!(names.opened("alice", at(2, 7)), Some(at(1, 6)));
        assert_eq!((names.find("alice"), names.find("bob")), (Some(at(2, 0).address), None));
        assert_eq!((names.name_at(at(2, 0).address), names.name_at(at(1, 0).address)), (Some("alice"), None));
        names.closed("alice", at(1, 0).address);
        assert_eq!(names.at(2).collect::<Vec<_>>(), [("alice", at(2, 7))]);
        names.lost(2);
        assert_eq!((names.find("alice"), names.name_at(at(2, 0).address)), (None, None));
    }

    #[test]
    fn openings_with_one_stamp_are_decided_alike_everywhere() {
        for (first, second) in [(1, 2), (2, 1)] {
            let mut names = Directory::default();
            names.opened("alice", entry(first, 5));
            names.opened("alice", entry(second, 5));
            assert_eq!(names.find("alice"), Some(entry(2, 5).address));
        }
    }

    #[test]
    fn an_opening_here_exceeds_what_is_known_whatever_the_clock_says() {
        let mut names = Directory::default();
        let (one, two) = ((entry(1, 0).address, 1), (entry(2, 0).address, 1));
        assert_eq!(names.opened_here("alice", one, 100).stamp, 100);
        assert_eq!(names.opened_here("alice", one, 100).stamp, 101, "within a millisecond");
        names.closed("alice", one.0);
        assert_eq!(names.opened_here("alice", one, 50).stamp, 102, "the clock was set back");
        assert_eq!(names.opened_here("bob", one, 50).stamp, 103);
        assert_eq!(names.opened_here("alice", one, 50).stamp, 104);
        names.opened("alice", entry(2, 1000));
        assert_eq!(names.opened_here("alice", one, 200).stamp, 1001, "the other clock is ahead");
        assert_eq!(names.find("alice"), Some(one.0));
        assert_eq!(names.opened_here("alice", one, 2000).stamp, 2000);
        // The largest stamp of another node changes no other name
        names.opened("alice", entry(2, LAST_STAMP));
        assert_eq!(names.find("alice"), Some(two.0));
        assert_eq!(names.opened_here("alice", one, 3000).stamp, LAST_STAMP);
        assert_eq!(names.find("alice"), Some(one.0));
        assert_eq!(names.opened_here("carol", one, 3001).stamp, 3001);
    }

    #[test]
    fn digests_tell_whether_two_nodes_know_the_same_names() {
        let (mut a, mut b) = (Directory::default(), Directory::default());
        // Each name has its own session
        let at = |name: &str, stamp| {
            let session = NodeLayout::new(1, 1).session(u32::from(name.as_bytes()[0]));
            Entry { address: Address { session, generation: 1 }, epoch: None, stamp }
        };
        for name in ["alice", "bob", "carol"] {
            a.opened(name, at(name, 0));
        }
        for name in ["carol", "bob", "dave", "alice"] {
            b.opened(name, at(name, 1));
        }
        assert_ne!(a.digest(1), b.digest(1));
        b.keep(1, &["alice", "bob", "carol"].map(str::to_owned).into());
        assert_eq!(a.digest(1), b.digest(1));
        a.opened("alice", entry(2, 2));
        assert_eq!((a.digest(1).count, a.digest(2).count), (2, 1));
        b.closed("alice", at("alice", 0).address);
        assert_eq!(a.digest(1), b.digest(1));
        b.lost(1);
        assert_eq!(b.digest(1), Digest::default());
    }

    /// The fuzz target relies on this check.
    #[test]
    fn a_directory_that_does_not_agree_with_itself_is_found() {
        let whole = || {
            let mut names = Directory::default();
            names.opened("alice", entry(1, 3));
            names.opened("bob", entry(2, 3));
            names.check();
            names
        };
        let address = entry(1, 3).address;
        let faults: [fn(&mut Directory, Address); 4] = [
            |names, _| names.digests[1].count += 1,
            |names, _| names.digests[2].sum ^= 1,
            |names, address| drop(names.names.insert(address, "carol".into())),
            |names, address| drop(names.names.insert(Address { generation: 99, ..address }, "alice".into())),
        ];
        for (number, fault) in faults.into_iter().enumerate() {
            let mut names = whole();
            fault(&mut names, address);
            assert!(std::panic::catch_unwind(move || names.check()).is_err(), "{number}");
        }
    }
}
