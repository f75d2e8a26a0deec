//! Which number belongs to which name. A name keeps its number while the relay runs; names in the configuration get
//! numbers in its order, so that the same file gives the same numbers. Each time a number gets an owner, it gets a new
//! generation too.
//!
//! Numbers come in runs of one cluster each: schemes whose clients share keys share them within a run alone. Names under
//! `[clusters]` have a run that no others are in; all other names share as many runs as they need.
//!
//! Names are lower case here, as DNS names that differ in case alone are the same.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use rustls::pki_types::CertificateDer;

/// Who may have a session: the name of a cluster, or none for the rest, and its names. `*.x` stands for any first label.
pub(crate) type Allowed = Vec<(Option<String>, Vec<String>)>;

/// The certificate that a session was opened with, and those between it and its authority.
pub(crate) type Chain = Arc<Vec<CertificateDer<'static>>>;

/// Who may have a session, and who owns which number.
#[derive(Debug)]
pub(crate) struct Names {
    groups: Vec<Group>,
    owners: HashMap<String, Owner>,
    /// Indexes of one run.
    run: u32,
    limit: u32,
    free_runs: BTreeSet<u32>,
    /// The generation of the next owner.
    next_generation: u32,
}

/// What a name owns: the index of a session on this node, and the generation of its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

#[derive(Debug)]
struct Owner {
    number: Number,
    /// The session, if one was opened.
    open: Option<OpenSession>,
}

/// A session that was opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenSession {
    pub(crate) since: Instant,
    pub(crate) chain: Chain,
}

/// Names that share runs.
#[derive(Debug)]
struct Group {
    cluster: Option<String>,
    allowed: Vec<String>,
    runs: Vec<u32>,
    /// How many indexes of the last run were given out.
    given: u32,
    /// Indexes whose owners are gone, the one that has been free longest first.
    free: VecDeque<u32>,
}

/// Why a name has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// The configuration does not allow the name.
    Unknown,
    /// The name is allowed, but has no session.
    Absent,
    /// All sessions are taken.
    Full,
}

impl Names {
    /// Indexes below `limit`, in runs of `run`. Generations begin at `first_generation`, which should be random.
    pub(crate) fn new(allowed: &Allowed, run: u32, limit: u32, first_generation: u32) -> Names {
        let free_runs = (0..limit.div_ceil(run)).collect();
        let mut names = Names {
            groups: Vec::new(),
            owners: HashMap::new(),
            run,
            limit,
            free_runs,
            next_generation: first_generation,
        };
        names.set(allowed);
        names
    }

    /// Allows other names from now on. Returns the names that are gone, and what they owned.
    pub(crate) fn set(&mut self, allowed: &Allowed) -> Vec<(String, Number)> {
        let mut before = std::mem::take(&mut self.groups);
        for (cluster, names) in allowed {
            let known = before.iter().position(|group| group.cluster == *cluster).map(|at| before.swap_remove(at));
            let new = Group {
                cluster: cluster.clone(),
                allowed: Vec::new(),
                runs: Vec::new(),
                given: 0,
                free: VecDeque::new(),
            };
            self.groups.push(Group { allowed: names.clone(), ..known.unwrap_or(new) });
        }
        let stays = |name: &str, index: u32| {
            let group = self.groups.iter().find(|group| group.allows(name));
            group.is_some_and(|group| group.runs.contains(&(index / self.run)))
        };
        let mut gone: Vec<(String, Number)> = Vec::new();
        for (name, owner) in self.owners.iter().filter(|(name, owner)| !stays(name, owner.number.index)) {
            gone.push((name.clone(), owner.number));
        }
        gone.sort_by_key(|(_, number)| number.index);
        for (name, number) in &gone {
            self.owners.remove(name);
            if let Some(group) = self.groups.iter_mut().find(|group| group.runs.contains(&(number.index / self.run))) {
                group.free.push_back(number.index);
            }
        }
        // Clusters that are gone give back their runs
        self.free_runs.extend(before.into_iter().flat_map(|group| group.runs));
        for name in allowed.iter().flat_map(|(_, names)| names).filter(|name| !name.starts_with("*.")) {
            // A name that finds no room now is told so when its client comes
            let _ = self.number(name);
        }
        gone
    }

    /// The number of a name that may have a session. Gives it one if it has none.
    pub(crate) fn number(&mut self, name: &str) -> Result<Number, NoNumber> {
        if let Some(owner) = self.owners.get(name) {
            return Ok(owner.number);
        }
        let group = self.groups.iter_mut().find(|group| group.allows(name)).ok_or(NoNumber::Unknown)?;
        let mut fresh = group.fresh(self.run, self.limit);
        if fresh.is_none()
            && (group.cluster.is_none() || group.runs.is_empty())
            && let Some(run) = self.free_runs.pop_first()
        {
            group.runs.push(run);
            group.given = 0;
            fresh = group.fresh(self.run, self.limit);
        }
        let index = fresh.or_else(|| group.free.pop_front()).ok_or(NoNumber::Full)?;
        // 0 stands for a number that never had an owner
        let generation = self.next_generation.max(1);
        self.next_generation = generation.wrapping_add(1);
        let number = Number { index, generation };
        self.owners.insert(name.to_owned(), Owner { number, open: None });
        Ok(number)
    }

    /// The number of a name that has one. Changes nothing.
    pub(crate) fn find(&self, name: &str) -> Result<Number, NoNumber> {
        match self.owners.get(name) {
            Some(owner) => Ok(owner.number),
            None if self.groups.iter().any(|group| group.allows(name)) => Err(NoNumber::Absent),
            None => Err(NoNumber::Unknown),
        }
    }

    /// The session of a name was opened under this number. Whether the name still owns it.
    pub(crate) fn opened(&mut self, name: &str, number: Number, open: OpenSession) -> bool {
        let owner = self.owners.get_mut(name).filter(|owner| owner.number == number);
        owner.map(|owner| owner.open = Some(open)).is_some()
    }

    /// The session of a name under this number has ended.
    pub(crate) fn closed(&mut self, name: &str, number: Number) {
        if let Some(owner) = self.owners.get_mut(name).filter(|owner| owner.number == number) {
            owner.open = None;
        }
    }

    /// The number of a name cannot be used any more, by anybody.
    pub(crate) fn retire(&mut self, name: &str, number: Number) {
        if self.owners.get(name).is_some_and(|owner| owner.number == number) {
            self.owners.remove(name);
        }
    }

    /// All sessions that were opened: name, number, and when and with which certificate.
    pub(crate) fn open_sessions(&self) -> impl Iterator<Item = (&str, Number, &OpenSession)> {
        self.owners.iter().filter_map(|(name, owner)| Some((name.as_str(), owner.number, owner.open.as_ref()?)))
    }

    /// Whether a certificate with this DNS name, which may begin with a wildcard, can belong to a client of this relay.
    pub(crate) fn knows(&self, dns_name: &str) -> bool {
        self.groups.iter().any(|group| group.allowed.iter().any(|allowed| overlap(allowed, dns_name)))
    }
}

/// Whether a name matches a pattern.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(rest) => name.split_once('.').is_some_and(|(first, after)| !first.is_empty() && after == rest),
        None => pattern == name,
    }
}

/// Whether some name matches both patterns.
fn overlap(a: &str, b: &str) -> bool {
    a == b || matches(a, b) || matches(b, a)
}

impl Group {
    fn allows(&self, name: &str) -> bool {
        self.allowed.iter().any(|allowed| matches(allowed, name))
    }

    /// The next index of the last run, if there is one left.
    fn fresh(&mut self, run: u32, limit: u32) -> Option<u32> {
        let index = self.runs.last()? * run + self.given;
        let there = self.given < run && index < limit;
        self.given += u32::from(there);
        there.then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn rest(names: &[&str]) -> Allowed {
        vec![(None, list(names))]
    }

    fn new(allowed: &Allowed, run: u32, limit: u32) -> Names {
        Names::new(allowed, run, limit, 1)
    }

    fn number(names: &mut Names, name: &str) -> Result<u32, NoNumber> {
        names.number(name).map(|number| number.index)
    }

    fn set(names: &mut Names, allowed: &Allowed) -> Vec<(String, u32)> {
        names.set(allowed).into_iter().map(|(name, number)| (name, number.index)).collect()
    }

    #[test]
    fn names_keep_their_numbers_while_others_come_and_go() {
        for run in [1, 2, 100] {
            let mut names = new(&rest(&["alice", "bob"]), run, 3);
            assert_eq!((number(&mut names, "alice"), number(&mut names, "bob")), (Ok(0), Ok(1)));
            assert_eq!(number(&mut names, "carol"), Err(NoNumber::Unknown));
            assert_eq!(set(&mut names, &rest(&["bob", "carol"])), [("alice".to_owned(), 0)]);
            assert_eq!((number(&mut names, "bob"), number(&mut names, "carol")), (Ok(1), Ok(2)));
            assert_eq!(number(&mut names, "alice"), Err(NoNumber::Unknown));
            assert_eq!(set(&mut names, &rest(&["bob", "carol", "dave", "erin"])), []);
            assert_eq!(number(&mut names, "dave"), Ok(0), "the free one");
            assert_eq!(number(&mut names, "erin"), Err(NoNumber::Full));
        }
    }

    #[test]
    fn a_wildcard_stands_for_one_label() {
        let mut names = new(&rest(&["*.load"]), 10, 10);
        assert_eq!(
            (number(&mut names, "1.load"), number(&mut names, "2.load"), number(&mut names, "1.load")),
            (Ok(0), Ok(1), Ok(0))
        );
        for name in ["load", ".load", "1.2.load", "1.unload", "*"] {
            assert_eq!(number(&mut names, name), Err(NoNumber::Unknown), "{name}");
        }
    }

    #[test]
    fn clusters_share_no_run_and_come_and_go() {
        let with = |clusters: &[(&str, &[&str])]| {
            let mut allowed = rest(&["alice", "bob", "carol"]);
            allowed.extend(clusters.iter().map(|(name, names)| (Some((*name).to_owned()), list(names))));
            allowed
        };
        let mut names = new(&with(&[("a", &["*.a"])]), 2, 8);
        assert_eq!(
            (names.owners["alice"].number.index, names.owners["bob"].number.index, names.owners["carol"].number.index),
            (0, 1, 2)
        );
        assert_eq!((number(&mut names, "1.a"), number(&mut names, "2.a")), (Ok(4), Ok(5)));
        assert_eq!(number(&mut names, "3.a"), Err(NoNumber::Full), "a cluster stays within its run");
        set(&mut names, &with(&[("a", &["*.a"]), ("b", &["*.b"])]));
        assert_eq!((number(&mut names, "1.a"), number(&mut names, "1.b")), (Ok(4), Ok(6)));
        let gone = set(&mut names, &with(&[("b", &["*.b"])]));
        assert_eq!(gone, [("1.a".to_owned(), 4), ("2.a".to_owned(), 5)]);
        assert_eq!(number(&mut names, "1.a"), Err(NoNumber::Unknown));
        set(&mut names, &with(&[("b", &["*.b"]), ("c", &["*.c"])]));
        assert_eq!(
            (number(&mut names, "1.b"), number(&mut names, "1.c")),
            (Ok(6), Ok(4)),
            "the run that is free again"
        );
        // A name that moves is another session
        let gone = set(&mut names, &with(&[("b", &["carol"])])[1..].to_vec());
        assert!(gone.contains(&("carol".to_owned(), 2)), "{gone:?}");
        assert_eq!(number(&mut names, "carol"), Ok(7));
    }

    #[test]
    fn a_number_has_another_generation_with_each_owner() {
        let mut names = Names::new(&rest(&["alice"]), 10, 1, u32::MAX);
        let first = names.number("alice");
        assert_eq!(first, Ok(Number { index: 0, generation: u32::MAX }));
        assert_eq!(names.number("alice"), first, "it is the same owner");
        names.set(&rest(&["bob"]));
        assert_eq!(names.number("bob"), Ok(Number { index: 0, generation: 1 }), "0 is left out");
        names.set(&rest(&["alice"]));
        assert_eq!(names.number("alice"), Ok(Number { index: 0, generation: 2 }));
    }

    #[test]
    fn looking_up_a_name_gives_it_no_number() {
        let mut names = new(&rest(&["*.load", "alice"]), 10, 2);
        for name in 0..100 {
            assert_eq!(names.find(&format!("{name}.load")), Err(NoNumber::Absent));
            assert_eq!(names.find(&format!("{name}.other")), Err(NoNumber::Unknown));
        }
        assert!(names.find("alice").is_ok() && names.number("1.load").is_ok() && names.find("1.load").is_ok());
    }

    #[test]
    fn a_session_opened_for_a_former_owner_is_noticed() {
        let mut names = new(&rest(&["alice"]), 10, 1);
        let number = names.number("alice").expect("room");
        let open = || OpenSession { since: Instant::now(), chain: Chain::default() };
        names.set(&rest(&["bob"]));
        assert!(!names.opened("alice", number, open()), "alice was removed meanwhile");
        let number = names.number("bob").expect("room");
        assert!(names.opened("bob", number, open()));
        assert_eq!(names.open_sessions().count(), 1);
        names.closed("bob", Number { generation: 99, ..number });
        assert_eq!(names.open_sessions().count(), 1, "another generation");
        names.closed("bob", number);
        assert_eq!(names.open_sessions().count(), 0);
    }

    #[test]
    fn a_retired_number_is_given_to_nobody() {
        let mut names = new(&rest(&["alice"]), 10, 2);
        let number = names.number("alice").expect("room");
        names.retire("alice", number);
        let other = names.number("alice").expect("room");
        assert_ne!(other.index, number.index);
        names.retire("alice", number);
        assert_eq!(names.find("alice"), Ok(other), "retired before");
        names.retire("alice", other);
        assert_eq!(names.number("alice"), Err(NoNumber::Full));
    }

    #[test]
    fn certificates_of_clients_are_known_by_their_names() {
        let names = new(&rest(&["alice", "*.load.test", "one.sensors.test"]), 10, 10);
        for known in ["alice", "*.load.test", "7.load.test", "*.sensors.test", "one.sensors.test"] {
            assert!(names.knows(known), "{known}");
        }
        for unknown in ["bob", "load.test", "*.test", "two.sensors.test", "1.2.load.test"] {
            assert!(!names.knows(unknown), "{unknown}");
        }
    }
}
