//! Attacks as evidence: what a paper says of security is tried by running the attack that would refute it.

use sealwright::Isa;
use sealwright_attacks::{Size, by_name};

use crate::{
    error::StudyError,
    judgement::Judged,
    quantity::{Quantities, Quantity, QuantityKind},
    rule,
};

/// The circumstance of what attacks found.
pub(crate) const SCOPE: &str = "attacks, run here";

/// A trial, by the name of its quantity, and what was reduced in it.
#[derive(Debug)]
pub(crate) struct Trial {
    name: String,
    reduced: Option<&'static str>,
}

/// How much work the attacks of a study may do. In full they take two minutes of CPU time with AVX-512, several times as
/// much at other levels with AES instructions, and far longer without.
fn size(quick: bool) -> Size {
    if quick || Isa::best().name() == "portable" { Size::Small } else { Size::Full }
}

/// Runs the attacks of these names: with the full grid as they are, with the quick one reduced. Each trial is a quantity,
/// `attack succeeds/ATTACK/TARGET`, of one if the attack succeeded and of zero if it did not. Returns the trials, with what was reduced.
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

/// The same claims, where a verdict rests on trials that were reduced with what was, and in which trials if not in all.
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

    /// What an attacker was told is a part of what it found.
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

    /// Where one of two trials ran in full, the other is named.
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

    /// A rule whose name fits no trial has no verdict, and nobody would notice.
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
