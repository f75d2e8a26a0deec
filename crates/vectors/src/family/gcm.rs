//! GCM, every key, nonce and tag length of SP 800-38D.

use sealwright::{
    Isa,
    mode::gcm::{ShortTagLen, TagLen, by_key, serpent_by_key, short_tag_by_key},
};

use super::{
    compare::{aead, judge, refusal},
    contract::{Family, Outcome},
};
use crate::{Case, Expected};

pub(super) struct Gcm;

impl Family for Gcm {
    fn has(&self, alg: &str) -> bool {
        ["AES-GCM", "Serpent-GCM"].contains(&alg)
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["key", "nonce", "msg", "ct", "tag"]
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let serpent = case.alg == "Serpent-GCM";
        let make = if serpent { serpent_by_key } else { by_key };
        let made = match case.tag_bits {
            128 => make(isa, &case.key, TagLen::T16),
            120 => make(isa, &case.key, TagLen::T15),
            112 => make(isa, &case.key, TagLen::T14),
            104 => make(isa, &case.key, TagLen::T13),
            96 => make(isa, &case.key, TagLen::T12),
            64 if !serpent => short_tag_by_key(isa, &case.key, ShortTagLen::T8),
            32 if !serpent => short_tag_by_key(isa, &case.key, ShortTagLen::T4),
            // No key can be made for such a tag length: the case is refused, which is wrong for a valid case only.
            _ if case.expected == Expected::Invalid => return Outcome::Passed,
            _ => return Outcome::Skipped,
        };
        match made {
            Ok(gcm) => judge(aead(case, &*gcm)),
            Err(error) => judge(refusal(case, error.to_string().into())),
        }
    }
}
