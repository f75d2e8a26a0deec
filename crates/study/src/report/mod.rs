//! The page: `report/index.html`, one file that needs nothing else, made from the results directory alone.

mod benches;
mod chapter;
mod chooser;

use std::{
    fs,
    path::{Path, PathBuf},
};

use benches::Bench;
use chapter::{Chapter, Shown};
use minijinja::{AutoEscape, Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use sealwright_measure::{Table, store::write_atomically};

use crate::{
    bench,
    error::StudyError,
    plot,
    results::{Results, load_bench},
    studies::STUDIES,
    study::Options,
};

const COMPARISON: &str = include_str!("../../report/compare.html");
const TEMPLATE: &str = include_str!("../../report/page.html");
const STYLE: &str = include_str!("../../report/page.css");
const SCRIPT: &str = include_str!("../../report/page.js");
const CHOOSING: &str = include_str!("../../report/chooser.js");

/// Writes the page from everything in `options.results` and gives its path. Studies without results are left out.
///
/// # Errors
/// When results cannot be read or the page cannot be written.
pub fn write(options: &Options) -> Result<PathBuf, StudyError> {
    let loaded = STUDIES.iter().filter_map(|study| Results::load(&options.results, study.name()).transpose());
    let results: Vec<Results> = loaded.collect::<Result<_, _>>()?;
    let page = html(&results, load_bench(&options.results)?.as_ref())?;
    put(&options.report, "index.html", &page)
}

/// Writes two results directories side by side as one page, `compare.html` in `report`, and gives its path.
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

/// Puts `page` into the folder `report`, whole or not at all.
fn put(report: &Path, name: &str, page: &str) -> Result<PathBuf, StudyError> {
    let path = report.join(name);
    let store = || fs::create_dir_all(report).and_then(|()| write_atomically(&path, page.as_bytes()));
    store().map_err(StudyError::io(path.display().to_string()))?;
    Ok(path)
}

fn broken(error: minijinja::Error) -> StudyError {
    StudyError::Page(format!("{error:#}"))
}

/// Where whatever is not marked safe is escaped.
fn environment<'a>() -> Result<Environment<'a>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    Ok(environment)
}

/// The page for `results` of studies and what `bench` found; there may be none of either.
///
/// # Errors
/// When a result is of no known study.
pub fn html(results: &[Results], bench: Option<&bench::Report>) -> Result<String, StudyError> {
    let chapters: Vec<Chapter> = results.iter().map(Chapter::new).collect::<Result<_, _>>()?;
    let chooser = chooser::chooser(bench);
    let chooser_json = serde_json::to_string(&chooser).map_err(|error| StudyError::Page(error.to_string()))?;
    let chooser_json = chooser_json.replace("</", "<\\/"); // inside a script element nothing may look like its end
    let environment = environment().map_err(broken)?;
    let page = || {
        environment.template_from_str(TEMPLATE)?.render(context! {
            chapters => Serde(&chapters),
            machines => Serde(machines(results, bench)),
            bench => Serde(bench.map(Bench::new)),
            chooser => Serde(&chooser),
            chooser_json => Value::from_safe_string(chooser_json.clone()),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            choosing => Value::from_safe_string(CHOOSING.to_owned()),
            plotting => Value::from_safe_string(plot::script()),
            version => env!("CARGO_PKG_VERSION"),
        })
    };
    page().map_err(broken)
}

/// Each machine that results come from, as what one reads of it, once.
fn machines(results: &[Results], bench: Option<&bench::Report>) -> Vec<Vec<(&'static str, String)>> {
    let mut machines: Vec<Vec<(&'static str, String)>> = Vec::new();
    for machine in results.iter().map(|results| &results.machine).chain(bench.map(|report| &report.machine)) {
        let mut facts = vec![
            ("Processor", machine.cpu.clone()),
            ("Cores", machine.cores.to_string()),
            ("Levels", machine.levels.join(", ")),
            ("Caches of a core", machine.caches.join(", ")),
            ("Memory", format!("{:.1} GiB", machine.memory as f64 / (1u64 << 30) as f64)),
            ("System", machine.kernel.clone()),
            ("Compiler", machine.rustc.clone()),
        ];
        facts.retain(|(_, fact)| !fact.is_empty());
        if !machines.contains(&facts) {
            machines.push(facts);
        }
    }
    machines
}

#[cfg(test)]
mod tests;
