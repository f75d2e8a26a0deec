//! One input of `more_modes`, and what holds for every mode.

use sealwright::{Aead, Isa};

use crate::message::Fault;

/// The parameters in an input. Keys, nonces and texts are the rest of its bytes.
pub(crate) struct Case {
    /// The levels that seal and open.
    pub(crate) one: Isa,
    pub(crate) other: Isa,
    pub(crate) tag: u8,
    pub(crate) nonce_len: u8,
    pub(crate) cut: u8,
    pub(crate) fault: Fault,
    pub(crate) key: [u8; 64],
    pub(crate) nonce: [u8; 32],
    pub(crate) ad: Vec<u8>,
    pub(crate) text: Vec<u8>,
}

impl Case {
    /// Bytes of the key, of those that AES takes, or Serpent.
    pub(crate) fn key(&self, choice: u8) -> &[u8] {
        &self.key[..[16, 24, 32][usize::from(choice) % 3]]
    }

    /// Whole blocks of the text.
    pub(crate) fn blocks(&self) -> Vec<u8> {
        self.text[..self.text.len() / 16 * 16].to_vec()
    }
}

/// Ciphertext and tag are `theirs`; the other level opens them, in pieces and from one buffer to another, and refuses a
/// fault.
pub(crate) fn agree(case: &Case, aeads: [Box<dyn Aead>; 2], nonce: &[u8], text: &[u8], theirs: &[u8], what: &str) {
    let [sealing, opening] = aeads;
    let (one, other, ad) = (case.one, case.other, &case.ad[..]);
    let mut sealed = text.to_vec();
    sealing.seal_vec(nonce, ad, &mut sealed).unwrap();
    assert!(sealed == theirs, "{what} at {one}");
    let (ciphertext, tag) = theirs.split_at(text.len());
    let mut pieces = ciphertext.to_vec();
    let (a, b) = pieces.split_at_mut(text.len().min(case.cut.into()));
    opening.open_scattered(nonce, ad, &mut [a, b], tag).unwrap();
    assert!(pieces == text, "{what} at {other}, in pieces");
    let mut out = vec![0xa5; text.len()];
    opening.open_to(nonce, ad, ciphertext, tag, &mut out).unwrap();
    assert!(out == text, "{what} sealed at {one}, opened at {other}");
    case.fault.is_noticed(&*opening, nonce, ad, &sealed, &format!("{what} at {other}"));
}
