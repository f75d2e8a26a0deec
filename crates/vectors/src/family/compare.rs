//! Functions for all families, which compare a vector with the library's results.

use sealwright::Aead;
use sha2::{Digest, Sha256};

use super::contract::Outcome;
use crate::{
    case::{Case, CaseError, Expected},
    hex,
};

/// Passed if nothing is wrong.
pub(crate) fn judge(result: Result<(), CaseError>) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(error),
    }
}

/// The outcome for a refused key or length: an invalid case requires it, an acceptable one allows it.
pub(crate) fn refusal(case: &Case, what: CaseError) -> Result<(), CaseError> {
    if case.expected == Expected::Valid { Err(what) } else { Ok(()) }
}

/// Checks that two byte strings are equal; the error shows both.
pub(crate) fn equal(name: &str, ours: &[u8], theirs: &[u8]) -> Result<(), CaseError> {
    if ours == theirs {
        return Ok(());
    }
    Err(format!("{name} {} instead of {}", hex::brief(ours), hex::brief(theirs)).into())
}

/// Checks that `ours` is the field `name`, or has the hash in `name_sha256` if that field is null.
pub(crate) fn said(case: &Case, name: &str, ours: &[u8]) -> Result<(), CaseError> {
    if case.fields.get(name).is_some_and(|value| !value.is_null()) {
        return equal(name, ours, &case.bytes(name)?);
    }
    let hash = format!("{name}_sha256");
    equal(&hash, &Sha256::digest(ours), &case.bytes(&hash)?)
}

/// An AEAD case in both directions: sealing gives the ciphertext and tag, opening the plaintext; a forgery is refused
/// and leaves no plaintext.
pub(crate) fn aead(case: &Case, aead: &dyn Aead) -> Result<(), CaseError> {
    let mut text = case.ct.clone();
    let opened = aead.open_in_place(&case.nonce, &case.ad, &mut text, &case.tag);
    if case.expected == Expected::Invalid {
        if opened.is_ok() {
            return Err("opened, but must be refused".into());
        }
        if text.iter().any(|&byte| byte != 0) {
            return Err("refused, but left a text".into());
        }
        let sealed = aead.seal_in_place(&case.nonce, &case.ad, &mut case.msg.clone());
        return if case.nonce.is_empty() && sealed.is_ok() { Err("sealed without a nonce".into()) } else { Ok(()) };
    }
    if opened.is_err() {
        let may = case.expected == Expected::Acceptable;
        return if may { Ok(()) } else { Err("refused, but is authentic".into()) };
    }
    equal("plaintext", &text, &case.msg)?;
    let mut text = case.msg.clone();
    match aead.seal_in_place(&case.nonce, &case.ad, &mut text) {
        Ok(tag) => equal("ciphertext", &text, &case.ct).and_then(|()| equal("tag", tag.as_ref(), &case.tag))?,
        Err(error) => return Err(format!("not sealed: {error}").into()),
    }
    forgeries(case, aead)
}

/// Changes one part of an authentic case at a time: each must be refused and leave no plaintext. Published vectors
/// seldom test this.
fn forgeries(case: &Case, aead: &dyn Aead) -> Result<(), CaseError> {
    let Case { nonce, ad, ct, tag, .. } = case;
    let refused = |what: &str, nonce: &[u8], ad: &[u8], ct: &[u8], tag: &[u8]| -> Result<(), CaseError> {
        let mut text = ct.to_vec();
        if aead.open_in_place(nonce, ad, &mut text, tag).is_ok() {
            return Err(format!("opened with {what}").into());
        }
        let wiped = text.iter().all(|&byte| byte == 0);
        if wiped { Ok(()) } else { Err(format!("refused with {what}, but left a text").into()) }
    };
    let longer = |bytes: &[u8]| [bytes, &[0]].concat();
    let flipped = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 0x80;
        bytes
    };
    refused("no tag", nonce, ad, ct, &[])?;
    refused("a tag cut short", nonce, ad, ct, &tag[..tag.len() - 1])?;
    refused("a longer tag", nonce, ad, ct, &longer(tag))?;
    refused("longer associated data", nonce, &longer(ad), ct, tag)?;
    refused("a longer text", nonce, ad, &longer(ct), tag)?;
    for at in [0, tag.len() - 1] {
        refused("another tag", nonce, ad, ct, &flipped(tag, at))?;
    }
    if !nonce.is_empty() {
        refused("another nonce", &flipped(nonce, nonce.len() - 1), ad, ct, tag)?;
        refused("no nonce", &[], ad, ct, tag)?;
    }
    if !ad.is_empty() {
        refused("other associated data", nonce, &flipped(ad, ad.len() - 1), ct, tag)?;
        refused("no associated data", nonce, &[], ct, tag)?;
    }
    if !ct.is_empty() {
        refused("another text", nonce, ad, &flipped(ct, 0), tag)?;
        refused("another text", nonce, ad, &flipped(ct, ct.len() - 1), tag)?;
        refused("a text cut short", nonce, ad, &ct[..ct.len() - 1], tag)?;
    }
    Ok(())
}
