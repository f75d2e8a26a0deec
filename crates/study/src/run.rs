//! Running studies: results to `results/<study>.json`, then the page.

use crate::{
    report,
    results::Results,
    study::{Failure, Options, Progress, STUDIES, Step, Study, by_name},
};
use std::{path::PathBuf, time::Instant};

/// Runs the study called `name`, stores its results and writes the page anew from everything in the results
/// directory. Gives the results and the page's path.
///
/// # Errors
/// When no study has this name, when it fails, or when results or page cannot be written.
pub fn run_one(name: &str, options: &Options, tell: &mut dyn FnMut(Step<'_>)) -> Result<(Results, PathBuf), Failure> {
    let study = by_name(name).ok_or_else(|| Failure::Unknown(name.to_owned()))?;
    let results = run(study, options, tell)?;
    Ok((results, report::write(options)?))
}

/// Runs every study that exists, storing each one's results as it ends, then writes the page. Gives the results in
/// the studies' order and the page's path.
///
/// # Errors
/// At the first study that fails, or when results or page cannot be written.
pub fn run_all(options: &Options, tell: &mut dyn FnMut(Step<'_>)) -> Result<(Vec<Results>, PathBuf), Failure> {
    let all = STUDIES.iter().map(|study| run(*study, options, tell)).collect::<Result<_, _>>()?;
    Ok((all, report::write(options)?))
}

fn run(study: &dyn Study, options: &Options, tell: &mut dyn FnMut(Step<'_>)) -> Result<Results, Failure> {
    let start = Instant::now();
    let mut progress = Progress::new(study.name(), tell);
    let outcome = study.run(options, &mut progress)?;
    progress.end();
    let results = Results::new(study.name(), options.quick, start.elapsed(), outcome);
    results.store(&options.results)?;
    Ok(results)
}
