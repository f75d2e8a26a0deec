//! The layers of the workspace: no crate depends on one above it, no product crate on the laboratory. Each says which Rust it needs.

use serde_json::Value;

use crate::steps::{Checked, Steps};

/// What users install: each crate, and those of ours that it may depend on.
pub(crate) const PRODUCT: &[(&str, &[&str])] = &[
    ("sealwright", &[]),
    ("sealwright-vectors", &["sealwright"]),
    ("sealwright-stream", &["sealwright"]),
    ("sealwright-file", &["sealwright", "sealwright-stream"]),
    ("sealwright-fork", &[]),
    ("sealwright-session", &["sealwright"]),
    ("sealwright-relay", &["sealwright", "sealwright-session", "sealwright-rustls"]),
    ("sealwright-rustls", &["sealwright"]),
    ("sealwright-capi", &["sealwright", "sealwright-stream", "sealwright-file", "sealwright-fork"]),
    // It is the laboratory's way into Python too: the simulator is no part of the product, but of the package.
    (
        "sealwright-python",
        &["sealwright", "sealwright-file", "sealwright-fork", "sealwright-session", "sealwright-smp"],
    ),
    ("sealwright-terminal", &["sealwright"]),
    (
        "sealwright-cli",
        &["sealwright", "sealwright-file", "sealwright-relay", "sealwright-terminal", "sealwright-vectors"],
    ),
];

/// What measures, attacks and simulates. It may depend on every product crate, and on these of its own.
const LABORATORY: &[(&str, &[&str])] = &[
    ("sealwright-core-results", &[]),
    (
        "sealwright-hostile",
        &["sealwright-load", "sealwright-measure", "sealwright-peers", "sealwright-smp", "sealwright-study"],
    ),
    ("sealwright-measure", &[]),
    ("sealwright-peers", &[]),
    ("sealwright-probes", &[]),
    ("sealwright-smp", &[]),
    ("sealwright-load", &["sealwright-measure"]),
    ("sealwright-attacks", &["sealwright-measure", "sealwright-smp"]),
    (
        "sealwright-study",
        &[
            "sealwright-attacks",
            "sealwright-core-results",
            "sealwright-load",
            "sealwright-measure",
            "sealwright-peers",
            "sealwright-smp",
        ],
    ),
    (
        "sealwright-lab",
        &["sealwright-attacks", "sealwright-load", "sealwright-measure", "sealwright-smp", "sealwright-study"],
    ),
    ("sealwright-transcripts", &[]),
    ("xtask", &[]),
];

pub(crate) fn check(steps: &Steps) -> Checked {
    match steps.metadata() {
        Ok(metadata) => {
            let (edges, wrong) = judge(&metadata);
            Checked::of(wrong, format!("{edges} dependencies between crates, none upward"))
        }
        Err(why) => Checked::Wrong(vec![why]),
    }
}

/// The number of dependencies between our crates, and those that should not be. A test may depend on anything: it is no
/// part of what is built.
fn judge(metadata: &Value) -> (usize, Vec<String>) {
    let (mut edges, mut wrong) = (0, Vec::new());
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let from = package["name"].as_str().unwrap_or_default();
        if !is_ours(from) {
            wrong.push(format!("{from} is in no layer: add it to xtask/src/layers.rs"));
            continue;
        }
        // Otherwise nobody says of it what an older compiler lacks.
        if package["rust_version"].is_null() {
            wrong.push(format!("{from} does not say which Rust it needs: rust-version.workspace = true"));
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            if !is_ours(to) || dependency["kind"].as_str() == Some("dev") {
                continue;
            }
            edges += 1;
            if !may_depend(from, to) {
                wrong.push(format!("{from} must not depend on {to}"));
            }
        }
    }
    (edges, wrong)
}

fn find(layer: &'static [(&str, &[&str])], name: &str) -> Option<&'static [&'static str]> {
    layer.iter().find(|(found, _)| *found == name).map(|(_, may)| *may)
}

fn is_ours(name: &str) -> bool {
    find(PRODUCT, name).or(find(LABORATORY, name)).is_some()
}

fn may_depend(from: &str, to: &str) -> bool {
    match (find(PRODUCT, from), find(LABORATORY, from)) {
        (Some(may), _) => may.contains(&to),
        (None, Some(may)) => may.contains(&to) || find(PRODUCT, to).is_some(),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::judge;

    #[test]
    fn a_dependency_upward_is_found() {
        let package = |name: &str, to: &str, kind: Option<&str>| json!({"name": name, "rust_version": "1.89", "dependencies": [{"name": to, "kind": kind}]});
        let judged = |package| judge(&json!({"packages": [package]}));
        assert_eq!(judged(package("sealwright-file", "sealwright", None)), (1, vec![]));
        assert_eq!(judged(package("sealwright", "sealwright-vectors", Some("dev"))), (0, vec![]));
        assert_eq!(judged(package("sealwright", "subtle", None)), (0, vec![]));
        assert_eq!(
            judged(package("sealwright", "sealwright-file", None)).1,
            ["sealwright must not depend on sealwright-file"]
        );
        assert_eq!(
            judged(package("sealwright-relay", "sealwright-measure", None)).1,
            ["sealwright-relay must not depend on sealwright-measure"]
        );
        assert_eq!(judged(package("sealwright-study", "sealwright-file", None)), (1, vec![]));
        assert_eq!(judged(package("sealwright-measure", "sealwright-smp", Some("build"))).1.len(), 1);
        let mut silent = package("sealwright-file", "sealwright", None);
        silent["rust_version"] = serde_json::Value::Null;
        assert_eq!(
            judged(silent).1,
            ["sealwright-file does not say which Rust it needs: rust-version.workspace = true"]
        );
        assert_eq!(
            judged(package("sealwright-new", "subtle", None)).1,
            ["sealwright-new is in no layer: add it to xtask/src/layers.rs"]
        );
    }
}
