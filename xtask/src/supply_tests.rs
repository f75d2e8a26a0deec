//! Tests of `supply`: what it must refuse.
#![allow(clippy::unwrap_used)]

use std::{env, fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Graph, check, judge, reasons};
use crate::steps::{Checked, Steps};

#[test]
fn a_comment_or_the_heading_of_the_group_is_the_reason() {
    let manifest =
        "[package]\nname = \"x\"\n\n[dependencies]\n# secrets\na = \"1\"\nb.workspace = true   # wiping\n\nc = \"1\"\n";
    let reasons = reasons(manifest);
    assert_eq!(reasons.groups.get("a").map(String::as_str), Some("secrets"));
    assert_eq!(reasons.lines.get("b").map(String::as_str), Some("wiping"));
    assert!(!reasons.lines.contains_key("c") && !reasons.groups.contains_key("c"));
}

/// Three packages whose lock file says `lock`.
struct Workspace(PathBuf);

impl Workspace {
    fn new(name: &str, lock: &str) -> Workspace {
        let root = env::temp_dir().join(format!("supply-{name}-{}", std::process::id()));
        for folder in ["", "fuzz", "tests/peers/openssl4"] {
            let folder = root.join(folder);
            fs::create_dir_all(folder.join("src")).unwrap();
            let manifest = "[package]\nname = \"a\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[workspace]\n";
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
            fs::write(folder.join("src/lib.rs"), "").unwrap();
            fs::write(folder.join("Cargo.lock"), LOCK).unwrap();
        }
        fs::write(root.join("Cargo.lock"), lock).unwrap();
        fs::create_dir(root.join("docs")).unwrap();
        fs::write(root.join("docs/ARCHITECTURE.md"), PAGE).unwrap();
        Workspace(root)
    }

    fn check(&self) -> Checked {
        check(&Steps::new(self.0.clone()), &[])
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const PAGE: &str = "\
| folder | package | contents | depends on |
|---|---|---|---|
| **product** | | | |
| `a` | `a` | all | nothing of ours |
";

const LOCK: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n";

#[test]
fn a_lock_file_that_does_not_fit_is_wrong_and_not_skipped() {
    assert!(matches!(Workspace::new("good", LOCK).check(), Checked::Right(_)));
    for (name, lock) in [("stale", LOCK.replace("1.0.0", "0.9.0")), ("broken", LOCK.replace("name", "nome"))] {
        assert!(matches!(Workspace::new(name, &lock).check(), Checked::Wrong(_)), "{name}");
    }
    // Those of other workspaces count as well.
    let workspace = Workspace::new("fuzz", LOCK);
    fs::write(workspace.0.join("fuzz/Cargo.lock"), LOCK.replace("1.0.0", "0.9.0")).unwrap();
    match workspace.check() {
        Checked::Wrong(wrong) => assert!(wrong.len() == 1 && wrong[0].starts_with("fuzz/Cargo.toml: "), "{wrong:?}"),
        _ => panic!("it passed"),
    }
}

#[test]
fn a_dependency_that_nobody_uses_is_wrong() {
    let workspace = Workspace::new("unused", LOCK);
    let manifest = workspace.0.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, format!("{text}[workspace.dependencies]\nb = \"1\"\n")).unwrap();
    match workspace.check() {
        Checked::Wrong(wrong) => assert!(wrong.len() == 1 && wrong[0].starts_with("b: it is in"), "{wrong:?}"),
        _ => panic!("it passed"),
    }
}

/// Which packages are the product's is not guessed.
#[test]
fn without_the_table_of_crates_nothing_passes() {
    let workspace = Workspace::new("no-table", LOCK);
    fs::remove_file(workspace.0.join("docs/ARCHITECTURE.md")).unwrap();
    assert!(matches!(workspace.check(), Checked::Wrong(_)));
}

fn package(name: &str, licence: &str, source: Option<&str>) -> Value {
    json!({ "id": format!("id of {name}"), "name": name, "version": "1.2.3", "license": licence, "source": source })
}

#[test]
fn sources_and_licences_are_judged() {
    let judged = |licence, source, installed| judge(&package("a", licence, Some(source)), installed).len();
    assert_eq!(judged("MIT", super::SOURCE, true), 0);
    assert_eq!(judged("MIT", "git+https://example.org", true), 1);
    assert_eq!(judged("GPL-3.0-only", super::SOURCE, true), 1);
    assert_eq!(judged("GPL-3.0-only", super::SOURCE, false), 1);
    assert_eq!(judged("MPL-2.0", super::SOURCE, true), 1);
    assert_eq!(judged("MPL-2.0", super::SOURCE, false), 0);
}

/// `ours` needs `a`, which needs `b`; tests of `ours` need `c`; nothing needs `d`.
#[test]
fn what_tests_need_is_no_part_of_the_product() {
    let of = |name: &str| package(name, "MIT", Some(super::SOURCE));
    let need = |name: &str, kind: Value| json!({ "pkg": format!("id of {name}"), "dep_kinds": [{ "kind": kind }] });
    let node = |name: &str, deps: Value| json!({ "id": format!("id of {name}"), "deps": deps });
    let graph = Graph::from(&json!({
        "packages": [package("ours", "MIT", None), of("a"), of("b"), of("c"), of("d")],
        "resolve": { "nodes": [
            node("ours", json!([need("a", Value::Null), need("c", json!("dev"))])),
            node("a", json!([need("b", json!("build"))])),
            node("b", json!([])),
            node("c", json!([])),
            node("d", json!([])),
        ] },
    }));
    let product: Vec<_> = graph.closure(graph.ours("ours").into_iter()).into_iter().collect();
    assert_eq!(product, ["id of a", "id of b", "id of ours"]);
}

/// Cargo writes a lock file that does not fit anew where nobody forbids it: the step that looks at it would come too
/// late.
#[test]
fn the_commands_of_the_workspace_leave_its_lock_file_alone() {
    let settings: toml::Table = include_str!("../../.cargo/config.toml").parse().unwrap();
    let aliases = settings["alias"].as_table().unwrap();
    assert!(aliases.contains_key("xtask"));
    for (name, alias) in aliases {
        let (cargo, _) = alias.as_str().unwrap().split_once(" -- ").unwrap_or((alias.as_str().unwrap(), ""));
        assert!(cargo.split_whitespace().any(|word| word == "--locked"), "{name}: {alias:?}");
    }
}
