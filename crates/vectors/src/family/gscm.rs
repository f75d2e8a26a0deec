//! AES2S and GSCM, as in the paper (broken, research only) and hardened.

use sealwright::{
    Block, Isa,
    block::{
        Expanded,
        aes::{Aes, Aes128, Aes192, Aes256},
        aes2s::{AsPrinted, K2Position, LastRound, SecondaryKeys},
    },
    mode::{ecb, gscm},
};

use super::{
    compare::{aead, equal, judge},
    contract::{Family, Outcome},
};
use crate::{Case, CaseError, Expected};

pub(super) struct Gscm;

impl Family for Gscm {
    fn has(&self, alg: &str) -> bool {
        ["AES2S-ECB", "AES2S-H-ECB", "GSCM", "GSCM-H"].contains(&alg)
    }

    fn needs(&self, alg: &str) -> &'static [&'static str] {
        let ecb = alg.ends_with("ECB");
        if ecb { &["key", "k1", "k2", "msg", "ct"] } else { &["key", "k1", "k2", "nonce", "msg", "ct", "tag"] }
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let result = match (secondary(case, "k1"), secondary(case, "k2")) {
            (Ok(k1), Ok(k2)) => one(case, isa, &SecondaryKeys { k1, k2 }),
            (Err(what), _) | (_, Err(what)) => Err(what),
        };
        result.unwrap_or_else(|what| match case.expected {
            Expected::Valid => Outcome::Failed(what),
            Expected::Invalid | Expected::Acceptable => Outcome::Passed,
        })
    }
}

/// One of the client's keys.
fn secondary(case: &Case, name: &str) -> Result<Block, CaseError> {
    let bytes = case.bytes(name)?;
    Block::try_from(&bytes[..]).map_err(|_| format!("{name} of {} bytes", bytes.len()).into())
}

/// Runs a case; an error if the key's length is refused.
fn one(case: &Case, isa: Isa, keys: &SecondaryKeys) -> Result<Outcome, CaseError> {
    let client = match &case.alg[..] {
        "AES2S-ECB" => return schedule::<AsPrinted>(case, isa, keys),
        "AES2S-H-ECB" => return schedule::<LastRound>(case, isa, keys),
        _ if case.tag_bits != 128 && case.expected == Expected::Invalid => return Ok(Outcome::Passed),
        _ if case.tag_bits != 128 => return Ok(Outcome::Skipped),
        "GSCM" => gscm::research_only_by_key(isa, &case.key, keys),
        _ => gscm::by_key(isa, &case.key, keys),
    };
    let client = client.map_err(|error| error.to_string())?;
    Ok(judge(aead(case, &*client)))
}

/// AES2S on the schedule of the cluster's key.
fn schedule<P: K2Position>(case: &Case, isa: Isa, keys: &SecondaryKeys) -> Result<Outcome, CaseError> {
    let key = &case.key[..];
    if let Ok(key) = key.try_into() {
        return Ok(blocks::<P, _>(case, isa, &Aes128::new(isa, key), keys));
    }
    if let Ok(key) = key.try_into() {
        return Ok(blocks::<P, _>(case, isa, &Aes192::new(isa, key), keys));
    }
    match key.try_into() {
        Ok(key) => Ok(blocks::<P, _>(case, isa, &Aes256::new(isa, key), keys)),
        Err(_) => Err(format!("a key of {} bytes", key.len()).into()),
    }
}

/// Encrypts whole blocks: AES2S is never used for decryption.
fn blocks<P: K2Position, const KEYS: usize>(
    case: &Case,
    isa: Isa,
    schedule: &Aes<Expanded<KEYS>>,
    keys: &SecondaryKeys,
) -> Outcome {
    let mut text = case.msg.clone();
    let result = if text.len().is_multiple_of(16) {
        ecb::encrypt(isa, &schedule.substituted::<P>(keys), &mut text);
        equal("ciphertext", &text, &case.ct)
    } else {
        Err(format!("{} bytes are not whole blocks", text.len()).into())
    };
    match (case.expected, result) {
        (Expected::Invalid, Ok(())) => Outcome::Failed("accepted, but must be refused".into()),
        (Expected::Invalid | Expected::Acceptable, _) => Outcome::Passed,
        (Expected::Valid, result) => judge(result),
    }
}
