//! The simulator of sealed buses: results as JSON, traces as rows. `package/sealwright/smp.py` turns them into
//! dictionaries.

use std::{
    fs,
    io::{self, Write},
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
};

use pyo3::{
    exceptions::{PyOSError, PyValueError},
    prelude::*,
};
use sealwright_smp::{
    Config,
    access::Operation,
    attack::{Attack, Attacker},
    config::PRESETS,
    kernel::Kernel,
    run::{Progress, RunError, WorkloadSettings},
    settings::{Settings, SettingsError},
    trace::{Trace, Writer},
};

use crate::error::Error;

fn bad(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What the processors run, as far as it is given: a kernel, its size and whether its arrays are aligned; or the prefix
/// of a trace, and its windows.
type Work = (Option<String>, Option<u32>, Option<bool>, Option<PathBuf>, Option<String>);

/// `Work` applied over the workload of a settings file.
fn over(file: WorkloadSettings, (kernel, size, align, trace, windows): Work) -> PyResult<WorkloadSettings> {
    // If another program is given, nothing of the file's workload is used.
    let file = if kernel.is_some() || trace.is_some() { WorkloadSettings::default() } else { file };
    let windows = windows.map(|words| words.parse()).transpose().map_err(bad)?;
    Ok(WorkloadSettings {
        kernel: kernel.or(file.kernel),
        size: size.or(file.size),
        align: align.unwrap_or(file.align),
        trace: trace.or(file.trace),
        windows: windows.or(file.windows),
    })
}

/// The settings of a simulation: a preset, then the text of a file, then words of the form `a.b=c`, then the workload,
/// each overriding the former.
fn gather(text: &str, preset: Option<&str>, words: &[String], work: Work) -> PyResult<Settings> {
    let known = |name: &str| bad(format!("there is no preset {name:?}: {}", PRESETS.join(", ")));
    let base = preset.map(|name| Config::preset(name).ok_or_else(|| known(name))).transpose()?;
    let mut settings = base.map_or_else(|| Settings::parse(text), |base| Settings::merge(&base, text)).map_err(bad)?;
    for word in words {
        settings.set(word).map_err(bad)?;
    }
    settings.workload = over(settings.workload, work)?;
    Ok(settings)
}

fn failed(error: impl ToString) -> PyErr {
    Error::new_err(error.to_string())
}

fn unusable(error: SettingsError) -> PyErr {
    match error {
        SettingsError::Config(_) => bad(error),
        SettingsError::Run(error) => not_run(error),
        SettingsError::Trace(_) => failed(error),
    }
}

fn not_run(error: RunError) -> PyErr {
    match error {
        RunError::Config(_) | RunError::Kernel(_) => bad(error),
        _ => failed(error),
    }
}

/// Runs one simulation and returns its result as JSON. `text` is TOML; `words` have the form `a.b=c` and override it.
/// After every million references, `progress` is called with references, cycles and seconds; an exception that it
/// raises ends the run, as Ctrl-C does.
#[pyfunction]
#[pyo3(signature = (text, preset, words, work, check, attacks, progress))]
#[allow(clippy::too_many_arguments, reason = "those of `smp.run`")]
pub(crate) fn smp_run(
    py: Python<'_>,
    text: &str,
    preset: Option<&str>,
    words: Vec<String>,
    work: Work,
    check: bool,
    attacks: Vec<(String, u64)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let settings = gather(text, preset, &words, work)?;
    // A trace is scanned before it is run.
    let mut simulation = py.detach(|| settings.simulation()).map_err(unusable)?;
    simulation.check = check || !attacks.is_empty();
    simulation.attackers = attacks.iter().map(|(name, at)| attacker(name, *at)).collect::<PyResult<_>>()?;
    if !simulation.attackers.is_empty() && !simulation.config.scheme.functional {
        return Err(bad("an attack needs lines that are really encrypted: scheme.functional=true"));
    }
    let told = |now: Progress| {
        let called = Python::attach(|py| {
            py.check_signals()?;
            let Some(progress) = &progress else { return Ok(()) };
            progress.call1(py, (now.references, now.cycles, now.seconds)).map(drop)
        });
        if let Err(raised) = called {
            // The simulator cannot be stopped in another way. It holds nothing that outlives the run.
            std::panic::resume_unwind(Box::new(raised));
        }
    };
    let run = || std::panic::catch_unwind(AssertUnwindSafe(|| simulation.run(&mut { told })));
    let report = match py.detach(run) {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => return Err(not_run(error)),
        Err(panic) => match panic.downcast::<PyErr>() {
            Ok(raised) => return Err(*raised),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    };
    // A trace is read once more, for its digest.
    py.detach(|| simulation.json(&report)).map(|json| json.to_string()).map_err(failed)
}

fn attacker(name: &str, at: u64) -> PyResult<Attacker> {
    let names = || Attack::every().map(Attack::name).collect::<Vec<_>>().join(", ");
    let known = || bad(format!("there is no attack {name}; there are {}", names()));
    Ok(Attacker::new(Attack::by_name(name).ok_or_else(known)?, at))
}

/// The names of the kernels, and of the attacks.
#[pyfunction]
pub(crate) fn smp_names() -> (Vec<&'static str>, Vec<&'static str>) {
    (Kernel::NAMES.to_vec(), Attack::every().map(Attack::name).collect())
}

/// Record kinds by name, with the code of those that synchronise.
const KINDS: &[(&str, Operation, u64)] = &[
    ("load", Operation::Load, 0),
    ("store", Operation::Store, 0),
    ("fetch", Operation::Fetch, 0),
    ("barrier", Operation::Barrier, 1),
    ("lock", Operation::Lock, 3),
    ("unlock", Operation::Unlock, 5),
    ("post", Operation::Post, 9),
    ("wait", Operation::Wait, 11),
    ("region-begin", Operation::RegionBegin, 14),
    ("region-end", Operation::RegionEnd, 15),
];

/// A record as read.
type Row = (&'static str, u64, u32, u64);

/// A record to write: its kind, its address or object, its bytes, and the instructions since the record before.
type Record = (String, u64, u32, u64);

/// The records of each thread of a trace in any format, if there are no more than `most` in all. A record that crosses
/// a line of `line` bytes is split.
#[pyfunction]
pub(crate) fn smp_read(py: Python<'_>, prefix: PathBuf, line: usize, most: usize) -> PyResult<Vec<Vec<Row>>> {
    if !(16..=128).contains(&line) {
        return Err(bad(format!("line is {line}, not 16 to 128")));
    }
    let read = || -> Result<_, String> {
        let mut left = most;
        let trace = Trace::find(&prefix).map_err(|error| error.to_string())?;
        let mut threads = Vec::new();
        for mut source in trace.open(line).map_err(|error| error.to_string())? {
            let (mut rows, mut steps) = (Vec::new(), Vec::new());
            loop {
                source.fill(&mut steps).map_err(|error| error.to_string())?;
                if steps.is_empty() {
                    break;
                }
                left = left.checked_sub(steps.len()).ok_or_else(|| {
                    format!("{}: more than {most} records, and all are kept: most=N allows more", prefix.display())
                })?;
                rows.extend(steps.iter().map(|step| {
                    let name = KINDS.iter().find(|(_, kind, _)| *kind == step.kind).map_or("?", |(name, ..)| name);
                    (name, step.address, u32::from(step.size), u64::from(step.gap))
                }));
            }
            threads.push(rows);
        }
        Ok(threads)
    };
    py.detach(read).map_err(failed)
}

/// SHA-256 of the format and all bytes of a trace, in hexadecimal.
#[pyfunction]
pub(crate) fn smp_digest(py: Python<'_>, prefix: PathBuf) -> PyResult<String> {
    py.detach(|| Trace::find(&prefix)?.digest()).map_err(failed)
}

/// Writes the records of one thread to a new file in the format `.smpt`.
#[pyfunction]
pub(crate) fn smp_write(path: PathBuf, records: Vec<Record>) -> PyResult<()> {
    let mut writer = Writer::new(Vec::new());
    for (number, (name, place, bytes, gap)) in records.into_iter().enumerate() {
        let wrong = |what: String| bad(format!("record {number}: {what}"));
        let kinds =
            || KINDS.iter().map(|(name, ..)| *name).filter(|name| *name != "fetch").collect::<Vec<_>>().join(", ");
        let written = match KINDS.iter().find(|(known, ..)| *known == name) {
            Some((_, Operation::Load | Operation::Store, _)) => {
                if !bytes.is_power_of_two() || bytes > 128 || place >> 48 != 0 {
                    return Err(wrong(
                        "an access has 1 to 128 bytes, a power of two, and an address of 48 bits".into(),
                    ));
                }
                writer.refer(gap, name == "store", place, bytes.ilog2())
            }
            Some((_, kind, code)) if *kind != Operation::Fetch => {
                // A barrier may state the number of its threads.
                if *kind == Operation::Barrier && bytes > 0 { writer.count(bytes.into()) } else { Ok(()) }
                    .and_then(|()| writer.meet(gap, *code, place))
            }
            _ => return Err(wrong(format!("its kind is {name}, none of {}", kinds()))),
        };
        written.map_err(|error| wrong(error.to_string()))?;
    }
    let mut file = fs::File::create_new(&path).map_err(|error| named(&path, error))?;
    file.write_all(&writer.into_inner()).map_err(|error| {
        // If it were kept, a file cut between two records would be a valid shorter trace.
        let _ = fs::remove_file(&path);
        named(&path, error)
    })
}

/// An error of the operating system with the name of the file, as Python's own functions raise it.
fn named(path: &Path, error: io::Error) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text).to_owned();
    PyOSError::new_err((number, text, path.as_os_str().to_owned()))
}
