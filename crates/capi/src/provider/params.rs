//! The parameters that OpenSSL and a provider exchange: OSSL_PARAM of `openssl/core.h`, named values, and
//! OSSL_DISPATCH, numbered functions.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    iter, ptr, slice,
};

/// A named value; a list of them ends with one without a key.
#[repr(C)]
pub(super) struct Param {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

// SAFETY: the only shared ones are constants, whose pointers lead to constants.
unsafe impl Sync for Param {}

pub(super) type Function = unsafe extern "C" fn();

/// A function with its number; a table of them ends with 0.
#[allow(missing_debug_implementations, reason = "it is a pointer")]
#[repr(C)]
pub struct Dispatch {
    pub(super) id: c_int,
    pub(super) function: Option<Function>,
}

// SAFETY: all are constants, whose pointers lead to constants.
unsafe impl Sync for Dispatch {}

const SIGNED: c_uint = 1;
const UNSIGNED: c_uint = 2;
const UTF8: c_uint = 4;
const OCTETS: c_uint = 5;
const UTF8_PTR: c_uint = 6;
const OCTETS_PTR: c_uint = 7;

impl Param {
    /// Declares a value in a list of parameters that can be queried or set.
    const fn named(key: &'static CStr, data_type: c_uint) -> Param {
        Param { key: key.as_ptr(), data_type, data: ptr::null_mut(), data_size: 0, return_size: 0 }
    }

    pub(super) const fn number(key: &'static CStr) -> Param {
        Param::named(key, UNSIGNED)
    }

    pub(super) const fn octets(key: &'static CStr) -> Param {
        Param::named(key, OCTETS)
    }

    pub(super) const fn text(key: &'static CStr) -> Param {
        Param::named(key, UTF8_PTR)
    }

    pub(super) const END: Param =
        Param { key: ptr::null(), data_type: 0, data: ptr::null_mut(), data_size: 0, return_size: 0 };

    pub(super) fn key(&self) -> &[u8] {
        // SAFETY: keys of a list are texts.
        unsafe { CStr::from_ptr(self.key) }.to_bytes()
    }

    /// Whether the caller gives no memory: it asks for a length, or passes only a length.
    pub(super) fn asks(&self) -> bool {
        self.data.is_null() && self.data_type == OCTETS
    }

    /// Answers with a number in the width that the caller requests, if it fits.
    pub(super) fn set_number(&mut self, value: usize) -> bool {
        if !self.is_number() {
            return false;
        }
        self.return_size = size_of::<usize>();
        if self.data.is_null() {
            return true;
        }
        let bits = usize::BITS - value.leading_zeros() + u32::from(self.data_type == SIGNED);
        if self.data_size < bits.div_ceil(8).max(1) as usize {
            return false;
        }
        for at in 0..self.data_size {
            let byte = value.to_le_bytes().get(at).copied().unwrap_or(0);
            // SAFETY: the caller offers `data_size` bytes at `data`, which is not null.
            unsafe { self.place(at).write(byte) }
        }
        self.return_size = self.data_size;
        true
    }

    fn is_number(&self) -> bool {
        [SIGNED, UNSIGNED].contains(&self.data_type)
    }

    /// The address of a byte of a number, counted from the lowest.
    fn place(&self, at: usize) -> *mut u8 {
        let at = if cfg!(target_endian = "big") { self.data_size - 1 - at } else { at };
        self.data.cast::<u8>().wrapping_add(at)
    }

    /// Answers with bytes, or with their address: they stay in place as long as the context.
    pub(super) fn set_bytes(&mut self, bytes: &[u8]) -> bool {
        match self.data_type {
            OCTETS => self.copy_out(bytes),
            OCTETS_PTR => self.point_to(bytes),
            _ => false,
        }
    }

    /// Answers with bytes for which the caller has room, although it states 0, by which OpenSSL means a whole nonce.
    pub(super) fn set_whole(&mut self, bytes: &[u8]) -> bool {
        if self.data_type != OCTETS || self.data.is_null() || self.data_size != 0 {
            return false;
        }
        self.data_size = bytes.len();
        let set = self.copy_out(bytes);
        self.data_size = 0;
        set
    }

    /// Answers with a constant string, or with its address.
    pub(super) fn set_text(&mut self, text: &'static CStr) -> bool {
        match self.data_type {
            // The terminating zero is not counted.
            UTF8 => {
                self.copy_out(text.to_bytes_with_nul()) && {
                    self.return_size -= 1;
                    true
                }
            }
            UTF8_PTR => self.point_to(text.to_bytes()),
            _ => false,
        }
    }

    fn copy_out(&mut self, bytes: &[u8]) -> bool {
        self.return_size = bytes.len();
        if self.data.is_null() || self.data_size < bytes.len() {
            return self.data.is_null();
        }
        // SAFETY: the caller offers `data_size` bytes at `data`, which is not null.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len()) }
        true
    }

    fn point_to(&mut self, bytes: &[u8]) -> bool {
        self.return_size = bytes.len();
        if !self.data.is_null() {
            // SAFETY: values of this type have a pointer at `data`, which is not null.
            unsafe { self.data.cast::<*const u8>().write_unaligned(bytes.as_ptr()) }
        }
        true
    }

    /// The number of bytes that the caller provides or passes, or the length that it states.
    pub(super) fn len(&self) -> usize {
        self.data_size
    }

    /// The number passed, in any width; `None` if it is negative, or too large for a length.
    pub(super) fn get_number(&self) -> Option<usize> {
        if self.data.is_null() || self.data_size == 0 || !self.is_number() {
            return None;
        }
        // SAFETY: the caller gives `data_size` bytes at `data`, which is not null.
        let byte = |at| unsafe { self.place(at).read() };
        if self.data_type == SIGNED && byte(self.data_size - 1) >= 0x80 {
            return None;
        }
        (0..self.data_size)
            .rev()
            .try_fold(0_usize, |number, at| number.checked_mul(256).map(|number| number + usize::from(byte(at))))
    }

    /// The bytes passed; `None` if only a length was passed.
    pub(super) fn get_bytes(&self) -> Option<&[u8]> {
        self.get_front(self.data_size)
    }

    /// The first `len` of the bytes passed. OpenSSL states -1 for some lengths that both sides know.
    pub(super) fn get_front(&self, len: usize) -> Option<&[u8]> {
        if self.data_type != OCTETS || self.data.is_null() || len > self.data_size || len > isize::MAX as usize {
            return None;
        }
        // SAFETY: the caller gives `data_size` bytes at `data`, or, if that is -1, as many as `len`.
        Some(unsafe { slice::from_raw_parts(self.data.cast(), len) })
    }
}

/// Calls `each` with every value of a list of queries, as long as it returns true; returns whether it always did.
///
/// # Safety
/// `list` must be null, or a terminated list that nobody else uses.
pub(super) unsafe fn every(list: *mut Param, mut each: impl FnMut(&mut Param) -> bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { places(list).all(|at| each(&mut *at.cast_mut())) }
}

/// The same for a list of settings: a caller's list may be constant, and must not be borrowed mutably.
///
/// # Safety
/// `list` must be null, or a terminated list.
pub(super) unsafe fn every_given(list: *const Param, mut each: impl FnMut(&Param) -> bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { places(list).all(|at| each(&*at)) }
}

/// The addresses of a list's values.
///
/// # Safety
/// `list` must be null, or a terminated list.
unsafe fn places(list: *const Param) -> impl Iterator<Item = *const Param> {
    let mut at = list;
    iter::from_fn(move || {
        // SAFETY: the list ends with a value that has no key, behind which nothing is looked at.
        unsafe {
            if at.is_null() || (*at).key.is_null() {
                return None;
            }
            let here = at;
            at = at.add(1);
            Some(here)
        }
    })
}
