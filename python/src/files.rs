//! Whole files: seal, open, verify, inspect.

use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};
use sealwright::Suite;
use sealwright_file::{Costs, Input, KeySource, Summary, armor, chunk, slots::SlotKind};

use crate::{
    buffer,
    error::OrRaise,
    job::{self, Open, Seal},
};

/// The names of the suites.
#[pyfunction]
pub(crate) fn suites(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, Suite::ALL.iter().map(|suite| suite.name()))
}

/// Seals all of `source` to `target`. Each is a path or a binary file object. A file at a path appears only when it is
/// complete. Returns the lengths of the text and of the sealed file.
#[pyfunction]
#[pyo3(signature = (source, target, *, key=None, recipients=None, suite="aes-256-gcm", associated_data=None, armor=false,
    costs=None, force=false))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn seal(
    source: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    key: Option<&Bound<'_, PyAny>>,
    recipients: Option<&Bound<'_, PyAny>>,
    suite: &str,
    associated_data: Option<buffer::Input<'_>>,
    armor: bool,
    costs: Option<(u32, u32, u32)>,
    force: bool,
) -> PyResult<(u64, u64)> {
    let sealing = Seal::new(key, recipients, suite, buffer::or_empty(&associated_data), armor, costs)?;
    let (from, output) = (job::source(source)?, job::output(target, force)?);
    lengths(&job::run(source.py(), from, |input, interrupt| sealing.run(input, output, interrupt))?)
}

/// Opens all of `source` to `target`. Each is a path or a binary file object. A file at a path appears only when all of
/// it is authentic. A file object receives authentic text as it is opened, which may still be truncated until this
/// function returns. Returns the lengths of the text and of the sealed file.
#[pyfunction]
#[pyo3(signature = (source, target, *, key, associated_data=None, max_memory_kib=None, force=false))]
pub(crate) fn open(
    source: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    key: &Bound<'_, PyAny>,
    associated_data: Option<buffer::Input<'_>>,
    max_memory_kib: Option<u32>,
    force: bool,
) -> PyResult<(u64, u64)> {
    let open = Open::new(key, buffer::or_empty(&associated_data), max_memory_kib)?;
    let (from, output) = (job::source(source)?, job::output(target, force)?);
    lengths(&job::run(source.py(), from, |input, interrupt| open.opening(interrupt).open(input, output))?)
}

/// Opens all of `source` without writing it anywhere. Returns the lengths of the text and of the sealed file.
#[pyfunction]
#[pyo3(signature = (source, *, key, associated_data=None, max_memory_kib=None))]
pub(crate) fn verify(
    source: &Bound<'_, PyAny>,
    key: &Bound<'_, PyAny>,
    associated_data: Option<buffer::Input<'_>>,
    max_memory_kib: Option<u32>,
) -> PyResult<(u64, u64)> {
    let open = Open::new(key, buffer::or_empty(&associated_data), max_memory_kib)?;
    let from = job::source(source)?;
    lengths(&job::run(source.py(), from, |input, interrupt| open.opening(interrupt).verify(input))?)
}

fn lengths(summary: &Summary) -> PyResult<(u64, u64)> {
    Ok((summary.text, summary.sealed))
}

/// The length of the text in a file of `sealed_bytes` bytes that begins with `head`, which must contain the preamble.
/// It is computed from the length and not authenticated. `None` if no text gives a file of this length, or if the file
/// is armored, padded or signed.
#[pyfunction]
pub(crate) fn text_bytes(head: buffer::Input<'_>, sealed_bytes: u64) -> PyResult<Option<u64>> {
    let head = head.bytes();
    let found = sealwright_file::inspect(Input::bytes(buffer::copied(head)?, "the file")).raised()?;
    let layout = found.preamble.layout;
    if head.starts_with(armor::BEGIN.as_bytes()) || layout.padded || layout.signed {
        return Ok(None);
    }
    let body = sealed_bytes.checked_sub(found.preamble_len);
    Ok(body.and_then(|body| chunk::plain_len(body).ok()))
}

/// What a sealed file reveals without a key, none of it authenticated: what `sealwright inspect --json` prints, without
/// the name of the file. Lengths and `flaw` are `None` unless it is a path. The position of a seekable file object is
/// restored.
#[pyfunction]
pub(crate) fn inspect<'py>(source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    // A caller who inspects a file object may want to open it next.
    let place = if source.hasattr("seek")? { source.call_method0("tell").ok() } else { None };
    let input = job::input(source)?;
    let found = source.py().detach(|| sealwright_file::inspect(input)).raised();
    if let Some(place) = place {
        source.call_method1("seek", (place,))?;
    }
    let found = found?;
    let py = source.py();
    let dict = PyDict::new(py);
    dict.set_item("version", found.version)?;
    dict.set_item("suite", found.preamble.suite.name())?;
    dict.set_item("content", found.preamble.layout.content.name())?;
    dict.set_item("armored", found.armored)?;
    dict.set_item("key_source", found.preamble.source.name())?;
    let (argon2id, slots) = match &found.preamble.source {
        KeySource::Passphrase { costs, .. } => (Some(argon2id(py, costs)?), None),
        KeySource::Recipients(slots) => {
            let slots: PyResult<Vec<_>> = slots.iter().map(|each| slot(py, each.kind())).collect();
            (None, Some(slots?))
        }
        _ => (None, None),
    };
    dict.set_item("argon2id", argon2id)?;
    dict.set_item("slots", slots)?;
    dict.set_item("sealed_bytes", found.sealed)?;
    dict.set_item("signed", found.preamble.layout.signed)?;
    dict.set_item("padded", found.preamble.layout.padded)?;
    dict.set_item("text_bytes", found.text.as_ref().and_then(|text| text.as_ref().ok()))?;
    dict.set_item("chunks", found.chunks)?;
    dict.set_item("flaw", found.text.and_then(Result::err).map(|flaw| flaw.to_string()))?;
    Ok(dict)
}

fn slot<'py>(py: Python<'py>, kind: &SlotKind) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("kind", kind.name())?;
    if let SlotKind::Passphrase { costs, .. } = kind {
        dict.set_item("argon2id", argon2id(py, costs)?)?;
    }
    Ok(dict)
}

fn argon2id<'py>(py: Python<'py>, costs: &Costs) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("memory_kib", costs.memory_kib)?;
    dict.set_item("passes", costs.passes)?;
    dict.set_item("lanes", costs.lanes)?;
    Ok(dict)
}
