//! The function tables, and the functions in them: OpenSSL's pointers become references, and a panic becomes a failure.

use std::{
    ffi::{c_int, c_uchar, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};

use super::{
    cipher::{Algorithm, Cipher, State},
    params::{Dispatch, Function, Param, every, every_given},
    reasons::Core,
};

/// An entry for a function of any type: OpenSSL identifies it by number.
macro_rules! entry {
    ($id:expr, $function:expr, $type:ty) => {
        Dispatch {
            id: $id,
            // SAFETY: OpenSSL calls it as what the number says, which is `$type`.
            function: Some(unsafe { std::mem::transmute::<$type, Function>($function) }),
        }
    };
}

pub(super) use entry;

pub(super) const END: Dispatch = Dispatch { id: 0, function: None };

type Context = *mut Cipher;
type Init = unsafe extern "C" fn(Context, *const c_uchar, usize, *const c_uchar, usize, *const Param) -> c_int;
type Update = unsafe extern "C" fn(Context, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
type Final = unsafe extern "C" fn(Context, *mut c_uchar, *mut usize, usize) -> c_int;
type Get = unsafe extern "C" fn(Context, *mut Param) -> c_int;
type Set = unsafe extern "C" fn(Context, *const Param) -> c_int;
type OfList = unsafe extern "C" fn(*mut Param) -> c_int;
/// Lists the parameters that can be queried of a provider, cipher or context, or set in a context.
pub(super) type List = unsafe extern "C" fn(*mut c_void) -> *const Param;
type ContextList = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const Param;

/// Runs `work` and turns a panic into a failure.
pub(super) fn guarded(work: impl FnOnce() -> bool) -> c_int {
    c_int::from(catch_unwind(AssertUnwindSafe(work)).unwrap_or(false))
}

/// # Safety
/// `start` must be null, or point to `len` bytes.
unsafe fn given<'a>(start: *const c_uchar, len: usize) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    (!start.is_null()).then(|| unsafe { slice::from_raw_parts(start, len) })
}

unsafe extern "C" fn init<const SEALING: bool>(
    context: Context,
    key: *const c_uchar,
    key_len: usize,
    iv: *const c_uchar,
    iv_len: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL passes a context of `new`, and what the table's type says.
    guarded(|| unsafe {
        let cipher = &mut *context;
        cipher.begin(SEALING);
        // The length of the IV must be set before the IV.
        let set = every_given(params, |param| cipher.set(param));
        set && cipher.set_up(given(key, key_len), given(iv, iv_len)) || cipher.fail(!key.is_null())
    })
}

unsafe extern "C" fn update(
    context: Context,
    out: *mut c_uchar,
    written: *mut usize,
    room: usize,
    input: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of `new`, `len` bytes at `input` and `room` at `out`, which may be the same
    // place.
    guarded(|| unsafe {
        let cipher = &mut *context;
        *written = 0;
        if len == 0 && cipher.record.is_none() {
            return true;
        }
        if input.is_null() {
            return cipher.refuse();
        }
        if out.is_null() {
            *written = len;
            return cipher.add_ad(slice::from_raw_parts(input, len));
        }
        if cipher.record.is_some() {
            if room < len {
                return false;
            }
            ptr::copy(input, out, len);
            let record = slice::from_raw_parts_mut(out, len);
            let done = cipher.tls_record(record);
            // A refused record may still contain plaintext.
            done.map_or_else(|| record.fill(0), |len| *written = len);
            return done.is_some();
        }
        let (held, Some(due)) = (cipher.left(), cipher.due(len)) else { return cipher.refuse() };
        if room < due {
            return cipher.refuse();
        }
        if let Some(reason) = cipher.refuses_text() {
            let passed = cipher.miss(len, due);
            if passed {
                ptr::write_bytes(out, 0, due);
                *written = due;
            } else {
                cipher.core.tell(reason);
            }
            return passed;
        }
        // All input is read before any output is written: first what was held back, then the rest, is copied to the
        // output.
        let here = len.min(due.saturating_sub(held));
        let end = cipher.kept_back(due, slice::from_raw_parts(input.add(here), len - here));
        if due > 0 {
            ptr::copy(input, out.add(held), here);
            cipher.give(slice::from_raw_parts_mut(out, held));
        }
        let out = slice::from_raw_parts_mut(out, due);
        let added = cipher.add(out, end);
        *written = if added { due } else { 0 };
        added
    })
}

unsafe extern "C" fn end(context: Context, out: *mut c_uchar, written: *mut usize, room: usize) -> c_int {
    // SAFETY: OpenSSL passes a context of `new`, where the length goes, and `room` bytes at `out`.
    guarded(|| unsafe {
        let cipher = &mut *context;
        *written = 0;
        let left = cipher.left();
        if left > 0 && (out.is_null() || room < left) || !cipher.end() {
            return false;
        }
        if left > 0 {
            *written = left;
            cipher.give(slice::from_raw_parts_mut(out, left));
        }
        true
    })
}

/// Everything in one call, like `EVP_Cipher`: a record, associated data, a text, or the end. Nothing of the text is
/// held back.
unsafe extern "C" fn one_shot(
    context: Context,
    out: *mut c_uchar,
    written: *mut usize,
    room: usize,
    input: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: as of `update` and `end`; what `update` wrote is in `room`.
    unsafe {
        if input.is_null() {
            return end(context, out, written, room);
        }
        if update(context, out, written, room, input, len) == 0 {
            return 0;
        }
        guarded(|| {
            let cipher = &mut *context;
            let left = if out.is_null() { 0 } else { cipher.left() };
            // If its nonce was invalidated, no message is in progress.
            if left > room - *written || left > 0 && cipher.state != State::Text {
                return cipher.fail(false);
            }
            if left > 0 {
                if !cipher.close() {
                    return false;
                }
                cipher.give(slice::from_raw_parts_mut(out.add(*written), left));
                *written += left;
            }
            true
        })
    }
}

unsafe extern "C" fn free(context: Context) {
    if !context.is_null() {
        // SAFETY: OpenSSL passes a context of `new`, once.
        drop(unsafe { Box::from_raw(context) });
    }
}

unsafe extern "C" fn duplicate(context: Context) -> Context {
    // SAFETY: OpenSSL passes a context of `new`.
    let copy = catch_unwind(AssertUnwindSafe(|| unsafe { &*context }.clone()));
    copy.map_or_else(|_| ptr::null_mut(), |copy| Box::into_raw(Box::new(copy)))
}

unsafe extern "C" fn get(context: Context, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a context of `new`, and a list.
    guarded(|| unsafe { every(params, |param| (*context).get(param)) })
}

unsafe extern "C" fn set(context: Context, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of `new`, and a list.
    guarded(|| unsafe { every_given(params, |param| (*context).set(param)) })
}

unsafe extern "C" fn gettable(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 9] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"taglen"),
        Param::octets(c"iv"),
        Param::octets(c"updated-iv"),
        Param::octets(c"tag"),
        Param::number(c"tlsaadpad"),
        Param::octets(c"tlsivgen"),
        Param::END,
    ];
    LIST.as_ptr()
}

unsafe extern "C" fn settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 7] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::octets(c"tag"),
        Param::octets(c"tlsaad"),
        Param::octets(c"tlsivfixed"),
        Param::octets(c"tlsivinv"),
        Param::END,
    ];
    LIST.as_ptr()
}

unsafe extern "C" fn facts(_: *mut c_void) -> *const Param {
    static LIST: [Param; 7] = [
        Param::number(c"mode"),
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"blocksize"),
        Param::number(c"aead"),
        Param::number(c"custom-iv"),
        Param::END,
    ];
    LIST.as_ptr()
}

/// EVP_CIPH_GCM_MODE and EVP_CIPH_OCB_MODE of `openssl/evp.h`.
const MODES: [usize; 2] = [0x6, 0x10003];

/// The functions of one algorithm.
macro_rules! functions {
    ($name:ident, $gcm:expr, $key_len:expr) => {
        pub(super) mod $name {
            use super::*;

            const ALGORITHM: Algorithm = Algorithm { gcm: $gcm, key_len: $key_len };

            unsafe extern "C" fn new(provider: *mut c_void) -> Context {
                // SAFETY: OpenSSL passes what it got from the provider's beginning.
                let core = unsafe { *provider.cast::<Core>() };
                Box::into_raw(Box::new(Cipher::new(ALGORITHM, core)))
            }

            unsafe extern "C" fn get_facts(params: *mut Param) -> c_int {
                let answer = |param: &mut Param| match param.key() {
                    b"mode" => param.set_number(MODES[usize::from(!$gcm)]),
                    b"keylen" => param.set_number($key_len),
                    b"ivlen" => param.set_number(12),
                    b"blocksize" => param.set_number(if $gcm { 1 } else { 16 }),
                    b"aead" | b"custom-iv" => param.set_number(1),
                    _ => true,
                };
                // SAFETY: OpenSSL passes a list.
                guarded(|| unsafe { every(params, answer) })
            }

            pub(in super::super) static TABLE: [Dispatch; 15] = [
                entry!(1, new, unsafe extern "C" fn(*mut c_void) -> Context),
                entry!(2, init::<true>, Init),
                entry!(3, init::<false>, Init),
                entry!(4, update, Update),
                entry!(5, end, Final),
                entry!(6, one_shot, Update),
                entry!(7, free, unsafe extern "C" fn(Context)),
                entry!(8, duplicate, unsafe extern "C" fn(Context) -> Context),
                entry!(9, get_facts, OfList),
                entry!(10, get, Get),
                entry!(11, set, Set),
                entry!(12, facts, List),
                entry!(13, gettable, ContextList),
                entry!(14, settable, ContextList),
                END,
            ];
        }
    };
}
functions!(gcm_128, true, 16);
functions!(gcm_192, true, 24);
functions!(gcm_256, true, 32);
functions!(ocb_128, false, 16);
functions!(ocb_192, false, 24);
functions!(ocb_256, false, 32);
