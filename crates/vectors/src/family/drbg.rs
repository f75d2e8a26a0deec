//! Hash_DRBG. `ops` are performed in order; each is a `generate` of `bytes` bytes with additional input `add`, or a
//! `reseed`. `out` is the output of the last generate. A generate with its own `entropy` requests prediction
//! resistance. If `out` is null, `out_sha256` is its hash.

use sealwright::{
    Isa,
    drbg::{DrbgError, HashDrbg, MAX_REQUEST},
};
use serde_json::{Map, Value};

use super::{
    compare::{judge, said},
    contract::{Family, Outcome},
};
use crate::{Case, CaseError, Expected, hex};

pub(super) struct Drbg;

/// Why a case has no output.
enum Without {
    /// The generator refused, as the standard requires.
    Refused(DrbgError),
    /// The case does not request anything that a generator could answer or refuse.
    Unclear(CaseError),
}

impl Family for Drbg {
    fn has(&self, alg: &str) -> bool {
        alg == "HashDRBG-SHA256"
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["entropy", "nonce", "ops"]
    }

    /// The generator selects the best level itself.
    fn run(&self, case: &Case, _: Isa) -> Outcome {
        judge(match (case.expected, ops(case)) {
            (_, Err(Without::Unclear(what))) => Err(what),
            (Expected::Invalid, Ok(_)) => Err("answered, but must be refused".into()),
            (Expected::Invalid | Expected::Acceptable, Err(Without::Refused(_))) => Ok(()),
            (Expected::Valid, Err(Without::Refused(error))) => Err(format!("refused: {error}").into()),
            (_, Ok(out)) => said(case, "out", &out),
        })
    }
}

/// The output of the last generate.
fn ops(case: &Case) -> Result<Vec<u8>, Without> {
    let unclear = |what: &str| Without::Unclear(what.into());
    let entropy = case.bytes("entropy").map_err(Without::Unclear)?;
    let personalization = if case.text("pers").is_empty() { Ok(Vec::new()) } else { case.bytes("pers") };
    let personalization = personalization.map_err(Without::Unclear)?;
    let mut drbg = HashDrbg::instantiate(&entropy, &case.nonce, &personalization).map_err(Without::Refused)?;
    let resistant = case.fields.get("pr").and_then(Value::as_bool).unwrap_or_default();
    let mut out = None;
    let ops = case.fields.get("ops").and_then(Value::as_array).ok_or_else(|| unclear("ops is not an array"))?;
    for op in ops {
        let op = op.as_object().ok_or_else(|| unclear("an op is not an object"))?;
        let additional = bytes(op, "add")?.unwrap_or_default();
        let done = match (op.get("op").and_then(Value::as_str), bytes(op, "entropy")?) {
            (Some("reseed"), Some(entropy)) => drbg.reseed(&entropy, &additional),
            (Some("generate"), None) if resistant => return Err(unclear("a generate with pr, but without entropy")),
            (Some("generate"), entropy) => {
                let out = out.insert(vec![0; requested(op)?]);
                match entropy {
                    Some(entropy) => drbg.generate_fresh(&entropy, out, &additional),
                    None => drbg.generate(out, &additional),
                }
            }
            _ => return Err(unclear("an op is neither generate nor reseed with entropy")),
        };
        done.map_err(Without::Refused)?;
    }
    out.ok_or_else(|| unclear("nothing is generated"))
}

/// The number of bytes that a generate requests.
fn requested(op: &Map<String, Value>) -> Result<usize, Without> {
    let bytes = op.get("bytes").and_then(Value::as_u64);
    // One byte too many is refused like any larger number. A hostile file must not make us allocate more.
    let bytes = bytes.map(|bytes| bytes.min(MAX_REQUEST as u64 + 1) as usize);
    bytes.ok_or_else(|| Without::Unclear("a generate without a number of bytes".into()))
}

fn bytes(op: &Map<String, Value>, name: &str) -> Result<Option<Vec<u8>>, Without> {
    match op.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(hex::decode) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(Without::Unclear(format!("{name} is not hexadecimal").into())),
        },
    }
}
