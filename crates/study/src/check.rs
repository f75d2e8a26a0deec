//! Checks that stored verdicts follow from stored figures: every rule of a result file is applied again to the
//! quantities in that file, and to nothing else.

use std::path::Path;

use sealwright_measure::Verdict;

use crate::{
    error::StudyError,
    judgement::{Judged, Scoped},
    provenance::Provenance,
    results::{Results, load_attacks, load_bench},
    rule::NumberPosition,
    studies::{STUDIES, find},
};

/// The result of checking one study.
#[derive(Debug)]
pub struct Checked {
    /// Name of the study.
    pub study: String,
    /// Number of claims in the file.
    pub claims: usize,
    /// Number of verdicts computed again; directions and magnitudes are counted separately.
    pub verdicts: usize,
    /// The differences, one sentence each.
    pub differences: Vec<String>,
}

/// Checks all result files in `folder`. Files of this program, or of its `commit`, must have its claims.
///
/// # Errors
/// When a file or a rule cannot be read, or when there are no result files.
pub fn folder(folder: &Path, commit: &str) -> Result<Vec<Checked>, StudyError> {
    // A file without claims must be readable, too
    load_bench(folder)?;
    load_attacks(folder)?;
    let loaded = STUDIES.iter().filter_map(|study| Results::load(folder, study.name()).transpose());
    let this = Provenance::here(commit, None, Vec::new());
    let checked = |results: Result<Results, StudyError>| {
        let results = results?;
        let mut checked = check(&results)?;
        if same_program(&results.provenance, &this) {
            checked.differences.extend(other_claims(&results)?);
        }
        Ok(checked)
    };
    let all: Vec<Checked> = loaded.map(checked).collect::<Result<_, StudyError>>()?;
    if all.is_empty() {
        return Err(StudyError::NoResults(folder.to_owned()));
    }
    Ok(all)
}

/// Whether the two programs have the same hash or commit. A commit with changes (`+`) may be several programs.
fn same_program(a: &Provenance, b: &Provenance) -> bool {
    let commit = !a.commit.is_empty() && !a.commit.ends_with('+') && a.commit == b.commit;
    commit || (!a.program.is_empty() && a.program == b.program)
}

/// The claims of the file that are not those of this program, and those that it lacks.
fn other_claims(results: &Results) -> Result<Vec<String>, StudyError> {
    let claims = &find(&results.study)?.paper().claims;
    let stored = &results.outcome.claims;
    let known = |id: &str| claims.iter().any(|claim| claim.id == *id);
    let strange = stored.iter().filter(|claim| !known(&claim.id));
    let strange = strange.map(|claim| format!("{}: the paper has no such claim", claim.id));
    let changed = claims.iter().filter_map(|claim| {
        let Some(stored) = stored.iter().find(|stored| stored.id == claim.id) else {
            return Some(format!("{}: the claim is missing", claim.id));
        };
        let same = Judged { verdicts: Vec::new(), ..stored.clone() } == Judged::new(claim);
        (!same).then(|| format!("{}: the file has another rule or text than this program", claim.id))
    });
    Ok(strange.chain(changed).collect())
}

/// Checks the results of one study.
///
/// # Errors
/// When a rule cannot be read.
pub fn check(results: &Results) -> Result<Checked, StudyError> {
    let outcome = &results.outcome;
    let mut checked =
        Checked { study: results.study.clone(), claims: outcome.claims.len(), verdicts: 0, differences: Vec::new() };
    for claim in &outcome.claims {
        let mut again = Judged { verdicts: Vec::new(), ..claim.clone() }.judged(&outcome.quantities)?;
        // `reduced` comes from the attacks and cannot be computed from figures, so it is copied
        for scoped in &mut again.verdicts {
            let stored = claim.verdicts.iter().find(|stored| stored.scope == scoped.scope);
            scoped.reduced = stored.map(|stored| stored.reduced.clone()).unwrap_or_default();
        }
        let count = |one: &Scoped| usize::from(one.direction.is_some()) + usize::from(one.magnitude.is_some());
        checked.verdicts += again.verdicts.iter().map(count).sum::<usize>();
        checked.differences.extend(differences(claim, &again));
    }
    Ok(checked)
}

fn differences(stored: &Judged, again: &Judged) -> Vec<String> {
    let words = |one: Option<&Scoped>| {
        one.map_or("no verdict".to_owned(), |one| {
            let verdict: Option<Verdict> = one.direction.as_ref().map(|found| found.verdict);
            let place: Option<NumberPosition> = one.magnitude.as_ref().map(|found| found.place);
            let words = verdict.map(|verdict| verdict.to_string()).into_iter();
            words.chain(place.map(|place| format!("number {}", place.words()))).collect::<Vec<_>>().join(", ")
        })
    };
    let mut scopes: Vec<&str> = Vec::new();
    for scoped in stored.verdicts.iter().chain(&again.verdicts) {
        if !scopes.contains(&&scoped.scope[..]) {
            scopes.push(&scoped.scope);
        }
    }
    let find = |judged: &'_ Judged, scope: &str| judged.verdicts.iter().position(|one| one.scope == scope);
    let differs = |scope: &&str| {
        let (old, new) = (find(stored, scope), find(again, scope));
        let (old, new) = (old.map(|at| &stored.verdicts[at]), new.map(|at| &again.verdicts[at]));
        let (id, scope) = (&stored.id, *scope);
        (old != new).then(|| match (words(old), words(new)) {
            (old, new) if old == new => format!("{id}, {scope}: {old}, by other figures than the stored ones"),
            (old, new) => format!("{id}, {scope}: the file says {old}, its figures say {new}"),
        })
    };
    scopes.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{collections::BTreeMap, time::Duration};

    use sealwright_measure::Interval;

    use super::*;
    use crate::{judgement::judge, paper::Arithmetic, study::Outcome};

    /// Results that contain the claims of each paper, judged by the paper's own figures.
    fn results() -> Vec<Results> {
        let of = |study: &&dyn crate::Study| {
            let quantities = study.printed();
            let claims = judge(&study.paper().claims, &quantities).unwrap();
            let outcome = Outcome { claims, quantities, ..Outcome::default() };
            Results::new(study.name(), true, Duration::from_secs(1), outcome)
        };
        STUDIES.iter().map(of).collect()
    }

    #[test]
    fn what_was_stored_follows_from_the_stored_figures() {
        let place = tempfile::tempdir().unwrap();
        assert!(matches!(folder(place.path(), ""), Err(StudyError::NoResults(path)) if path == place.path()));
        results().iter().for_each(|results| results.store(place.path()).unwrap());
        let checked = folder(place.path(), "").unwrap();
        assert_eq!(checked.len(), STUDIES.len());
        for one in checked {
            assert!(one.differences.is_empty() && one.claims > 10 && one.verdicts > 3, "{one:?}");
        }
    }

    #[test]
    fn a_changed_figure_and_a_changed_verdict_are_found() {
        let mut changed = results().swap_remove(4);
        let fastest = changed.outcome.quantities.iter_mut().find(|one| one.name == "rate/Serpent-OCB").unwrap();
        fastest.figure = Interval::exact(90.0);
        let found = check(&changed).unwrap().differences;
        let said = "fastest, the paper's own table: the file says holds, number overlaps, its figures say does not \
                    hold, number above ours";
        assert!(found.contains(&said.to_owned()), "{found:#?}");

        let mut changed = results().swap_remove(0);
        let claim = changed.outcome.claims.iter_mut().find(|one| one.id == "proportional").unwrap();
        claim.verdicts[0].direction.as_mut().unwrap().verdict = Verdict::Holds;
        let found = check(&changed).unwrap().differences;
        let said = "proportional, the paper's own tables: the file says holds, its figures say does not hold";
        assert_eq!(found, [said]);
        changed.outcome.claims[0].verdicts.clear();
        assert_eq!(check(&changed).unwrap().differences.len(), 2, "a verdict that was left out");
    }

    /// A file that lost a claim, or has another rule, agrees with itself, but not with the program that wrote it.
    #[test]
    fn claims_that_are_missing_or_changed_are_found_in_files_of_the_same_program() {
        let place = tempfile::tempdir().unwrap();
        let mut file = results().swap_remove(0);
        let removed = file.outcome.claims.remove(0).id;
        file.outcome.claims[0].rule = None;
        file.outcome.claims[0].verdicts.iter_mut().for_each(|scoped| scoped.direction = None);
        file.outcome.claims[0].verdicts.retain(|scoped| scoped.magnitude.is_some());
        let changed = file.outcome.claims[0].id.clone();
        file.outcome.claims[1].id = "new".into();
        let found = |commit: &str, provenance: Provenance| {
            Results { provenance, ..file.clone() }.store(place.path()).unwrap();
            folder(place.path(), commit).unwrap().remove(0).differences
        };
        let other = Provenance { commit: "abc".into(), ..Provenance::default() };
        assert!(found("abd", other.clone()).is_empty(), "another program may have other claims");
        for by in [other, Provenance::here("abc+", None, Vec::new())] {
            let said = found(&by.commit, by.clone());
            let has = |text: String| assert!(said.contains(&text), "{text}: {said:#?}");
            has(format!("{removed}: the claim is missing"));
            has(format!("{changed}: the file has another rule or text than this program"));
            has("new: the paper has no such claim".to_owned());
        }
        let changes = Provenance { commit: "abc+".into(), ..Provenance::default() };
        assert!(found("abc+", changes).is_empty(), "changes of a commit are not told apart");
    }

    #[test]
    fn the_papers_own_figures_say_what_the_data_expect() {
        for study in STUDIES {
            let judged = judge(&study.paper().claims, &study.printed()).unwrap();
            for (claim, judged) in study.paper().claims.iter().zip(judged) {
                let found = judged.verdicts.iter().filter_map(|one| {
                    let verdict = one.direction.as_ref()?.verdict;
                    Some((one.scope.clone(), verdict))
                });
                let found: BTreeMap<String, Verdict> = found.collect();
                let expected = match &claim.arithmetic {
                    None => BTreeMap::new(),
                    Some(Arithmetic::One(verdict)) => {
                        found.keys().take(1).map(|only| (only.clone(), *verdict)).collect()
                    }
                    Some(Arithmetic::Each(each)) => each.clone(),
                };
                assert!(!found.is_empty() || claim.arithmetic.is_none(), "{}/{}", study.name(), claim.id);
                assert_eq!(
                    found,
                    expected,
                    "{}/{}: {}",
                    study.name(),
                    claim.id,
                    judged.verdicts.iter().map(Scoped::evidence).collect::<String>()
                );
            }
        }
    }
}
