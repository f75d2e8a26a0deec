//! Many messages in one call.

use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyList, PyString},
};

use crate::{
    buffer::{Input, Memory, Output, detached, dimensions, is_sequence, or_empty, room, written_each},
    error::OrRaise,
    keyed::{AD, Keyed, TAG},
};

/// Associated data of a batch.
enum Ads<'a> {
    All(Input<'a>),
    Each(Vec<Bound<'a, PyAny>>),
}

/// Nonces, messages and associated data, as many of each.
struct Batch<'py> {
    nonces: Vec<Bound<'py, PyAny>>,
    data: Vec<Bound<'py, PyAny>>,
    ads: Option<Bound<'py, PyAny>>,
}

impl<'py> Batch<'py> {
    fn new(nonces: &Bound<'py, PyAny>, data: &Bound<'py, PyAny>, ads: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let batch = Batch { nonces: items(nonces, "nonces")?, data: items(data, "data")?, ads: ads.cloned() };
        equal("nonces and data", batch.nonces.len(), batch.data.len())?;
        Ok(batch)
    }

    fn ads(&self) -> PyResult<Ads<'_>> {
        let Some(ads) = &self.ads else { return Ok(Ads::All(Input::Bytes(Memory::of(&[])))) };
        // A buffer is meant for all messages. If it cannot be used, because it is not contiguous, it must not be taken
        // as a sequence of items.
        if dimensions(ads).is_some() {
            return Ok(Ads::All(ads.extract()?));
        }
        let each = items(ads, "associated_data")?;
        equal("associated_data and data", each.len(), self.data.len())?;
        Ok(Ads::Each(each))
    }
}

/// The items of a sequence. A single buffer is refused, because its items are bytes; an array of rows has its rows as
/// items. An iterator is refused, because it may yield one buffer that it overwrites each time, and all messages would
/// then have the last one's bytes.
fn items<'py>(all: &Bound<'py, PyAny>, what: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if all.is_instance_of::<PyString>() || dimensions(all).is_some_and(|dimensions| dimensions < 2) {
        return Err(PyTypeError::new_err(format!("{what} must be a sequence of bytes-like objects, not one")));
    }
    if !is_sequence(all) {
        let kind = all.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
        let what = format!("{what} must be a sequence of bytes-like objects, not {kind} (hint: pass a list)");
        return Err(PyTypeError::new_err(what));
    }
    // As many as it says: a sequence may go on for ever.
    let len = all.len()?;
    let mut items = room(len)?;
    for item in all.try_iter()? {
        if items.len() == len {
            return Err(PyValueError::new_err(format!("{what} has more items than its length, {len}")));
        }
        items.push(item?);
    }
    Ok(items)
}

/// Refuses two sequences, `both`, that are used item by item and have different lengths.
pub(crate) fn equal(both: &str, one: usize, other: usize) -> PyResult<()> {
    if one == other {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{both} must have the same length, not {one} and {other}")))
}

/// The bytes of a batch, kept in place while they are processed without the interpreter lock.
struct Views<'a> {
    nonces: Vec<Input<'a>>,
    data: Vec<Input<'a>>,
    ads: Vec<Option<Input<'a>>>,
    all: Option<Input<'a>>,
}

/// Nonce, associated data, and text or message.
type Parts<'a> = (&'a [u8], &'a [u8], &'a [u8]);

impl<'a> Views<'a> {
    fn of(batch: &'a Batch<'_>, ads: &'a Ads<'_>) -> PyResult<Self> {
        let (ads, all) = match ads {
            Ads::All(ad) => (Vec::new(), Some(Input::Bytes(ad.memory()))),
            Ads::Each(each) => (extracted(each)?, None),
        };
        Ok(Views { nonces: extracted(&batch.nonces)?, data: extracted(&batch.data)?, ads, all })
    }

    fn parts(&self) -> PyResult<Vec<Parts<'_>>> {
        let mut parts = room(self.data.len())?;
        for (at, (nonce, data)) in self.nonces.iter().zip(&self.data).enumerate() {
            let ad = self.all.as_ref().map_or_else(|| or_empty(&self.ads[at]), Input::bytes);
            parts.push((nonce.bytes(), ad, data.bytes()));
        }
        Ok(parts)
    }
}

fn extracted<'a, 'py, T: FromPyObject<'a, 'py, Error = PyErr>>(all: &'a [Bound<'py, PyAny>]) -> PyResult<Vec<T>> {
    let mut each = room(all.len())?;
    for one in all {
        each.push(one.extract()?);
    }
    Ok(each)
}

/// Nonces one after another. Another thread may write to the caller's after they were compared, while ours runs without
/// the interpreter's lock.
fn copied<'a>(nonces: impl Iterator<Item = &'a [u8]> + Clone) -> PyResult<Vec<u8>> {
    let mut all = room(nonces.clone().map(<[u8]>::len).sum())?;
    nonces.for_each(|nonce| all.extend_from_slice(nonce));
    Ok(all)
}

/// The number of bytes to process.
fn size(parts: &[Parts<'_>]) -> usize {
    parts.iter().fold(0, |size, (_, ad, data)| size.saturating_add(ad.len() + data.len()))
}

pub(crate) fn encrypt<'py>(
    key: &Keyed,
    nonces: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    ads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, batch) = (data.py(), Batch::new(nonces, data, ads)?);
    let ads = batch.ads()?;
    let views = Views::of(&batch, &ads)?;
    let mut parts = views.parts()?;
    let nonces = copied(parts.iter().map(|(nonce, ..)| *nonce))?;
    let mut rest = &nonces[..];
    for (nonce, ..) in &mut parts {
        (*nonce, rest) = rest.split_at(nonce.len());
    }
    key.each_once(parts.iter().map(|(nonce, ..)| *nonce))?;
    for (nonce, ..) in &parts {
        key.nonce(nonce.len())?;
    }
    let sealed = written_each(py, parts.iter().map(|(.., text)| text.len() + TAG), |messages| {
        detached(py, size(&parts), || {
            let mut each = parts.iter().zip(messages);
            each.try_for_each(|((nonce, ad, text), message)| key.seal(nonce, ad, Some(text), message))
        })
    })?;
    PyList::new(py, sealed)
}

pub(crate) fn decrypt<'py>(
    key: &Keyed,
    nonces: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    ads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, batch) = (data.py(), Batch::new(nonces, data, ads)?);
    let ads = batch.ads()?;
    let views = Views::of(&batch, &ads)?;
    let parts = views.parts()?;
    let mut genuine = room(parts.len())?;
    for (nonce, ..) in &parts {
        key.nonce(nonce.len())?;
    }
    let opened = written_each(py, parts.iter().map(|(.., message)| message.len().saturating_sub(TAG)), |texts| {
        detached(py, size(&parts), || {
            genuine.extend(parts.iter().zip(texts).map(|((nonce, ad, message), text)| {
                let Some(at) = message.len().checked_sub(TAG) else { return false };
                let (ciphertext, tag) = message.split_at(at);
                key.aead.open_to(nonce, ad, ciphertext, tag, text).is_ok()
            }));
        });
        Ok::<(), PyErr>(())
    })?;
    PyList::new(py, opened.into_iter().zip(genuine).map(|(text, genuine)| genuine.then_some(text)).collect::<Vec<_>>())
}

/// The number of rows, and the length of one.
fn rows(key: &Keyed, nonces: &[u8], data: &[u8]) -> PyResult<(usize, usize)> {
    let nonce = key.aead.nonce_len();
    if nonces.is_empty() && data.is_empty() {
        return Ok((0, 0));
    }
    let rows = nonces.len() / nonce;
    if rows == 0 || !nonces.len().is_multiple_of(nonce) || !data.len().is_multiple_of(rows) {
        let given = (nonces.len(), data.len());
        return Err(PyValueError::new_err(format!(
            "{} bytes of nonces and {} bytes of data are not rows: each row has a nonce of {nonce} bytes",
            given.0, given.1
        )));
    }
    Ok((rows, data.len() / rows))
}

pub(crate) fn encrypt_rows(
    key: &Keyed,
    py: Python<'_>,
    nonces: &Input<'_>,
    data: &Input<'_>,
    ad: &Option<Input<'_>>,
    mut buf: Output,
) -> PyResult<usize> {
    let (nonces, data, ad) = (nonces.bytes(), data.bytes(), or_empty(ad));
    let (rows, len) = rows(key, nonces, data)?;
    buf.expect(rows * (len + TAG))?;
    let out = buf.begin(Memory::of(&[]), &[(nonces, "the nonces"), (data, "the data"), (ad, AD)])?;
    let nonces = copied(std::iter::once(nonces))?;
    key.each_once(nonces.chunks_exact(key.aead.nonce_len()))?;
    let seal = || {
        let each = out.chunks_exact_mut(len + TAG).zip(nonces.chunks_exact(key.aead.nonce_len()));
        for (row, (message, nonce)) in each.enumerate() {
            key.seal(nonce, ad, Some(&data[row * len..][..len]), message)?;
        }
        Ok::<(), crate::error::Raised>(())
    };
    detached(py, data.len() + rows * ad.len(), seal).raised()?;
    Ok(rows)
}

pub(crate) fn decrypt_rows(
    key: &Keyed,
    py: Python<'_>,
    nonces: &Input<'_>,
    data: &Input<'_>,
    ad: &Option<Input<'_>>,
    mut buf: Output,
) -> PyResult<Vec<usize>> {
    let (nonces, data, ad) = (nonces.bytes(), data.bytes(), or_empty(ad));
    let (rows, len) = rows(key, nonces, data)?;
    let Some(text_len) = len.checked_sub(TAG) else {
        return if rows == 0 { Ok(Vec::new()) } else { Err(PyValueError::new_err("a row is shorter than a tag")) };
    };
    buf.expect(rows * text_len)?;
    let out = buf.begin(Memory::of(&[]), &[(nonces, "the nonces"), (data, "the data"), (ad, AD)])?;
    let open = || {
        let mut forged = Vec::new();
        let nonces = nonces.chunks_exact(key.aead.nonce_len());
        for (row, (message, nonce)) in data.chunks_exact(len).zip(nonces).enumerate() {
            let (ciphertext, tag) = message.split_at(text_len);
            let text = &mut out[row * text_len..][..text_len];
            if key.aead.open_to(nonce, ad, ciphertext, tag, text).is_err() {
                forged.push(row);
            }
        }
        forged
    };
    Ok(detached(py, data.len() + rows * ad.len(), open))
}
