//! Whole files, and the keys that seal and open them.

use std::ffi::{c_char, c_int};

use sealwright_file::{Input, Key, Opening, Output, OutputOptions, Sealing, pooled, threads_for};

use crate::{
    error::{Failed, guard},
    pointer::{borrow, bytes, clear, free, give, path, text},
};

/// For sealwright_file_seal and sealwright_file_open: replace the output if it exists, and write to a block device.
pub const SEALWRIGHT_FORCE: u32 = 1;
/// For sealwright_file_seal: write the file as text, in lines of base64, which is larger by a third.
pub const SEALWRIGHT_ARMOR: u32 = 2;

/// What seals and opens files: a raw key or a passphrase. Freed by sealwright_secret_free, which wipes it.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightSecret(pub(crate) Key);

/// Takes a raw key for files: 16 or 32 random bytes, depending on the suite. Returns SEALWRIGHT_ERROR_KEY_LENGTH
/// for any other length. Free the secret with sealwright_secret_free.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_secret_raw(
    key: *const u8,
    key_len: usize,
    result: *mut *mut SealwrightSecret,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        let key = bytes(key, key_len, "the key")?;
        // Checked here rather than with the first file, as for all other keys.
        if ![16, 32].contains(&key.len()) {
            return Err(Failed::key_length(key.len()));
        }
        give(result, SealwrightSecret(Key::raw(key)))
    })
}

/// Takes a passphrase of `len` bytes for files. Returns SEALWRIGHT_ERROR_ARGUMENT if `len` is 0. Free the secret with
/// sealwright_secret_free.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_secret_passphrase(
    passphrase: *const u8,
    len: usize,
    result: *mut *mut SealwrightSecret,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        give(result, SealwrightSecret(Key::passphrase(bytes(passphrase, len, "the passphrase")?)?))
    })
}

/// Reads the raw key in a key file, which nobody but its owner may have permission to read. Free the secret
/// with sealwright_secret_free.
///
/// Returns SEALWRIGHT_ERROR_IO if the file cannot be read; SEALWRIGHT_ERROR_KEY_LENGTH if it does not hold 16 or 32
/// bytes, or as many in hex on one line; SEALWRIGHT_ERROR_OTHER if others may read it, or if it holds a key of another
/// kind; SEALWRIGHT_ERROR_ARGUMENT if the path is itself a key.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_secret_read(path: *const c_char, result: *mut *mut SealwrightSecret) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        give(result, SealwrightSecret(Key::read_file(self::path(path, "the path")?)?))
    })
}

/// Frees and wipes a secret.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_secret_free(secret: *mut SealwrightSecret) {
    // SAFETY: the header says what the pointer must be.
    unsafe { free(secret) }
}

/// Seals the file `from` to the file `to`, on all cores. `to` appears only when it is complete. An existing device or
/// named pipe is written as a stream instead: if the call fails, a part may have been written. `flags` is 0,
/// SEALWRIGHT_FORCE, SEALWRIGHT_ARMOR, or both combined with |.
///
/// Returns SEALWRIGHT_ERROR_IO if a file cannot be read or written; SEALWRIGHT_ERROR_EXISTS if `to` is an existing file
/// and SEALWRIGHT_FORCE was not given; SEALWRIGHT_ERROR_SUITE for a name that sealwright_key_new does not know;
/// SEALWRIGHT_ERROR_KEY_LENGTH if a raw key does not have the suite's length; SEALWRIGHT_ERROR_ARGUMENT for other
/// flags, or if `from` and `to` are one file; SEALWRIGHT_ERROR_TOO_LONG if the text is longer than 4 PiB;
/// SEALWRIGHT_ERROR_MEMORY if there is no memory for the costs of a passphrase; SEALWRIGHT_ERROR_RANDOM if the
/// operating system has no random bytes; SEALWRIGHT_ERROR_OTHER otherwise, for example if `from` was written to
/// meanwhile.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_file_seal(
    from: *const c_char,
    to: *const c_char,
    suite: *const c_char,
    key: *const SealwrightSecret,
    ad: *const u8,
    ad_len: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        known(flags, SEALWRIGHT_FORCE | SEALWRIGHT_ARMOR, "flags are SEALWRIGHT_FORCE and SEALWRIGHT_ARMOR, or 0")?;
        let (input, output) = ends(from, to, flags)?;
        let (key, suite) = (&borrow(key, "the key")?.0, text(suite, "the suite")?.parse()?);
        let ad = bytes(ad, ad_len, "the associated data")?;
        // A thread pool for each file: the caller may fork between two of them, and a forked process has no threads of
        // its parent.
        pooled(threads_for(input.len()), || {
            Sealing::new(key).suite(suite).ad(ad).armor(flags & SEALWRIGHT_ARMOR != 0).seal(input, output)
        })?;
        Ok(())
    })
}

/// Opens the sealed file `from` to the file `to`, on all cores. `to` appears only when all of it is authentic. An
/// existing device or named pipe is written as a stream instead: every byte is authenticated before it is written, but
/// until the call returns 0 the text may be incomplete. `flags` is 0 or SEALWRIGHT_FORCE.
///
/// Returns SEALWRIGHT_ERROR_WRONG_KEY if the file does not open with this key, or with this associated data;
/// SEALWRIGHT_ERROR_NOT_AUTHENTIC if it was changed or cut, or is not a sealed file; SEALWRIGHT_ERROR_UNSUPPORTED for a
/// kind of file that the library does not read; SEALWRIGHT_ERROR_IO if a file cannot be read or written;
/// SEALWRIGHT_ERROR_EXISTS if `to` is an existing file and SEALWRIGHT_FORCE was not given; SEALWRIGHT_ERROR_ARGUMENT
/// for other flags, or if `from` and `to` are one file; SEALWRIGHT_ERROR_MEMORY if there is no memory for the costs of
/// a passphrase; SEALWRIGHT_ERROR_OTHER otherwise, for example if the file holds a directory, or if trying the
/// passphrase would take more than 1 GiB, 16 passes or 64 lanes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_file_open(
    from: *const c_char,
    to: *const c_char,
    key: *const SealwrightSecret,
    ad: *const u8,
    ad_len: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        known(flags, SEALWRIGHT_FORCE, "flags are SEALWRIGHT_FORCE, or 0; armor is recognised without one")?;
        let (input, output) = ends(from, to, flags)?;
        let (key, ad) = (&borrow(key, "the key")?.0, bytes(ad, ad_len, "the associated data")?);
        pooled(threads_for(input.len()), || Opening::new(key).ad(ad).open(input, output))?;
        Ok(())
    })
}

/// Refuses unknown flags: if they were ignored now, a later version that defines them would change what existing
/// programs do.
fn known(flags: u32, taken: u32, what: &str) -> Result<(), Failed> {
    if flags & !taken == 0 { Ok(()) } else { Err(Failed::argument(what)) }
}

/// The input and the output of a job.
unsafe fn ends(from: *const c_char, to: *const c_char, flags: u32) -> Result<(Input, Output), Failed> {
    // SAFETY: the header says what the pointers must be.
    let (from, to) = unsafe { (path(from, "the input's path")?, path(to, "the output's path")?) };
    let options = OutputOptions::default().force(flags & SEALWRIGHT_FORCE != 0);
    Ok((Input::open(from)?, Output::file(to, options)?))
}
