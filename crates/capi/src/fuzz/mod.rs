//! Fuzzes the C interface with any calls that the header permits, and compares each with a model in Rust: the error
//! that it returns, and every byte of memory afterwards.

mod files;
mod random;

use std::{
    ffi::{CString, c_int, c_void},
    ptr,
};

pub use files::files;
pub use random::random;
use sealwright::{Aead, Suite};

use crate::{
    error::SealwrightError::{self, *},
    message::*,
    stream::*,
};

/// The suites in the header.
const SUITES: [Suite; 6] = [
    Suite::Aes256Gcm,
    Suite::Aes128Gcm,
    Suite::Aes256Ocb,
    Suite::Aes128Ocb,
    Suite::Serpent256Gcm,
    Suite::Serpent256Ocb,
];
const TAG: usize = SEALWRIGHT_TAG_LEN;
const NONCE: usize = SEALWRIGHT_NONCE_LEN;
/// Bytes of memory in which the buffers of a call are placed, so that they can overlap.
const ARENA: usize = 400;
/// The maximum number of messages in a batch.
const MOST: usize = 4;

/// The next bytes of the fuzzer's input, or `None` if it ends before.
fn next<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

/// A key of the C interface, and the same key in Rust.
struct Keyed {
    theirs: *mut SealwrightKey,
    model: Box<dyn Aead>,
}

impl Keyed {
    fn new(choice: u8) -> Keyed {
        let suite = SUITES[usize::from(choice) % SUITES.len()];
        let key: Vec<u8> = (0..suite.key_len()).map(|at| choice.wrapping_add(at as u8)).collect();
        let (name, mut theirs) = (CString::new(suite.name()).expect("no zero"), ptr::null_mut());
        // SAFETY: all pointers are of values that live until the call returns.
        let made = unsafe { sealwright_key_new(name.as_ptr(), key.as_ptr(), key.len(), &raw mut theirs) };
        assert!(made == 0 && !theirs.is_null());
        Keyed { theirs, model: suite.aead(&key).expect("its length") }
    }
}

impl Drop for Keyed {
    fn drop(&mut self) {
        // SAFETY: it came from `sealwright_key_new`, and is freed once.
        unsafe { sealwright_key_free(self.theirs) }
    }
}

/// The positions of a message's buffers in an arena.
#[derive(Clone, Copy, Debug)]
struct Place {
    nonce: usize,
    ad: (usize, usize),
    input: (usize, usize),
    output: usize,
    /// Which pointers are NULL: bit 0 the nonce's, 1 the associated data's, 2 the input's, 3 the output's.
    null: u8,
}

impl Place {
    /// Decodes eight bytes; every buffer is inside the arena.
    fn of([nonce, ad, ad_len, input, input_len, output, null, _]: [u8; 8]) -> Place {
        let within = |at: u8, len: usize| usize::from(at) % (ARENA - len);
        let (ad_len, input_len) = (usize::from(ad_len % 70), usize::from(input_len % 100));
        Place {
            nonce: within(nonce, NONCE),
            ad: (within(ad, ad_len), ad_len),
            input: (within(input, input_len), input_len),
            output: within(output, input_len + TAG),
            // Most calls have no NULL pointers.
            null: if null & 0xf0 == 0 { null } else { 0 },
        }
    }

    fn is_null(&self, bit: u8) -> bool {
        self.null >> bit & 1 == 1
    }

    /// The arguments of the call, as pointers into `arena`.
    fn pointers(&self, arena: *mut u8) -> [*mut u8; 4] {
        let at = |bit, at| if self.is_null(bit) { ptr::null_mut() } else { arena.wrapping_add(at) };
        [at(0, self.nonce), at(1, self.ad.0), at(2, self.input.0), at(3, self.output)]
    }
}

/// The model: applies the call's effect to an arena and returns the expected error.
fn model(key: &dyn Aead, place: &Place, seals: bool, nonce: Option<[u8; NONCE]>, arena: &mut [u8]) -> SealwrightError {
    let Some(nonce) = nonce else { return SealwrightErrorArgument };
    let ((ad_at, ad_len), (from, len)) = (place.ad, place.input);
    if ad_len > 0 && place.is_null(1) {
        return SealwrightErrorArgument;
    }
    let text_len = if seals { Some(len) } else { len.checked_sub(TAG) };
    let Some(text_len) = text_len else { return SealwrightErrorNotAuthentic };
    let whole = text_len + if seals { TAG } else { 0 };
    let apart = ad_len == 0 || whole == 0 || ad_at >= place.output + whole || place.output >= ad_at + ad_len;
    let there = |bit, len| len == 0 || !place.is_null(bit);
    if !there(2, len) || !there(3, whole) || !apart {
        return SealwrightErrorArgument;
    }
    let (ad, mut input) = (arena[ad_at..][..ad_len].to_vec(), arena[from..][..len].to_vec());
    let output = &mut arena[place.output..][..whole];
    if seals {
        let tag = key.seal_in_place(&nonce, &ad, &mut input).expect("short enough");
        output.copy_from_slice(&[&input, tag.as_ref()].concat());
        return SealwrightOk;
    }
    let (text, tag) = input.split_at_mut(text_len);
    if key.open_in_place(&nonce, &ad, text, tag).is_err() {
        output.fill(0);
        return SealwrightErrorNotAuthentic;
    }
    output.copy_from_slice(text);
    SealwrightOk
}

/// Makes the input an authentic message, possibly with one change. It is not authentic if it overlaps its nonce or its
/// associated data.
fn seal_there(key: &dyn Aead, place: &Place, what: u8, arena: &mut [u8]) {
    let ((ad_at, ad_len), (from, len)) = (place.ad, place.input);
    let Some(text_len) = len.checked_sub(TAG) else { return };
    let (nonce, ad) = (arena[place.nonce..][..NONCE].to_vec(), arena[ad_at..][..ad_len].to_vec());
    let input = &mut arena[from..][..len];
    let (text, room) = input.split_at_mut(text_len);
    room.copy_from_slice(key.seal_in_place(&nonce, &ad, text).expect("short enough").as_ref());
    input[usize::from(what) % len] ^= u8::from(what & 4 == 0);
}

/// Single messages, whose buffers may overlap or be NULL. Format of the input: two bytes for the key and the memory,
/// then eight bytes per call.
pub fn messages(mut bytes: &[u8]) {
    let Some([choice, seed]) = next(&mut bytes) else { return };
    let key = Keyed::new(choice);
    let mut arena: Vec<u8> = (0..ARENA).map(|at| (at as u8).wrapping_mul(seed | 1)).collect();
    while let Some(step) = next::<8>(&mut bytes) {
        let (place, what) = (Place::of(step), step[7]);
        let seals = what & 1 == 0;
        if !seals && what & 2 == 0 {
            seal_there(&*key.model, &place, what, &mut arena);
        }
        let mut right = arena.clone();
        let nonce = (!place.is_null(0)).then(|| arena[place.nonce..][..NONCE].try_into().expect("twelve"));
        let wanted = model(&*key.model, &place, seals, nonce, &mut right);
        let [nonce, ad, input, output] = place.pointers(arena.as_mut_ptr());
        let call = if seals { sealwright_seal } else { sealwright_open };
        let ((_, ad_len), (_, len)) = (place.ad, place.input);
        // SAFETY: each pointer is NULL, or has so many bytes behind it in the arena.
        let said = unsafe { call(key.theirs, nonce, NONCE, ad, ad_len, input, len, output) };
        assert_eq!(said, wanted as c_int, "{place:?}, sealed: {seals}");
        assert!(arena == right, "{place:?}, sealed: {seals}");
    }
}

/// Batches, each message in memory of its own. Format of the input: two bytes for the key and the memory, then one byte
/// per batch and eight per message.
pub fn batches(mut bytes: &[u8]) {
    let Some([choice, seed]) = next(&mut bytes) else { return };
    let key = Keyed::new(choice);
    while let Some([what]) = next(&mut bytes) {
        let (seals, no_key) = (what & 1 == 0, what & 0xf8 == 0xf8);
        let places: Vec<Place> =
            (0..usize::from(what >> 1) % (MOST + 1)).map_while(|_| next(&mut bytes).map(Place::of)).collect();
        let arena =
            |at: usize| (0..ARENA).map(move |byte| (byte as u8).wrapping_mul(seed | 1).wrapping_add(at as u8 & 1));
        let mut arenas: Vec<Vec<u8>> = (0..places.len()).map(|at| arena(at).collect()).collect();
        for (place, arena) in places.iter().zip(&mut arenas).filter(|_| !seals) {
            seal_there(&*key.model, place, what, arena);
        }
        let mut right = arenas.clone();
        let nonces: Vec<Option<[u8; NONCE]>> = places
            .iter()
            .zip(&arenas)
            .map(|(place, arena)| {
                (!place.is_null(0)).then(|| arena[place.nonce..][..NONCE].try_into().expect("twelve"))
            })
            .collect();
        let twice = (0..nonces.len()).any(|at| nonces[at].is_some() && nonces[..at].contains(&nonces[at]));
        let refused = no_key || (seals && twice);
        let wanted: Vec<c_int> = (0..places.len())
            .map(|at| {
                if refused {
                    return SealwrightErrorArgument as c_int;
                }
                model(&*key.model, &places[at], seals, nonces[at], &mut right[at]) as c_int
            })
            .collect();
        let mut list: Vec<SealwrightMessage> = places
            .iter()
            .zip(&mut arenas)
            .map(|(place, arena)| {
                let [nonce, ad, input, output] = place.pointers(arena.as_mut_ptr());
                let ((_, ad_len), (_, input_len)) = (place.ad, place.input);
                SealwrightMessage { nonce, ad, ad_len, input, input_len, output, error: 0 }
            })
            .collect();
        let call = if seals { sealwright_seal_batch } else { sealwright_open_batch };
        let theirs = if no_key { ptr::null() } else { key.theirs };
        // SAFETY: each pointer is NULL, or has so many bytes behind it in an arena of its own.
        let said = unsafe { call(theirs, list.as_mut_ptr(), list.len()) };
        let first = wanted.iter().copied().find(|&error| error != 0).unwrap_or(0);
        assert_eq!(said, if refused { SealwrightErrorArgument as c_int } else { first }, "{places:?}");
        assert_eq!(list.iter().map(|message| message.error).collect::<Vec<_>>(), wanted, "{places:?}");
        assert!(arenas == right, "{places:?}");
    }
}

/// The state of the caller's functions for streams.
#[derive(Default)]
struct State {
    stream: Vec<u8>,
    /// The position of the next read.
    at: usize,
    calls: usize,
    /// A bit for each of 64 calls, repeated: whether it fails.
    fails: u64,
    /// Whether a failing read reports success, with more bytes than requested.
    lies: bool,
}

impl State {
    fn fails(&mut self) -> bool {
        self.calls += 1;
        self.fails >> ((self.calls - 1) % 64) & 1 == 1
    }
}

unsafe extern "C" fn write(state: *mut c_void, bytes: *const u8, len: usize) -> c_int {
    // SAFETY: `streams` gave this state, and the library `len` bytes.
    let (state, bytes) = unsafe { (&mut *state.cast::<State>(), std::slice::from_raw_parts(bytes, len)) };
    if state.fails() {
        return 7;
    }
    state.stream.extend_from_slice(bytes);
    0
}

unsafe extern "C" fn read(state: *mut c_void, bytes: *mut u8, len: usize, got: *mut usize) -> c_int {
    // SAFETY: `streams` gave this state, and the library room for `len` bytes and a number.
    let (state, got) = unsafe { (&mut *state.cast::<State>(), &mut *got) };
    if state.fails() {
        *got = len.wrapping_add(1);
        return if state.lies { 0 } else { 7 };
    }
    let left = &state.stream[state.at..];
    *got = left.len().min(len).min(1 + state.calls % 5000);
    // SAFETY: as above; the stream is elsewhere.
    unsafe { ptr::copy_nonoverlapping(left.as_ptr(), bytes, *got) };
    state.at += *got;
    0
}

/// A stream that is written and finished in any order with a write function that may fail, then read, possibly changed,
/// with a read function that may fail.
pub fn streams(mut bytes: &[u8]) {
    let Some([choice, steps, change, how]) = next(&mut bytes) else { return };
    let Some(fails) = next(&mut bytes).map(u64::from_be_bytes) else { return };
    let Some(read_fails) = next(&mut bytes).map(u64::from_be_bytes) else { return };
    let suite = SUITES[usize::from(choice) % 4];
    let (name, key) = (CString::new(suite.name()).expect("no zero"), vec![choice; suite.key_len()]);
    let mut state = State { fails: if how & 1 == 0 { 0 } else { fails }, ..State::default() };
    let mut sealer = ptr::null_mut();
    let to = (&raw mut state).cast();
    // SAFETY: all pointers are of values that live until the call returns, the state until the sealer is freed.
    let made = unsafe {
        sealwright_sealer_new(name.as_ptr(), key.as_ptr(), key.len(), ptr::null(), 0, Some(write), to, &raw mut sealer)
    };
    assert_eq!(made == 0, !sealer.is_null());
    // The text that was certainly written, and the text that may have been written in part.
    let (mut text, mut part) = (Vec::new(), Vec::new());
    let (mut cut, mut ending, mut whole) = (made != 0, false, false);
    for _ in 0..steps % 12 {
        let Some([high, low]) = next(&mut bytes) else { break };
        if sealer.is_null() {
            break;
        }
        if high & 0xe0 == 0xe0 {
            // SAFETY: the sealer is there, and used by nobody else.
            let said = unsafe { sealwright_sealer_finish(sealer) };
            assert!(!cut || said == SealwrightErrorEnded as c_int, "{said}");
            assert!(cut || [0, SealwrightErrorIo as c_int].contains(&said), "{said}");
            assert!(!whole || said == 0, "an end that was written stays one: {said}");
            ending = true;
            cut |= said != 0;
            whole |= said == 0;
            continue;
        }
        let more = vec![low; usize::from(u16::from_be_bytes([high, low]) % 40_000)];
        // SAFETY: as above; the text lives until the call returns.
        let said = unsafe { sealwright_sealer_write(sealer, more.as_ptr(), more.len()) };
        if cut || ending {
            assert_eq!(said, SealwrightErrorEnded as c_int, "{} bytes behind the end", more.len());
        } else if said == 0 {
            text.extend_from_slice(&more);
        } else {
            assert_eq!(said, SealwrightErrorIo as c_int);
            (cut, part) = (true, more);
        }
    }
    // SAFETY: it came from `sealwright_sealer_new`, or is NULL, and is freed once.
    unsafe { sealwright_sealer_free(sealer) }

    let changed = change & 3 == 3 && !state.stream.is_empty();
    if changed {
        let at = fails as usize % state.stream.len();
        if change & 4 == 0 { state.stream[at] ^= change | 1 } else { state.stream.truncate(at) }
    }
    (state.at, state.calls, state.lies) = (0, 0, how & 2 == 2);
    state.fails = if how & 4 == 0 { 0 } else { read_fails };
    let (mut opener, from) = (ptr::null_mut(), (&raw mut state).cast());
    // SAFETY: as for the sealer.
    let made = unsafe {
        sealwright_opener_new(name.as_ptr(), key.as_ptr(), key.len(), ptr::null(), 0, Some(read), from, &raw mut opener)
    };
    assert_eq!(made == 0, !opener.is_null());
    let (mut opened, mut proven, mut failed) = (Vec::new(), false, made != 0);
    // Enough rounds to read everything: four read at least two chunks, and eleven writes fill at most 27.
    for turn in 0..64_usize {
        if opener.is_null() {
            break;
        }
        let (mut room, mut got) =
            (vec![0xa5; [1, 100, 16_384, 70_000][(turn + usize::from(how >> 4)) % 4]], usize::MAX);
        // SAFETY: the opener is there, and used by nobody else; there is as much room as is said.
        let said = unsafe { sealwright_opener_read(opener, room.as_mut_ptr(), room.len(), &raw mut got) };
        assert!(got <= room.len() && (said == 0 || got == 0), "{got} bytes, {said}");
        opened.extend_from_slice(&room[..got]);
        failed |= said != 0;
        proven |= said == 0 && got == 0;
    }
    // SAFETY: as for the sealer.
    unsafe { sealwright_opener_free(opener) }
    assert!([&text[..], &part].concat().starts_with(&opened), "other text came");
    assert!(!proven || (whole && !changed && opened == text), "an end that was not written, or not there");
    let opens = whole && !changed;
    assert!(!opens || how & 4 != 0 || !failed && proven, "a whole stream opens");
}
