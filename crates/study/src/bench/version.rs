//! The versions of the peers that are compiled in, from the lock file of this build.

/// The version of a package; if there are several packages, each with its name.
pub(super) fn of(packages: &[&str]) -> String {
    match packages {
        [package] => one(package),
        _ => packages.iter().map(|package| format!("{package} {}", one(package))).collect::<Vec<_>>().join(", "),
    }
}

/// The version of `package`; if the lock file has several, all of them.
fn one(package: &str) -> String {
    let versions: Vec<&str> = versions(include_str!("../../../../Cargo.lock"), package).collect();
    if versions.is_empty() { "unknown".to_owned() } else { versions.join(", ") }
}

/// The versions of a package in a lock file: a line `name = "NAME"` is followed by `version = "VERSION"`.
fn versions<'a>(lock: &'a str, package: &'a str) -> impl Iterator<Item = &'a str> {
    lock.split("[[package]]").filter_map(move |entry| {
        let value = |name: &str| {
            let line = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
            Some(line.trim_matches('"'))
        };
        (value("name")? == package).then(|| value("version"))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"ring\"\nversion = \"0.17.14\"\n\n[[package]]\n\
                        name = \"ring-buffer\"\nversion = \"9.9.9\"\n\n[[package]]\nname = \"ring\"\nversion = \"1.0.0\"\n";

    #[test]
    fn finds_versions_of_exactly_this_package() {
        assert_eq!(versions(LOCK, "ring").collect::<Vec<_>>(), ["0.17.14", "1.0.0"]);
        assert_eq!(versions(LOCK, "rin").next(), None);
    }

    #[test]
    fn every_peer_has_a_version() {
        for peer in super::super::peer::all() {
            assert!(peer.version().contains(|c: char| c.is_ascii_digit()), "{}: {}", peer.name(), peer.version());
        }
        assert!(of(&["ring", "aes-gcm"]).contains(", aes-gcm 0."));
    }
}
