//! Messages: one at a time, and many in one call.

use std::{
    collections::TryReserveError,
    ffi::{c_char, c_int},
};

use sealwright::{Aead, Suite};

use crate::{
    error::{Failed, SealwrightError, caught, guard},
    pointer::{apart, borrow, bytes, bytes_mut, clear, copy, free, give, text},
};

/// By how many bytes a sealed message is longer than its text.
pub const SEALWRIGHT_TAG_LEN: usize = 16;
/// Length of a nonce in bytes.
pub const SEALWRIGHT_NONCE_LEN: usize = 12;

/// A suite under a key. Freed by sealwright_key_free, which wipes it.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightKey(Box<dyn Aead>);

/// One message of a batch.
#[repr(C)]
#[allow(missing_debug_implementations, reason = "it is made of pointers")]
pub struct SealwrightMessage {
    /// SEALWRIGHT_NONCE_LEN bytes. When sealing, no other message under this key may have the same nonce, in this batch
    /// or any other.
    pub nonce: *const u8,
    /// Associated data: authenticated, not encrypted.
    pub ad: *const u8,
    /// Its length in bytes.
    pub ad_len: usize,
    /// The text to seal, or the message to open.
    pub input: *const u8,
    /// Its length in bytes.
    pub input_len: usize,
    /// Where the result is written: SEALWRIGHT_TAG_LEN bytes more than the text when sealing, as many less than the
    /// message when opening. It may be `input`, but must not overlap `ad`.
    pub output: *mut u8,
    /// Set by the call, even if the whole batch is refused: 0, or this message's error number.
    pub error: c_int,
}

/// Makes a key of a suite: "aes-256-gcm", "aes-128-gcm", "aes-256-ocb", "aes-128-ocb", "serpent-256-gcm" or
/// "serpent-256-ocb". The key has 16 bytes for the suites with "128" in their names and 32 for the others. The bytes
/// must be random; they are copied. Free the key with sealwright_key_free. Returns SEALWRIGHT_ERROR_SUITE for any other
/// name, and SEALWRIGHT_ERROR_KEY_LENGTH for any other length.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_key_new(
    suite: *const c_char,
    key: *const u8,
    key_len: usize,
    result: *mut *mut SealwrightKey,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        let suite: Suite = text(suite, "the suite")?.parse()?;
        give(result, SealwrightKey(suite.aead(bytes(key, key_len, "the key")?)?))
    })
}

/// Frees and wipes a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_key_free(key: *mut SealwrightKey) {
    // SAFETY: the header says what the pointer must be.
    unsafe { free(key) }
}

/// Seals `text`: writes the ciphertext and the tag, text_len + SEALWRIGHT_TAG_LEN bytes, to `message`. `message` may be
/// `text`, or overlap it or the nonce. The nonce has SEALWRIGHT_NONCE_LEN bytes and must never be used twice with one
/// key.
///
/// Returns SEALWRIGHT_ERROR_NONCE_LENGTH for a nonce of another length; SEALWRIGHT_ERROR_ARGUMENT if `message` overlaps
/// the associated data; SEALWRIGHT_ERROR_TOO_LONG if the text or the associated data is longer than the suite allows:
/// `message` is then filled with zeros, unless it is `text`, which is then unchanged.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_seal(
    key: *const SealwrightKey,
    nonce: *const u8,
    nonce_len: usize,
    ad: *const u8,
    ad_len: usize,
    text: *const u8,
    text_len: usize,
    message: *mut u8,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        let key = borrow(key, "the key")?;
        let nonce = taken(bytes(nonce, nonce_len, "the nonce")?)?;
        seal(key, &nonce, bytes(ad, ad_len, "the associated data")?, text, text_len, message)
    })
}

/// Opens `message`, ciphertext and tag: writes message_len - SEALWRIGHT_TAG_LEN bytes to `text`, which are the text if
/// the message is authentic and zeros otherwise. `text` may be `message`, or overlap it or the nonce.
///
/// Returns SEALWRIGHT_ERROR_NOT_AUTHENTIC if the message, the nonce or the associated data is not what was sealed under
/// this key, and for a message shorter than SEALWRIGHT_TAG_LEN, for which nothing is written;
/// SEALWRIGHT_ERROR_NONCE_LENGTH for a nonce of another length; SEALWRIGHT_ERROR_ARGUMENT if `text` overlaps the
/// associated data.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_open(
    key: *const SealwrightKey,
    nonce: *const u8,
    nonce_len: usize,
    ad: *const u8,
    ad_len: usize,
    message: *const u8,
    message_len: usize,
    text: *mut u8,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        let key = borrow(key, "the key")?;
        let nonce = taken(bytes(nonce, nonce_len, "the nonce")?)?;
        open(key, &nonce, bytes(ad, ad_len, "the associated data")?, message, message_len, text)
    })
}

/// Seals each of `messages`, in order, and sets its error. An output must not overlap what a later message reads,
/// except its nonce.
///
/// Returns the first error of a message; each can have those of sealwright_seal. If two messages have the same nonce,
/// none is sealed, and the error of each, which is also returned, is SEALWRIGHT_ERROR_ARGUMENT. If there is no memory
/// for this check, none is sealed either, and the error of each is SEALWRIGHT_ERROR_MEMORY.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_seal_batch(
    key: *const SealwrightKey,
    messages: *mut SealwrightMessage,
    count: usize,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    unsafe { batch(key, messages, count, seal, true) }
}

/// Opens each of `messages`, in order, and sets its error. One that is not authentic does not stop the others. An
/// output must not overlap what a later message reads, except its nonce.
///
/// Returns the first error of a message; each can have those of sealwright_open. If there is no memory to copy the
/// nonces, none is opened, and the error of each, which is also returned, is SEALWRIGHT_ERROR_MEMORY.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_open_batch(
    key: *const SealwrightKey,
    messages: *mut SealwrightMessage,
    count: usize,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    unsafe { batch(key, messages, count, open, false) }
}

type Nonce = [u8; SEALWRIGHT_NONCE_LEN];

/// The operation on one message.
type Work = unsafe fn(&SealwrightKey, &Nonce, &[u8], *const u8, usize, *mut u8) -> Result<(), Failed>;

unsafe fn batch(
    key: *const SealwrightKey,
    messages: *mut SealwrightMessage,
    count: usize,
    work: Work,
    sealing: bool,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        if messages.is_null() && count > 0 {
            return Err(Failed::argument("the messages are NULL"));
        }
        // Set first, so that after a refused batch no message still has the 0 of an earlier call.
        (0..count).for_each(|at| (*messages.add(at)).error = SealwrightError::SealwrightErrorArgument as c_int);
        let key = borrow(key, "the key")?;
        let nonces = nonces(messages, count, sealing)
            .inspect_err(|failed| (0..count).for_each(|at| (*messages.add(at)).error = failed.number()))?;
        // The number that is returned and the stored text belong to the same message.
        let mut first = Ok(());
        for (at, nonce) in nonces.iter().enumerate() {
            let message = &mut *messages.add(at);
            let done = caught(|| {
                let nonce = nonce.as_ref().ok_or_else(|| Failed::argument("the nonce is NULL"))?;
                let ad = bytes(message.ad, message.ad_len, "the associated data")?;
                work(key, nonce, ad, message.input, message.input_len, message.output)
            });
            message.error = done.as_ref().map_or_else(Failed::number, |()| SealwrightError::SealwrightOk as c_int);
            first = first.and(done);
        }
        first
    })
}

/// All nonces are copied before any output is written, so that the nonces compared are the nonces used.
unsafe fn nonces(
    messages: *const SealwrightMessage,
    count: usize,
    sealing: bool,
) -> Result<Vec<Option<Nonce>>, Failed> {
    let mut nonces: Vec<Option<Nonce>> = Vec::new();
    nonces.try_reserve_exact(count)?;
    // SAFETY: the header says what the pointers must be.
    nonces.extend((0..count).map(|at| unsafe { (*messages.add(at)).nonce.cast::<Nonce>().as_ref().copied() }));
    if sealing && come_twice(&nonces)? {
        return Err(Failed::argument(
            "two messages have the same nonce; none was sealed, as each needs a nonce of its own",
        ));
    }
    Ok(nonces)
}

fn come_twice(nonces: &[Option<Nonce>]) -> Result<bool, TryReserveError> {
    let mut sorted: Vec<&Nonce> = Vec::new();
    sorted.try_reserve_exact(nonces.len())?;
    sorted.extend(nonces.iter().flatten());
    sorted.sort_unstable();
    Ok(sorted.windows(2).any(|two| two[0] == two[1]))
}

/// A copy of the nonce, which the output may overlap. A wrong length is found before anything is written, and is not
/// reported as a forgery.
fn taken(nonce: &[u8]) -> Result<Nonce, Failed> {
    nonce.try_into().map_err(|_| sealwright::SealError::NonceLength.into())
}

unsafe fn seal(
    key: &SealwrightKey,
    nonce: &Nonce,
    ad: &[u8],
    from: *const u8,
    len: usize,
    to: *mut u8,
) -> Result<(), Failed> {
    let whole =
        len.checked_add(SEALWRIGHT_TAG_LEN).ok_or_else(|| Failed::argument("the text is longer than memory"))?;
    apart(ad, to, whole, "the associated data")?;
    // SAFETY: the header says what the pointers must be. The slice is made after the text was read for the last time.
    let message = unsafe {
        copy(from, to, len, "the text or the message")?;
        bytes_mut(to, whole, "the message")?
    };
    let sealed = key.0.seal_message(nonce, ad, message);
    // The suite checks the lengths last, when the text is in the output already. There it stays only if it was there.
    if sealed.is_err() && from != to.cast_const() {
        message.fill(0);
    }
    Ok(sealed?)
}

unsafe fn open(
    key: &SealwrightKey,
    nonce: &Nonce,
    ad: &[u8],
    from: *const u8,
    len: usize,
    to: *mut u8,
) -> Result<(), Failed> {
    let text_len = len.checked_sub(SEALWRIGHT_TAG_LEN).ok_or(sealwright::OpenError)?;
    apart(ad, to, text_len, "the associated data")?;
    let mut tag = [0; SEALWRIGHT_TAG_LEN];
    // SAFETY: the header says what the pointers must be. The text may lie over the tag, which is therefore taken first.
    let text = unsafe {
        tag.copy_from_slice(&bytes(from, len, "the message")?[text_len..]);
        copy(from, to, text_len, "the message or the text")?;
        bytes_mut(to, text_len, "the text")?
    };
    Ok(key.0.open_in_place(nonce, ad, text, &tag)?)
}
