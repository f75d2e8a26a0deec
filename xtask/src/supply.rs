//! Third-party dependencies: their licences, sources, reasons and use (`cargo xtask supply`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use serde_json::Value;

use crate::{
    advisories,
    layers::Layers,
    licence::{allows, texts},
    programs::said,
    steps::{Checked, Steps},
    unused::{self, Named},
};

/// Licences that ask for no more than to be named with the program.
const PRODUCT_LICENCES: &[&str] =
    &["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Zlib"];

/// Of tools that build, test or measure, and are not part of what users install: changes to them would have to be
/// published (MPL), or they are only for tests (the fuzzing engine).
const TOOL_LICENCES: &[&str] = &["MPL-2.0", "NCSA"];

/// What has a lock file of its own beside the workspace, and is never part of the product.
const BESIDE: [&str; 2] = ["fuzz/Cargo.toml", "tests/peers/openssl4/Cargo.toml"];

const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The packages of the lock file and what each depends on, without what only tests need.
pub(crate) struct Graph {
    pub(crate) packages: BTreeMap<String, Value>,
    needs: BTreeMap<String, Vec<String>>,
    /// What each package depends on, tests included.
    names: BTreeMap<String, Vec<Named>>,
}

impl Graph {
    /// What a manifest's lock file gives: for all systems, or as for this machine, so that crates that only others
    /// build need not be there.
    pub(crate) fn of(steps: &Steps, manifest: &str, here: bool) -> Result<Graph, String> {
        let path = steps.root().join(manifest);
        let path = path.to_str().ok_or("the workspace's path is no text")?;
        let mut words =
            vec!["metadata", "--locked", "--all-features", "--manifest-path", path, "--format-version", "1"];
        let host = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
        let host = String::from_utf8_lossy(&host.stdout).into_owned();
        if here {
            let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
            words.extend(["--filter-platform", host]);
        }
        let all = steps.cargo_output(&words).map_err(|error| format!("{manifest}: {}", error.trim()))?;
        Ok(Graph::from(&serde_json::from_str(&all).map_err(|error| format!("{manifest}: {error}"))?))
    }

    /// From the output of `cargo metadata`.
    fn from(all: &Value) -> Graph {
        let mut graph = Graph { packages: BTreeMap::new(), needs: BTreeMap::new(), names: BTreeMap::new() };
        for package in all["packages"].as_array().into_iter().flatten() {
            graph.packages.insert(text(&package["id"]), package.clone());
        }
        for node in all["resolve"]["nodes"].as_array().into_iter().flatten() {
            let built = |dependency: &Value| {
                dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"] != "dev")
            };
            let all = || node["deps"].as_array().into_iter().flatten();
            let needs = all().filter(|of| built(of)).map(|of| text(&of["pkg"])).collect();
            graph.needs.insert(text(&node["id"]), needs);
            graph.names.insert(text(&node["id"]), all().map(|of| (text(&of["name"]), !built(of))).collect());
        }
        graph
    }

    /// The identity of a package of ours.
    pub(crate) fn ours(&self, name: &str) -> Option<&String> {
        self.packages.iter().find(|(_, of)| of["name"] == name && of["source"].is_null()).map(|(id, _)| id)
    }

    /// The packages of others.
    fn others(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.packages.iter().filter(|(_, package)| !package["source"].is_null())
    }

    /// A package and all that it needs, directly or not.
    fn closure<'a>(&'a self, roots: impl Iterator<Item = &'a String>) -> BTreeSet<&'a String> {
        let (mut seen, mut open) = (BTreeSet::new(), roots.collect::<Vec<_>>());
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(self.needs.get(id).into_iter().flatten());
            }
        }
        seen
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Sources, licences and advisories of everything in the lock files, a reason for each direct dependency of the
/// product, and a use of each of the workspace; `--list` prints the reasons, `--advisories FOLDER` writes the list of
/// advisories.
pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["--advisories", folder] = words[..] {
        let list = advisories::list(folder.as_ref());
        let written = list.and_then(|list| {
            fs::write(steps.root().join("xtask/advisories.tsv"), &list).map_err(|error| error.to_string())?;
            Ok(list.lines().filter(|line| !line.starts_with('#')).count())
        });
        return match written {
            Ok(count) => Checked::Right(format!("{count} advisories in xtask/advisories.tsv")),
            Err(why) => Checked::Wrong(vec![format!("{why}\n   hint: a folder with a copy of RustSec's advisory-db")]),
        };
    }
    if !matches!(words[..], [] | ["--list"]) {
        let hint = "hint: cargo xtask supply, cargo xtask supply --list, or cargo xtask supply --advisories FOLDER";
        return Checked::Wrong(vec![format!("{}: other words than it takes\n   {hint}", words.join(" "))]);
    }
    let graphs = Graph::of(steps, "Cargo.toml", false).and_then(|all| Ok((all, Graph::of(steps, "Cargo.toml", true)?)));
    // A lock file that is broken or out of date must not pass for one that could not be looked at.
    let (graph, here) = match graphs {
        Ok(graphs) => graphs,
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let layers = match Layers::of(steps) {
        Ok(layers) => layers,
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let product = graph.closure(layers.product().filter_map(|name| graph.ours(name)));
    let (mut wrong, mut counts, mut elsewhere, mut locked) = (Vec::new(), [0; 2], 0, BTreeSet::new());
    for (id, package) in graph.others() {
        locked.insert((text(&package["name"]), text(&package["version"])));
        let installed = product.contains(id);
        counts[usize::from(!installed)] += 1;
        elsewhere += usize::from(!here.needs.contains_key(id));
        wrong.extend(judge(package, installed));
        if installed && here.needs.contains_key(id) {
            wrong.extend(texts(package).err());
        }
    }
    let mut beside = BTreeSet::new();
    for manifest in BESIDE {
        match Graph::of(steps, manifest, false) {
            Ok(more) => {
                for (id, package) in more.others().filter(|(id, _)| !graph.packages.contains_key(*id)) {
                    beside.insert(id.clone());
                    locked.insert((text(&package["name"]), text(&package["version"])));
                    wrong.extend(judge(package, false).into_iter().map(|what| format!("{manifest}: {what}")));
                }
            }
            Err(why) => wrong.push(why),
        }
    }
    let ours = graph.packages.iter().filter(|(_, package)| package["source"].is_null());
    let named = |id| graph.names.get(id).map_or(&[][..], |names| &names[..]);
    let ours = ours.filter_map(|(id, package)| Some((Path::new(package["manifest_path"].as_str()?), named(id))));
    wrong.extend(unused::wrong(steps.root(), ours));
    match table(steps, &graph, &layers) {
        Ok(table) if words == ["--list"] => print!("{table}"),
        Ok(_) => {}
        Err(without) => wrong.extend(without),
    }
    let newest = match advisories::judge(advisories::LIST, &locked) {
        Ok((against, newest)) => {
            wrong.extend(against);
            newest
        }
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let [installed, tools] = counts;
    let half_a_year_ago = said(Command::new("date").args(["-u", "-d", "180 days ago", "+%F"]));
    let old = match half_a_year_ago {
        Ok(day) => advisories::too_old(&newest, day.trim()),
        Err(why) => Some(format!("whether the advisories are old: {why}")),
    };
    Checked::partly(
        wrong,
        format!(
            "{installed} crates of others in the product, {tools} in tools and tests, {elsewhere} of these only for other systems; {} \
             more in fuzz targets and peers; advisories to {newest}",
            beside.len()
        ),
        old.into_iter().collect(),
    )
}

/// What is wrong with the source and the licence of a package.
fn judge(package: &Value, installed: bool) -> Vec<String> {
    let (name, licence) = (text(&package["name"]), text(&package["license"]));
    let mut wrong = Vec::new();
    if package["source"] != SOURCE {
        wrong.push(format!("{name}: it comes from {}, not from crates.io", package["source"]));
    }
    let tools = [PRODUCT_LICENCES, TOOL_LICENCES].concat();
    if !allows(if installed { PRODUCT_LICENCES } else { &tools }, &licence) {
        let what = if installed { "in the product" } else { "in a tool" };
        wrong.push(format!("{name} {}: the licence {licence:?} is not allowed {what}", package["version"]));
    }
    wrong
}

/// The direct dependencies of the product as a table of Markdown, or those for which no manifest gives a reason.
fn table(steps: &Steps, graph: &Graph, layers: &Layers) -> Result<String, Vec<String>> {
    let shared = reasons(&fs::read_to_string(steps.root().join("Cargo.toml")).unwrap_or_default());
    let mut rows = BTreeMap::<String, (String, BTreeSet<&str>, String)>::new();
    let mut wrong = Vec::new();
    for ours in layers.product() {
        let Some(id) = graph.ours(ours) else { continue };
        let manifest = fs::read_to_string(text(&graph.packages[id]["manifest_path"])).unwrap_or_default();
        let own = reasons(&manifest);
        for package in graph.needs[id].iter().map(|id| &graph.packages[id]).filter(|of| !of["source"].is_null()) {
            let name = text(&package["name"]);
            let row = rows.entry(name.clone()).or_insert((text(&package["license"]), BTreeSet::new(), String::new()));
            row.1.insert(ours.strip_prefix("sealwright-").unwrap_or("aead"));
            if row.2.is_empty() {
                let known = [&own.lines, &shared.lines, &own.groups, &shared.groups];
                row.2 = known.iter().find_map(|reasons| reasons.get(&name)).cloned().unwrap_or_default();
            }
        }
    }
    let mut table = "| crate | licence | in | why |\n|---|---|---|---|\n".to_owned();
    for (name, (licence, users, reason)) in &rows {
        if reason.is_empty() {
            wrong.push(format!("{name}: neither Cargo.toml says in a comment what it is for"));
        }
        let users = users.iter().copied().collect::<Vec<_>>().join(", ");
        table +=
            &format!("| `{name}` | {licence} | {users} | {} |\n", reason.trim_end_matches('.').replace('|', "\\|"));
    }
    if wrong.is_empty() { Ok(table) } else { Err(wrong) }
}

/// What the comments of a manifest say of its dependencies.
#[derive(Default)]
struct Reasons {
    /// By a comment on the line.
    lines: BTreeMap<String, String>,
    /// By the heading of the group.
    groups: BTreeMap<String, String>,
}

fn reasons(manifest: &str) -> Reasons {
    let (mut reasons, mut heading, mut inside, mut fresh) = (Reasons::default(), String::new(), false, true);
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == "[dependencies]" || line == "[workspace.dependencies]";
            heading.clear();
        } else if line.is_empty() {
            heading.clear();
        } else if let Some(comment) = line.strip_prefix('#') {
            if fresh {
                heading = format!("{heading} {}", comment.trim()).trim().to_owned();
            } else {
                heading = comment.trim().to_owned();
            }
        } else if inside {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default().to_owned();
            if let Some((_, comment)) = line.rsplit_once('#') {
                reasons.lines.insert(name, comment.trim().to_owned());
            } else if !heading.is_empty() {
                reasons.groups.insert(name, heading.clone());
            }
        }
        fresh = line.starts_with('#') || line.is_empty();
    }
    reasons
}

#[cfg(test)]
#[path = "supply_tests.rs"]
mod tests;
