//! Runs studies, the attacks and `bench`: stores their results in `results/<study>.json` and writes the report.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use sealwright_measure::{Store, state::Ticks};

use crate::{
    attacks, bench,
    error::StudyError,
    journal::Journal,
    progress::{Progress, Step},
    report,
    results::{ATTACKS, BENCH, Results, keep_attacks, keep_bench},
    studies::{STUDIES, find},
    study::{Options, Study},
};

/// The results of a run.
#[derive(Debug)]
pub struct Ran {
    /// The results of the studies, in order.
    pub results: Vec<Results>,
    /// Speed beside other libraries, if that was measured.
    pub bench: Option<bench::Report>,
    /// The outcomes of all attacks, if they were run.
    pub attacks: Option<attacks::Report>,
    /// The studies whose results were reused from an interrupted run, and when that run began.
    pub kept: Vec<(&'static str, String)>,
    /// The page.
    pub page: PathBuf,
}

/// Runs the study called `name`, [`BENCH`] or [`ATTACKS`], stores its results, and writes the report again from all
/// stored results.
///
/// # Errors
/// When no study has this name, when it fails, or when results or page cannot be written.
pub fn run_one(name: &str, options: &Options, tell: &mut dyn FnMut(Step<'_>)) -> Result<Ran, StudyError> {
    let (mut results, mut bench, mut attacks) = (Vec::new(), None, None);
    // Before measuring, make sure that results can be stored
    Store::open(&options.results).map_err(StudyError::io(options.results.display().to_string()))?;
    if name == BENCH {
        let lasts = bench_lasts(options.quick);
        bench = Some(measure_bench(options, Progress::new(BENCH, tell).lasting(lasts, Duration::ZERO))?);
    } else if name == ATTACKS {
        let lasts = attacks_last(options.quick);
        attacks = Some(run_attacks(options, Progress::new(ATTACKS, tell).lasting(lasts, Duration::ZERO))?);
    } else {
        let study = find(name)?;
        let progress = Progress::new(study.name(), tell).lasting(study.lasts(options.quick), Duration::ZERO);
        results.push(run(study, options, progress)?);
    }
    Ok(Ran { results, bench, attacks, kept: Vec::new(), page: report::write(options)? })
}

/// Runs every study, [`ATTACKS`] and [`BENCH`], storing each result as soon as it is known, then writes the report.
/// Continues an interrupted run of the same programs, machine, grid and budget.
///
/// # Errors
/// At the first study that fails, or when results or page cannot be written.
pub fn run_all(options: &Options, tell: &mut dyn FnMut(Step<'_>)) -> Result<Ran, StudyError> {
    let journal = Journal::open(options)?;
    let bench_lasts = journal.took(BENCH).unwrap_or_else(|| bench_lasts(options.quick));
    let attacks_last = journal.took(ATTACKS).unwrap_or_else(|| attacks_last(options.quick));
    let kept_attacks = journal.attacks();
    let attacks_last = if kept_attacks.is_some() { Duration::ZERO } else { attacks_last };
    let (all, mut kept) = run_studies(STUDIES, &journal, options, attacks_last + bench_lasts, tell)?;
    let attacks = match kept_attacks.zip(journal.kept(ATTACKS)) {
        Some((report, begun)) => {
            kept.push((ATTACKS, begun.to_owned()));
            report
        }
        None => {
            let report = run_attacks(options, Progress::new(ATTACKS, tell).lasting(attacks_last, bench_lasts))?;
            journal.ended(ATTACKS, report.seconds)?;
            report
        }
    };
    let bench = measure_bench(options, Progress::new(BENCH, tell).lasting(bench_lasts, Duration::ZERO))?;
    journal.ended(BENCH, bench.seconds)?;
    journal.done()?;
    Ok(Ran { results: all, bench: Some(bench), attacks: Some(attacks), kept, page: report::write(options)? })
}

/// The results of studies, and the names of those that come from an interrupted run, with the time when that run
/// began.
type Found = (Vec<Results>, Vec<(&'static str, String)>);

/// Runs those of `studies` that had not ended in an interrupted run. `after` is the expected duration of what follows
/// them.
fn run_studies(
    studies: &[&'static dyn Study],
    journal: &Journal,
    options: &Options,
    after: Duration,
    tell: &mut dyn FnMut(Step<'_>),
) -> Result<Found, StudyError> {
    let lasts = |study: &dyn Study| journal.took(study.name()).unwrap_or_else(|| study.lasts(options.quick));
    let (mut all, mut kept) = (Vec::new(), Vec::new());
    for (number, study) in studies.iter().enumerate() {
        if let (Some(results), Some(begun)) = (journal.results(study.name()), journal.kept(study.name())) {
            kept.push((study.name(), begun.to_owned()));
            all.push(results);
            continue;
        }
        let rest = studies[number + 1..].iter().filter(|study| journal.kept(study.name()).is_none());
        let after = rest.map(|study| lasts(*study)).sum::<Duration>() + after;
        let results = run(*study, options, Progress::new(study.name(), tell).lasting(lasts(*study), after))?;
        journal.ended(study.name(), results.seconds)?;
        all.push(results);
    }
    Ok((all, kept))
}

fn run(study: &dyn Study, options: &Options, mut progress: Progress<'_>) -> Result<Results, StudyError> {
    let (start, ticks) = (Instant::now(), Ticks::now());
    let outcome = study.run(options, &mut progress)?;
    progress.end();
    let results = Results::new(study.name(), options.quick, start.elapsed(), outcome);
    let results = results.from_run(options, progress.recorded(), ticks.as_ref());
    results.store(&options.results)?;
    Ok(results)
}

/// Expected duration of `bench`.
fn bench_lasts(quick: bool) -> Duration {
    Duration::from_secs(if quick { 25 } else { 400 })
}

/// Expected duration of all attacks.
fn attacks_last(quick: bool) -> Duration {
    Duration::from_secs(if quick { 12 } else { 240 })
}

fn run_attacks(options: &Options, mut progress: Progress<'_>) -> Result<attacks::Report, StudyError> {
    let report = attacks::run(options, &mut progress)?;
    progress.end();
    keep_attacks(&report, &options.results)?;
    Ok(report)
}

fn measure_bench(options: &Options, mut progress: Progress<'_>) -> Result<bench::Report, StudyError> {
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
    let report = found.map_err(|error| StudyError::Io(BENCH.to_owned(), std::io::Error::other(error)))?;
    progress.end();
    keep_bench(&report, &options.results)?;
    Ok(report)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
