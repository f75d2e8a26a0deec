//! One test case, independent of the file format.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::hex;

/// What is wrong with a case: it cannot be parsed, or the library's result differs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct CaseError(String);

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

/// The result that a vector expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Accepted, with exactly these values.
    Valid,
    /// Refused.
    Invalid,
    /// Refused, or accepted with exactly these values.
    Acceptable,
}

/// One test case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The algorithm's name.
    pub(crate) alg: String,
    /// The key.
    pub(crate) key: Vec<u8>,
    /// The nonce, the IV or the first counter block, depending on the mode.
    pub(crate) nonce: Vec<u8>,
    /// Associated data.
    pub(crate) ad: Vec<u8>,
    /// The plaintext.
    pub(crate) msg: Vec<u8>,
    /// The ciphertext.
    pub(crate) ct: Vec<u8>,
    /// The tag.
    pub(crate) tag: Vec<u8>,
    /// The tag length for which the key is configured, in bits.
    pub(crate) tag_bits: usize,
    /// Whether the case must be accepted or refused.
    pub(crate) expected: Expected,
    /// The vector's comment.
    pub(crate) comment: String,
    /// The line or test number.
    pub(crate) place: String,
    /// All fields of the test as read, for algorithms with fields of their own.
    pub(crate) fields: Map<String, Value>,
}

impl Case {
    /// A case of an algorithm that no family supports.
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

    /// A hexadecimal field that only some algorithms have.
    ///
    /// # Errors
    /// States which field is missing or is not hexadecimal.
    pub(crate) fn bytes(&self, name: &str) -> Result<Vec<u8>, CaseError> {
        let digits = self.fields.get(name).and_then(Value::as_str).ok_or_else(|| format!("no field {name}"))?;
        hex::decode(digits).ok_or_else(|| format!("{name} is not an even number of hexadecimal digits").into())
    }

    /// A text field that only some algorithms have.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}
