//! The assignment of session numbers to names. A name keeps its number while the relay runs. Names that the
//! configuration spells out get numbers in its order, so that the same file gives the same numbers. Each time a number
//! gets an owner, it gets a new generation too.
//!
//! A number consists of an index and a generation. Indexes are divided into runs of consecutive ones, one cluster each:
//! in schemes whose clients share keys, only clients of one run share them. Each group of `[clusters]` has one run of
//! its own; all other names form one group, which takes as many runs as it needs.
//!
//! Names are in lower case here, because DNS names are compared without regard to case.

#[path = "known_keys.rs"]
mod known_keys;
#[path = "openings.rs"]
mod openings;

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    net::IpAddr,
    time::Instant,
};

use crate::{
    control::certificates::{Certificates, Chain, Minute},
    patterns::Patterns,
};

/// Who may have a session, by group: the name of a cluster (`None` for the other names), and the names in it. `*.x`
/// allows any first label.
pub(crate) type Allowed = Vec<(Option<String>, Vec<String>)>;

/// Allowed names, and the owner of each number.
#[derive(Debug)]
pub(crate) struct Names {
    groups: Vec<Group>,
    /// The names of all groups; the number of a pattern is the position of its group.
    allowed: Patterns,
    owners: HashMap<Box<str>, Owner>,
    /// Bytes of the owners' names, kept up to date: adding them up would take long under the lock.
    name_bytes: u64,
    certificates: Certificates,
    /// Names that may not have a session although they are allowed.
    revoked: Patterns,
    /// Names that are spelled out but may know keys of any cluster of their group, because a wildcard allowed them
    /// before or they had another number.
    moved: HashSet<Box<str>>,
    /// Indexes, and runs of clusters, whose owners are gone but whose sessions may not have ended: nobody gets them
    /// before [`Names::settle`].
    leaving: (Vec<u32>, Vec<u32>),
    /// Indexes whose epochs are used up: nobody gets them any more.
    used_up: HashSet<u32>,
    /// Length of a run, in indexes.
    run: u32,
    limit: u32,
    free_runs: BTreeSet<u32>,
    /// The generation of the next owner.
    next_generation: u32,
}

/// What a name owns: the index of a session on this node, and its generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

#[derive(Debug)]
struct Owner {
    number: Number,
    /// The session, if one is open.
    open: Option<OpenSession>,
    /// How many clients are opening the session at this moment. Until they are done, nobody else ends it.
    opening: u32,
    /// The latest epoch known to have been issued for this number.
    latest: Option<u16>,
    opened: Minute,
}

/// A session that was opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenSession {
    pub(crate) since: Instant,
    pub(crate) from: IpAddr,
    pub(crate) chain: Chain,
    /// The epoch of its keys.
    pub(crate) epoch: u16,
}

/// What a change of the configuration takes away.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    /// Names that lost their numbers, and those numbers.
    pub(crate) names: Vec<(String, Number)>,
    /// Runs whose shared keys must be replaced: those of clusters that are gone, which another cluster may get; and
    /// those whose keys a client may know although its name owns nothing there any more.
    pub(crate) runs: Vec<u32>,
}

/// A group of names that share runs.
#[derive(Debug)]
struct Group {
    cluster: Option<String>,
    /// The wildcards among its names.
    wild: BTreeSet<String>,
    runs: Vec<u32>,
    /// How many indexes of the last run were handed out.
    given: u32,
    /// Indexes that were given back, the one that has been free longest first.
    free: VecDeque<u32>,
}

/// Why a name has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// The configuration does not allow the name.
    Unknown,
    /// The name is allowed, but has no session.
    Absent,
    /// The name is revoked.
    Revoked,
    /// All sessions are taken.
    Full,
    /// The certificate has as many sessions as it may have.
    Share,
    /// The session, or those of its certificate, were opened too often recently.
    TooOften,
    /// A later opening of the session replaced its keys.
    Superseded,
}

impl Names {
    /// An estimate of the memory of a name with an open session, without its certificate.
    pub(crate) const BYTES_PER_NAME: u64 = (2 * size_of::<(Box<str>, Owner)>() + 40) as u64;

    /// Manages indexes below `limit`, in runs of `run`. Generations start at `first_generation`, which should be
    /// random.
    pub(crate) fn new(allowed: &Allowed, run: u32, limit: u32, first_generation: u32) -> Names {
        let free_runs = (0..limit.div_ceil(run)).collect();
        let mut names = Names {
            groups: Vec::new(),
            allowed: Patterns::default(),
            owners: HashMap::new(),
            name_bytes: 0,
            certificates: Certificates::default(),
            revoked: Patterns::default(),
            moved: HashSet::new(),
            leaving: Default::default(),
            used_up: HashSet::new(),
            run,
            limit,
            free_runs,
            next_generation: first_generation,
        };
        names.set(allowed, &[]);
        names
    }

    /// Replaces the allowed and the revoked names. Returns the names that lost their numbers, with those numbers, which
    /// are free at once.
    pub(crate) fn set(&mut self, allowed: &Allowed, revoked: &[String]) -> Vec<(String, Number)> {
        let gone = self.change(allowed, revoked);
        self.settle(allowed);
        gone.names
    }

    /// Like [`Names::set`], but the numbers stay reserved until [`Names::settle`]: their sessions must end first,
    /// because a new owner would otherwise lose its own session with them.
    pub(crate) fn change(&mut self, allowed: &Allowed, revoked: &[String]) -> Gone {
        let mut now = Patterns::default();
        for (at, (_, names)) in allowed.iter().enumerate() {
            names.iter().for_each(|name| now.add(name, at as u32));
        }
        let mut runs = self.runs_known_to_those_who_leave((allowed, &now), revoked);
        self.revoked = Patterns::of(revoked);
        self.allowed = now;
        let mut before = std::mem::take(&mut self.groups);
        for (cluster, names) in allowed {
            let known = before.iter().position(|group| group.cluster == *cluster).map(|at| before.swap_remove(at));
            let mut group = known.unwrap_or_else(|| Group::new(cluster.clone()));
            let wild = names.iter().filter(|name| name.starts_with("*.")).cloned().collect();
            if !group.wild.is_subset(&wild) {
                runs.extend(&group.runs);
            }
            group.wild = wild;
            self.groups.push(group);
        }
        let stays = |name: &str, index: u32| {
            let group = self.allowed.find(name).map(|at| &self.groups[at as usize]);
            group.is_some_and(|group| group.runs.contains(&(index / self.run))) && !self.is_revoked(name)
        };
        let mut names: Vec<(String, Number)> = Vec::new();
        for (name, owner) in self.owners.iter().filter(|(name, owner)| !stays(name, owner.number.index)) {
            names.push((name.to_string(), owner.number));
        }
        names.sort_by_key(|(_, number)| number.index);
        for (name, number) in &names {
            self.disown(name);
            self.leaving.0.push(number.index);
        }
        // The runs of clusters that are gone become free
        let free: Vec<u32> = before.into_iter().flat_map(|group| group.runs).collect();
        runs.extend(&free);
        self.leaving.1.extend(free);
        Gone { names, runs: runs.into_iter().collect() }
    }

    /// Takes its number away from a name.
    fn disown(&mut self, name: &str) {
        let Some(owner) = self.owners.remove(name) else { return };
        self.name_bytes -= name_bytes(name);
        owner.open.iter().for_each(|open| self.certificates.closed(&open.chain));
    }

    /// The sessions of names that are gone have ended: frees their numbers, and gives numbers to names that are spelled
    /// out.
    pub(crate) fn settle(&mut self, allowed: &Allowed) {
        let (indexes, runs) = std::mem::take(&mut self.leaving);
        indexes.into_iter().for_each(|index| self.give_back(index));
        self.free_runs.extend(runs);
        for name in allowed.iter().flat_map(|(_, names)| names).filter(|name| !name.starts_with("*.")) {
            // A name that finds no room now learns that when its client opens a session
            let _ = self.number(name);
        }
    }

    /// Frees an index, if a group still has its run.
    fn give_back(&mut self, index: u32) {
        if let Some(group) = self.groups.iter_mut().find(|group| group.runs.contains(&(index / self.run))) {
            group.free.push_back(index);
        }
    }

    /// The number of a name that may have a session; assigns one if it has none.
    pub(crate) fn number(&mut self, name: &str) -> Result<Number, NumberError> {
        if let Some(owner) = self.owners.get(name) {
            return Ok(owner.number);
        }
        if self.is_revoked(name) {
            return Err(NumberError::Revoked);
        }
        let group = &mut self.groups[self.allowed.find(name).ok_or(NumberError::Unknown)? as usize];
        let index = loop {
            let mut fresh = group.fresh(self.run, self.limit);
            if fresh.is_none()
                && (group.cluster.is_none() || group.runs.is_empty())
                && let Some(run) = self.free_runs.pop_first()
            {
                group.runs.push(run);
                group.given = 0;
                fresh = group.fresh(self.run, self.limit);
            }
            let index = fresh.or_else(|| group.free.pop_front()).ok_or(NumberError::Full)?;
            // A run that was another group's before may contain used-up indexes
            if !self.used_up.contains(&index) {
                break index;
            }
        };
        // 0 means that a number never had an owner
        let generation = self.next_generation.max(1);
        self.next_generation = generation.wrapping_add(1);
        let number = Number { index, generation };
        self.name_bytes += name_bytes(name);
        let owner = Owner { number, open: None, opening: 0, latest: None, opened: Minute::default() };
        self.owners.insert(name.into(), owner);
        Ok(number)
    }

    /// The first of the allowed names that can get no number while all others keep theirs, and how many such names
    /// there are.
    pub(crate) fn left_out(&self, allowed: &Allowed) -> Option<(String, usize)> {
        let (mut runs, mut first, mut count) = (self.free_runs.len(), None, 0);
        for (group, (cluster, names)) in self.groups.iter().zip(allowed) {
            let mut room = !group.free.is_empty() || group.has_fresh(self.run, self.limit);
            for name in names.iter().filter(|name| !self.is_revoked(name)) {
                if name.starts_with("*.") && !room && runs > 0 && (cluster.is_none() || group.runs.is_empty()) {
                    (runs, room) = (runs - 1, true);
                }
                let has_one = if name.starts_with("*.") { room } else { self.owners.contains_key(name.as_str()) };
                if !has_one {
                    first.get_or_insert(name);
                    count += 1;
                }
            }
        }
        first.map(|first| (first.clone(), count))
    }

    /// The least count of numbers that these names need.
    pub(crate) fn needed(&self, names: &[String]) -> usize {
        let (wild, spelled): (Vec<_>, Vec<_>) =
            names.iter().filter(|name| !self.is_revoked(name)).partition(|name| name.starts_with("*."));
        spelled.len() + usize::from(!wild.is_empty())
    }

    /// The number of a name that has one. Assigns nothing.
    pub(crate) fn find(&self, name: &str) -> Result<Number, NumberError> {
        match self.owners.get(name) {
            Some(owner) => Ok(owner.number),
            None if self.is_revoked(name) => Err(NumberError::Revoked),
            None if self.allowed.find(name).is_some() => Err(NumberError::Absent),
            None => Err(NumberError::Unknown),
        }
    }

    fn is_revoked(&self, name: &str) -> bool {
        self.revoked.find(name).is_some()
    }

    /// How many numbers have owners or are used up.
    pub(crate) fn used(&self) -> u32 {
        (self.owners.len() + self.used_up.len()) as u32
    }

    /// An estimate of the memory of names and certificates.
    pub(crate) fn bytes(&self) -> u64 {
        let table = self.owners.capacity() * (size_of::<(Box<str>, Owner)>() + 1);
        self.name_bytes + table as u64 + self.certificates.bytes()
    }

    /// All open sessions: name, number, and the details of the opening.
    pub(crate) fn open_sessions(&self) -> impl Iterator<Item = (&str, Number, &OpenSession)> {
        self.owners.iter().filter_map(|(name, owner)| Some((&**name, owner.number, owner.open.as_ref()?)))
    }

    /// Whether a certificate with this DNS name, which may begin with a wildcard, can belong to a client of this relay.
    pub(crate) fn knows(&self, dns_name: &str) -> bool {
        self.allowed.overlap(dns_name) && !self.is_revoked(dns_name)
    }
}

/// The memory of a name, with the rounding and overhead of the allocator.
fn name_bytes(name: &str) -> u64 {
    (name.len().next_multiple_of(16).max(16) + 8) as u64
}

impl Group {
    fn new(cluster: Option<String>) -> Group {
        Group { cluster, wild: BTreeSet::new(), runs: Vec::new(), given: 0, free: VecDeque::new() }
    }

    /// The next index of the last run, if there is one left.
    fn fresh(&mut self, run: u32, limit: u32) -> Option<u32> {
        let there = self.has_fresh(run, limit);
        let index = self.runs.last()? * run + self.given;
        self.given += u32::from(there);
        there.then_some(index)
    }

    fn has_fresh(&self, run: u32, limit: u32) -> bool {
        self.given < run && self.runs.last().is_some_and(|last| last * run + self.given < limit)
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
