//! Calls of the functions for messages under random nonces.

use std::{ffi::c_int, ptr};

use sealwright::{Key, RandomNonceKey};

use super::{ARENA, next};
use crate::{
    error::SealwrightError::{self, *},
    random::*,
};

const OVERHEAD: usize = SEALWRIGHT_RANDOM_OVERHEAD;

/// A key of the C interface, and the same key in Rust.
struct Keyed {
    theirs: *mut SealwrightRandomNonceKey,
    model: RandomNonceKey,
}

impl Keyed {
    fn new(choice: u8) -> Keyed {
        let (key, mut theirs) = ([choice; 32], ptr::null_mut());
        for len in [0, 16, 31] {
            // SAFETY: all pointers are of values that live until the call returns.
            let said = unsafe { sealwright_random_nonce_key_new(key.as_ptr(), len, &raw mut theirs) };
            assert!(said == SealwrightErrorKeyLength as c_int && theirs.is_null(), "{len} bytes: {said}");
        }
        // SAFETY: as above.
        let said = unsafe { sealwright_random_nonce_key_new(key.as_ptr(), key.len(), &raw mut theirs) };
        assert!(said == 0 && !theirs.is_null());
        Keyed { theirs, model: RandomNonceKey::xaes_256_gcm(&Key::from(key)) }
    }
}

impl Drop for Keyed {
    fn drop(&mut self) {
        // SAFETY: it came from `sealwright_random_nonce_key_new`, and is freed once.
        unsafe { sealwright_random_nonce_key_free(self.theirs) }
    }
}

/// One call, and the places of its buffers in an arena.
#[derive(Debug)]
struct Call {
    seals: bool,
    /// Where each begins, and its length.
    ad: (usize, usize),
    input: (usize, usize),
    output: (usize, usize),
    /// Which pointers are NULL: bit 0 the associated data's, 1 the input's, 2 the output's, 3 the key's.
    null: u8,
}

impl Call {
    fn of([what, ad, ad_len, input, input_len, output, null]: [u8; 7]) -> Call {
        let seals = what & 1 == 0;
        let (ad_len, len) = (usize::from(ad_len % 70), usize::from(input_len % 130));
        let output_len = if seals { len + OVERHEAD } else { len.saturating_sub(OVERHEAD) };
        let within = |at: u8, len: usize| (usize::from(at) % (ARENA - len), len);
        // Most calls have no NULL pointers.
        let null = if null & 0xf0 == 0 { null } else { 0 };
        Call { seals, ad: within(ad, ad_len), input: within(input, len), output: within(output, output_len), null }
    }

    fn is_null(&self, bit: u8) -> bool {
        self.null >> bit & 1 == 1
    }

    /// The error that these arguments alone give.
    fn refused(&self) -> Option<SealwrightError> {
        if self.is_null(3) {
            return Some(SealwrightErrorArgument);
        }
        if !self.seals && self.input.1 < OVERHEAD {
            return Some(SealwrightErrorNotAuthentic);
        }
        let absent = |bit, (_, len): (usize, usize)| self.is_null(bit) && len > 0;
        // A NULL pointer lies nowhere, but is refused anyway.
        let over = |(at, len): (usize, usize)| {
            let (to, room) = self.output;
            len > 0 && room > 0 && at < to + room && to < at + len
        };
        let wrong = absent(0, self.ad) || absent(1, self.input) || absent(2, self.output);
        (wrong || over(self.ad) || over(self.input)).then_some(SealwrightErrorArgument)
    }

    fn make(&self, key: &Keyed, arena: *mut u8) -> c_int {
        let at =
            |bit, (at, _): (usize, usize)| if self.is_null(bit) { ptr::null_mut() } else { arena.wrapping_add(at) };
        let key = if self.is_null(3) { ptr::null() } else { key.theirs };
        let call = if self.seals { sealwright_seal_random } else { sealwright_open_random };
        // SAFETY: each pointer is NULL, or has so many bytes behind it in the arena.
        unsafe { call(key, at(0, self.ad), self.ad.1, at(1, self.input), self.input.1, at(2, self.output)) }
    }
}

/// Messages under random nonces, whose buffers may overlap or be NULL. Format of the input: two bytes for the key and
/// the memory, then eight bytes per call.
pub fn random(mut bytes: &[u8]) {
    let Some([choice, seed]) = next(&mut bytes) else { return };
    let key = Keyed::new(choice);
    let mut arena: Vec<u8> = (0..ARENA).map(|at| (at as u8).wrapping_mul(seed | 1)).collect();
    while let Some([what, rest @ ..]) = next::<8>(&mut bytes) {
        let [ad, ad_len, input, input_len, output, null, change] = rest;
        let call = Call::of([what, ad, ad_len, input, input_len, output, null]);
        if !call.seals && what & 2 == 0 {
            seal_there(&key.model, &call, change, &mut arena);
        }
        let part = |arena: &[u8], (at, len): (usize, usize)| arena[at..][..len].to_vec();
        let (ad, input) = (part(&arena, call.ad), part(&arena, call.input));
        let before = arena.clone();
        let said = call.make(&key, arena.as_mut_ptr());
        let output = part(&arena, call.output);
        // Nothing but the output is written.
        let mut right = before.clone();
        right[call.output.0..][..call.output.1].copy_from_slice(&output);
        assert!(arena == right, "{call:?}");
        if let Some(error) = call.refused() {
            assert_eq!(said, error as c_int, "{call:?}");
            assert!(arena == before, "{call:?}");
        } else if call.seals {
            assert_eq!(said, 0, "{call:?}");
            assert_eq!(key.model.open(&ad, &output).as_ref(), Ok(&input), "{call:?}");
        } else {
            let text = key.model.open(&ad, &input);
            assert_eq!(said == 0, text.is_ok(), "{call:?}: {said}");
            assert!(said == 0 || said == SealwrightErrorNotAuthentic as c_int, "{call:?}: {said}");
            assert!(output == text.unwrap_or_else(|_| vec![0; call.output.1]), "{call:?}");
        }
    }
}

/// Makes the input an authentic message, possibly with one change. It is not authentic if it overlaps its associated
/// data.
fn seal_there(key: &RandomNonceKey, call: &Call, change: u8, arena: &mut [u8]) {
    let ((ad_at, ad_len), (from, len)) = (call.ad, call.input);
    let Some(text_len) = len.checked_sub(OVERHEAD) else { return };
    let message = key.seal(&arena[ad_at..][..ad_len], &arena[from..][..text_len]).expect("short enough");
    let input = &mut arena[from..][..len];
    input.copy_from_slice(&message);
    if change & 1 == 1 {
        input[usize::from(change >> 1) % len] ^= change;
    }
}
