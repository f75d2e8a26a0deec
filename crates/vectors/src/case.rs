//! One test case, whatever file it came from.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::{family, hex};

/// What is wrong with a case: it cannot be read, or the library computes something else.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct CaseError(String);

impl From<String> for CaseError {
    fn from(what: String) -> Self {
        CaseError(what)
    }
}

impl From<&str> for CaseError {
    fn from(what: &str) -> Self {
        CaseError(what.to_owned())
    }
}

/// What a vector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Must be accepted, with exactly these values.
    Valid,
    /// Must be refused.
    Invalid,
    /// May be refused; if accepted, with these values.
    Acceptable,
}

/// One test case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The algorithm's name.
    pub alg: String,
    /// The key.
    pub key: Vec<u8>,
    /// The nonce, or the IV or first counter block of modes that have one.
    pub nonce: Vec<u8>,
    /// Associated data.
    pub ad: Vec<u8>,
    /// The plaintext.
    pub msg: Vec<u8>,
    /// The ciphertext.
    pub ct: Vec<u8>,
    /// The tag.
    pub tag: Vec<u8>,
    /// The tag length that the key is configured for, in bits.
    pub tag_bits: usize,
    /// Accepted or refused.
    pub expected: Expected,
    /// What the vector is about.
    pub comment: String,
    /// Line or test number.
    pub place: String,
    /// Every field as it stood, for algorithms with fields of their own.
    pub fields: Map<String, Value>,
}

impl Case {
    /// A case from the fields of a JSON object, with the algorithm and tag length of the group it may stand in.
    ///
    /// Of an algorithm that no family has, only the name is read: what its fields hold is not ours to judge.
    pub(crate) fn from_fields(
        fields: Map<String, Value>,
        alg: Option<&str>,
        tag_bits: Option<usize>,
        place: String,
    ) -> Result<Case, CaseError> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let alg = alg.or(text("alg")).ok_or("no alg")?.to_owned();
        let Some(family) = family::of(&alg) else { return Ok(Case::unknown(alg, place)) };
        let bytes = |name: &str, other: &str| match fields.get(name).or_else(|| fields.get(other)) {
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
        let there = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
        for &name in family.needs(&alg) {
            // Nobody knows what a forgery would have said.
            let unsaid = name == "msg" && expected == Expected::Invalid;
            let said = there(name) || (name == "nonce" && there("iv"));
            if !said && !unsaid {
                return Err(format!("no {name}, which {alg} needs").into());
            }
        }
        let tag = bytes("tag", "tag")?;
        let own_bits = fields.get("taglen").filter(|bits| !bits.is_null());
        let own_bits = match own_bits.map(|bits| bits.as_u64().map(usize::try_from)) {
            None => None,
            Some(Some(Ok(bits))) => Some(bits),
            Some(_) => return Err("taglen is not a number of bits".into()),
        };
        Ok(Case {
            key: bytes("key", "key")?,
            nonce: bytes("nonce", "iv")?,
            ad: bytes("aad", "aad")?,
            msg: bytes("msg", "msg")?,
            ct: bytes("ct", "ct")?,
            tag_bits: own_bits.or(tag_bits).unwrap_or(tag.len() * 8),
            tag,
            expected,
            alg,
            comment: text("comment").unwrap_or_default().to_owned(),
            place,
            fields,
        })
    }

    /// A case of an algorithm that no family has.
    fn unknown(alg: String, place: String) -> Case {
        let nothing = Vec::new;
        Case {
            alg,
            key: nothing(),
            nonce: nothing(),
            ad: nothing(),
            msg: nothing(),
            ct: nothing(),
            tag: nothing(),
            tag_bits: 0,
            expected: Expected::Acceptable,
            comment: String::new(),
            place,
            fields: Map::new(),
        }
    }

    /// A field of hexadecimal digits that only some algorithms have.
    ///
    /// # Errors
    /// Says which field is missing or is not hexadecimal.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, CaseError> {
        let digits = self.fields.get(name).and_then(Value::as_str).ok_or_else(|| format!("no field {name}"))?;
        hex::decode(digits).ok_or_else(|| format!("{name} is not an even number of hexadecimal digits").into())
    }

    /// A field of text that only some algorithms have.
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}
