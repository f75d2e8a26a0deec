//! A case from the fields of a JSON object.

use serde_json::{Map, Value};

use crate::{
    case::{Case, CaseError, Expected},
    family, hex,
};

/// Reads a case, with the algorithm and tag length of its group.
///
/// If no family supports the algorithm, only its name is read, because the meaning of the other fields is unknown.
pub(crate) fn case(
    fields: Map<String, Value>,
    alg: Option<&str>,
    tag_bits: Option<usize>,
    place: String,
) -> Result<Case, CaseError> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let alg = alg.or(text("alg")).ok_or("no alg")?.to_owned();
    let Some(family) = family::of(&alg) else { return Ok(Case::unknown(alg, place)) };
    let there = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    let nonce = if there("iv") { "iv" } else { "nonce" };
    if there("nonce") && nonce == "iv" {
        return Err("nonce and iv are two names of one field: leave one out".into());
    }
    let bytes = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(digits)) => {
            hex::decode(digits).ok_or_else(|| format!("{name} is not an even number of hexadecimal digits"))
        }
        Some(_) => Err(format!("{name} is not a string")),
    };
    let expected = match text("result") {
        Some("valid") => Expected::Valid,
        Some("invalid") => Expected::Invalid,
        Some("acceptable") => Expected::Acceptable,
        Some(other) => return Err(format!("result is '{other}', not valid, invalid or acceptable").into()),
        None => return Err("no result".into()),
    };
    for &name in family.needs(&alg) {
        // A forgery has no plaintext.
        let unsaid = name == "msg" && expected == Expected::Invalid;
        let said = there(if name == "nonce" { nonce } else { name });
        if !said && !unsaid {
            return Err(format!("no {name}, which {alg} needs").into());
        }
    }
    let tag = bytes("tag")?;
    let own_bits = fields.get("taglen").filter(|bits| !bits.is_null());
    let own_bits = match own_bits.map(|bits| bits.as_u64().map(usize::try_from)) {
        None => None,
        Some(Some(Ok(bits))) => Some(bits),
        Some(_) => return Err("taglen is not a number of bits".into()),
    };
    Ok(Case {
        key: bytes("key")?,
        nonce: bytes(nonce)?,
        ad: bytes("aad")?,
        msg: bytes("msg")?,
        ct: bytes("ct")?,
        tag_bits: own_bits.or(tag_bits).unwrap_or(tag.len() * 8),
        tag,
        expected,
        alg,
        comment: text("comment").unwrap_or_default().to_owned(),
        place,
        fields,
    })
}
