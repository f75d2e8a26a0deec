//! The page: `report/index.html`, one file that needs nothing else, made from the results directory alone.

mod benches;
mod chapter;

use crate::{
    bench, plot,
    results::Results,
    study::{Failure, Options, STUDIES},
};
use chapter::Chapter;
use minijinja::{AutoEscape, Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use sealwright_measure::store::write_atomically;
use std::{
    fs,
    path::{Path, PathBuf},
};

const TEMPLATE: &str = include_str!("../report/page.html");
const STYLE: &str = include_str!("../report/page.css");
const SCRIPT: &str = include_str!("../report/page.js");

/// Writes the page from everything in `options.results` and gives its path. Studies without results are left out.
///
/// # Errors
/// When results cannot be read or the page cannot be written.
pub fn write(options: &Options) -> Result<PathBuf, Failure> {
    let loaded = STUDIES.iter().filter_map(|study| Results::load(&options.results, study.name()).transpose());
    let results: Vec<Results> = loaded.collect::<Result<_, _>>()?;
    let rows = benches::rows(&options.results)?;
    let page = html(&results, &rows)?;
    let path = options.report.join("index.html");
    let store =
        |path: &Path| fs::create_dir_all(&options.report).and_then(|()| write_atomically(path, page.as_bytes()));
    store(&path).map_err(Failure::io(path.display().to_string()))?;
    Ok(path)
}

/// The page for `results` of studies and `bench` rows, either of which may be empty.
///
/// # Errors
/// When a result is of no known study.
pub fn html(results: &[Results], bench: &[bench::Row]) -> Result<String, Failure> {
    let chapters: Vec<Chapter> = results.iter().map(Chapter::new).collect::<Result<_, _>>()?;
    let broken = |error: minijinja::Error| Failure::Page(format!("{error:#}"));
    let mut environment = Environment::new();
    // whatever is not marked safe below is escaped
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(broken)?);
    let page = || {
        environment.template_from_str(TEMPLATE)?.render(context! {
            chapters => Serde(&chapters),
            machines => Serde(machines(results)),
            bench => Serde(benches::chapter(bench)),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            plotting => Value::from_safe_string(plot::script()),
            version => env!("CARGO_PKG_VERSION"),
        })
    };
    page().map_err(broken)
}

/// Each machine that results come from, as what one reads of it, once.
fn machines(results: &[Results]) -> Vec<Vec<(&'static str, String)>> {
    let mut machines: Vec<Vec<(&'static str, String)>> = Vec::new();
    for Results { machine, .. } in results {
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
#[path = "report_tests.rs"]
mod tests;
