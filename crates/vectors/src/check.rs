//! Runs every case of a file at every level asked for.

use crate::{BadFile, Case, family, family::Outcome, jsonl, wycheproof};
use core::fmt;
use sealwright::Isa;
use serde_json::Value;
use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Seek},
    path::Path,
};

/// What to check with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Levels that each case is run at.
    pub isas: Vec<Isa>,
}

/// Counts of cases. A case counts once, however many levels it ran at; one failed level fails it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Right at every level.
    pub passed: usize,
    /// Wrong at some level.
    pub failed: usize,
    /// Of an algorithm, or with parameters, that this build does not have.
    pub skipped: usize,
}

impl core::ops::AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// One case that went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The file's name.
    pub file: String,
    /// Line or test number.
    pub place: String,
    /// The algorithm.
    pub alg: String,
    /// What the vector is about.
    pub comment: String,
    /// What differed, with the levels at which it did.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}: {}", self.file, self.place, self.alg, self.what)?;
        if self.comment.is_empty() { Ok(()) } else { write!(f, " ({})", self.comment) }
    }
}

/// Checks the file at `path`, telling `failures` of each failure as it comes.
///
/// # Errors
/// [`BadFile`] if it cannot be read, naming the place.
pub fn check_file(path: &Path, options: &Options, failures: &mut dyn FnMut(&Failure)) -> Result<Report, BadFile> {
    let name = path.display().to_string();
    let bad = |what: String| BadFile { file: name.clone(), place: String::new(), what };
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let mut reader = BufReader::new(file);
    // A document of Wycheproof's is one object over many lines; of JSON Lines the first line is an object by itself.
    let mut first = String::new();
    (&mut reader).take(1 << 20).read_line(&mut first).map_err(|error| bad(error.to_string()))?;
    reader.rewind().map_err(|error| bad(error.to_string()))?;
    let lines = matches!(serde_json::from_str(&first), Ok(Value::Object(fields)) if !fields.contains_key("testGroups"));
    if lines {
        return run(&name, options, failures, |each| jsonl::read(&name, &mut reader, each));
    }
    let mut text = String::new();
    reader.read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
    check_text(&name, &text, options, failures)
}

/// Checks a document in Wycheproof's shape.
///
/// # Errors
/// [`BadFile`] if it is not one, naming the place.
pub fn check_text(
    name: &str,
    text: &str,
    options: &Options,
    failures: &mut dyn FnMut(&Failure),
) -> Result<Report, BadFile> {
    let document: Value = serde_json::from_str(text).map_err(|error| BadFile {
        file: name.into(),
        place: format!("line {}", error.line()),
        what: "neither Wycheproof JSON nor JSON Lines".into(),
    })?;
    run(name, options, failures, |each| wycheproof::read(name, &document, each))
}

fn run(
    name: &str,
    options: &Options,
    failures: &mut dyn FnMut(&Failure),
    read: impl FnOnce(&mut dyn FnMut(Case)) -> Result<(), BadFile>,
) -> Result<Report, BadFile> {
    let mut report = Report::default();
    read(&mut |case| match outcome(&case, &options.isas) {
        Outcome::Passed => report.passed += 1,
        Outcome::Skipped => report.skipped += 1,
        Outcome::Failed(what) => {
            report.failed += 1;
            let Case { place, alg, comment, .. } = case;
            failures(&Failure { file: name.into(), place, alg, comment, what });
        }
    })?;
    Ok(report)
}

/// The case at every level: all must pass.
fn outcome(case: &Case, isas: &[Isa]) -> Outcome {
    let Some(family) = family::of(&case.alg) else { return Outcome::Skipped };
    let mut wrong: Vec<(String, Vec<&str>)> = Vec::new();
    for &isa in isas {
        match family.run(case, isa) {
            Outcome::Passed => {}
            Outcome::Skipped => return Outcome::Skipped,
            Outcome::Failed(what) => match wrong.iter_mut().find(|(known, _)| *known == what) {
                Some((_, levels)) => levels.push(isa.name()),
                None => wrong.push((what, vec![isa.name()])),
            },
        }
    }
    if wrong.is_empty() {
        return Outcome::Passed;
    }
    let what: Vec<_> = wrong.iter().map(|(what, levels)| format!("at {}: {what}", levels.join(", "))).collect();
    Outcome::Failed(what.join("; "))
}
