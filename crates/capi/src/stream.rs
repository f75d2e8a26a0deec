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

/// Takes all `len` bytes of a sealed stream and returns 0, or anything else if it failed: then the stream has failed, as nobody knows how much
/// of it was taken. It must return: an exception, or a longjmp, that left it would go through frames of the library, which is undefined. It
/// must not use or free the stream that calls it: that would be SEALWRIGHT_ERROR_ARGUMENT, and nothing would be freed.
pub type SealwrightWrite = Option<unsafe extern "C" fn(state: *mut c_void, bytes: *const u8, len: usize) -> c_int>;
/// Puts at most `len` bytes of a sealed stream to `bytes`, and how many to `got`: 0 at its end. Returns 0, or anything else if it failed: it
/// must have taken nothing from the stream then, so that it can be called again. It must return, and leave the stream that calls it alone,
/// as a function that writes must.
pub type SealwrightRead =
    Option<unsafe extern "C" fn(state: *mut c_void, bytes: *mut u8, len: usize, got: *mut usize) -> c_int>;

/// A function of the caller with its state.
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
    /// Whether a step failed: a text came in part only, or nobody knows how much of the stream was taken.
    failed: bool,
    /// Whether its end was asked for.
    ending: bool,
    /// The process that began it.
    maker: Maker,
}

/// A sealed stream that is opened as it is read. Freed by sealwright_opener_free.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightOpener(RefCell<OpenerOfCaller>);

type OpenerOfCaller = Opener<Caller<unsafe extern "C" fn(*mut c_void, *mut u8, usize, *mut usize) -> c_int>>;

/// Begins a stream under a random key, which may seal many streams. `context` is what both sides must agree on; it is not stored. The
/// sealed stream goes to `write`, called with `state`. Only the process that began a stream can go on with it: one that was forked from it
/// would seal another text under the same nonces.
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

/// Seals `len` bytes more. If `write` failed, the stream may have a part of them, and cannot go on nor be ended.
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

/// Ends the stream. Without this it counts as cut off. If `write` failed, the stream has failed, and nothing can end it: begin another.
/// Nothing more can be sealed after the end; to write it again does nothing.
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

/// That no step failed: written again, a part of the stream would be there twice, and an end would make a part of the text look whole. And
/// that the process was not forked meanwhile: parent and child would seal two texts under one nonce.
fn whole(sealer: &Sealing) -> Result<(), Failed> {
    if sealer.maker.is_forked() {
        return Err(Failed::ended("the stream was begun by the process that this one was forked from; begin another"));
    }
    if sealer.failed {
        return Err(Failed::ended("an earlier call failed, so that the stream cannot become whole; begin another"));
    }
    Ok(())
}

/// Frees a sealer, and wipes what it holds. Called by the function that writes for it, it frees nothing, and sealwright_last_error says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_free(sealer: *mut SealwrightSealer) {
    // SAFETY: the header says what the pointer must be.
    guard(|| unsafe {
        // What runs would go on with memory that is gone.
        sealer.as_ref().map(|sealer| entered(&sealer.0, "the sealer").map(drop)).transpose()?;
        free(sealer);
        Ok(())
    });
}

/// Begins to open a sealed stream, which comes from `read`, called with `state`. Reads its header and checks key and context.
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
        // Told before anything is read.
        if key.len() != suite.key_len() {
            return Err(StreamError::KeyLength { suite, wanted: suite.key_len(), given: key.len() }.into());
        }
        let opener = Opener::new(Caller { function, state }, suite, key, context)?;
        give(result, SealwrightOpener(RefCell::new(opener)))
    })
}

/// Puts at most `len` bytes of authentic text, at least 1, to `text`, and how many to `got`: 0 at the end, which is proven then. Until then
/// the stream may still turn out to be cut off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_opener_read(
    opener: *mut SealwrightOpener,
    text: *mut u8,
    len: usize,
    got: *mut usize,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        // Not borrowed while `read` runs, which may have a call refused that tells its length there too.
        *borrow_mut(got, "got")? = 0;
        let mut opener = entered(&borrow(opener, "the opener")?.0, "the opener")?;
        // To read nothing would look like the end.
        if len == 0 {
            return Err(Failed::argument("there is no room for a text; offer at least 1 byte"));
        }
        *borrow_mut(got, "got")? = opener.read(bytes_mut(text, len, "the text")?)?;
        Ok(())
    })
}

/// Frees an opener, and wipes what it holds. Called by the function that reads for it, it frees nothing, and sealwright_last_error says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_opener_free(opener: *mut SealwrightOpener) {
    // SAFETY: the header says what the pointer must be.
    guard(|| unsafe {
        opener.as_ref().map(|opener| entered(&opener.0, "the opener").map(drop)).transpose()?;
        free(opener);
        Ok(())
    });
}
