//! CBC with HMAC-SHA-256: A128CBC-HS256 of RFC 7518, and the wider AES-256-CBC-HMAC-SHA-256.

use sealwright::{
    Isa,
    mode::cbc_hmac::{self, A128CbcHs256, Aes256CbcHmac},
    raw::pkcs7_pad,
};

use super::{
    compare::{aead, equal, judge},
    contract::{Family, Outcome},
};
use crate::{Case, CaseError, Expected};

pub(super) struct CbcHmac;

/// The names, and the bits of their tags.
const ALGS: [(&str, usize); 2] = [("A128CBC-HS256", 128), ("AES-256-CBC-HMAC-SHA-256", 256)];

impl Family for CbcHmac {
    fn has(&self, alg: &str) -> bool {
        ALGS.iter().any(|(name, _)| *name == alg)
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["key", "nonce", "msg", "ct", "tag"]
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let refused = case.expected != Expected::Valid;
        if !ALGS.contains(&(&case.alg, case.tag_bits)) {
            return if refused { Outcome::Passed } else { Outcome::Skipped };
        }
        let result = match &case.alg[..] {
            "A128CBC-HS256" => case.key[..].try_into().map(|key| check(case, &A128CbcHs256::new(isa, key))),
            _ => case.key[..].try_into().map(|key| check(case, &Aes256CbcHmac::new(isa, key))),
        };
        match result {
            Ok(result) => judge(result),
            Err(_) if refused => Outcome::Passed,
            Err(_) => Outcome::Failed(format!("a key of {} bytes", case.key.len()).into()),
        }
    }
}

/// Checks both directions with padding; valid cases also without, where every change must be detected.
fn check<const KEYS: usize>(case: &Case, cbc: &cbc_hmac::CbcHmac<KEYS>) -> Result<(), CaseError> {
    let mut text = case.ct.clone();
    let opened = cbc.open(&case.nonce, &case.ad, &mut text, &case.tag);
    match (case.expected, opened) {
        (Expected::Invalid, Ok(())) => return Err("opened, but must be refused".into()),
        (Expected::Invalid, Err(_)) if text.iter().any(|&byte| byte != 0) => {
            return Err("refused, but left a text".into());
        }
        (Expected::Invalid | Expected::Acceptable, Err(_)) => return Ok(()),
        (_, Err(_)) => return Err("refused, but is authentic".into()),
        (_, Ok(())) => equal("plaintext", &text, &case.msg)?,
    }
    match cbc.seal(&case.nonce, &case.ad, &mut text) {
        Ok(tag) => equal("ciphertext", &text, &case.ct).and_then(|()| equal("tag", tag.as_ref(), &case.tag))?,
        Err(error) => return Err(format!("not sealed: {error}").into()),
    }
    let mut padded = case.clone();
    pkcs7_pad(&mut padded.msg);
    aead(&padded, cbc)
}
