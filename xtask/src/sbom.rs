//! The bill of materials of the program, or of another package: the crates that cargo builds for it, as CycloneDX
//! (`cargo xtask sbom`).

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use crate::{
    cargo_tree::{BUILT, Built, Id},
    steps::{Checked, Steps},
    supply::{Graph, text},
};

fn hint(command: &str) -> String {
    format!("hint: cargo xtask {command}, or cargo xtask {command} sealwright-capi --no-default-features")
}

/// The arguments of a command: a package, and options of cargo that select its features.
pub(crate) fn wanted<'a>(command: &str, words: &'a [String]) -> Result<(&'a str, Vec<&'a str>), String> {
    let (names, options) = words.split_at(words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len()));
    let name = match names {
        [] => "sealwright-cli",
        [name] => name,
        [_, more, ..] => return Err(format!("{more}: one package at a time\n   {}", hint(command))),
    };
    let mut rest = options.iter().map(String::as_str);
    while let Some(option) = rest.next() {
        match option {
            "--no-default-features" | "--all-features" => {}
            "--features" if rest.next().is_some() => {}
            option if option.starts_with("--features=") => {}
            _ => {
                let known = "--no-default-features, --all-features and --features LIST select features";
                return Err(format!("{option}: {known}\n   {}", hint(command)));
            }
        }
    }
    Ok((name, options.iter().map(String::as_str).collect()))
}

/// Writes the bill to `target/sbom`.
pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    match write(steps, words) {
        Ok(what) => Checked::Right(what),
        Err(why) => Checked::Wrong(vec![why]),
    }
}

fn write(steps: &Steps, words: &[String]) -> Result<String, String> {
    let (name, options) = wanted("sbom", words)?;
    let graph = Graph::of(steps, "Cargo.toml", true)?;
    graph.ours(name).ok_or_else(|| format!("{name}: no package of this workspace\n   {}", hint("sbom")))?;
    let built = Built::of(steps, name, BUILT, &options)?;
    let lock = fs::read_to_string(steps.root().join("Cargo.lock")).map_err(|error| error.to_string())?;
    let packages: BTreeMap<Id, &Value> =
        graph.packages.values().map(|of| ((text(&of["name"]), text(&of["version"])), of)).collect();
    let bill = bill(&built, &packages, &hashes(&lock))?;
    let folder = steps.target().join("sbom");
    let path = folder.join(format!("{name}.cdx.json"));
    let printed = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, printed + "\n"))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let features: Vec<&str> = built.crates[&built.root].features.iter().map(String::as_str).collect();
    let features =
        if features.is_empty() { "no features".into() } else { format!("the features {}", features.join(", ")) };
    Ok(format!("{} components, with {features}, in {}", built.crates.len() - 1, path.display()))
}

/// Checksums of packages.
fn hashes(lock: &str) -> BTreeMap<Id, String> {
    let field = |entry: &str, key: &str| {
        let line = entry.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|rest| rest.trim_end_matches('"').to_owned())
    };
    let entries = lock.split("[[package]]").skip(1);
    entries
        .filter_map(|entry| Some(((field(entry, "name")?, field(entry, "version")?), field(entry, "checksum")?)))
        .collect()
}

/// A bill of materials in CycloneDX 1.5. The same lock file and features give the same bytes.
fn bill(built: &Built, packages: &BTreeMap<Id, &Value>, hashes: &BTreeMap<Id, String>) -> Result<Value, String> {
    let url = |(name, version): &Id| format!("pkg:cargo/{name}@{version}");
    let component = |id: &Id| {
        let package = packages.get(id).ok_or_else(|| format!("{} {}: cargo metadata does not know it", id.0, id.1))?;
        let mut component = json!({
            "type": if *id == built.root { "application" } else { "library" },
            "bom-ref": url(id), "purl": url(id), "name": id.0, "version": id.1,
            "licenses": [{ "expression": text(&package["license"]).replace('/', " OR ") }],
        });
        if let Some(hash) = hashes.get(id) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": hash }]);
        }
        let features = &built.crates[id].features;
        if !features.is_empty() {
            let all: Vec<&str> = features.iter().map(String::as_str).collect();
            component["properties"] = json!([{ "name": "cargo:features", "value": all.join(",") }]);
        }
        Ok::<_, String>(component)
    };
    let needs = |(id, of): (&Id, &crate::cargo_tree::Crate)| json!({ "ref": url(id), "dependsOn": of.needs.iter().map(url).collect::<Vec<_>>() });
    let others = built.crates.keys().filter(|id| **id != built.root);
    Ok(json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": component(&built.root)? },
        "components": others.map(component).collect::<Result<Vec<_>, _>>()?,
        "dependencies": built.crates.iter().map(needs).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::{Built, Id, bill, hashes, wanted};
    use crate::cargo_tree::Crate;

    #[test]
    fn checksums_of_a_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0\"\nchecksum = \"ff\"\n\n\
                    [[package]]\nname = \"ours\"\nversion = \"0.1\"\n";
        assert_eq!(hashes(lock).into_iter().collect::<Vec<_>>(), [(("a".into(), "1.0".into()), "ff".into())]);
    }

    #[test]
    fn words_that_select_features() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(wanted("sbom", &[]), Ok(("sealwright-cli", vec![])));
        let line = words("sealwright-capi --no-default-features --features a,b --features=c");
        let options = vec!["--no-default-features", "--features", "a,b", "--features=c"];
        assert_eq!(wanted("sbom", &line), Ok(("sealwright-capi", options)));
        for wrong in ["a b", "a --features", "--target x", "a --no-default-features b"] {
            assert!(
                wanted("notices", &words(wrong)).is_err_and(|why| why.contains("hint: cargo xtask notices, ")),
                "{wrong}"
            );
        }
    }

    fn id(name: &str) -> Id {
        (name.to_owned(), "1.2.3".to_owned())
    }

    #[test]
    fn a_bill_names_all_that_is_built_and_nothing_else() {
        let of = |features: &[&str], needs: &[&str]| Crate {
            features: features.iter().map(ToString::to_string).collect(),
            needs: needs.iter().map(|name| id(name)).collect(),
        };
        let crates = [(id("ours"), of(&["std", "gcm"], &["a"])), (id("a"), of(&[], &["b"])), (id("b"), of(&[], &[]))];
        let mut built = Built { root: id("ours"), crates: crates.into_iter().collect() };
        // The lock file has more, which only others of ours, or tests, need.
        let (ours, others) = (json!({ "license": "MIT" }), json!({ "license": "MIT/Apache-2.0" }));
        let packages: BTreeMap<Id, &Value> =
            ["a", "b", "c", "d"].iter().map(|name| (id(name), &others)).chain([(id("ours"), &ours)]).collect();
        let hashes = BTreeMap::from([(id("a"), "ff00".to_owned())]);
        let component = |name: &str, kind: &str, licence: &str| {
            let url = format!("pkg:cargo/{name}@1.2.3");
            json!({
                "type": kind, "bom-ref": url, "purl": url, "name": name, "version": "1.2.3",
                "licenses": [{ "expression": licence }],
            })
        };
        let mut ours = component("ours", "application", "MIT");
        ours["properties"] = json!([{ "name": "cargo:features", "value": "gcm,std" }]);
        let mut a = component("a", "library", "MIT OR Apache-2.0");
        a["hashes"] = json!([{ "alg": "SHA-256", "content": "ff00" }]);
        let needs = |name: &str, on: &[&str]| json!({ "ref": format!("pkg:cargo/{name}@1.2.3"), "dependsOn": on });
        let wanted = json!({
            "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": { "component": ours },
            "components": [a, component("b", "library", "MIT OR Apache-2.0")],
            "dependencies": [
                needs("a", &["pkg:cargo/b@1.2.3"]), needs("b", &[]), needs("ours", &["pkg:cargo/a@1.2.3"]),
            ],
        });
        assert_eq!(bill(&built, &packages, &hashes), Ok(wanted));
        built.crates.insert(id("e"), Crate::default());
        assert!(bill(&built, &packages, &hashes).is_err());
    }
}
