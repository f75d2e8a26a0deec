//! Security advisories about crates that we build: `xtask/advisories.tsv` is a copy of the RustSec database, which no
//! package registry has. `cargo xtask supply` compares the lock files with it; `cargo xtask supply --advisories FOLDER`
//! updates it.

use std::{collections::BTreeSet, fs, path::Path};

use semver::{Comparator, Op, Version, VersionReq};

/// A line for each advisory: crate, identity, date, kind, versions in which it is mended, and versions that never had
/// it; `-` where there is none.
pub(crate) const LIST: &str = include_str!("../advisories.tsv");

/// Accepted advisories, and why.
const ACCEPTED: &[(&str, &str)] = &[(
    "RUSTSEC-2023-0071",
    "it names no version of `rsa` as mended, while it is about arithmetic in variable time, which 0.10 no longer has",
)];

/// Kinds that are not defects of the code; they are ignored.
const NOTES: &[&str] = &["notice", "unmaintained"];

struct Advisory<'a> {
    name: &'a str,
    id: &'a str,
    date: &'a str,
    kind: &'a str,
    /// In which versions the crate does not have it.
    without: Vec<VersionReq>,
}

impl<'a> Advisory<'a> {
    fn read(line: &'a str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, id, date, kind, mended, never] = fields[..] else {
            return Err(format!("{line:?} has {} fields, not 6", fields.len()));
        };
        let ranges = mended.split(" | ").chain(never.split(" | ")).filter(|range| *range != "-");
        let without = ranges.map(|range| VersionReq::parse(range).map_err(|error| format!("{id}: {range:?}: {error}")));
        Ok(Advisory { name, id, date, kind, without: without.collect::<Result<_, _>>()? })
    }

    fn concerns(&self, name: &str, version: &Version) -> bool {
        self.name == name && !self.without.iter().any(|range| range.comparators.iter().all(|one| within(one, version)))
    }
}

/// Whether a version lies in a range by its place in the order of versions. Unlike `VersionReq::matches`, which no
/// version before a release satisfies unless it is named, as the database has it.
fn within(one: &Comparator, version: &Version) -> bool {
    let low = Version {
        pre: one.pre.clone(),
        ..Version::new(one.major, one.minor.unwrap_or_default(), one.patch.unwrap_or_default())
    };
    // After every version that begins with the given numbers.
    let behind = match (one.minor, one.patch) {
        (None, _) => Version::new(one.major + 1, 0, 0),
        (Some(minor), None) => Version::new(one.major, minor + 1, 0),
        (Some(minor), Some(patch)) => Version::new(one.major, minor, patch + 1),
    };
    let compatible = match (one.major, one.minor, one.patch) {
        (0, Some(0), Some(patch)) => Version::new(0, 0, patch + 1),
        (0, Some(minor), _) => Version::new(0, minor + 1, 0),
        _ => Version::new(one.major + 1, 0, 0),
    };
    let close = match one.minor {
        Some(minor) => Version::new(one.major, minor + 1, 0),
        None => Version::new(one.major + 1, 0, 0),
    };
    let whole = one.patch.is_some();
    match one.op {
        Op::Exact if whole => *version == low,
        Op::Greater if whole => *version > low,
        Op::LessEq if whole => *version <= low,
        Op::Exact | Op::Wildcard => *version >= low && *version < behind,
        Op::Greater => *version >= behind,
        Op::GreaterEq => *version >= low,
        Op::Less => *version < low,
        Op::LessEq => *version < behind,
        Op::Tilde => *version >= low && *version < close,
        Op::Caret => *version >= low && *version < compatible,
        // The type may get more operators; an unknown one does not match any version.
        _ => false,
    }
}

/// The advisories in `list` that apply to crates of these names and versions, and the date of the newest advisory.
pub(crate) fn judge(list: &str, crates: &BTreeSet<(String, String)>) -> Result<(Vec<String>, String), String> {
    let advisories = list.lines().filter(|line| !line.starts_with('#')).map(Advisory::read);
    let advisories = advisories.collect::<Result<Vec<_>, _>>()?;
    let newest = advisories.iter().map(|one| one.date).max().ok_or("there is no advisory in the list")?;
    let (mut wrong, mut met) = (Vec::new(), BTreeSet::new());
    for (name, version) in crates {
        let parsed = Version::parse(version).map_err(|error| format!("{name} {version}: {error}"))?;
        let against = advisories.iter().filter(|one| !NOTES.contains(&one.kind) && one.concerns(name, &parsed));
        for one in against {
            match ACCEPTED.iter().find(|(id, _)| *id == one.id) {
                Some((id, _)) => drop(met.insert(*id)),
                None => wrong.push(format!("{name} {version}: {}, {}", one.id, one.kind)),
            }
        }
    }
    // Where there is no crate of others, there is nothing to accept.
    let idle = ACCEPTED.iter().filter(|(id, _)| !crates.is_empty() && !met.contains(id));
    wrong.extend(
        idle.map(|(id, _)| format!("{id} is accepted, and concerns no crate any more: take it out of ACCEPTED")),
    );
    Ok((wrong, newest.to_owned()))
}

/// That advisories from half a year on are unknown, if the newest one of the list is older.
pub(crate) fn too_old(newest: &str, half_a_year_ago: &str) -> Option<String> {
    // Both as 2026-08-20.
    (newest < half_a_year_ago).then(|| {
        format!("advisories after {newest}: git clone https://github.com/rustsec/advisory-db, then cargo xtask supply --advisories advisory-db")
    })
}

/// The list from the folder of a copy of the database, <https://github.com/rustsec/advisory-db> (CC0-1.0).
pub(crate) fn list(folder: &Path) -> Result<String, String> {
    let told = |path: &Path, what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let entries = |path: &Path| {
        let read = fs::read_dir(path).map_err(|error| told(path, &error))?;
        read.map(|entry| entry.map(|entry| entry.path()).map_err(|error| told(path, &error)))
            .collect::<Result<Vec<_>, _>>()
    };
    let mut lines = BTreeSet::new();
    for path in entries(&folder.join("crates"))?.iter().map(|of| entries(of)).collect::<Result<Vec<_>, _>>()?.concat() {
        let text = fs::read_to_string(&path).map_err(|error| told(&path, &error))?;
        let head = text.strip_prefix("```toml\n").and_then(|rest| rest.split_once("\n```"));
        let (head, _) = head.ok_or_else(|| told(&path, &"it does not begin with a block of TOML"))?;
        lines.extend(line(head).map_err(|why| told(&path, &why))?);
    }
    let head = "# The RustSec advisory database (CC0-1.0), by `cargo xtask supply --advisories FOLDER`: crate, advisory, date, kind,\n\
                # versions in which it is mended, versions that never had it.\n";
    Ok(lines.iter().fold(head.to_owned(), |list, line| list + line + "\n"))
}

/// The line of an advisory; none if it was withdrawn.
fn line(head: &str) -> Result<Option<String>, String> {
    let head: toml::Table = head.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let field = |name: &str| head.get("advisory").and_then(|table| table.get(name)).and_then(|value| value.as_str());
    if field("withdrawn").is_some() {
        return Ok(None);
    }
    let ranges = |name: &str| {
        let all = head.get("versions").and_then(|table| table.get(name)).and_then(|value| value.as_array());
        let all: Vec<_> = all.into_iter().flatten().filter_map(|range| range.as_str()).collect();
        if all.is_empty() { "-".to_owned() } else { all.join(" | ") }
    };
    let must = |name: &str| field(name).ok_or_else(|| format!("it has no {name}"));
    let fields = [
        must("package")?,
        must("id")?,
        must("date")?,
        field("informational").unwrap_or("vulnerability"),
        &ranges("patched"),
        &ranges("unaffected"),
    ];
    let line = fields.join("\t");
    Advisory::read(&line)?;
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn crates(all: &[(&str, &str)]) -> BTreeSet<(String, String)> {
        // What is accepted concerns this one.
        let all = all.iter().chain([&("rsa", "0.10.0")]);
        all.map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
    }

    #[test]
    fn versions_before_mending_are_told_and_others_pass() {
        let wrong = |name: &str, version: &str| judge(LIST, &crates(&[(name, version)])).unwrap().0;
        assert_eq!(wrong("sha2", "0.9.7"), ["sha2 0.9.7: RUSTSEC-2021-0100, vulnerability"]);
        assert_eq!(wrong("sha2", "0.9.8"), [""; 0]);
        assert_eq!(wrong("sha2", "0.9.6"), [""; 0], "it never had it");
        assert_eq!(wrong("lock_api", "0.4.1"), ["lock_api 0.4.1: RUSTSEC-2020-0070, unsound"]);
        assert!(wrong("tokio", "1.6.2").contains(&"tokio 1.6.2: RUSTSEC-2021-0072, vulnerability".to_owned()));
        assert_eq!(wrong("aes-gcm", "0.11.0-rc.3"), [""; 0], "before a release, and behind the mending");
        assert_eq!(wrong("aes-gcm", "0.10.2").len(), 1);
    }

    #[test]
    fn ranges_are_places_in_the_order_of_versions() {
        for (range, inside, outside) in [
            (">= 1.2.3", &["1.2.3", "2.0.0-rc.1"][..], &["1.2.2", "1.2.3-rc.1"][..]),
            ("< 0.2, >= 0.1.5", &["0.1.5", "0.1.9"], &["0.2.0", "0.1.4"]),
            ("^0.3.4", &["0.3.4", "0.3.9"], &["0.4.0", "0.3.3"]),
            ("^ 1.1", &["1.1.0", "1.9.0"], &["2.0.0", "1.0.9"]),
            ("~1.2.3", &["1.2.9"], &["1.3.0"]),
            ("=0.2.1", &["0.2.1"], &["0.2.2"]),
            ("<= 0.1", &["0.1.7"], &["0.2.0"]),
            ("> 0.1", &["0.2.0"], &["0.1.7"]),
        ] {
            let range = VersionReq::parse(range).unwrap();
            let lies =
                |version: &str| range.comparators.iter().all(|one| within(one, &Version::parse(version).unwrap()));
            assert!(inside.iter().all(|version| lies(version)), "{range}");
            assert!(!outside.iter().any(|version| lies(version)), "{range}");
        }
    }

    #[test]
    fn an_acceptance_that_concerns_nothing_is_told() {
        assert!(judge(LIST, &BTreeSet::new()).unwrap().0.is_empty());
        let (wrong, _) = judge(LIST, &[("sha2".to_owned(), "0.9.8".to_owned())].into()).unwrap();
        assert_eq!(wrong.len(), ACCEPTED.len());
        assert!(wrong[0].contains("RUSTSEC-2023-0071 is accepted"), "{wrong:?}");
    }

    #[test]
    fn an_old_list_is_told() {
        assert_eq!(too_old("2026-08-20", "2026-08-20"), None);
        assert_eq!(too_old("2026-08-20", "2025-12-31"), None);
        assert!(too_old("2026-08-20", "2026-08-21").unwrap().starts_with("advisories after 2026-08-20"));
    }

    #[test]
    fn lists_that_are_none_are_refused() {
        for list in ["", "# nothing\n", "sha2\tRUSTSEC-1", "a\tb\t2020-01-01\tc\t>= x\t"] {
            assert!(judge(list, &BTreeSet::new()).is_err(), "{list:?}");
        }
    }

    #[test]
    fn an_advisory_of_the_database_becomes_a_line() {
        let head = "[advisory]\nid = \"RUSTSEC-2021-0100\"\npackage = \"sha2\"\ndate = \"2021-09-08\"\n\n[versions]\n\
                    patched = [\">= 0.9.8\"]\nunaffected = [\"< 0.9.7\"]";
        let known = "sha2\tRUSTSEC-2021-0100\t2021-09-08\tvulnerability\t>= 0.9.8\t< 0.9.7";
        assert_eq!(line(head).unwrap().unwrap(), known);
        assert!(LIST.lines().any(|line| line == known));
        assert_eq!(line(&head.replace("date", "withdrawn = \"2022-01-01\"\ndate")).unwrap(), None);
        assert!(line("[advisory]\nid = \"1\"").unwrap_err().contains("no package"));
    }
}
