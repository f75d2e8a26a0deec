//! The provider's description of itself, and the algorithms that it offers.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use super::{
    params::{Dispatch, Function, Param, every},
    reasons::{Core, Item, texts},
    table::{self, END, List, entry, guarded},
};

/// OSSL_ALGORITHM.
#[repr(C)]
struct Offer {
    names: *const c_char,
    properties: *const c_char,
    functions: *const Dispatch,
    description: *const c_char,
}

// SAFETY: all are constants, whose pointers lead to constants.
unsafe impl Sync for Offer {}

const fn offer(names: &'static CStr, table: &'static [Dispatch; 15]) -> Offer {
    Offer {
        names: names.as_ptr(),
        properties: c"provider=sealwright".as_ptr(),
        functions: table.as_ptr(),
        description: c"Sealwright".as_ptr(),
    }
}

static OFFERS: [Offer; 7] = [
    offer(c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", &table::gcm_128::TABLE),
    offer(c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26", &table::gcm_192::TABLE),
    offer(c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", &table::gcm_256::TABLE),
    offer(c"AES-128-OCB", &table::ocb_128::TABLE),
    offer(c"AES-192-OCB", &table::ocb_192::TABLE),
    offer(c"AES-256-OCB", &table::ocb_256::TABLE),
    Offer { names: ptr::null(), properties: ptr::null(), functions: ptr::null(), description: ptr::null() },
];

/// OSSL_OP_CIPHER.
const CIPHERS: c_int = 2;

unsafe extern "C" fn query(_: *mut c_void, operation: c_int, no_cache: *mut c_int) -> *const Offer {
    // SAFETY: OpenSSL passes where the answer goes.
    unsafe { *no_cache = 0 };
    if operation == CIPHERS { OFFERS.as_ptr() } else { ptr::null() }
}

unsafe extern "C" fn about(_: *mut c_void) -> *const Param {
    static LIST: [Param; 4] = [Param::text(c"name"), Param::text(c"version"), Param::number(c"status"), Param::END];
    LIST.as_ptr()
}

unsafe extern "C" fn tell(_: *mut c_void, params: *mut Param) -> c_int {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    let answer = |param: &mut Param| match param.key() {
        b"name" => param.set_text(c"Sealwright"),
        b"version" | b"buildinfo" => param.set_text(VERSION),
        b"status" => param.set_number(1),
        _ => true,
    };
    // SAFETY: OpenSSL passes a list.
    guarded(|| unsafe { every(params, answer) })
}

unsafe extern "C" fn leave(context: *mut c_void) {
    // SAFETY: OpenSSL passes what it got below, once, when it is done with all ciphers.
    drop(unsafe { Box::from_raw(context.cast::<Core>()) });
}

static PROVIDER: [Dispatch; 6] = [
    entry!(1024, leave, unsafe extern "C" fn(*mut c_void)),
    entry!(1025, about, List),
    entry!(1026, tell, unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int),
    entry!(1027, query, unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> *const Offer),
    entry!(1029, texts, unsafe extern "C" fn(*mut c_void) -> *const Item),
    END,
];

/// Called by OpenSSL when it loads the provider.
///
/// # Safety
/// Only OpenSSL may call it.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenSSL's name")]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    core: *const Dispatch,
    functions: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    // SAFETY: OpenSSL passes its functions, and where the answers go.
    unsafe {
        *functions = PROVIDER.as_ptr();
        *context = Box::into_raw(Box::new(Core::of(handle, core))).cast();
    }
    1
}
