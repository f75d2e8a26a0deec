//! Attacks as evidence: what a paper says of security is tried by running the attack that would refute it.

use sealwright_attacks::{Size, by_name};

use crate::{
    error::StudyError,
    quantity::{Kind, Quantities, Quantity},
};

/// The circumstance of what attacks found.
pub(crate) const SCOPE: &str = "attacks, run here";

/// Runs the attacks of these names in their small size. Each trial is a quantity, `attack succeeds/ATTACK/TARGET`, of one if the
/// attack succeeded and of zero if it did not.
pub(crate) fn run(names: &[&str], all: &mut Vec<Quantity>) -> Result<(), StudyError> {
    let mut add = Quantities::new(all, SCOPE, Kind::Measured);
    for name in names {
        let failed = |why: String| StudyError::Io(format!("the attack {name}"), std::io::Error::other(why));
        let attack = by_name(name).ok_or_else(|| failed("there is none of this name".to_owned()))?;
        let report = attack.run(Size::Small).map_err(|error| failed(error.to_string()))?;
        for trial in report.trials {
            add.exact(format!("attack succeeds/{name}/{}", trial.against), f64::from(u8::from(trial.succeeded)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{rule, studies::STUDIES};

    /// A rule whose name fits no trial has no verdict, and nobody would notice.
    #[test]
    fn every_attack_that_a_rule_names_has_its_trial() {
        let (mut named, mut missing) = (0, Vec::new());
        for study in STUDIES {
            let mut found = Vec::new();
            run(study.attacks(), &mut found).unwrap();
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
