//! Checks the layers of the workspace against the table in `docs/ARCHITECTURE.md`: of our crates, each depends on
//! exactly those in its row, and no product crate on the laboratory. Each has a `rust-version`.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::steps::{Checked, Steps};

const PAGE: &str = "docs/ARCHITECTURE.md";

/// The head of the table.
const HEAD: &str = "| folder | package | contents | depends on |";

/// The cell for a package that depends on no other of ours.
const NOTHING: &str = "nothing of ours";

/// Product crates that contain a part of the laboratory. The Python package is its way into Python too, so it has the
/// simulator.
const BOTH: &[(&str, &str)] = &[("sealwright-python", "sealwright-smp")];

/// The packages of the workspace.
pub(crate) struct Layers(Vec<Layer>);

struct Layer {
    package: String,
    product: bool,
    /// The packages of ours that it depends on.
    needs: BTreeSet<String>,
}

impl Layers {
    pub(crate) fn of(steps: &Steps) -> Result<Layers, String> {
        let page = fs::read_to_string(steps.root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
        Layers::from(&page).map_err(|why| format!("{PAGE}: {why}"))
    }

    /// Parses the page. Rows without a package are for folders that contain no crate of the workspace.
    fn from(page: &str) -> Result<Layers, String> {
        let (_, table) = page.split_once(HEAD).ok_or_else(|| format!("there is no table {HEAD}"))?;
        let (mut product, mut rows) = (None, Vec::new());
        for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
            let columns: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [folder, package, _, needs] = columns[..] else { return Err(format!("not four columns: {row}")) };
            match folder {
                "**product**" => product = Some(true),
                "**laboratory**" => product = Some(false),
                _ => {
                    let part = product.ok_or_else(|| format!("a row of neither product nor laboratory: {row}"))?;
                    if let Some(package) = quoted(package) {
                        let folder = quoted(folder).ok_or_else(|| format!("{package}: no folder"))?;
                        rows.push((folder.strip_prefix("crates/").unwrap_or(folder), package, part, needs));
                    }
                }
            }
        }
        if !rows.iter().any(|(.., product, _)| *product) {
            return Err("no package is of the product".into());
        }
        // Rows name what they depend on by its folder.
        let named = |word: &str| rows.iter().find(|(folder, ..)| *folder == word).map(|(_, of, ..)| (*of).to_owned());
        let layer = |&(_, package, product, needs): &(&str, &str, bool, &str)| {
            let words = needs.split(", ").filter(|_| needs != NOTHING);
            let needs = words.map(|word| named(word).ok_or_else(|| format!("{package}: {word:?} is no crate of ours")));
            Ok(Layer { package: package.to_owned(), product, needs: needs.collect::<Result<_, String>>()? })
        };
        Ok(Layers(rows.iter().map(layer).collect::<Result<_, String>>()?))
    }

    /// The packages that users install.
    pub(crate) fn product(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|layer| layer.product).map(|layer| &layer.package[..])
    }

    fn find(&self, package: &str) -> Option<&Layer> {
        self.0.iter().find(|layer| layer.package == package)
    }

    /// The number of dependencies between our crates, and what is wrong. A test may depend on anything: it is no part
    /// of what is built.
    fn judge(&self, metadata: &Value) -> (usize, Vec<String>) {
        let (mut edges, mut wrong, mut missing) = (0, Vec::new(), self.0.iter().collect::<Vec<_>>());
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let from = package["name"].as_str().unwrap_or_default();
            let Some(layer) = self.find(from) else {
                wrong.push(format!("{from} is in no layer: add its row to the table of {PAGE}"));
                continue;
            };
            missing.retain(|other| other.package != from);
            // Otherwise no lint reports what an older compiler lacks.
            if package["rust_version"].is_null() {
                wrong.push(format!("{from} does not say which Rust it needs: rust-version.workspace = true"));
            }
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            let built = dependencies.filter(|of| of["kind"].as_str() != Some("dev"));
            let names = built.filter_map(|of| of["name"].as_str());
            let ours: BTreeSet<&str> = names.filter(|name| self.find(name).is_some()).collect();
            edges += ours.len();
            for to in ours.iter().filter(|to| !layer.needs.contains(**to)) {
                wrong.push(format!("{from} must not depend on {to}: its row in {PAGE} does not list it"));
            }
            for to in layer.needs.iter().filter(|to| !ours.contains(&to[..])) {
                wrong.push(format!("{from} does not depend on {to}, which its row in {PAGE} lists"));
            }
        }
        wrong.extend(missing.iter().map(|layer| format!("{}: a row of {PAGE}, and no package", layer.package)));
        wrong.extend(self.upward());
        (edges, wrong)
    }

    /// The rows by which the product would depend on the laboratory.
    fn upward(&self) -> impl Iterator<Item = String> {
        let product = self.0.iter().filter(|layer| layer.product);
        let all = product.flat_map(|from| from.needs.iter().map(|to| (&from.package[..], &to[..])));
        all.filter(|(from, to)| self.find(to).is_some_and(|to| !to.product) && !BOTH.contains(&(*from, *to)))
            .map(|(from, to)| format!("{from}, of the product, must not depend on {to}, of the laboratory"))
    }
}

/// The code spans in a cell of a table.
fn quoted(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

pub(crate) fn check(steps: &Steps) -> Checked {
    let judged = Layers::of(steps).and_then(|layers| Ok(layers.judge(&steps.metadata()?)));
    match judged {
        Ok((edges, wrong)) => Checked::of(wrong, format!("{edges} dependencies between crates, none upward")),
        Err(why) => Checked::Wrong(vec![why]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{HEAD, Layers};

    const ROWS: &str = "\
        | **product** | | | |\n\
        | `crates/aead` | `sealwright` | ciphers | nothing of ours |\n\
        | `crates/file` | `sealwright-file` | files | aead |\n\
        | `python` | `sealwright-python` | Python | aead, smp |\n\
        | **laboratory** | | | |\n\
        | `crates/smp` | `sealwright-smp` | buses | aead |\n\
        | `rtl` | SystemVerilog | cores | checked against aead |\n\
        | `vectors`, `tests` | | vectors | |\n\
        | `rtl/results` | `sealwright-core-results` | results | nothing of ours |\n";

    fn layers(rows: &str) -> Result<Layers, String> {
        Layers::from(&format!("text\n\n{HEAD}\n|---|---|---|---|\n{rows}\n| `no` | row |\n"))
    }

    fn package(name: &str, needs: &[(&str, Option<&str>)]) -> Value {
        let needs: Vec<Value> = needs.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        json!({ "name": name, "rust_version": "1.89", "dependencies": needs })
    }

    /// What is wrong where `other` stands for the package of its name.
    fn wrong(rows: &str, other: Value) -> Vec<String> {
        let mut packages = vec![
            package("sealwright", &[("subtle", None)]),
            package("sealwright-file", &[("sealwright", None), ("sealwright-core-results", Some("dev"))]),
            package("sealwright-python", &[("sealwright", None), ("sealwright-smp", None)]),
            package("sealwright-smp", &[("sealwright", None)]),
            package("sealwright-core-results", &[]),
        ];
        packages.retain(|package| package["name"] != other["name"]);
        packages.push(other);
        layers(rows).expect("a table").judge(&json!({ "packages": packages })).1
    }

    #[test]
    fn the_table_tells_the_product() {
        let product = layers(ROWS).expect("a table");
        assert_eq!(product.product().collect::<Vec<_>>(), ["sealwright", "sealwright-file", "sealwright-python"]);
        assert_eq!(product.judge(&json!({ "packages": [package("sealwright-smp", &[("sealwright", None)])] })).0, 1);
    }

    #[test]
    fn a_table_that_cannot_be_read_is_no_empty_one() {
        for (rows, why) in [
            (&ROWS.replace("aead, smp", "the product")[..], "sealwright-python: \"the product\" is no crate of ours"),
            (&ROWS.replace("| ciphers ", ""), "not four columns: | `crates/aead` | `sealwright` | nothing of ours |"),
            (&ROWS[ROWS.find("| **lab").expect("a row")..], "no package is of the product"),
            ("| `a` | `b` | c | nothing of ours |\n", "a row of neither"),
        ] {
            assert!(layers(rows).err().is_some_and(|said| said.starts_with(why)), "{rows}");
        }
        assert!(Layers::from("text").is_err());
    }

    #[test]
    fn a_dependency_that_no_row_lists_is_found() {
        assert_eq!(wrong(ROWS, package("sealwright-core-results", &[])), [""; 0]);
        let found = wrong(ROWS, package("sealwright", &[("sealwright-file", None)]));
        assert_eq!(
            found,
            ["sealwright must not depend on sealwright-file: its row in docs/ARCHITECTURE.md does not list it"]
        );
        // Of the laboratory too, and of what builds it.
        let found = wrong(ROWS, package("sealwright-core-results", &[("sealwright-file", Some("build"))]));
        assert!(found.len() == 1 && found[0].starts_with("sealwright-core-results must not depend on"), "{found:?}");
        // The page promises no more than there is.
        let found = wrong(ROWS, package("sealwright-smp", &[("sealwright", Some("dev"))]));
        assert_eq!(
            found,
            ["sealwright-smp does not depend on sealwright, which its row in docs/ARCHITECTURE.md lists"]
        );
    }

    #[test]
    fn no_row_lets_the_product_depend_on_the_laboratory() {
        let rows = ROWS.replace("| files | aead |", "| files | aead, rtl/results |");
        let other = package("sealwright-file", &[("sealwright", None), ("sealwright-core-results", None)]);
        assert_eq!(
            wrong(&rows, other),
            ["sealwright-file, of the product, must not depend on sealwright-core-results, of the laboratory"]
        );
    }

    #[test]
    fn packages_and_rows_are_the_same() {
        assert_eq!(
            wrong(ROWS, package("sealwright-new", &[("subtle", None)])),
            ["sealwright-new is in no layer: add its row to the table of docs/ARCHITECTURE.md"]
        );
        let rows = format!("{ROWS}| `crates/old` | `sealwright-old` | gone | nothing of ours |\n");
        assert_eq!(
            wrong(&rows, package("sealwright", &[])),
            ["sealwright-old: a row of docs/ARCHITECTURE.md, and no package"]
        );
        let mut silent = package("sealwright", &[]);
        silent["rust_version"] = Value::Null;
        assert_eq!(wrong(ROWS, silent), ["sealwright does not say which Rust it needs: rust-version.workspace = true"]);
    }
}
