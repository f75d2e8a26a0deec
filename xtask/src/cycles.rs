//! Checks that the modules of a crate do not depend on each other in a cycle, with the paths that the compiler
//! resolves. A module and its submodules count as one here.
//!
//! `cargo check` calls this program as a wrapper of the compiler for the crates of the workspace. The program compiles
//! the crate. Then it asks the compiler to print the crate as a tree in which every path is resolved
//! (`-Zunpretty=hir-tree`, an unstable option of the stable compiler), and stores which module uses which. Only uses in
//! items and bodies count; imports and tests do not.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use serde_json::Value;

use crate::{
    programs,
    steps::{Checked, Steps},
};

/// The folder in which the wrapper stores its results. The variable is set when this program runs as the wrapper.
const FOLDER: &str = "SEALWRIGHT_CYCLES";

/// Which modules each module uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check(steps: &Steps) -> Checked {
    let folder = steps.target().join("cycles");
    let program = match (fs::create_dir_all(&folder), env::current_exe()) {
        (Ok(()), Ok(program)) => program,
        (Err(error), _) | (_, Err(error)) => return Checked::Wrong(vec![error.to_string()]),
    };
    let status = programs::cargo()
        .args(["check", "--quiet", "--workspace", "--all-features"])
        .current_dir(steps.root())
        .env("RUSTC_WORKSPACE_WRAPPER", program)
        .env(FOLDER, &folder)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return Checked::Wrong(vec!["the workspace does not compile".into()]);
    }
    match steps.metadata().and_then(|metadata| kept(&folder, &compiled(&metadata))) {
        Ok(crates) => {
            let modules: usize = crates.values().map(BTreeMap::len).sum();
            let wrong =
                crates.iter().flat_map(|(name, uses)| cycles(uses).into_iter().map(move |c| describe(name, &c, uses)));
            let mut wrong: Vec<String> = wrong.collect();
            wrong.extend(crates.get("sealwright-lib").into_iter().flat_map(upward));
            Checked::of(wrong, format!("{modules} modules of {} crates", crates.len()))
        }
        Err(why) => Checked::Wrong(vec![why]),
    }
}

/// What `cargo check` compiles of the workspace: the package of each library and program, by the name of its results.
fn compiled(metadata: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            if !["test", "example", "bench", "custom-build"].contains(&text(&target["kind"][0]).as_str()) {
                let name = text(&target["name"]).replace('-', "_");
                all.insert(format!("{name}-{}", text(&target["crate_types"][0])), text(&package["name"]));
            }
        }
    }
    all
}

/// The results for the crates that exist: those of removed crates stay in the folder, and are ignored.
fn kept(folder: &Path, compiled: &BTreeMap<String, String>) -> Result<BTreeMap<String, Uses>, String> {
    if compiled.is_empty() {
        return Err("there is no crate to look at".into());
    }
    let mut crates = BTreeMap::new();
    for (name, package) in compiled {
        let path = folder.join(format!("{name}.uses"));
        // Cargo does not know of this file, and does not compile the crate again if it is missing.
        let hint = format!("hint: cargo clean --package {package}, so that it is compiled again");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}\n   {hint}", path.display()))?;
        let mut uses = Uses::new();
        for line in text.lines() {
            let (from, to) = line.split_once(' ').unwrap_or((line, ""));
            uses.insert(from.into(), to.split_whitespace().map(str::to_owned).collect());
        }
        crates.insert(name.clone(), uses);
    }
    Ok(crates)
}

/// The layers of the library, from the lowest: a module uses none of a higher layer, and `block` and `ghash` not each
/// other. Modules that are not listed have shared types (below all layers) or make modes by name (above them).
const LAYERS: &[&[&str]] = &[&["simd"], &["block", "ghash"], &["mode"], &["suite", "raw", "compat"]];

/// Uses of a higher layer of the library.
fn upward(uses: &Uses) -> Vec<String> {
    let part = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
    let layer = |part: &str| LAYERS.iter().position(|layer| layer.contains(&part));
    let mut wrong = Vec::new();
    for (from, to) in uses.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        let (low, high) = (part(from), part(to));
        if let (Some(a), Some(b)) = (layer(&low), layer(&high))
            && (a < b || (a == b && low != high))
        {
            wrong.push(format!("sealwright: {from} uses {to}, which is not in a layer below"));
        }
    }
    wrong
}

/// A cycle as text: each use in it.
fn describe(name: &str, cycle: &BTreeSet<&str>, uses: &Uses) -> String {
    let mut text = format!("{name}: a cycle of {} modules", cycle.len());
    for from in cycle {
        let to: Vec<&str> = uses[*from].iter().map(String::as_str).filter(|to| cycle.contains(to)).collect();
        text += &format!("\n     {from} uses {}", to.join(", "));
    }
    text
}

/// The sets of two or more modules in which each module uses every other one, directly or not.
fn cycles(uses: &Uses) -> Vec<BTreeSet<&str>> {
    let reached = |from: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            for to in uses.get_key_value(module).into_iter().flat_map(|(_, to)| to) {
                if seen.insert(to.as_str()) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|from| (from.as_str(), reached(from))).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (from, to) in &reach {
        let cycle: BTreeSet<&str> =
            to.iter().copied().filter(|to| reach.get(to).is_some_and(|back| back.contains(from))).collect();
        if cycle.len() > 1 && !found.contains(&cycle) {
            found.push(cycle);
        }
    }
    found
}

/// Compiles as the wrapper of the compiler, if this program was called as the wrapper.
pub(crate) fn wrapper() -> Option<ExitCode> {
    let folder = PathBuf::from(env::var_os(FOLDER)?);
    let words: Vec<String> = env::args().skip(1).collect();
    let (compiler, words) = words.split_first()?;
    let status = Command::new(compiler).args(words).status();
    let Ok(status) = status else { return Some(ExitCode::FAILURE) };
    let value = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let name = value("--crate-name").map_or("", String::as_str);
    if status.success() && !name.is_empty() && name != "build_script_build" && name != "___" {
        let kind = value("--crate-type").map_or("lib", String::as_str);
        if let Err(error) = look(compiler, words, &folder.join(format!("{name}-{kind}.uses"))) {
            eprintln!("{name}: {error}");
            return Some(ExitCode::FAILURE);
        }
    }
    Some(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)))
}

/// Asks the compiler for the resolved tree and stores which module uses which.
fn look(compiler: &str, words: &[String], file: &Path) -> std::io::Result<()> {
    let unwanted = |word: &&String| !["--emit", "--error-format", "--json"].iter().any(|begin| word.starts_with(begin));
    let mut child = Command::new(compiler)
        .args(words.iter().filter(unwanted))
        .arg("-Zunpretty=hir-tree")
        .env("RUSTC_BOOTSTRAP", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut tree = Tree::default();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).split(b'\n') {
            tree.line(&String::from_utf8_lossy(&line?));
        }
    }
    if !child.wait()?.success() {
        return Err(std::io::Error::other("the compiler does not print its tree"));
    }
    let text: String = tree
        .uses()
        .iter()
        .map(|(from, to)| format!("{from} {}\n", to.iter().cloned().collect::<Vec<_>>().join(" ")))
        .collect();
    fs::write(file, text)
}

/// The parts of a tree that matter here: the modules, and the definitions that each definition names.
#[derive(Default)]
struct Tree {
    owner: String,
    modules: BTreeSet<String>,
    named: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    fn line(&mut self, line: &str) {
        if line.starts_with("DefId(0:") && line.ends_with("=> OwnerNodes {") {
            self.owner = paths(line).next().unwrap_or_default().to_owned();
        } else if line.trim() == "kind: Mod(" {
            self.modules.insert(self.owner.clone());
        } else {
            for path in paths(line) {
                self.named.entry(self.owner.clone()).or_default().insert(path.to_owned());
            }
        }
    }

    /// The module that contains a definition; the root is `crate`.
    fn module<'a>(&self, path: &'a str) -> &'a str {
        let mut path = path;
        while !self.modules.contains(path) {
            match path.rsplit_once("::") {
                Some((outer, _)) => path = outer,
                None => return "crate",
            }
        }
        path
    }

    fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        // A module names its items, and an import what it imports. Neither is a use.
        let counts = |path: &str| !path.is_empty() && !path.contains("{use#") && !self.modules.contains(path);
        for (from, named) in self.named.iter().filter(|(from, _)| counts(from)) {
            let from = self.module(from);
            let to = uses.entry(from.to_owned()).or_default();
            to.extend(named.iter().filter(|path| counts(path)).map(|path| self.module(path).to_owned()));
            // A module and a part of it may use each other.
            to.retain(|to| !contains(from, to) && !contains(to, from));
        }
        uses
    }
}

/// Whether `inner` is `outer` or a submodule. The root contains everything, so it counts as a module like others.
fn contains(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The definitions of this crate in a line: `DefId(0:7 ~ name[hash]::module::item)`.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    line.split("DefId(0:").skip(1).filter_map(|rest| {
        let (definition, _) = rest.split_once(')')?;
        let (_, path) = definition.split_once(']')?;
        Some(path.strip_prefix("::").unwrap_or(path))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::{Tree, Uses, compiled, cycles, kept, upward};

    /// Two modules that use each other, and a third that uses one, as the compiler prints them.
    const TREE: &str = "\
DefId(0:3 ~ x[c6f5]::a) => OwnerNodes {
                kind: Mod(
DefId(0:4 ~ x[c6f5]::b) => OwnerNodes {
                kind: Mod(
DefId(0:5 ~ x[c6f5]::c) => OwnerNodes {
                kind: Mod(
DefId(0:6 ~ x[c6f5]::a::f) => OwnerNodes {
   res: Def(Fn, DefId(0:7 ~ x[c6f5]::b::g)),
DefId(0:7 ~ x[c6f5]::b::g) => OwnerNodes {
   res: Def(Struct, DefId(0:8 ~ x[c6f5]::a::S)),
DefId(0:9 ~ x[c6f5]::c::h) => OwnerNodes {
   res: Def(Struct, DefId(0:8 ~ x[c6f5]::a::S)),
DefId(0:10 ~ x[c6f5]::b::{use#0}) => OwnerNodes {
   res: Def(Fn, DefId(0:9 ~ x[c6f5]::c::h)),
";

    #[test]
    fn a_cycle_is_found_and_an_import_is_none() {
        let mut tree = Tree::default();
        TREE.lines().for_each(|line| tree.line(line));
        let uses = tree.uses();
        assert_eq!(uses["c"], ["a".to_owned()].into());
        assert_eq!(cycles(&uses), [["a", "b"].into()]);
        let mut tree = Tree::default();
        TREE.replace("a::S", "c::S").lines().for_each(|line| tree.line(line));
        assert_eq!(cycles(&tree.uses()), Vec::<std::collections::BTreeSet<&str>>::new());
    }

    #[test]
    fn results_are_those_of_what_is_compiled() {
        let target = |name: &str, kind: &str| json!({ "name": name, "kind": [kind], "crate_types": [kind, "rlib"] });
        let all = compiled(&json!({ "packages": [
            { "name": "ours", "targets": [target("a-b", "lib"), target("a-b", "bin"), target("build-script-build", "custom-build")] },
            { "name": "c", "targets": [target("c", "staticlib"), target("t", "test"), target("e", "example")] },
        ] }));
        assert_eq!(all.keys().collect::<Vec<_>>(), ["a_b-bin", "a_b-lib", "c-staticlib"]);
        let folder = std::env::temp_dir().join(format!("sealwright-cycles-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for name in ["a_b-bin", "a_b-lib", "gone-lib"] {
            fs::write(folder.join(format!("{name}.uses")), "a b\nb a\n").expect("a file");
        }
        assert!(kept(&folder, &all).is_err_and(|why| why.contains("c-staticlib.uses") && why.contains("hint: ")));
        fs::write(folder.join("c-staticlib.uses"), "crate \n").expect("a file");
        let kept = kept(&folder, &all).expect("all are there");
        assert_eq!(kept.keys().collect::<Vec<_>>(), all.keys().collect::<Vec<_>>());
        assert_eq!(cycles(&kept["a_b-lib"]).len(), 1);
        assert!(super::kept(&folder, &[].into()).is_err());
        fs::remove_dir_all(folder).expect("it was made here");
    }

    #[test]
    fn a_use_of_a_higher_layer_is_found() {
        let uses = |from: &str, to: &str| Uses::from([(from.to_owned(), [to.to_owned()].into())]);
        assert!(upward(&uses("mode::gcm", "block::aes")).is_empty());
        assert!(upward(&uses("block::aes", "error")).is_empty());
        assert_eq!(upward(&uses("block::aes", "suite")).len(), 1);
        assert_eq!(upward(&uses("ghash", "block::aes")).len(), 1);
        assert!(upward(&uses("block::aes", "block::round_keys")).is_empty());
    }
}
