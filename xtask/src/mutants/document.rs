//! `docs/MUTANTS.md`: the runs, and the changes that no test can detect.

use std::collections::BTreeMap;

/// Where it is.
pub(super) const DOCUMENT: &str = "docs/MUTANTS.md";

/// The name of a change without its line and column, which move when something above it is written: of
/// `src/x.rs:3:14: replace > with == in f` it is `src/x.rs: replace > with == in f`.
pub(super) fn name_of(line: &str) -> String {
    let (place, what) = line.split_once(": ").unwrap_or((line, ""));
    let file = place.split(':').next().unwrap_or(place);
    format!("{file}: {what}")
}

/// The commands in the table of scores: rows that begin with `` | `cargo xtask mutants WORDS` ``.
pub(super) fn rows(document: &str) -> Vec<Vec<String>> {
    let words = |line: &str| {
        let command = line.strip_prefix("| `cargo xtask mutants ")?.split('`').next()?;
        Some(command.split_whitespace().map(str::to_owned).collect())
    };
    document.lines().filter_map(words).collect()
}

/// The changes that the document explains, and how many of a name: lines that begin with `` * `NAME` `` or `` * 2
/// `NAME` ``.
pub(super) fn explained(document: &str) -> BTreeMap<String, usize> {
    let mut explained = BTreeMap::new();
    // A reason may begin on the line behind a long name.
    let joined = document.replace("\n  ", " ");
    for line in joined.lines().filter_map(|line| line.strip_prefix("* ")) {
        let Some((times, rest)) = line.split_once('`') else { continue };
        let Some((name, why)) = rest.split_once("`: ") else { continue };
        let times = if times.is_empty() { Some(1) } else { times.trim().parse::<usize>().ok() };
        if let Some(times) = times.filter(|_| !why.is_empty()) {
            *explained.entry(name.to_owned()).or_default() += times;
        }
    }
    explained
}

/// Changes that no test detected and that are not explained, and explanations of changes that were detected.
pub(super) fn compare(
    places: &[String],
    missed: &BTreeMap<String, usize>,
    explained: &BTreeMap<String, usize>,
) -> Vec<String> {
    let (mut wrong, none) = (Vec::new(), 0);
    for (name, times) in missed {
        let known = *explained.get(name).unwrap_or(&none);
        if *times > known {
            wrong.push(format!("{name}: no test notices it ({times} times, {known} explained)"));
        }
    }
    for (name, times) in
        explained.iter().filter(|(name, _)| places.iter().any(|place| name.starts_with(place.as_str())))
    {
        let now = *missed.get(name).unwrap_or(&none);
        if now < *times {
            wrong.push(format!("{name}: {DOCUMENT} explains {times}, but only {now} are not noticed: correct it"));
        }
    }
    wrong
}

/// The sums of the table of scores: changes that compile, those noticed, those explained.
#[cfg(test)]
fn sums(document: &str) -> [usize; 3] {
    document.lines().filter(|line| line.starts_with("| `cargo xtask mutants ")).fold([0; 3], |sums, row| {
        let fields: Vec<&str> = row.split('|').map(str::trim).collect();
        std::array::from_fn(|at| sums[at] + fields[at + 2].parse::<usize>().expect("a number"))
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    use super::{compare, explained, name_of, rows, sums};

    const DOCUMENT: &str = "| file | changes |\n|---|---|\n| `cargo xtask mutants session src/replay.rs -- --lib` | 7 |\n\n\
         * `crates/a/src/x.rs: replace && with || in f`: the second is never true alone\n\
         * 2 `crates/a/src/x.rs: replace < with <= in g`: the\n  numbers are even\n* a line of text\n\
         * `crates/c/src/y.rs: replace a long name with another`:\n  which leaves no room\n* `crates/c/src/y.rs: nothing`:\n\n";

    #[test]
    fn a_survivor_must_be_explained_and_an_explanation_must_be_needed() {
        let [f, g] = ["crates/a/src/x.rs: replace && with || in f", "crates/a/src/x.rs: replace < with <= in g"];
        let explained = explained(DOCUMENT);
        let y = "crates/c/src/y.rs: replace a long name with another";
        assert_eq!(
            explained.iter().map(|(name, times)| (name.as_str(), *times)).collect::<Vec<_>>(),
            [(f, 1), (g, 2), (y, 1)]
        );
        let missed = |list: &[(&str, usize)]| -> BTreeMap<String, usize> {
            list.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect()
        };
        let place = &["crates/a/src/x.rs".to_owned()];
        assert!(compare(place, &missed(&[(f, 1), (g, 2)]), &explained).is_empty());
        assert_eq!(compare(place, &missed(&[(f, 2), (g, 2)]), &explained).len(), 1, "one more than is explained");
        assert_eq!(compare(place, &missed(&[(f, 1), (g, 1)]), &explained).len(), 1, "one less");
        assert_eq!(compare(&["crates/b/".to_owned()], &missed(&[("crates/b/src/y.rs: -> 0", 1)]), &explained).len(), 1);
    }

    #[test]
    fn lines_move_and_names_do_not() {
        let line = "crates/a/src/x.rs:35:14: replace > with == in <impl Ring for [u8; N]>::is_new";
        assert_eq!(name_of(line), "crates/a/src/x.rs: replace > with == in <impl Ring for [u8; N]>::is_new");
    }

    #[test]
    fn the_page_on_assurance_has_the_sums_of_the_table() {
        let document = |path: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
            fs::read_to_string(path).expect("it is there")
        };
        let [ran, noticed, explained] = sums(&document(super::DOCUMENT));
        assert_eq!(ran, noticed + explained, "{}", super::DOCUMENT);
        let thousands = |n: usize| format!("{},{:03}", n / 1000, n % 1000);
        let [ran, noticed] = [ran, noticed].map(thousands);
        let sentence = format!("of {ran} changes that ran, {noticed} are noticed and {explained} explained");
        assert!(document("docs/ASSURANCE.md").contains(&sentence), "docs/ASSURANCE.md: {sentence}");
    }

    #[test]
    fn rows_are_commands() {
        assert_eq!(rows(DOCUMENT), [["session", "src/replay.rs", "--", "--lib"].map(str::to_owned)]);
    }
}
