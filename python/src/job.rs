//! Arguments for sealing and opening files, and jobs that can be interrupted.

use std::{
    fs,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel},
    thread,
    time::Duration,
};

use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError},
    prelude::*,
};
use sealwright::Suite;
use sealwright_file::{
    self as file, Ceiling, Costs, Input, Interrupt, Opening, Output, OutputOptions, Recipient, Sealing, Work, pooled,
    threads_for,
};

use crate::{
    buffer::copied,
    counter::suite,
    error::OrRaise,
    keys,
    python_file::{Asked, PythonFile, Request, Within},
};

/// How often a waiting thread checks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// How a file is sealed.
pub(crate) struct Seal {
    lock: Lock,
    suite: Suite,
    ad: Vec<u8>,
    armor: bool,
    costs: Costs,
}

enum Lock {
    Keys(Vec<file::Key>),
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
            (None, None) => return Err(keys::none_given("either key or recipients")),
            _ => return Err(PyTypeError::new_err("pass either key or recipients, not both")),
        };
        let costs =
            costs.map_or_else(Costs::default, |(memory_kib, passes, lanes)| Costs { memory_kib, passes, lanes });
        Ok(Seal { lock, suite: suite(suite_name)?, ad: copied(ad)?, armor, costs })
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
    keys: Vec<file::Key>,
    ad: Vec<u8>,
    ceiling: Ceiling,
}

impl Open {
    pub(crate) fn new(key: &Bound<'_, PyAny>, ad: &[u8], max_memory_kib: Option<u32>) -> PyResult<Open> {
        let ceiling = max_memory_kib.map_or_else(Ceiling::default, Ceiling::memory);
        Ok(Open { keys: keys::keys(key)?, ad: copied(ad)?, ceiling })
    }

    /// Whether opening may take seconds.
    pub(crate) fn stretches(&self) -> bool {
        self.keys.iter().any(|key| key.is_passphrase())
    }

    pub(crate) fn opening(&self, interrupt: &Interrupt) -> Opening<'_> {
        Opening::with_keys(&self.keys).ad(&self.ad).ceiling(self.ceiling).work(work(interrupt))
    }
}

fn work(interrupt: &Interrupt) -> Work {
    Work::default().interrupt(interrupt.clone())
}

/// A path, or a binary file object to be read in the calling thread.
pub(crate) fn input(source: &Bound<'_, PyAny>) -> PyResult<Input> {
    if source.hasattr("read")? {
        return Ok(Input::reader(PythonFile::new(source), name(source)));
    }
    opened(source, |path| Input::open(path))
}

/// What a job reads.
pub(crate) struct Source {
    input: Input,
    /// A file object, and the requests of the job.
    file: Option<PythonFile>,
    ask: Sender<Request>,
    asked: Receiver<Request>,
}

/// A path, or a binary file object, for [`run`].
pub(crate) fn source(source: &Bound<'_, PyAny>) -> PyResult<Source> {
    let (ask, asked) = channel();
    if source.hasattr("read")? {
        let input = Input::reader(Asked(ask.clone()), name(source));
        return Ok(Source { input, file: Some(PythonFile::new(source)), ask, asked });
    }
    Ok(Source { input: opened(source, |path| Input::open(path))?, file: None, ask, asked })
}

/// A path, or a binary file object to write to.
pub(crate) fn output(target: &Bound<'_, PyAny>, force: bool) -> PyResult<Output> {
    watched(target, force).map(|(output, _)| output)
}

/// The same, and which thread is in a call of the file object.
pub(crate) fn watched(target: &Bound<'_, PyAny>, force: bool) -> PyResult<(Output, Within)> {
    if target.hasattr("write")? {
        let file = PythonFile::new(target);
        let within = file.within();
        return Ok((Output::writer(file, name(target)), within));
    }
    let output = opened(target, move |path| Output::file(path, OutputOptions::default().force(force)))?;
    Ok((output, Within::default()))
}

/// Opens the path that is `given`, without the interpreter lock, because the other end of a named pipe may be a thread
/// of this program. Opening waits until somebody opens that end: it is done by another thread, which Ctrl-C abandons.
pub(crate) fn opened<T: Send + 'static>(
    given: &Bound<'_, PyAny>,
    open: impl FnOnce(&Path) -> Result<T, file::Error> + Send + 'static,
) -> PyResult<T> {
    let path = given.extract::<PathBuf>();
    let path = path.map_err(|_| PyTypeError::new_err("expected a path, or a binary file object"))?;
    given.py().detach(move || {
        if !fs::metadata(&path).is_ok_and(|meta| meta.file_type().is_fifo()) {
            return open(&path).raised();
        }
        awaited(move || open(&path))
    })
}

/// Runs `work`, which does not need the interpreter, in another thread, which Ctrl-C abandons.
pub(crate) fn left_by_signals<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, file::Error> + Send + 'static,
) -> PyResult<T> {
    py.detach(|| awaited(work))
}

fn awaited<T: Send + 'static>(work: impl FnOnce() -> Result<T, file::Error> + Send + 'static) -> PyResult<T> {
    let (done, result) = sync_channel(1);
    thread::Builder::new().name("sealwright".into()).spawn(move || done.send(work()))?;
    loop {
        match result.recv_timeout(SIGNALS) {
            Ok(result) => return result.raised(),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the thread that opens a file has ended"));
            }
        }
    }
}

/// The name of a file object in error messages.
fn name(file: &Bound<'_, PyAny>) -> String {
    let name = file.getattr("name").and_then(|name| name.extract());
    name.unwrap_or_else(|_| "the file object".into())
}

/// Runs `work` on `source`, on all cores and without the interpreter lock. Meanwhile this thread reads the source, if
/// it is a file object, and checks for signals: Ctrl-C stops the work, which leaves nothing behind, and is raised when
/// the work has ended. File objects that are written to are called by the work itself: if they were called here too, a
/// waiting `read` would delay data that is ready to be written.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    source: Source,
    work: impl FnOnce(Input, &Interrupt) -> Result<T, file::Error> + Send,
) -> PyResult<T> {
    let Source { input, file, ask, asked } = source;
    let threads = threads_for(input.len());
    let interrupt = Interrupt::default();
    let mut signal = Ok(());
    let done = py.detach(|| {
        // Moved here, because two threads cannot share it.
        let asked = asked;
        thread::scope(|scope| {
            let interrupt = &interrupt;
            let worker = scope.spawn(move || {
                // When this ends, there are no further requests.
                let _ask = ask;
                pooled(threads, || work(input, interrupt))
            });
            loop {
                match (asked.recv_timeout(SIGNALS), &file) {
                    (Ok(request), Some(file)) if signal.is_ok() => file.answer(&request),
                    (Ok(request), _) => request.refuse(),
                    (Err(RecvTimeoutError::Timeout), _) => {}
                    (Err(RecvTimeoutError::Disconnected), _) => break,
                }
                if signal.is_ok() {
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
