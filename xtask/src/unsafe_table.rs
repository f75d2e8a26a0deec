//! Checks that `docs/ASSURANCE.md` names each source file with `unsafe` code, and no other.

use std::{collections::BTreeSet, path::Path};

/// The head of the table.
const HEAD: &str = "| where | what for | why it is sound |";

/// What is wrong with the table in `page`, where `sources` are the paths of all Rust files and their texts.
pub(crate) fn wrong<'a>(page: &str, sources: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let Some((_, table)) = page.split_once(HEAD) else { return vec![format!("there is no table {HEAD}")] };
    let rows = table.lines().skip(2).take_while(|line| line.starts_with("| "));
    let mut unused: BTreeSet<String> = rows.flat_map(places).collect();
    let named = unused.clone();
    let mut wrong = Vec::new();
    for (path, _) in sources.filter(|(_, text)| has_unsafe_code(text)) {
        let holders: Vec<&String> = named.iter().filter(|place| Path::new(path).starts_with(place.as_str())).collect();
        if holders.is_empty() {
            wrong.push(format!("{path}: it has `unsafe`, and no row of the table names it"));
        }
        for place in holders {
            unused.remove(place);
        }
    }
    wrong.extend(unused.iter().map(|place| format!("{place}: a row of the table names it, and it has no `unsafe`")));
    wrong
}

/// The files and folders that the first column of a row names: those in `crates` without that word, and those in the
/// folder of the one before without the folder.
fn places(row: &str) -> Vec<String> {
    let column = row.split('|').nth(1).unwrap_or_default();
    let (mut places, mut folder) = (Vec::new(), String::new());
    for name in column.split('`').skip(1).step_by(2) {
        let place = match name {
            name if !name.contains('/') && !folder.is_empty() => format!("{folder}/{name}"),
            name if name.starts_with("python/") => name.to_owned(),
            name => format!("crates/{name}"),
        };
        folder = place.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default();
        places.push(place);
    }
    places
}

/// Whether the word `unsafe` occurs as code, and not only in text.
fn has_unsafe_code(text: &str) -> bool {
    let begins = ["{", "fn", "impl", "extern", "trait", "("];
    text.lines().any(|line| {
        // Strings and comments are not code.
        let code: String = line.replace("\\\"", "").split('"').step_by(2).collect();
        let code = code.split("//").next().unwrap_or_default();
        let code = code.replace("_unsafe", "").replace("unsafe_", "");
        code.split("unsafe").skip(1).any(|rest| begins.iter().any(|begin| rest.trim_start().starts_with(begin)))
    })
}

#[cfg(test)]
mod tests {
    use super::{HEAD, wrong};

    #[test]
    fn planted_faults_are_found() {
        let page =
            format!("text\n\n{HEAD}\n|---|---|---|\n| `a/src/x.rs`, `y.rs` | a | b |\n| `c` | a | b |\n\n| `d` |");
        let all = [
            ("crates/a/src/x.rs", "let x = unsafe { y };"),
            ("crates/a/src/y.rs", "unsafe impl Sync for X {}"),
            (
                "crates/a/src/z.rs",
                "// unsafe { } in a comment\nlet x = \"unsafe { }\"; // unsafe fn\nfn is_unsafe() {}\n",
            ),
            ("crates/c/src/d/e.rs", "#[unsafe(no_mangle)]"),
        ];
        assert_eq!(wrong(&page, all.into_iter()), [""; 0]);
        let more = [("crates/a/src/w.rs", "pub unsafe extern \"C\" fn f() {}")];
        let found = wrong(&page, all.into_iter().chain(more));
        assert!(found.len() == 1 && found[0].starts_with("crates/a/src/w.rs: it has"), "{found:?}");
        let found = wrong(&page, all.into_iter().take(3));
        assert!(found.len() == 1 && found[0].starts_with("crates/c: a row"), "{found:?}");
        assert_eq!(wrong("", all.into_iter()).len(), 1);
    }
}
