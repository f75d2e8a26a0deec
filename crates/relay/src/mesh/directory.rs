//! The directory of the mesh: which client has which address, on any node.
//!
//! If a name was opened on two nodes, the later opening counts. Nodes tell each other the age of an opening, so that
//! their clocks need not agree; for openings at almost the same time, the higher node number decides.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use crate::{address::Address, layout::NodeLayout};

/// Openings that are closer together than this count as simultaneous: messages between nodes take time.
const SIMULTANEITY_WINDOW: Duration = Duration::from_millis(200);

/// The known openings on all nodes, by name and by address.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    entries: HashMap<String, Entry>,
    names: HashMap<Address, String>,
    digests: [Digest; NodeLayout::NODES as usize],
}

/// Where and when a name was last opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) address: Address,
    /// The epoch of its keys, if it was opened on this node; other nodes do not announce theirs.
    pub(crate) epoch: Option<u16>,
    /// The time of the opening by this node's clock.
    pub(crate) opened: Instant,
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
        let apart = self.opened.max(other.opened) - self.opened.min(other.opened);
        if apart < SIMULTANEITY_WINDOW { self.node() > other.node() } else { self.opened > other.opened }
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
        self.remove(name);
        // A session has one name, the last one recorded
        if let Some(former) = self.names.remove(&entry.address) {
            self.remove(&former);
        }
        self.digests[entry.node() as usize].change(name, entry.address, true);
        self.entries.insert(name.to_owned(), entry);
        self.names.insert(entry.address, name.to_owned());
        before.filter(|before| before.node() != entry.node())
    }

    /// Records that a name was opened on this node just now. This supersedes the opening known here, however recent,
    /// because the client opened this one later. If the other one is on another node, the time stamp is moved so far
    /// ahead that no node takes the two for simultaneous.
    pub(crate) fn opened_here(&mut self, name: &str, (address, epoch): (Address, u16), now: Instant) -> Entry {
        let mut entry = Entry { address, epoch: Some(epoch), opened: now };
        if let Some(before) = self.entries.get(name) {
            let apart = if before.node() == entry.node() { Duration::ZERO } else { 2 * SIMULTANEITY_WINDOW };
            entry.opened = entry.opened.max(before.opened + apart);
        }
        self.opened(name, entry);
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

    fn entry(node: u32, opened: Instant) -> Entry {
        let address = Address { session: NodeLayout::new(node, 1).session(7), generation: node };
        Entry { address, epoch: None, opened }
    }

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn the_last_opening_counts() {
        let start = Instant::now();
        let at = |node, seconds| entry(node, after(start, seconds));
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
    fn simultaneous_openings_are_decided_alike_everywhere() {
        let start = Instant::now();
        for (first, second) in [(1, 2), (2, 1)] {
            let mut names = Directory::default();
            names.opened("alice", entry(first, start));
            names.opened("alice", entry(second, start + Duration::from_millis(50)));
            assert_eq!(names.find("alice"), Some(entry(2, start).address));
        }
    }

    #[test]
    fn digests_tell_whether_two_nodes_know_the_same_names() {
        let start = Instant::now();
        let (mut a, mut b) = (Directory::default(), Directory::default());
        // Each name has its own session
        let at = |name: &str, opened| {
            let session = NodeLayout::new(1, 1).session(u32::from(name.as_bytes()[0]));
            Entry { address: Address { session, generation: 1 }, epoch: None, opened }
        };
        for name in ["alice", "bob", "carol"] {
            a.opened(name, at(name, start));
        }
        for name in ["carol", "bob", "dave", "alice"] {
            b.opened(name, at(name, after(start, 1)));
        }
        assert_ne!(a.digest(1), b.digest(1));
        b.keep(1, &["alice", "bob", "carol"].map(str::to_owned).into());
        assert_eq!(a.digest(1), b.digest(1));
        a.opened("alice", entry(2, after(start, 2)));
        assert_eq!((a.digest(1).count, a.digest(2).count), (2, 1));
        b.closed("alice", at("alice", start).address);
        assert_eq!(a.digest(1), b.digest(1));
        b.lost(1);
        assert_eq!(b.digest(1), Digest::default());
    }
    /// The fuzz target relies on this check.
    #[test]
    fn a_directory_that_does_not_agree_with_itself_is_found() {
        let whole = || {
            let mut names = Directory::default();
            names.opened("alice", entry(1, Instant::now()));
            names.opened("bob", entry(2, Instant::now()));
            names.check();
            names
        };
        let address = entry(1, Instant::now()).address;
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
