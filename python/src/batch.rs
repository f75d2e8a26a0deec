//! Many messages in one call.

use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyList, PyString},
};

use crate::{
    buffer::{Input, Memory, Output, detached, dimensions, or_empty, written_bytes},
    error::OrRaise,
    keyed::{AD, Keyed, TAG, split},
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
        equal("nonces", batch.nonces.len(), batch.data.len())?;
        Ok(batch)
    }

    fn ads(&self) -> PyResult<Ads<'_>> {
        let Some(ads) = &self.ads else { return Ok(Ads::All(Input::Bytes(Memory::of(&[])))) };
        // One buffer is meant for all. One that cannot be taken, as its bytes do not lie together, must not serve by its items.
        if dimensions(ads).is_some() {
            return Ok(Ads::All(ads.extract()?));
        }
        let each = items(ads, "associated_data")?;
        equal("associated data", each.len(), self.data.len())?;
        Ok(Ads::Each(each))
    }
}

/// What is in a sequence, which must not be one buffer, whose items are bytes. Those of an array of rows are rows.
fn items<'py>(all: &Bound<'py, PyAny>, what: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if all.is_instance_of::<PyString>() || dimensions(all).is_some_and(|dimensions| dimensions < 2) {
        return Err(PyTypeError::new_err(format!("{what} must be a sequence of bytes-like objects, not one")));
    }
    all.try_iter()?.collect()
}

fn equal(what: &str, given: usize, wanted: usize) -> PyResult<()> {
    if given == wanted {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("there are {given} {what} for {wanted} messages")))
}

/// Calls `each` with every nonce, message and associated data, if `right` of the nonces.
fn run<'py>(
    batch: &Batch<'py>,
    right: impl FnOnce(&[Input<'_>]) -> PyResult<()>,
    mut each: impl FnMut(&[u8], &[u8], &[u8]) -> PyResult<()>,
) -> PyResult<()> {
    let ads = batch.ads()?;
    let nonces: Vec<Input<'_>> = batch.nonces.iter().map(|nonce| nonce.extract()).collect::<PyResult<_>>()?;
    right(&nonces)?;
    for (i, (nonce, data)) in nonces.iter().zip(&batch.data).enumerate() {
        let data: Input<'_> = data.extract()?;
        match &ads {
            Ads::All(ad) => each(nonce.bytes(), data.bytes(), ad.bytes())?,
            Ads::Each(ads) => {
                let ad: Option<Input<'_>> = ads[i].extract()?;
                each(nonce.bytes(), data.bytes(), or_empty(&ad))?;
            }
        }
    }
    Ok(())
}

pub(crate) fn encrypt<'py>(
    key: &Keyed,
    nonces: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    ads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, batch) = (data.py(), Batch::new(nonces, data, ads)?);
    let mut sealed = Vec::with_capacity(batch.data.len());
    run(
        &batch,
        |nonces| key.each_once(nonces.iter().map(Input::bytes)),
        |nonce, text, ad| {
            sealed.push(key.encrypt(py, nonce, text, ad)?);
            Ok(())
        },
    )?;
    PyList::new(py, sealed)
}

pub(crate) fn decrypt<'py>(
    key: &Keyed,
    nonces: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    ads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, batch) = (data.py(), Batch::new(nonces, data, ads)?);
    let mut opened: Vec<Option<Bound<'py, PyBytes>>> = Vec::with_capacity(batch.data.len());
    run(
        &batch,
        |_| Ok(()),
        |nonce, message, ad| {
            key.nonce(nonce.len())?;
            let Ok((ciphertext, tag)) = split(message) else {
                opened.push(None);
                return Ok(());
            };
            let mut genuine = true;
            let text = written_bytes(py, ciphertext.len(), |text| {
                let size = text.len() + ad.len();
                genuine = detached(py, size, || key.aead.open_to(nonce, ad, ciphertext, tag, text)).is_ok();
                Ok::<(), PyErr>(())
            })?;
            opened.push(genuine.then_some(text));
            Ok(())
        },
    )?;
    PyList::new(py, opened)
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
