//! Which shared cluster keys the client of a name may know. Those keys are replaced when it is no longer trusted or
//! leaves.
//!
//! A name that is spelled out owns one number as long as it is allowed, so its client knows the keys of one cluster. A
//! name allowed by a wildcard owns nothing once its session has ended, and a number that is used up is replaced. The
//! clusters where such a name was before are not recorded, so its client may know keys of any cluster of its group.

use std::{
    collections::{BTreeSet, HashSet},
    ops::Range,
};

use super::{Allowed, Group, Names, Number};
use crate::patterns::Patterns;

impl Names {
    /// The runs whose keys may be known to clients that a change removes from their groups, apart from the runs of
    /// numbers that they own at this moment. `now` is what is allowed after the change.
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
        // Names that were allowed by a wildcard and are spelled out from now on
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

    /// The first indexes of a run, one for each worker: indexes are dealt to the workers in turn, so each has one
    /// cluster of the run.
    pub(crate) fn first_indexes(&self, run: u32, workers: u32) -> Range<u32> {
        let first = run * self.run;
        first..first.saturating_add(workers.min(self.run)).min(self.limit)
    }

    /// One index in each cluster whose keys the client of a name may know: the cluster of this number, and those where
    /// the name may have been before.
    pub(crate) fn clusters_known_to(&self, name: &str, number: Number, workers: u32) -> Vec<u32> {
        let elsewhere = !self.allowed.spells_out(name) || self.moved.contains(name);
        let group = self.allowed.find(name).filter(|_| elsewhere).map(|at| &self.groups[at as usize]);
        let runs = group.map_or(&[][..], |group| &group.runs);
        // The first index of this worker in the run: indexes are dealt to the workers in turn
        let own = number.index - number.index % self.run + number.index % self.run % workers;
        runs.iter().flat_map(|run| self.first_indexes(*run, workers)).chain([own]).collect()
    }
}
