//! What passes between OpenSSL and a provider: OSSL_PARAM of `openssl/core.h`, named values, and OSSL_DISPATCH, numbered functions.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    iter, ptr, slice,
};

/// A named value; a list of them ends with one that has no key.
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

/// A function by its number; a table of them ends with 0.
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
    /// Says that there is such a value, in a list of what can be asked for or set.
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

    /// Whether the caller gives no bytes: it asks for a length, or has only a length to tell.
    pub(super) fn asks(&self) -> bool {
        self.data.is_null() && self.data_type == OCTETS
    }

    /// Answers with a number. Numbers have 4 or 8 bytes, as the caller likes.
    pub(super) fn set_number(&mut self, value: usize) -> bool {
        let (most, short) = match self.data_type {
            SIGNED => (i64::MAX as u64, i32::MAX as u64),
            UNSIGNED => (u64::MAX, u64::from(u32::MAX)),
            _ => return false,
        };
        let value = value as u64;
        self.return_size = size_of::<usize>();
        if self.data.is_null() {
            return true;
        }
        self.return_size = self.data_size;
        // SAFETY: the caller offers `data_size` bytes at `data`, which is not null.
        unsafe {
            match self.data_size {
                4 if value <= short => self.data.cast::<u32>().write_unaligned(value as u32),
                8 if value <= most => self.data.cast::<u64>().write_unaligned(value),
                _ => return false,
            }
        }
        true
    }

    /// Answers with bytes, or where they are: these stay there as long as the context.
    pub(super) fn set_bytes(&mut self, bytes: &[u8]) -> bool {
        match self.data_type {
            OCTETS => self.copy_out(bytes),
            OCTETS_PTR => self.point_to(bytes),
            _ => false,
        }
    }

    /// Answers with bytes for which the caller has room, though it says 0: OpenSSL means a whole nonce by it.
    pub(super) fn set_whole(&mut self, bytes: &[u8]) -> bool {
        if self.data_type != OCTETS || self.data.is_null() || self.data_size != 0 {
            return false;
        }
        self.data_size = bytes.len();
        let set = self.copy_out(bytes);
        self.data_size = 0;
        set
    }

    /// Answers with a constant text, or where it is.
    pub(super) fn set_text(&mut self, text: &'static CStr) -> bool {
        match self.data_type {
            // The zero behind it is not counted.
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

    /// Bytes that the caller offers or gives, or the length that it tells.
    pub(super) fn len(&self) -> usize {
        self.data_size
    }

    pub(super) fn get_number(&self) -> Option<usize> {
        if self.data.is_null() || ![SIGNED, UNSIGNED].contains(&self.data_type) {
            return None;
        }
        // SAFETY: the caller gives `data_size` bytes at `data`, which is not null. What is less than zero is too large.
        unsafe {
            match self.data_size {
                4 => Some(self.data.cast::<u32>().read_unaligned() as usize),
                8 => usize::try_from(self.data.cast::<u64>().read_unaligned()).ok(),
                _ => None,
            }
        }
    }

    /// The bytes given; `None` if there is only a length.
    pub(super) fn get_bytes(&self) -> Option<&[u8]> {
        self.get_front(self.data_size)
    }

    /// The first `len` of the bytes given. OpenSSL says -1 for some lengths that both sides know.
    pub(super) fn get_front(&self, len: usize) -> Option<&[u8]> {
        if self.data_type != OCTETS || self.data.is_null() || len > self.data_size || len > isize::MAX as usize {
            return None;
        }
        // SAFETY: the caller gives `data_size` bytes at `data`, or, if that is -1, as many as `len`.
        Some(unsafe { slice::from_raw_parts(self.data.cast(), len) })
    }
}

/// Calls `each` with every value of a list to answer in, as long as it returns true; returns whether it always did.
///
/// # Safety
/// `list` must be null, or a list that ends, and that nobody else uses.
pub(super) unsafe fn every(list: *mut Param, mut each: impl FnMut(&mut Param) -> bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { places(list).all(|at| each(&mut *at.cast_mut())) }
}

/// The same of a list to read: that of a caller may be a constant, which must not be borrowed to change.
///
/// # Safety
/// `list` must be null, or a list that ends.
pub(super) unsafe fn every_given(list: *const Param, mut each: impl FnMut(&Param) -> bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { places(list).all(|at| each(&*at)) }
}

/// Where the values of a list are.
///
/// # Safety
/// `list` must be null, or a list that ends.
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
