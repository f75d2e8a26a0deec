//! Of which clusters the client of a name may know the keys that all share.
//!
//! A name that is spelled out owns one number as long as it is allowed, so its client knows the keys of one cluster. A
//! name that a wildcard allows owns nothing once its session has ended; and a number that is used up is replaced. Of
//! such names nobody knows where in their groups they were.

use std::{
    collections::{BTreeSet, HashSet},
    ops::Range,
};

use super::{Allowed, Group, Names, Number};
use crate::patterns::Patterns;

impl Names {
    /// The runs where those were that a change takes out of their groups, but for what they own there. `now` is what is
    /// allowed from now on.
    pub(super) fn runs_known_to_those_who_leave(
        &mut self,
        now: (&Allowed, &Patterns),
        revoked: &[String],
    ) -> BTreeSet<u32> {
        let fresh = revoked.iter().filter(|name| !self.is_revoked(name));
        let groups: BTreeSet<u32> = fresh.filter_map(|name| self.allowed.find_wild(name)).collect();
        let groups = groups.iter().map(|at| &self.groups[*at as usize]);
        let mut runs: BTreeSet<u32> = groups.flat_map(|group| &group.runs).copied().collect();
        let (revoked, (allowed, now)) = (Patterns::of(revoked), now);
        let stays = |name: &str, group: &Group| {
            now.find(name).is_some_and(|at| allowed[at as usize].0 == group.cluster) && revoked.find(name).is_none()
        };
        let mut moved: HashSet<Box<str>> = HashSet::new();
        for name in &self.moved {
            let Some(at) = self.allowed.find(name) else { continue };
            let group = &self.groups[at as usize];
            if !stays(name, group) {
                runs.extend(&group.runs);
            } else if now.spells_out(name) {
                moved.insert(name.clone());
            }
        }
        // Who is spelled out from now on, and was allowed by a wildcard
        for name in allowed.iter().flat_map(|(_, names)| names).filter(|name| !name.starts_with("*.")) {
            let Some(at) = self.allowed.find_wild(name).filter(|_| !self.is_revoked(name)) else { continue };
            let group = &self.groups[at as usize];
            if stays(name, group) {
                moved.insert(name.as_str().into());
            } else {
                runs.extend(&group.runs);
            }
        }
        self.moved = moved;
        runs
    }

    /// The first index of a run for each of so many workers, which have a cluster of it each.
    pub(crate) fn first_indexes(&self, run: u32, workers: u32) -> Range<u32> {
        let first = run * self.run;
        first..first.saturating_add(workers.min(self.run)).min(self.limit)
    }

    /// An index of each cluster whose keys the client of a name may know: that of this number, and where else it may
    /// have been.
    pub(crate) fn clusters_known_to(&self, name: &str, number: Number, workers: u32) -> Vec<u32> {
        let elsewhere = !self.allowed.spells_out(name) || self.moved.contains(name);
        let group = self.allowed.find(name).filter(|_| elsewhere).map(|at| &self.groups[at as usize]);
        let runs = group.map_or(&[][..], |group| &group.runs);
        // Workers take turns
        let own = number.index - number.index % self.run + number.index % self.run % workers;
        runs.iter().flat_map(|run| self.first_indexes(*run, workers)).chain([own]).collect()
    }
}
