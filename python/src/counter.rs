//! Keys that see to their nonces themselves.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use sealwright::{Key, Suite};

use crate::{
    buffer::{Input, detached, new_bytes, or_empty},
    error::{OrRaise, Raised},
    keyed::{TAG, split},
    process::Counted,
};

/// The suite of this name.
pub(crate) fn suite(name: &str) -> PyResult<Suite> {
    name.parse::<Suite>().raised()
}

/// The IV of a connection; none is all zero.
fn iv(iv: Option<Input<'_>>) -> PyResult<[u8; 12]> {
    let Some(iv) = iv else { return Ok([0; 12]) };
    let given = iv.bytes().len();
    iv.bytes().try_into().map_err(|_| PyValueError::new_err(format!("the iv has {given} bytes; it must have 12")))
}

/// Seals messages in order under a key that serves this sealer only, once: nonces are counted, as TLS 1.3 and QUIC do. A forked child
/// cannot use it.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct Sealer(Counted<sealwright::Sealer>);

#[pymethods]
impl Sealer {
    /// `start` is the number of the first message, for a counter that is kept with the key.
    #[new]
    #[pyo3(signature = (suite, key, iv=None, *, start=0))]
    fn new(suite: &str, key: Input<'_>, iv: Option<Input<'_>>, start: u64) -> PyResult<Self> {
        let sealer = sealwright::Sealer::with_iv(self::suite(suite)?, key.bytes(), &self::iv(iv)?).raised()?;
        Ok(Sealer(Counted::new(sealer.starting_at(start))))
    }

    /// The ciphertext of `data` and the tag behind it, under the next nonce.
    #[pyo3(signature = (data, associated_data=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, ad) = (data.bytes(), or_empty(&associated_data));
        // The mutex is let go before the interpreter lock is taken back: who waits for one never holds the other.
        let seal = |message: &mut [u8]| {
            let (text, room) = message.split_at_mut(message.len() - TAG);
            let mut sealer = self.0.lock()?;
            room.copy_from_slice(sealer.seal_in_place(ad, text)?.as_ref());
            Ok::<(), Raised>(())
        };
        new_bytes(py, data, TAG, |message| detached(py, data.len() + ad.len(), || seal(message)))
    }

    /// The number of the next message.
    #[getter]
    fn count(&self) -> PyResult<u64> {
        Ok(self.0.lock()?.count())
    }

    fn __repr__(&self) -> String {
        self.count()
            .map_or_else(|_| "<Sealer of another process>".into(), |count| format!("<Sealer: {count} messages>"))
    }
}

/// Opens the messages of a `Sealer`, in their order. A forked child cannot use it.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct Opener(Counted<sealwright::Opener>);

#[pymethods]
impl Opener {
    #[new]
    #[pyo3(signature = (suite, key, iv=None, *, start=0))]
    fn new(suite: &str, key: Input<'_>, iv: Option<Input<'_>>, start: u64) -> PyResult<Self> {
        let opener = sealwright::Opener::with_iv(self::suite(suite)?, key.bytes(), &self::iv(iv)?).raised()?;
        Ok(Opener(Counted::new(opener.starting_at(start))))
    }

    /// The text of the next message. One that is not authentic raises `InvalidTag` and does not count.
    #[pyo3(signature = (data, associated_data=None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ((ciphertext, tag), ad) = (split(data.bytes())?, or_empty(&associated_data));
        let open = |text: &mut [u8]| {
            let mut opener = self.0.lock()?;
            opener.open_in_place(ad, text, tag).map_err(Raised::from)
        };
        new_bytes(py, ciphertext, 0, |text| detached(py, ciphertext.len() + ad.len(), || open(text)))
    }

    /// The number of the next message.
    #[getter]
    fn count(&self) -> PyResult<u64> {
        Ok(self.0.lock()?.count())
    }

    fn __repr__(&self) -> String {
        self.count()
            .map_or_else(|_| "<Opener of another process>".into(), |count| format!("<Opener: {count} messages>"))
    }
}

/// A key for messages that carry a random nonce each: the safe choice for a key that is stored.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct RandomNonceKey(sealwright::RandomNonceKey);

#[pymethods]
impl RandomNonceKey {
    /// Without a suite: XAES-256-GCM, under 32 bytes, for as many messages as you like. With one: 2**32 messages at most.
    #[new]
    #[pyo3(signature = (key, suite=None))]
    fn new(key: Input<'_>, suite: Option<&str>) -> PyResult<Self> {
        if let Some(name) = suite {
            let key = sealwright::RandomNonceKey::new(self::suite(name)?, key.bytes()).raised()?;
            return Ok(RandomNonceKey(key));
        }
        let given = key.bytes().len();
        let wrong = |_| PyValueError::new_err(format!("the key has {given} bytes; it must have 32"));
        let key = Key::from(<[u8; 32]>::try_from(key.bytes()).map_err(wrong)?);
        Ok(RandomNonceKey(sealwright::RandomNonceKey::xaes_256_gcm(&key)))
    }

    /// A message: nonce, ciphertext, tag.
    #[pyo3(signature = (data, associated_data=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, ad) = (data.bytes(), or_empty(&associated_data));
        let message = detached(py, data.len() + ad.len(), || self.0.seal(ad, data)).raised()?;
        Ok(PyBytes::new(py, &message))
    }

    /// The text of a message that `seal` made, here or elsewhere.
    #[pyo3(signature = (data, associated_data=None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, ad) = (data.bytes(), or_empty(&associated_data));
        let text = detached(py, data.len() + ad.len(), || self.0.open(ad, data)).raised()?;
        Ok(PyBytes::new(py, &text))
    }

    /// By how many bytes a message is longer than its text.
    #[getter]
    fn overhead(&self) -> usize {
        self.0.overhead()
    }
}
