//! Messages that each carry a random nonce.

use std::ffi::c_int;

use sealwright::{Key, OpenError, RandomNonceKey};

use crate::{
    error::guard,
    message::SEALWRIGHT_TAG_LEN,
    pointer::{apart, borrow, bytes, bytes_mut, clear, free, give},
};

/// By how many bytes a message of sealwright_seal_random is longer than its text: a nonce of 24 bytes, and the tag.
pub const SEALWRIGHT_RANDOM_OVERHEAD: usize = 24 + SEALWRIGHT_TAG_LEN;

/// A key for messages that each carry a random nonce (XAES-256-GCM): the safe choice for a key that is stored or used
/// by several programs, as nobody has to count nonces. Freed by sealwright_random_nonce_key_free, which wipes it.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightRandomNonceKey(RandomNonceKey);

/// Makes a key from 32 random bytes, which are copied. Free the key with sealwright_random_nonce_key_free. Returns
/// SEALWRIGHT_ERROR_KEY_LENGTH for any other length.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_random_nonce_key_new(
    key: *const u8,
    key_len: usize,
    result: *mut *mut SealwrightRandomNonceKey,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        let key = Key::try_from(bytes(key, key_len, "the key")?)?;
        give(result, SealwrightRandomNonceKey(RandomNonceKey::xaes_256_gcm(&key)))
    })
}

/// Frees and wipes a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_random_nonce_key_free(key: *mut SealwrightRandomNonceKey) {
    // SAFETY: the header says what the pointer must be.
    unsafe { free(key) }
}

/// Seals `text` under a new random nonce: writes nonce, ciphertext and tag, text_len + SEALWRIGHT_RANDOM_OVERHEAD
/// bytes, to `message`, which must not overlap the text or the associated data.
///
/// Returns SEALWRIGHT_ERROR_ARGUMENT if it does; SEALWRIGHT_ERROR_TOO_LONG if the text is longer than 64 GiB;
/// SEALWRIGHT_ERROR_RANDOM if the operating system has no random bytes. After an error, `message` contains nothing of
/// the text.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_seal_random(
    key: *const SealwrightRandomNonceKey,
    ad: *const u8,
    ad_len: usize,
    text: *const u8,
    text_len: usize,
    message: *mut u8,
) -> c_int {
    // SAFETY: the header says what the pointers must be, and `apart` checks that the output overlaps no input.
    guard(|| unsafe {
        let key = borrow(key, "the key")?;
        let (ad, text) = (bytes(ad, ad_len, "the associated data")?, bytes(text, text_len, "the text")?);
        let whole = text_len + SEALWRIGHT_RANDOM_OVERHEAD;
        apart(ad, message, whole, "the associated data")?;
        apart(text, message, whole, "the text")?;
        Ok(key.0.seal_to(ad, text, bytes_mut(message, whole, "the message")?)?)
    })
}

/// Opens a message of sealwright_seal_random: writes message_len - SEALWRIGHT_RANDOM_OVERHEAD bytes to `text`, which
/// are the text if the message is authentic and zeros otherwise. `text` must not overlap the message or the associated
/// data.
///
/// Returns SEALWRIGHT_ERROR_NOT_AUTHENTIC if the message or the associated data is not what was sealed under this key,
/// and for a message shorter than SEALWRIGHT_RANDOM_OVERHEAD, for which nothing is written; SEALWRIGHT_ERROR_ARGUMENT
/// if `text` overlaps the message or the associated data.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_open_random(
    key: *const SealwrightRandomNonceKey,
    ad: *const u8,
    ad_len: usize,
    message: *const u8,
    message_len: usize,
    text: *mut u8,
) -> c_int {
    // SAFETY: the header says what the pointers must be, and `apart` checks that the output overlaps no input.
    guard(|| unsafe {
        let key = borrow(key, "the key")?;
        let text_len = message_len.checked_sub(SEALWRIGHT_RANDOM_OVERHEAD).ok_or(OpenError)?;
        let (ad, message) = (bytes(ad, ad_len, "the associated data")?, bytes(message, message_len, "the message")?);
        apart(ad, text, text_len, "the associated data")?;
        apart(message, text, text_len, "the message")?;
        Ok(key.0.open_to(ad, message, bytes_mut(text, text_len, "the text")?)?)
    })
}
