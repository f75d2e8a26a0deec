//! Sessions of very many clients, and their other ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{
    exceptions::{PyMemoryError, PyOSError, PyValueError},
    prelude::*,
    types::PyBytes,
};
use sealwright_session::{FrameJob, Grant, Material, Plan, SessionError, Spec, UnknownSchemeError, frame, table};

use crate::{
    buffer::Input,
    error::{Error, InvalidTag, OrRaise, Raised, Replayed},
};

impl From<SessionError> for Raised {
    fn from(error: SessionError) -> Raised {
        let text = error.to_string();
        PyErr::into(match error {
            SessionError::Forged => InvalidTag::new_err(text),
            SessionError::Replayed | SessionError::Stale => Replayed::new_err(text),
            SessionError::Short | SessionError::Oversize | SessionError::Malformed => PyValueError::new_err(text),
            SessionError::NoMemory => PyMemoryError::new_err(text),
            SessionError::NoRandom => PyOSError::new_err(text),
            _ => Error::new_err(text),
        })
    }
}

impl From<UnknownSchemeError> for Raised {
    fn from(error: UnknownSchemeError) -> Raised {
        PyErr::into(PyValueError::new_err(error.to_string()))
    }
}

/// An address and data.
type Content<'py> = (u32, Bound<'py, PyBytes>);

/// What is in a frame that is open.
fn content<'py>(py: Python<'py>, frame: &[u8]) -> PyResult<Content<'py>> {
    let (address, data) = frame::address(frame::payload(frame)).ok_or(SessionError::Short).raised()?;
    Ok((address, PyBytes::new(py, data)))
}

/// A server's end of very many sessions, each in a slot.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct Sessions(Mutex<Box<dyn sealwright_session::Sessions>>);

impl Sessions {
    /// Nobody who holds the lock calls Python: no thread waits here for one that waits for the interpreter.
    fn table(&self) -> MutexGuard<'_, Box<dyn sealwright_session::Sessions>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Sessions {
    /// Room for `slots` clients, whose keys are kept as `scheme` says.
    #[new]
    #[pyo3(signature = (scheme="gcm-on64", *, slots))]
    fn new(scheme: &str, slots: u32) -> PyResult<Self> {
        let spec = scheme.parse::<Spec>().raised()?;
        Ok(Sessions(Mutex::new(table(Plan::new(spec, slots)).raised()?)))
    }

    /// Puts a client into a slot, or gives the one that is there new keys. Returns the grant, which holds the keys: send it to the
    /// client through TLS only. `material` is 88 bytes of a key exchange that never serve twice; otherwise keys are random.
    #[pyo3(signature = (slot, session=None, *, material=None))]
    fn admit<'py>(
        &self,
        py: Python<'py>,
        slot: u32,
        session: Option<u32>,
        material: Option<Input<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let material = match &material {
            None => Material::random().raised()?,
            Some(given) => {
                let wrong = |_| PyValueError::new_err(format!("material has {} bytes", Material::LEN));
                Material::from_bytes(given.bytes().try_into().map_err(wrong)?)
            }
        };
        let grant = self.table().admit(slot, session.unwrap_or(slot), &material).raised()?;
        Ok(PyBytes::new(py, grant.to_bytes().as_ref()))
    }

    /// Opens a frame that a client sealed: whom it is for, and the data.
    fn open<'py>(&self, py: Python<'py>, slot: u32, frame: Input<'_>) -> PyResult<Content<'py>> {
        let mut frame = frame.bytes().to_vec();
        self.table().open(slot, &mut frame).raised()?;
        content(py, &frame)
    }

    /// A frame for the client in a slot, with data from `address`.
    #[pyo3(signature = (slot, address, data, *, session=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        slot: u32,
        address: u32,
        data: Input<'_>,
        session: Option<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if data.bytes().len() > frame::MAX_PAYLOAD - frame::ADDRESS {
            return Err(SessionError::Oversize).raised();
        }
        let mut frame = frame::unsealed(address, data.bytes());
        self.table().seal(slot, session.unwrap_or(slot), &mut frame).raised()?;
        Ok(PyBytes::new(py, &frame))
    }

    /// `open` for each of `frames`, in one call and faster than one by one. A frame that is refused gives `None`.
    fn open_batch<'py>(
        &self,
        py: Python<'py>,
        slots: Vec<u32>,
        frames: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Option<Content<'py>>>> {
        if slots.len() != frames.len() {
            let text = format!("there are {} slots for {} frames", slots.len(), frames.len());
            return Err(PyValueError::new_err(text));
        }
        let (mut buffer, mut places, mut jobs) = (Vec::new(), Vec::new(), Vec::new());
        for (slot, frame) in slots.iter().zip(&frames) {
            let (frame, start) = (frame.extract::<Input<'_>>()?, buffer.len());
            buffer.extend_from_slice(frame.bytes());
            places.push(start..buffer.len());
            jobs.push(FrameJob::new(start..buffer.len(), *slot, *slot));
        }
        py.detach(|| self.table().open_all(&mut buffer, &mut jobs));
        let each = jobs.iter().zip(places);
        each.map(|(job, place)| job.done().then(|| content(py, &buffer[place])).transpose()).collect()
    }

    /// Forgets the session in a slot and wipes its keys.
    fn remove(&self, slot: u32) {
        self.table().remove(slot);
    }

    /// Forgets a session whose client must not be trusted any more; returns the slots of those who shared keys with it, which are
    /// forgotten too.
    fn revoke(&self, slot: u32) -> Vec<u32> {
        self.table().revoke(slot)
    }

    /// How many of 2**32 blocks the keys of a slot have left; `None` if it is empty.
    fn blocks_left(&self, slot: u32) -> Option<u64> {
        self.table().blocks_left(slot)
    }

    /// How many slots are used.
    #[getter]
    fn live(&self) -> u32 {
        self.table().live()
    }

    /// How many slots there are.
    #[getter]
    fn slots(&self) -> u32 {
        self.table().slots()
    }

    /// The scheme's name.
    #[getter]
    fn scheme(&self) -> String {
        self.table().spec().to_string()
    }

    /// Bytes of memory for each client.
    #[getter]
    fn bytes_per_client(&self) -> f64 {
        self.table().memory().bytes_per_client()
    }

    fn __repr__(&self) -> String {
        format!("<Sessions: {}, {} of {} slots used>", self.scheme(), self.live(), self.slots())
    }
}

/// A client's end of one session.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct SessionClient(Mutex<sealwright_session::Client>);

impl SessionClient {
    fn client(&self) -> MutexGuard<'_, sealwright_session::Client> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl SessionClient {
    /// From a grant, which must serve one client, once.
    #[new]
    fn new(grant: Input<'_>) -> PyResult<Self> {
        let wrong = || PyValueError::new_err(format!("not a grant of {} bytes, of a scheme known here", Grant::LEN));
        let grant = grant.bytes().try_into().ok().and_then(Grant::from_bytes).ok_or_else(wrong)?;
        Ok(SessionClient(Mutex::new(sealwright_session::Client::new(grant))))
    }

    /// A frame with data for the client `to`.
    fn seal<'py>(&self, py: Python<'py>, to: u32, data: Input<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let frame = self.client().seal(to, data.bytes()).raised()?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Opens a frame: whom it is from, and the data.
    fn open<'py>(&self, py: Python<'py>, frame: Input<'_>) -> PyResult<Content<'py>> {
        let mut frame = frame.bytes().to_vec();
        self.client().open(&mut frame).map(drop).raised()?;
        content(py, &frame)
    }

    /// The session's number.
    #[getter]
    fn session(&self) -> u32 {
        self.client().session()
    }

    /// How many of 2**32 blocks the keys have left.
    #[getter]
    fn blocks_left(&self) -> u64 {
        self.client().blocks_left()
    }

    fn __repr__(&self) -> String {
        format!("<SessionClient: session {}>", self.session())
    }
}
