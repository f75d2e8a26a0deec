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
