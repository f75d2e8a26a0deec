//! OCB3 (RFC 7253) with every tag length: single cases, the RFC's iterated test, and one long text.

use sealwright::{
    Aead, Isa, KeyLengthError,
    mode::ocb::{self, TagLen},
};
use sha1::{Digest, Sha1};

use super::{
    compare::{aead, equal, judge, refusal},
    contract::{Family, Outcome},
};
use crate::{Case, CaseError, Expected};

pub(super) struct Ocb;

/// Makes OCB over the cipher in the first part of a name.
type Make = fn(Isa, &[u8], TagLen) -> Result<Box<dyn Aead>, KeyLengthError>;

/// The kinds of tests.
#[derive(Clone, Copy)]
enum Test {
    /// One text.
    Single,
    /// RFC 7253, appendix A.
    Iterated,
    /// libgcrypt's long text, the same as associated data.
    Long,
}

/// The cipher and the test in a name.
fn parts(alg: &str) -> Option<(Make, Test)> {
    let (cipher, rest) = alg.split_once('-')?;
    let make: Make = match cipher {
        "AES" => ocb::by_key,
        "Serpent" => ocb::serpent_by_key,
        _ => return None,
    };
    let test = match rest {
        "OCB" => Test::Single,
        "OCB-ITER" => Test::Iterated,
        "OCB-LARGE" => Test::Long,
        _ => return None,
    };
    Some((make, test))
}

impl Family for Ocb {
    fn has(&self, alg: &str) -> bool {
        parts(alg).is_some()
    }

    fn needs(&self, alg: &str) -> &'static [&'static str] {
        let single = matches!(parts(alg), Some((_, Test::Single)));
        if single { &["key", "nonce", "msg", "ct", "tag"] } else { &["key", "tag"] }
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let Some((make, test)) = parts(&case.alg) else { return Outcome::Skipped };
        let refused = case.expected == Expected::Invalid;
        let tag_len = match case.tag_bits {
            128 => TagLen::T16,
            96 => TagLen::T12,
            64 => TagLen::T8,
            // No key can be made for such a tag length: the case is refused, which is wrong for a valid case only.
            _ if refused => return Outcome::Passed,
            _ => return Outcome::Skipped,
        };
        let ocb = match make(isa, &case.key, tag_len) {
            Ok(ocb) => ocb,
            Err(error) => return judge(refusal(case, error.to_string().into())),
        };
        judge(match test {
            Test::Single => aead(case, &*ocb),
            Test::Iterated | Test::Long if refused => Err("nothing in such a test can be refused".into()),
            Test::Iterated => iterated(case, &*ocb),
            Test::Long => long(case, &*ocb),
        })
    }
}

/// Returns the ciphertext followed by the tag.
fn seal(ocb: &dyn Aead, nonce: &[u8], ad: &[u8], text: &[u8]) -> Result<Vec<u8>, CaseError> {
    let mut sealed = text.to_vec();
    let tag = ocb.seal_in_place(nonce, ad, &mut sealed).map_err(|error| format!("not sealed: {error}"))?;
    let mut opened = sealed.clone();
    ocb.open_in_place(nonce, ad, &mut opened, tag.as_ref()).map_err(|_| "refused, but is authentic")?;
    equal("plaintext", &opened, text)?;
    sealed.extend_from_slice(tag.as_ref());
    Ok(sealed)
}

/// Seals zeros of each length up to 127 as text and associated data, as text alone, and as associated data alone, under
/// nonces 1 to 384; then all the results as associated data.
fn iterated(case: &Case, ocb: &dyn Aead) -> Result<(), CaseError> {
    let nonce = |number: usize| {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&(number as u64).to_be_bytes());
        nonce
    };
    let mut all = Vec::new();
    for length in 0..128 {
        let zeros = vec![0; length];
        all.extend(seal(ocb, &nonce(3 * length + 1), &zeros, &zeros)?);
        all.extend(seal(ocb, &nonce(3 * length + 2), &[], &zeros)?);
        all.extend(seal(ocb, &nonce(3 * length + 3), &zeros, &[])?);
    }
    equal("output", &seal(ocb, &nonce(385), &all, &[])?, &case.tag)
}

/// Seals 2 MiB and 32 bytes: at each offset 0, 16, 32, .. the first 16 bytes of the SHA-1 of the offset, as a 32-bit
/// little-endian number.
fn long(case: &Case, ocb: &dyn Aead) -> Result<(), CaseError> {
    let place = |at: u32| Sha1::digest(at.to_le_bytes());
    let text: Vec<u8> = (0..(2 << 20) + 32).step_by(16).flat_map(|at| place(at)[..16].to_vec()).collect();
    let sealed = seal(ocb, &case.nonce, &text, &text)?;
    equal("tag", &sealed[text.len()..], &case.tag)
}
