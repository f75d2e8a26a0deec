//! The simulator of sealed buses: runs as JSON, traces as rows. `package/sealwright/smp.py` makes dictionaries of them.

use std::{fs, io::Write, panic::AssertUnwindSafe, path::PathBuf};

use pyo3::{exceptions::PyValueError, prelude::*};
use sealwright_smp::{
    Config,
    access::Kind,
    attack::{Attack, Attacker},
    kernel::Kernel,
    run::{Progress, RunError, Simulation, Workload},
    trace::{Trace, Writer},
};

use crate::error::Error;

fn bad(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What the processors run: a kernel and its size, or a trace by its prefix.
#[derive(FromPyObject)]
pub(crate) enum Work {
    Kernel(String, Option<u32>, bool),
    Trace(PathBuf),
}

impl Work {
    /// The workload, and how many processors it needs, if it says.
    fn find(self, line: usize) -> PyResult<(Workload, Option<usize>)> {
        match self {
            Work::Kernel(name, size, align) => {
                let known = || bad(format!("there is no kernel {name}; there are {}", Kernel::NAMES.join(", ")));
                Ok((Workload::Kernel(Kernel::by_name(&name, size).ok_or_else(known)?, align), None))
            }
            Work::Trace(prefix) => {
                let trace = Trace::find(&prefix).map_err(failed)?;
                let threads = trace.open(line).map_err(failed)?.len();
                Ok((Workload::Trace(trace), Some(threads)))
            }
        }
    }
}

fn failed(error: impl ToString) -> PyErr {
    Error::new_err(error.to_string())
}

/// Runs one simulation; the result as JSON. `text` is TOML, `settings` are of the form `a.b=c` and stand over it. After every million
/// references, `progress` is called with references, cycles and seconds; what it raises ends the run, as Ctrl-C does.
#[pyfunction]
#[pyo3(signature = (text, settings, work, check, attacks, progress))]
pub(crate) fn smp_run(
    py: Python<'_>,
    text: &str,
    settings: Vec<String>,
    work: Work,
    check: bool,
    attacks: Vec<(String, u64)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut config = Config::default().merge(text).map_err(bad)?;
    for setting in &settings {
        config = config.set(setting).map_err(bad)?;
    }
    let (workload, threads) = py.detach(|| work.find(config.machine.line))?;
    if let Some(threads) = threads {
        config.machine.processors = threads;
    }
    config.check().map_err(bad)?;
    let mut simulation = Simulation::new(config, workload);
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
            // The simulator knows no other way out. It holds nothing that outlives the run.
            std::panic::resume_unwind(Box::new(raised));
        }
    };
    let run = || std::panic::catch_unwind(AssertUnwindSafe(|| simulation.run(&mut { told })));
    let report = match py.detach(run) {
        Ok(Ok(report)) => report,
        Ok(Err(error @ (RunError::Config(_) | RunError::Kernel(_)))) => return Err(bad(error)),
        Ok(Err(error)) => return Err(failed(error)),
        Err(panic) => match panic.downcast::<PyErr>() {
            Ok(raised) => return Err(*raised),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    };
    // A trace is read once more, for its digest
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

/// Kinds of records by name, with the code of those that synchronise.
const KINDS: &[(&str, Kind, u64)] = &[
    ("load", Kind::Load, 0),
    ("store", Kind::Store, 0),
    ("fetch", Kind::Fetch, 0),
    ("barrier", Kind::Barrier, 1),
    ("lock", Kind::Lock, 3),
    ("unlock", Kind::Unlock, 5),
    ("post", Kind::Post, 9),
    ("wait", Kind::Wait, 11),
    ("region-begin", Kind::RegionBegin, 14),
    ("region-end", Kind::RegionEnd, 15),
];

/// A record that was read.
type Row = (&'static str, u64, u32, u64);

/// A record: its kind, its address or object, its bytes, and the instructions since the one before.
type Record = (String, u64, u32, u64);

/// The records of each thread of a trace, of any format, if all are not more than `most`; those that cross a line of `line` bytes are two.
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

/// SHA-256 of the format and of all bytes of a trace, in hex.
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
            Some((_, Kind::Load | Kind::Store, _)) => {
                if !bytes.is_power_of_two() || bytes > 128 || place >> 48 != 0 {
                    return Err(wrong(
                        "an access has 1 to 128 bytes, a power of two, and an address of 48 bits".into(),
                    ));
                }
                writer.refer(gap, name == "store", place, bytes.ilog2())
            }
            Some((_, kind, code)) if *kind != Kind::Fetch => {
                // A barrier may say how many threads it is for.
                if *kind == Kind::Barrier && bytes > 0 { writer.count(bytes.into()) } else { Ok(()) }
                    .and_then(|()| writer.meet(gap, *code, place))
            }
            _ => return Err(wrong(format!("its kind is {name}, none of {}", kinds()))),
        };
        written.map_err(|error| wrong(error.to_string()))?;
    }
    let mut file = fs::File::create_new(&path)?;
    file.write_all(&writer.into_inner())?;
    Ok(())
}
