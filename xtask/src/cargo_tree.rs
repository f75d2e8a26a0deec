//! The crates that cargo builds for a package on this machine, with their features and dependencies, from `cargo tree`.
//! Build scripts and procedural macros count.

use std::collections::{BTreeMap, BTreeSet};

use crate::steps::Steps;

/// The kinds of dependencies that cargo builds.
pub(crate) const BUILT: &str = "normal,build";

/// The name and the version of a crate.
pub(crate) type Id = (String, String);

/// The crates that cargo builds, and the packages for which it builds them.
pub(crate) struct Built {
    pub(crate) root: Id,
    pub(crate) crates: BTreeMap<Id, Crate>,
}

/// A crate that is built. If it is built both for the target and for build scripts, the union of both.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Crate {
    pub(crate) features: BTreeSet<String>,
    pub(crate) needs: BTreeSet<Id>,
}

impl Built {
    /// By dependencies of the kinds `edges`, as cargo names them. `options` are cargo's that select features or a system.
    pub(crate) fn of(steps: &Steps, package: &str, edges: &str, options: &[&str]) -> Result<Built, String> {
        let mut words = vec!["tree", "--locked", "--package", package, "--edges", edges];
        words.extend(["--prefix", "depth", "--format", " {p}|{f}"]);
        words.extend(options);
        Built::from(&steps.cargo_output(&words)?)
    }

    /// Each line has a depth, name and version, more about it, and the features behind a `|`. What a crate needs
    /// follows it one deeper, the first time that it is named.
    fn from(printed: &str) -> Result<Built, String> {
        let mut crates = BTreeMap::<Id, Crate>::new();
        let mut above: Vec<Id> = Vec::new();
        for line in printed.lines().filter(|line| !line.is_empty()) {
            let other = || format!("cargo tree printed another line than usual: {line}");
            let (what, features) = line.rsplit_once('|').ok_or_else(other)?;
            let mut words = what.split(' ');
            let mut word = || words.next().ok_or_else(other);
            let depth: usize = word()?.parse().map_err(|_| other())?;
            let id = (word()?.to_owned(), word()?.strip_prefix('v').ok_or_else(other)?.to_owned());
            if depth > above.len() || (depth == 0 && !above.is_empty()) {
                return Err(other());
            }
            above.truncate(depth);
            if let Some(needing) = above.last() {
                crates.entry(needing.clone()).or_default().needs.insert(id.clone());
            }
            let features = features.trim_end_matches(" (*)").split(',').filter(|feature| !feature.is_empty());
            crates.entry(id.clone()).or_default().features.extend(features.map(str::to_owned));
            above.push(id);
        }
        let root = above.into_iter().next().ok_or("cargo tree printed nothing")?;
        Ok(Built { root, crates })
    }
}

#[cfg(test)]
mod tests {
    use super::{Built, Crate};

    #[test]
    fn lines_of_cargo_tree() {
        let id = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        let built = Built::from(
            "0 ours v0.1.0 (/a folder/ours)|std\n1 a v1.2.3|alloc,default\n2 m v1.0.0 (proc-macro)|\n3 a v1.2.3|default,more\n\
             1 b v2.0.0|\n2 a v1.2.3|alloc,default (*)\n2 a v0.9.0+old|\n",
        )
        .expect("as cargo prints it");
        assert_eq!(built.root, id("ours", "0.1.0"));
        let of = |features: &[&str], needs: &[(&str, &str)]| Crate {
            features: features.iter().map(ToString::to_string).collect(),
            needs: needs.iter().map(|(name, version)| id(name, version)).collect(),
        };
        let wanted = [
            (id("a", "0.9.0+old"), of(&[], &[])),
            (id("a", "1.2.3"), of(&["alloc", "default", "more"], &[("m", "1.0.0")])),
            (id("b", "2.0.0"), of(&[], &[("a", "0.9.0+old"), ("a", "1.2.3")])),
            (id("m", "1.0.0"), of(&[], &[("a", "1.2.3")])),
            (id("ours", "0.1.0"), of(&["std"], &[("a", "1.2.3"), ("b", "2.0.0")])),
        ];
        assert_eq!(built.crates.into_iter().collect::<Vec<_>>(), wanted);
        for wrong in
            ["", "ours v0.1.0\n", "0 ours v0.1.0|\n2 a v1.0.0|\n", "0 a v1.0.0|\n0 b v1.0.0|\n", "0 a 1.0.0|\n"]
        {
            assert!(Built::from(wrong).is_err(), "{wrong}");
        }
    }
}
