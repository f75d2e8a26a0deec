//! Which number belongs to which name. A name keeps its number while the relay runs; names in the configuration get
//! theirs in its order, so the same file gives the same numbers.
//!
//! Numbers come in runs of one cluster each: schemes whose clients share keys share them within a run alone. Names under
//! `[clusters]` have a run that no others are in; all the rest share as many runs as they need.

use std::collections::{BTreeSet, HashMap, VecDeque};

/// Who may have a session: a cluster's name, none for the rest, and the names in it. `*.x` stands for any first label.
pub(crate) type Allowed = Vec<(Option<String>, Vec<String>)>;

/// Who may have a session, and its index.
#[derive(Debug)]
pub(crate) struct Names {
    groups: Vec<Group>,
    index: HashMap<String, u32>,
    /// Indexes of one run.
    run: u32,
    limit: u32,
    free_runs: BTreeSet<u32>,
}

/// Names that share runs.
#[derive(Debug)]
struct Group {
    cluster: Option<String>,
    allowed: Vec<String>,
    runs: Vec<u32>,
    /// How many indexes of the last run were given.
    given: u32,
    /// Indexes of names that are gone, the one that has been free longest first.
    free: VecDeque<u32>,
}

/// Why a name has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// The configuration does not know it.
    Unknown,
    /// All sessions are taken.
    Full,
}

impl Names {
    /// Indexes below `limit`, in runs of `run`.
    pub(crate) fn new(allowed: &Allowed, run: u32, limit: u32) -> Names {
        let free_runs = (0..limit.div_ceil(run)).collect();
        let mut names = Names { groups: Vec::new(), index: HashMap::new(), run, limit, free_runs };
        names.set(allowed);
        names
    }

    /// Other names from now on: the indexes of those that are gone.
    pub(crate) fn set(&mut self, allowed: &Allowed) -> Vec<(String, u32)> {
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
        let at_home = |name: &str, index: u32| {
            let home = self.groups.iter().find(|group| group.allows(name));
            home.is_some_and(|group| group.runs.contains(&(index / self.run)))
        };
        let mut gone: Vec<(String, u32)> = Vec::new();
        for (name, &index) in self.index.iter().filter(|&(name, &index)| !at_home(name, index)) {
            gone.push((name.clone(), index));
        }
        gone.sort_by_key(|&(_, index)| index);
        for (name, index) in &gone {
            self.index.remove(name);
            if let Some(group) = self.groups.iter_mut().find(|group| group.runs.contains(&(index / self.run))) {
                group.free.push_back(*index);
            }
        }
        // Clusters that are gone leave their runs
        self.free_runs.extend(before.into_iter().flat_map(|group| group.runs));
        for name in allowed.iter().flat_map(|(_, names)| names).filter(|name| !name.starts_with("*.")) {
            // Those that find no room now are told so when they come
            let _ = self.number(name);
        }
        gone
    }

    /// The index of a name.
    pub(crate) fn number(&mut self, name: &str) -> Result<u32, NoNumber> {
        if let Some(&index) = self.index.get(name) {
            return Ok(index);
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
        self.index.insert(name.to_owned(), index);
        Ok(index)
    }
}

impl Group {
    fn allows(&self, name: &str) -> bool {
        self.allowed.iter().any(|allowed| match allowed.strip_prefix("*.") {
            Some(rest) => name.split_once('.').is_some_and(|(first, after)| !first.is_empty() && after == rest),
            None => allowed == name,
        })
    }

    /// The next index of the last run, if it has one left.
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

    #[test]
    fn names_keep_their_numbers_while_others_come_and_go() {
        for run in [1, 2, 100] {
            let mut names = Names::new(&rest(&["alice", "bob"]), run, 3);
            assert_eq!((names.number("alice"), names.number("bob")), (Ok(0), Ok(1)));
            assert_eq!(names.number("carol"), Err(NoNumber::Unknown));
            assert_eq!(names.set(&rest(&["bob", "carol"])), [("alice".to_owned(), 0)]);
            assert_eq!((names.number("bob"), names.number("carol")), (Ok(1), Ok(2)));
            assert_eq!(names.number("alice"), Err(NoNumber::Unknown));
            assert_eq!(names.set(&rest(&["bob", "carol", "dave", "erin"])), []);
            assert_eq!(names.number("dave"), Ok(0), "the free one");
            assert_eq!(names.number("erin"), Err(NoNumber::Full));
        }
    }

    #[test]
    fn a_wildcard_stands_for_one_label() {
        let mut names = Names::new(&rest(&["*.load"]), 10, 10);
        assert_eq!((names.number("1.load"), names.number("2.load"), names.number("1.load")), (Ok(0), Ok(1), Ok(0)));
        for name in ["load", ".load", "1.2.load", "1.unload", "*"] {
            assert_eq!(names.number(name), Err(NoNumber::Unknown), "{name}");
        }
    }

    #[test]
    fn clusters_share_no_run_and_come_and_go() {
        let with = |clusters: &[(&str, &[&str])]| {
            let mut allowed = rest(&["alice", "bob", "carol"]);
            allowed.extend(clusters.iter().map(|(name, names)| (Some((*name).to_owned()), list(names))));
            allowed
        };
        let mut names = Names::new(&with(&[("a", &["*.a"])]), 2, 8);
        assert_eq!((names.index["alice"], names.index["bob"], names.index["carol"]), (0, 1, 2));
        assert_eq!((names.number("1.a"), names.number("2.a")), (Ok(4), Ok(5)));
        assert_eq!(names.number("3.a"), Err(NoNumber::Full), "a cluster stays within its run");
        names.set(&with(&[("a", &["*.a"]), ("b", &["*.b"])]));
        assert_eq!((names.number("1.a"), names.number("1.b")), (Ok(4), Ok(6)));
        let gone = names.set(&with(&[("b", &["*.b"])]));
        assert_eq!(gone, [("1.a".to_owned(), 4), ("2.a".to_owned(), 5)]);
        assert_eq!(names.number("1.a"), Err(NoNumber::Unknown));
        names.set(&with(&[("b", &["*.b"]), ("c", &["*.c"])]));
        assert_eq!((names.number("1.b"), names.number("1.c")), (Ok(6), Ok(4)), "the run that is free again");
        // A name that moves is another session
        let gone = names.set(&with(&[("b", &["carol"])])[1..].to_vec());
        assert!(gone.contains(&("carol".to_owned(), 2)), "{gone:?}");
        assert_eq!(names.number("carol"), Ok(7));
    }
}
