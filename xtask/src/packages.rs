//! The product's crates as from a registry: each is packaged, unpacked, and compiled from its package alone.

use std::{fs, io, path::Path, process::Command};

use serde_json::Value;

use crate::{
    layers::Layers,
    programs,
    steps::{Checked, Steps},
};

/// Fields that a crate's page on a registry needs.
const FIELDS: &[&str] = &["description", "keywords", "categories", "readme", "license"];

pub(crate) fn check(steps: &Steps) -> Checked {
    let (layers, metadata) = match Layers::of(steps).and_then(|layers| Ok((layers, steps.metadata()?))) {
        Ok(both) => both,
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let packages: Vec<&Value> =
        metadata["packages"].as_array().into_iter().flatten().filter(|it| is_crate(&layers, it)).collect();
    let mut wrong: Vec<String> = packages.iter().flat_map(|package| missing(package)).collect();
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let folder = steps.target().join("packages");
    // Compiled below, with the dependencies that other steps have checked; cargo would build them all again.
    let mut pack = programs::cargo();
    pack.args(["package", "--quiet", "--allow-dirty", "--no-verify"]).current_dir(steps.root());
    pack.env("CARGO_TARGET_DIR", &folder).args(names.iter().flat_map(|name| ["--package", name]));
    if !pack.status().is_ok_and(|status| status.success()) {
        wrong.push("the crates cannot be packaged".into());
        return Checked::Wrong(wrong);
    }
    match unpacked(steps, &folder, &packages) {
        Ok(()) => wrong.extend(names.iter().filter_map(|name| alone(steps, &folder.join("unpacked"), name))),
        Err(error) => wrong.push(format!("{}: {error}", folder.display())),
    }
    Checked::of(wrong, format!("{} packages", packages.len()))
}

/// Unpacks what was packaged into a workspace of its own. The packages stand for those of the same name on the
/// registry; versions and profiles are this workspace's.
fn unpacked(steps: &Steps, folder: &Path, packages: &[&Value]) -> io::Result<()> {
    let to = folder.join("unpacked");
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    fs::create_dir_all(&to)?;
    let mut manifest = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n");
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let version = package["version"].as_str().unwrap_or_default();
        let archive = folder.join("package").join(format!("{name}-{version}.crate"));
        // Its times are those of now: with those of a package, always the same, cargo would take what it built of an
        // earlier one.
        let status = Command::new("tar").arg("-xmzf").arg(&archive).arg("-C").arg(&to).status()?;
        if !status.success() {
            return Err(io::Error::other(format!("{} cannot be unpacked", archive.display())));
        }
        manifest += &format!("{name} = {{ path = \"{name}-{version}\" }}\n");
        // A package brings the versions that it was made with, which only a workspace may say.
        fs::remove_file(to.join(format!("{name}-{version}/Cargo.lock"))).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
    }
    let ours = fs::read_to_string(steps.root().join("Cargo.toml"))?;
    manifest += ours.find("\n[profile.").map_or("", |at| &ours[at..]);
    fs::write(to.join("Cargo.toml"), manifest)?;
    fs::copy(steps.root().join("Cargo.lock"), to.join("Cargo.lock")).map(drop)
}

/// Packages whose tests need the repository (docs/SUPPLY.md).
const TESTED_HERE: &[&str] = &["sealwright-cli", "sealwright-relay", "sealwright-vectors"];

/// Compiles one package, with the tests that it brings; returns the error, if there is one.
fn alone(steps: &Steps, workspace: &Path, name: &str) -> Option<String> {
    let mut command = programs::cargo();
    command.args(["check", "--quiet", "--package", name]).current_dir(workspace);
    if !TESTED_HERE.contains(&name) {
        command.args(["--lib", "--tests"]);
    }
    command.env("CARGO_TARGET_DIR", steps.target()).env("CARGO_INCREMENTAL", "0");
    let right = command.status().is_ok_and(|status| status.success());
    (!right).then(|| format!("{name} does not compile from its package"))
}

/// Distributed as a wheel, not as a crate.
const WHEELS: &[&str] = &["sealwright-python"];

fn is_crate(layers: &Layers, package: &Value) -> bool {
    layers.product().any(|name| package["name"] == *name && !WHEELS.contains(&name))
}

/// What a package lacks: fields, licence texts, the permission to publish.
fn missing(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let mut wrong: Vec<String> =
        FIELDS.iter().filter(|field| empty(&package[**field])).map(|field| format!("{name}: no {field}")).collect();
    if package["publish"].as_array().is_some_and(Vec::is_empty) {
        wrong.push(format!("{name}: publish = false"));
    }
    let manifest = std::path::Path::new(package["manifest_path"].as_str().unwrap_or_default());
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !fs::exists(manifest.with_file_name(file)).unwrap_or(false) {
            wrong.push(format!("{name}: no {file}"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::missing;

    #[test]
    fn a_bare_package_lacks_everything() {
        let bare = json!({"name": "x", "manifest_path": "/nowhere/Cargo.toml", "publish": [], "keywords": []});
        assert_eq!(missing(&bare).len(), super::FIELDS.len() + 3);
        let whole = json!({
            "name": "xtask", "manifest_path": concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/terminal/Cargo.toml"), "publish": null,
            "description": "d", "keywords": ["k"], "categories": ["c"], "readme": "README.md", "license": "MIT",
        });
        assert_eq!(missing(&whole), Vec::<String>::new());
    }
}
