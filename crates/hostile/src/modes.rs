//! Compares suites with other implementations, and with themselves at other levels.

use std::sync::Arc;

use sealwright::{
    InPieces, Isa, Suite,
    mode::{gcm, ocb},
};

use crate::{
    message::{Fault, More, grown, take},
    referees::{agree_in_c, by_aws_lc, by_rustcrypto, in_c},
};

/// The suite's mode in pieces, if it has them, and how many bytes they are multiples of.
fn in_pieces(isa: Isa, suite: Suite, key: &[u8]) -> Option<(Arc<dyn InPieces>, usize)> {
    match suite {
        Suite::Aes128Gcm | Suite::Aes256Gcm => Some((gcm::pieces_by_key(isa, key, gcm::TagLen::T16).unwrap(), 1)),
        Suite::Aes128Ocb | Suite::Aes256Ocb => Some((ocb::pieces_by_key(isa, key, ocb::TagLen::T16).unwrap(), 16)),
        _ => None,
    }
}

/// The input names a suite, two levels, a way to cut the text and a fault, and holds nonce, associated data and text.
/// All implementations and both levels agree; the fault is noticed, and leaves no text.
///
/// If the first byte is 128 or more, the key, the length to which the text is repeated and the part with the fault
/// follow the nonce; otherwise the key is made of one byte, and the fault is in text or tag.
pub(crate) fn modes(bytes: &[u8]) {
    let Some((&[suite, levels, ad_len, cut, fault, fault_at, key], rest)) = bytes.split_first_chunk() else { return };
    let Some((nonce, mut rest)) = rest.split_first_chunk::<12>() else { return };
    let (mut whole_key, mut more) = (std::array::from_fn::<u8, 32, _>(|i| (i as u8).wrapping_mul(key)), None);
    if suite & 128 != 0 {
        (whole_key, more) = (take(&mut rest), Some(More::take(&mut rest)));
    }
    let (ad, text) = rest.split_at(rest.len().min(ad_len.into()));
    let text = &grown(text, more.as_ref().map_or(0, |more| more.len))[..];
    let fault = Fault::new(fault, fault_at, more.as_ref());
    let suite = Suite::ALL[usize::from(suite & 127) % Suite::ALL.len()];
    let all: Vec<Isa> = Isa::available();
    let [one, other] = [levels & 15, levels >> 4].map(|level| all[usize::from(level) % all.len()]);
    let key = &whole_key[..suite.key_len()];
    let (sealing, opening) = (suite.aead_at(one, key).unwrap(), suite.aead_at(other, key).unwrap());

    let mut sealed = text.to_vec();
    let tag = sealing.seal_in_place(nonce, ad, &mut sealed).unwrap();
    sealed.extend_from_slice(tag.as_ref());
    let referees = [
        ("RustCrypto", by_rustcrypto(suite, key, nonce, ad, text)),
        ("AWS-LC", by_aws_lc(suite, key, nonce, ad, text)),
    ];
    assert!(referees.iter().any(|(_, theirs)| theirs.is_some()), "{suite} has no referee");
    for (who, theirs) in referees {
        assert!(theirs.is_none_or(|theirs| theirs == sealed), "{suite} at {one} is not as {who} has it");
    }
    if let Some(algorithm) = in_c(suite) {
        agree_in_c(algorithm, key, nonce, ad, text, &sealed);
    }

    // In pieces, and from one buffer to another, at the other level
    let mut pieces = text.to_vec();
    let (a, b) = pieces.split_at_mut(text.len().min(cut.into()));
    assert_eq!(opening.seal_scattered(nonce, ad, &mut [a, b]).unwrap(), tag, "{suite} at {other}");
    assert!(pieces == sealed[..text.len()], "{suite} at {other}, scattered");
    if let Some((key, unit)) = in_pieces(other, suite, key) {
        let mut message = key.begin(nonce, ad).unwrap();
        let mut pieces = text.to_vec();
        // Small pieces of a long text would only take time
        let piece = (usize::from(cut) + 1).max(text.len() / 64).next_multiple_of(unit);
        for piece in pieces.chunks_mut(piece) {
            message.seal(piece).unwrap();
            message = message.duplicate();
        }
        assert_eq!(message.finish(), tag, "{suite} at {other}, in pieces");
        assert!(pieces == sealed[..text.len()], "{suite} at {other}, in pieces");
    }
    let (ciphertext, tag) = sealed.split_at(text.len());
    let mut out = vec![0xa5; text.len()];
    opening.open_to(nonce, ad, ciphertext, tag, &mut out).unwrap();
    assert!(out == text, "{suite} sealed at {one}, opened at {other}");
    fault.is_noticed(&*opening, nonce, ad, &sealed, &format!("{suite} at {other}"));
}
