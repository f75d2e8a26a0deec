//! RKC, in the reading that the case states: `seed` is v or df, `draw` is block or all; defaults are those of RKC-R.
//! `ct` may be given by its hash, `ct_sha256`.

use sealwright::{
    Aead, Isa,
    mode::rkc::{Draw, Reading, Rkc, SeedUse},
};
use serde_json::Value;

use super::{
    compare::{aead, equal, judge, said},
    contract::{Family, Outcome},
};
use crate::{Case, CaseError, Expected};

pub(super) struct RandomKeyChaining;

impl Family for RandomKeyChaining {
    fn has(&self, alg: &str) -> bool {
        alg == "RKC"
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["key", "seed", "msg", "tag"]
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let reading = match reading(case) {
            Ok(reading) => reading,
            Err(what) => return Outcome::Failed(what),
        };
        let refused = case.expected != Expected::Valid;
        match case.key[..].try_into() {
            // T is the whole SHA-256.
            Ok(_) if case.tag_bits != 256 => {
                if refused {
                    Outcome::Passed
                } else {
                    Outcome::Skipped
                }
            }
            Ok(key) => judge(check(case, &Rkc::research_only_reading(isa, key, reading))),
            Err(_) if refused => Outcome::Passed,
            Err(_) => Outcome::Failed(format!("a key of {} bytes", case.key.len()).into()),
        }
    }
}

fn reading(case: &Case) -> Result<Reading, CaseError> {
    let named = |name: &str| match case.fields.get("reading").and_then(|reading| reading.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| format!("reading.{name} is not a string")),
    };
    let seed = match named("seed")? {
        None | Some("v") => SeedUse::V,
        Some("df") => SeedUse::Df,
        Some(other) => return Err(format!("reading.seed is '{other}', neither v nor df").into()),
    };
    let draw = match named("draw")? {
        None | Some("block") => Draw::Block,
        Some("all") => Draw::All,
        Some(other) => return Err(format!("reading.draw is '{other}', neither block nor all").into()),
    };
    Ok(Reading { seed, draw })
}

fn check(case: &Case, rkc: &Rkc) -> Result<(), CaseError> {
    let mut case = case.clone();
    case.nonce = case.bytes("seed")?;
    if case.fields.get("ct").is_some_and(|ct| !ct.is_null()) {
        // The tag of an empty text is the same under every key and seed, so that hardly anything about it can be
        // forged.
        return if case.ct.is_empty() { nothing(&case, rkc) } else { aead(&case, rkc) };
    }
    // Only the hash of the ciphertext is known: the one computed here is opened.
    let mut ciphertext = case.msg.clone();
    let sealed = rkc.seal_in_place(&case.nonce, &case.ad, &mut ciphertext).map_err(|error| error.to_string().into());
    let same = sealed.and_then(|_| said(&case, "ct", &ciphertext));
    if let (Expected::Invalid | Expected::Acceptable, Err(_)) = (case.expected, &same) {
        return Ok(());
    }
    same?;
    case.ct = ciphertext;
    aead(&case, rkc)
}

/// A message of no blocks.
fn nothing(case: &Case, rkc: &Rkc) -> Result<(), CaseError> {
    let opened = rkc.open_in_place(&case.nonce, &case.ad, &mut [], &case.tag).is_ok();
    let mut text = case.msg.clone();
    let sealed = rkc.seal_in_place(&case.nonce, &case.ad, &mut text).map_err(|error| format!("not sealed: {error}"));
    match case.expected {
        Expected::Invalid if opened => Err("opened, but must be refused".into()),
        Expected::Invalid | Expected::Acceptable => Ok(()),
        Expected::Valid if !opened => Err("refused, but is authentic".into()),
        Expected::Valid => {
            equal("tag", sealed?.as_ref(), &case.tag).and_then(|()| equal("ciphertext", &text, &case.ct))
        }
    }
}
