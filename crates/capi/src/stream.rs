//! Streams: C2SP chunked encryption, written and read through functions of the caller.

use std::{
    ffi::{c_char, c_int, c_void},
    io::{self, Read, Write},
};

use sealwright::Suite;
use sealwright_fork::Maker;
use sealwright_stream::{Opener, Sealer, StreamError};

use crate::{
    error::{Failed, guard},
    pointer::{borrow_mut, bytes, bytes_mut, clear, free, give, text},
};

/// Takes `len` bytes of a sealed stream. Returns 0, or anything else if it failed. It must return: an exception, or a longjmp, that left it
/// would go through frames of the library, which is undefined.
pub type SealwrightWrite = Option<unsafe extern "C" fn(state: *mut c_void, bytes: *const u8, len: usize) -> c_int>;
/// Puts at most `len` bytes of a sealed stream to `bytes`, and how many to `got`: 0 at its end. Returns 0, or anything else if it failed. It
/// must return, as a function that writes must.
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
pub struct SealwrightSealer {
    sealer: Sealer<Caller<unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int>>,
    /// Whether a text came in part only.
    cut: bool,
    /// Whether its end was asked for.
    ending: bool,
    /// The process that began it.
    maker: Maker,
}

/// A sealed stream that is opened as it is read. Freed by sealwright_opener_free.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightOpener(Opener<Caller<unsafe extern "C" fn(*mut c_void, *mut u8, usize, *mut usize) -> c_int>>);

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
        give(result, SealwrightSealer { sealer, cut: false, ending: false, maker: Maker::this() })
    })
}

/// Seals `len` bytes more. If `write` failed, the stream may have a part of them, and cannot go on nor be ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_write(sealer: *mut SealwrightSealer, text: *const u8, len: usize) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        let (sealer, text) = (borrow_mut(sealer, "the sealer")?, bytes(text, len, "the text")?);
        whole(sealer)?;
        // Nothing of this text is taken: the end can still be written.
        if sealer.ending {
            return Err(StreamError::Ended.into());
        }
        sealer.cut = true;
        sealer.sealer.write_all(text)?;
        sealer.cut = false;
        Ok(())
    })
}

/// Ends the stream. Without this it counts as cut off. If `write` failed, the call may be repeated. Nothing more can be
/// sealed after the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_finish(sealer: *mut SealwrightSealer) -> c_int {
    // SAFETY: the header says what the pointer must be.
    guard(|| unsafe {
        let sealer = borrow_mut(sealer, "the sealer")?;
        whole(sealer)?;
        sealer.ending = true;
        Ok(sealer.sealer.try_finish()?)
    })
}

/// That no text came in part: written again it would be there twice, and an end would make a part of it look whole. And that the process was
/// not forked meanwhile: parent and child would seal two texts under one nonce.
fn whole(sealer: &SealwrightSealer) -> Result<(), Failed> {
    if sealer.maker.is_forked() {
        return Err(Failed::ended("the stream was begun by the process that this one was forked from; begin another"));
    }
    if sealer.cut { Err(StreamError::Ended.into()) } else { Ok(()) }
}

/// Frees a sealer, and wipes what it holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_sealer_free(sealer: *mut SealwrightSealer) {
    // SAFETY: the header says what the pointer must be.
    unsafe { free(sealer) }
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
        give(result, SealwrightOpener(Opener::new(Caller { function, state }, suite, key, context)?))
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
        let got = borrow_mut(got, "got")?;
        *got = 0;
        let opener = borrow_mut(opener, "the opener")?;
        // To read nothing would look like the end.
        if len == 0 {
            return Err(Failed::argument("there is no room for a text; offer at least 1 byte"));
        }
        *got = opener.0.read(bytes_mut(text, len, "the text")?)?;
        Ok(())
    })
}

/// Frees an opener, and wipes what it holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_opener_free(opener: *mut SealwrightOpener) {
    // SAFETY: the header says what the pointer must be.
    unsafe { free(opener) }
}
