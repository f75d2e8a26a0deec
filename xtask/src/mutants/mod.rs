//! `cargo xtask mutants [--together] CRATE [FILE ...] [-- ARGUMENTS OF CARGO TEST]`: mutation tests. Makes small
//! changes to the code, one at a time, and runs the tests of its crate. A change that no test detects is a gap in the
//! tests, unless `docs/MUTANTS.md` says why no test can detect it. The tool is cargo-mutants, from crates.io: it builds
//! the crate for each change. With `--together` it only lists the changes, and one program contains all of them.

mod changes;
mod document;
mod one_by_one;
mod places;
mod programs;
mod run;
mod switch;
mod together;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use document::{DOCUMENT, compare, explained, name_of, rows};
use one_by_one::one_by_one;
use together::Bench;

use crate::steps::{Checked, Steps};

/// The row of the document that runs if no crate is named, as in `cargo xtask test`: it tests the code that writes,
/// builds and runs the changes, and keeps one score from falling between two runs of all rows.
const SHORT: &str = "--together session src/sessions.rs -- --lib sessions";
const USAGE: &str =
    "hint: cargo xtask mutants --together session src/replay.rs -- --lib, or all for each row of docs/MUTANTS.md";

/// Code to be changed, and the tests to run.
struct Wanted {
    /// All changes in one program.
    together: bool,
    name: String,
    /// Relative to the folder of the crate; empty for all files.
    files: Vec<String>,
    /// Arguments of `cargo test`.
    tests: Vec<String>,
}

impl Wanted {
    fn of(root: &Path, words: &[String]) -> Result<Wanted, String> {
        let (what, tests) = match words.iter().position(|word| word == "--") {
            Some(at) => (&words[..at], words[at + 1..].to_vec()),
            // Not those of the documentation, which take long to link.
            None => (words, vec!["--tests".to_owned()]),
        };
        let (together, what) = match what {
            [option, rest @ ..] if option == "--together" => (true, rest),
            what => (false, what),
        };
        let [name, files @ ..] = what else {
            return Err(format!("name a crate, and files unless all are meant\n   {USAGE}"));
        };
        let folder = root.join("crates").join(name);
        if !folder.join("Cargo.toml").exists() {
            return Err(format!("crates/{name}: there is no such crate\n   {USAGE}"));
        }
        if let Some(file) = files.iter().find(|file| !folder.join(file).is_file()) {
            return Err(format!("crates/{name}/{file}: there is no such file\n   {USAGE}"));
        }
        Ok(Wanted { together, name: name.clone(), files: files.to_vec(), tests })
    }

    /// The arguments of cargo, and those of the test programs, from `--` on.
    fn words(&self) -> (&[String], &[String]) {
        self.tests.split_at(self.tests.iter().position(|word| word == "--").unwrap_or(self.tests.len()))
    }

    /// The prefixes of the names of its changes.
    fn places(&self) -> Vec<String> {
        let folder = format!("crates/{}/", self.name);
        match self.files.as_slice() {
            [] => vec![folder],
            files => files.iter().map(|file| format!("{folder}{file}")).collect(),
        }
    }

    /// The folder of its results: the name of the first file, and how many more there are.
    fn output(&self) -> String {
        let places = self.places();
        let first = places[0].trim_end_matches('/').replace('/', "-");
        if places.len() == 1 { first } else { format!("{first}+{}", places.len() - 1) }
    }

    /// The name of the package.
    fn package(&self) -> String {
        match self.name.as_str() {
            "aead" => "sealwright".to_owned(),
            name => format!("sealwright-{name}"),
        }
    }

    /// The arguments of cargo-mutants that select the changes.
    fn which(&self) -> Vec<String> {
        // What `Debug` says is for people.
        let all = ["--all-features", "--package", &self.package(), "--exclude-re", "impl ((core::|std::)?fmt::)?Debug"];
        let mut words = all.map(str::to_owned).to_vec();
        if !self.files.is_empty() {
            words.extend(self.places().into_iter().flat_map(|file| ["--file".to_owned(), file]));
        }
        words
    }
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    let document = fs::read_to_string(steps.root().join(DOCUMENT)).unwrap_or_default();
    let all: Vec<Vec<String>> = match words {
        [] => vec![self::words(SHORT)],
        [all] if all == "all" => rows(&document),
        words => vec![words.to_vec()],
    };
    let wanted: Result<Vec<Wanted>, String> = all.iter().map(|words| Wanted::of(steps.root(), words)).collect();
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let known = crate::programs::cargo().args(["mutants", "--version"]).output();
    if !known.is_ok_and(|known| known.status.success()) {
        return Checked::Cannot(
            "there is no cargo-mutants\n   hint: cargo install --locked cargo-mutants --target-dir /tmp/cargo-mutants"
                .into(),
        );
    }
    let (mut wrong, mut sum) = (Vec::new(), Score::default());
    for wanted in &wanted {
        match score(steps, wanted) {
            Ok(score) => {
                let places = wanted.places();
                wrong.extend(compare(&places, &score.missed, &explained(&document)));
                println!("   {}: {score}", places.join(", "));
                sum.add(score);
            }
            Err(why) => wrong.push(why),
        }
    }
    Checked::of(wrong, sum.to_string())
}

/// What became of the changes.
#[derive(Default)]
struct Score {
    noticed: usize,
    /// The tests did not end; a machine that runs them notices that.
    hung: usize,
    /// It does not compile.
    impossible: usize,
    /// What no test noticed, and how often a change of this name.
    missed: BTreeMap<String, usize>,
}

impl Score {
    fn add(&mut self, other: Score) {
        self.noticed += other.noticed;
        self.hung += other.hung;
        self.impossible += other.impossible;
        for (name, times) in other.missed {
            *self.missed.entry(name).or_default() += times;
        }
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Score { noticed, hung, impossible, missed } = self;
        let missed: usize = missed.values().sum();
        write!(f, "{} changes that compile: {} noticed", noticed + hung + missed, noticed + hung)?;
        write!(f, " ({hung} of them because the tests hang), {missed} not; {impossible} do not compile")
    }
}

/// Runs the tool on a copy of the sources, which stands in the same place each time: what was built there is of use
/// again, and what is interrupted leaves the sources as they are.
fn score(steps: &Steps, wanted: &Wanted) -> Result<Score, String> {
    let home = steps.target().join("mutants");
    let tree = home.join("tree");
    copy(steps.root(), &tree)?;
    let output = home.join(wanted.output());
    let lists = output.join("mutants.out");
    fs::create_dir_all(&lists).map_err(|error| format!("{}: {error}", lists.display()))?;
    if wanted.together {
        together(&home, wanted, &lists)?
    } else {
        one_by_one(&home, wanted, &output)?;
    }
    read(wanted, &lists)
}

/// Leaves the lists that cargo-mutants would leave.
fn together(home: &Path, wanted: &Wanted, lists: &Path) -> Result<(), String> {
    let folder = format!("crates/{}", wanted.name);
    let (cargo, programs) = wanted.words();
    let bench = Bench::new(
        [&home.join("tree"), &home.join("build")],
        [&wanted.package(), &folder],
        &wanted.which(),
        [cargo, programs],
    )?;
    let outcome = bench.outcome()?;
    let all = [("missed", &outcome.missed), ("caught", &outcome.caught), ("timeout", &outcome.timeout)];
    for (name, list) in all.into_iter().chain([("unviable", &outcome.unviable)]) {
        let path = lists.join(name).with_extension("txt");
        fs::write(&path, list.join("\n")).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    all_run(&outcome.not_run)
}

/// A score is not of some of the changes.
fn all_run(not_run: &[String]) -> Result<(), String> {
    if not_run.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} changes were not tried, since no test failed or passed:\n   {}",
        not_run.len(),
        not_run.join("\n   ")
    ))
}

/// Reads the lists.
fn read(wanted: &Wanted, lists: &Path) -> Result<Score, String> {
    let list = |name: &str| {
        let path = lists.join(name).with_extension("txt");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<_, String>(text.lines().map(name_of).collect::<Vec<_>>())
    };
    let [noticed, hung, impossible, missed] = [list("caught")?, list("timeout")?, list("unviable")?, list("missed")?];
    let of = |file: &str| {
        let in_it = |name: &&String| name.starts_with(file);
        let count = |list: &[String]| list.iter().filter(in_it).count();
        let mut score = Score { noticed: count(&noticed), hung: count(&hung), ..Score::default() };
        score.impossible = count(&impossible);
        for name in missed.iter().filter(in_it) {
            *score.missed.entry(name.clone()).or_default() += 1;
        }
        score
    };
    let all = [&noticed, &hung, &missed].into_iter().flatten();
    let files: BTreeSet<&str> = all.filter_map(|name| name.split(':').next()).collect();
    match files.len() {
        0 => return Err(format!("{}: nothing in it was changed", wanted.places().join(", "))),
        1 => {}
        _ => files.iter().for_each(|file| println!("   {file}: {}", of(&format!("{file}:")))),
    }
    Ok(of(""))
}

/// The files of the repository, as they are in the worktree. A file that is the same stays, and so does what was built
/// of it.
fn copy(root: &Path, tree: &Path) -> Result<(), String> {
    let list = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let mut names = BTreeSet::new();
    for name in list.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let name = PathBuf::from(String::from_utf8_lossy(name).into_owned());
        let (from, to) = (root.join(&name), tree.join(&name));
        let failed = |error: std::io::Error| format!("{}: {error}", to.display());
        // A link to a folder, or a file that was removed
        if !from.is_file() {
            continue;
        }
        names.insert(to.clone());
        let bytes = fs::read(&from).map_err(failed)?;
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(tree)).map_err(failed)?;
        fs::write(&to, bytes).map_err(failed)?;
    }
    if names.is_empty() { Err("git ls-files names no file".into()) } else { remove_others(tree, &names) }
}

/// Removes what the repository no longer has.
fn remove_others(folder: &Path, names: &BTreeSet<PathBuf>) -> Result<(), String> {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            remove_others(&path, names)?;
        } else if !names.contains(&path) {
            fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{DOCUMENT, SHORT, Wanted, rows, words};

    #[test]
    fn words_for_cargo_and_for_the_tests_are_told_apart() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let words = ["session", "src/replay.rs", "--", "--lib", "--", "replay", "ring"].map(str::to_owned);
        let wanted = Wanted::of(&root, &words).expect("it is there");
        assert_eq!(wanted.words(), (&words[3..4], &words[4..]));
        assert!(!wanted.together);
        let words = ["--together", "session", "src/replay.rs", "src/frame.rs", "--", "--lib"].map(str::to_owned);
        let wanted = Wanted::of(&root, &words).expect("it is there");
        assert_eq!(wanted.words(), (&words[5..6], &[][..]));
        assert_eq!(wanted.places(), ["crates/session/src/replay.rs", "crates/session/src/frame.rs"]);
        assert!(wanted.together);
    }

    #[test]
    fn every_row_can_run_and_the_short_form_is_one() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let rows = rows(&std::fs::read_to_string(root.join(DOCUMENT)).expect("it is there"));
        assert!(rows.contains(&words(SHORT)), "{SHORT}");
        for words in rows {
            assert!(Wanted::of(&root, &words).is_ok(), "{words:?}");
        }
    }
}
