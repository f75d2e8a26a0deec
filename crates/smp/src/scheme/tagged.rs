//! What the schemes share that encrypt each line with AES-GCM, under an IV and a tag of its own.

use sealwright::Aead;

use super::unit::SchemeCounters;
use crate::{
    engine::{Cycle, Engine},
    message::{Detector, LONGEST_TAG, Message},
};

/// The sender encrypts a line, which then carries its tag.
pub(super) fn seal(aead: &dyn Aead, iv: &[u8; 12], ad: &[u8], message: &mut Message) {
    let tag = aead.seal_in_place(iv, ad, message.text_mut()).expect("a line is a short text");
    let mut bytes = [0; LONGEST_TAG];
    bytes.copy_from_slice(tag.as_ref());
    message.tag = Some(bytes);
}

/// The receiver checks a line's tag and decrypts the line.
pub(super) fn open(aead: &dyn Aead, iv: &[u8; 12], ad: &[u8], message: &mut Message) -> Result<(), Detector> {
    let tag = message.tag.unwrap_or_default();
    aead.open_in_place(iv, ad, message.text_mut(), &tag).map_err(|_| Detector::Tag)
}

/// When the receiver of a line that has arrived at `now` has checked it; its plaintext is there at `plain`. GHASH runs
/// over the ciphertext, so it does not wait for the pad, one block of which masks the tag.
pub(super) fn checked(
    ghash: &mut Engine,
    message: &Message,
    (now, plain): (Cycle, Cycle),
    counters: &mut SchemeCounters,
) -> Cycle {
    let checked = ghash.line(now).max(plain).max(message.tag_arrives(now));
    counters.authentication_cycles += checked - plain;
    checked
}
