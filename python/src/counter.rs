//! Keys that manage their own nonces.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use sealwright::{Key, OpenError, SealError, Suite};

use crate::{
    buffer::{Input, detached, or_empty, written_bytes},
    error::{OrRaise, Raised},
    keyed::{TAG, split},
    process::Counted,
};

/// The suite with this name.
pub(crate) fn suite(name: &str) -> PyResult<Suite> {
    name.parse::<Suite>().raised()
}

/// The IV of a connection; all zeros if none is given.
fn iv(iv: Option<Input<'_>>) -> PyResult<[u8; 12]> {
    let Some(iv) = iv else { return Ok([0; 12]) };
    let given = iv.bytes().len();
    iv.bytes().try_into().map_err(|_| PyValueError::new_err(format!("the iv has {given} bytes; it must have 12")))
}

/// A counting object and its counter, which can be read even while a long message is in progress.
struct Counting<T> {
    state: Counted<T>,
    count: AtomicU64,
}

impl<T: Send> Counting<T> {
    fn new(state: T, start: u64) -> Self {
        Counting { state: Counted::new(state), count: AtomicU64::new(start) }
    }

    /// Runs `work`, which returns the new count.
    fn with<E: Into<Raised> + Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut T) -> Result<u64, E> + Send,
    ) -> PyResult<()> {
        let counted = |state: &mut T| work(state).map(|count| self.count.store(count, Ordering::Relaxed));
        self.state.with(py, bytes, counted)?.raised()
    }

    fn count(&self) -> PyResult<u64> {
        self.state.refuse_forked()?;
        Ok(self.count.load(Ordering::Relaxed))
    }

    fn shown(&self, name: &str) -> String {
        self.count().map_or_else(|_| format!("<{name} of another process>"), |count| format!("<{name}: count {count}>"))
    }
}

/// Seals messages in order, with nonces from a counter as in TLS 1.3 and QUIC. Give a key to one sealer only, and only
/// once. A sealer cannot be used in a forked child, where it raises `RuntimeError`.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct Sealer(Counting<sealwright::Sealer>);

#[pymethods]
impl Sealer {
    /// `start` is the number of the first message, for a counter that is stored with the key. Raises `ValueError` for a
    /// suite that is unknown, and for a key or an `iv` of the wrong length.
    #[new]
    #[pyo3(signature = (suite, key, iv=None, *, start=0))]
    fn new(suite: &str, key: Input<'_>, iv: Option<Input<'_>>, start: u64) -> PyResult<Self> {
        let sealer = sealwright::Sealer::with_iv(self::suite(suite)?, key.bytes(), &self::iv(iv)?).raised()?;
        Ok(Sealer(Counting::new(sealer.starting_at(start), start)))
    }

    /// Returns the ciphertext of `data` followed by the tag, under the next nonce. Raises `Error` if the key has sealed
    /// as many messages or blocks as it may, and `OverflowError` if data or associated data are longer than the suite
    /// allows; neither is counted.
    #[pyo3(signature = (data, *, associated_data=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, ad) = (data.bytes(), or_empty(&associated_data));
        let size = data.len() + ad.len();
        written_bytes(py, data.len() + TAG, |message| {
            self.0.with(py, size, |sealer| {
                let (text, room) = message.split_at_mut(data.len());
                text.copy_from_slice(data);
                room.copy_from_slice(sealer.seal_in_place(ad, text)?.as_ref());
                Ok::<_, SealError>(sealer.count())
            })
        })
    }

    /// The number of the next message.
    #[getter]
    fn count(&self) -> PyResult<u64> {
        self.0.count()
    }

    fn __repr__(&self) -> String {
        self.0.shown("Sealer")
    }
}

/// Opens the messages of a `Sealer`, in order. It cannot be used in a forked child, where it raises `RuntimeError`.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct Opener(Counting<sealwright::Opener>);

#[pymethods]
impl Opener {
    /// Takes the same arguments as `Sealer`.
    #[new]
    #[pyo3(signature = (suite, key, iv=None, *, start=0))]
    fn new(suite: &str, key: Input<'_>, iv: Option<Input<'_>>, start: u64) -> PyResult<Self> {
        let opener = sealwright::Opener::with_iv(self::suite(suite)?, key.bytes(), &self::iv(iv)?).raised()?;
        Ok(Opener(Counting::new(opener.starting_at(start), start)))
    }

    /// Returns the text of the next message. A message that is not authentic, is not the next one, or is shorter than a
    /// tag, raises `InvalidTag` and is not counted.
    #[pyo3(signature = (data, *, associated_data=None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ((ciphertext, tag), ad) = (split(data.bytes())?, or_empty(&associated_data));
        let size = ciphertext.len() + ad.len();
        written_bytes(py, ciphertext.len(), |text| {
            self.0.with(py, size, |opener| {
                text.copy_from_slice(ciphertext);
                opener.open_in_place(ad, text, tag)?;
                Ok::<_, OpenError>(opener.count())
            })
        })
    }

    /// The number of the next message.
    #[getter]
    fn count(&self) -> PyResult<u64> {
        self.0.count()
    }

    fn __repr__(&self) -> String {
        self.0.shown("Opener")
    }
}

/// A key for messages that each carry a random nonce: the safe choice for a stored key.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct RandomNonceKey(sealwright::RandomNonceKey);

#[pymethods]
impl RandomNonceKey {
    /// Without a suite: XAES-256-GCM with a key of 32 bytes, for more messages than anyone can seal. With a suite: at
    /// most 2**32 messages. Raises `ValueError` for a suite that is unknown, and for a key of the wrong length.
    #[new]
    #[pyo3(signature = (key, *, suite=None))]
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

    /// Returns a message: nonce, ciphertext, tag. Raises `Error` if the key has sealed as many messages or blocks as it
    /// may, `OverflowError` if data or associated data are longer than the suite allows, and `OSError` if the operating
    /// system has no random bytes.
    #[pyo3(signature = (data, *, associated_data=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, ad) = (data.bytes(), or_empty(&associated_data));
        let size = data.len() + ad.len();
        let seal = |message: &mut [u8]| detached(py, size, || self.0.seal_to(ad, data, message)).map_err(Raised::from);
        written_bytes(py, data.len() + self.overhead(), seal)
    }

    /// Returns the text of a message that `seal` made, with this object or another of the same key. Raises `InvalidTag`
    /// if the message is not authentic.
    #[pyo3(signature = (data, *, associated_data=None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        associated_data: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, ad) = (data.bytes(), or_empty(&associated_data));
        let len = data.len().checked_sub(self.overhead()).ok_or(OpenError).raised()?;
        let size = data.len() + ad.len();
        written_bytes(py, len, |text| detached(py, size, || self.0.open_to(ad, data, text)).map_err(Raised::from))
    }

    /// By how many bytes a message is longer than its text.
    #[getter]
    fn overhead(&self) -> usize {
        self.0.overhead()
    }
}
