//! Callers' pointers as slices, strings and boxes.

use std::{
    cell::{RefCell, RefMut},
    ffi::{CStr, OsStr, c_char},
    os::unix::ffi::OsStrExt,
    path::Path,
    ptr, slice,
};

use crate::error::Failed;

/// `len` bytes at `start`, which may be null if there are none.
///
/// # Safety
/// The bytes must be readable, and nobody may write to them for `'a`.
pub(crate) unsafe fn bytes<'a>(start: *const u8, len: usize, what: &str) -> Result<&'a [u8], Failed> {
    check(start.is_null(), len, what)?;
    // SAFETY: the caller's promise; a null pointer is replaced.
    Ok(if len == 0 { &[] } else { unsafe { slice::from_raw_parts(start, len) } })
}

/// The same for writing.
///
/// # Safety
/// The bytes must be initialised and writable, and nobody else may use them for `'a`.
pub(crate) unsafe fn bytes_mut<'a>(start: *mut u8, len: usize, what: &str) -> Result<&'a mut [u8], Failed> {
    check(start.is_null(), len, what)?;
    // SAFETY: the caller's promise; a null pointer is replaced.
    Ok(if len == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(start, len) } })
}

/// Writes `len` bytes of `from` to `to`, whether or not they overlap.
///
/// # Safety
/// `from` must be readable and `to` writable.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize, what: &str) -> Result<(), Failed> {
    check(from.is_null() || to.is_null(), len, what)?;
    if len > 0 {
        // SAFETY: the caller's promise; `copy` takes overlapping ranges.
        unsafe { ptr::copy(from, to, len) }
    }
    Ok(())
}

/// Checks that an output of `len` bytes at `output` does not overlap `input`, which is still read after the output was
/// written.
pub(crate) fn apart(input: &[u8], output: *const u8, len: usize, what: &str) -> Result<(), Failed> {
    let (at, to) = (input.as_ptr() as usize, output as usize);
    if !input.is_empty() && len > 0 && at < to.saturating_add(len) && to < at.saturating_add(input.len()) {
        return Err(Failed::argument(&format!("the output lies over {what}; put one of them elsewhere")));
    }
    Ok(())
}

fn check(null: bool, len: usize, what: &str) -> Result<(), Failed> {
    if null && len > 0 {
        return Err(Failed::argument(&format!("{what} is NULL, but has a length of {len}")));
    }
    if isize::try_from(len).is_err() { Err(Failed::argument(&format!("{what} is longer than memory"))) } else { Ok(()) }
}

/// A zero-terminated string.
///
/// # Safety
/// It must be zero-terminated, or null.
pub(crate) unsafe fn text<'a>(start: *const c_char, what: &str) -> Result<&'a str, Failed> {
    if start.is_null() {
        return Err(Failed::argument(&format!("{what} is NULL")));
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(start) }.to_str().map_err(|_| Failed::argument(&format!("{what} is not UTF-8")))
}

/// A zero-terminated path: any bytes that the system accepts, in any encoding.
///
/// # Safety
/// It must be zero-terminated, or null.
pub(crate) unsafe fn path<'a>(start: *const c_char, what: &str) -> Result<&'a Path, Failed> {
    if start.is_null() {
        return Err(Failed::argument(&format!("{what} is NULL")));
    }
    // SAFETY: the caller's promise.
    Ok(Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(start) }.to_bytes())))
}

/// What a pointer points to.
///
/// # Safety
/// It must be null, or valid, for `'a`.
pub(crate) unsafe fn borrow<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failed> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failed::argument(&format!("{what} is NULL")))
}

/// The same, mutable.
///
/// # Safety
/// It must be null, or valid and used by nobody else, for `'a`.
pub(crate) unsafe fn borrow_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failed> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failed::argument(&format!("{what} is NULL")))
}

/// Borrows, mutably, an object whose calls run functions of the caller, which may try to use it again meanwhile.
pub(crate) fn entered<'a, T>(object: &'a RefCell<T>, what: &str) -> Result<RefMut<'a, T>, Failed> {
    let in_use = || {
        format!("{what} is in use: a function that it calls must not use or free it; do so when the call has returned")
    };
    object.try_borrow_mut().map_err(|_| Failed::argument(&in_use()))
}

/// Sets the place of a result to null, so that no caller uses or frees its old value after a failed call.
///
/// # Safety
/// `place` must be null, or writable.
pub(crate) unsafe fn clear<T>(place: *mut *mut T) -> Result<(), Failed> {
    // SAFETY: the caller's promise.
    unsafe { place.as_mut() }.map(|place| *place = ptr::null_mut()).ok_or_else(no_place)
}

fn no_place() -> Failed {
    Failed::argument("the place of the result is NULL")
}

/// Hands `object` to the caller.
///
/// # Safety
/// `place` must be null, or writable.
pub(crate) unsafe fn give<T>(place: *mut *mut T, object: T) -> Result<(), Failed> {
    // SAFETY: the caller's promise. The place is checked before the object is boxed, because otherwise it would be
    // leaked.
    let place = unsafe { place.as_mut() }.ok_or_else(no_place)?;
    *place = Box::into_raw(Box::new(object));
    Ok(())
}

/// Frees what [`give`] gave.
///
/// # Safety
/// `object` must be null, or from [`give`] and not freed yet.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(object) });
    }
}
