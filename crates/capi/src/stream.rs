//! Streams: C2SP chunked encryption, written and read through functions of the caller.

use std::{
    cell::RefCell,
    ffi::{c_char, c_int, c_void},
    io::{self, Read, Write},
};

use sealwright::Suite;
use sealwright_fork::Maker;
use sealwright_stream::{Opener, Sealer, StreamError};

use crate::{
    error::{Failed, guard},
    pointer::{borrow, borrow_mut, bytes, bytes_mut, clear, entered, free, give, text},
};

/// A function of yours that writes a sealed stream. It must take all `len` bytes and return 0, or return any other
/// number if it failed: the stream then fails, because it is unknown how many bytes were taken. It must return
/// normally: an exception or a longjmp out of it would cross frames of the library, which is undefined behaviour. It
/// must not use or free the stream that calls it: such a call returns SEALWRIGHT_ERROR_ARGUMENT, and nothing is freed.
pub type SealwrightWrite = Option<unsafe extern "C" fn(state: *mut c_void, bytes: *const u8, len: usize) -> c_int>;
/// A function of yours that reads a sealed stream. It must put at most `len` bytes into `bytes` and their number into
/// `got`, 0 at the end of the stream, and return 0. If it failed, it must return any other number and have taken
/// nothing from the stream, so that sealwright_opener_read can be repeated. It must return normally, and must not use
/// or free the stream that calls it, like a function that writes.
pub type SealwrightRead =
    Option<unsafe extern "C" fn(state: *mut c_void, bytes: *mut u8, len: usize, got: *mut usize) -> c_int>;

/// A function of the caller, and its state.
struct Caller<F> {
    function: F,
    state: *mut c_void,
}

impl Write for Caller<unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the caller gave the function and its state for this.
        match unsafe { (self.function)(self.state, bytes.as_ptr(), bytes.len()) } {
            0 => Ok(bytes.len()),
            other => Err(io::Error::other(format!("the function that writes returned {other}"))),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Caller<unsafe extern "C" fn(*mut c_void, *mut u8, usize, *mut usize) -> c_int> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut got = 0;
        // SAFETY: the caller gave the function and its state for this.
        match unsafe { (self.function)(self.state, bytes.as_mut_ptr(), bytes.len(), &raw mut got) } {
            0 if got <= bytes.len() => Ok(got),
            0 => Err(io::Error::other("the function that reads gave more than it was asked for")),
            other => Err(io::Error::other(format!("the function that reads returned {other}"))),
        }
    }
}

/// A stream that is sealed as it is written. Freed by sealwright_sealer_free.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightSealer(RefCell<Sealing>);

struct Sealing {
    sealer: Sealer<Caller<unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int>>,
    /// Whether a step failed: it is unknown how much of the text or of the stream was taken.
    failed: bool,
    /// Whether the caller asked for the end.
    ending: bool,
    /// The process that began it.
    maker: Maker,
}

/// A sealed stream that is opened as it is read. Freed by sealwright_opener_free.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightOpener(RefCell<OpenerOfCaller>);

type OpenerOfCaller = Opener<Caller<unsafe extern "C" fn(*mut c_void, *mut u8, usize, *mut usize) -> c_int>>;

/// Begins a stream under a random key, which may seal many streams. `context` is data that both sides must agree on; it
/// is not stored. The sealed stream is passed to `write`, which is called with `state`. Only the process that began a
/// stream may continue it: a forked process would seal another text under the same nonces. Free the sealer with
/// sealwright_sealer_free.
///
/// Suites and key lengths are those of sealwright_key_new. Returns SEALWRIGHT_ERROR_SUITE or
/// SEALWRIGHT_ERROR_KEY_LENGTH for any other, and SEALWRIGHT_ERROR_RANDOM if the operating system has no random bytes.
/// Nothing is written yet.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_new(
    suite: *const c_char,
    key: *const u8,
    key_len: usize,
    context: *const u8,
    context_len: usize,
    write: SealwrightWrite,
    state: *mut c_void,
    result: *mut *mut SealwrightSealer,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        let suite: Suite = text(suite, "the suite")?.parse()?;
        let function = write.ok_or_else(|| Failed::argument("write is NULL"))?;
        let (key, context) = (bytes(key, key_len, "the key")?, bytes(context, context_len, "the context")?);
        let sealer = Sealer::new(Caller { function, state }, suite, key, context)?;
        let sealing = Sealing { sealer, failed: false, ending: false, maker: Maker::this() };
        give(result, SealwrightSealer(RefCell::new(sealing)))
    })
}

/// Seals `len` more bytes.
///
/// Returns SEALWRIGHT_ERROR_IO if `write` failed, and SEALWRIGHT_ERROR_TOO_LONG if the text would be longer than 4 PiB:
/// a part of the bytes may have been written, and the stream can be neither continued nor ended. Returns
/// SEALWRIGHT_ERROR_ENDED after one of these errors, after sealwright_sealer_finish, and in a forked process.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_write(sealer: *mut SealwrightSealer, text: *const u8, len: usize) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        let mut sealer = entered(&borrow(sealer, "the sealer")?.0, "the sealer")?;
        let text = bytes(text, len, "the text")?;
        whole(&sealer)?;
        if sealer.ending {
            return Err(StreamError::Ended.into());
        }
        sealer.failed = true;
        sealer.sealer.write_all(text)?;
        sealer.failed = false;
        Ok(())
    })
}

/// Ends the stream. Without this call, the stream is refused as truncated. After the end nothing more can be sealed;
/// calling this function again does nothing.
///
/// Returns SEALWRIGHT_ERROR_IO if `write` failed, and SEALWRIGHT_ERROR_TOO_LONG if the text fills 4 PiB: the stream has
/// then failed and cannot be ended; begin another. Returns SEALWRIGHT_ERROR_ENDED after such an error, also of
/// sealwright_sealer_write, and in a forked process.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_finish(sealer: *mut SealwrightSealer) -> c_int {
    // SAFETY: the header says what the pointer must be.
    guard(|| unsafe {
        let mut sealer = entered(&borrow(sealer, "the sealer")?.0, "the sealer")?;
        whole(&sealer)?;
        (sealer.ending, sealer.failed) = (true, true);
        sealer.sealer.try_finish()?;
        sealer.failed = false;
        Ok(())
    })
}

/// Checks that no step failed: repeated, it would write a part of the stream twice, and an end would make a partial
/// text look complete. Also checks that the process was not forked: parent and child would seal two texts under one
/// nonce.
fn whole(sealer: &Sealing) -> Result<(), Failed> {
    if sealer.maker.is_forked() {
        return Err(Failed::ended("the stream was begun by the process that this one was forked from; begin another"));
    }
    if sealer.failed {
        return Err(Failed::ended("an earlier call failed, so that the stream cannot be completed; begin another"));
    }
    Ok(())
}

/// Frees a sealer and wipes its memory. If it is called by the stream's own `write`, nothing is freed, and
/// sealwright_last_error says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_free(sealer: *mut SealwrightSealer) {
    // SAFETY: the header says what the pointer must be.
    guard(|| unsafe {
        // A running call would continue with freed memory.
        sealer.as_ref().map(|sealer| entered(&sealer.0, "the sealer").map(drop)).transpose()?;
        free(sealer);
        Ok(())
    });
}

/// Begins to open a sealed stream, which is read from `read`, called with `state`. Reads the header and checks key and
/// context. Free the opener with sealwright_opener_free.
///
/// Suites and key lengths are those of sealwright_key_new. Returns SEALWRIGHT_ERROR_SUITE or
/// SEALWRIGHT_ERROR_KEY_LENGTH for any other; SEALWRIGHT_ERROR_WRONG_KEY if the header is not that of a stream of this
/// suite, key and context; SEALWRIGHT_ERROR_NOT_AUTHENTIC if the stream is shorter than a header; SEALWRIGHT_ERROR_IO
/// if `read` failed: an earlier call of it may have taken bytes of the header, so repeat this function only from the
/// beginning of the stream.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_opener_new(
    suite: *const c_char,
    key: *const u8,
    key_len: usize,
    context: *const u8,
    context_len: usize,
    read: SealwrightRead,
    state: *mut c_void,
    result: *mut *mut SealwrightOpener,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        let suite: Suite = text(suite, "the suite")?.parse()?;
        let function = read.ok_or_else(|| Failed::argument("read is NULL"))?;
        let (key, context) = (bytes(key, key_len, "the key")?, bytes(context, context_len, "the context")?);
        // Reported before anything is read.
        if key.len() != suite.key_len() {
            return Err(StreamError::KeyLength { suite, wanted: suite.key_len(), given: key.len() }.into());
        }
        let opener = Opener::new(Caller { function, state }, suite, key, context)?;
        give(result, SealwrightOpener(RefCell::new(opener)))
    })
}

/// Puts between 1 and `len` bytes of authentic text into `text` and their number into `got`. 0 bytes mean the end of
/// the stream, which is then authenticated; before that, it may still turn out to be truncated. After an error, `got`
/// is 0.
///
/// Returns SEALWRIGHT_ERROR_NOT_AUTHENTIC if what follows was changed, or is missing, and again at every later call;
/// SEALWRIGHT_ERROR_IO if `read` failed: the call can be repeated; SEALWRIGHT_ERROR_ARGUMENT if `len` is 0.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_opener_read(
    opener: *mut SealwrightOpener,
    text: *mut u8,
    len: usize,
    got: *mut usize,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        // Not borrowed while `read` runs, because a refused call inside it may write its length there too.
        *borrow_mut(got, "got")? = 0;
        let mut opener = entered(&borrow(opener, "the opener")?.0, "the opener")?;
        // Reading 0 bytes would look like the end.
        if len == 0 {
            return Err(Failed::argument("there is no room for a text; offer at least 1 byte"));
        }
        *borrow_mut(got, "got")? = opener.read(bytes_mut(text, len, "the text")?)?;
        Ok(())
    })
}

/// Frees an opener and wipes its memory. If it is called by the stream's own `read`, nothing is freed, and
/// sealwright_last_error says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_opener_free(opener: *mut SealwrightOpener) {
    // SAFETY: the header says what the pointer must be.
    guard(|| unsafe {
        opener.as_ref().map(|opener| entered(&opener.0, "the opener").map(drop)).transpose()?;
        free(opener);
        Ok(())
    });
}
