//! The product's crates as a registry would hand them out: each is packaged, and built from its package alone.

use std::{fs, process::Command};

use serde_json::Value;

use crate::{
    layers::PRODUCT,
    steps::{Checked, Steps},
};

/// What a crate's page on a registry needs.
const FIELDS: &[&str] = &["description", "keywords", "categories", "readme", "license"];

pub(crate) fn check(steps: &Steps) -> Checked {
    let metadata = match steps.metadata() {
        Ok(metadata) => metadata,
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let packages: Vec<&Value> =
        metadata["packages"].as_array().into_iter().flatten().filter(|it| is_product(it)).collect();
    let mut wrong: Vec<String> = packages.iter().flat_map(|package| missing(package)).collect();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["package", "--quiet", "--allow-dirty"]).current_dir(steps.root());
    // Dependencies are built once for all packages.
    command.env("CARGO_TARGET_DIR", steps.target().join("packages"));
    // Nothing of it is run or built again.
    command.envs([("CARGO_PROFILE_DEV_DEBUG", "0"), ("CARGO_INCREMENTAL", "0")]);
    for package in &packages {
        command.args(["--package", package["name"].as_str().unwrap_or_default()]);
    }
    if !command.status().is_ok_and(|status| status.success()) {
        wrong.push("a package does not build by itself".into());
    }
    Checked::of(wrong, format!("{} packages", packages.len()))
}

/// Handed out as a wheel, not as a crate.
const WHEELS: &[&str] = &["sealwright-python"];

fn is_product(package: &Value) -> bool {
    PRODUCT.iter().any(|(name, _)| package["name"] == *name && !WHEELS.contains(name))
}

/// What a package lacks: fields, the licences' texts, the permission to publish.
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
