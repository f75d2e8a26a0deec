//! Finds unused dependencies: those of the workspace that no manifest uses, and those of a package that its code does
//! not name.

use std::{collections::BTreeSet, fs, path::Path};

use toml::{Table, Value};

use crate::files;

/// A dependency by its name in code, and whether only tests and examples can use it.
pub(crate) type Named = (String, bool);

/// What is wrong with the dependencies of the workspace in the folder `root`, which has packages of these manifests.
pub(crate) fn wrong<'a>(root: &Path, packages: impl Iterator<Item = (&'a Path, &'a [Named])>) -> Vec<String> {
    let (mut wrong, mut manifests) = (Vec::new(), Vec::new());
    let read = |path: &Path| -> Result<Table, String> {
        let said = fs::read_to_string(path).map_err(|error| error.to_string());
        let parsed = said.and_then(|said| said.parse::<Table>().map_err(|error| error.to_string()));
        parsed.map_err(|why| format!("{}: {why}", path.display()))
    };
    for (path, dependencies) in packages {
        match read(path) {
            Ok(manifest) => manifests.push(manifest),
            Err(why) => wrong.push(why),
        }
        let found = not_named(dependencies, &sources(path.parent().unwrap_or(root)));
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        wrong.extend(found.iter().map(|what| format!("{shown}: {what}")));
    }
    match read(&root.join("Cargo.toml")) {
        Ok(of) => wrong.extend(not_taken(&of, &manifests).map(|name| {
            format!("{name}: it is in [workspace.dependencies], and no manifest has {name}.workspace = true")
        })),
        Err(why) => wrong.push(why),
    }
    wrong
}

/// The dependencies of the workspace that none of its manifests takes.
fn not_taken<'a>(workspace: &'a Table, manifests: &[Table]) -> impl Iterator<Item = &'a str> {
    let taken: BTreeSet<String> = manifests.iter().flat_map(taken).map(str::to_owned).collect();
    let shared = workspace.get("workspace").and_then(|of| of.get("dependencies")).and_then(Value::as_table);
    shared.into_iter().flat_map(Table::keys).filter(move |name| !taken.contains(*name)).map(String::as_str)
}

/// What a manifest takes from its workspace, for whatever target and purpose.
fn taken(manifest: &Table) -> impl Iterator<Item = &str> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let all = [manifest].into_iter().chain(targets.filter_map(Value::as_table));
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = all.flat_map(move |of| kinds.into_iter().filter_map(|kind| of.get(kind)?.as_table()));
    tables.flatten().filter(|(_, of)| of.get("workspace") == Some(&Value::Boolean(true))).map(|(name, _)| &name[..])
}

/// The Rust files of a package, and whether each is compiled for tests and examples alone.
fn sources(folder: &Path) -> Vec<(bool, String)> {
    let mut paths = Vec::new();
    files::collect(folder, &["rs"], &mut paths);
    let of_tests = |path: &Path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let apart = ["tests", "examples", "benches"].iter().any(|of| path.starts_with(folder.join(of)));
        apart || stem == "tests" || stem.ends_with("_tests")
    };
    paths.iter().map(|path| (of_tests(path), fs::read_to_string(path).unwrap_or_default())).collect()
}

/// The dependencies that none of the sources that can use them names. Comments do not count.
fn not_named(dependencies: &[Named], sources: &[(bool, String)]) -> Vec<String> {
    let (mut anywhere, mut built) = (BTreeSet::new(), BTreeSet::new());
    for (of_tests, source) in sources {
        let code = source.lines().filter_map(|line| line.split("//").next());
        for word in code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_')) {
            anywhere.insert(word);
            if !of_tests {
                built.insert(word);
            }
        }
    }
    let judge = |(name, of_tests): &Named| match (anywhere.contains(&name[..]), built.contains(&name[..])) {
        (false, _) => Some(format!("it depends on {name}, which no code of it names")),
        (true, false) if !of_tests => {
            Some(format!("it depends on {name}, which only its tests name: dev-dependencies"))
        }
        _ => None,
    };
    dependencies.iter().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::{Table, not_named, not_taken};

    #[test]
    fn a_shared_dependency_that_no_manifest_takes_is_found() {
        let table = |text: &str| text.parse::<Table>().expect("a manifest");
        let workspace = table(
            "[workspace.dependencies]\na = \"1\"\nb = \"1\"\nc = { version = \"1\" }\nd = { version = \"1\" }\ne = \"1\"\n",
        );
        let manifests = [
            table(
                "[dependencies]\na.workspace = true\n[build-dependencies]\nb = { workspace = true, optional = true }\n",
            ),
            table("[dependencies]\ne = \"1\"\n[target.'cfg(unix)'.dev-dependencies]\nc.workspace = true\n"),
        ];
        // A manifest with a version of its own takes nothing.
        assert_eq!(not_taken(&workspace, &manifests).collect::<Vec<_>>(), ["d", "e"]);
        assert_eq!(not_taken(&table("[package]\n"), &manifests).count(), 0);
    }

    #[test]
    fn a_dependency_that_no_code_names_is_found() {
        let sources = [
            (false, "// use a;\nuse md5::Digest; // b::c\nfn abc() {}\n".to_owned()),
            (true, "use referee::{x, y};\n".to_owned()),
        ];
        let judged = |name: &str, of_tests| not_named(&[(name.to_owned(), of_tests)], &sources);
        for (right, of_tests) in [("md5", false), ("md5", true), ("referee", true)] {
            assert_eq!(judged(right, of_tests), [""; 0], "{right}");
        }
        for name in ["a", "b", "bc"] {
            assert_eq!(judged(name, true), [format!("it depends on {name}, which no code of it names")]);
        }
        let found = judged("referee", false);
        assert!(found.len() == 1 && found[0].contains("only its tests name"), "{found:?}");
    }
}
