//! AES-GCM-SIV (RFC 8452) and XAES-256-GCM (C2SP): GCM with keys derived for each nonce.

use sealwright::{
    Aead, Isa,
    mode::{gcm_siv, xaes::Xaes256Gcm},
};

use super::{
    compare::{aead, judge, refusal},
    contract::{Family, Outcome},
};
use crate::{Case, Expected};

pub(super) struct GcmVariants;

impl Family for GcmVariants {
    fn has(&self, alg: &str) -> bool {
        ["AES-GCM-SIV", "XAES-256-GCM"].contains(&alg)
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["key", "nonce", "msg", "ct", "tag"]
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let refused = case.expected == Expected::Invalid;
        if case.tag_bits != 128 {
            return if refused { Outcome::Passed } else { Outcome::Skipped };
        }
        let made: Result<Box<dyn Aead>, String> = match &case.alg[..] {
            "AES-GCM-SIV" => gcm_siv::by_key(isa, &case.key).map_err(|error| error.to_string()),
            _ => match case.key[..].try_into() {
                Ok(key) => Ok(Box::new(Xaes256Gcm::new(isa, key))),
                Err(_) => Err("the key's length is refused".into()),
            },
        };
        match made {
            Ok(mode) => judge(aead(case, &*mode)),
            Err(error) => judge(refusal(case, error.into())),
        }
    }
}
