//! Tests that take minutes, which `cargo test` ignores.

use crate::steps::Steps;

/// Their descriptions, packages and names.
const TESTS: [(&str, &str, &str); 2] = [
    ("a million messages", "sealwright", "a_million_random_messages"),
    ("attacks at full size", "sealwright-attacks", "every_attack_in_full"),
];

pub(crate) fn run(steps: &mut Steps) {
    for (name, package, test) in TESTS {
        let words = ["test", "--release", "--package", package, "--all-features", "--tests", "--", "--ignored", test];
        steps.cargo(name, &words, &[]);
    }
}
