//! What files are sealed and opened with, and jobs that an interrupt stops.

use std::{path::PathBuf, sync::Arc, thread, time::Duration};

use pyo3::{exceptions::PyTypeError, prelude::*};
use sealwright::Suite;
use sealwright_file::{
    self as file, Ceiling, Costs, Input, Interrupt, Opening, Output, Place, Recipient, Sealing, Work, pooled,
    threads_for,
};

use crate::{counter::suite, error::OrRaise, keys, python_file::PythonFile};

/// How a file is sealed.
pub(crate) struct Seal {
    lock: Lock,
    suite: Suite,
    ad: Vec<u8>,
    armor: bool,
    costs: Costs,
}

enum Lock {
    Keys(Arc<Vec<file::Key>>),
    Recipients(Vec<Recipient>),
}

impl Seal {
    pub(crate) fn new(
        key: Option<&Bound<'_, PyAny>>,
        recipients: Option<&Bound<'_, PyAny>>,
        suite_name: &str,
        ad: &[u8],
        armor: bool,
        costs: Option<(u32, u32, u32)>,
    ) -> PyResult<Seal> {
        let lock = match (key, recipients) {
            (Some(key), None) => Lock::Keys(keys::keys(key)?),
            (None, Some(recipients)) => Lock::Recipients(keys::recipients(recipients)?),
            _ => return Err(PyTypeError::new_err("pass either key or recipients")),
        };
        let costs =
            costs.map_or_else(Costs::default, |(memory_kib, passes, lanes)| Costs { memory_kib, passes, lanes });
        Ok(Seal { lock, suite: suite(suite_name)?, ad: ad.to_vec(), armor, costs })
    }

    pub(crate) fn run(
        &self,
        input: Input,
        output: Output,
        interrupt: &Interrupt,
    ) -> Result<file::Summary, file::Error> {
        let sealing = match &self.lock {
            Lock::Keys(keys) => match &keys[..] {
                [key] => Sealing::new(key),
                _ => return Err(file::Error::NoSlots),
            },
            Lock::Recipients(recipients) => Sealing::for_recipients(recipients),
        };
        let sealing = sealing.suite(self.suite).ad(&self.ad).armor(self.armor).costs(self.costs);
        sealing.work(work(interrupt)).seal(input, output)
    }
}

/// How a file is opened.
pub(crate) struct Open {
    keys: Arc<Vec<file::Key>>,
    ad: Vec<u8>,
    ceiling: Ceiling,
}

impl Open {
    pub(crate) fn new(key: &Bound<'_, PyAny>, ad: &[u8], max_memory_kib: Option<u32>) -> PyResult<Open> {
        let ceiling = max_memory_kib.map_or_else(Ceiling::default, Ceiling::memory);
        Ok(Open { keys: keys::keys(key)?, ad: ad.to_vec(), ceiling })
    }

    pub(crate) fn opening(&self, interrupt: &Interrupt) -> Opening<'_> {
        Opening::with_keys(&self.keys).ad(&self.ad).ceiling(self.ceiling).work(work(interrupt))
    }
}

fn work(interrupt: &Interrupt) -> Work {
    Work { interrupt: interrupt.clone(), ..Work::default() }
}

/// A path, or a binary file object to read from.
pub(crate) fn input(source: &Bound<'_, PyAny>) -> PyResult<Input> {
    if source.hasattr("read")? {
        return Ok(Input::reader(PythonFile(source.clone().unbind()), name(source)));
    }
    Input::open(&path(source)?).raised()
}

/// A path, or a binary file object to write to.
pub(crate) fn output(target: &Bound<'_, PyAny>, force: bool) -> PyResult<Output> {
    if target.hasattr("write")? {
        return Ok(Output::writer(PythonFile(target.clone().unbind()), name(target)));
    }
    Output::file(&path(target)?, Place { force, ..Place::default() }).raised()
}

pub(crate) fn path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    given.extract().map_err(|_| PyTypeError::new_err("expected a path, or a binary file object"))
}

/// What errors call a file object.
fn name(file: &Bound<'_, PyAny>) -> String {
    let name = file.getattr("name").and_then(|name| name.extract());
    name.unwrap_or_else(|_| "the file object".into())
}

/// Runs `work` on `len` bytes, if that is known, on every core and without the interpreter lock. This thread meanwhile looks for
/// signals: Ctrl-C stops the work, which leaves nothing behind, and is raised when it has ended.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    len: Option<u64>,
    work: impl FnOnce(&Interrupt) -> Result<T, file::Error> + Send,
) -> PyResult<T> {
    let threads = threads_for(len);
    let interrupt = Interrupt::default();
    let mut signal = Ok(());
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (this, interrupt) = (thread::current(), &interrupt);
            let worker = scope.spawn(move || {
                let done = pooled(threads, || work(interrupt));
                this.unpark();
                done
            });
            while !worker.is_finished() {
                thread::park_timeout(Duration::from_millis(50));
                if signal.is_ok() && !worker.is_finished() {
                    signal = Python::attach(|py| py.check_signals());
                    if signal.is_err() {
                        interrupt.raise();
                    }
                }
            }
            worker.join()
        })
    });
    signal?;
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).raised()
}
