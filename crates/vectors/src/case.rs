//! One test case, whatever file it came from.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::hex;

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
    /// A case of an algorithm that no family has.
    pub(crate) fn unknown(alg: String, place: String) -> Case {
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
