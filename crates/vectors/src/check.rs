//! Runs every case of a file at every requested level.

use core::fmt;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use sealwright::Isa;
use serde_json::Value;

use crate::{
    Case, CaseError, VectorFileError, family,
    family::Outcome,
    jsonl::{self, MAX_LINE},
    strict, wycheproof,
};

/// The longest document. It is parsed as a whole, and its values take a hundred times its bytes. Published ones have a
/// few MiB.
const MAX_DOCUMENT: u64 = 64 << 20;

/// How to check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The levels at which each case is run.
    pub isas: Vec<Isa>,
}

impl Options {
    /// At these levels.
    ///
    /// ```
    /// use sealwright_vectors::{Options, check_text};
    ///
    /// let document = r#"{"algorithm": "AES-GCM", "numberOfTests": 0, "testGroups": []}"#;
    /// let report = check_text("none.json", document, &Options::at(vec![sealwright::Isa::best()]), &mut |_| ())?;
    /// assert_eq!(report.to_string(), "0 passed, 0 failed, 0 skipped");
    /// # Ok::<(), sealwright_vectors::VectorFileError>(())
    /// ```
    pub fn at(isas: Vec<Isa>) -> Options {
        Options { isas }
    }
}

impl Default for Options {
    /// At every level that this machine has.
    fn default() -> Options {
        Options::at(Isa::available())
    }
}

/// Counts of cases. A case counts once, however many levels it ran at; it failed if it failed at one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Cases that passed at every level.
    pub passed: usize,
    /// Cases that failed at one or more levels.
    pub failed: usize,
    /// Cases with an algorithm or parameters that this build does not support.
    pub skipped: usize,
    /// The reasons why cases were skipped, each with its number of cases.
    pub reasons: BTreeMap<String, usize>,
}

impl Report {
    /// The most reasons that are counted separately.
    const REASONS: usize = 100;

    fn skip(&mut self, reason: String, cases: usize) {
        let crowded = self.reasons.len() >= Self::REASONS && !self.reasons.contains_key(&reason);
        let reason = if crowded { "other reasons".into() } else { reason };
        *self.reasons.entry(reason).or_default() += cases;
        self.skipped += cases;
    }
}

impl core::ops::AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        for (reason, cases) in other.reasons {
            self.skip(reason, cases);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// One failed case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedCase {
    /// The file's name.
    pub file: String,
    /// The line or test number.
    pub place: String,
    /// The algorithm.
    pub alg: String,
    /// The vector's comment.
    pub comment: String,
    /// What differed, and at which levels.
    pub what: String,
}

impl fmt::Display for FailedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}: {}", self.file, self.place, self.alg, self.what)?;
        if self.comment.is_empty() { Ok(()) } else { write!(f, " ({})", self.comment) }
    }
}

/// Checks the file at `path` and calls `failures` with each failure as it occurs.
///
/// # Errors
/// [`VectorFileError`], which names the place, if the file cannot be read.
pub fn check_file(
    path: &Path,
    options: &Options,
    failures: &mut dyn FnMut(&FailedCase),
) -> Result<Report, VectorFileError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => check_reader(&name, BufReader::new(file), options, failures),
        Err(error) => Err(VectorFileError { file: name, place: String::new(), what: error.to_string() }),
    }
}

/// Checks JSON Lines or a Wycheproof document from `reader`; `name` is the file's name in messages.
///
/// # Errors
/// [`VectorFileError`], which names the place, if it cannot be read or is neither.
pub fn check_reader(
    name: &str,
    mut reader: impl BufRead,
    options: &Options,
    failures: &mut dyn FnMut(&FailedCase),
) -> Result<Report, VectorFileError> {
    let bad = |what: String| VectorFileError { file: name.into(), place: String::new(), what };
    // A Wycheproof document is one object over many lines; in JSON Lines the first line is an object by itself.
    let mut start = Vec::new();
    let mut first = 0..0;
    while start[first.clone()].trim_ascii().is_empty() {
        first.start = start.len();
        let read = (&mut reader).take(MAX_LINE + 1 - start.len() as u64).read_until(b'\n', &mut start);
        if read.map_err(|error| bad(error.to_string()))? == 0 {
            break;
        }
        first.end = start.len();
    }
    let object = str::from_utf8(&start[first]).ok().and_then(|line| strict::parse(line).ok());
    let mut reader = (&start[..]).chain(reader);
    if matches!(object, Some(Value::Object(fields)) if !fields.contains_key("testGroups")) {
        return run(name, options, failures, |each| jsonl::read(name, &mut reader, each));
    }
    let mut text = String::new();
    reader.take(MAX_DOCUMENT + 1).read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
    if text.len() as u64 > MAX_DOCUMENT {
        return Err(bad("neither JSON Lines, nor a document of at most 64 MiB".into()));
    }
    check_text(name, &text, options, failures)
}

/// Checks a Wycheproof document.
///
/// # Errors
/// [`VectorFileError`], which names the place, if it is not one.
pub fn check_text(
    name: &str,
    text: &str,
    options: &Options,
    failures: &mut dyn FnMut(&FailedCase),
) -> Result<Report, VectorFileError> {
    let document = strict::parse(text).map_err(|error| VectorFileError {
        file: name.into(),
        place: format!("line {}", error.line),
        what: error.what.unwrap_or_else(|| "neither Wycheproof JSON nor JSON Lines".into()),
    })?;
    run(name, options, failures, |each| wycheproof::read(name, &document, each))
}

fn run(
    name: &str,
    options: &Options,
    failures: &mut dyn FnMut(&FailedCase),
    read: impl FnOnce(&mut dyn FnMut(Case)) -> Result<(), VectorFileError>,
) -> Result<Report, VectorFileError> {
    let mut report = Report::default();
    read(&mut |case| match outcome(&case, &options.isas) {
        Ok(Outcome::Passed) => report.passed += 1,
        Ok(Outcome::Skipped) => report.skip(format!("{} with such parameters", brief(&case.alg)), 1),
        Err(reason) => report.skip(reason.to_string(), 1),
        Ok(Outcome::Failed(what)) => {
            report.failed += 1;
            let Case { place, alg, comment, .. } = case;
            failures(&FailedCase { file: name.into(), place, alg, comment, what: what.to_string() });
        }
    })?;
    Ok(report)
}

/// A shortened name, because it may come from a hostile file.
fn brief(alg: &str) -> String {
    alg.chars().take(40).collect()
}

/// Runs the case at every level: all must pass. An error says why it could not be run.
fn outcome(case: &Case, isas: &[Isa]) -> Result<Outcome, CaseError> {
    let Some(family) = family::of(&case.alg) else { return Err(format!("no {} here", brief(&case.alg)).into()) };
    if isas.is_empty() {
        return Err("no level to run at".into());
    }
    let mut wrong: Vec<(CaseError, Vec<&str>)> = Vec::new();
    let mut skipped = false;
    for &isa in isas {
        match family.run(case, isa) {
            Outcome::Passed => {}
            Outcome::Skipped => skipped = true,
            Outcome::Failed(what) => match wrong.iter_mut().find(|(known, _)| *known == what) {
                Some((_, levels)) => levels.push(isa.name()),
                None => wrong.push((what, vec![isa.name()])),
            },
        }
    }
    if wrong.is_empty() {
        return Ok(if skipped { Outcome::Skipped } else { Outcome::Passed });
    }
    let what: Vec<_> = wrong.iter().map(|(what, levels)| format!("at {}: {what}", levels.join(", "))).collect();
    Ok(Outcome::Failed(what.join("; ").into()))
}
