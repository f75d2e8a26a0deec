//! Committing suites: `COMMITTING-` and the suite's name.

use sealwright::{Aead, Isa, Suite, committing::Committing};

use super::{
    compare::{aead, judge, refusal},
    contract::{Family, Outcome},
};
use crate::{Case, Expected};

pub(super) struct Committed;

/// The suite of an algorithm's name.
fn suite(alg: &str) -> Option<Suite> {
    alg.strip_prefix("COMMITTING-")?.parse().ok()
}

impl Family for Committed {
    fn has(&self, alg: &str) -> bool {
        suite(alg).is_some()
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["key", "nonce", "msg", "ct", "tag"]
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let Some(suite) = suite(&case.alg) else { return Outcome::Skipped };
        match Committing::at(isa, suite, &case.key) {
            Ok(mode) if case.tag_bits != 8 * mode.tag_len() => match case.expected {
                Expected::Invalid => Outcome::Passed,
                _ => Outcome::Skipped,
            },
            Ok(mode) => judge(aead(case, &mode)),
            Err(error) => judge(refusal(case, error.to_string().into())),
        }
    }
}
