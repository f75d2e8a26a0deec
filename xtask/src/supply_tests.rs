//! Tests of `supply`: what it must refuse, and what a bill of materials says.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Graph, bill, check, hashes, judge, reasons};
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

#[test]
fn checksums_of_a_lock_file() {
    let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0\"\nchecksum = \"ff\"\n\n[[package]]\nname = \"ours\"\nversion = \"0.1\"\n";
    assert_eq!(hashes(lock).into_iter().collect::<Vec<_>>(), [(("a".into(), "1.0".into()), "ff".into())]);
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
fn graph() -> Graph {
    let of = |name: &str| package(name, "MIT/Apache-2.0", Some(super::SOURCE));
    let need = |name: &str, kind: Value| json!({ "pkg": format!("id of {name}"), "dep_kinds": [{ "kind": kind }] });
    let node = |name: &str, deps: Value| json!({ "id": format!("id of {name}"), "deps": deps });
    Graph::from(&json!({
        "packages": [package("ours", "MIT", None), of("a"), of("b"), of("c"), of("d")],
        "resolve": { "nodes": [
            node("ours", json!([need("a", Value::Null), need("c", json!("dev"))])),
            node("a", json!([need("b", json!("build"))])),
            node("b", json!([])),
            node("c", json!([])),
            node("d", json!([])),
        ] },
    }))
}

#[test]
fn a_bill_names_all_that_is_built_and_nothing_else() {
    let graph = graph();
    let hashes = BTreeMap::from([(("a".to_owned(), "1.2.3".to_owned()), "ff00".to_owned())]);
    let made = bill(&graph, graph.ours("ours").unwrap(), &hashes);
    let component = |name: &str, kind: &str, licence: &str| {
        let url = format!("pkg:cargo/{name}@1.2.3");
        json!({
            "type": kind, "bom-ref": url, "purl": url, "name": name, "version": "1.2.3",
            "licenses": [{ "expression": licence }],
        })
    };
    let mut a = component("a", "library", "MIT OR Apache-2.0");
    a["hashes"] = json!([{ "alg": "SHA-256", "content": "ff00" }]);
    let needs = |name: &str, on: &[&str]| json!({ "ref": format!("pkg:cargo/{name}@1.2.3"), "dependsOn": on });
    assert_eq!(
        made,
        json!({
            "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": { "component": component("ours", "application", "MIT") },
            "components": [a, component("b", "library", "MIT OR Apache-2.0")],
            "dependencies": [
                needs("a", &["pkg:cargo/b@1.2.3"]), needs("b", &[]), needs("ours", &["pkg:cargo/a@1.2.3"]),
            ],
        })
    );
}
