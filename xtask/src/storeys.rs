//! Doors between rooms open only downward.

use std::process::Command;

use serde_json::Value;

use crate::steps::{Checked, Steps};

/// The rooms, and those that each may open to.
const DOORS: &[(&str, &[&str])] = &[
    ("sealwright", &[]),
    ("sealwright-measure", &[]),
    ("sealwright-vectors", &["sealwright"]),
    ("sealwright-file", &["sealwright"]),
    ("sealwright-session", &["sealwright"]),
    ("sealwright-relay", &["sealwright-measure", "sealwright-session"]),
    ("sealwright-smp", &["sealwright"]),
    (
        "sealwright-study",
        &[
            "sealwright",
            "sealwright-file",
            "sealwright-measure",
            "sealwright-relay",
            "sealwright-session",
            "sealwright-smp",
            "sealwright-vectors",
        ],
    ),
    (
        "sealwright-cli",
        &[
            "sealwright",
            "sealwright-file",
            "sealwright-measure",
            "sealwright-relay",
            "sealwright-session",
            "sealwright-smp",
            "sealwright-study",
            "sealwright-vectors",
        ],
    ),
    ("xtask", &[]),
];

pub(crate) fn check(steps: &Steps) -> Checked {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(steps.root());
    let output = match command.output() {
        Ok(output) if output.status.success() => output.stdout,
        Ok(output) => return Checked::Wrong(vec![String::from_utf8_lossy(&output.stderr).into_owned()]),
        Err(error) => return Checked::Wrong(vec![error.to_string()]),
    };
    match serde_json::from_slice(&output) {
        Ok(metadata) => {
            let (edges, wrong) = judge(&metadata);
            Checked::of(wrong, format!("{edges} doors, all downward"))
        }
        Err(error) => Checked::Wrong(vec![format!("cargo metadata: {error}")]),
    }
}

/// The number of doors, and those that should not be. Tests may open any door: they are no part of what is built.
fn judge(metadata: &Value) -> (usize, Vec<String>) {
    let list = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let (mut edges, mut wrong) = (0, Vec::new());
    for package in list(metadata, "packages") {
        let room = package["name"].as_str().unwrap_or_default();
        let Some((_, may)) = DOORS.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("{room} is not in the plan of the house"));
            continue;
        };
        for dependency in list(&package, "dependencies") {
            let to = dependency["name"].as_str().unwrap_or_default();
            let ours = DOORS.iter().any(|(name, _)| *name == to);
            if !ours || dependency["kind"].as_str() == Some("dev") {
                continue;
            }
            edges += 1;
            if !may.contains(&to) {
                wrong.push(format!("{room} must not open to {to}"));
            }
        }
    }
    (edges, wrong)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::judge;

    #[test]
    fn a_door_upward_is_found() {
        let room = |name: &str, to: &str, kind: Option<&str>| json!({"name": name, "dependencies": [{"name": to, "kind": kind}]});
        let judged = |package| judge(&json!({"packages": [package]}));
        assert_eq!(judged(room("sealwright-file", "sealwright", None)), (1, vec![]));
        assert_eq!(judged(room("sealwright", "sealwright-vectors", Some("dev"))), (0, vec![]));
        assert_eq!(judged(room("sealwright", "subtle", None)), (0, vec![]));
        assert_eq!(
            judged(room("sealwright", "sealwright-file", None)).1,
            ["sealwright must not open to sealwright-file"]
        );
        assert_eq!(judged(room("sealwright-measure", "sealwright", Some("build"))).1.len(), 1);
        assert_eq!(judged(room("attic", "subtle", None)).1, ["attic is not in the plan of the house"]);
    }
}
