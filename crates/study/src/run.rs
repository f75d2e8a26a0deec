//! Runs studies, the attacks and `bench`: stores their results in `results/<study>.json` and writes the report.

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use sealwright_measure::{Store, state::Ticks};

use crate::{
    attacks, bench,
    error::StudyError,
    journal::Journal,
    progress::{Progress, Step},
    report::{self, Written},
    results::{ATTACKS, BENCH, Results, keep_attacks, keep_bench},
    studies::{STUDIES, find},
    study::{Options, Study},
};

/// The results of a run.
#[derive(Debug, Default)]
pub struct Ran {
    /// The results of the studies, in order.
    pub results: Vec<Results>,
    /// Speed beside other libraries, if that was measured.
    pub bench: Option<bench::Report>,
    /// The outcomes of all attacks, if they were run.
    pub attacks: Option<attacks::Report>,
    /// The studies whose results were reused from an interrupted run, and when that run began.
    pub kept: Vec<(&'static str, String)>,
    /// The page, unless it could not be written.
    pub page: Option<PathBuf>,
    /// Files of earlier results that the page leaves out because they cannot be read, and why.
    pub left_out: Vec<StudyError>,
    /// What failed.
    pub failures: Vec<Failure>,
}

/// Why a part of a run failed.
#[derive(Debug)]
pub struct Failure {
    /// The study, [`BENCH`], [`ATTACKS`], `journal` or `report`.
    pub part: &'static str,
    /// Why it failed, or why its results could not be stored.
    pub error: StudyError,
    /// What to do about it, if that is known.
    pub hint: Option<String>,
}

impl Failure {
    fn new(part: &'static str, error: StudyError) -> Failure {
        let hint = error.hint().map(str::to_owned);
        Failure { part, error, hint }
    }

    /// A measurement failed, which may be for lack of a folder for its files.
    fn measuring(part: &'static str, error: StudyError) -> Failure {
        use io::ErrorKind::{NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let folder = [NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull];
        let about = matches!(&error, StudyError::Io(_, error) if folder.contains(&error.kind()));
        let place = std::env::temp_dir();
        let hint = about.then(|| format!("its files are in {}: TMPDIR names another folder", place.display()));
        let plain = Failure::new(part, error);
        Failure { hint: hint.or(plain.hint), ..plain }
    }
}

/// What a part found, and whether that was stored.
type Found<T> = (T, Result<(), StudyError>);

impl Ran {
    /// Takes what `part` found, and has `ended` record its end if that was stored.
    fn take<T>(
        &mut self,
        part: &'static str,
        found: Result<Found<T>, StudyError>,
        ended: impl FnOnce(&T) -> Result<(), StudyError>,
    ) -> Option<T> {
        match found {
            Err(error) => {
                self.failures.push(Failure::measuring(part, error));
                None
            }
            Ok((found, stored)) => {
                let done = stored.and_then(|()| ended(&found));
                self.failures.extend(done.err().map(|error| Failure::new(part, error)));
                Some(found)
            }
        }
    }

    /// Writes the report from all stored results.
    fn reported(mut self, options: &Options) -> Ran {
        match report::write(options) {
            Ok(Written { page, left_out }) => (self.page, self.left_out) = (Some(page), left_out),
            // Then the failures say why there are none
            Err(StudyError::NoResults(_)) if !self.failures.is_empty() => {}
            Err(error) => {
                let again = "sealwright-lab report writes it from the stored results".to_owned();
                let hint = error.hint().map_or(again, str::to_owned);
                self.failures.push(Failure { part: "report", error, hint: Some(hint) });
            }
        }
        self
    }
}

/// Before measuring: makes sure that results and report can be written.
fn can_write(options: &Options) -> Result<(), StudyError> {
    for folder in [&options.results, &options.report] {
        let tried = Store::open(folder).and_then(|store| store.probe());
        tried.map_err(StudyError::io(folder.display().to_string()))?;
    }
    Ok(())
}

/// Runs the study called `name`, [`BENCH`] or [`ATTACKS`], stores its results, and writes the report again from all
/// stored results. If storing fails, or the report, that is one of the failures beside the results.
///
/// # Errors
/// When no study has this name, when the folders cannot be written to, or when the measurement fails.
pub fn run_one(name: &str, options: &Options, tell: &mut dyn FnMut(Step<'_>)) -> Result<Ran, StudyError> {
    let mut ran = Ran::default();
    can_write(options)?;
    if name == BENCH {
        let lasts = bench_lasts(options.quick);
        let found = measure_bench(options, Progress::new(BENCH, tell).lasting(lasts, Duration::ZERO))?;
        ran.bench = ran.take(BENCH, Ok(found), |_| Ok(()));
    } else if name == ATTACKS {
        let lasts = attacks_last(options.quick);
        let found = run_attacks(options, Progress::new(ATTACKS, tell).lasting(lasts, Duration::ZERO))?;
        ran.attacks = ran.take(ATTACKS, Ok(found), |_| Ok(()));
    } else {
        let study = find(name)?;
        let progress = Progress::new(study.name(), tell).lasting(study.lasts(options.quick), Duration::ZERO);
        let found = run(study, options, progress)?;
        ran.results = ran.take(study.name(), Ok(found), |_| Ok(())).into_iter().collect();
    }
    Ok(ran.reported(options))
}

/// Runs every study, [`ATTACKS`] and [`BENCH`], storing each result as soon as it is known, then writes the report.
/// Continues an interrupted run of the same programs, machine, grid and budget. A part that fails is one of the
/// failures, and the others go on.
///
/// # Errors
/// When the folders cannot be written to or the journal cannot be read.
pub fn run_all(options: &Options, tell: &mut dyn FnMut(Step<'_>)) -> Result<Ran, StudyError> {
    can_write(options)?;
    let journal = Journal::open(options)?;
    let bench_lasts = journal.took(BENCH).unwrap_or_else(|| bench_lasts(options.quick));
    let attacks_last = journal.took(ATTACKS).unwrap_or_else(|| attacks_last(options.quick));
    let kept_attacks = journal.attacks();
    let attacks_last = if kept_attacks.is_some() { Duration::ZERO } else { attacks_last };
    let mut ran = run_studies(STUDIES, &journal, options, attacks_last + bench_lasts, tell);
    match kept_attacks.zip(journal.kept(ATTACKS)) {
        Some((report, begun)) => {
            ran.kept.push((ATTACKS, begun.to_owned()));
            ran.attacks = Some(report);
        }
        None => {
            let found = run_attacks(options, Progress::new(ATTACKS, tell).lasting(attacks_last, bench_lasts));
            ran.attacks = ran.take(ATTACKS, found, |report| journal.ended(ATTACKS, report.seconds));
        }
    }
    let found = measure_bench(options, Progress::new(BENCH, tell).lasting(bench_lasts, Duration::ZERO));
    ran.bench = ran.take(BENCH, found, |report| journal.ended(BENCH, report.seconds));
    Ok(finished(ran.reported(options), &journal))
}

/// Records that the run is complete, if nothing failed.
fn finished(mut ran: Ran, journal: &Journal) -> Ran {
    if ran.failures.is_empty() {
        ran.failures.extend(journal.done().err().map(|error| Failure::new("journal", error)));
    }
    ran
}

/// Runs those of `studies` that had not ended in an interrupted run. `after` is the expected duration of what follows
/// them.
fn run_studies(
    studies: &[&'static dyn Study],
    journal: &Journal,
    options: &Options,
    after: Duration,
    tell: &mut dyn FnMut(Step<'_>),
) -> Ran {
    let lasts = |study: &dyn Study| journal.took(study.name()).unwrap_or_else(|| study.lasts(options.quick));
    let mut ran = Ran::default();
    for (number, study) in studies.iter().enumerate() {
        if let (Some(results), Some(begun)) = (journal.results(study.name()), journal.kept(study.name())) {
            ran.kept.push((study.name(), begun.to_owned()));
            ran.results.push(results);
            continue;
        }
        let rest = studies[number + 1..].iter().filter(|study| journal.kept(study.name()).is_none());
        let after = rest.map(|study| lasts(*study)).sum::<Duration>() + after;
        let found = run(*study, options, Progress::new(study.name(), tell).lasting(lasts(*study), after));
        let taken = ran.take(study.name(), found, |results| journal.ended(study.name(), results.seconds));
        ran.results.extend(taken);
    }
    ran
}

fn run(study: &dyn Study, options: &Options, mut progress: Progress<'_>) -> Result<Found<Results>, StudyError> {
    let (start, ticks) = (Instant::now(), Ticks::now());
    let outcome = study.run(options, &mut progress)?;
    progress.end();
    let results = Results::new(study.name(), options.quick, start.elapsed(), outcome);
    let results = results.from_run(options, progress.recorded(), ticks.as_ref());
    let stored = results.store(&options.results);
    Ok((results, stored))
}

/// Expected duration of `bench`.
fn bench_lasts(quick: bool) -> Duration {
    Duration::from_secs(if quick { 25 } else { 400 })
}

/// Expected duration of all attacks.
fn attacks_last(quick: bool) -> Duration {
    Duration::from_secs(if quick { 12 } else { 70 })
}

fn run_attacks(options: &Options, mut progress: Progress<'_>) -> Result<Found<attacks::Report>, StudyError> {
    let report = attacks::run(options, &mut progress)?;
    progress.end();
    let stored = keep_attacks(&report, &options.results);
    Ok((report, stored))
}

fn measure_bench(options: &Options, mut progress: Progress<'_>) -> Result<Found<bench::Report>, StudyError> {
    let asked = bench::Options { quick: options.quick, commit: options.commit.clone(), ..bench::Options::default() };
    progress.expect(asked.comparisons() + 1);
    progress.step("checking that all implementations agree");
    let mut last = None;
    let found = bench::run(&asked, &mut |row| {
        // All rows of a comparison are reported together, after it has ended
        let now = Some((row.suite.clone(), row.bytes, row.direction));
        if last != now {
            progress.step(&format!("after {} {} B, {}", row.suite, row.bytes, row.direction));
            last = now;
        }
    });
    let report = found.map_err(|error| StudyError::Io(BENCH.to_owned(), io::Error::other(error)))?;
    progress.end();
    let stored = keep_bench(&report, &options.results);
    Ok((report, stored))
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
