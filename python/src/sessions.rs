//! Sessions of very many clients: the server's end and the client's.

use std::sync::MutexGuard;

use pyo3::{
    exceptions::{PyMemoryError, PyOSError, PyValueError},
    prelude::*,
    types::PyBytes,
};
use sealwright_session::{FrameJob, Grant, Material, Plan, SessionError, Spec, UnknownSchemeError, frame, table};

use crate::{
    batch::equal,
    buffer::{Input, Text, room},
    error::{Error, InvalidTag, OrRaise, Raised, Replayed},
    process::Counted,
};

impl From<SessionError> for Raised {
    fn from(error: SessionError) -> Raised {
        let text = error.to_string();
        PyErr::into(match error {
            SessionError::Forged => InvalidTag::new_err(text),
            SessionError::Replayed | SessionError::Stale => Replayed::new_err(text),
            SessionError::Short | SessionError::Oversize | SessionError::Malformed => PyValueError::new_err(text),
            SessionError::NoMemory => PyMemoryError::new_err(text),
            SessionError::NoRandomness => PyOSError::new_err(text),
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

/// The content of an opened frame.
fn content<'py>(py: Python<'py>, frame: &[u8]) -> PyResult<Content<'py>> {
    address_and_data(py, frame).ok_or(SessionError::Short).raised()
}

/// `None` if a client sealed less than an address.
fn address_and_data<'py>(py: Python<'py>, frame: &[u8]) -> Option<Content<'py>> {
    let (address, data) = frame::address(frame::payload(frame))?;
    Some((address, PyBytes::new(py, data)))
}

/// A copy to open in place; it is wiped.
fn copied(frame: &Input<'_>) -> PyResult<Text> {
    let frame = frame.bytes();
    if frame.len() > frame::MAX_FRAME { Err(SessionError::Oversize).raised() } else { Ok(Text(frame.to_vec())) }
}

/// The most bytes of data that a frame has beside its address.
const LONGEST: usize = frame::MAX_PAYLOAD - frame::ADDRESS;

/// Refuses a scheme that does not protect, unless the caller accepts that.
fn allow(spec: Spec, research: bool) -> PyResult<()> {
    if research || !spec.research_only() {
        return Ok(());
    }
    let text = format!("the scheme {spec} is for research only, as it does not protect; research=True allows it");
    Err(PyValueError::new_err(text))
}

/// The server's end of very many sessions, each in a slot. It cannot be used in a forked child.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct Sessions(Counted<Box<dyn sealwright_session::Sessions>>);

impl Sessions {
    fn table(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Box<dyn sealwright_session::Sessions>>> {
        self.0.lock(py)
    }
}

#[pymethods]
impl Sessions {
    /// A table with `slots` slots; `scheme` selects how keys are stored. A scheme for research only requires
    /// `research=True`.
    #[new]
    #[pyo3(signature = (scheme="gcm-on64", *, slots, research=false))]
    fn new(scheme: &str, slots: u32, research: bool) -> PyResult<Self> {
        let spec = scheme.parse::<Spec>().raised()?;
        allow(spec, research)?;
        Ok(Sessions(Counted::new(table(Plan::new(spec, slots)).raised()?)))
    }

    /// Admits a client to a slot, or gives the client in it new keys. Returns the grant, which contains the keys: send
    /// it to the client through TLS only. `material` is 88 bytes from a key exchange, which must never be used twice;
    /// without it, keys are random.
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
                let (bytes, wanted) = (given.bytes(), Material::LEN);
                let wrong = || format!("the length of material is {}, and it must be {wanted}", bytes.len());
                Material::from_bytes(bytes.try_into().map_err(|_| PyValueError::new_err(wrong()))?)
            }
        };
        let grant = self.table(py)?.admit(slot, session.unwrap_or(slot), &material).raised()?;
        Ok(PyBytes::new(py, grant.to_bytes().as_ref()))
    }

    /// Opens a frame that a client sealed. Returns the session that it is addressed to, and the data.
    fn open<'py>(&self, py: Python<'py>, slot: u32, frame: Input<'_>) -> PyResult<Content<'py>> {
        let mut frame = copied(&frame)?;
        self.table(py)?.open(slot, &mut frame.0).raised()?;
        content(py, &frame.0)
    }

    /// Seals a frame for the client in a slot, with data from the session `address`.
    #[pyo3(signature = (slot, address, data, *, session=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        slot: u32,
        address: u32,
        data: Input<'_>,
        session: Option<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if data.bytes().len() > LONGEST {
            return Err(SessionError::Oversize).raised();
        }
        // If sealing is refused, it is plaintext.
        let mut frame = Text(frame::unsealed(address, data.bytes()));
        self.table(py)?.seal(slot, session.unwrap_or(slot), &mut frame.0).raised()?;
        Ok(PyBytes::new(py, &frame.0))
    }

    /// Calls `open` for each of `frames`, faster than one by one. The result has `None` in place of each frame that is
    /// refused.
    fn open_batch<'py>(
        &self,
        py: Python<'py>,
        slots: Vec<u32>,
        frames: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Option<Content<'py>>>> {
        equal("slots and frames", slots.len(), frames.len())?;
        let frames = frames.iter().map(|frame| frame.extract::<Input<'_>>()).collect::<PyResult<Vec<_>>>()?;
        // One that is too long is not copied; it is refused, as an empty one is.
        let fits = |frame: &&[u8]| frame.len() <= frame::MAX_FRAME;
        let frames: Vec<&[u8]> =
            frames.iter().map(|frame| Some(frame.bytes()).filter(fits).unwrap_or_default()).collect();
        let (mut places, mut jobs, mut end) = (room(slots.len())?, room(slots.len())?, 0);
        for (slot, frame) in slots.iter().zip(&frames) {
            let place = end..end + frame.len();
            end = place.end;
            jobs.push(FrameJob::new(place.clone(), *slot, *slot));
            places.push(place);
        }
        // It holds plaintext afterwards.
        let mut buffer = Text(room(end)?);
        self.0.with(py, usize::MAX, |table| {
            frames.iter().for_each(|frame| buffer.0.extend_from_slice(frame));
            table.open_all(&mut buffer.0, &mut jobs);
        })?;
        let each = jobs.iter().zip(places);
        Ok(each.map(|(job, place)| job.done().then(|| address_and_data(py, &buffer.0[place])).flatten()).collect())
    }

    /// Calls `seal` for each of `data`, faster than one by one. `slots`, `addresses` and `sessions` have its other
    /// arguments, as many as there are `data`; without `sessions`, each session has the number of its slot. The result
    /// has `None` in place of each frame that is refused because the slot is empty or its keys are used up. Raises
    /// `ValueError`, before anything is sealed, if one of `data` is too long.
    #[pyo3(signature = (slots, addresses, data, *, sessions=None))]
    fn seal_batch<'py>(
        &self,
        py: Python<'py>,
        slots: Vec<u32>,
        addresses: Vec<u32>,
        data: Vec<Bound<'py, PyAny>>,
        sessions: Option<Vec<u32>>,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let sessions = sessions.as_ref().unwrap_or(&slots);
        equal("slots and data", slots.len(), data.len())?;
        equal("addresses and data", addresses.len(), data.len())?;
        equal("sessions and data", sessions.len(), data.len())?;
        let data = data.iter().map(|data| data.extract::<Input<'_>>()).collect::<PyResult<Vec<_>>>()?;
        let data: Vec<&[u8]> = data.iter().map(Input::bytes).collect();
        if data.iter().any(|data| data.len() > LONGEST) {
            return Err(SessionError::Oversize).raised();
        }
        let (mut jobs, mut end) = (room(slots.len())?, 0);
        for ((slot, session), data) in slots.iter().zip(sessions).zip(&data) {
            let start = end;
            end += frame::HEADER + frame::ADDRESS + frame::TAG + data.len();
            jobs.push(FrameJob::new(start..end, *slot, *session));
        }
        // Where sealing is refused, it is plaintext.
        let mut buffer = Text(room(end)?);
        let places: Vec<_> = jobs.iter().map(|job| job.start..job.end).collect();
        self.0.with(py, usize::MAX, |table| {
            for (address, data) in addresses.iter().zip(&data) {
                buffer.0.extend_from_slice(&Text(frame::unsealed(*address, data)).0);
            }
            table.seal_all(&mut buffer.0, &mut jobs);
        })?;
        Ok(jobs.iter().zip(places).map(|(job, place)| job.done().then(|| PyBytes::new(py, &buffer.0[place]))).collect())
    }

    /// Removes the session in a slot and wipes its keys.
    fn remove(&self, py: Python<'_>, slot: u32) -> PyResult<()> {
        self.table(py)?.remove(slot);
        Ok(())
    }

    /// Removes a session whose client is no longer trusted. Returns the slots of the clients that shared keys with it,
    /// which are removed too.
    fn revoke(&self, py: Python<'_>, slot: u32) -> PyResult<Vec<u32>> {
        Ok(self.table(py)?.revoke(slot))
    }

    /// How many of 2**32 blocks the keys of a slot may still encrypt; `None` if the slot is empty.
    fn blocks_left(&self, py: Python<'_>, slot: u32) -> PyResult<Option<u64>> {
        Ok(self.table(py)?.blocks_left(slot))
    }

    /// The number of slots in use.
    #[getter]
    fn live(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.table(py)?.live())
    }

    /// The number of slots.
    #[getter]
    fn slots(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.table(py)?.slots())
    }

    /// The scheme's name.
    #[getter]
    fn scheme(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.table(py)?.spec().to_string())
    }

    /// Bytes of memory for each client.
    #[getter]
    fn bytes_per_client(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.table(py)?.memory().bytes_per_client())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.table(py).map_or_else(
            |_| "<Sessions of another process>".into(),
            |table| format!("<Sessions: {}, {} of {} slots used>", table.spec(), table.live(), table.slots()),
        )
    }
}

/// A client's end of one session. It cannot be used in a forked child.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct SessionClient(Counted<sealwright_session::Client>);

impl SessionClient {
    fn client(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, sealwright_session::Client>> {
        self.0.lock(py)
    }
}

#[pymethods]
impl SessionClient {
    /// Made from a grant, which must be used for one client only, and once. A scheme for research only requires
    /// `research=True`.
    #[new]
    #[pyo3(signature = (grant, *, research=false))]
    fn new(grant: Input<'_>, research: bool) -> PyResult<Self> {
        let wrong = || PyValueError::new_err(format!("not a grant of {} bytes, of a scheme known here", Grant::LEN));
        let mut bytes = <[u8; Grant::LEN]>::try_from(grant.bytes()).map_err(|_| wrong())?;
        let grant = Grant::from_bytes(&mut bytes).ok_or_else(wrong)?;
        allow(grant.spec(), research)?;
        Ok(SessionClient(Counted::new(sealwright_session::Client::new(grant))))
    }

    /// Seals a frame with data for the session `to`.
    fn seal<'py>(&self, py: Python<'py>, to: u32, data: Input<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let frame = self.client(py)?.seal(to, data.bytes()).raised()?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Opens a frame. Returns the session that it comes from, and the data.
    fn open<'py>(&self, py: Python<'py>, frame: Input<'_>) -> PyResult<Content<'py>> {
        let mut frame = copied(&frame)?;
        self.client(py)?.open(&mut frame.0).map(drop).raised()?;
        content(py, &frame.0)
    }

    /// The session's number.
    #[getter]
    fn session(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.client(py)?.session())
    }

    /// How many of 2**32 blocks the keys may still encrypt.
    #[getter]
    fn blocks_left(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.client(py)?.blocks_left())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.session(py).map_or_else(
            |_| "<SessionClient of another process>".into(),
            |session| format!("<SessionClient: session {session}>"),
        )
    }
}
