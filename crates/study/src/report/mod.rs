//! The report: `report/index.html`, one self-contained file made from the results directory.

mod attacks;
mod benches;
mod chapter;
mod chooser;
mod claims;
mod mark;
mod terms;

use std::{
    fs,
    path::{Path, PathBuf},
};

use attacks::Attacks;
use benches::Bench;
use chapter::{Chapter, Shown};
pub(crate) use chapter::{day, program};
use minijinja::{AutoEscape, Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use sealwright_measure::{Machine, Table, store::write_atomically};

use crate::{
    advise::Measured,
    attacks as attacks_of, bench,
    error::StudyError,
    quantity::QuantityKind,
    results::{ATTACKS, BENCH, Loaded, Results},
    studies::STUDIES,
    study::Options,
};

const COMPARISON: &str = include_str!("../../report/compare.html");
const TEMPLATE: &str = include_str!("../../report/page.html");
const STYLE: &str = include_str!("../../report/page.css");
const SCRIPT: &str = include_str!("../../report/page.js");
const CHOOSING: &str = include_str!("../../report/chooser.js");

/// A report that was written.
#[derive(Debug)]
pub struct Written {
    /// The page.
    pub page: PathBuf,
    /// The files of results that cannot be read, and why. The page names them.
    pub left_out: Vec<StudyError>,
}

/// Writes the report from the contents of `options.results`. For studies without results, the report says how to run
/// them; files that cannot be read are left out, with a warning.
///
/// # Errors
/// When no results can be read or the page cannot be written.
pub fn write(options: &Options) -> Result<Written, StudyError> {
    let mut loaded = Loaded::from(&options.results);
    let data = beside(&options.results, &options.report);
    if loaded.results.is_empty() && loaded.bench.is_none() && loaded.attacks.is_none() {
        let unreadable = loaded.left_out.drain(..).next();
        return Err(unreadable.unwrap_or_else(|| StudyError::NoResults(options.results.clone())));
    }
    let Loaded { results, bench, attacks, left_out } = loaded;
    let html = page(&results, bench.as_ref(), attacks.as_ref(), &left_out, data.as_deref())?;
    Ok(Written { page: put(&options.report, "index.html", &html)?, left_out })
}

/// Writes a comparison of two results directories as `compare.html` in `report`, and returns its path.
///
/// # Errors
/// When the page cannot be written.
pub fn write_comparison(tables: &[Table], report: &Path) -> Result<PathBuf, StudyError> {
    let page = environment()
        .and_then(|environment| {
            environment.template_from_str(COMPARISON)?.render(context! {
                tables => Serde(tables.iter().map(Shown::from).collect::<Vec<_>>()),
                style => Value::from_safe_string(STYLE.to_owned()),
                version => env!("CARGO_PKG_VERSION"),
            })
        })
        .map_err(broken)?;
    put(report, "compare.html", &page)
}

/// The link from the page to the folder of the results, if it can be expressed as a relative path.
fn beside(results: &Path, report: &Path) -> Option<String> {
    let [results, report] = [results, report].map(std::path::absolute);
    let (results, report) = (results.ok()?, report.ok()?);
    let common = results.components().zip(report.components()).take_while(|(a, b)| a == b).count();
    let up = report.components().count() - common;
    let down = results.components().skip(common).map(|part| part.as_os_str().to_str());
    let down: Option<Vec<&str>> = down.collect();
    // Only names that need no escaping in a link are accepted
    let plain = |part: &&str| part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let down = down.filter(|down| down.iter().all(plain))?;
    Some(std::iter::repeat_n("..", up).chain(down).collect::<Vec<_>>().join("/")).filter(|path| !path.is_empty())
}

/// Writes `page` into the folder `report` atomically.
fn put(report: &Path, name: &str, page: &str) -> Result<PathBuf, StudyError> {
    let path = report.join(name);
    let store = || fs::create_dir_all(report).and_then(|()| write_atomically(&path, page.as_bytes()));
    store().map_err(StudyError::io(path.display().to_string()))?;
    Ok(path)
}

fn broken(error: minijinja::Error) -> StudyError {
    StudyError::Page(format!("{error:#}"))
}

/// The template environment, in which everything that is not marked as safe is escaped.
fn environment<'a>() -> Result<Environment<'a>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    Ok(environment)
}

/// The page for the results of studies, of `bench` and of attacks, each of which may be missing. `data` is a link to
/// their folder.
///
/// # Errors
/// When a result belongs to an unknown study.
pub fn html(
    results: &[Results],
    bench: Option<&bench::Report>,
    attacks: Option<&attacks_of::Report>,
    data: Option<&str>,
) -> Result<String, StudyError> {
    page(results, bench, attacks, &[], data)
}

/// The same, with a warning of the files that are left out.
fn page(
    results: &[Results],
    bench: Option<&bench::Report>,
    attacks: Option<&attacks_of::Report>,
    left_out: &[StudyError],
    data: Option<&str>,
) -> Result<String, StudyError> {
    let chapters: Vec<Chapter> = results.iter().map(Chapter::new).collect::<Result<_, _>>()?;
    let sessions = results.iter().find(|results| results.study == "sessions");
    let measured = Measured { bench, sessions };
    let chooser = chooser::chooser(measured);
    let chooser_json = serde_json::to_string(&chooser).map_err(|error| StudyError::Page(error.to_string()))?;
    let chooser_json = chooser_json.replace("</", "<\\/"); // a script element must not contain its end tag
    let environment = environment().map_err(broken)?;
    let machines = machines(results, bench, attacks);
    let page = || {
        environment.template_from_str(TEMPLATE)?.render(context! {
            chapters => Serde(&chapters),
            missing => Serde(missing(results)),
            machines => Serde(&machines),
            lines => unique(machines.iter().map(|machine| machine.line.clone())),
            several => several(results, bench, attacks),
            slow => slow(results, bench, attacks),
            left_out => left_out.iter().map(StudyError::to_string).collect::<Vec<_>>(),
            bench => Serde(bench.map(Bench::new)),
            attacks => Serde(attacks.map(Attacks::new)),
            sources => measured.sources(),
            chooser => Serde(&chooser),
            chooser_json => Value::from_safe_string(chooser_json.clone()),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            choosing => Value::from_safe_string(CHOOSING.to_owned()),
            terms => Serde(&*terms::TERMS),
            kinds => QuantityKind::ALL.map(|kind| kind.to_string()).to_vec(),
            data,
            version => env!("CARGO_PKG_VERSION"),
        })
    };
    page().map_err(broken)
}

/// A study without results.
#[derive(serde::Serialize)]
struct Missing {
    study: &'static str,
    name: String,
}

/// The studies that are not in `results`.
fn missing(results: &[Results]) -> Vec<Missing> {
    let without = STUDIES.iter().filter(|study| results.iter().all(|results| results.study != study.name()));
    without.map(|study| Missing { study: study.name(), name: study.paper().glance.name.clone() }).collect()
}

/// For each document its name, its machine, and whether it is from the quick grid.
fn documents<'a>(
    results: &'a [Results],
    bench: Option<&'a bench::Report>,
    attacks: Option<&'a attacks_of::Report>,
) -> impl Iterator<Item = (&'a str, &'a Machine, bool)> {
    let of_studies = results.iter().map(|results| (&results.study[..], &results.machine, results.quick));
    let of_bench = bench.map(|report| (BENCH, &report.machine, report.quick));
    of_studies.chain(of_bench).chain(attacks.map(|report| (ATTACKS, &report.machine, report.small)))
}

/// Properties that should be the same for all results of a run, but of which these have several values.
fn several(results: &[Results], bench: Option<&bench::Report>, attacks: Option<&attacks_of::Report>) -> Vec<String> {
    let programs = results.iter().map(|results| program(&results.version, &results.provenance));
    let programs = programs.chain(bench.map(|report| program(&report.version, &report.provenance)));
    let programs = unique(programs.chain(attacks.map(|report| program(&report.version, &report.provenance)))).len();
    let machines = unique(documents(results, bench, attacks).map(|(_, machine, _)| machine.identity())).len();
    let grids = [true, false].map(|quick| documents(results, bench, attacks).any(|(.., grid)| grid == quick));
    let found = [
        (programs > 1).then(|| format!("{programs} programs")),
        (machines > 1).then(|| format!("{machines} machines")),
        (grids == [true; 2]).then(|| "the quick grid and the full one".to_owned()),
    ];
    found.into_iter().flatten().collect()
}

/// The documents that were measured by a program built without optimisation, with its optimisation level.
fn slow(results: &[Results], bench: Option<&bench::Report>, attacks: Option<&attacks_of::Report>) -> Vec<String> {
    let slow = documents(results, bench, attacks).filter(|(_, machine, _)| machine.unoptimised());
    slow.map(|(what, machine, _)| format!("{what} at opt-level {}", machine.opt_level)).collect()
}

/// The distinct items, in order of first occurrence.
fn unique(items: impl IntoIterator<Item = String>) -> Vec<String> {
    items.into_iter().fold(Vec::new(), |mut all, item| {
        if !all.contains(&item) {
            all.push(item);
        }
        all
    })
}

/// The description of a machine for the page.
#[derive(PartialEq, Eq, serde::Serialize)]
struct Described {
    /// The machine in one line.
    line: String,
    facts: Vec<(&'static str, String)>,
}

/// The distinct machines of the results.
fn machines(
    results: &[Results],
    bench: Option<&bench::Report>,
    attacks: Option<&attacks_of::Report>,
) -> Vec<Described> {
    let mut machines: Vec<Described> = Vec::new();
    for (_, machine, _) in documents(results, bench, attacks) {
        let memory = format!("{:.0} GiB", machine.memory as f64 / (1u64 << 30) as f64);
        let mut facts = vec![
            ("Processor", machine.cpu.clone()),
            ("Cores", machine.cores.to_string()),
            ("Levels", machine.levels.join(", ")),
            ("Caches of a core", machine.caches.join(", ")),
            ("Memory", memory.clone()),
            ("System", machine.kernel.clone()),
            ("Compiler", machine.rustc.clone()),
            ("Optimisation level", machine.opt_level.clone()),
            ("Family, model, stepping", machine.state.family.clone().unwrap_or_default()),
            ("Microcode", machine.state.microcode.clone().unwrap_or_default()),
            ("Governor", machine.state.governor.clone().unwrap_or_default()),
            ("Cores it may use", machine.state.pinned.clone().unwrap_or_default()),
        ];
        facts.retain(|(_, fact)| !fact.is_empty());
        let best = machine.levels.last().map(|level| format!(", {level}")).unwrap_or_default();
        let line = format!("{} ({} cores, {memory}{best})", machine.cpu, machine.cores);
        let described = Described { line, facts };
        if !machines.contains(&described) {
            machines.push(described);
        }
    }
    machines
}

#[cfg(test)]
mod tests;
