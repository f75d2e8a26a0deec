//! The names in a configuration: who may have a session, who is revoked, and who may speak to whom.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use rustls::pki_types::ServerName;
use serde::Deserialize;

use crate::{
    patterns::{Patterns, overlap},
    policy::{Policy, Rule, Tenant},
    serve::config_error::ValueError,
};

/// `[tenants]`: the names of each tenant.
pub(super) type Tenants = BTreeMap<String, Vec<String>>;

/// One of `[[rules]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    from: Vec<String>,
    to: Vec<String>,
    #[serde(default)]
    one_way: bool,
}

/// The policy that these tables describe.
pub(super) fn policy(mut tenants: Tenants, rules: Vec<RuleTable>) -> Result<Policy, ValueError> {
    if tenants.is_empty() && !rules.is_empty() {
        return Err(ValueError::RulesWithoutTenants);
    }
    check_names(tenants.values_mut().map(|names| ("tenants", names)))?;
    check_overlaps(&tenants)?;
    let tenants = tenants.into_iter().map(|(name, names)| Tenant { name, names }).collect();
    let mut checked = Vec::new();
    for RuleTable { mut from, mut to, one_way } in rules {
        for side in [&mut from, &mut to] {
            check_names(std::iter::once(("rules", side)))?;
        }
        checked.push(Rule { from, to, one_way });
    }
    Policy::new(tenants, checked).map_err(|_| ValueError::TooManyRules)
}

/// Refuses patterns of two tenants that one name can match.
fn check_overlaps(tenants: &Tenants) -> Result<(), ValueError> {
    let all = || (0..).zip(tenants.values()).flat_map(|(at, names)| names.iter().map(move |name| (at, name)));
    let mut patterns = Patterns::default();
    all().for_each(|(at, name)| patterns.add(name, at));
    for (at, pattern) in all().filter(|(_, name)| name.starts_with("*.")) {
        if patterns.overlapping(pattern).any(|other| other != at)
            && let Some((_, name)) = all().find(|(other, name)| *other != at && overlap(pattern, name))
        {
            return Err(ValueError::TenantsOverlap(pattern.clone(), name.clone()));
        }
    }
    Ok(())
}

/// The names in a file: one a line; `#` begins a comment.
pub(super) fn read(path: &Path) -> Result<Vec<String>, ValueError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ValueError::NamesFile { path: path.to_owned(), error: crate::os_error_text(&error) })?;
    let line = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let names = (1..).zip(text.lines().map(line)).filter(|(_, name)| !name.is_empty());
    names
        .map(|(line, name)| {
            is_name(&name).then_some(name).ok_or(ValueError::NameInFile { path: path.to_owned(), line })
        })
        .collect()
}

/// Appends the names in a file to a list.
pub(super) fn with_file(mut names: Vec<String>, file: Option<&PathBuf>) -> Result<Vec<String>, ValueError> {
    names.extend(file.map(|file| read(file)).transpose()?.unwrap_or_default());
    Ok(names)
}

/// Whether a certificate can bear this name or pattern. A dot at the end, which DNS allows, would make it another name
/// than the one in certificates.
fn is_name(name: &str) -> bool {
    !name.ends_with('.')
        && matches!(ServerName::try_from(name.strip_prefix("*.").unwrap_or(name)), Ok(ServerName::DnsName(_)))
}

/// Makes all names lower case. Refuses names that no certificate can bear, and duplicates. Each list comes with the
/// name of its setting, for errors.
pub(super) fn check_names<'a>(
    lists: impl Iterator<Item = (&'static str, &'a mut Vec<String>)>,
) -> Result<(), ValueError> {
    let mut seen = HashSet::new();
    for (setting, name) in lists.flat_map(|(setting, names)| names.iter_mut().map(move |name| (setting, name))) {
        name.make_ascii_lowercase();
        if !is_name(name) {
            return Err(ValueError::Name(setting, name.clone()));
        }
        if !seen.insert(name.clone()) {
            return Err(ValueError::Duplicate(setting, name.clone()));
        }
    }
    Ok(())
}
