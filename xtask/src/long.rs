//! Tests that take minutes, which `cargo test` ignores.

use crate::steps::Steps;

/// Their descriptions, packages and names.
const TESTS: [(&str, &str, &str); 2] = [
    ("a million messages", "sealwright", "a_million_random_messages"),
    ("attacks at full size", "sealwright-attacks", "every_attack_in_full"),
];

pub(crate) fn run(steps: &mut Steps) {
    for (name, package, test) in TESTS {
        let words = [
            "test",
            "--release",
            "--package",
            package,
            "--all-features",
            "--tests",
            "--",
            "--ignored",
            "--exact",
            test,
        ];
        steps.cargo(name, &words, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::TESTS;

    /// A name that no test has would select none, and the step would pass.
    #[test]
    fn each_is_a_test_that_names_this_command_and_none_is_left_out() {
        let files =
            [include_str!("../../crates/aead/tests/xaes.rs"), include_str!("../../crates/attacks/tests/attacks.rs")];
        let marked: Vec<_> = files.iter().flat_map(|file| file.split("`cargo xtask long`\"]").skip(1)).collect();
        assert_eq!(marked.len(), TESTS.len());
        for ((_, _, name), after) in TESTS.iter().zip(marked) {
            assert!(after.trim_start().starts_with(&format!("fn {name}()")), "{name}");
        }
    }
}
