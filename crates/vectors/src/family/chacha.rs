//! ChaCha20-Poly1305 and XChaCha20-Poly1305.

use sealwright::{
    Aead, Isa,
    mode::chacha::{ChaCha20Poly1305, XChaCha20Poly1305},
};

use super::{
    compare::{aead, judge, refusal},
    contract::{Family, Outcome},
};
use crate::{Case, Expected};

pub(super) struct ChaCha;

impl Family for ChaCha {
    fn has(&self, alg: &str) -> bool {
        ["CHACHA20-POLY1305", "XCHACHA20-POLY1305"].contains(&alg)
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["key", "nonce", "msg", "ct", "tag"]
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let refused = case.expected == Expected::Invalid;
        if case.tag_bits != 128 {
            return if refused { Outcome::Passed } else { Outcome::Skipped };
        }
        let Ok(key) = <&[u8; 32]>::try_from(&case.key[..]) else {
            return judge(refusal(case, "the key's length is refused".into()));
        };
        let mode: Box<dyn Aead> = match &case.alg[..] {
            "CHACHA20-POLY1305" => Box::new(ChaCha20Poly1305::at(isa, key)),
            _ => Box::new(XChaCha20Poly1305::at(isa, key)),
        };
        judge(aead(case, &*mode))
    }
}
