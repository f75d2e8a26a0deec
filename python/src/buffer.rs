//! Python's memory as slices: inputs that are read in place, new `bytes` objects that are filled before anybody else
//! has them, and buffers for output.

use std::{
    ffi::{CStr, c_int},
    hint,
    marker::PhantomData,
};

use pyo3::{
    Borrowed,
    exceptions::{PyMemoryError, PyTypeError, PyValueError},
    ffi, intern,
    prelude::*,
    types::{PyByteArray, PyBytes},
};

use crate::error::too_long;

/// The longest input, as in pyca/cryptography.
const LONGEST: usize = i32::MAX as usize;

/// Longer inputs are processed without the interpreter lock, so that other threads can run. Releasing and re-acquiring
/// it costs about as much as sealing 2 KiB.
pub(crate) const DETACH: usize = 32 << 10;

/// A view of an object with the buffer protocol; released on drop.
pub(crate) struct View(Box<ffi::Py_buffer>);

/// Fields of a structure are named between colons; `O` outside of names is an object's address.
fn has_objects(format: &[u8]) -> bool {
    format.split(|byte| *byte == b':').step_by(2).any(|kinds| kinds.contains(&b'O'))
}

impl View {
    /// A view of contiguous bytes. Arrays of objects are refused: they contain addresses, which are not data and must
    /// not be overwritten.
    fn of_bytes(object: Borrowed<'_, '_, PyAny>, access: c_int) -> PyResult<View> {
        // A `bytearray` can contain nothing but bytes.
        if object.is_instance_of::<PyByteArray>() {
            return View::of(object, access);
        }
        let objects = match View::of(object, access | ffi::PyBUF_ND | ffi::PyBUF_FORMAT) {
            Ok(view) if !has_objects(view.format()) => return Ok(view),
            Ok(_) => true,
            // numpy has no format for times, and views of classes with one need not report it.
            Err(_) => object
                .getattr(intern!(object.py(), "dtype"))
                .and_then(|dtype| dtype.getattr(intern!(object.py(), "hasobject"))?.is_truthy())
                .unwrap_or_default(),
        };
        if objects {
            return Err(PyTypeError::new_err(
                "an array of objects has no bytes of its own, but addresses (hint: convert it)",
            ));
        }
        View::of(object, access)
    }

    fn format(&self) -> &[u8] {
        // SAFETY: the format is null, or a text that lives as long as the view.
        if self.0.format.is_null() { &[] } else { unsafe { CStr::from_ptr(self.0.format) }.to_bytes() }
    }

    fn of(object: Borrowed<'_, '_, PyAny>, flags: c_int) -> PyResult<View> {
        // Boxed, because some exporters let the view point into itself.
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: `view` is writable, and `object` is alive and attached.
        let failed = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) } != 0;
        if failed { Err(PyErr::fetch(object.py())) } else { Ok(View(view)) }
    }

    fn start(&self) -> *mut u8 {
        // An empty view may have a null pointer.
        if self.0.buf.is_null() { std::ptr::dangling_mut() } else { self.0.buf.cast() }
    }

    fn len(&self) -> usize {
        usize::try_from(self.0.len).unwrap_or_default()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the view was filled by `PyObject_GetBuffer`, and views are dropped where Python called us, attached.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.0) }
    }
}

/// The location of an input's bytes. It is no slice, because an output may overlap it, and a slice's contents must not
/// change.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'a> {
    start: *const u8,
    len: usize,
    of: PhantomData<&'a [u8]>,
}

impl<'a> Memory<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Memory<'a> {
        Memory { start: bytes.as_ptr(), len: bytes.len(), of: PhantomData }
    }

    /// The bytes, valid while nothing is written over them.
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: they are in place for 'a. Code that writes to an output first checks whether it overlaps them, and
        // does not read them afterwards.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// The first `len` bytes, or all if there are fewer.
    pub(crate) fn first(self, len: usize) -> Memory<'a> {
        Memory { len: len.min(self.len), ..self }
    }
}

/// Bytes that are only read: of a `bytes` object, or of any other with contiguous memory. Another thread must not write
/// to them meanwhile; the Python program must see to that, as with every function that takes buffers.
pub(crate) enum Input<'a> {
    Bytes(Memory<'a>),
    View(View),
}

impl Input<'_> {
    pub(crate) fn memory(&self) -> Memory<'_> {
        match self {
            Input::Bytes(memory) => *memory,
            // The exporter keeps this many bytes in place until the view is released.
            Input::View(view) => Memory { start: view.start(), len: view.len(), of: PhantomData },
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.memory().bytes()
    }
}

/// The number of dimensions of an object that is one buffer; `None` for an object that is no buffer, and for an array
/// of objects, which is a sequence of buffers.
pub(crate) fn dimensions(object: &Bound<'_, PyAny>) -> Option<usize> {
    // SAFETY: the object is alive and attached.
    if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
        return None;
    }
    // A buffer that does not even describe its layout is not examined further.
    let Ok(view) = View::of(object.as_borrowed(), ffi::PyBUF_FULL_RO) else { return Some(1) };
    if view.format() == b"O" { None } else { Some(usize::try_from(view.0.ndim).unwrap_or_default()) }
}

/// Whether its items can be accessed by index, as in lists, tuples and arrays of rows, but not in sets and iterators.
pub(crate) fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive and attached.
    unsafe { ffi::PySequence_Check(object.as_ptr()) != 0 }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Input<'a> {
    type Error = PyErr;

    #[inline]
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let input = if object.cast::<PyBytes>().is_ok() {
            // SAFETY: it is a bytes object, which never changes and which the caller holds for 'a.
            let (start, len) = unsafe {
                (ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>(), ffi::PyBytes_Size(object.as_ptr()) as usize)
            };
            Input::Bytes(Memory { start, len, of: PhantomData })
        } else {
            Input::View(View::of_bytes(object, ffi::PyBUF_SIMPLE)?)
        };
        if input.memory().len() > LONGEST { Err(too_long()) } else { Ok(input) }
    }
}

/// Associated data; `None` means empty.
pub(crate) fn or_empty<'b>(ad: &'b Option<Input<'_>>) -> &'b [u8] {
    ad.as_ref().map_or(&[], Input::bytes)
}

/// A buffer that is written to.
pub(crate) struct Output(View);

impl<'a, 'py> FromPyObject<'a, 'py> for Output {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        View::of_bytes(object, ffi::PyBUF_WRITABLE).map(Output)
    }
}

impl Output {
    /// # Errors
    /// Unless it has `len` bytes.
    pub(crate) fn expect(&self, len: usize) -> PyResult<()> {
        if self.0.len() == len {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("the buffer must be {len} bytes long, and it has {}", self.0.len())))
    }

    /// Writes `front` to the start, even if it overlaps, and returns the whole buffer. `apart` are inputs that must not
    /// overlap the buffer, each with its name.
    ///
    /// # Errors
    /// If `front` is longer than the buffer, or one of `apart` overlaps with it.
    pub(crate) fn begin(&mut self, front: Memory<'_>, apart: &[(&[u8], &str)]) -> PyResult<&mut [u8]> {
        let (start, len) = (self.0.start(), self.0.len());
        if front.len > len {
            return Err(PyValueError::new_err("the buffer is too short"));
        }
        if let Some((_, what)) = apart.iter().find(|(other, _)| self.overlaps(Memory::of(other))) {
            return Err(PyValueError::new_err(format!("the buffer must not overlap {what}")));
        }
        // SAFETY: both ranges are alive, and `copy` takes overlapping ones. The slice is made after `front` was read
        // for the last time; the view is ours, and nobody else may use its memory during the call.
        unsafe {
            std::ptr::copy(front.start, start, front.len);
            Ok(std::slice::from_raw_parts_mut(start, len))
        }
    }

    /// Whether it has bytes in common with `other`.
    pub(crate) fn overlaps(&self, other: Memory<'_>) -> bool {
        let (ours, at) = (self.0.start() as usize, other.start as usize);
        other.len > 0 && at < ours + self.0.len() && ours < at + other.len
    }

    /// The memory, to read or write.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the exporter keeps this many bytes in place until the view is released, and nobody else uses them
        // during the call.
        unsafe { std::slice::from_raw_parts_mut(self.0.start(), self.0.len()) }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// A new `bytes` object of `len` bytes, which `fill` writes, without reading them, before anybody else has the object.
#[inline]
pub(crate) fn written_bytes<'py, E: Into<PyErr>>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (object, bytes) = unwritten(py, len)?;
    if let Err(error) = fill(bytes) {
        // They may contain plaintext.
        wipe(bytes);
        return Err(error.into());
    }
    Ok(object)
}

/// A new `bytes` object and its bytes, which must be written before the object is passed on.
#[inline]
fn unwritten<'a, 'py>(py: Python<'py>, len: usize) -> PyResult<(Bound<'py, PyBytes>, &'a mut [u8])> {
    // SAFETY: without a text to copy, Python gives a new object with room for `len` bytes, or null and an exception
    // (the one empty object is shared, but has nothing to write). Nobody else has it yet. What a foreign function hands
    // out are bytes of some value; to set them to zero first would take a tenth of the time of sealing a long text.
    unsafe {
        let raw = ffi::PyBytes_FromStringAndSize(std::ptr::null(), len as ffi::Py_ssize_t);
        let object = Bound::from_owned_ptr_or_err(py, raw)?.cast_into_unchecked::<PyBytes>();
        let start = ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>();
        Ok((object, std::slice::from_raw_parts_mut(start, len)))
    }
}

/// A list of new `bytes` objects of these lengths, as [`written_bytes`] makes one.
pub(crate) fn written_each<'py, E: Into<PyErr>>(
    py: Python<'py>,
    lens: impl ExactSizeIterator<Item = usize>,
    fill: impl FnOnce(&mut [&mut [u8]]) -> Result<(), E>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (mut objects, mut all) = (room(lens.len())?, room(lens.len())?);
    for len in lens {
        let (object, bytes) = unwritten(py, len)?;
        objects.push(object);
        all.push(bytes);
    }
    if let Err(error) = fill(&mut all) {
        all.into_iter().for_each(wipe);
        return Err(error.into());
    }
    Ok(objects)
}

/// Memory for as many items as the caller chose; raises `MemoryError` if there is not enough.
pub(crate) fn room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    Ok(room)
}

/// A copy of bytes, whose number the caller chose.
pub(crate) fn copied(bytes: &[u8]) -> PyResult<Vec<u8>> {
    let mut copy = room(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Zeroes bytes that are no longer read.
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    // Keeps the compiler from removing the stores.
    hint::black_box(bytes);
}

/// Text that is wiped when dropped. It must not grow, because reallocation would leave a copy behind.
#[derive(Default)]
pub(crate) struct Text(pub(crate) Vec<u8>);

impl Drop for Text {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Runs `work`, without the interpreter lock if there are many bytes.
#[inline]
pub(crate) fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < DETACH { work() } else { py.detach(work) }
}
