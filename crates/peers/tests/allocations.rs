//! OpenSSL allocates nothing when a key is replaced in place. This test is a process of its own, because OpenSSL
//! accepts allocation functions (which count here) only before its first allocation.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::atomic::{AtomicUsize, Ordering},
};

use sealwright_peers::{Algorithm, found};

static TAKEN: AtomicUsize = AtomicUsize::new(0);

type Take = extern "C" fn(usize, *const c_char, c_int) -> *mut c_void;
type Resize = extern "C" fn(*mut c_void, usize, *const c_char, c_int) -> *mut c_void;
type Free = extern "C" fn(*mut c_void, *const c_char, c_int);

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn malloc(bytes: usize) -> *mut c_void;
    fn realloc(memory: *mut c_void, bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

extern "C" fn take(bytes: usize, _: *const c_char, _: c_int) -> *mut c_void {
    TAKEN.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `malloc` accepts any size.
    unsafe { malloc(bytes) }
}

extern "C" fn resize(memory: *mut c_void, bytes: usize, _: *const c_char, _: c_int) -> *mut c_void {
    TAKEN.fetch_add(1, Ordering::Relaxed);
    // SAFETY: OpenSSL passes only memory that these functions returned.
    unsafe { realloc(memory, bytes) }
}

extern "C" fn give(memory: *mut c_void, _: *const c_char, _: c_int) {
    // SAFETY: as above.
    unsafe { free(memory) }
}

/// Whether the system's OpenSSL is available and uses the counting functions.
fn counts() -> bool {
    const NOW: c_int = 2;
    let symbol = |library, name: &CStr| {
        // SAFETY: the library is open, and the name is null-terminated.
        unsafe { dlsym(library, name.as_ptr()) }
    };
    // SAFETY: the name is null-terminated.
    let library = unsafe { dlopen(c"libcrypto.so.3".as_ptr(), NOW) };
    if library.is_null() || symbol(library, c"CRYPTO_set_mem_functions").is_null() {
        return false;
    }
    // SAFETY: this is the type of `CRYPTO_set_mem_functions(3)`.
    let set: extern "C" fn(Take, Resize, Free) -> c_int =
        unsafe { std::mem::transmute(symbol(library, c"CRYPTO_set_mem_functions")) };
    set(take, resize, give) == 1
}

#[test]
fn a_new_key_of_openssl_takes_no_memory() {
    let counts = counts();
    let Some(library) = found().0.into_iter().find(|library| counts && library.name() == "openssl") else {
        return sealwright_transcripts::skipped(
            "OpenSSL 3 was not there when this was built, or has taken memory already",
        );
    };
    for algorithm in [Algorithm::Aes128Gcm, Algorithm::Aes256Cbc, Algorithm::ChaCha20Poly1305] {
        let (nonce, mut message) = (vec![1; algorithm.nonce_len()], [5; 80]);
        let mut key = library.key(algorithm, &vec![7; algorithm.key_len()]).unwrap();
        key.seal(&nonce, b"", &mut message).unwrap();
        let before = TAKEN.load(Ordering::Relaxed);
        assert!(before > 0, "nothing was counted");
        for byte in 0..10 {
            key.set(&vec![byte; algorithm.key_len()]).unwrap();
            key.seal(&nonce, b"", &mut message).unwrap();
        }
        assert_eq!(TAKEN.load(Ordering::Relaxed), before, "{algorithm:?}");
    }
}
