//! Attacks as evidence: a security claim of a paper is tested by running the attack that would refute it.

use sealwright::Isa;
use sealwright_attacks::{Size, by_name};

use crate::{
    error::StudyError,
    judgement::Judged,
    quantity::{Quantities, Quantity, QuantityKind},
    rule,
};

/// The circumstance (scope) of verdicts that are based on attacks.
pub(crate) const SCOPE: &str = "attacks, run here";

/// One attempt of an attack against a target: the name of its quantity, and how it was reduced, if it was.
#[derive(Debug)]
pub(crate) struct Trial {
    name: String,
    reduced: Option<&'static str>,
}

/// The size of the attacks of a study. In full they take two minutes of CPU time with AVX-512, several times as much
/// at other levels with AES instructions, and far longer without.
fn size(quick: bool) -> Size {
    if quick || Isa::best().name() == "portable" { Size::Small } else { Size::Full }
}

/// Runs the named attacks, reduced if the grid is `quick` or the level is portable. Adds a quantity `attack
/// succeeds/ATTACK/TARGET` for each trial: 1 if the attack succeeded, otherwise 0. Returns the trials.
pub(crate) fn run(names: &[&str], quick: bool, all: &mut Vec<Quantity>) -> Result<Vec<Trial>, StudyError> {
    let mut add = Quantities::new(all, SCOPE, QuantityKind::Measured);
    let mut trials = Vec::new();
    for name in names {
        let failed = |why: String| StudyError::Io(format!("the attack {name}"), std::io::Error::other(why));
        let attack = by_name(name).ok_or_else(|| failed("there is none of this name".to_owned()))?;
        let report = attack.run(size(quick)).map_err(|error| failed(error.to_string()))?;
        for trial in report.trials {
            let name = format!("attack succeeds/{name}/{}", trial.against);
            add.exact(name.clone(), f64::from(u8::from(trial.succeeded)));
            trials.push(Trial { name, reduced: trial.reduced });
        }
    }
    Ok(trials)
}

/// Adds to each verdict how the trials that it is based on were reduced, with the targets if not all of them were
/// reduced.
pub(crate) fn told(claims: Vec<Judged>, trials: &[Trial]) -> Result<Vec<Judged>, StudyError> {
    let with_words = |mut claim: Judged| -> Result<Judged, StudyError> {
        let Some(rule) = &claim.rule else { return Ok(claim) };
        let mut about = Vec::new();
        for trial in trials {
            if rule::is_about(rule, &trial.name)? {
                about.push(trial);
            }
        }
        let mut sentences: Vec<String> = Vec::new();
        for words in about.iter().filter_map(|trial| trial.reduced) {
            if sentences.iter().any(|sentence| sentence.starts_with(words)) {
                continue;
            }
            let (with, without): (Vec<&Trial>, _) = about.iter().partition(|trial| trial.reduced == Some(words));
            let targets: Vec<&str> = with.iter().filter_map(|trial| trial.name.splitn(3, '/').nth(2)).collect();
            sentences.push(match &without[..] {
                [] => words.to_owned(),
                _ => format!("{words} (against {})", targets.join("; ")),
            });
        }
        for scoped in claim.verdicts.iter_mut().filter(|scoped| scoped.scope == SCOPE) {
            scoped.reduced.clone_from(&sentences);
        }
        Ok(claim)
    };
    claims.into_iter().map(with_words).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{judgement::judge, studies::STUDIES};

    /// A verdict must say that the attack was reduced, as a reduced attack finds less.
    #[test]
    fn verdicts_on_reduced_attacks_say_what_was_reduced() {
        let mut tried = 0;
        for study in STUDIES {
            let mut found = Vec::new();
            let trials = run(study.attacks(), true, &mut found).unwrap();
            let claims = told(judge(&study.paper().claims, &found).unwrap(), &trials).unwrap();
            let reduced: Vec<(&String, &str)> =
                trials.iter().filter_map(|trial| Some((&trial.name, trial.reduced?))).collect();
            for (name, words) in &reduced {
                let about = |claim: &&Judged| claim.rule.iter().any(|rule| rule::is_about(rule, name).unwrap());
                for scoped in claims.iter().filter(about).flat_map(|claim| &claim.verdicts) {
                    assert!(scoped.evidence().contains(words), "{name}: {}", scoped.evidence());
                    tried += 1;
                }
            }
            let others = claims.iter().filter(|claim| {
                let rule = claim.rule.as_deref().unwrap_or_default();
                reduced.iter().all(|(name, _)| !rule::is_about(rule, name).unwrap_or(false))
            });
            assert!(others.flat_map(|claim| &claim.verdicts).all(|scoped| scoped.reduced.is_empty()));
        }
        assert!(tried >= 3, "{tried}");
    }

    /// If one of two trials ran in full, the note names the reduced one.
    #[test]
    fn a_verdict_on_a_full_and_a_reduced_trial_names_the_reduced_one() {
        let study = STUDIES.iter().find(|study| study.name() == "sessions").unwrap();
        let mut found = Vec::new();
        let mut trials = run(study.attacks(), true, &mut found).unwrap();
        let full = "attack succeeds/gscm-keys/gscm(clmul), 256 packets";
        trials.iter_mut().find(|trial| trial.name == full).unwrap().reduced = None;
        let claims = told(judge(&study.paper().claims, &found).unwrap(), &trials).unwrap();
        let insider = claims.iter().find(|claim| claim.id == "insider").unwrap();
        let evidence = insider.verdicts.iter().find(|scoped| scoped.scope == SCOPE).unwrap().evidence();
        assert!(evidence.contains("(against gscm(clmul), one known text)"), "{evidence}");
    }

    /// A rule that matches no trial would silently have no verdict.
    #[test]
    fn every_attack_that_a_rule_names_has_its_trial() {
        let (mut named, mut missing) = (0, Vec::new());
        for study in STUDIES {
            let mut found = Vec::new();
            run(study.attacks(), true, &mut found).unwrap();
            for claim in &study.paper().claims {
                let names = claim.rule.iter().flat_map(|rule| rule.split('\'').skip(1).step_by(2));
                for name in names.filter(|name| name.starts_with("attack succeeds/")) {
                    named += 1;
                    if rule::direction(&format!("every '{name}' < 0.5"), &found, SCOPE).unwrap().is_none() {
                        missing.push(format!("{}/{}: {name}", study.name(), claim.id));
                    }
                }
            }
        }
        assert!(missing.is_empty() && named > 10, "{named}: {missing:?}");
    }
}
