//! The bill of materials names what cargo builds, and stands where cargo builds, by whichever setting that is.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// A folder of this test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = env::temp_dir().join(format!("sealwright-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("below")).unwrap();
        Folder(folder)
    }

    /// `cargo xtask sbom WORDS`, below this folder, with one setting of cargo's.
    fn bill(&self, words: &[&str], (name, value): (&str, &str)) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("sbom").args(words).current_dir(self.0.join("below"));
        for other in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_TARGET"] {
            command.env_remove(other);
        }
        command.env(name, value);
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_bill_names_what_is_built() {
    let folder = Folder::new("bill");
    let to = folder.0.to_str().unwrap();
    let smaller = ["--no-default-features", "--features", "public-keys"];
    let all: [(&str, &[&str]); 4] =
        [("sealwright-capi", &[]), ("sealwright-python", &[]), ("sealwright-cli", &[]), ("sealwright-cli", &smaller)];
    for (package, options) in all {
        let made = folder.bill(&[&[package], options].concat(), ("CARGO_TARGET_DIR", to)).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        let bill = fs::read(folder.0.join(format!("sbom/{package}.cdx.json"))).unwrap();
        let bill: Value = serde_json::from_slice(&bill).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let named: BTreeSet<(String, String)> = bill["components"]
            .as_array()
            .unwrap()
            .iter()
            .chain([&bill["metadata"]["component"]])
            .map(|of| (text(&of["name"]), text(&of["version"])))
            .collect();
        assert_eq!(named, tree(package, options), "{package} {options:?}");
        // Each is named with what it needs, which is named too.
        let refs: BTreeSet<String> =
            named.iter().map(|(name, version)| format!("pkg:cargo/{name}@{version}")).collect();
        let needs = bill["dependencies"].as_array().unwrap();
        assert_eq!(needs.iter().map(|of| text(&of["ref"])).collect::<BTreeSet<_>>(), refs);
        assert!(needs.iter().flat_map(|of| of["dependsOn"].as_array().unwrap()).all(|of| refs.contains(&text(of))));
        // Key pairs and SSH keys are the program's alone.
        let rsa = named.iter().any(|(name, _)| ["rsa", "ssh-key", "ml-dsa"].contains(&name.as_str()));
        assert_eq!(rsa, package == "sealwright-cli" && options.is_empty(), "{package} {options:?}");
        if !options.is_empty() {
            let features = bill["metadata"]["component"]["properties"][0].clone();
            assert_eq!(
                (text(&features["name"]), text(&features["value"])),
                ("cargo:features".into(), "public-keys".into())
            );
        }
    }
}

/// The crates by cargo's own list.
fn tree(package: &str, options: &[&str]) -> BTreeSet<(String, String)> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--package", package, "--edges", "normal,build", "--prefix", "none"]);
    let output = cargo.args(options).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().unwrap();
    let crates = String::from_utf8(output.stdout).unwrap();
    let words = |line: &str| {
        let mut words = line.split(' ');
        (words.next().unwrap().to_owned(), words.next().unwrap().strip_prefix('v').unwrap().to_owned())
    };
    crates.lines().filter(|line| !line.is_empty()).map(words).collect()
}

#[test]
fn what_is_made_stands_where_cargo_builds() {
    let folder = Folder::new("where");
    let absolute = folder.0.join("absolute");
    // What is relative is so to where the command is typed, not to the workspace.
    let settings: [(&str, &str, &Path); 3] = [
        ("CARGO_TARGET_DIR", "relative", &folder.0.join("below/relative")),
        ("CARGO_BUILD_TARGET_DIR", absolute.to_str().unwrap(), &absolute),
        ("CARGO_BUILD_TARGET_DIR", "../beside", &folder.0.join("beside")),
    ];
    for (name, value, there) in settings {
        let made = folder.bill(&["sealwright-fork"], (name, value)).output().unwrap();
        let said = String::from_utf8_lossy(&made.stdout);
        assert!(made.status.success(), "{name}={value}: {said}");
        assert!(there.join("sbom/sealwright-fork.cdx.json").is_file(), "{name}={value}: {said}");
    }
}

#[test]
fn a_build_for_a_named_system_is_refused() {
    let folder = Folder::new("system");
    let made = folder.bill(&["sealwright-fork"], ("CARGO_BUILD_TARGET", "aarch64-unknown-linux-gnu")).output().unwrap();
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(!made.status.success() && said.contains("CARGO_BUILD_TARGET is aarch64-unknown-linux-gnu"), "{said}");
    assert!(said.contains("\nhint: unset it"), "{said}");
}
