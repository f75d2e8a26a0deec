//! Families of algorithms, one a file.

mod chain;
mod gcm;
mod ocb;
mod raw;

use crate::{Case, Expected, hex};
use sealwright::{Aead, Isa};

/// Algorithms that are tested in one way.
pub trait Family: Sync {
    /// Whether the family has the algorithm of this name.
    fn has(&self, alg: &str) -> bool;
    /// Runs one case at one level.
    fn run(&self, case: &Case, isa: Isa) -> Outcome;
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As the vector says.
    Passed,
    /// Not as the vector says; what differs.
    Failed(String),
    /// The algorithm or its parameters are not built.
    Skipped,
}

/// Every family.
const FAMILIES: &[&dyn Family] = &[&gcm::Gcm, &ocb::Ocb, &raw::Raw, &chain::MonteCarlo];

/// The family that has `alg`.
pub(crate) fn of(alg: &str) -> Option<&'static dyn Family> {
    FAMILIES.iter().copied().find(|family| family.has(alg))
}

/// Passed if nothing is wrong.
pub(crate) fn judge(result: Result<(), String>) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed,
        Err(what) => Outcome::Failed(what),
    }
}

/// Whether two texts are equal, or what they are.
pub(crate) fn equal(name: &str, ours: &[u8], theirs: &[u8]) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    Err(format!("{name} {} instead of {}", hex::brief(ours), hex::brief(theirs)))
}

/// A case of an AEAD, both ways: sealing gives the ciphertext and tag, opening the text; a forgery is refused and leaves
/// nothing.
pub(crate) fn aead(case: &Case, aead: &dyn Aead) -> Result<(), String> {
    let mut text = case.ct.clone();
    let opened = aead.open_in_place(&case.nonce, &case.ad, &mut text, &case.tag);
    if case.expected == Expected::Invalid {
        if opened.is_ok() {
            return Err("opened, but must be refused".into());
        }
        return if text.iter().all(|&byte| byte == 0) { Ok(()) } else { Err("refused, but left a text".into()) };
    }
    if opened.is_err() {
        let may = case.expected == Expected::Acceptable;
        return if may { Ok(()) } else { Err("refused, but is authentic".into()) };
    }
    equal("plaintext", &text, &case.msg)?;
    let mut text = case.msg.clone();
    match aead.seal_in_place(&case.nonce, &case.ad, &mut text) {
        Ok(tag) => equal("ciphertext", &text, &case.ct).and_then(|()| equal("tag", tag.as_ref(), &case.tag)),
        Err(error) => Err(format!("not sealed: {error}")),
    }
}
